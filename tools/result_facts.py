"""Numbers in sentences that are no column of a table: differences, shares and extremes of the full run.

A sentence names one as ``fact NAME`` in a mark (see ``tools/results.py``); each is computed here from
``reproduction/results``.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Final

from bipartite.locations.releases import CALIBRATED, PUBLISHED, WHOLE, WITHIN
from reproduction.experiments import gbdt, location_errors, sgd
from reproduction.experiments.places_of_the_paper import FOURSQUARE
from reproduction.experiments.printed import SGD_AHEAD, SGD_BUDGETS
from result_tables import ends_of_training, network_gain, rows

if TYPE_CHECKING:
    from collections.abc import Callable

_LOCAL: Final = ("local-brr", "local-piecewise", "local-hybrid", "local-duchi")


def _final(mechanism: str, epsilon: float, network: str = "paper-cnn") -> float:
    return sgd.summary(ends_of_training(), network, mechanism, epsilon, "final").mean


def _ahead(epsilon: float, rival: str = "paper-laplace") -> float:
    return sgd.advantages(ends_of_training())[epsilon, rival].mean


def _described() -> float:
    return min(_final("paper-brr", each) for each in SGD_BUDGETS)


def _local(choose: Callable[[list[float]], float], network: str, *epsilons: float) -> float:
    return choose([_final(name, each, network) for name in _LOCAL for each in epsilons])


def _better_at_one(choose: Callable[[list[float]], float]) -> float:
    return choose([1 - share.mean for share in gbdt.ratios(rows("gbdt"), "Laplace", 1.0).values()])


def _spread_of_seeds(choose: Callable[[list[float]], float]) -> float:
    made = gbdt.figures(rows("gbdt"))
    return choose([each.deviation / each.mean for key, each in made.items() if key[1:] == ("BRR", 5.0, 21)])


def _five_points(task: str) -> float:
    """By how much the error with 5 points is below that with 101."""
    made = gbdt.figures(rows("gbdt"))
    return 1 - made[task, "BRR", 5.0, 5].mean / made[task, "BRR", 5.0, 101].mean


def _ranking_below(choose: Callable[[list[float]], float]) -> float:
    """By how much BRR ranks worse than Laplace on Adult by the paper's plan, where single intervals exclude none."""
    found = [network_gain("adult", "paper", f"at {each:g}", "auc") for each in (1.5, 2.0, 2.5, 3.0)]
    return choose([-mean for mean, _, _ in found])


def _saved(rival: str, scope: str) -> float:
    """How far BRR lies below L-SRR on the places of New York, over all ε."""
    return statistics.fmean(location_errors.savings(rows("location_errors"), rival, scope)[FOURSQUARE].values())


FACTS: Final[dict[str, Callable[[], float]]] = {
    "sgd described least": _described,
    "sgd described below none": lambda: _final("none", 0.0) - _described(),
    **{f"sgd ahead of the sum at {each:g}": lambda each=each: _ahead(each) for each in (0.1, *SGD_AHEAD)},
    "sgd ahead of the mean least": lambda: min(_ahead(each, "paper-laplace-of-the-mean") for each in SGD_BUDGETS),
    "sgd ahead of the mean most": lambda: max(_ahead(each, "paper-laplace-of-the-mean") for each in SGD_BUDGETS),
    "sgd gaussian above the sum at 0.3": lambda: _final("central-gaussian", 0.3) - _final("paper-laplace", 0.3),
    "sgd gaussian below the sum at 1": lambda: _final("paper-laplace", 1.0) - _final("central-gaussian", 1.0),
    **{
        f"sgd gaussian below none at {each:g}": lambda each=each: _final("none", 0.0) - _final("central-gaussian", each)
        for each in (0.3, 1.0)
    },
    "sgd local most up to 1": lambda: max(_local(max, each, 0.1, 1.0) for each in ("paper-cnn", "softmax")),
    **{
        f"sgd local {words} {network} at {each:g}": lambda choose=choose, network=network, each=each: _local(
            choose, network, each
        )
        for words, choose in (("least", min), ("most", max))
        for network in ("paper-cnn", "softmax")
        for each in (10.0, 100.0)
    },
    "dnn adult below laplace": lambda: -network_gain("adult", "paper", "mean")[0],
    "dnn adult below laplace least": lambda: -network_gain("adult", "paper", "mean")[2],
    "dnn adult below laplace most": lambda: -network_gain("adult", "paper", "mean")[1],
    "dnn bank above laplace at 20": lambda: network_gain("bank", "paper", "at 20")[0],
    "dnn bank above laplace at 20 least": lambda: network_gain("bank", "paper", "at 20")[1],
    "dnn bank above laplace at 20 most": lambda: network_gain("bank", "paper", "at 20")[2],
    "dnn bank ranking at 3.5": lambda: network_gain("bank", "tuned", "at 3.5", "auc")[0],
    "dnn bank ranking at 3.5 least": lambda: network_gain("bank", "tuned", "at 3.5", "auc")[1],
    "dnn bank ranking at 3.5 most": lambda: network_gain("bank", "tuned", "at 3.5", "auc")[2],
    "dnn adult ranking below least": lambda: _ranking_below(min),
    "dnn adult ranking below most": lambda: _ranking_below(max),
    **{
        f"places foursquare {where} {which}": lambda rival=rival, scope=scope: _saved(rival, scope)
        for where, scope in (("within", WITHIN), ("whole", WHOLE))
        for which, rival in (("published", PUBLISHED), ("calibrated", CALIBRATED))
    },
    "gbdt tmax better at 5": lambda: 1 - gbdt.ratios(rows("gbdt"))["bias-tmax"].mean,
    "gbdt better at 1 least": lambda: _better_at_one(min),
    "gbdt better at 1 most": lambda: _better_at_one(max),
    "gbdt spread least": lambda: _spread_of_seeds(min),
    "gbdt spread most": lambda: _spread_of_seeds(max),
    "gbdt five points slope": lambda: _five_points("bias-slope"),
    "gbdt five points superconduct": lambda: _five_points("superconduct"),
}
