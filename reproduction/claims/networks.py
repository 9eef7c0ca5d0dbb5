"""Claims about networks trained on private columns, appendix B.3."""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass, replace
from functools import partial
from operator import sub
from typing import TYPE_CHECKING, Final

from reproduction.claims.seeds import LEAST_SEEDS, TOO_SMALL, brackets, enough, everywhere, jointly, paired, surely
from reproduction.claims.verdict import Claim, Evidence, Judgement, Verdict, cannot
from reproduction.experiments.dnn_reading_list import BATCHES, READINGS, started_by_torch
from reproduction.experiments.printed import NETWORK_GAINS, NETWORK_RANGE
from reproduction.runner.contract import Rows, distinct, number, select

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reproduction.claims.seeds import BySeed
    from reproduction.runner.intervals import MeanInterval

_OF_NOTE: Final = 0.005
_PLANS: Final = {"paper": "by the paper’s plan of training", "tuned": "by the plan chosen on held-out rows"}
_CLAMPED: Final = "clamped-laplace"


def complete(rows: Rows) -> bool:
    """Whether both data sets ran, over the paper's range of budgets."""
    budgets = distinct(select(rows, mechanism="brr"), "epsilon")
    return {"adult", "bank"} <= set(distinct(rows, "dataset")) and set(NETWORK_RANGE) <= set(budgets)


_enough = partial(enough, "dnn", complete)


def _both(rows: Rows, ours: str, theirs: str, epsilon: float | None = None) -> tuple[BySeed, BySeed]:
    """Two mechanisms at one ε, or averaged over those of the paper's range; what has no ε is the same at each."""
    low, high = (epsilon, epsilon) if epsilon is not None else NETWORK_RANGE

    def mean(mechanism: str) -> BySeed:
        some = select(rows, mechanism=mechanism)
        kept = [row for row in some if low <= number(row, "epsilon") <= high] or select(some, epsilon=0.0)
        return {
            seed: statistics.fmean(number(row, "value") for row in select(kept, seed=seed))
            for seed in distinct(kept, "seed")
        }

    return mean(ours), mean(theirs)


def _of(rows: Rows, dataset: str, setting: str, metric: str = "accuracy") -> Rows:
    """Rows of the figure; labels are public."""
    return select(rows, dataset=dataset, metric=metric, setting=setting, labels="public")


def apart(
    rows: Rows, dataset: str, setting: str, epsilon: float | None = None, metric: str = "accuracy"
) -> MeanInterval | None:
    """Accuracy with BRR minus that with Laplace, paired by seed; in parts of one: 0.0322 is the paper's 3.22 %."""
    return paired(*_both(_of(rows, dataset, setting, metric), "brr", "laplace", epsilon), sub)


@dataclass(frozen=True)
class Pair:
    """What a reading compares: one of :mod:`~reproduction.experiments.dnn_readings`, and two mechanisms of it."""

    words: str
    reading: str
    theirs: str = "laplace"
    ours: str = "brr"

    def rows(self, rows: Rows, setting: str, dataset: str = "adult") -> Rows:
        """Its accuracies."""
        return select(rows, dataset=dataset, reading=self.reading, setting=setting, metric="accuracy")

    def apart(
        self, rows: Rows, setting: str, epsilon: float | None = None, dataset: str = "adult"
    ) -> MeanInterval | None:
        """By how much one is more accurate than the other, paired by seed."""
        return paired(*_both(self.rows(rows, setting, dataset), self.ours, self.theirs, epsilon), sub)


PAIRS: Final = (
    Pair("ε on every coordinate", "coordinates"),
    Pair("ε on every coordinate, min–max after the noise", "coordinates", "rescaled-laplace"),
    *(Pair(READINGS[name].words, name) for name in map(started_by_torch, BATCHES)),
    Pair("ε on every column", "columns"),
    Pair("as many ε as columns, by importance", "weighted columns"),
    Pair("as many ε as columns, by importance, min–max after the noise", "weighted columns", "rescaled-laplace"),
    Pair(
        "as many ε as columns for the rival, by importance, ±0.1 for BRR, as scripted",
        "weighted columns",
        ours="bounded",
    ),
    Pair("ε of a row, by importance", "weighted row"),
    Pair("ε of a row, by importance on public rows", "weighted row, public weights"),
)
"""Every reading that was tried, but for that of Fig. 11 itself."""


