"""The mechanism of a release of places: a named one, or the one that is recommended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from bipartite.answers.advise import recommend
from bipartite.answers.quality import loss
from bipartite.cli.arguments import refuse_given
from bipartite.cli.waiting import announce_search
from bipartite.mechanisms.catalogue import entries

if TYPE_CHECKING:
    import argparse

    from bipartite.cli.place_lists import Listed
    from bipartite.mechanisms import Mechanism

_RELEASES: Final[dict[str, tuple[str, dict[str, str]]]] = {
    **{name: (name, {}) for name in ("anchored", "brr", "exponential", "grr")},
    "brr-best": ("brr", {"m": "best"}),
}
"""The releases that may be named: name in the catalogue, and options."""


def add_mechanism(parser: argparse.ArgumentParser, default: str) -> None:
    """Add the options that name a release; ``default`` says what is used if none is named."""
    release = parser.add_argument_group("the release")
    release.add_argument("--epsilon", metavar="E", help="the privacy budget of one report, a decimal such as 1 or 0.5")
    release.add_argument(
        "--mechanism",
        metavar="NAME",
        choices=["auto", *sorted(_RELEASES)],
        help=f"auto, {', '.join(sorted(_RELEASES))} (default: {default})",
    )


def made(options: argparse.Namespace, listed: Listed, purpose: Literal["release", "map"]) -> tuple[Mechanism, str]:
    """The mechanism asked for, or the one that is recommended for single reports or for a map; and why."""
    name = options.mechanism or "auto"
    if purpose == "map":
        refuse_given(options, ("mechanism",), "--for map chooses the mechanism")
    if name == "auto":
        announce_search(listed.places)
        found = recommend(listed.places, options.epsilon, purpose)
        return found.mechanism, str(found)
    known, given = _RELEASES[name]
    entry = next(each for each in entries() if each.name == known)
    mechanism: Mechanism = entry.load()(listed.places, options.epsilon, **given)
    return mechanism, f"{name}, as asked for: {loss(mechanism).mean:.1f} km expected."
