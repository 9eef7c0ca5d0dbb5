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
    to: str
    """The goal, in words."""
    error: str
    """What the figure is called in a sentence."""
    served_by: frozenset[Reports]
    """What mechanisms must report; GRR, a window of one value, serves everything."""
    preferred: str | None = None
    """The mechanism recommended unless another is clearly better."""
    because: str = ""
    """Why that is preferred."""


WANTED: Final = {
    "release": Wanted(
        "expected_loss",
        "To release single values",
        "its expected error",
        frozenset({"release"}),
    ),
    "mean": Wanted(
        "mean_error",
        "To estimate the mean",
        "its standard error",
        frozenset({"padded", "number", "flat"}),
        "BRR, padded, mean",
        "a padded window, whose reports also give the distribution",
    ),
    "distribution": Wanted(
        "distribution_error",
        "To estimate the distribution and its quantiles",
        "the error of a cumulative share in the default histogram",
        frozenset({"padded", "flat"}),
        "BRR, padded, CDF",
        "a padded window, in which near values help each other",
    ),
    "categories": Wanted(
        "histogram_error",
        "To count the share of each value",
        "the standard error of a share",
        frozenset({"padded", "flat"}),
    ),
    "map": Wanted(
        "histogram_error",
        "To map how many people are at each place",
        "the standard error of the share of a place",
        frozenset({"flat"}),
    ),
}
"""What each purpose requires. ``"statistics"`` stands for several purposes."""


def check_purpose(purpose: object) -> None:
    """Refuse anything that is not a purpose."""
    if not is_one_of(purpose, PURPOSES):
        raise InputError(f"Expected purpose as one of {', '.join(map(repr, PURPOSES))}, got {shown(purpose)}.")


def asked(domain: Domain, purpose: str | None, people: int | None) -> list[str]:
    """The purposes to advise on: the one named, or all that apply."""
    line = domain.has_ends
    if purpose == "statistics":
        return ["mean", "distribution"] if line else ["categories"]
    if purpose is not None:
        return [purpose]
    if domain.is_flat:
        return ["categories", "release"]
    statistics = ["mean", "distribution", "categories"] if line else ["map" if _places(domain) else "categories"]
    return ["release", *(statistics if people is not None else [])]


def _places(domain: Domain) -> bool:
    return domain.coordinates is not None
