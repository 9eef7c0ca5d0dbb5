"""What reports are for, and what each purpose requires of a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from bipartite.errors import InputError, is_one_of, shown

if TYPE_CHECKING:
    from bipartite.domains import Domain
    from bipartite.mechanisms.catalogue import Reports

Purpose = Literal["release", "mean", "distribution", "categories", "map", "statistics"]
PURPOSES: Final[tuple[str, ...]] = ("release", "mean", "distribution", "statistics", "categories", "map")
GRR_NAME: Final = "GRR"


class Wanted(NamedTuple):
    """One purpose: which mechanisms serve it, which figure ranks them, and which one wins a near tie."""

    figure: str
    """The field of a row to minimise."""
    of: str
    """What :func:`bipartite.forecast` calls it; empty for the loss of one release."""
    to: str
    """The goal, in words."""
    error: str
    """What the figure is called in a sentence."""
    baseline: str
    """The answer that asks nobody, in words."""
    served_by: frozenset[Reports]
    """What mechanisms must report; GRR, a window of one value, serves everything."""
    preferred: str | None = None
    """The mechanism recommended unless another is clearly better."""
    because: str = ""
    """Why that is preferred."""


_MEAN: Final = Wanted(
    "mean_error",
    "mean",
    "To estimate the mean",
    "its standard error",
    "the middle of the range, which asks nobody: up to",
    frozenset({"padded", "number", "flat"}),
    "BRR, padded, mean",
    "a padded window, whose reports also give the distribution",
)
_DISTRIBUTION: Final = Wanted(
    "distribution_error",
    "distribution",
    "To estimate the distribution and its quantiles",
    "the error of a cumulative share in the default histogram",
    "the uniform distribution, which asks nobody:",
    frozenset({"padded", "flat"}),
    "BRR, padded, CDF",
    "a padded window, in which near values help each other",
)
_CATEGORIES: Final = Wanted(
    "histogram_error",
    "share",
    "To count the share of each value",
    "the standard error of a share",
    "an average share:",
    frozenset({"padded", "flat"}),
)
WANTED: Final = {
    "release": Wanted(
        "expected_loss", "", "To release single values", "its expected error", "", frozenset({"release"})
    ),
    "mean": _MEAN,
    "distribution": _DISTRIBUTION,
    "categories": _CATEGORIES,
    "map": _CATEGORIES._replace(
        to="To map how many people are at each place",
        error="the standard error of the share of a place",
        served_by=frozenset({"flat"}),
    ),
}
"""What each purpose requires. ``"statistics"`` stands for several purposes."""
# Around a circle nothing is preferred to the least error: windows have it.
_AROUND: Final = {
    "mean": _MEAN._replace(
        to="To estimate the mean direction",
        error="the standard error of its cosine and sine",
        baseline="no direction, which asks nobody: up to",
        preferred=None,
    ),
    "distribution": _DISTRIBUTION._replace(
        to="To estimate the shares of arcs",
        error="the error of the share of an arc in the default histogram",
        preferred=None,
    ),
}


def wanted(purpose: str, domain: Domain) -> Wanted:
    """What a purpose requires on a domain."""
    return _AROUND.get(purpose, WANTED[purpose]) if domain.wraps else WANTED[purpose]


def check_purpose(purpose: object) -> None:
    """Refuse anything that is not a purpose."""
    if not is_one_of(purpose, PURPOSES):
        raise InputError(f"Expected purpose as one of {', '.join(map(repr, PURPOSES))}, got {shown(purpose)}.")


def asked(domain: Domain, purpose: str | None, n: int | None) -> list[str]:
    """The purposes to advise on: the one named, or all that apply."""
    ordered = domain.has_ends or domain.wraps
    if purpose == "statistics":
        return ["mean", "distribution"] if ordered else ["categories"]
    if purpose is not None:
        return [purpose]
    if domain.is_flat:
        return ["categories", "release"]
    places = domain.coordinates is not None
    statistics = ["mean", "distribution", "categories"] if ordered else ["map" if places else "categories"]
    return ["release", *(statistics if n is not None else [])]
