"""Hostile bodies, sent to the application in this process, and what becomes of them.

python -m tests.collect.attack --bodies 100000
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections import Counter
from pathlib import Path

from bipartite.cli import main as bipartite
from bipartite.cli.output import FINDING
from bipartite.collect.store import begin, resume
from bipartite.mechanisms.spec.canonical import canonical_json
from tests.collect import kinds
from tests.collect.asking import collector, post
from tests.collect.hostile import MARK, Bodies

REFUSALS = {400, 404, 409, 413, 422}


async def attack(where, study, count, seed=1):
    """Send so many bodies; what was told, by kind, and the envelopes that were taken, each with its line."""
    bodies, taken, told, words = Bodies(study, seed), [], Counter(), Counter()
    async with collector(lambda: resume(where, study.name)) as made:
        for _ in range(count):
            body, kind = bodies.next()
            expected = kinds.read(body, study)
            status, answer = await post(made.app, body)
            told[kind, status] += 1
            if status == 200:
                assert expected is not None, (kind, body)
                keys = {(each["question"], each["key"]) for each in expected}
                assert answer == {"counted": len(keys), "known": len(expected) - len(keys)}, (kind, body)
                as_sent = body.decode() if body[:1] == b"{" and b"\n" not in body and b"\r" not in body else None
                taken += [(each, as_sent or json.dumps(each)) for each in expected]
                continue
            assert kind != "in_order", (status, body)
            assert status in REFUSALS, (status, kind, body)
            assert answer.keys() <= {"error", "positions"}
            listed = _listed(body)
            assert all(type(at) is int and 0 <= at < listed for at in answer.get("positions", [])), (kind, body)
            assert MARK not in json.dumps(answer)
            words[status, answer["error"]] += 1
    assert len(words) < 12, words  # few sentences, written before anything was sent
    return told, taken


def _listed(body):
    try:
        held = json.loads(body)
    except (ValueError, RecursionError):  # such as a number of thousands of digits
        return body.count(b"{")
    return len(held) if isinstance(held, list) else 1


def check(where, study, taken):
    """That the database holds what was taken, and nothing else."""
    first = {(each["question"], each["key"]): each["report"] for each, _ in reversed(taken)}
    with resume(where, study.name) as store:
        assert store.check() == []
        for question in study.questions:
            expected = Counter(canonical_json(report) for (name, _), report in first.items() if name == question.name)
            assert dict(store.bag(question.name)) == expected


def check_estimates(where, study, taken, folder):
    """That ``bipartite estimate`` counts the lines that were taken as it counts what the bag holds."""
    for question in study.questions:
        if question.is_record:
            continue
        mine = [line for each, line in taken if each["question"] == question.name]
        with resume(where, study.name) as store:
            bag = [line for report, n in store.bag(question.name) for line in [f'{{"report":{report}}}'] * n]
        (folder / "spec.json").write_text(question.parts[0].spec)
        counts = []
        for lines in (mine, bag):
            (folder / "reports.jsonl").write_text("\n".join(lines) + "\n")
            saved = folder / "counts.json"
            command = ["estimate", folder / "reports.jsonl", "--spec", folder / "spec.json", "--save-counts", saved]
            assert bipartite([*map(str, command)]) in {None, 0, FINDING}  # so many forged reports are noticed
            counts.append(json.loads(saved.read_text()))
            saved.unlink()
        assert counts[0] == counts[1], question.name


def main():
    """Run it once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bodies", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    study, began = kinds.study(), time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        where = Path(name) / "kinds.db"
        begin(where, study).close()
        told, taken = asyncio.run(attack(where, study, given.bodies, given.seed))
        check(where, study, taken)
        check_estimates(where, study, taken, Path(name))
    statuses = Counter()
    for (_, status), n in told.items():
        statuses[status] += n
    kinds_told = {f"{kind} {status}": n for (kind, status), n in sorted(told.items())}
    seconds = round(time.monotonic() - began)
    print(json.dumps({"statuses": statuses, "kinds": kinds_told, "taken": len(taken), "seconds": seconds}))


if __name__ == "__main__":
    main()
