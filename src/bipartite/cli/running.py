"""Run one command: parse its arguments, run it, and turn errors into messages and exit codes."""

from __future__ import annotations

import errno
import io
import os
import sys
import warnings
from contextlib import redirect_stderr
from typing import TYPE_CHECKING, Final

from bipartite.cli.output import BAD_DATA, BROKEN_PIPE, BUG, DISK_FULL, FINDING, MISSING, USAGE, complain
from bipartite.errors import (
    BipartiteError,
    BrokenPromiseError,
    DatabaseError,
    DataError,
    DataFileError,
    LedgerFileError,
    MissingDataError,
    MissingExtraError,
    SpecError,
)
from bipartite.files import not_found

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from bipartite.cli.program import Command, Program
    from bipartite.cli.signals import Stopping

# The first match decides. Anything else is a bug, and is not shown: a traceback could contain a private value.
_EXIT_CODES: Final = (
    (BrokenPromiseError, FINDING),
    ((DataError, DataFileError, DatabaseError, LedgerFileError, SpecError), BAD_DATA),
    ((MissingDataError, MissingExtraError, FileNotFoundError), MISSING),
    (BipartiteError, USAGE),
    (OSError, BAD_DATA),
)
_SQLITE_FULL: Final = 13
_POSTGRESQL_FULL: Final = "53100"


def run(program: Program, arguments: Sequence[str] | None, stopping: Stopping) -> int:
    """Run the command line; return the exit code."""
    _open_closed_streams()
    _speak_utf8()
    words = sys.argv[1:] if arguments is None else arguments
    if (no_command := _no_command(program, words)) is not None:
        return complain(no_command, USAGE, as_json="--json" in words)
    options = _parsed(program, words)
    as_json = getattr(options, "json", False)
    options.own_process = arguments is None
    if options.own_process:
        warnings.formatwarning = lambda message, *_, **__: f"bipartite: {message}\n"
    stopping.started()
    try:
        code: int = options.run(options)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader is gone, as with `head`. Nothing more can be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001
        # A library that was interrupted may raise an error of its own.
        if stopping.requested or isinstance(error, KeyboardInterrupt):
            return complain("interrupted", stopping.exit_code, as_json=as_json)
        message, exit_code = _complaint(error, options.parsed_by)
        return complain(message, exit_code, as_json=as_json)
    return code


def _no_command(program: Program, words: Sequence[str]) -> str | None:
    """What to run in place of nothing, or of a command that is gone."""
    if not words:
        return f"Expected a command; {program.name} --help lists them."
    return f"there is no command {words[0]}; run: {program.former[words[0]]}" if words[0] in program.former else None


def _parsed(program: Program, words: Sequence[str]) -> argparse.Namespace:
    """The options of a command; argparse prints what is wrong with them, which must be JSON where JSON is asked for."""
    said = io.StringIO()
    try:
        with redirect_stderr(said if "--json" in words else sys.stderr):
            # The other commands are slow to import, and --help only lists them.
            return program.parser(words[0]).parse_args(words)
    except SystemExit:
        if said.getvalue():
            complain(said.getvalue().partition(": error: ")[2].strip(), USAGE, as_json=True)
        raise


def _complaint(error: Exception, command: Command) -> tuple[str, int]:
    """What went wrong, in terms of the command line, and the exit code."""
    if isinstance(error, UnicodeDecodeError):
        return "standard input is not UTF-8 text.", BAD_DATA
    for kinds, exit_code in _EXIT_CODES:
        if isinstance(error, kinds):
            code = DISK_FULL if _is_full(error) or _is_full(error.__cause__) else exit_code
            return command.in_flags(_in_words(error)), code
    return f"unexpected {type(error).__name__}: this is a bug in bipartite, please report it.", BUG


def _is_full(error: BaseException | None) -> bool:
    """Whether an error of the system or of SQLite says that the disk, or the user's share of it, is full."""
    full = getattr(error, "errno", None) in {errno.ENOSPC, errno.EDQUOT}
    full = full or getattr(error, "sqlite_errorcode", None) == _SQLITE_FULL
    return full or (isinstance(error, DatabaseError) and error.code == _POSTGRESQL_FULL)


def _in_words(error: Exception) -> str:
    """The message of an error; for a file, its name and the system's reason without the error number."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return not_found(error.filename)
    return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"


def _open_closed_streams() -> None:
    """Let no file that is opened later become standard output or error, where libraries write."""
    for number in (1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
    if sys.stderr is None:  # print would take standard output, which is for data
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 (until the process ends)


def _speak_utf8() -> None:
    """Use UTF-8: the default encoding of pipes on some systems has no ε."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
