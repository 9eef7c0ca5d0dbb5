"""The fields of a spec: read from untrusted JSON with every problem collected, and written back."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, TypeVar

import numpy as np

from bipartite.domains import Interval
from bipartite.domains.base import MAX_SPEC_INTEGER
from bipartite.errors import EpsilonError, Problems, SpecError, is_one_of, shown
from bipartite.lottery import Epsilon
from bipartite.names import nearest_name
from bipartite.texts import escaped

if TYPE_CHECKING:
    from typing import TypeGuard

    from _typeshed import DataclassInstance
    from numpy.typing import NDArray

    from bipartite.domains import Domain

AGAIN: Final = "ask for another spec."
_Counts = TypeVar("_Counts", bound="DataclassInstance")
_TICKET_COUNT: Final = re.compile("[1-9][0-9]{0,15}")  # 2^52 has 16 digits


def check_fields(what: str, found: set[str], expected: set[str], problems: Problems) -> None:
    """Note missing and unknown fields."""
    missing, unknown = sorted(expected - found), sorted(map(str, found - expected))
    if missing:
        problems.add(f"Expected {what} with {', '.join(missing)}; ask for a complete one.")
    if unknown:
        meant = [nearest_name(each, expected - found) for each in unknown]
        hints = "".join(
            f" ({each!r}: did you mean {near!r}?)" for each, near in zip(unknown, meant, strict=True) if near
        )
        problems.add(
            f"Expected {what} without {', '.join(map(escaped, unknown))}{hints}; update bipartite to read newer ones."
        )


def check_epsilon(epsilon: object, problems: Problems) -> None:
    """Note what is wrong with ε."""
    if not isinstance(epsilon, str):
        problems.add("Expected epsilon as a decimal string such as '1'.")
        return
    try:
        canonical = Epsilon.of(epsilon).text
    except EpsilonError as error:
        problems.add(str(error))
    else:
        if canonical != epsilon:
            problems.add(f"Expected epsilon in its canonical form {canonical!r}, got {epsilon!r}.")


def is_json_integer(value: object) -> TypeGuard[int]:
    """Whether a value is a JSON integer."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_ticket_count(text: object) -> bool:
    """Whether this is a ticket count as a string."""
    return isinstance(text, str) and _TICKET_COUNT.fullmatch(text) is not None


def is_chance(text: object) -> bool:
    """Whether this is a probability in units of 2^−64, as a string."""
    return isinstance(text, str) and re.fullmatch("[1-9][0-9]{0,19}", text) is not None and int(text) < 2**64


class Fields:
    """The fields of an untrusted spec: problems are collected, and raised together before anything is built.

    Fields are read in the order of the mechanism's schema; ``domain`` and ``budget`` raise what was collected.
    """

    def __init__(self, spec: Mapping[str, Any], domain: Domain | None, problems: Problems) -> None:
        self.spec, self.found, self.problems = spec, domain, problems

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 (whatever JSON holds)
        return self.spec[name]

    @property
    def domain(self) -> Domain:
        """The domain of the spec; raises the problems found so far."""
        if self.found is None or self.problems:
            self.refuse()
        return self.found

    @property
    def budget(self) -> Epsilon | None:
        """The ε of the spec, None where it has none; raises the problems found so far."""
        self.problems.raise_if_any(SpecError)
        return Epsilon.of(self["epsilon"]) if "epsilon" in self.spec else None

    @property
    def interval(self) -> Interval:
        """The domain, which must be an interval."""
        if not isinstance(self.domain, Interval):
            self.refuse(f"Expected domain as {{'interval': [low, high], 'points': …, 'rounding': …}}; {AGAIN}")
        return self.domain

    def within(self, inner: Mapping[str, Any]) -> Fields:
        """The fields of a nested object, whose problems are collected here."""
        return Fields(inner, self.found, self.problems)

    def note(self, message: str) -> None:
        """Collect a problem, to be raised with the others."""
        self.problems.add(message)

    def refuse(self, *messages: str) -> NoReturn:
        """Raise all collected problems and these."""
        for message in messages:
            self.problems.add(message)
        self.problems.raise_if_any(SpecError)
        raise AssertionError

    def choice(self, name: str, choices: tuple[str, ...]) -> Any:  # noqa: ANN401 (one of the choices)
        """A field that must be one of these strings."""
        if not is_one_of(self[name], choices):
            self.note(f"Expected {name} {' or '.join(map(repr, choices))}, got {shown(self[name])}; {AGAIN}")
        return self[name]

    def whole(self, name: str, least: int | None = None, most: int = MAX_SPEC_INTEGER) -> int:
        """An integer within its range."""
        given: int = self[name]
        if not is_json_integer(given) or (least is not None and not least <= given <= most):
            ends = ("" if least is None else f" from {least}") + ("" if most == MAX_SPEC_INTEGER else f" to {most}")
            self.note(f"Expected {name} as a whole number{ends}, got {shown(given)}; {AGAIN}")
        return given

    def counts(self, name: str, kind: type[_Counts]) -> _Counts:
        """Ticket counts by name, such as ``near`` and ``far``: the inverse of `written`."""
        given, keys = self[name], [field.name for field in dataclasses.fields(kind)]
        if isinstance(given, Mapping) and set(given) == set(keys) and all(map(is_ticket_count, given.values())):
            return kind(*(int(given[key]) for key in keys))
        wanted = ", ".join(f"'{key}': '…'" for key in keys)
        self.note(f"Expected {name} as {{{wanted}}}, whole numbers of at most 16 digits as strings.")
        return kind(*(0 for _ in keys))

    def row(self, name: str, given: object, length: int) -> NDArray[np.int64]:
        """A list of ``length`` ticket counts."""
        if not isinstance(given, list) or len(given) != length or not all(map(is_ticket_count, given)):
            self.refuse(f"Expected {name} as {length} whole numbers of at most 16 digits as strings; {AGAIN}")
        return np.array([int(each) for each in given], dtype=np.int64)

    def indices(self, name: str) -> NDArray[np.int64]:
        """Ascending indices of values."""
        given, size = self[name], len(self.domain)
        whole = isinstance(given, list) and given and all(map(is_json_integer, given))
        if not whole or given[0] < 0 or given[-1] >= size or any(a >= b for a, b in pairwise(given)):
            self.refuse(f"Expected {name} as ascending indices from 0 to {size - 1}; {AGAIN}")
        return np.array(given, dtype=np.int64)


class Field(NamedTuple):
    """One field of a mechanism's spec: how it is read, and how it is written as JSON."""

    read: Callable[[Fields, str], Any]
    write: Callable[[Any], Any] = lambda given: given


def whole(least: int | None = None, most: int = MAX_SPEC_INTEGER) -> Field:
    """A whole number within its range."""
    return Field(lambda fields, name: fields.whole(name, least, most))


def choice(*choices: str) -> Field:
    """One of these words."""
    return Field(lambda fields, name: fields.choice(name, choices))


def counts(kind: type[DataclassInstance]) -> Field:
    """Ticket counts by name, such as ``near`` and ``far``."""
    return Field(lambda fields, name: fields.counts(name, kind), written)


INDICES: Final = Field(lambda fields, name: fields.indices(name), lambda given: given.tolist())


def written(held: DataclassInstance) -> dict[str, str]:
    """Ticket counts by name, as strings."""
    return {name: str(count) for name, count in dataclasses.asdict(held).items()}


def written_row(row: NDArray[np.int64]) -> list[str]:
    """Ticket counts in order, as strings."""
    return [str(count) for count in row.tolist()]
