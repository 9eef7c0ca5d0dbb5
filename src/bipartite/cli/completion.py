"""``bipartite completion``: the script with which a shell completes commands and options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bipartite.cli.output import OK
from bipartite.cli.program import BIPARTITE
from bipartite.errors import missing_library

if TYPE_CHECKING:
    import argparse

_SHELLS: Final = ["bash", "zsh", "tcsh"]
EXAMPLES: Final = """examples:
  eval "$(bipartite completion bash)"              for this shell
  bipartite completion zsh > ~/.zfunc/_bipartite   for every zsh
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("shell", choices=_SHELLS, help="the shell")


def run(options: argparse.Namespace) -> int:
    """Print the completion script of a shell."""
    try:
        import shtab  # noqa: PLC0415 (optional, and needed by this command alone)
    except ImportError:
        raise missing_library(what="Completion needs", library="shtab", extra="completion") from None
    print(shtab.complete(BIPARTITE.parser(), shell=options.shell))
    return OK
