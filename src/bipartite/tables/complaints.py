"""What is said about a file that cannot be read or written: what happened and where, never what stood there.

Errors of readers show a line of the input. None of them may travel with an error of ours: not in its words, and not as
its ``__cause__`` or ``__context__``, where every log of a whole traceback would write it down.
"""

from __future__ import annotations

import errno
import functools
import os
import re
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

from bipartite.errors import DataFileError, InputError
from bipartite.tables.scans import NO_OBJECT

if TYPE_CHECKING:
    from collections.abc import Callable

Given = ParamSpec("Given")
Result = TypeVar("Result")

_LINE: Final = re.compile(r"[A-Za-z ]+: (?:CSV Error on Line: |JSON transform error in file .*?, in line )(\d+)")
# DuckDB's reasons stand behind the line that it shows; whatever the line says, the last of them is meant.
_NOT_UTF8: Final = ("is not UTF-8 text", "save it as UTF-8, or, for CSV, say with encoding= what it is.")
_REASONS: Final = {
    "Expected Number of Columns: ": (
        "has another number of cells than the first line",
        "repair it, say with delimiter= what stands between cells, or leave such lines out with reject=.",
    ),
    "Value with unterminated quote found.": ("has a quotation mark that is never closed", "repair it."),
    "Maximum line size of 2000000 bytes exceeded": (
        "has more than 2,000,000 bytes",
        "shorten it, or end a quotation mark.",
    ),
    "The CSV Parser state machine reached an invalid state.": (
        "cannot be read as CSV",
        "see that all of its lines end alike, and that quotation marks stand around whole cells.",
    ),
    "Invalid unicode": _NOT_UTF8,
    "not utf-8 encoded": _NOT_UTF8,
}
"""For what DuckDB says: (what is wrong, what to do)."""
_CURES: Final = {
    "read": "repair it, or say which format it has with input_format=.",
    "written": "check compression= and the disk.",
}


def without_lines(act: Callable[Given, Result]) -> Callable[Given, Result]:
    """The same function, whose errors carry no other errors: those of readers show a line of a private table."""

    @functools.wraps(act)
    def acting(*given: Given.args, **named: Given.kwargs) -> Result:
        try:
            return act(*given, **named)
        except BaseException as error:
            error.__cause__ = error.__context__ = None
            raise

    return acting


def unreadable(
    error: BaseException, what: str = "the input", verb: str = "read", hint: str | None = None
) -> BaseException:
    """What a reader or writer complained about, without the line that it shows, and a hint what to do."""
    said = str(error)
    # Only how a message begins says what happened: the rest may be a line of the input, whatever that says.
    if said.startswith("Out of Memory Error"):
        msg = "DuckDB ran out of the memory that it may use; allow more, for example memory='4GB', or use threads=1."
        return InputError(msg)
    if said.startswith("INTERRUPT Error") or said == "Query interrupted" or isinstance(error, KeyboardInterrupt):
        return KeyboardInterrupt()
    if isinstance(error, OSError) or said.startswith("IO Error"):
        for code, told in (
            (errno.ENOSPC, "no space is left on the disk"),
            (errno.ENAMETOOLONG, "a name would be too long for the disk; shorten it, or the values of partition_by="),
            (errno.EMFILE, "too many files are open; allow more with ulimit -n, or release fewer at a time"),
        ):
            if getattr(error, "errno", None) == code or os.strerror(code) in said:
                return OSError(told)
        if isinstance(error, OSError) and error.errno is not None:
            return OSError(error.errno, os.strerror(error.errno))
    line = _LINE.match(said)
    where = f"line {int(line[1]):,} of {what}" if line else what
    why, cure = f"cannot be {verb} ({type(error).__name__})", _CURES[verb]
    if NO_OBJECT in said[:200]:
        why = "has a line that is no JSON object"
    else:
        last = max(_REASONS, key=said.rfind)
        if last in said:
            why, cure = _REASONS[last]
    return DataFileError(f"{where} {why}; {hint or cure}")
