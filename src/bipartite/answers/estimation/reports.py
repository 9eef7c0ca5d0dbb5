"""Map reports to the outputs of a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from bipartite.domains import Integers, Interval, Product, SetDomain
from bipartite.domains.containers import is_scalar, open_values
from bipartite.domains.labelled import Labelled
from bipartite.domains.product_codec import tuple_of
from bipartite.domains.subset import Subset
from bipartite.domains.values import Values
from bipartite.errors import InputError, NullError, OutsideDomainError, is_one_of, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

Missing = Literal["error", "drop"]
# How far a float may be from the report it stands for, in steps to the next one: files and float32 round.
_NEAR: Final = 1e-3


def indices_of(mechanism: Mechanism, reports: object, nulls: Missing = "error") -> NDArray[np.int64]:
    """The index of the output that each report is; any other report is an error.

    Reports are what ``privatize`` returned, in any container. ``nulls="drop"`` skips missing ones.
    """
    if not is_one_of(nulls, ("error", "drop")):
        raise InputError(f"Expected nulls='error' or 'drop', got {shown(nulls)}.")
    outputs: Domain = mechanism.outputs
    base = outputs.domain if isinstance(outputs, Subset) else outputs
    if is_scalar(reports, base):
        raise InputError(
            f"Expected reports as a list, an array or a column, got {type(reports).__name__}; pass [report]."
        )
    keep: Literal["error", "keep"] = "error" if nulls == "error" else "keep"
    try:
        held = _without_texts(reports) if isinstance(base, Product) else reports
        codes = _codes(base, open_values(held, keep, base).values)
    except NullError as error:
        problem: Exception = NullError(f"{str(error).split(';')[0]}; remove them, or use nulls='drop'.")
    except OutsideDomainError:
        problem = _outside(mechanism, None, None)
    else:
        if isinstance(outputs, Subset):
            at = np.minimum(np.searchsorted(outputs.indices, codes), len(outputs) - 1)
            codes = np.where(outputs.indices[at] == codes, at, -1)
        wrong = np.flatnonzero((codes < 0) | (codes >= len(outputs)))
        if not len(wrong):
            return codes.astype(np.int64, copy=False)
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


def _codes(outputs: Domain, values: NDArray[Any]) -> NDArray[np.int64]:
    """The index of each value among the outputs, −1 for what is none of them."""
    if isinstance(outputs, Product):
        parts = [_codes(part, values[f"f{number}"]) for number, part in enumerate(outputs.parts)]
        wrong = [(own < 0) | (own >= size) for own, size in zip(parts, outputs.shape, strict=True)]
        bad = np.logical_or.reduce(wrong)
        return np.where(bad, -1, outputs.join([np.where(bad, 0, own) for own in parts]))
    if isinstance(outputs, Labelled) and outputs.labels is not None:
        return values  # the indices of labels
    if isinstance(outputs, Values):
        return _nearest(outputs, np.searchsorted((outputs.values[1:] + outputs.values[:-1]) / 2, values), values)
    if isinstance(outputs, Interval):
        first = outputs.decode(0)
        with np.errstate(invalid="ignore"):
            at = np.rint((values.astype(np.float64) - first) / outputs.step)
        inside = (at >= 0) & (at < len(outputs))
        return np.where(inside, _nearest(outputs, np.where(inside, at, 0).astype(np.int64), values), -1)
    numbers = outputs.numbers if isinstance(outputs, SetDomain) else outputs
    low = numbers.low if isinstance(numbers, Integers) else 0
    if values.dtype.kind == "f":
        whole = (values >= low) & (values < low + len(outputs)) & (np.floor(values) == values)
        return np.where(whole, values, low - 1).astype(np.int64) - low
    inside = (values >= low) & (values <= low + len(outputs) - 1)
    return np.where(inside, values.astype(np.int64) - low, -1)


def _nearest(outputs: Domain, at: NDArray[np.int64], values: NDArray[Any]) -> NDArray[np.int64]:
    """These indices where the values are those outputs up to rounding, −1 elsewhere (NaN too)."""
    nodes = outputs.to_numpy()
    gap = float(np.diff(nodes).min()) if len(nodes) > 1 else 1.0
    return np.where(np.abs(values - nodes[at]) <= _NEAR * gap, at, -1)


def _outside(mechanism: Mechanism, count: int | None, first: int | None) -> OutsideDomainError:
    some = "Some reports are" if count is None else f"{count} reports, the first at reports[{first}], are"
    return OutsideDomainError(
        f"{some} none that {mechanism!r} gives; pass reports as they came, unclipped and unrounded, and the mechanism "
        "or spec that they were made with."
    )
