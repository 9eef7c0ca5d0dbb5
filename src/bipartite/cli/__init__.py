"""The command line: one file a command, loaded when it is used.

Data goes to stdout, everything else to stderr. Exit codes: 0 ok, 1 a finding (a promise that does not hold), 2 usage,
3 bad data, 4 missing data or library, 5 a full disk, 70 a bug in bipartite, 128 + n stopped by signal n.
May import: every other room.
Begin reading: program.py, running.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bipartite.cli.signals import Stopping
from bipartite.lazily import lazily

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.cli.output import BAD_DATA as BAD_DATA
    from bipartite.cli.output import BUG as BUG
    from bipartite.cli.output import MISSING as MISSING
    from bipartite.cli.output import OK as OK
    from bipartite.cli.output import Progress as Progress
    from bipartite.cli.output import print_json as print_json
    from bipartite.cli.output import print_table as print_table
    from bipartite.cli.program import Program as Program

# What the commands of other programs may use.
_HOMES = {
    "Program": "bipartite.cli.program",
    **dict.fromkeys(
        ["BAD_DATA", "BUG", "MISSING", "OK", "Progress", "print_json", "print_table"], "bipartite.cli.output"
    ),
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
__all__ = ["main", *_HOMES]  # noqa: PLE0604 (names, kept in one place)


def main(arguments: Sequence[str] | None = None, program: Program | None = None) -> int:
    """Run the command line, by default that of ``bipartite``; return the exit code."""
    with Stopping() as stopping:
        # Imported only now, so that a request to stop is heard during the slow imports.
        from bipartite.cli.program import BIPARTITE  # noqa: PLC0415
        from bipartite.cli.running import run  # noqa: PLC0415

        try:
            return run(program or BIPARTITE, arguments, stopping)
        except KeyboardInterrupt:  # once the command had ended, or while its error was told
            return stopping.exit_code
