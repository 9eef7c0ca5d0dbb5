"""The places with the most people, and the number of people in a box or circle, with intervals if identifiable."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.intervals import check_confidence
from bipartite.domains.base import as_index
from bipartite.errors import InputError, shown
from bipartite.locations.areas import Box, in_circle
from bipartite.locations.estimates import UNKNOWN, estimated
from bipartite.texts import Printed, escaped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.answers.estimation import Estimate
    from bipartite.domains import Points

_SURE: Final = 0.95


@dataclass(frozen=True, slots=True, repr=False)
class PlaceShare(Printed):
    """The share of people at one place."""

    place: Any
    """Its row number or label."""
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
        return f"{escaped(self.place)}: {_figures(self.share, self.low, self.high, self.note)}"


@dataclass(frozen=True, slots=True, repr=False)
class RangeCount(Printed):
    """The number of people in a part of the map."""

    places: int
    """The number of places there."""
    share: float
    share_low: float
    share_high: float
    people: float
    """The share times the number of reports."""
    low: float
    high: float
    known: bool
    """Whether the share is identifiable; otherwise it is a guess, and the interval covers every possible share."""
    note: str

    def to_dict(self) -> dict[str, Any]:
        """The figures as a dict."""
        return asdict(self)

    def __str__(self) -> str:
        share = _figures(self.share, self.share_low, self.share_high, self.note)
        return f"{self.places:,} places: {share}, {self.low:,.0f} to {self.high:,.0f} people"


def top_places(source: object, reports: object = None, *, k: int = 10, confidence: float = _SURE) -> list[PlaceShare]:
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
    sure = check_confidence(confidence)
    wanted = as_index(k)
    if wanted is None or not 1 <= wanted <= len(places):
        raise InputError(f"Expected k as a whole number from 1 to {len(places)}, the places, got {shown(k)}.")
    together = 1 - (1 - sure) / len(places)
    order = np.argsort(-found.shares, kind="stable")[:wanted].tolist()
    return [_place(found, places, each, together) for each in order]


def range_count(
    source: object,  # an estimate, or a mechanism
    reports: object = None,
    *,
    box: Sequence[float] | None = None,
    centre: Sequence[float] | None = None,
    radius_km: float | None = None,
    confidence: float = _SURE,
) -> RangeCount:
    """The number of people at the places in a box or within a radius, with an interval if identifiable.

    Parameters
    ----------
    source, reports
        An estimate on places, or a mechanism and its reports.
    box
        (south, west, north, east) in degrees, edges included; it crosses the date line if west > east.
    centre, radius_km
        Instead of a box: (latitude, longitude), and a radius in km.
    confidence
        The confidence of the interval.

    Examples
    --------
    >>> from bipartite import GRR, insecure_seed
    >>> from bipartite.locations import places
    >>> three = places([[52.52, 13.40], [48.86, 2.35], [51.51, -0.13]])
    >>> mech = GRR(three, epsilon=2)
    >>> reports = mech.privatize([0] * 3000 + [1] * 1000, rng=insecure_seed(1))
    >>> found = range_count(mech, reports, centre=(48.9, 2.4), radius_km=50)
    >>> found.places, found.low < 1000 < found.high
    (1, True)
    """
    found, places = estimated(source, reports)
    sure = check_confidence(confidence)
    inside = _inside(places, box, centre, radius_km)
    weights = inside.astype(np.float64)
    answer = found.ask(weights)
    low, high = held = answer.ci(sure)
    known = math.isfinite(answer.se)
    return RangeCount(
        places=int(inside.sum()),
        share=answer.value,
        share_low=low,
        share_high=high,
        people=answer.value * found.nobs,
        low=low * found.nobs,
        high=high * found.nobs,
        known=known,
        note=held.note if known else UNKNOWN,
    )


def _figures(share: float, low: float, high: float, note: str) -> str:
    told = f"a share of {share:.4g}, {low:.4g} to {high:.4g}"
    return f"{told} ({note})" if note else told


def _place(found: Estimate, places: Points, at: int, sure: float) -> PlaceShare:
    answer = found.ask(("bin", places.decode(at)))
    held = answer.ci(sure)
    # A single place may be identifiable even if not all are.
    known = math.isfinite(answer.se)
    return PlaceShare(places.decode(at), answer.value, held.low, held.high, known, held.note if known else UNKNOWN)


def _inside(
    places: Points, box: Sequence[float] | None, centre: Sequence[float] | None, radius_km: float | None
) -> NDArray[np.bool_]:
    if (box is None) == (centre is None) or (centre is None) != (radius_km is None):
        raise InputError(
            "Expected either box=(south, west, north, east), or centre=(latitude, longitude) and radius_km; pass one."
        )
    return in_circle(places, centre, radius_km) if box is None else Box.of(box).holds(places)
