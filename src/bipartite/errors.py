"""Every exception that bipartite raises.

::

    BipartiteError
    ├── InputError (ValueError)          an argument that cannot be used
    │   ├── EpsilonError                 ε itself
    │   ├── DomainError                  a domain that cannot be built
    │   ├── DesignError                  ε, N and m that no lottery of 2^52 tickets can keep
    │   ├── PriorError                   a prior that is not a distribution over the domain
    │   └── SpecError                    a portable description that is not understood
    │       └── BrokenPromiseError       a spec whose tickets break the ε it states
    ├── DataError (ValueError)           a private value that cannot become a report
    │   ├── OutsideDomainError
    │   ├── NotAValueError               NaN, not a whole number, not a number
    │   └── NullError
    ├── DataFileError (ValueError)       a file or table that is damaged or of the wrong kind
    ├── BudgetSpentError (RuntimeError)  a person's budget for a period does not allow another report
    ├── LedgerFileError (ValueError)     a ledger that is damaged, busy, out of reach, or not a ledger
    ├── DatabaseError (RuntimeError)     a database that cannot be reached, is full or damaged, or refuses
    ├── MissingDataError (FileNotFoundError)   a file that was not found and could not be fetched
    ├── WordsExhaustedError (RuntimeError)   a stream of fixed words ran out
    └── MissingExtraError (ImportError)  an optional dependency is not installed

A message names the parameter (``threads=``; the command line translates it to its option), says what was expected, and
ends with what to do. A private value appears only in the *message* of a scalar call: never for arrays, and never in
``repr``, ``args`` or a pickle of the exception.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from bipartite.texts import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal
    from typing import Self


NOT_INSTALLED: Final = "is not installed"


class BipartiteError(Exception):
    """Base class of every exception that bipartite raises deliberately."""


class InputError(BipartiteError, ValueError):
    """An argument cannot be used; the message lists every problem found."""


class EpsilonError(InputError):
    """ε is not a positive finite decimal of at most 20 digits."""


class DomainError(InputError):
    """The domain cannot be built as described."""


class DesignError(InputError):
    """No lottery of at most 2^52 tickets keeps this ε on this domain, or m does not fit."""


class PriorError(InputError):
    """The prior is not a probability distribution over the domain."""


class OtherKindError(InputError, AttributeError):
    """What was asked of a mechanism is something that mechanisms of its kind do not have."""


class SpecError(InputError):
    """The portable description is not understood by this version."""


class BrokenPromiseError(SpecError):
    """The tickets of a portable description break the ε that it states."""


class DataError(BipartiteError, ValueError):
    """A private value cannot become a report.

    ``shown`` is the value, which only the message of a scalar call may show. It is left out of ``args``, ``repr`` and
    pickles, so that an exception sent elsewhere carries no private value.
    """

    def __init__(self, message: str, *, shown: str | None = None) -> None:
        super().__init__(message)
        self._shown = shown

    def __str__(self) -> str:
        message = super().__str__()
        return message if self._shown is None else f"{self._shown} {message}"

    def __reduce__(self) -> tuple[type[DataError], tuple[object, ...]]:
        return type(self), self.args

    def of_attribute(self, name: str) -> Self:
        """Return the same error, prefixed with the attribute that the value belongs to."""
        message = super().__str__()
        if self._shown is None:
            return type(self)(f"{escaped(name)}: {message}")
        return type(self)(message, shown=f"{escaped(name)}: {self._shown}")


class OutsideDomainError(DataError):
    """A value lies outside the domain."""


class NotAValueError(DataError):
    """A value is NaN, not a whole number, or not a number at all."""


class NullError(DataError):
    """A value is missing."""


class DataFileError(BipartiteError, ValueError):
    """A file or table is damaged, truncated, of the wrong kind, or not the one expected.

    The message names the place (file, line, column) but never the contents of a private table.
    """


class BudgetSpentError(BipartiteError, RuntimeError):
    """A person's budget for this period does not allow another report; nothing was drawn or debited.

    ``budget``, ``spent`` and ``asked`` are amounts of ε as exact decimals.
    """

    def __init__(self, message: str, budget: Decimal, spent: Decimal, asked: Decimal) -> None:
        super().__init__(message)
        self.budget, self.spent, self.asked = budget, spent, asked

    def __reduce__(self) -> tuple[type[BudgetSpentError], tuple[object, ...]]:
        return type(self), (*self.args, self.budget, self.spent, self.asked)


class LedgerFileError(BipartiteError, ValueError):
    """A ledger is none, is damaged, cannot be reached, or stayed busy; the message says which."""


class DatabaseError(BipartiteError, RuntimeError):
    """A PostgreSQL server, or the file of a collector, cannot be reached or refused a statement.

    ``code`` is the SQLSTATE, if a server gave one; ``lost`` says that the connection is gone.
    """

    def __init__(self, message: str, *, code: str = "", lost: bool = False) -> None:
        super().__init__(message)
        self.code, self.lost = code, lost


class MissingDataError(BipartiteError, FileNotFoundError):
    """A file was not found and could not be fetched; the message says where to put it or what to do."""


class WordsExhaustedError(BipartiteError, RuntimeError):
    """A stream of fixed words has no words left."""


class MissingExtraError(BipartiteError, ImportError):
    """An optional dependency of bipartite is not installed."""


def installing(extra: str) -> str:
    """The command that adds an extra to an installed bipartite, of which pip fetches only what is missing."""
    return f'pip install "bipartite[{extra}]" (in a checkout: pip install ".[{extra}]")'


def missing_library(
    *, what: str, library: str, extra: str | None = None, problem: str = NOT_INSTALLED
) -> MissingExtraError:
    """Build the error that names a missing library and how to install it, with all of its extra if it has one.

    >>> print(missing_library(what="Speed needs", library="numba", extra="fast"))
    Speed needs numba, which is not installed; run: pip install "bipartite[fast]" (in a checkout: pip install ".[fast]")
    """
    install = installing(extra) if extra else f"pip install {library}"
    if problem != NOT_INSTALLED:
        install = f"pip install --upgrade {library}"
    return MissingExtraError(f"{what} {library}, which {problem}; run: {install}")


def of_attribute(error: InputError | DataError, name: str) -> InputError | DataError:
    """Return the same error, prefixed with the name of the attribute it concerns."""
    if isinstance(error, DataError):
        return error.of_attribute(name)
    return type(error)(f"{escaped(name)}: {error}")


def shown(value: object) -> str:
    """Format any value for a message; Python refuses to print integers of thousands of digits."""
    try:
        return repr(value)
    except ValueError:
        return "a whole number with thousands of digits"


def how_many(count: float, what: str) -> str:
    """Format a count with its noun: "1 report", "2,000 reports"."""
    number = f"{count:,}" if isinstance(count, int) else f"{count:.3g}"
    return f"{number} {what}{'' if number == '1' else 's'}"


def is_one_of(value: object, choices: tuple[str, ...]) -> bool:
    """Whether an option is one of these strings; lists and arrays, which cannot be compared, are not."""
    return isinstance(value, str) and value in choices


class Problems:
    """Collects problems so that all of them are reported at once.

    >>> problems = Problems()
    >>> problems.add("Expected low < high, got low=5, high=5.")
    >>> problems.raise_if_any(DomainError)
    Traceback (most recent call last):
    bipartite.errors.DomainError: Expected low < high, got low=5, high=5.
    """

    def __init__(self) -> None:
        self._found: list[str] = []

    def add(self, message: str) -> None:
        """Record one problem: a complete sentence that ends with what to do."""
        self._found.append(message)

    def __bool__(self) -> bool:
        return bool(self._found)

    @contextmanager
    def noting(self, where: str = "") -> Iterator[None]:
        """Record the problems of any error raised in the block, each prefixed with ``where``, and continue."""
        try:
            yield
        except BipartiteError as error:
            for line in str(error).split("\n- ")[1 if "\n- " in str(error) else 0 :]:
                self.add(f"{escaped(where)}{line}")

    def raise_if_any(self, kind: type[InputError]) -> None:
        """Raise ``kind`` listing every problem, if any was recorded."""
        if len(self._found) == 1:
            raise kind(self._found[0])
        if self._found:
            raise kind(f"{len(self._found)} problems:\n" + "\n".join(f"- {each}" for each in self._found))
