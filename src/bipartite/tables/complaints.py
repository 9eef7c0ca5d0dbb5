"""Errors about a file that cannot be read or written: what happened and where, never the contents.

The errors of Arrow show a line of the input. None of that may be part of our errors: not in the message, and
not as ``__cause__`` or ``__context__``, which a logged traceback would include.
"""

from __future__ import annotations

import errno
import functools
import os
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

from bipartite.errors import DataFileError

if TYPE_CHECKING:
    from collections.abc import Callable

Given = ParamSpec("Given")
Result = TypeVar("Result")

_SYSTEM: Final = {
    errno.ENOSPC: "no space is left on the disk",
    errno.EDQUOT: "no space is left in this user's share of the disk",
    errno.ENAMETOOLONG: "a file name would be too long; shorten it",
    errno.EMFILE: "too many files are open; allow more with ulimit -n, or release fewer at a time",
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
    error: BaseException,
    what: str = "the input",
    verb: str = "read",
    hint: str = "repair it, or name its format with input_format=.",
) -> BaseException:
    """Translate an error of a reader or writer, without what it shows, and add what to do."""
    if isinstance(error, OSError):
        said = str(error)
        for code, told in _SYSTEM.items():
            if error.errno == code or os.strerror(code) in said:
                return OSError(code, told)
        if error.errno is not None:
            return OSError(error.errno, os.strerror(error.errno))
    return DataFileError(f"{what} cannot be {verb} ({type(error).__name__}); {hint}")