@dataclass(frozen=True)
class Number:
    """A difference of accuracy that the paper prints, and within how much it counts as reproduced."""

    words: str
    printed: float
    within: float
    at: float | None = None
    """The ε that it is at; None averages over those of the figure."""


MEAN: Final = Number("on average", NETWORK_GAINS["mean"], 0.01)
FIRST: Final = Number("at ε = 0.25", NETWORK_GAINS["at 0.25"], 0.02, NETWORK_RANGE[0])


@dataclass(frozen=True)
class Found:
    """One of the paper's numbers under a reading."""

    pair: Pair
    setting: str
    gain: MeanInterval
    off: float
    """How far it is from the paper's."""


def under_readings(rows: Rows, wanted: Number) -> list[Found]:
    """One of the paper's numbers under every reading and plan that ran, the nearest first; intervals hold together."""
    cases = {
        (pair, plan): _both(pair.rows(rows, plan), pair.ours, pair.theirs, wanted.at)
        for pair, plan in itertools.product(PAIRS, _PLANS)
    }
    found = [Found(*key, gain, abs(gain.mean - wanted.printed)) for key, gain in jointly(cases, sub).items()]
    return sorted(found, key=lambda each: each.off)


def _settings(rows: Rows) -> list[str]:
    return [each for each in _PLANS if select(rows, setting=each, mechanism="brr")]


def _gain(wanted: Number) -> Callable[[Evidence], Judgement]:
    """The judge of one of the paper's numbers."""

    def judge(evidence: Evidence) -> Judgement:
        rows = evidence["dnn"]
        found = {setting: gain for setting in _settings(rows) if (gain := apart(rows, "adult", setting, wanted.at))}
        if not found:
            return Judgement(Verdict.UNDECIDED, "nothing", TOO_SMALL)
        own = select(rows, dataset="adult", metric="accuracy", mechanism="majority")
        numbers = "; ".join(f"{_PLANS[setting]} {gain.say('+.2%')}" for setting, gain in found.items())
        gain = next(iter(found.values()))
        measured = (
            f"Adult, ε of a whole row, BRR minus Laplace {wanted.words}, in points: {numbers} {brackets([gain])}; the paper +{wanted.printed:.2%}"
            + (f"; the majority class alone has {number(own[0], 'value'):.1%}" if own else "")
        )  # fmt: skip
        if abs(gain.mean - wanted.printed) <= wanted.within:
            return Judgement(Verdict.HOLDS, measured, "The difference is reproduced.")
        if gain.is_above:
            return Judgement(
                Verdict.CORRECTED,
                measured,
                "BRR is ahead, by another number: here ε is that of the whole row for every mechanism, and the scripts’ noise ignores ε.",
            )
        if gain.high >= wanted.printed - wanted.within:
            return Judgement(Verdict.UNDECIDED, measured, "The interval reaches both none and the paper’s difference.")
        return _read_otherwise(evidence["dnn_readings"], wanted, measured)

    return judge


def _read_otherwise(rows: Rows, wanted: Number, measured: str) -> Judgement:
    """A number that does not appear for ε of a whole row, under every reading that was tried."""
    found = under_readings(rows, wanted)
    if not found:
        return Judgement(Verdict.UNDECIDED, measured, TOO_SMALL)
    nearest = found[0]
    tried = f"{len(found)} readings and plans"
    measured += f"; nearest of {tried} (intervals of all together): {said(rows, nearest)}"
    # Noise that ignores ε in BRR's place tells nothing of BRR.
    hits = [
        each
        for each in found
        if each.off <= wanted.within and each.gain.repetitions >= LEAST_SEEDS and each.pair.ours == "brr"
    ]
    if hits:
        first = hits[0]
        late = " (looked for after others had not given it)" if "torch" in first.pair.reading else ""
        unsure = "" if first.gain.is_above else " BRR is not surely ahead there at all."
        return Judgement(
            Verdict.READING,
            measured,
            f"It appears within {100 * wanted.within:g} point{'s' if wanted.within > MEAN.within else ''} under {len(hits)} of {tried} that were "
            f"tried, first under “{first.pair.words}”{late}, which does not keep the ε that it names.{unsure}{_other_number(rows, first, wanted)} "
            f"{deciding(rows, first, wanted)}",
        )
    room = sum(each.gain.low <= wanted.printed <= each.gain.high for each in found)
    why = (
        "With the same ε of a whole row for both, BRR is not ahead of Laplace by as much as the paper says, nor surely at all; and no "
        f"other reading of BRR that was tried comes within {100 * wanted.within:g} points, though the intervals of {room} of {len(found)} leave room for it."
    )
    ahead = [each for each in found if each.pair.ours == "brr" and each.gain.is_above]
    if ahead:
        most = max(ahead, key=lambda each: each.gain.mean)
        measured += f"; most for BRR: {said(rows, most)}"
        why += f" BRR is surely ahead under {len(ahead)} of them. {deciding(rows, most, wanted)}"
    if nearest.pair.ours != "brr" and nearest.gain.is_above:
        why += f" Nearest are the scripts, surely ahead by {nearest.gain.mean:+.2%}. {deciding(rows, nearest, wanted)}"
    return Judgement(Verdict.FAILS, measured, why)


