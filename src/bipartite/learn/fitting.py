"""A fit that fails leaves no half of a model behind, which could be taken for a whole one with its guarantee."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def as_it_was(estimator: object) -> Iterator[None]:
    """Whatever fails within, the estimator stays as it was."""
    held = vars(estimator).copy()
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(held)
        raise
