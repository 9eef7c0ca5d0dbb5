"""Estimates on places, and the word for what their reports cannot tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bipartite.answers.estimation import Estimate, estimate
from bipartite.errors import InputError
from bipartite.locations.chances import places_of
from bipartite.mechanisms import Mechanism

if TYPE_CHECKING:
    from bipartite.domains import Points

UNKNOWN: Final = (
    "the reports cannot tell all of these places apart, so that no number of them would settle this; collect with "
    "bp.GRR, or with another mechanism that bp.identifiability calls identifiable"
)


def estimated(given: object, reports: object) -> tuple[Estimate, Points]:  # an estimate, or what makes one
    """The estimate that was given, or that of a mechanism and its reports; and the places that it is about."""
    if isinstance(given, Estimate):
        if reports is not None:
            msg = "An estimate has its reports already; leave reports out, or pass the mechanism instead."
            raise InputError(msg)
        return given, places_of(given.mechanism)
    if not isinstance(given, Mechanism) or reports is None:
        msg = (
            f"Expected an estimate on places, or a mechanism and its reports, got {type(given).__name__}; make one "
            "with bp.estimate(mechanism, reports)."
        )
        raise InputError(msg)
    places = places_of(given)
    return estimate(given, reports), places
