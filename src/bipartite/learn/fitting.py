"""What all fits share: a failed one changes nothing, a refusal shows no value, labels become positions of classes."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from bipartite.domains.containers.cells import Array
from bipartite.errors import BipartiteError, NotAValueError, NullError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    T = TypeVar("T")

# What scikit-learn's messages show of an array.
_SHOWN = re.compile(r"\narray=.*?(?=\nReshape|\Z)", re.DOTALL)
# What Python says of pandas' missing values among objects.
_NO_VALUE = re.compile(r"not 'NA(Type|TType)'|value of NA is ambiguous", re.IGNORECASE)

_TEXT: Final = "Expected numbers, got text; encode categories as numbers first."


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


def check_numbers(*given: object) -> None:
    """Refuse text, dates and durations: everybody's cells decide together in which unit, or that all are text.

    One person's date in milliseconds would multiply the others' numbers by 1,000.
    """
    kinds = {getattr(kind, "kind", "O") for each in given for kind in _kinds(each)}
    if kinds & {"U", "S", "V"}:
        raise NotAValueError(_TEXT)
    if kinds & {"m", "M"}:
        raise NotAValueError(
            "Expected numbers, got dates or durations; turn each into a number by itself, such as days since a public "
            "date."
        )


def _kinds(table: Any) -> list[Any]:  # noqa: ANN401 (whatever holds numbers)
    """The types of the columns of a frame, or of an array or a list."""
    if hasattr(table, "get_columns"):  # of Polars
        return [column.head(0).to_numpy().dtype for column in table.get_columns()]
    if hasattr(table, "columns") and hasattr(table, "dtypes"):
        return list(table.dtypes)
    try:
        return [np.asarray(table).dtype]
    except ValueError:  # rows of unequal length, which scikit-learn refuses
        return []


def check_present(labels: NDArray[Any]) -> None:
    """Refuse missing labels: NaN, None and the nulls of pandas."""
    missing = Array(labels, "error").cells().with_nan().missing
    if missing is not None:
        raise NullError(
            f"{int(missing.sum())} of {len(labels)} labels are missing, the first in row {int(missing.argmax())} "
            "(counted from 0); leave these people out, or give them a public label."
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
    first = message.partition("\n")[0].rstrip(".")  # scikit-learn then recommends models without privacy
    told = {
        "could not convert": NotAValueError(_TEXT),
        "contains NaN": NullError(f"{first}; fill missing values with a public value first."),
        "contains infinity": NotAValueError(
            f"{first}; put an end of the public range in place of infinite values first."
        ),
        "Complex data not supported": NotAValueError("Complex data not supported; pass real numbers."),
    }
    if isinstance(error, BipartiteError):
        return error
    shown = ValueError(_SHOWN.sub("", message))  # some kinds of ValueError want more than a message
    return next((each for words, each in told.items() if words in first), shown)
