"""What a network reads: public ranges become [0, 1], categories become one column each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

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
    values = np.asarray(table, dtype=object)
    for column, there, domain in zip(values.T, ~pd.isna(values).T, domains.values(), strict=True):
        if not domain.has_ends:
            at = {label: place for place, label in enumerate(domain)}
            hot = np.zeros((len(column), len(at)), dtype=np.float32)
            hot[np.flatnonzero(there), [at[value] for value in column[there].tolist()]] = 1
            parts.append(hot)
        else:
            low, high = float(domain.decode(0)), float(domain.decode(len(domain) - 1))
            scaled = np.full(len(column), 0.5, dtype=np.float32)
            scaled[there] = (column[there].astype(np.float64) - low) / (high - low)
            parts.append(scaled[:, None])
    return np.concatenate(parts, axis=1)
