"""Run one command: parse its arguments, run it, and turn errors into messages and exit codes."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, Final

from bipartite.cli.output import (
    BAD_DATA,
    BROKEN_PIPE,
    BUG,
    FINDING,
    MISSING,
    USAGE,
    complain,
)
from bipartite.errors import (
    BipartiteError,
    BrokenPromiseError,
    DataError,
    DataFileError,
    LedgerFileError,
    MissingDataError,
    MissingExtraError,
    SpecError,
)
from bipartite.files import not_found

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.cli.program import Command, Program
    from bipartite.cli.signals import Stopping

# The first match decides. Anything else is a bug, and is not shown: a traceback could contain a private value.
_EXIT_CODES: Final = (
    (BrokenPromiseError, FINDING),
    ((DataError, DataFileError, LedgerFileError, SpecError), BAD_DATA),
    ((MissingDataError, MissingExtraError, FileNotFoundError), MISSING),
    (BipartiteError, USAGE),
    (OSError, BAD_DATA),
)


def run(program: Program, arguments: Sequence[str] | None, stopping: Stopping) -> int:
    """Run the command line; return the exit code."""
    _speak_utf8()
    words = sys.argv[1:] if arguments is None else arguments
    if words and words[0] in program.elsewhere:
        return complain(f"{words[0]} is a command of the laboratory; run: {program.elsewhere[words[0]]}", USAGE)
    # The other commands are slow to import, and --help only lists them.
    options = program.parser(words[0] if words else "").parse_args(arguments)
    options.own_process = arguments is None
    stopping.started()
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return complain("interrupted", stopping.exit_code)
    except BrokenPipeError:
        # The reader is gone, as with `head`. Nothing more can be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001
        # A library that was interrupted may raise an error of its own.
        if stopping.requested:
            return complain("interrupted", stopping.exit_code)
        return _complain_of(error, options.parsed_by)
    return code


def _complain_of(error: Exception, command: Command) -> int:
    """Print what went wrong, in terms of the command line, and return the exit code."""
    if isinstance(error, UnicodeDecodeError):
        return complain("standard input is not UTF-8 text.", BAD_DATA)
    for kinds, exit_code in _EXIT_CODES:
        if isinstance(error, kinds):
            return complain(command.in_flags(_in_words(error)), exit_code)
    return complain(f"unexpected {type(error).__name__}: this is a bug in bipartite, please report it.", BUG)


def _in_words(error: Exception) -> str:
    """The message of an error; for a file, its name and the system's reason without the error number."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return not_found(error.filename)
    return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"


def _speak_utf8() -> None:
    """Use UTF-8: the default encoding of pipes on some systems has no ε."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
