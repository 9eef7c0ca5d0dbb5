"""The evidence behind the page of errata: every line of ``bench/results/errata.md``.

Run it with ``python docs/errata_evidence.py``. The four lines about data sets are printed only
where ``BIPARTITE_DATA`` names a folder that holds them.
"""

from __future__ import annotations

import csv
import gzip
import math
import os
from pathlib import Path

import numpy as np

from bipartite import BRR, Integers, Points
from bipartite.design import algorithm_2, algorithm_3
from bipartite.quality import loss as loss_of
from reproduction.places import PublishedLSRR
from reproduction.theory import algorithm_3_as_printed

_POLAR_CIRCLE = 66.56
EPSILONS = ["0.1", "0.25", "0.5", "0.75", "0.9", "1", "1.5", "2", "3", "4", "5"]


def line_losses(points: int) -> list[list[int]]:
    """|x − y| on a line."""
    return [[abs(x - y) for y in range(points)] for x in range(points)]


def disagreements() -> tuple[int, int, int]:
    """How often Algorithm 3 as printed, and corrected, differ from the paper's own Algorithm 2; of how many cases."""
    printed = corrected = cases = 0
    for points in range(2, 201):
        rows = line_losses(points)[: (points + 1) // 2]  # the other half mirrors these
        for epsilon in EPSILONS:
            right = algorithm_2(rows, epsilon).m
            printed += algorithm_3_as_printed(points, epsilon) != right
            corrected += algorithm_3(points, epsilon) != right
            cases += 1
    return printed, corrected, cases


def local_losses(points: int, epsilon: str, m: int) -> np.ndarray:
    """Q^(x) of BRR with this m, from the definition: p and q in floats, no tickets."""
    e = math.exp(float(epsilon))
    losses = np.sort(np.array(line_losses(points)), axis=1)
    weights = np.where(np.arange(points) < m, e, 1.0)
    return losses @ weights / weights.sum()


def worse_than_grr() -> tuple[int, int, int]:
    """In how many cases some value does worse than under GRR, with the printed m and with the corrected one."""
    printed = corrected = cases = 0
    for points in range(2, 44):
        for epsilon in EPSILONS:
            grr = local_losses(points, epsilon, 1) * (1 + 1e-12)
            printed += bool((local_losses(points, epsilon, algorithm_3_as_printed(points, epsilon)) > grr).any())
            corrected += bool((local_losses(points, epsilon, algorithm_3(points, epsilon)) > grr).any())
            cases += 1
    return printed, corrected, cases


def grr_quality_loss(points: int) -> float:
    """QLoss of GRR at ε = 1: the expected error over the diameter."""
    return loss_of(BRR(Integers(1, points), epsilon=1, m=1)).mean / (points - 1)


def sum_of_squares_leading_term(points: int, epsilon: float) -> tuple[float, float, float]:
    """Σ_k Q^(k)(BRR)/N² as measured, by the corrected leading term, and by the printed one."""
    e = math.exp(epsilon)
    m = algorithm_3(points, epsilon)
    c = m / points
    measured = loss_of(BRR(Integers(1, points), epsilon)).mean * points / points**2
    right = ((e - 1) * c**3 + 3 * (e - 1) * c**2 + 4) / (12 * ((e - 1) * c + 1))
    printed = ((e - 1) * c**3 + 3 * (e - 1) * c**2 - 3 * e + 4) / (12 * ((e - 1) * c + 1))
    return measured, right, printed


def supremum_with(inner: float, epsilon: float) -> float:
    """The appendix's supremum of the ratio with this term under its square root; Theorem 2 says 2/(h + 1)."""
    h = math.exp(epsilon / 2)
    return h - (h - 1) / (h + 1) * (math.sqrt(inner) + 1)


def evidence() -> list[str]:
    """Every line of evidence that needs no data."""
    lines = []
    printed, corrected, cases = disagreements()
    lines.append(
        f"Algorithm 3 against Algorithm 2: printed differs in {printed} of {cases} cases, corrected in {corrected}"
    )
    lines.append(
        f"N = 5, ε = 1: printed m = {algorithm_3_as_printed(5, 1)}, "
        f"Algorithm 2 gives {algorithm_2(line_losses(5), 1).m}"
    )
    printed, corrected, cases = worse_than_grr()
    lines.append(
        f"some value worse than under GRR: printed m in {printed} of {cases} cases, corrected m in {corrected}"
    )
    losses = ", ".join(f"{grr_quality_loss(n):.4f} at N = {n}" for n in (5, 100, 10_000))
    lines.append(f"QLoss of GRR at ε = 1: {losses}")
    measured, right, wrong = sum_of_squares_leading_term(100_001, 1.0)
    lines.append(
        f"leading term of f(c), N = 100001, ε = 1: measured {measured:.5f}, corrected {right:.5f}, printed {wrong:.5f}"
    )
    e, h = math.exp(1.0), math.exp(0.5)
    lines.append(
        f"supremum at ε = 1: Theorem 2 {2 / (h + 1):.5f}, "
        f"with √(e^ε+2e^(ε/2)+1) {supremum_with(e + 2 * h + 1, 1.0):.5f}, "
        f"with the printed √(e^ε+2e^ε+1) {supremum_with(3 * e + 1, 1.0):.5f}"
    )
    return lines


def authors_places(folder: Path) -> str:
    """How near the authors' 1000 places are to those of Gowalla that we have, in either order of coordinates."""
    theirs = np.loadtxt(folder / "gowalla_authors_1000.txt", delimiter=",")
    with gzip.open(folder / "gowalla_locations_union.csv.gz", "rt", encoding="utf-8") as file:
        known = np.radians([(float(row["lat"]), float(row["lon"])) for row in csv.DictReader(file)])
    nearest = [
        min(float(_kilometres(place, known).min()) for place in np.radians(each)) for each in (theirs, theirs[:, ::-1])
    ]
    return (
        f"authors' 1000 places: {int((theirs[:, 0] > _POLAR_CIRCLE).sum())} north of the polar circle; none nearer "
        f"than {math.floor(nearest[0])} km to one of {len(known):,} of Gowalla, {math.floor(nearest[1])} km with "
        "the coordinates swapped"
    )


def lsrr_spends(folder: Path) -> str:
    """The ε that L-SRR as published realises on all of the authors' places at once, with two choices of groups."""
    places = Points(np.loadtxt(folder / "gowalla_authors_1000.txt", delimiter=","), metric="haversine")
    told = []
    for groups, thresholds in (("groups of the scripts (10 and 6 shared bits)", (10, 6, 0)), ("its best groups", None)):
        made = [PublishedLSRR(places, epsilon, thresholds=thresholds) for epsilon in ("0.5", "1", "2")]
        told.append(f"{', '.join(f'{each.ldp_epsilon:.2f}' for each in made)} with {groups}")
    return f"L-SRR as published, all 1000 places, nominal ε = 0.5, 1, 2: spends {'; '.join(told)}"


def _kilometres(place: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Great-circle distances; all angles in radians."""
    halves = np.sin((others - place) / 2) ** 2
    return 2 * 6371 * np.arcsin(np.sqrt(halves[:, 0] + np.cos(place[0]) * np.cos(others[:, 0]) * halves[:, 1]))


def data_evidence(folder: Path) -> list[str]:
    """What the data sets say."""
    with (folder / "Bias_correction_ucl.csv").open(encoding="utf-8") as file:
        # The last two rows have no station: they are the minima and maxima of the columns.
        slopes = [float(row["Slope"]) for row in csv.DictReader(file) if row["station"]]
    k, b = (max(slopes) - min(slopes)) / 2, (max(slopes) + min(slopes)) / 2
    abalone = (folder / "abalone.data").read_text(encoding="utf-8").split()
    return [
        f"Bias: half range and middle of the column Slope: {k:.5f}, {b:.5f}",
        f"abalone: {len(abalone)} rows of {len(abalone[0].split(',')) - 1} features",
        authors_places(folder),
        lsrr_spends(folder),
    ]


def main() -> None:
    """Print the evidence."""
    lines = evidence()
    folder = os.environ.get("BIPARTITE_DATA")
    if folder:
        lines += data_evidence(Path(folder))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
