"""What else appendix B.3 could have meant: every reading that was tried, in words and in settings.

Apart from what trains them, so that claims can name a reading without the libraries that measuring it needs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import pandas as pd

UNBOUNDED: Final = "∞"
BATCHES: Final = (32, 100, 512)
"""The sizes of batches with PyTorch's start."""


def started_by_torch(batch: int) -> str:
    """The name of the reading with PyTorch's start and batches of this size."""
    return f"coordinates, torch {batch}"


@dataclass(frozen=True)
class Reading:
    """One way to read appendix B.3."""

    words: str
    """What panels call it."""
    shared: Literal["row", "columns"] = "columns"
    """What the columns share: ε, or as many ε as there are columns."""
    weights: Literal["equal", "raw", "public"] = "equal"
    """How: equally, by importance on the raw private rows, or by importance on the rows taken for public."""
    one_hot: Literal["whole", "halves", "GRR"] = "whole"
    """What a column of categories does with its part: every coordinate the whole, every coordinate half, or GRR."""
    mechanisms: tuple[str, ...] = ("brr", "laplace", "clamped-laplace", "rescaled-laplace")
    start: Literal["glorot", "torch"] = "glorot"
    """How weights begin: as Glorot and Bengio have it, without biases, or by PyTorch's default."""
    batch: int = 100
    """As everywhere else in the laboratory, where nothing is said."""


_TWO: Final = ("brr", "laplace")
READINGS: Final[Mapping[str, Reading]] = {
    # Meant by whoever takes “vector perturbation” for noise of scale 1/ε on each coordinate that the network reads.
    "coordinates": Reading("ε on every coordinate"),
    # By the same people, who write the network with torch.nn.Linear.
    **{
        started_by_torch(batch): Reading(
            f"ε on every coordinate, PyTorch’s start, batches of {batch}",
            mechanisms=(*_TWO, "clamped-laplace"), start="torch", batch=batch,
        )
        for batch in BATCHES
    },
    # By whoever takes ε for the budget of a feature, of which the paper counts 14 and 20.
    "columns": Reading("ε on every column", one_hot="halves", mechanisms=_TWO),
    # By the authors: their scripts do so for the rival; BRR is put in Laplace's place, “the rest unchanged”.
    "weighted columns": Reading("as many ε as columns, by importance", weights="raw"),
    # By Wang et al. as cited: a total budget, less noise for what matters more.
    "weighted row": Reading(
        "ε of a row, by importance", shared="row", weights="raw", one_hot="GRR", mechanisms=_TWO
    ),
    # By whoever wants the rival as it could be used: this one keeps its ε.
    "weighted row, public weights": Reading(
        "ε of a row, by importance on public rows", shared="row", weights="public", one_hot="GRR", mechanisms=_TWO
    ),
}  # fmt: skip
"""By name, in the order of the report; the reading of :mod:`~reproduction.experiments.dnn` is not among them."""


def cost_of(rows: pd.DataFrame) -> str:
    """What a row of a data set really spends under a reading, for the ε that it names: 22·ε."""
    some = rows[rows["epsilon"] > 0].iloc[0]
    times = f"{float(some['noise_spends']) / some['epsilon']:.3g}"
    noise = "ε" if times == "1" else f"{times}·ε"
    return f"∞ ({noise} were the importances public)" if some["spends"] == UNBOUNDED else noise
