"""What fits share: one that fails leaves no half of a model behind, and labels become positions among classes."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


@contextmanager
def as_it_was(estimator: object) -> Iterator[None]:
    """Whatever fails within, the estimator stays as it was: half a model could be taken for a whole one."""
    held = vars(estimator).copy()
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(held)
        raise


def positions(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """Where each label stands among the classes; −1 where it is none of them. Labels may have no order."""
    places = {each: at for at, each in enumerate(classes.tolist())}
    return np.array([places.get(each, -1) for each in labels.tolist()], dtype=np.int64)
