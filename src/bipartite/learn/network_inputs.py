"""What a network reads: public ranges become [0, 1], categories become one column each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.domains import SetDomain
from bipartite.learn.column_values import read_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bipartite.domains import Domain


def network_inputs(table: object, domains: Mapping[str, Domain]) -> NDArray[np.float32]:
    """Every row as numbers, by public parameters alone: min–max for numbers, one-hot for categories.

    Reports beyond a range, as of Laplace or padded BRR, stay beyond [0, 1]. A null, where a column was not drawn,
    becomes the middle of the range, or no category at all.
    """
    parts: list[NDArray[np.float32]] = []
    for column, domain in zip(read_table(table).columns, domains.values(), strict=True):
        if isinstance(domain, SetDomain):
            parts.append(_one_hot(column.values, column.missing, domain))
        else:
            low, high = _ends(domain)
            scaled = np.full(len(column.values), 0.5, dtype=np.float32)
            there = ~column.missing
            scaled[there] = (column.values[there].astype(np.float64) - low) / (high - low)
            parts.append(scaled[:, None])
    return np.concatenate(parts, axis=1)


def _ends(domain: Any) -> tuple[float, float]:  # noqa: ANN401 (a line)
    return float(domain.low), float(domain.high)


def _one_hot(values: NDArray[Any], missing: NDArray[np.bool_], domain: SetDomain) -> NDArray[np.float32]:
    positions = {label: at for at, label in enumerate(domain.labels or range(len(domain)))}
    hot = np.zeros((len(values), len(positions)), dtype=np.float32)
    rows = np.flatnonzero(~missing)
    hot[rows, [positions[value] for value in values[rows].tolist()]] = 1
    return hot
