"""What several commands ask of their options."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from bipartite.errors import InputError
from bipartite.lottery import insecure_seed

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from bipartite.lottery import InsecureSeed


def add_seed(parser: argparse._ActionsContainer) -> None:
    """Add the option that makes reports repeatable, and therefore not private."""
    parser.add_argument(
        "--insecure-seed", metavar="N", type=int, help="repeatable reports, for experiments: NOT private"
    )


def source_of(options: argparse.Namespace) -> InsecureSeed | None:
    """The random words that reports are drawn from, with a warning if someone may know them."""
    if options.insecure_seed is None:
        return None
    source = insecure_seed(options.insecure_seed)
    print(
        "bipartite: --insecure-seed: these reports are NOT private; whoever knows the seed can undo them.",
        file=sys.stderr,
    )
    return source


def refuse_given(options: argparse.Namespace, names: Sequence[str], why: str) -> None:
    """Refuse options that make no sense here, by their destinations."""
    flags: dict[str, str] = options.parsed_by.flags
    given = [flags[name] for name in names if getattr(options, name) is not None]
    if given:
        raise InputError(f"{why}; leave out {', '.join(given)}.")
