"""The places with the most people, and the number of people in a box or circle, with intervals."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation import Estimate, estimate
from bipartite.answers.estimation.intervals import ConfidenceInterval, check_confidence
from bipartite.domains import Points
from bipartite.domains.base import as_index
from bipartite.errors import InputError, shown
from bipartite.locations.areas import Box, in_circle
from bipartite.locations.candidates import check_places
from bipartite.locations.grids import names_of
from bipartite.mechanisms import Mechanism
from bipartite.texts import Printed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.answers.estimation.answer import Answer

UNKNOWN: Final = (
    "the reports cannot tell all of these places apart, however many there are; collect with the mechanism that "
    "bp.recommend(places, epsilon, 'map') names, which can"
)


@dataclass(frozen=True, slots=True, repr=False)
class PlaceShare(Printed):
    """The share of people at one place."""

    place: Any
    """Its row number or label."""
    name: str
    """Its label; or the name of its cell, or its row number, with its coordinates."""
    share: float
    low: float
    high: float
    known: bool
    """Whether the share is identifiable; otherwise it is a guess, and the interval covers every possible share."""
    note: str

    def to_dict(self) -> dict[str, Any]:
        """The figures as a dict."""
        return asdict(self)

    def __str__(self) -> str:
        note = f" ({self.note})" if self.note else ""
        return f"{self.name}: a share of {self.share:.4g}, {self.low:.4g} to {self.high:.4g}{note}"


def top_places(source: object, reports: object = None, *, k: int = 10, confidence: float = 0.95) -> list[PlaceShare]:
    """The places with the largest estimated shares, with intervals that hold for **all** places together.

    The largest of many noisy numbers are biased upward by selection. So the intervals are simultaneous over all places
    (Bonferroni), and hold for the selected ones too.

    Parameters
    ----------
    source, reports
        An estimate on places, or a mechanism and its reports.
    k
        The number of places.
    confidence
        The confidence of all intervals together.
    """
    found, places = estimated(source, reports)
    sure, wanted = check_confidence(confidence), as_index(k)
    if wanted is None or not 1 <= wanted <= len(places):
        raise InputError(f"Expected k as a whole number from 1 to {len(places)}, the places, got {shown(k)}.")
    names, top = names_of(places), []
    for at in np.argsort(-found.shares, kind="stable")[:wanted].tolist():
        place = places.decode(at)
        answer = found.ask(("bin", place))
        held = answer.ci(1 - (1 - sure) / len(places))
        known = math.isfinite(answer.se)  # a single place may be known even if not all are
        top.append(PlaceShare(place, names[at], answer.value, *held, known, held.note if known else UNKNOWN))
    return top


def range_count(
    source: object,  # an estimate, or a mechanism
    reports: object = None,
    *,
    box: Sequence[float] | None = None,
    centre: Sequence[float] | None = None,
    radius_km: float | None = None,
) -> Answer:
    """The number of people at the places in a box or within a radius: the share of these places times the reports.

    It is an answer like those of ``est.ask``, with ``.value``, ``.se`` and ``.ci(0.95)``. If reports cannot tell, the
    standard error is infinite, the interval covers every number that they leave open, and the note says so.

    Parameters
    ----------
    source, reports
        An estimate on places, or a mechanism and its reports.
    box
        (south, west, north, east) in degrees, edges included; it crosses the date line if west > east.
    centre, radius_km
        Instead of a box: (latitude, longitude), and a radius in km.

    Examples
    --------
    >>> from bipartite import GRR, insecure_seed
    >>> from bipartite.locations import places
    >>> three = places([[52.52, 13.40], [48.86, 2.35], [51.51, -0.13]])
    >>> mech = GRR(three, epsilon=2)
    >>> reports = mech.privatize([0] * 3000 + [1] * 1000, rng=insecure_seed(1))
    >>> low, high = range_count(mech, reports, centre=(48.9, 2.4), radius_km=50).ci(0.95)
    >>> low < 1000 < high
    True
    """
    found, places = estimated(source, reports)
    if (box is None) == (centre is None) or (centre is None) != (radius_km is None):
        raise InputError(
            "Expected either box=(south, west, north, east), or centre=(latitude, longitude) and radius_km; pass one."
        )
    inside = in_circle(places, centre, radius_km) if box is None else Box.of(box).holds(places)
    share = found.ask(inside.astype(np.float64))
    if inside.any() and math.isfinite(share.se):
        return share * found.nobs
    note = UNKNOWN if inside.any() else "no place of the domain lies there; is it (latitude, longitude)?"
    return replace(share, interval=lambda sure: ConfidenceInterval(*share.interval(sure), sure, note)) * found.nobs


def estimated(given: object, reports: object) -> tuple[Estimate, Points]:  # an estimate, or what makes one
    """The given estimate, or that of a mechanism and its reports; and its places."""
    if isinstance(given, Estimate):
        if reports is not None:
            raise InputError("An estimate already has its reports; leave reports out, or pass the mechanism instead.")
        return given, places_of(given.mechanism)
    if not isinstance(given, Mechanism) or reports is None:
        raise InputError(
            f"Expected an estimate on places, or a mechanism and its reports, got {type(given).__name__}; build one "
            "with bp.estimate(mechanism, reports)."
        )
    places = places_of(given)
    return estimate(given, reports), places


def places_of(mechanism: Mechanism, *, reported: bool = False) -> Points:
    """The places that a mechanism is about, refused if ``reported`` and its reports are not some of them."""
    domain = check_places(mechanism.domain)
    if reported and (mechanism.flat or not isinstance(mechanism.outputs.base, Points)):
        raise InputError(f"The reports of {mechanism!r} are not places of its domain, so no map can show them.")
    return domain
