"""Errors about a file that cannot be read or written: what happened and where, never the contents.

The errors of DuckDB and Arrow show a line of the input. None of that may be part of our errors: not in the message, and
not as ``__cause__`` or ``__context__``, which a logged traceback would include.
"""

from __future__ import annotations

import errno
import functools
import os
import re
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

from bipartite.errors import DataFileError, InputError
from bipartite.tables.scans import NO_OBJECT, REPEATED

if TYPE_CHECKING:
    from collections.abc import Callable

Given = ParamSpec("Given")
Result = TypeVar("Result")

_LINE: Final = re.compile(r"[A-Za-z ]+: (?:CSV Error on Line: |JSON transform error in file .*?, in line )(\d+)")
# DuckDB's number is one too high, and leaves out empty lines.
_BROKEN: Final = re.compile(r"Invalid Input Error: Malformed JSON in file .*?, at byte \d+ in line (\d+): ")
# DuckDB gives its reason after the line that it shows; whatever the line contains, the last match is the reason.
_NOT_UTF8: Final = ("is not UTF-8 text", "save it as UTF-8, or, for CSV, name its encoding with encoding=.")
_REASONS: Final = {
    "Expected Number of Columns: ": (
        "has another number of cells than the first line",
        "repair it, name the delimiter with delimiter=, or leave such lines out with reject=.",
    ),
    "Value with unterminated quote found.": ("has an unclosed quotation mark", "repair it."),
    "Maximum line size of 2000000 bytes exceeded": (
        "has more than 2,000,000 bytes",
        "shorten it, or close a quotation mark.",
    ),
    "The CSV Parser state machine reached an invalid state.": (
        "cannot be read as CSV",
        "check that all lines have the same ending, and that quotation marks enclose whole cells.",
    ),
    "Invalid unicode": _NOT_UTF8,
    "not utf-8 encoded": _NOT_UTF8,
}
"""For each message of DuckDB: (what is wrong, what to do)."""
_OURS: Final = {NO_OBJECT: "has a line that is not a JSON object", REPEATED: "has a line that repeats a key"}
_CURES: Final = {
    "read": "repair it, or name its format with input_format=.",
    "written": "check compression= and the disk.",
}


def without_lines(act: Callable[Given, Result]) -> Callable[Given, Result]:
    """Wrap a function so that its errors carry no other errors, which might show a line of a private table."""

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
    """Translate an error of a reader or writer, without the line that it shows, and add what to do."""
    said = str(error)
    # Only the start of a message is reliable: the rest may be a line of the input.
    if said.startswith("Out of Memory Error"):
        msg = "DuckDB ran out of memory; allow more, for example memory='4GB', or use threads=1."
        return InputError(msg)
    if said.startswith("INTERRUPT Error") or said == "Query interrupted" or isinstance(error, KeyboardInterrupt):
        return KeyboardInterrupt()
    if isinstance(error, OSError) or said.startswith("IO Error"):
        for code, told in (
            (errno.ENOSPC, "no space is left on the disk"),
            (errno.EDQUOT, "no space is left in this user's share of the disk"),
            (errno.ENAMETOOLONG, "a file name would be too long; shorten it, or the values of partition_by="),
            (errno.EMFILE, "too many files are open; allow more with ulimit -n, or release fewer at a time"),
        ):
            if getattr(error, "errno", None) == code or os.strerror(code) in said:
                return OSError(code, told)
        if isinstance(error, OSError) and error.errno is not None:
            return OSError(error.errno, os.strerror(error.errno))
    line = _LINE.match(said)
    where = f"line {int(line[1]):,} of {what}" if line else what
    why, cure = f"cannot be {verb} ({type(error).__name__})", _CURES[verb]
    ours = [why for mark, why in _OURS.items() if mark in said[:200]]
    if broken := _BROKEN.match(said):
        where, why = f"line {int(broken[1]) - 1:,} of {what}, not counting empty ones,", "is not valid JSON"
    elif ours:
        why = ours[0]
    else:
        last = max(_REASONS, key=said.rfind)
        if last in said:
            why, cure = _REASONS[last]
    return DataFileError(f"{where} {why}; {hint or cure}")
