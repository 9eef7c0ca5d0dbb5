"""The mechanism of a release of places: a named one, or the best of all that are ε-LDP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bipartite.answers.advise import recommend
from bipartite.answers.advise.place_releases import measured, planar
from bipartite.cli.arguments import refuse_given
from bipartite.cli.waiting import add_within, searching, seconds_in
from bipartite.errors import InputError
from bipartite.locations import WHOLE, WITHIN, choose
from bipartite.mechanisms import PlanarLaplace
from bipartite.mechanisms.catalogue import entries

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from bipartite.cli.place_lists import Listed
    from bipartite.locations import PlaceRelease
    from bipartite.mechanisms import Mechanism

_WITHIN: Final = "within-region"
_PLANAR: Final = "planar-laplace"
_RELEASES: Final[dict[str, tuple[str, dict[str, str]]]] = {
    **{name: (name, {}) for name in ("anchored", "brr", "exponential", "grr", "lsrr", "region-weighted", "two-level")},
    "brr-best": ("brr", {"m": "best"}),
    _WITHIN: (_WITHIN, {"publishes": "region"}),  # as agreed to
}
"""The releases that may be named: name in the catalogue, and options."""


def add_mechanism(parser: argparse.ArgumentParser, default: str) -> None:
    """Add the options that name a release; ``default`` says what is used if none is named."""
    release = parser.add_argument_group("the release")
    release.add_argument("--epsilon", metavar="E", help="the privacy budget of one report, a decimal such as 1 or 0.5")
    release.add_argument(
        "--mechanism",
        metavar="NAME",
        choices=["auto", *sorted([*_RELEASES, _PLANAR])],
        help=f"auto, {', '.join(sorted([*_RELEASES, _PLANAR]))} (default: {default})",
    )
    release.add_argument(
        "--per-km",
        metavar="E",
        help=f"the ε of {_PLANAR}, per km of distance: geo-indistinguishability, not ε-LDP; with other releases "
        "it adds a row to the table",
    )
    release.add_argument(
        "--publishes",
        choices=["region"],
        help=f"with --mechanism {_WITHIN}: agree that the region of every person becomes public",
    )
    add_within(release)


def released(options: argparse.Namespace, listed: Listed) -> tuple[Mechanism, Sequence[PlaceRelease], str]:
    """The mechanism asked for, the table with its row first, and why it was used."""
    name = options.mechanism or "auto"
    if name == _PLANAR:
        row = planar(listed.places, options.per_km, None)
        return (
            PlanarLaplace(listed.places, options.per_km),
            [row],
            f"{name}, as asked for: {row.expected_loss:.1f} km expected; this is not ε-LDP.",
        )
    if name == "auto":
        with searching(listed.places, seconds_in(options.within)) as (clock, _):
            choice = choose(
                listed.places, options.epsilon, regions=listed.regions, per_km=options.per_km, seconds=clock
            )
        return choice.mechanism, choice.table, choice.reason
    mechanism = _made(name, listed, options.epsilon)
    scope = WHOLE if mechanism.publishes is None else WITHIN
    row, _ = measured(scope, name, options.epsilon, lambda: mechanism, None)
    beside = [] if options.per_km is None else [planar(listed.places, options.per_km, None)]
    return mechanism, [row, *beside], f"{name}, as asked for: {row.expected_loss:.1f} km expected."


def recommended(options: argparse.Namespace, listed: Listed) -> tuple[Mechanism, Sequence[PlaceRelease], str]:
    """The mechanism to count places with, and why; its reports are not used one by one, so that none has a loss."""
    refuse_given(options, ("mechanism", "per_km", "csv"), "--for map chooses the mechanism")
    with searching(listed.places, seconds_in(options.within)) as (clock, progress):
        found = recommend(listed.places, options.epsilon, "map", seconds=clock, progress=progress.advance)
    return found.mechanism, [], str(found)


def _made(name: str, listed: Listed, epsilon: str) -> Mechanism:
    known, options = _RELEASES[name]
    entry = next(each for each in entries() if each.name == known)
    made: Mechanism = entry.load()(listed.regions if entry.where == "regions" else listed.places, epsilon, **options)
    return made


def check_budget(options: argparse.Namespace) -> bool:
    """Whether a release is asked for; its ε is --epsilon, or --per-km for planar Laplace alone."""
    if options.mechanism != _PLANAR:
        return options.epsilon is not None
    if options.per_km is None or options.epsilon is not None:
        raise InputError(
            f"Expected --per-km, and not --epsilon, with --mechanism {_PLANAR}: its ε is per km of distance "
            "(geo-indistinguishability), which is not ε-LDP; for example --per-km 0.5."
        )
    return True


def check_publishes(options: argparse.Namespace) -> None:
    """Refuse to publish regions without consent, and consent where nothing is published."""
    if options.mechanism == _WITHIN and options.publishes is None:
        raise InputError(
            f"Expected --publishes region with --mechanism {_WITHIN}: every report reveals the region of the person, "
            "which no ε covers. Agree to that, or use two-level or auto, which are ε-LDP."
        )
    if options.mechanism != _WITHIN and options.publishes is not None:
        raise InputError(f"--publishes is for --mechanism {_WITHIN}; the others publish nothing that ε does not cover.")
