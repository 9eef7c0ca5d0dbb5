"""The command line: one file a command.

Data on stdout, all else on stderr. Exit codes: 0 ok, 1 a finding (a promise that does not hold), 2 usage, 3 bad data,
4 missing data or extra, 70 a bug of bipartite, 128 + n stopped by signal n (130: interrupted).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bipartite.cli.signals import Stopping

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    with Stopping() as stopping:
        # Loaded only now, so that a request to stop is heard while it takes its time.
        from bipartite.cli.running import run  # noqa: PLC0415

        return run(arguments, stopping)
