"""What a network reads: public ranges become [0, 1], categories become one column each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bipartite.learn.column_values import read_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.domains.containers import Cells


def network_inputs(table: object, domains: Mapping[str, Domain]) -> NDArray[np.float32]:
    """Every row as numbers, by public parameters alone: min–max for numbers, one-hot for categories.

    Reports beyond a range, as of Laplace or padded BRR, stay beyond [0, 1]. A null, where a column was not drawn,
    becomes the middle of the range, or no category at all.
    """
    parts: list[NDArray[np.float32]] = []
    for column, domain in zip(read_table(table).columns, domains.values(), strict=True):
        if not domain.has_ends:
            parts.append(_one_hot(column, domain))
        else:
            low, high = float(domain.decode(0)), float(domain.decode(len(domain) - 1))
            scaled = np.full(len(column.values), 0.5, dtype=np.float32)
            scaled[column.there] = (column.values[column.there].astype(np.float64) - low) / (high - low)
            parts.append(scaled[:, None])
    return np.concatenate(parts, axis=1)


def _one_hot(column: Cells, domain: Domain) -> NDArray[np.float32]:
    positions = {label: at for at, label in enumerate(domain)}
    hot = np.zeros((len(column.values), len(positions)), dtype=np.float32)
    rows = np.flatnonzero(column.there)
    hot[rows, [positions[value] for value in column.values[rows].tolist()]] = 1
    return hot
