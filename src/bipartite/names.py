"""What an error says about a name that is not there: it is misspelled, or it has moved."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterable

# From where, to where, and the names that are the same there.
_MOVED: Final = (
    ("bipartite", "bipartite.answers.advise", "Comparison Recommendation ReportingPlan SampleSize SplitOrSample"),
    ("bipartite", "bipartite.answers.estimation", "Difference Estimate Estimates Identifiability"),
    ("bipartite", "bipartite.verification", "Audit Certificate LawTest"),
    ("bipartite", "reproduction.places", "PlanarLaplace"),
    ("bipartite.mechanisms", "reproduction.places", "PlanarLaplace WithinRegion"),
    (
        "bipartite.locations",
        "reproduction.places",
        "CALIBRATED EPSILONS PUBLISHED Regions WHOLE WITHIN WithinRegion",
    ),
    ("bipartite.learn", "reproduction.learning.sgd", "LaplaceSGD LocalSGD paper_cnn"),
    ("bipartite.learn", "reproduction.learning.coordinates", "CoordinateReports"),
    (
        "bipartite.learn",
        "reproduction.learning.network_training",
        "TrainingPlan class_chances network_inputs train_network",
    ),
    ("bipartite.learn", "reproduction.learning.scattering", "Scattering"),
)
_ANSWERS: Final = {  # by class, the former attributes and what to use now
    "Estimate": {
        "people": "est.nobs",
        "effective_people": "w.sum()**2 / (w**2).sum(), of your weights w",
        "of_sample": "nothing: errors are for the population that the people are a sample of",
        "reason": "est.summary(), which tells it",
        "fit": "est.summary(), which says where a fit did not end well",
        "identifiability": "bipartite.identifiability(est.mechanism), or est.identifiable",
        "fits": "est.check",
        "doubt": "est.check.doubt",
        "poisoning": "est.ask(of).forged(k)",
        "tipping_point": "est.ask(of).forged(k), to be compared with est.ask(of).ci()",
        "frequencies": "est.shares",
        "standard_errors": "est.to_frame()['se']",
        "bins_note": "est.to_frame()['note']",
        "variance": "est.ask('variance').value, or est.std",
        **{name: f"est.ask({name!r}).value" for name in ("circular_mean", "resultant_length", "circular_spread")},
        "ranges": "est.to_frame(bins=bins)",
        "linear": "est.ask(weights).value",
        "total": "(est.ask(of) * population).value",
        "standard_error": "est.ask(of).se",
        "unbiased": "est.ask(of)",
        "interval": "est.ask(of).ci(confidence)",
        "covariance": "numpy.cov(bipartite.scores(mech, reports, of))",
        "group_shares": "est.ask(weights), with the weight 1 for each value of the group",
        **dict.fromkeys(("share_intervals", "share_bounds"), "est.to_frame(confidence=confidence)[['low', 'high']]"),
    },
    "JointEstimate": {
        "people": "joint.nobs",
        "frequencies": "joint.shares",
        "reason": "joint.summary(), which tells it",
        "fit": "joint.summary(), which says where a fit did not end well",
        "fits": "joint.check",
        "doubt": "joint.check.doubt",
        "standard_errors": "joint.to_frame()['se']",
        "linear": "joint.ask(weights).value",
        "unbiased": "joint.ask(of)",
        "standard_error": "joint.ask(of).se",
        "interval": "joint.ask(of).ci(confidence)",
        **{name: f"joint.ask({name!r}).value" for name in ("covariance", "correlation")},
        "mean_where": "joint.ask(('mean', name, {other: where}))",
        "means_by": "joint.ask(('mean', name, {other: value})), for each value",
    },
    "Counts": {"people": "counts.n"},
    "Answer": {"standard_error": "answer.se", "spread": "answer.ci(), which follows from it"},
}
FORMER_NAMES: Final = {
    **{f"{before}.{name}": f"{now}.{name}" for before, now, names in _MOVED for name in names.split()},
    **{
        f"bipartite.answers.estimation.{owner}.{name}": now
        for owner, names in _ANSWERS.items()
        for name, now in names.items()
    },
    "bipartite.JointEstimate": "bipartite.answers.estimation.joint.JointEstimate",
    "bipartite.estimate_joint": "bipartite.estimate(record, reports).joint(first, second)",
    "bipartite.tables.Settings": "bipartite.tables.privatize_file, whose keyword arguments they are",
    "bipartite.tables.register": (
        "bipartite.privatize_frame, on connection.sql(…): a function in SQL would spend ε whenever it is run"
    ),
    "bipartite.learn.PrivateNetwork": "reproduction.learning.network_training.train_network, on reports of rows",
    "bipartite.learn.PrivateQuantile": "reproduction.learning.sgd.LocalSGD, whose bound is a public number",
    "bipartite.learn.RandomisedLabels": "reproduction.learning.network_training.train_network, whose responses it was",
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
    **{f"bipartite.locations.{name}": "bipartite.recommend, with purpose='release'" for name in ("Choice", "choose")},
    **{
        f"bipartite.locations.{name}": "reproduction.experiments.location_errors, an experiment whose rows they are"
        for name in ("Improvement", "PlaceRelease", "Release", "compare", "improvements")
    },
    "bipartite.locations.draw": "bipartite.locations.plot, which draws on matplotlib axes",
    "bipartite.locations.page": "bipartite.locations.plot, or the command bipartite estimate for a page",
    "bipartite.locations.RangeCount": "bipartite.locations.range_count, whose answer has .value, .se and .ci()",
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
        f"bipartite.mechanisms.Mechanism.{name}": "reproduction.places.Weaker, for releases that are not ε-LDP"
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
    now = FORMER_NAMES.get(former)
    beside = " (in a clone of the repository)" if now is not None and now.startswith("reproduction.") else ""
    return None if now is None else f"{former} is now {now}{beside}"


class Renamed:
    """Base class for results of estimation: a former attribute raises with what to use now."""

    __slots__ = ()

    if not TYPE_CHECKING:  # so that type checkers report unknown names

        def __getattr__(self, name: str) -> NoReturn:
            if isinstance(held := getattr(type(self), name, None), (property, cached_property)):
                held.__get__(self)  # an AttributeError within a property, which Python dropped: raised again
            owners = (f"bipartite.answers.estimation.{kind.__name__}" for kind in type(self).__mro__)
            told = next((told for owner in owners if (told := moved(owner, name))), None)
            raise AttributeError(told or f"{type(self).__name__!r} object has no attribute {name!r}")


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
