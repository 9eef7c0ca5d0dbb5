"""Columns of reports as a table: pandas, Polars or NumPy, with types that depend on public parameters alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.domains.containers.cells import objects

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    import polars as pl
    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.learn.column_values import Kind, Table


def plain(reports: NDArray[Any] | list[Any], outputs: Domain, *, nullable: bool) -> NDArray[Any]:
    """One column as int64, float64 (with NaN where it was not drawn) or objects (with None there)."""
    if outputs.labels is not None and isinstance(outputs.labels[0], str):
        return objects(reports)
    if isinstance(reports, np.ma.MaskedArray):
        return np.where(reports.mask, np.nan, reports.data.astype(np.float64))
    if isinstance(reports, list):
        reports = np.array([np.nan if each is None else each for each in reports])
    return np.asarray(reports).astype(np.int64 if outputs.whole and not nullable else np.float64)


def build_table(
    columns: Mapping[str, NDArray[Any]], domains: Mapping[str, Domain], like: Table, kind: Kind
) -> pd.DataFrame | pl.DataFrame | NDArray[Any]:
    """A table of this kind; where it is the kind of ``like``, with its names, index and types of text."""
    if kind == "pandas":
        return _pandas(columns, domains, like)
    if kind == "polars":
        return _polars(columns, domains, like)
    if any(column.dtype == object for column in columns.values()):
        mixed = np.empty((like.rows, len(columns)), dtype=object)
        for at, column in enumerate(columns.values()):
            mixed[:, at] = column
        return mixed
    return np.column_stack(list(columns.values()))


def _pandas(columns: Mapping[str, NDArray[Any]], domains: Mapping[str, Domain], like: Table) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415 (people who ask for it have it)

    given = like.frame if like.kind == "pandas" else None
    index = pd.RangeIndex(like.rows) if given is None else given.index
    series = []
    for at, (name, column) in enumerate(columns.items()):
        dtype: object = column.dtype
        if column.dtype == object and given is not None:
            # Not the type of the column, nor one of pandas' other types of text (convert_dtypes): as soon as one of
            # its values is not text, pandas calls all of them objects.
            dtype = pd.Series(["text"]).dtype
            if isinstance(given.dtypes.iloc[at], pd.CategoricalDtype):
                # The public categories, not those that the table happens to have.
                dtype = pd.CategoricalDtype(list(getattr(domains[name], "labels", None) or ()))
        series.append(pd.Series(column, index=index, dtype=dtype))
    frame = pd.concat(series, axis=1)
    frame.columns = pd.Index(list(columns)) if given is None else given.columns
    return frame


def _polars(columns: Mapping[str, NDArray[Any]], domains: Mapping[str, Domain], like: Table) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415 (people who ask for it have it)

    given = like.frame if like.kind == "polars" else None
    series = []
    for at, (name, column) in enumerate(columns.items()):
        if column.dtype == object:
            closed = given is not None and isinstance(given.dtypes[at], (pl.Categorical, pl.Enum))
            dtype = pl.Enum(list(getattr(domains[name], "labels", None) or ())) if closed else pl.String
            series.append(pl.Series(name, column.tolist(), dtype=dtype))
        else:
            series.append(pl.Series(name, column, nan_to_null=True))
    return pl.DataFrame(series)
