"""The reports of several attributes by column, and who reported which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bipartite.answers.estimation.reports import read_reports
from bipartite.domains.containers import is_scalar
from bipartite.errors import DataError, InputError, NullError, Problems, of_attribute
from bipartite.texts import escaped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from pandas import DataFrame

    from bipartite.answers.estimation.reports import Missing
    from bipartite.mechanisms import Mechanism, Record


class Reported(NamedTuple):
    """The reports of one attribute."""

    there: NDArray[np.bool_]
    """For every person, whether they reported the attribute."""
    rows: NDArray[Any]
    """A row for each of those reports: the index of its output or, for flat categories, the report itself."""


def columns_of(record: Record, reports: object, nulls: Missing = "error") -> dict[str, Reported]:
    """The reports of every attribute, as :meth:`~bipartite.Record.privatize` returned them for many people or for each.

    If attributes are sampled, those that a person did not report are missing, and their number is checked.
    """
    names = list(record.mechanisms)
    table = _table(reports, names, record.sample)
    drop: Missing = "drop" if record.sample is not None else nulls
    found = {name: _column_of(name, record.mechanisms[name], table[name], drop) for name in names}
    people = {name: len(column.there) for name, column in found.items()}
    if len(set(people.values())) > 1:
        sizes = ", ".join(f"{escaped(name)}: {size}" for name, size in people.items())
        raise InputError(f"Expected the same people in every column, got {sizes}; pass columns of one table.")
    if record.sample is not None:
        each = np.sum([column.there for column in found.values()], axis=0)
        wrong = np.flatnonzero(each != record.sample)
        if len(wrong):
            raise InputError(
                f"Expected {record.sample} attributes from every person, got another number from {len(wrong)} people, "
                f"first at reports[{int(wrong[0])}]; pass reports as they came, and the Record they were made with."
            )
    return found


def _column_of(name: str, mechanism: Mechanism, column: Any, nulls: Missing) -> Reported:  # noqa: ANN401 (any container)
    """The reports of one attribute, which errors name."""
    try:
        there, rows = _flat_rows(mechanism, column) if mechanism.flat else _indices(mechanism, column, nulls)
        missing = int((~there).sum())
        if missing and nulls == "error":
            raise NullError(f"{missing} of {len(there)} reports are missing; remove them, or use nulls='drop'.")
    except (InputError, DataError) as error:
        refusal = of_attribute(error, name)
    else:
        return Reported(there, rows)
    raise refusal


def _indices(mechanism: Mechanism, column: Any, nulls: Missing) -> Reported:  # noqa: ANN401
    """Who reported, and the outputs that they reported."""
    keep: Missing = "drop" if nulls == "error" else nulls
    if not isinstance(column, np.ma.MaskedArray):
        return Reported(*read_reports(mechanism, column, keep))
    there = ~np.ma.getmaskarray(column)
    there[there], rows = read_reports(mechanism, column.compressed(), keep)
    return Reported(there, rows)


def _flat_rows(mechanism: Mechanism, column: Any) -> Reported:  # noqa: ANN401
    """The reports of flat categories: an array, masked if some are missing, or a list of rows with None for those.

    Anything that is not an array of such reports is refused; whether each of them can have come from the mechanism is
    not checked yet.
    """
    if is_scalar(column):
        mechanism.count(column)  # raises the error
    if isinstance(column, np.ma.MaskedArray) or (isinstance(column, np.ndarray) and column.dtype.kind != "O"):
        there = np.logical_not(np.ma.getmaskarray(column).any(axis=tuple(range(1, column.ndim))))
        rows = np.ma.getdata(column)[there]
    else:
        listed = [None if row is None else np.asarray(row) for row in column]
        there = np.array([row is not None for row in listed], dtype=bool)
        told = [row for row in listed if row is not None]
        alike = len({(row.shape, row.dtype) for row in told}) == 1
        rows = np.stack(told) if alike else mechanism.flat_draw.empty(0) if not told else np.empty(0)
    mechanism.count(rows[:0])
    return Reported(there, rows)


def _table(reports: object, names: list[str], sample: int | None) -> Mapping[str, Any] | DataFrame:
    """Columns by name, from a dict, a frame, or a list of single people's reports."""
    if isinstance(reports, (list, tuple)):
        return _one_by_one(reports, names, sample)
    columns = reports if isinstance(reports, Mapping) else getattr(reports, "columns", None)
    if columns is None:
        raise InputError(
            f"Expected reports as a dict of columns, got {type(reports).__name__}; pass {{{names[0]!r}: …}}."
        )
    problems = Problems()
    for name in names:
        if name not in list(columns):
            problems.add(f"Expected reports of {name!r}, got none; add the column.")
        elif isinstance(reports, Mapping) and is_scalar(reports[name]):
            problems.add(f"Expected a column of reports of {name!r}, got one report; pass a list of people's reports.")
    problems.raise_if_any(InputError)
    return reports


def _one_by_one(reports: Sequence[Any], names: list[str], sample: int | None) -> dict[str, list[Any]]:
    wanted = len(names) if sample is None else sample
    for at, report in enumerate(reports):
        if not isinstance(report, Mapping) or len(report) != wanted or not set(report) <= set(names):
            got = f"{len(report)} attributes" if isinstance(report, Mapping) else type(report).__name__
            raise InputError(
                f"Expected reports[{at}] as a dict of {wanted} of {', '.join(map(escaped, names))}, got {got}; pass "
                "reports as Record.privatize gave them."
            )
    return {name: [report.get(name) for report in reports] for name in names}
