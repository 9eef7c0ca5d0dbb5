"""How fast flat categories are reported and counted, against two LDP libraries on the same work, in one run.

Client plus counting: every person's value becomes a report and the reports become one count a value, one thread, ε = 1.
The jobs take turns and the best of five rounds counts, so that a busy moment of the machine hits all of them. Every job
is given as many people as take it about the same few milliseconds, so that none is interrupted more often than
another; figures are per person. (Hadamard Response of pure-ldp decodes at the end, at a cost that does not depend on
the people: it gets 20,000 of them to share it.)

pure-ldp 1.2.0 and multi-freq-ldpy 0.2.5 call xxhash with a string, which the installed xxhash refuses; for local
hashing they get an xxhash that encodes it, and nothing else is changed.
"""

from __future__ import annotations

import platform
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import bipartite as bp

if TYPE_CHECKING:
    from collections.abc import Callable

EPSILON = 1.0
ROUNDS = 5
SIZES = (64, 100, 1024)
JOB_SECONDS = 0.004
MOST_PEOPLE = 2**17
DECODED_PEOPLE = 20_000
WANTED = 100

Job = tuple[int, "Callable[[], Any]"]


def best_of(rounds: int, jobs: dict[str, Job]) -> dict[str, float]:
    """The least seconds a person of each job; the jobs take turns, after one warm-up each."""
    for _, job in jobs.values():
        job()
    least = dict.fromkeys(jobs, float("inf"))
    for _ in range(rounds):
        for name, (people, job) in jobs.items():
            began = time.perf_counter()
            job()
            least[name] = min(least[name], (time.perf_counter() - began) / people)
    return least


def encoded_xxhash() -> Any:  # noqa: ANN401
    """What the other libraries call as xxhash."""
    import xxhash

    class Encoded:
        @staticmethod
        def xxh32(text: str, seed: int) -> Any:  # noqa: ANN401
            return xxhash.xxh32(text.encode(), seed=int(seed) & 0xFFFFFFFF)

    return Encoded


def same(value: int) -> int:
    """Values are indices already."""
    return value


def pure_ldp(kind: str, size: int) -> tuple[Any, Any]:
    """A client and a server of pure-ldp."""
    from pure_ldp.frequency_oracles import hadamard_response, local_hashing, unary_encoding
    from pure_ldp.frequency_oracles.local_hashing import lh_client, lh_server

    lh_client.xxhash = lh_server.xxhash = encoded_xxhash()
    if kind in {"OUE", "SUE"}:
        options = {"use_oue": kind == "OUE", "index_mapper": same}
        client = unary_encoding.UEClient(EPSILON, size, **options)
        return client, unary_encoding.UEServer(EPSILON, size, **options)
    if kind == "OLH":
        options = {"use_olh": True, "index_mapper": same}
        return local_hashing.LHClient(EPSILON, size, **options), local_hashing.LHServer(EPSILON, size, **options)
    server = hadamard_response.HadamardResponseServer(EPSILON, size, index_mapper=same)
    client = hadamard_response.HadamardResponseClient(EPSILON, size, server.get_hash_funcs(), index_mapper=same)
    return client, server


def pure_ldp_job(kind: str, size: int, values: list[int]) -> Callable[[], Any]:
    """Report and aggregate one person after the other; Hadamard Response also decodes, for it counts only then."""
    client, server = pure_ldp(kind, size)

    def job() -> None:
        server.reset()
        for value in values:
            server.aggregate(client.privatise(value))
        if kind == "HR":
            server._update_estimates()  # noqa: SLF001 (its only way to count)

    return job


def multi_freq_job(kind: str, size: int, values: list[int]) -> Callable[[], Any]:
    """Report one person after the other, then aggregate."""
    from multi_freq_ldpy.pure_frequency_oracles import LH, SS, UE

    LH.xxhash = encoded_xxhash()
    if kind in {"OUE", "SUE"}:
        best = kind == "OUE"
        return lambda: UE.UE_Aggregator_MI([UE.UE_Client(v, size, EPSILON, best) for v in values], EPSILON, best)
    if kind == "OLH":
        return lambda: LH.LH_Aggregator_MI([LH.LH_Client(v, size, EPSILON) for v in values], size, EPSILON)
    return lambda: SS.SS_Aggregator_MI([SS.SS_Client(v, size, EPSILON) for v in values], size, EPSILON)


OURS: dict[str, Any] = {
    "OUE": bp.OUE,
    "SUE": bp.SUE,
    "OLH": bp.OLH,
    "SS": bp.SubsetSelection,
    "HR": bp.HadamardResponse,
}
PEERS: dict[str, dict[str, Callable[[str, int, list[int]], Callable[[], Any]]]] = {
    "OUE": {"pure-ldp": pure_ldp_job, "multi-freq-ldpy": multi_freq_job},
    "SUE": {"pure-ldp": pure_ldp_job, "multi-freq-ldpy": multi_freq_job},
    "OLH": {"pure-ldp": pure_ldp_job, "multi-freq-ldpy": multi_freq_job},
    "SS": {"multi-freq-ldpy": multi_freq_job},
    "HR": {"pure-ldp": pure_ldp_job},
}


def sized(job_for: Callable[[Any], Callable[[], Any]], values: Any) -> Job:  # noqa: ANN401 (an array or a list)
    """A job with as many of these people as take it about JOB_SECONDS, by its best time."""
    people = 16
    while people < len(values):
        job = job_for(values[:people])
        taken = best_of(ROUNDS, {"": (1, job)})[""]
        if taken > JOB_SECONDS / 4:
            people = max(16, min(len(values), int(people * JOB_SECONDS / taken)))
            break
        people *= 2
    people = min(people, len(values))
    return people, job_for(values[:people])


def compare(kind: str, size: int) -> list[float]:
    """One mechanism and size: the ratios."""
    mechanism = OURS[kind](bp.Integers(0, size - 1), EPSILON)
    values = np.random.default_rng(1).integers(0, size, MOST_PEOPLE)
    jobs: dict[str, Job] = {"bipartite": sized(lambda some: lambda: mechanism.count(mechanism.privatize(some)), values)}
    few = values[:DECODED_PEOPLE].tolist()
    for name, peer in PEERS[kind].items():
        if kind == "HR":
            jobs[name] = (len(few), peer(kind, size, few))
        else:
            jobs[name] = sized(partial(peer, kind, size), few)
    seconds = best_of(ROUNDS, jobs)
    ours = seconds.pop("bipartite")
    ratios = [taken / ours for taken in seconds.values()]
    shown = "".join(
        f"   {name} {taken * 1e9:11,.0f} ns = {ratio:7,.0f} times"
        for (name, taken), ratio in zip(seconds.items(), ratios, strict=True)
    )
    print(f"  {kind:<4} N = {size:<5} bipartite {ours * 1e9:7.1f} ns{shown}")
    return ratios


def main() -> None:
    """Every mechanism and size."""
    print(f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}")
    # Loaded once in a process, as a long-running collector has them; the other library's kernels are warmed up too.
    from bipartite.mechanisms.categories import compiled_bits, compiled_hashing

    assert compiled_bits
    assert compiled_hashing
    print(f"report and count, ns a person, one thread, ε = {EPSILON}, best of {ROUNDS}")
    ratios = [ratio for kind in OURS for size in SIZES for ratio in compare(kind, size)]
    print(f"  the least ratio is {min(ratios):.0f}; {sum(r >= WANTED for r in ratios)} of {len(ratios)} reach {WANTED}")


if __name__ == "__main__":
    main()
