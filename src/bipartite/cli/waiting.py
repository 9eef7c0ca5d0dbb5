"""What a command says that can take long: how long beforehand, how far it is, and when it must end."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Final

from bipartite.errors import InputError

if TYPE_CHECKING:
    import argparse

_LONG: Final = 10.0  # seconds that nobody need be told of
_UNITS: Final = {"s": 1.0, "min": 60.0, "h": 3600.0}


def add_within(parser: argparse._ActionsContainer) -> None:
    """Add the option that bounds the time."""
    parser.add_argument(
        "--within", metavar="TIME", help="take the best that is found in this time, such as 30s, 5min or 1h"
    )


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


def say_how_long(seconds: float, bound: float | None) -> None:
    """Say beforehand that a command takes long, and how to bound it."""
    if seconds <= _LONG or (bound is not None and bound <= _LONG):
        return
    about = f"{seconds:.0f} s" if seconds < 2 * 60 else f"{seconds / 60:.0f} min"
    how = "--within 30s gives the best that is found by then" if bound is None else f"it ends after about {bound:g} s"
    print(f"bipartite: this takes about {about}; {how}.", file=sys.stderr)
