"""Commands that may take long: they say how long beforehand, show their progress, and can be given a time limit."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from bipartite.answers.advise.patience import Clock, expected_seconds
from bipartite.cli.output import LONG, Progress, announce
from bipartite.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from bipartite.domains import Domain

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
        raise InputError(f"Expected --within as a time with its unit, such as 30s, 5min or 1h, got {text!r}.")
    return seconds


@contextmanager
def searching(
    domain: Domain, seconds: float | None, *, total: int | None = None, rounds: int = 1, statistics: bool = True
) -> Iterator[tuple[Clock, Progress]]:
    """A search among mechanisms: announced if it is long, with its progress and its time limit."""
    limited = f"it will stop after about {seconds:g} s" if seconds is not None else ""
    if seconds is None or seconds > LONG:
        expected = expected_seconds(domain, rounds, statistics=statistics)
        announce("this", expected, limited or "--within 30s uses the best found by then")
    with Progress("mechanisms", total) as progress:
        yield Clock(seconds, progress.part), progress
