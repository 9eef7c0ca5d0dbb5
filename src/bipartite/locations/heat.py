"""Heat maps: the share of people around each place, from reports, smoothed over kilometres."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.intervals import FEW, check_confidence, normal_width
from bipartite.answers.estimation.rows import averages
from bipartite.domains.base import as_real
from bipartite.errors import InputError, shown
from bipartite.locations.counting import UNKNOWN, estimated
from bipartite.locations.geojson import as_geojson
from bipartite.locations.maps import plot_heat
from bipartite.plots.figure import svg_for_notebooks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from bipartite.domains import Points

    Array = NDArray[np.float64]

MOST_SMOOTHED: Final = 4_096
_SURE: Final = 0.95
_NOTHING: Final = "no ε is claimed, because the reports cannot have come from the mechanism"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HeatMap:
    """The share of people around each place, built by :func:`heat_map`."""

    places: Points
    shares: Array
    """In the order of the places; they sum to one, and noise can make some negative."""
    standard_errors: Array | None
    """None if the places are not identifiable: the shares are then a guess."""
    smoothing_km: float
    people: int
    guarantee: str
    """The guarantee of each report; says that nothing is claimed if the reports do not fit the mechanism."""
    note: str
    """A caveat, or empty."""

    def __repr__(self) -> str:
        size = f"{len(self.shares):,} places from {self.people:,} reports"
        return f"<heat map of {size}{self.smoothed}: {self.guarantee}>"

    def _repr_svg_(self) -> str | None:
        """The picture, for notebooks."""
        return svg_for_notebooks(self.plot)

    @property
    def smoothed(self) -> str:
        """The smoothing in words, or nothing."""
        return f", smoothed over {self.smoothing_km:g} km" if self.smoothing_km else ""

    @property
    def has_intervals(self) -> bool:
        """Whether there are intervals: places are identifiable, and reports suffice for the normal approximation."""
        return self.standard_errors is not None and self.people >= FEW

    def intervals(self, confidence: float = _SURE, *, together: bool = False) -> tuple[Array, Array]:
        """(low, high) of each share of the smoothed population, each with this confidence, or all ``together``.

        The hottest of many places are biased upward by selection; ``together`` (Bonferroni) holds for those too.
        """
        sure = check_confidence(confidence)
        if self.standard_errors is None:
            raise InputError(f"There are no intervals: {UNKNOWN}.")
        if self.people < FEW:
            raise InputError(f"Expected at least {FEW} reports for normal intervals, got {self.people}; collect more.")
        half = normal_width(1 - (1 - sure) / len(self.shares) if together else sure) * self.standard_errors
        low, high = np.clip([self.shares - half, self.shares + half], 0.0, 1.0)
        return np.minimum(low, self.shares), np.maximum(high, self.shares)  # a share lies in its own

    def plot(self, ax: Axes | None = None, *, title: str = "", credit: str = "") -> Axes:
        """Draw the heat map on matplotlib axes, new ones if none are given, and return them; needs the extra ``plots``.

        The cells of a grid have the names of their columns and rows at the edges, and a dark edge if their interval,
        simultaneous over all cells, excludes 0. Other places are dots. ``credit`` names the source of the places.
        """
        return plot_heat(self, ax, title, credit)

    def to_geojson(self, confidence: float = _SURE) -> dict[str, Any]:
        """The shares as GeoJSON (RFC 7946): a named polygon for each cell of a grid, a point for each other place.

        ``low`` and ``high`` hold for each place alone, ``low_together`` and ``high_together`` for all at once; they are
        null if not identifiable. The guarantee of the reports is in ``bipartite``, next to the features.
        """
        return as_geojson(self, check_confidence(confidence))


def heat_map(source: object, reports: object = None, *, smoothing_km: float = 0.0) -> HeatMap:  # Estimate, or mechanism
    """Estimate the share of people around each place from their reports.

    Post-processing of the reports, and so as private as they are.

    Parameters
    ----------
    source
        An estimate on places (``bp.estimate``), or the mechanism that the reports were drawn with.
    reports
        With a mechanism: what ``privatize`` returned.
    smoothing_km
        The standard deviation in km of a Gaussian kernel over the places, normalised to sum to one. Smoothing reduces
        noise and resolution; standard errors are those of the smoothed shares.

    Examples
    --------
    >>> from bipartite import GRR, insecure_seed
    >>> from bipartite.locations import places
    >>> three = places([[52.52, 13.40], [48.86, 2.35], [51.51, -0.13]])
    >>> mech = GRR(three, epsilon=2)
    >>> heat = heat_map(mech, mech.privatize([0] * 3000 + [1] * 1000, rng=insecure_seed(1)))
    >>> heat.shares[:2].round(1).tolist()
    [0.8, 0.2]
    """
    found, places = estimated(source, reports)
    width = as_real(smoothing_km)
    if not 0 <= width < math.inf:
        raise InputError(f"Expected smoothing_km as a number of km ≥ 0, got {shown(smoothing_km)}; 0 does not smooth.")
    if len(places) > MOST_SMOOTHED:
        raise InputError(
            f"Expected at most {MOST_SMOOTHED:,} places on a heat map, got {len(places):,}; use a coarser grid."
        )
    weights = smoothing(places, width)
    # Unbiased for every population; without errors, from the histogram.
    shares, errors = averages(found, weights) or (weights @ found.shares, None)
    doubt = found.check.doubt
    note = doubt.rstrip(".") or _note(found.nobs, errors, width)
    promise = _NOTHING if doubt else found.mechanism.guarantee
    return HeatMap(places, shares, errors, width, found.nobs, promise, note)


def _note(people: int, errors: Array | None, width: float) -> str:
    """The caveats of a heat map, or empty."""
    spread = f"shares and intervals are of people spread over {width:g} km around where they are" if width else ""
    return "; ".join(each for each in (_doubt(people, errors), spread) if each)


def _doubt(people: int, errors: Array | None) -> str:
    if errors is None:
        return f"a guess without intervals: {UNKNOWN}"
    if people < FEW:
        return f"only {people} reports: too few for intervals"
    if float(errors.mean()) > 1 / len(errors):
        return "the noise exceeds the average share: smooth over more kilometres, or collect more reports"
    return ""


def smoothing(places: Points, kilometres: float) -> Array:
    """The smoothing matrix: column y spreads a person at place y, and sums to one; the identity without smoothing."""
    if not kilometres:
        return np.eye(len(places))
    distances = np.stack([places.losses(each) for each in range(len(places))])
    with np.errstate(over="ignore"):  # at an infinite distance the weight is 0
        weights = np.exp(-0.5 * (distances / kilometres) ** 2)
    return np.asarray(weights / weights.sum(axis=0), dtype=np.float64)
