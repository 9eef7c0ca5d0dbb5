"""Everything that bipartite raises.

::

    BipartiteError
    ├── InputError (ValueError)          an argument that cannot be used
    │   ├── EpsilonError                 ε itself
    │   ├── DomainError                  a domain that cannot be built
    │   ├── DesignError                  ε, N and m that no lottery of 2^52 tickets can keep
    │   ├── PriorError                   a prior that is no distribution over the domain
    │   └── SpecError                    a portable description that is not understood
    │       └── BrokenPromiseError       understood, and its tickets break the ε it states
    ├── DataError (ValueError)           a private value that cannot become a report
    │   ├── OutsideDomainError
    │   ├── NotAValueError               NaN, not a whole number, not a number
    │   └── NullError
    ├── DataFileError (ValueError)       a file or table that cannot be read as what it should be
    ├── BudgetSpentError (RuntimeError)  a person's budget of a period does not allow another report
    ├── LedgerFileError (ValueError)     a ledger that is damaged, busy, or not a ledger
    ├── MissingDataError (FileNotFoundError)   a file that is not here, and could not be fetched
    ├── WordsExhaustedError (RuntimeError)   a stream of fixed words ran out
    └── MissingExtraError (ImportError)  an optional part is not installed

Messages name the parameter (``threads=``, which the command line says as its option), say what was expected, and end
with what to do. A private value appears in the *message* of a scalar call and nowhere else: not for arrays, and not in
``repr``, ``args`` or a pickle of the exception.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal
    from typing import Self


NOT_INSTALLED: Final = "is not installed"


class BipartiteError(Exception):
    """Anything that bipartite raises on purpose."""


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


class SpecError(InputError):
    """The portable description is not one that this version understands."""


class BrokenPromiseError(SpecError):
    """The tickets of a portable description break the ε that it states."""


class DataError(BipartiteError, ValueError):
    """A private value cannot become a report.

    ``shown`` holds what only the message of a scalar call may show: the value. It is left out of ``args``, ``repr``
    and pickles, so that an exception which travels carries no private value.
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
        """The same error about a value of this attribute."""
        message = super().__str__()
        if self._shown is None:
            return type(self)(f"{name}: {message}")
        return type(self)(message, shown=f"{name}: {self._shown}")


class OutsideDomainError(DataError):
    """A value lies outside the domain."""


class NotAValueError(DataError):
    """A value is NaN, not whole, or no number at all."""


class NullError(DataError):
    """A value is missing."""


class DataFileError(BipartiteError, ValueError):
    """A file or table cannot be read as what it should be: it is damaged, cut off, of another kind, or another one.

    The message names the place (a file, a line, a column), never what stood there in a private table.
    """


class BudgetSpentError(BipartiteError, RuntimeError):
    """A person's budget of this period does not allow another report; nothing was drawn, nothing was debited.

    ``budget``, ``spent`` and ``asked`` are amounts of ε, as exact decimals.
    """

    def __init__(self, message: str, budget: Decimal, spent: Decimal, asked: Decimal) -> None:
        super().__init__(message)
        self.budget, self.spent, self.asked = budget, spent, asked

    def __reduce__(self) -> tuple[type[BudgetSpentError], tuple[object, ...]]:
        return type(self), (*self.args, self.budget, self.spent, self.asked)


class LedgerFileError(BipartiteError, ValueError):
    """A file is no ledger, is damaged, or stayed busy; the message says which."""


class MissingDataError(BipartiteError, FileNotFoundError):
    """A file is not here and could not be fetched; the message says where to put it, or what to do."""


class WordsExhaustedError(BipartiteError, RuntimeError):
    """A stream of fixed words has no words left."""


class MissingExtraError(BipartiteError, ImportError):
    """An optional part of bipartite is not installed."""


def missing_library(*, what: str, library: str, problem: str = NOT_INSTALLED) -> MissingExtraError:
    """What needs a library, and how to get it: by its own name, since bipartite is on no package index yet.

    >>> print(missing_library(what="PNG needs", library="resvg-py"))
    PNG needs resvg-py, which is not installed; run: pip install resvg-py
    """
    install = "pip install" if problem == NOT_INSTALLED else "pip install --upgrade"
    return MissingExtraError(f"{what} {library}, which {problem}; run: {install} {library}")


def of_attribute(error: InputError | DataError, name: str) -> InputError | DataError:
    """The same error, with the name of the attribute of a record that it is about."""
    if isinstance(error, DataError):
        return error.of_attribute(name)
    return type(error)(f"{name}: {error}")


def shown(value: object) -> str:
    """A value in a message, however odd it is: Python refuses to write whole numbers of thousands of digits."""
    try:
        return repr(value)
    except ValueError:
        return "a whole number of very many digits"


def how_many(count: float, what: str) -> str:
    """A count in words: "1 report", "2,000 reports"."""
    number = f"{count:,}" if isinstance(count, int) else f"{count:.3g}"
    return f"{number} {what}{'' if number == '1' else 's'}"


def is_one_of(value: object, choices: tuple[str, ...]) -> bool:
    """Whether an option is one of these words; anything else, lists and arrays too, is not."""
    return isinstance(value, str) and value in choices


class Problems:
    """Collects problems so that a person sees all of them at once.

    >>> problems = Problems()
    >>> problems.add("Expected low < high, got low=5, high=5.")
    >>> problems.raise_if_any(DomainError)
    Traceback (most recent call last):
    bipartite.errors.DomainError: Expected low < high, got low=5, high=5.
    """

    def __init__(self) -> None:
        self._found: list[str] = []

    def add(self, message: str) -> None:
        """Remember one problem: a whole sentence that ends with what to do."""
        self._found.append(message)

    def __bool__(self) -> bool:
        return bool(self._found)

    @contextmanager
    def noting(self, where: str = "") -> Iterator[None]:
        """Remember every problem of an error of the block, and go on; ``where`` stands before each."""
        try:
            yield
        except BipartiteError as error:
            for line in str(error).split("\n- ")[1 if "\n- " in str(error) else 0 :]:
                self.add(f"{where}{line}")

    def raise_if_any(self, kind: type[InputError]) -> None:
        """Raise ``kind`` with every problem found, if there is one."""
        if len(self._found) == 1:
            raise kind(self._found[0])
        if self._found:
            raise kind(f"{len(self._found)} problems:\n" + "\n".join(f"- {each}" for each in self._found))
