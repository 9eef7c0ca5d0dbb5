"""Which converter opens a container: told by its type, so that no library is imported that the caller does not use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.domains.containers.arrow import open_arrow
from bipartite.domains.containers.batch import open_array, open_sequence
from bipartite.domains.containers.pandas_series import open_pandas
from bipartite.domains.containers.polars_series import open_polars
from bipartite.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bipartite.domains.containers.batch import Batch, Nulls

# Whoever holds a container of a library has the library; a converter imports nothing else.
_LIBRARIES: Final[dict[str, Callable[[Any, Nulls], Batch]]] = {
    "pandas": open_pandas,
    "polars": open_polars,
    "pyarrow": open_arrow,
}


def open_batch(values: object, nulls: Nulls, *, whole: bool) -> Batch:
    """The values of a container of numbers; ``whole`` says that the domain holds whole numbers."""
    if isinstance(values, (list, tuple)):
        return open_sequence(values, nulls, whole=whole)
    if isinstance(values, np.ndarray):
        return open_array(values, nulls)
    # A class derived from a Series is a Series too, wherever it was written.
    for kind in type(values).__mro__:
        opener = _LIBRARIES.get(kind.__module__.partition(".")[0])
        if opener is not None:
            return opener(values, nulls)
    msg = (
        "Expected values as a number, a list, a NumPy array, a pandas or Polars Series or an Arrow array, "
        f"got {type(values).__name__}; convert it first, for example with .to_numpy()."
    )
    raise InputError(msg)
