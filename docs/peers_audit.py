"""Audits the local mechanisms of other libraries as they are installed, each against the ε that it states.

``python docs/peers_audit.py [trials]`` prints a table. A library that does not import is named and passed over. What is
looked at is a report as the library hands it out; for local hashing, whose reports hold a random seed, it is which of
the two inputs the report supports: a function of the report, and so at most as telling.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import math
import random
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import bipartite as bp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TRIALS = 100_000
CONFIDENCE = 0.999
K = 8
"""Values of a domain."""
EPSILON = 1.0


class Case(NamedTuple):
    """One mechanism of one library."""

    name: str
    epsilon: float
    inputs: tuple[Any, Any]
    sampler: Callable[[Any], object]


def load(name: str) -> Any:  # noqa: ANN401
    """A module, whatever it is."""
    return importlib.import_module(name)


def supports(hashed: Callable[[int, int], int], inputs: tuple[int, int]) -> Callable[[Any], tuple[bool, bool]]:
    """Which of the two inputs a report (value, seed) of local hashing supports."""
    return lambda report: (hashed(inputs[0], report[1]) == report[0], hashed(inputs[1], report[1]) == report[0])


def after(view: Callable[[Any], object], sampler: Callable[[Any], Any]) -> Callable[[Any], object]:
    """A function of each report."""
    return lambda value: view(sampler(value))


def pure_ldp() -> Iterator[Case]:
    """Clients of pure-ldp; their values are 1 … K."""
    oracles = load("pure_ldp.frequency_oracles")
    core = load("pure_ldp.core")
    xxhash = load("xxhash")
    pair = (2, 5)
    yield Case("DE", EPSILON, pair, oracles.DEClient(EPSILON, K).privatise)
    for oue in (False, True):
        yield Case("OUE" if oue else "SUE", EPSILON, pair, oracles.UEClient(EPSILON, K, use_oue=oue).privatise)
    for kind, client in (
        ("OLH", oracles.LHClient(EPSILON, K, use_olh=True)),
        ("FastOLH", oracles.FastLHClient(EPSILON, K, k=1000, use_olh=True)),
    ):

        def hashed(value: int, seed: int, buckets: int = client.g) -> int:
            return int(xxhash.xxh32(str(value - 1), seed=seed).intdigest() % buckets)

        yield Case(kind, EPSILON, pair, after(supports(hashed, pair), client.privatise))
    yield Case("HE (Laplace)", EPSILON, pair, oracles.HEClient(EPSILON, K).privatise)
    for epsilon in (1.0, 2.0):
        server = oracles.HadamardResponseServer(epsilon, K)
        client = oracles.HadamardResponseClient(epsilon, K, server.get_hash_funcs())
        yield Case("Hadamard response", epsilon, pair, client.privatise)
    client = oracles.HadamardMechClient(EPSILON, K, t=1)
    yield Case("Hadamard mechanism", EPSILON, pair, after(tuple_of_pairs, client.privatise))
    hashes = core.generate_hash_funcs(2, 16)
    for hadamard in (False, True):
        client = oracles.CMSClient(EPSILON, hashes, 16, is_hadamard=hadamard)
        yield Case("HCMS" if hadamard else "CMS", EPSILON, pair, after(flattened, client.privatise))
    # Their server of this one does not start with NumPy 2, so the hash functions are made here as it makes them.
    pairs = [(core.generate_hash(16, seed), core.generate_hash(2, seed + 1)) for seed in (2, 4)]
    client = oracles.PCSClient(EPSILON, 2, 16, pairs)
    yield Case("PCS", EPSILON, pair, after(flattened, client.privatise))
    server = oracles.RAPPORServer(f=0.5, m=16, k=1, d=K, num_of_cohorts=1)
    client = oracles.RAPPORClient(0.5, 16, server.get_hash_funcs(), num_of_cohorts=1)
    yield Case("RAPPOR, f = 0.5, 1 hash", client.convert_f_to_eps(0.5, 1), pair, after(flattened, client.privatise))


def tuple_of_pairs(report: Any) -> tuple[int, ...]:  # noqa: ANN401
    """(j, ±1), … in one row."""
    return tuple(int(part) for each in report for part in each)


def flattened(report: Any) -> tuple[int, ...]:  # noqa: ANN401
    """(vector, number, …) in one row."""
    return tuple(int(part) for each in report for part in np.atleast_1d(each))


def multi_freq_ldpy() -> Iterator[Case]:
    """Clients of multi-freq-ldpy; their values are 0 … K − 1."""
    oracles, long = "multi_freq_ldpy.pure_frequency_oracles", "multi_freq_ldpy.long_freq_est"
    xxhash = load("xxhash")
    pair = (1, 4)
    grr, subset = load(f"{oracles}.GRR").GRR_Client, load(f"{oracles}.SS").SS_Client
    unary, hashing = load(f"{oracles}.UE").UE_Client, load(f"{oracles}.LH").LH_Client
    yield Case("GRR", EPSILON, pair, lambda x: grr(x, K, EPSILON))
    yield Case("SUE", EPSILON, pair, lambda x: unary(x, K, EPSILON, False))  # noqa: FBT003 (their signature)
    yield Case("OUE", EPSILON, pair, lambda x: unary(x, K, EPSILON, True))  # noqa: FBT003
    buckets = round(math.exp(EPSILON)) + 1

    def hashed(value: int, seed: int) -> int:
        return int(xxhash.xxh32(str(value), seed=seed).intdigest() % buckets)

    yield Case("OLH", EPSILON, pair, after(supports(hashed, pair), lambda x: hashing(x, K, EPSILON)))
    yield Case("SS, as returned (an array)", EPSILON, pair, lambda x: subset(x, K, EPSILON))
    yield Case("SS, as a set (sorted)", EPSILON, pair, lambda x: np.sort(subset(x, K, EPSILON)))
    histogram = load(f"{oracles}.HE").HE_Client
    yield Case("HE (Laplace)", EPSILON, pair, lambda x: histogram(x, K, EPSILON))
    for name in ("L_GRR", "L_SUE", "L_OUE", "L_SOUE", "L_OSUE"):
        client = getattr(load(f"{long}.{name}"), f"{name}_Client")
        yield Case(f"{name}, one report", EPSILON, pair, lambda x, client=client: client(x, K, 2 * EPSILON, EPSILON))
    longitudinal = load(f"{long}.L_LH").L_LH_Client

    def halved(value: int, seed: int) -> int:
        return int(xxhash.xxh32(str(value), seed=seed).intdigest() % 2)

    yield Case(
        "L_BLH, one report",
        EPSILON,
        pair,
        after(supports(halved, pair), lambda x: longitudinal(x, K, 2 * EPSILON, EPSILON, optimal=False)),
    )
    fake = load("multi_freq_ldpy.mdim_freq_est.RSpFD_solution").RSpFD_GRR_Client
    for name, other in (("one of two attributes differs", (4, 1)), ("both attributes differ", (4, 4))):
        yield Case(f"RS+FD[GRR], {name}", EPSILON, ((1, 1), other), lambda x: fake(x, [K, K], 2, EPSILON))
    flips = load(f"{long}.dBitFlipPM").dBitFlipPM_Client
    yield Case("dBitFlipPM, all bits", EPSILON, pair, lambda x: flips(x, K, K, K, EPSILON))


def diffprivlib() -> Iterator[Case]:
    """Mechanisms of diffprivlib with a sensitivity that is the whole range: local use."""
    made = load("diffprivlib.mechanisms")
    ends = (0, 10)
    limits = {"epsilon": EPSILON, "sensitivity": 10, "lower": 0, "upper": 10}
    free = {"epsilon": EPSILON, "sensitivity": 10}
    yield Case("Binary", EPSILON, ("a", "b"), made.Binary(epsilon=EPSILON, value0="a", value1="b").randomise)
    yield Case("Geometric", EPSILON, ends, made.Geometric(**free).randomise)
    yield Case("GeometricTruncated", EPSILON, ends, made.GeometricTruncated(**limits).randomise)
    yield Case("GeometricFolded", EPSILON, ends, made.GeometricFolded(**limits).randomise)
    yield Case("Laplace", EPSILON, ends, made.Laplace(**free).randomise)
    yield Case("LaplaceTruncated", EPSILON, ends, made.LaplaceTruncated(**limits).randomise)
    yield Case("LaplaceFolded", EPSILON, ends, made.LaplaceFolded(**limits).randomise)
    yield Case("LaplaceBoundedDomain", EPSILON, ends, made.LaplaceBoundedDomain(**limits).randomise)
    yield Case("Snapping", EPSILON, ends, made.Snapping(**limits).randomise)
    yield Case("Staircase", EPSILON, ends, made.Staircase(**free).randomise)
    utilities = [["a", "b", 1.0], ["a", "c", 2.0], ["b", "c", 1.0]]
    categorical = made.ExponentialCategorical(epsilon=EPSILON, utility_list=utilities)
    yield Case("ExponentialCategorical", EPSILON, ("a", "c"), categorical.randomise)
    for name in ("Exponential", "PermuteAndFlip"):
        # The utility of candidate y is −|x − y|, of sensitivity 10; a mechanism is made for each value.
        made_for = {
            x: getattr(made, name)(
                epsilon=EPSILON, sensitivity=10, utility=[-float(abs(x - y)) for y in range(11)]
            ).randomise
            for x in ends
        }
        yield Case(name, EPSILON, ends, lambda x, made_for=made_for: made_for[x]())


def opendp() -> Iterator[Case]:
    """Measurements of OpenDP on one number, with a distance that is the whole range: local use."""
    dp = load("opendp.prelude")
    dp.enable_features("contrib")
    likely = math.exp(EPSILON) / (1 + math.exp(EPSILON))
    measurement = dp.m.make_randomized_response_bool(likely)
    yield Case("randomized_response_bool", measurement.map(1), (True, False), measurement)
    measurement = dp.m.make_randomized_response(list(range(K)), math.exp(EPSILON) / (math.exp(EPSILON) + K - 1))
    yield Case("randomized_response", measurement.map(1), (1, 4), measurement)
    for name, kind, limits in (("laplace, int", int, {}), ("geometric, bounds", int, {"bounds": (0, 10)})):
        make = dp.m.make_geometric if limits else dp.m.make_laplace
        measurement = make(dp.atom_domain(T=kind), dp.absolute_distance(T=kind), 10 / EPSILON, **limits)
        yield Case(name, measurement.map(10), (0, 10), measurement)
    domain = dp.atom_domain(T=float, nan=False)
    measurement = dp.m.make_laplace(domain, dp.absolute_distance(T=float), 10 / EPSILON)
    yield Case("laplace, float", measurement.map(10.0), (0.0, 10.0), measurement)


LIBRARIES = {"pure-ldp": pure_ldp, "multi-freq-ldpy": multi_freq_ldpy, "diffprivlib": diffprivlib, "opendp": opendp}


def audits(trials: int) -> Iterator[str]:
    """One line a mechanism."""
    yield f"{'library and mechanism':44} {'claimed ε':>9} {'real ε ≥':>9}  verdict"
    for library, cases in LIBRARIES.items():
        try:
            seed_all()
            found = cases()
            first = next(found)
        except Exception as error:  # noqa: BLE001 (whatever keeps a library from starting is what there is to say)
            yield f"{library}: does not run here: {type(error).__name__}: {error}"
            continue
        yield f"{library} {importlib.metadata.version(library)}"
        for case in (first, *found):
            yield audited(case, trials)


def seed_all() -> None:
    """Seed the global generators that two of these libraries draw from, and their hash functions."""
    random.seed(7)
    np.random.seed(7)  # noqa: NPY002


def audited(case: Case, trials: int) -> str:
    """The line of one mechanism."""
    seed_all()
    began = time.perf_counter()
    try:
        found = bp.audit(
            case.sampler, case.inputs, trials=trials, epsilon=case.epsilon, confidence=CONFIDENCE, scalar=True
        )
    except Exception as error:  # noqa: BLE001
        return f"  {case.name:42} {case.epsilon:9.6g} {'':>9}  does not run: {type(error).__name__}: {error}"
    seconds = time.perf_counter() - began
    verdict = (
        "not refuted" if found.holds else f"broken: {found.event} ({found.counts.hits}, {found.counts.hits_other})"
    )
    return f"  {case.name:42} {case.epsilon:9.6g} {found.epsilon_lower:9.4f}  {verdict}  [{seconds:.0f} s]"


if __name__ == "__main__":
    for line in audits(int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS):
        print(line, flush=True)
