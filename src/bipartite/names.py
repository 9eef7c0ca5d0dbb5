"""What an error says about a name that is not there: it is misspelled, or it has moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

# From where, to where, and the names that are the same there.
_MOVED: Final = (
    ("bipartite", "bipartite.answers.advise", "Comparison Recommendation ReportingPlan SampleSize SplitOrSample"),
    (
        "bipartite",
        "bipartite.answers.estimation",
        "Difference Estimate Estimates GroupMean Identifiability JointEstimate",
    ),
    ("bipartite", "bipartite.verification", "Audit Certificate LawTest"),
    ("bipartite", "reproduction.places", "PlanarLaplace"),
    ("bipartite.mechanisms", "reproduction.places", "PlanarLaplace WithinRegion"),
    (
        "bipartite.locations",
        "reproduction.places",
        "CALIBRATED Choice EPSILONS Improvement PUBLISHED PlaceRelease Regions WHOLE WITHIN WithinRegion improvements",
    ),
    ("bipartite.locations", "reproduction.places", "choose compare"),
)
FORMER_NAMES: Final = {
    **{f"{before}.{name}": f"{now}.{name}" for before, now, names in _MOVED for name in names.split()},
    "bipartite.RR": "bipartite.GRR, on a domain of two values",
    "bipartite.mechanisms.RR": "bipartite.mechanisms.GRR, on a domain of two values",
    "bipartite.LSRR": "reproduction.places.lsrr",
    "bipartite.mechanisms.LSRR": "reproduction.places.lsrr",
    "bipartite.mechanisms.RegionWeighted": "reproduction.places.region_weighted",
    "bipartite.mechanisms.TwoLevel": "reproduction.places.two_level",
    "bipartite.mechanisms.categories.CategoryMechanism": "bipartite.mechanisms.Mechanism, whose flat is True",
    "bipartite.mechanisms.categories.CategoryEstimate": "bipartite.answers.estimation.Estimate",
    "bipartite.locations.RegionWeighted": "reproduction.places.region_weighted",
    "bipartite.locations.TwoLevel": "reproduction.places.two_level",
    "bipartite.locations.Release": "reproduction.places.PlaceRelease",
    **{
        f"bipartite.lottery.{before}Lottery": f"bipartite.lottery.{now}"
        for before, now in (
            ("Line", "Window"),
            ("Grouped", "Window"),
            ("Ring", "Ring"),
            ("Mixed", "Mixture"),
            ("Noise", "Noise"),
            ("Row", "Table"),
            ("Point", "Nearest"),
        )
    },
    "bipartite.lottery.Lottery": "bipartite.lottery.Deal",
    "bipartite.mechanisms.Mechanism.estimate": "bipartite.estimate",
    "bipartite.mechanisms.Mechanism.keeps_epsilon": "bipartite.verify",
    **{
        f"bipartite.mechanisms.Mechanism.{name}": "reproduction.places.proved, for releases that are not ε-LDP"
        for name in ("bound", "distance_unit", "publishes")
    },
    "bipartite.design.calibrated_rows": "reproduction.places.lsrr.calibrated_rows",
    # Advice and quality.
    **{
        f"{home}.{before}": now
        for home in ("bipartite", "bipartite.quality")
        for before, now in (
            ("expected_loss", "bipartite.loss, whose .mean it is"),
            ("worst_loss", "bipartite.loss, whose .worst it is"),
            ("local_loss", "bipartite.loss, whose .by_value it is"),
            ("loss_quantile", "bipartite.loss, whose .quantile(q) it is"),
            ("share_within", "bipartite.loss, whose .within(distance) it is"),
            ("inference_error", "reproduction.quality.inference_error"),
            ("local_bound", "reproduction.quality.local_bound"),
            ("qloss", "reproduction.quality.qloss"),
        )
    },
    "bipartite.Forecast": "bipartite.forecast, which gives a number",
}
"""Former public names, and what to use now. A name of a class stands under it: ``bipartite.Plan.name``."""


def moved(owner: str, name: str) -> str | None:
    """Say what a former name of a module or class is now; None if there was no such name.

    >>> moved("bipartite", "expected_loss")
    'bipartite.expected_loss is now bipartite.loss, whose .mean it is'
    """
    former = f"{owner}.{name}"
    return f"{former} is now {FORMER_NAMES[former]}" if former in FORMER_NAMES else None


def nearest_name(given: object, known: Iterable[str]) -> str | None:
    """Return the known name most similar to ``given``, or None if none is close.

    >>> nearest_name("epsilom", ["domain", "epsilon"])
    'epsilon'
    """
    import difflib  # noqa: PLC0415 (only where something is wrong)

    near = difflib.get_close_matches(str(given), list(known), n=1)
    return near[0] if near else None


def unknown_name(what: str, given: str, known: Iterable[str]) -> str:
    """Message for an unknown name, with the known name most similar to it.

    >>> unknown_name("unknown key", "epsilom", ["domain", "epsilon"])
    "unknown key 'epsilom' (did you mean 'epsilon'?)"
    """
    near = nearest_name(given, known)
    return f"{what} {given!r}" + ("" if near is None else f" (did you mean {near!r}?)")
