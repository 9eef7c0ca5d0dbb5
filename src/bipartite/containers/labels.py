"""Labels come in a container and labels go back in the same kind: lists, tuples, NumPy arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.containers.batch import Batch, Nulls, missing_error
from bipartite.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains import SetDomain


def open_labels(values: object, nulls: Nulls, domain: SetDomain) -> Batch:
    """The indices of a list, tuple or NumPy array of labels."""
    if isinstance(values, np.ma.MaskedArray) or not isinstance(values, (list, tuple, np.ndarray)):
        msg = (
            f"Expected labels as one label, a list or a NumPy array, got {type(values).__name__}; "
            "convert it first, for example with .tolist()."
        )
        raise InputError(msg)
    shape = values.shape if isinstance(values, np.ndarray) else (len(values),)
    flat: list[Any] = values.reshape(-1).tolist() if isinstance(values, np.ndarray) else list(values)
    positions = [at for at, value in enumerate(flat) if value is not None]
    if len(positions) < len(flat) and nulls == "error":
        raise missing_error(len(flat) - len(positions), len(flat), f"values[{flat.index(None)}]")

    def place(position: int) -> str:
        return f"values[{', '.join(str(int(at)) for at in np.unravel_index(positions[position], shape))}]"

    def rebuild(reports: NDArray[Any], hidden: NDArray[np.bool_] | None) -> Any:  # noqa: ANN401
        found: list[Any] = [None] * len(flat)
        hide = [False] * len(positions) if hidden is None else hidden.tolist()
        for at, report, hiding in zip(positions, reports.tolist(), hide, strict=True):
            found[at] = None if hiding else domain.decode(report)
        if isinstance(values, np.ndarray):
            whole = len(positions) == len(flat) and hidden is None
            return np.array(found, dtype=np.array(domain.labels).dtype if whole else object).reshape(shape)
        return tuple(found) if isinstance(values, tuple) else found

    return Batch(domain.encode_labels([flat[at] for at in positions], place), rebuild, place)