def _other_number(rows: Rows, found: Found, wanted: Number) -> str:
    """What the same reading gives for the number that the paper prints beside this one, of the same runs."""
    other = FIRST if wanted == MEAN else MEAN
    gain = found.pair.apart(rows, found.setting, other.at)
    return f" {other.words.capitalize()} it gives {gain.say('+.2%')}, the paper +{other.printed:.2%}." if gain else ""


def said(rows: Rows, found: Found) -> str:
    """A reading and its number, with what a row spends."""
    return (
        f"{found.pair.words}, {_PLANS[found.setting]}: {found.gain.say('+.2%')}, where a row spends "
        f"{spends(rows, found.pair)}"
    )


def spends(rows: Rows, pair: Pair) -> str:
    """What a row of a reading really spends on Adult, for the ε that it names."""
    if pair.ours != "brr":
        return "∞"
    some = select(rows, dataset="adult", reading=pair.reading, mechanism=pair.theirs)[0]
    times = number(some, "noise_spends") / number(some, "epsilon")
    noise = f"{times:.3g}·ε" if f"{times:.3g}" != "1" else "ε"
    return noise if some["spends"] != "∞" else f"∞ ({noise} were the importances public)"


def deciding(rows: Rows, found: Found, wanted: Number) -> str:
    """Against Laplace clamped to the same range: what is left of a gain."""
    if found.pair.ours != "brr":
        return "What stands in BRR’s place there ignores ε: it is not BRR."
    rest = replace(found.pair, theirs=_CLAMPED).apart(rows, found.setting, wanted.at)
    if rest is None:
        return ""
    told = f"Against Laplace clamped to the same range it is at {rest.say('+.2%')} {wanted.words} there"
    if rest.is_above:
        return f"{told}: not the range alone explains the gain."
    return f"{told}: the range explains the gain, not the mechanism."


def gains(rows: Rows, setting: str = "paper") -> dict[str, MeanInterval]:
    """BRR minus Laplace for each data set and ε of the figure; intervals hold together."""
    cases = {
        f"{dataset}, ε = {float(epsilon):g}": _both(_of(rows, str(dataset), setting), "brr", "laplace", float(epsilon))
        for dataset in distinct(rows, "dataset")
        for epsilon in distinct(select(rows, dataset=dataset, mechanism="brr"), "epsilon")
        if NETWORK_RANGE[0] <= float(epsilon) <= NETWORK_RANGE[1]
    }
    return jointly(cases, sub)


def _consistent(evidence: Evidence) -> Judgement:
    rows = evidence["dnn"]
    plans = {setting: gains(rows, setting) for setting in _settings(rows)}
    found = next(iter(plans.values()), None)
    if not found:
        return Judgement(Verdict.UNDECIDED, "nothing", TOO_SMALL)
    measured = "; ".join(f"{_PLANS[setting]}: {_counted(each)}" for setting, each in plans.items())
    judged = everywhere(found, _OF_NOTE, measured, ("Ahead at every budget.", "Not ahead at every budget."), "Ahead")
    if judged.verdict != Verdict.FAILS:
        return judged
    rows = evidence["dnn_readings"]
    other = {
        (pair, plan): found
        for pair, plan in itertools.product(PAIRS, _PLANS)
        if pair.ours == "brr" and (found := _cases(rows, pair, plan))
    }
    if not other:
        return judged
    # Ahead in every case that ran, on both data sets, or else in the most.
    everywhere_ahead = [key for key, found in other.items() if _is_everywhere(found)]
    pair, plan = everywhere_ahead[0] if everywhere_ahead else max(other, key=lambda key: surely(other[key])[0])
    words = f"{pair.words}, {_PLANS[plan]}: {_counted(other[pair, plan])}"
    if everywhere_ahead:
        why = f"Ahead at every budget that ran under “{pair.words}”, where a row spends {spends(rows, pair)}."
        return Judgement(Verdict.READING, f"{measured}; read otherwise ({words})", why)
    often, behind = surely(other[pair, plan])
    return replace(
        judged,
        measured=f"{measured}; the most under any other reading ({words})",
        why=f"{judged.why} Read otherwise it is surely ahead in {often} of {len(other[pair, plan])} at most, and surely behind in {behind} of these, under “{pair.words}”.",
    )


