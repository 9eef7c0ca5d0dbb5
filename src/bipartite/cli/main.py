"""The command ``bipartite``: reads the arguments, runs one command, turns errors into messages and exit codes."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Final

from bipartite import __version__
from bipartite.cli import demo, design, report, verify
from bipartite.cli.arguments import Command
from bipartite.cli.output import FINDING, MISSING, BadDataError, complain
from bipartite.errors import BipartiteError, BrokenPromiseError, DataError, MissingExtraError, SpecError

if TYPE_CHECKING:
    from collections.abc import Sequence

_USAGE: Final = 2
_BAD_DATA: Final = 3
_INTERRUPTED: Final = 130
_BROKEN_PIPE: Final = 141
_COMMANDS: Final = (design, report, verify, demo)


def main(arguments: Sequence[str] | None = None) -> int:  # noqa: PLR0911 (one return for each exit code)
    """Run the command line; return the exit code."""
    parser = build_parser()
    options = parser.parse_args(arguments)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except (DataError, BadDataError) as error:
        return complain(error, _BAD_DATA)
    except BrokenPromiseError as error:
        return complain(error, FINDING)
    except SpecError as error:
        return complain(error, _BAD_DATA)
    except (MissingExtraError, FileNotFoundError) as error:
        return complain(error, MISSING)
    except BipartiteError as error:
        return complain(error, _USAGE)
    except KeyboardInterrupt:
        return complain("interrupted", _INTERRUPTED)
    except BrokenPipeError:
        # The reader went away, as `head` does. Nothing more can be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except OSError as error:
        return complain(error, _BAD_DATA)
    return code


def build_parser() -> argparse.ArgumentParser:
    """The whole command line, as documented by ``--help``."""
    parser = argparse.ArgumentParser(
        prog="bipartite",
        description="Local differential privacy for values that have neighbours.",
        epilog="Exit codes: 0 ok, 1 a finding (a promise that does not hold), 2 usage, 3 bad data, "
        "4 missing data or extra, 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"bipartite {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=Command)
    for command in _COMMANDS:
        command.add_to(commands)
    return parser
