"""Digests of rows, here and under other settings of the machine, for which tests run this file as a script.

It removes, adds, moves and reorders people under as many threads as it is told, and fails where a bit of anybody's row
changes. ``python rows_elsewhere.py NETWORK… --threads 1,2,5``.
"""

import argparse
import hashlib
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[3]))
from tests.learn.gradients.networks import made, people_of, rows_of


def arrangements(people):
    """Who is there, in which order; from ``people`` on they are those who may be added."""
    everybody = list(range(people))
    mixed = torch.randperm(people, generator=torch.Generator().manual_seed(3)).tolist()
    return [
        everybody[1:],
        everybody[:-1],
        [people, *everybody],
        everybody[:7] + list(range(people, people + 5)) + everybody[7:],
        mixed,
        mixed[: people // 2],
        everybody[1:4],
        everybody[2:3],
    ]


def bits(rows):
    """What is compared: the sign of a zero, too, but every NaN is one."""
    return rows.double().nan_to_num(nan=7e300).view(torch.int64)


def changed(compute, features, labels, people):
    """The number of rows that differ in any bit from those among everybody, over all arrangements."""
    rows = compute(features[:people], labels[:people])
    found = 0
    for who in arrangements(people):
        at = torch.tensor(who)
        here, stay = compute(features[at], labels[at]), at < people
        found += int((bits(rows[at[stay]]) != bits(here[stay])).any(1).sum())
    return found


def digests(arguments):
    """A line for each network: its digest, or several where they differ with the number of threads."""
    parser = argparse.ArgumentParser()
    parser.add_argument("networks", nargs="+")
    parser.add_argument("--threads", default=str(torch.get_num_threads()))
    parser.add_argument("--people", type=int, default=13)
    told = parser.parse_args(arguments)
    for name in told.networks:
        network, shape = made(name)
        features, labels = people_of(shape, told.people + 5)
        features[-3:] = torch.tensor([1e30, float("inf"), float("nan")], dtype=torch.float64).view(3, *[1] * len(shape))
        compute, found = rows_of(network), set()
        for threads in map(int, told.threads.split(",")):
            torch.set_num_threads(threads)
            moved = changed(compute, features, labels, told.people)
            if moved:
                sys.exit(f"{moved} rows of {name} changed with {threads} threads")
            rows = bits(compute(features[: told.people], labels[: told.people]))
            found.add(hashlib.sha256(rows.numpy().tobytes()).hexdigest()[:16])
        yield ": ".join([name, *sorted(found)])


if __name__ == "__main__":
    print(*digests(sys.argv[1:]), sep="\n")  # noqa: T201
