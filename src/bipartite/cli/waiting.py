"""Commands that may take long: they say how long beforehand, show their progress, and can be given a time limit."""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from bipartite.answers.advise.patience import Clock, expected_seconds
from bipartite.cli.output import Progress
from bipartite.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from bipartite.domains import Domain

_LONG: Final = 10.0  # seconds; anything faster needs no announcement
_UNITS: Final = {"s": 1.0, "min": 60.0, "h": 3600.0}


def add_within(parser: argparse._ActionsContainer) -> None:
    """Add the option that limits the time."""
    parser.add_argument("--within", metavar="TIME", help="use the best found in this time, such as 30s, 5min or 1h")


def seconds_in(text: str | None) -> float | None:
    """A time with its unit, in seconds."""
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*(s|min|h)", text)
    seconds = 0.0 if found is None else float(found[1]) * _UNITS[found[2]]
    if not seconds:
        msg = f"Expected --within as a time with its unit, such as 30s, 5min or 1h, got {text!r}."
        raise InputError(msg)
    return seconds


@contextmanager
def searching(
    domain: Domain, seconds: float | None, *, total: int | None = None, rounds: int = 1, statistics: bool = True
) -> Iterator[tuple[Clock, Progress]]:
    """A search among mechanisms: announced if it is long, with its progress and its time limit."""
    say_how_long(expected_seconds(domain, rounds, statistics=statistics), seconds)
    with Progress("mechanisms", total) as progress:
        yield Clock(seconds, progress.part), progress


def say_how_long(seconds: float, limit: float | None) -> None:
    """Announce a command that takes long, and how to limit it."""
    if seconds <= _LONG or (limit is not None and limit <= _LONG):
        return
    about = f"{seconds:.0f} s" if seconds < 2 * 60 else f"{seconds / 60:.0f} min"
    how = "--within 30s uses the best found by then" if limit is None else f"it will stop after about {limit:g} s"
    print(f"bipartite: this takes about {about}; {how}.", file=sys.stderr)