def _is_everywhere(found: Mapping[str, MeanInterval]) -> bool:
    datasets = {case.split(",")[0] for case in found}
    return {"adult", "bank"} <= datasets and all(each.is_above for each in found.values())


def _cases(rows: Rows, pair: Pair, setting: str) -> dict[str, MeanInterval]:
    """BRR minus Laplace for each data set and ε of a reading."""
    datasets = distinct(select(rows, reading=pair.reading, mechanism=pair.theirs), "dataset")
    cases = {
        f"{dataset}, ε = {epsilon:g}": _both(pair.rows(rows, setting, dataset), pair.ours, pair.theirs, epsilon)
        for dataset in datasets
        for epsilon in distinct(pair.rows(rows, setting, dataset), "epsilon")
        if epsilon
    }
    return jointly(cases, sub)


def _counted(found: Mapping[str, MeanInterval]) -> str:
    ahead, behind = surely(found)
    return (
        f"of {len(found)} data sets and budgets BRR is surely ahead of Laplace in {ahead}, surely behind in "
        f"{behind} (95 % intervals that hold for all together, {min(each.repetitions for each in found.values())} seeds)"
    )


def rebuilt_rival(evidence: Evidence) -> Judgement:
    """The rule of Wang et al. 2020 as it could be used: what they printed is not here, the rule can be run."""
    rows = evidence["dnn_readings"]
    pair = PAIRS[-1]
    cases = {
        f"{_PLANS[plan]} at ε = {epsilon:g}": _both(pair.rows(rows, plan), pair.ours, pair.theirs, epsilon)
        for plan in _PLANS
        for epsilon in distinct(pair.rows(rows, plan), "epsilon")
    }
    found = jointly(cases, sub)
    measured = "nothing"
    if found:
        numbers = ", ".join(f"{each.say('+.2%')} {at}" for at, each in found.items())
        measured = (
            f"their rule built again on Adult, {pair.words}, BRR minus Laplace: {numbers} {brackets(found.values())}"
        )
    return Judgement(
        Verdict.UNCHECKABLE,
        measured,
        "Their numbers come from another implementation and another split, which are not here. Their rule, Laplace noise and "
        "less of it on columns that matter more, was built again and is measured beside BRR with the same weights.",
    )


CLAIMS: Final = (
    Claim("networks, a fair comparison", "Appendix B.3", "Laplace noise is replaced by BRR while the rest of DNN-DP stays unchanged, under the same total budget.", cannot("How the budget is shared among columns is not said. The scripts that were read add the same uniform noise whatever ε is, and weigh columns by the raw data, so they keep no ε. The runs here give every mechanism the same ε of a whole row, and under other readings the same weights."), (), "docs/private-networks.md"),
    Claim("networks, consistently better", "Appendix B.3, Fig. 11", "DNN-BRR consistently outperforms DNN-DP for ε from 0.25 to 3.5, on both data sets.", _enough(_consistent), ("dnn", "dnn_readings"), "docs/private-networks.md"),
    Claim("networks, +3.22 %", "Appendix B.3", "On US Census BRR achieves +3.22 % in accuracy on average.", _enough(_gain(MEAN)), ("dnn", "dnn_readings"), "docs/private-networks.md"),
    Claim("networks, +5.29 %", "Appendix B.3", "On US Census a particularly notable gain of +5.29 % at ε = 0.25.", _enough(_gain(FIRST)), ("dnn", "dnn_readings"), "docs/private-networks.md"),
)  # fmt: skip
"""In the order of the paper."""
