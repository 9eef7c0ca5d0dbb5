"""The command ``bipartite``: reads the arguments, runs one command, turns errors into messages and exit codes."""

from __future__ import annotations

import argparse
import io
import os
import sys
from typing import TYPE_CHECKING, Final

from bipartite import __version__
from bipartite.cli import (
    audit,
    compare,
    completion,
    datasets,
    demo,
    design,
    estimate,
    explain,
    ledger,
    locations,
    plan,
    privatize,
    report,
    reproduce,
    sample_size,
    verify,
)
from bipartite.cli.arguments import Command
from bipartite.cli.output import (
    BAD_DATA,
    BROKEN_PIPE,
    BUG,
    FINDING,
    INTERRUPTED,
    MISSING,
    USAGE,
    BadDataError,
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

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS: Final = (
    compare,
    sample_size,
    design,
    report,
    plan,
    privatize,
    estimate,
    verify,
    audit,
    explain,
    locations,
    ledger,
    demo,
    datasets,
    reproduce,
    completion,
)


# The first kind that fits decides; anything else is a bug, and a traceback could show a private value.
_EXIT_CODES: Final = (
    (BrokenPromiseError, FINDING),
    ((DataError, DataFileError, LedgerFileError, SpecError, BadDataError), BAD_DATA),
    ((MissingDataError, MissingExtraError, FileNotFoundError), MISSING),
    (BipartiteError, USAGE),
    (OSError, BAD_DATA),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    _speak_utf8()
    parser = build_parser()
    options = parser.parse_args(arguments)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return complain("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # The reader went away, as `head` does. Nothing more can be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except UnicodeDecodeError:
        return complain("standard input is not UTF-8 text.", BAD_DATA)
    except Exception as error:  # noqa: BLE001
        for kinds, exit_code in _EXIT_CODES:
            if isinstance(error, kinds):
                return complain(error, exit_code)
        return complain(f"unexpected {type(error).__name__}: this is a bug of bipartite, please report it.", BUG)
    return code


def _speak_utf8() -> None:
    """ε does not fit into the encoding that some systems give to pipes."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")


def build_parser() -> argparse.ArgumentParser:
    """The whole command line, as documented by ``--help``."""
    parser = argparse.ArgumentParser(
        prog="bipartite",
        description="Local differential privacy for values that have neighbours.",
        epilog="Exit codes: 0 ok, 1 a finding (a promise that does not hold), 2 usage, 3 bad data, "
        "4 missing data or extra, 70 a bug of bipartite, 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"bipartite {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=Command)
    for command in _COMMANDS:
        command.add_to(commands)
    return parser
