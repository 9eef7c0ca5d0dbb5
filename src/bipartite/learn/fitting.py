"""What all fits share: a failed one leaves the estimator as it was, and labels become positions among classes."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


@contextmanager
def as_it_was(estimator: object) -> Iterator[None]:
    """Restore the estimator if anything inside fails: half a model could be mistaken for a whole one."""
    held = vars(estimator).copy()
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(held)
        raise


def positions(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """The position of each label among the classes, −1 where it is not one of them. Labels need no order."""
    places = {each: at for at, each in enumerate(classes.tolist())}
    return np.array([places.get(each, -1) for each in labels.tolist()], dtype=np.int64)
