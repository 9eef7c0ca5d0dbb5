"""The mechanism of a release of places: the one that is named, or the best of all that are ε-LDP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bipartite.answers.advise.patience import Clock, expected_seconds
from bipartite.answers.advise.place_releases import measured
from bipartite.cli.output import Progress
from bipartite.cli.waiting import add_within, say_how_long, seconds_in
from bipartite.errors import InputError
from bipartite.locations import WHOLE, WITHIN, choose
from bipartite.mechanisms.catalogue import entries

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from bipartite.cli.place_lists import Listed
    from bipartite.locations import PlaceRelease
    from bipartite.mechanisms import Mechanism

_WITHIN: Final = "within-region"
_RELEASES: Final[dict[str, tuple[str, dict[str, str]]]] = {
    **{name: (name, {}) for name in ("anchored", "brr", "exponential", "grr", "lsrr", "region-weighted", "two-level")},
    "brr-best": ("brr", {"m": "best"}),
    _WITHIN: (_WITHIN, {"publishes": "region"}),  # as agreed to
}
"""What may be asked for: its name in the catalogue, and options."""


def add_mechanism(parser: argparse.ArgumentParser, default: str) -> None:
    """Add the options that name a release; ``default`` says what is taken where none is named."""
    release = parser.add_argument_group("the release")
    release.add_argument("--epsilon", metavar="E", help="the privacy budget of one report, a decimal such as 1 or 0.5")
    release.add_argument(
        "--mechanism",
        metavar="NAME",
        choices=["auto", *sorted(_RELEASES)],
        help=f"auto, {', '.join(sorted(_RELEASES))} (default: {default})",
    )
    release.add_argument(
        "--publishes",
        choices=["region"],
        help=f"with --mechanism {_WITHIN}: you agree that everybody learns the region of everybody",
    )
    add_within(release)


def released(options: argparse.Namespace, listed: Listed) -> tuple[Mechanism, Sequence[PlaceRelease], str]:
    """The mechanism asked for, its row before all others, and why it was taken."""
    name = options.mechanism or "auto"
    if name == "auto":
        seconds = seconds_in(options.within)
        say_how_long(expected_seconds(listed.places), seconds)
        with Progress("releases", None) as progress:
            clock = Clock(seconds, progress.part)
            choice = choose(listed.places, options.epsilon, regions=listed.regions, seconds=clock)
        return choice.mechanism, choice.table, choice.reason
    mechanism = _made(name, listed, options.epsilon)
    scope = WHOLE if mechanism.publishes is None else WITHIN
    row, _ = measured(scope, name, options.epsilon, lambda: mechanism, None)
    return mechanism, [row], f"{name}, as asked for: {row.expected_loss:.1f} km expected."


def _made(name: str, listed: Listed, epsilon: str) -> Mechanism:
    known, options = _RELEASES[name]
    entry = next(each for each in entries() if each.name == known)
    made: Mechanism = entry.load()(listed.regions if entry.where == "regions" else listed.places, epsilon, **options)
    return made


def check_publishes(options: argparse.Namespace) -> None:
    """Refuse to publish regions unasked, and to be told to where nothing is published."""
    if options.mechanism == _WITHIN and options.publishes is None:
        msg = (
            f"Expected --publishes region with --mechanism {_WITHIN}: every report tells everybody the region of the "
            "person, which no ε covers. Say so, or take two-level or auto, which are ε-LDP."
        )
        raise InputError(msg)
    if options.mechanism != _WITHIN and options.publishes is not None:
        msg = f"--publishes belongs to --mechanism {_WITHIN}; the others publish nothing beside what ε covers."
        raise InputError(msg)
