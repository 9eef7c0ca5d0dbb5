"""Map reports to the outputs of a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from bipartite.domains.containers import is_scalar, open_values
from bipartite.domains.product import tuple_of
from bipartite.errors import InputError, NullError, OutsideDomainError, how_many, is_one_of, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

Missing = Literal["error", "drop"]


def indices_of(mechanism: Mechanism, reports: object, nulls: Missing = "error") -> NDArray[np.int64]:
    """The index of the output that each report is; any other report is an error.

    Reports are what ``privatize`` returned, in any container. ``nulls="drop"`` skips missing ones.
    """
    return read_reports(mechanism, reports, nulls)[1]


def read_reports(mechanism: Mechanism, reports: object, nulls: Missing) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """(which entries of the container are reports, the index of the output that each report is)."""
    if not is_one_of(nulls, ("error", "drop")):
        raise InputError(f"Expected nulls='error' or 'drop', got {shown(nulls)}.")
    outputs: Domain = mechanism.outputs
    base = outputs.base
    if is_scalar(reports, base):
        raise InputError(
            f"Expected reports as a list, an array or a column, got {type(reports).__name__}; pass [report]."
        )
    keep: Literal["error", "keep"] = "error" if nulls == "error" else "keep"
    try:
        held = _without_texts(reports) if base.parts else reports
        batch = open_values(held, keep, base)
        codes = outputs.find(batch.values)
    except NullError as error:
        problem: Exception = NullError(f"{str(error).split(';')[0]}; remove them, or use nulls='drop'.")
    except OutsideDomainError:
        problem = _outside(mechanism, None, None)
    else:
        wrong = np.flatnonzero((codes < 0) | (codes >= len(outputs)))
        if not len(wrong):
            there = np.ones(len(codes), dtype=bool) if batch.gone is None else ~batch.gone
            return there, codes.astype(np.int64, copy=False)
        problem = _outside(mechanism, len(wrong), int(wrong[0]))
    raise problem


def _without_texts(reports: object) -> object:
    """Tuples that stand as texts in a column of a released table, as tuples; anything else as it is."""
    listed = next((name for name in ("to_pylist", "to_list", "tolist") if hasattr(reports, name)), None)
    if getattr(reports, "ndim", 1) != 1 or hasattr(reports, "column_names") or isinstance(reports, tuple):
        return reports
    cells = reports if listed is None else getattr(reports, listed)()
    if not isinstance(cells, list) or not any(isinstance(each, str) for each in cells):
        return reports
    # pandas writes NaN where a text is missing.
    return [tuple_of(each) if isinstance(each, str) else None if each != each else each for each in cells]  # noqa: PLR0124


def _outside(mechanism: Mechanism, count: int | None, first: int | None) -> OutsideDomainError:
    some = "Some reports" if count is None else f"{how_many(count, 'report')}, the first at reports[{first}],"
    return OutsideDomainError(
        f"{some} cannot have come from {mechanism!r}; pass reports as they came, unclipped and unrounded, and the "
        "mechanism or spec that they were made with."
    )
