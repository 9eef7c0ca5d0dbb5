"""How far estimated shares are from the truth, against two LDP libraries: the same people, the same ε, 10,000 reports.

Total squared error of all shares, averaged over populations (uniform, Zipf, geometric, three values). Ours is
``bp.estimate`` as it comes. pure-ldp gives unbiased counts; multi-freq-ldpy sets negative ones to 0 and divides by the
sum. Run with ``python bench/shares.py`` and the ``bench`` group installed; the seed is 1.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np

import bipartite as bp
from categories import encoded_xxhash, same

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

PEOPLE, SEED = 10_000, 1
SIZES, EPSILONS = (16, 64, 300), (0.5, 1.0, 3.0)
OURS: dict[str, Any] = {"OUE": bp.OUE, "OLH": bp.OLH, "SS": bp.SubsetSelection, "HR": bp.HadamardResponse}


def populations(size: int) -> list[Array]:
    """Shares of values, none of which a rule of ours was tuned on."""
    ranks = np.arange(1.0, size + 1)
    shapes = [ranks**0, 1 / ranks, 0.8**ranks, np.where(ranks <= 3, 6 - ranks, 0.0)]  # noqa: PLR2004 (three values)
    return [shape / shape.sum() for shape in shapes]


def pure_ldp(kind: str, size: int, epsilon: float, values: list[int]) -> Array | None:
    """Its shares; None where it has no such mechanism."""
    from pure_ldp.frequency_oracles import hadamard_response, local_hashing, unary_encoding
    from pure_ldp.frequency_oracles.local_hashing import lh_client, lh_server

    lh_client.xxhash = lh_server.xxhash = encoded_xxhash()
    if kind == "OUE":
        options: dict[str, Any] = {"use_oue": True, "index_mapper": same}
        client: Any = unary_encoding.UEClient(epsilon, size, **options)
        server: Any = unary_encoding.UEServer(epsilon, size, **options)
    elif kind == "OLH":
        options = {"use_olh": True, "index_mapper": same}
        client = local_hashing.LHClient(epsilon, size, **options)
        server = local_hashing.LHServer(epsilon, size, **options)
    elif kind == "HR":
        server = hadamard_response.HadamardResponseServer(epsilon, size, index_mapper=same)
        client = hadamard_response.HadamardResponseClient(epsilon, size, server.get_hash_funcs(), index_mapper=same)
    else:
        return None
    for value in values:
        server.aggregate(client.privatise(value))
    return np.array([float(server.estimate(at, suppress_warnings=True)) for at in range(size)]) / len(values)


def multi_freq(kind: str, size: int, epsilon: float, values: list[int]) -> Array | None:
    """Its shares; None where it has no such mechanism."""
    from multi_freq_ldpy.pure_frequency_oracles import LH, SS, UE

    LH.xxhash = encoded_xxhash()
    if kind == "OUE":
        return np.array(UE.UE_Aggregator_MI([UE.UE_Client(v, size, epsilon) for v in values], epsilon))
    if kind == "OLH":
        return np.array(LH.LH_Aggregator_MI([LH.LH_Client(v, size, epsilon) for v in values], size, epsilon))
    if kind == "SS":
        return np.array(SS.SS_Aggregator_MI([SS.SS_Client(v, size, epsilon) for v in values], size, epsilon))
    return None


def main() -> None:
    """One row a mechanism, number of values and ε: 1000 times the squared error of each library."""
    print("| mechanism | values | ε | bipartite | pure-ldp | multi-freq-ldpy |\n|---|---|---|---|---|---|")
    for kind, size, epsilon in [(k, n, e) for k in OURS for n in SIZES for e in EPSILONS]:
        rng = np.random.default_rng(SEED)
        random.seed(SEED)
        np.random.seed(SEED)  # noqa: NPY002 (theirs)
        mechanism, words = OURS[kind](bp.Integers(0, size - 1), epsilon), bp.insecure_seed(SEED)
        errors: list[list[float]] = [[], [], []]
        for truth in populations(size):
            values = rng.choice(size, PEOPLE, p=truth)
            found = [
                bp.estimate(mechanism, mechanism.privatize(values, rng=words)).shares,
                pure_ldp(kind, size, epsilon, values.tolist()),
                multi_freq(kind, size, epsilon, values.tolist()),
            ]
            for each, shares in zip(errors, found, strict=True):
                if shares is not None:
                    each.append(1000 * float(((shares - truth) ** 2).sum()))
        cells = [f"{np.mean(each):.3g}" if each else "–" for each in errors]
        print(f"| {kind} | {size} | {epsilon:g} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
