"""What all fits share: a failed one changes nothing, a refusal shows no value, labels become positions of classes."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bipartite.errors import InputError, NotAValueError, NullError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    T = TypeVar("T")

# What scikit-learn's messages show of an array.
_SHOWN = re.compile(r"\narray=.*?(?=\nReshape|\Z)", re.DOTALL)
# What Python says of pandas' missing values among objects.
_NO_VALUE = re.compile(r"not 'NA(Type|TType)'|value of NA is ambiguous", re.IGNORECASE)


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


def check_unmasked(**given: object) -> None:
    """Refuse masked arrays, by their type: NumPy's and scikit-learn's readers take what a mask hides for values."""
    for name, each in given.items():
        if isinstance(each, np.ma.MaskedArray):
            raise NullError(
                f"Expected {name} without a mask, got a masked array; leave out or fill the masked rows first."
            )


def without_values(read: Callable[[], T]) -> T:
    """Return what ``read`` returns, or raise scikit-learn's message without the values that it would show."""
    try:
        return read()
    except ValueError as error:
        refusal = _tactful(error)
    except TypeError as error:
        if not _NO_VALUE.search(str(error)):
            raise
        refusal = NullError("Expected a value in every cell, got missing ones; fill them with a public value first.")
    raise refusal  # outside the handler, so that no inner exception travels with it


def _tactful(error: ValueError) -> ValueError:
    message = str(error)
    if isinstance(error, (InputError, NotAValueError)):
        return error
    if "could not convert" in message:
        return NotAValueError("Expected numbers, got text; encode categories as numbers first.")
    # scikit-learn's message then recommends models without privacy.
    first = message.partition("\n")[0].rstrip(".")
    if first.endswith("contains NaN"):
        return NullError(f"{first}; fill missing values with a public value first.")
    if "contains infinity" in first:
        return NotAValueError(f"{first}; put an end of the public range in place of infinite values first.")
    if message.startswith("Complex data not supported"):
        return NotAValueError("Complex data not supported; pass real numbers.")
    return type(error)(_SHOWN.sub("", message))
