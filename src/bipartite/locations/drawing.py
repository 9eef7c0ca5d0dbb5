"""Maps of places, and of the reports of one person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.errors import InputError
from bipartite.locations.atlas import coasts
from bipartite.locations.candidates import check_places
from bipartite.locations.chances import chances, places_of
from bipartite.locations.names import names_of
from bipartite.mechanisms import Mechanism
from bipartite.plots import chances_around, regions_on_a_map, save

if TYPE_CHECKING:
    from pathlib import Path

    from bipartite.domains import Points
    from bipartite.plots import Picture

PUBLIC: Final = (
    "Made from the list of places alone, which must be public: never the positions of the people who report."
)
MADE_UP: Final = "The person is made up: a map of what a real person may report would publish where they are."
MOST_DRAWN: Final = 20_000


def draw(
    shown: Points | Mechanism,
    *,
    at: object = None,  # a row number or a label
    file: str | Path | None = None,
    credit: str = "",
) -> Picture:
    """Plot a map as SVG text, written to ``file`` (``.svg``, or ``.png`` with the extra ``png``) if given.

    Parameters
    ----------
    shown
        Places; or a mechanism on places, with ``at``.
    at
        With a mechanism: the place (row number or label) of a made-up person. The map shows what that person may
        report, with the area of a dot as its probability, and the mechanism's guarantee. Never pass the place of a
        real person: the picture would publish it.
    file
        Where to write the picture; notebooks display it without a file.
    credit
        The source of the places, which many licences require.

    Examples
    --------
    >>> from bipartite import BRR
    >>> from bipartite.locations import places
    >>> three = places([[52.52, 13.40], [48.86, 2.35], [51.51, -0.13]], labels=["Berlin", "Paris", "London"])
    >>> draw(BRR(three, epsilon=1), at="Paris")[:26]
    '<svg xmlns="http://www.w3.'
    """
    credited = [f"Places: {credit}."] if credit else []
    if isinstance(shown, Mechanism) and not shown.flat:
        picture = _person(shown, at, credited)
    elif at is not None:
        raise InputError("at= belongs to a mechanism; pass one, such as bp.BRR(places, epsilon=1), or leave at out.")
    else:
        picture = _places(check_places(shown), credited)
    if file is not None:
        save(picture, file)
    return picture


def _places(places: Points, credited: list[str]) -> Picture:
    _check_size(places)
    none = np.zeros(len(places), dtype=np.int64)
    return regions_on_a_map(
        places.coordinates, none, ["all"], labels=names_of(places), coasts=coasts(), notes=[PUBLIC, *credited]
    )


def _person(mechanism: Mechanism, at: object, credited: list[str]) -> Picture:
    places = places_of(mechanism)
    _check_size(places)
    if at is None:
        raise InputError(
            "Expected at= with a mechanism, the place of the made-up person whose reports to show; "
            f"try at={places.decode(0)!r}."
        )
    truth = places.encode(at)
    return chances_around(
        places.coordinates,
        chances(mechanism, truth, truth + 1)[0],
        truth=truth,
        labels=names_of(places),
        coasts=coasts(),
        notes=[f"{type(mechanism).__name__}: {mechanism.guarantee}.", MADE_UP, PUBLIC, *credited],
    )


def _check_size(places: Points) -> None:
    if len(places) > MOST_DRAWN:
        raise InputError(
            f"Expected at most {MOST_DRAWN:,} places in a picture, got {len(places):,}; plot some of them "
            "(bp.locations.from_checkins takes places=), or a coarser grid."
        )
