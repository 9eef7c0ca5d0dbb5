"""Estimates on places, and the note for shares that are not identifiable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bipartite.answers.estimation import Estimate, estimate
from bipartite.errors import InputError
from bipartite.locations.candidates import check_places
from bipartite.locations.chances import places_of
from bipartite.mechanisms import Mechanism

if TYPE_CHECKING:
    from bipartite.domains import Points

UNKNOWN: Final = (
    "the reports cannot tell all of these places apart, however many there are; collect with the mechanism that "
    "bp.recommend(places, epsilon, 'map') names, which can"
)


def estimated(given: object, reports: object) -> tuple[Estimate, Points]:  # an estimate, or what makes one
    """The given estimate, or that of a mechanism and its reports; and its places."""
    if isinstance(given, Estimate):
        if reports is not None:
            raise InputError("An estimate already has its reports; leave reports out, or pass the mechanism instead.")
        return given, _places_of(given.mechanism)
    if not isinstance(given, Mechanism) or reports is None:
        raise InputError(
            f"Expected an estimate on places, or a mechanism and its reports, got {type(given).__name__}; build one "
            "with bp.estimate(mechanism, reports)."
        )
    places = _places_of(given)
    return estimate(given, reports), places


def _places_of(mechanism: Mechanism) -> Points:
    """The places of a mechanism; reports of flat categories are not places but count them all the same."""
    return check_places(mechanism.domain) if mechanism.flat else places_of(mechanism)
