"""The command line: one file a command.

Data on stdout, all else on stderr. Exit codes: 0 ok, 1 a finding (a promise that does not hold), 2 usage, 3 bad data,
4 missing data or extra, 70 a bug of bipartite, 130 interrupted.
"""

from bipartite.cli.main import main

__all__ = ["main"]
