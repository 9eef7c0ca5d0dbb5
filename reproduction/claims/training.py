"""Claims about SGD on MNIST, appendix B.2.

The paper does not say whether Laplace noise is added to the sum of a batch's gradients or to their mean: both readings
run. Against the mean the rival learns nothing, so the shape of its curve says nothing; shapes are judged by the sum.
"""

from __future__ import annotations

import itertools
import math
import statistics
from functools import partial
from operator import sub
from typing import TYPE_CHECKING, Final

from reproduction.claims.seeds import TOO_SMALL, brackets, by_seed, each_seed, enough, everywhere, jointly, paired
from reproduction.claims.verdict import Claim, Evidence, Judgement, Verdict
from reproduction.experiments import sgd_readings
from reproduction.experiments.printed import SGD_AHEAD
from reproduction.runner.contract import Rows, distinct, number, select
from reproduction.runner.intervals import MeanInterval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reproduction.claims.seeds import BySeed

_RIVALS: Final = {"paper-laplace": "Laplace on the sum", "paper-laplace-of-the-mean": "Laplace on the mean"}
_SOUND: Final = {
    "central-gaussian": "Gaussian noise by a curator (with a δ)",
    "central-laplace": "Laplace noise by a curator",
    "local-brr": "BRR by each person",
}
_SPENDS: Final = "both by the paper’s protocol, which spends ε = ∞"
_TOLERANCE: Final = 0.02
"""Accuracies count as equal, and a difference as reproduced, within two points."""
_STEPS: Final = 10.0
"""Ten steps of 200: a smaller difference in convergence is none of note."""
_SCRIPTED_RATE: Final = 0.001
"""The learning rate of the authors' scripts; the paper states none."""
_TIMES: Final = 1.25
"""A quarter more: what varies less than that more than another is no smoother, to speak of."""


def complete(rows: Rows) -> bool:
    """Whether the paper's network ran at the paper's budgets."""
    return bool(select(rows, network="paper-cnn")) and set(SGD_AHEAD) <= set(_budgets(rows))


_enough = partial(enough, "sgd", complete)


def _both(rows: Rows, measure: str, epsilon: float, rival: str, network: str = "paper-cnn") -> tuple[BySeed, BySeed]:
    """BRR-SGD and the rival, on this network, or on what ran."""
    network = network if select(rows, network=network, measure=measure) else str(distinct(rows, "network")[0])
    some = select(rows, network=network, measure=measure, epsilon=epsilon)
    return by_seed(select(some, mechanism="paper-brr")), by_seed(select(some, mechanism=rival))


def apart(rows: Rows, measure: str, epsilon: float, rival: str, network: str = "paper-cnn") -> MeanInterval | None:
    """BRR-SGD minus the rival, both by the paper's protocol; neither is private."""
    return paired(*_both(rows, measure, epsilon, rival, network), sub)


def _budgets(rows: Rows) -> list[float]:
    return sorted(float(each) for each in distinct(select(rows, mechanism="paper-brr"), "epsilon"))


def _rivals(rows: Rows) -> list[str]:
    return [name for name in _RIVALS if select(rows, mechanism=name)]


def _private(evidence: Evidence) -> Judgement:
    rows = [row for row in evidence["sgd"] if str(row["mechanism"]).startswith("paper")]
    spent = sorted({str(row["spent"]) for row in rows})
    measured = f"ε that the paper’s protocols really spend, by their text: {', '.join(spent)}{_sound(evidence['sgd'])}"
    if "∞" in spent:
        return Judgement(
            Verdict.FAILS, measured, "Choosing [−C, 0] or [0, C] publishes the sign of every coordinate, the adaptive bound comes from private norms, and ε is not composed over coordinates and steps. Sound variants stand beside it."
        )  # fmt: skip
    return Judgement(Verdict.HOLDS, measured, "The protocols spend what they state.")


def _sound(rows: Rows) -> str:
    """What variants that keep ε reach at the paper's largest budget, where they ran."""
    largest = _budgets(rows)[-1]
    finals = select(rows, network="paper-cnn", measure="final", epsilon=largest)
    said = [
        f"{words} {statistics.fmean(number(row, 'value') for row in some):.0%}"
        for name, words in _SOUND.items()
        if (some := select(finals, mechanism=name))
    ]
    return f"; what keeps ε = {largest:g} ends at: {', '.join(said)}" if said else ""


def _gain(evidence: Evidence) -> Judgement:
    rows = evidence["sgd"]
    rivals = _rivals(rows)
    found = jointly(
        {(epsilon, rival): _both(rows, "final", epsilon, rival) for rival in rivals for epsilon in SGD_AHEAD}, sub
    )
    if not found:
        return Judgement(Verdict.UNDECIDED, "nothing at ε = 0.3, 0.5, 0.7", TOO_SMALL)
    numbers = "; ".join(
        f"{_RIVALS[rival]}, ε = {epsilon:g}: {each.say('+.1%')}, the paper +{SGD_AHEAD[epsilon]:.0%}"
        for (epsilon, rival), each in found.items()
    )
    measured = f"final accuracy of BRR-SGD minus Laplace’s, in points, {_SPENDS}: {numbers} {brackets(found.values())}"
    near = [
        rival
        for rival in rivals
        if all(
            abs(each.mean - SGD_AHEAD[epsilon]) <= _TOLERANCE for (epsilon, of), each in found.items() if of == rival
        )
    ]
    if near:
        return Judgement(
            Verdict.HOLDS,
            measured,
            f"Reproduced within two points against {_RIVALS[near[0]]}; neither side is private.",
        )
    excluded = all(
        any(
            not each.low - _TOLERANCE <= SGD_AHEAD[epsilon] <= each.high + _TOLERANCE
            for (epsilon, of), each in found.items()
            if of == rival
        )
        for rival in rivals
    )
    if not excluded:
        return Judgement(Verdict.UNDECIDED, measured, "The intervals reach the paper’s numbers, the means do not.")
    by_text = [each for (_, rival), each in found.items() if rival == rivals[0]]
    sure = (
        f"Against {_RIVALS[rivals[0]]} BRR-SGD is surely ahead at all three, by {100 * min(each.mean for each in by_text):.1f} to "
        f"{100 * max(each.mean for each in by_text):.1f} points. "
    )
    return _read_otherwise(evidence["sgd_readings"], measured, sure if all(each.is_above for each in by_text) else "")


def _read_otherwise(rows: Rows, measured: str, sure: str) -> Judgement:
    """The same numbers under readings that the paper does not state: more noise, and noise in BRR's range.

    ``sure`` says what holds of the text itself.
    """
    fitted = [times for times in sgd_readings.FACTORS if times > 1]
    ahead = {
        (times, in_half): jointly(
            {epsilon: _under(rows, epsilon, sgd_readings.rival(times, in_half=in_half)) for epsilon in SGD_AHEAD}, sub
        )
        for times in sgd_readings.FACTORS
        for in_half in (False, True)
    }
    text = f"{sure}By neither reading of the text is BRR-SGD ahead by these numbers; neither side is private."
    if any(set(each) != set(SGD_AHEAD) for each in ahead.values()):
        return Judgement(Verdict.FAILS, measured, text)
    readings = "; ".join(
        f"{times} times the noise {_points(ahead[times, False])}, in BRR’s range {_points(ahead[times, True])}"
        for times in sgd_readings.FACTORS
    )
    measured += f". Read otherwise, at ε = {', '.join(f'{each:g}' for each in SGD_AHEAD)}: {readings}"
    off = {
        times: max(abs(ahead[times, False][at].mean - printed) for at, printed in SGD_AHEAD.items()) for times in fitted
    }
    near = min(off, key=lambda times: off[times])
    left = [each.mean for times in sgd_readings.FACTORS for each in ahead[times, True].values()]
    range_of_it = (
        "The factor was fitted to the paper, which states none. Clamped to BRR’s "
        f"range, the same noise is {100 * min(left):+.1f} to {100 * max(left):+.1f} points behind BRR: the range, which "
        "publishes every sign, makes the gain, not the mechanism. All of it spends ε = ∞."
    )
    split = f"{near} times C/ε, as if the rival alone split ε over so many epochs"
    if off[near] <= _TOLERANCE:
        return Judgement(
            Verdict.READING,
            measured,
            f"{sure}By the printed numbers, within two points, with Laplace noise of {split}. {range_of_it}",
        )
    room = [times for times in fitted if all(0 < ahead[times, False][at].low <= printed <= ahead[times, False][at].high for at, printed in SGD_AHEAD.items())]  # fmt: skip
    last = _budgets(rows)[-1]
    later = paired(*_under(rows, last, sgd_readings.rival(near)), sub)
    beyond = (
        f" At ε = {last:g} that rival is still {100 * later.mean:.1f} points behind BRR-SGD, where the paper has both equally high."
        if later and later.mean > 2 * _TOLERANCE else ""
    )  # fmt: skip
    if not room:
        return Judgement(
            Verdict.FAILS, measured, f"{text} Nearest is Laplace noise of {split}: up to {100 * off[near]:.1f} points off.{beyond} {range_of_it}"
        )  # fmt: skip
    where = " and ".join(
        f"{times} times C/ε ({', '.join(each.say('+.1%') for each in ahead[times, False].values())})" for times in room
    )
    return Judgement(
        Verdict.READING, measured, f"{sure}By the printed numbers, within intervals that lie above zero, with Laplace noise of {where}, as if the rival alone split ε over so many epochs; in the mean the nearest, {near} times, is up to {100 * off[near]:.1f} points off.{beyond} {range_of_it}"
    )  # fmt: skip


def _under(rows: Rows, epsilon: float, rival: str) -> tuple[BySeed, BySeed]:
    """BRR-SGD and a reading of its rival, each at its best learning rate; nothing where that did not run."""
    if not select(rows, mechanism=rival, epsilon=epsilon):
        return {}, {}
    ours, theirs = (by_seed(sgd_readings.finals(rows, name, epsilon)) for name in (sgd_readings.BRR, rival))
    return ours, theirs


def _points(found: Mapping[float, MeanInterval]) -> str:
    return " / ".join(f"{100 * each.mean:+.1f}" for each in found.values())


def _slower(evidence: Evidence) -> Judgement:
    rows = evidence["sgd"]
    rival = _rivals(rows)[0]
    found = jointly({f"ε = {each:g}": _both(rows, "convergence", each, rival) for each in _budgets(rows)}, sub)
    if not found:
        return Judgement(Verdict.UNDECIDED, "nothing", TOO_SMALL)
    numbers = "; ".join(f"{case}: {each.say('+.3g')}" for case, each in found.items())
    measured = f"convergence of BRR-SGD minus that of {_RIVALS[rival]}, {_SPENDS}: {numbers} {brackets(found.values())}{_idle(rows)}"
    return everywhere(found, _STEPS, measured, ("It converges later.", "It does not converge later."), "Slower")


def _smoother(evidence: Evidence) -> Judgement:
    """By how many times the rival's accuracy varies as much: deviations are compared by their ratio, in logarithms."""
    rows = evidence["sgd"]
    rival = _rivals(rows)[0]
    both = {f"ε = {each:g}": _both(rows, "stability", each, rival) for each in _budgets(rows)}
    found = jointly(both, lambda ours, theirs: math.log(theirs / ours))
    if not found:
        return Judgement(Verdict.UNDECIDED, "nothing", TOO_SMALL)
    varies = {case: [100 * statistics.fmean(each.values()) for each in both[case]] for case in found}
    numbers = "; ".join(
        f"{case}: {varies[case][0]:.2f} against {varies[case][1]:.2f} points, "
        f"{math.exp(each.mean):.2f} times ({math.exp(each.low):.2f} to {math.exp(each.high):.2f})"
        for case, each in found.items()
    )
    measured = (
        f"standard deviation of the accuracy over the last fifth of the steps, BRR-SGD against {_RIVALS[rival]}, and how many times as much the "
        f"latter varies, {_SPENDS}: {numbers} {brackets(found.values())}{_idle(rows)}"
    )
    said = everywhere(
        found, math.log(_TIMES), measured, ("Its accuracy varies less.", "Not smoother at every budget."), "Smoother"
    )
    if said.verdict != Verdict.CORRECTED:
        return said
    rest = [case for case in found if not found[case].is_above]
    most = max(each for case in rest for each in varies[case])
    together = MeanInterval.of(_mean_by_seed([each_seed(*both[case], lambda a, b: math.log(b / a)) for case in rest]))
    other = (
        f" Taken together, which was looked at afterwards, it is surely the other way round there: {_RIVALS[rival]} varies "
        f"{math.exp(together.mean):.2f} times as much ({math.exp(together.low):.2f} to {math.exp(together.high):.2f})."
        if together.is_below
        else ""
    )
    otherwise = _smoother_otherwise(evidence["sgd_readings"])
    words = "; ".join(
        f"{name}: {', '.join(f'{each:g}' for each in sure) or 'none'}" for name, sure in otherwise.items()
    )
    everywhere_so = [name for name, sure in otherwise.items() if len(sure) == len(found)]
    return Judgement(
        said.verdict,
        f"{measured}. Read otherwise, surely smoother at ε ({len(found)} intervals of a reading together): {words}",
        f"{said.why} There neither varies by more than {math.ceil(10 * most) / 10:.1f} points.{other}"
        + (
            f" Surely smoother at every budget under: {'; '.join(everywhere_so)}. The factors were fitted to the paper."
            if everywhere_so
            else ""
        ),
    )


def _smoother_otherwise(rows: Rows) -> dict[str, list[float]]:
    """The budgets at which BRR-SGD surely varies less than a reading of its rival; intervals of a reading together."""
    budgets = sorted(float(each) for each in distinct(rows, "epsilon"))

    def varies(mechanism: str, epsilon: float, *, scripted: bool) -> BySeed:
        some = select(rows, mechanism=mechanism, epsilon=epsilon)
        if scripted:
            return by_seed(select(some, measure="stability", learning_rate=_SCRIPTED_RATE))
        return by_seed(sgd_readings.at_best(some, "stability")) if some else {}

    found = {}
    for times, scripted in itertools.product(sgd_readings.FACTORS, (True, False)):
        ours, theirs = sgd_readings.BRR, sgd_readings.rival(times)
        gained = jointly(
            {at: (varies(ours, at, scripted=scripted), varies(theirs, at, scripted=scripted)) for at in budgets},
            lambda a, b: math.log(b / a),
        )
        rate = f"the scripts’ learning rate of {_SCRIPTED_RATE:g}" if scripted else "the best learning rates"
        found[f"{times} times the noise at {rate}"] = [at for at, each in gained.items() if each.is_above]
    return found


def _mean_by_seed(cases: Sequence[BySeed]) -> list[float]:
    """For every seed that all cases have: the mean over them."""
    return [statistics.fmean(of[seed] for of in cases) for seed in cases[0] if all(seed in of for of in cases)]


def _smaller_budgets(evidence: Evidence) -> Judgement:
    rows = evidence["sgd"]
    rival = _rivals(rows)[0]
    budgets = _budgets(rows)
    ends = {
        each: dict(zip(("BRR-SGD", _RIVALS[rival]), _both(rows, "final", each, rival), strict=True)) for each in budgets
    }
    found = jointly({name: (ends[budgets[-1]][name], ends[budgets[0]][name]) for name in ends[budgets[0]]}, sub)
    if not found:
        return Judgement(Verdict.UNDECIDED, "nothing", TOO_SMALL)
    means = "; ".join(
        f"{name} {', '.join(f'{statistics.fmean(ends[each][name].values()):.1%}' for each in budgets)}"
        for name in found
    )
    numbers = "; ".join(f"{name} {each.say('+.1%')}" for name, each in found.items())
    measured = (
        f"final accuracy at ε = {', '.join(f'{each:g}' for each in budgets)}, {_SPENDS}: {means}; at the largest minus at the least: "
        f"{numbers} {brackets(found.values())}"
    )
    if all(each.is_above for each in found.values()):
        return Judgement(Verdict.HOLDS, measured, "Both end lower with a smaller budget.")
    above = [name for name, each in found.items() if each.is_above]
    flat = [name for name, each in found.items() if not each.is_above and each.high < _TOLERANCE]
    if not above:
        return Judgement(
            Verdict.FAILS if flat else Verdict.UNDECIDED, measured, "Neither surely ends lower with a smaller budget."
        )
    if "BRR-SGD" in flat:
        return Judgement(
            Verdict.CORRECTED, measured, f"So for {above[0]}. BRR-SGD ends equally high at every budget; whatever ε is, it publishes the sign of every coordinate."
        )  # fmt: skip
    return Judgement(Verdict.CORRECTED, measured, f"Surely so for {', '.join(above)} only.")


def _idle(rows: Rows) -> str:
    """That the other reading of the rival learns nothing, where it ran beside the first one."""
    rivals = _rivals(rows)
    finals = [number(row, "value") for row in select(rows, mechanism=rivals[-1], measure="final", network="paper-cnn")]
    if len(rivals) < 2 or not finals:  # noqa: PLR2004
        return ""
    return f"; {_RIVALS[rivals[-1]]} ends at an accuracy of {statistics.fmean(finals):.0%}"


def _equal(evidence: Evidence) -> Judgement:
    rows = evidence["sgd"]
    rival = _rivals(rows)[0]
    largest = _budgets(rows)[-1]
    found = apart(rows, "final", largest, rival)
    if found is None:
        return Judgement(Verdict.UNDECIDED, "nothing", TOO_SMALL)
    measured = f"final accuracy of BRR-SGD minus that of {_RIVALS[rival]} at ε = {largest:g}, the largest budget, {_SPENDS}: {found.say('+.1%')} {brackets([found])}"
    if found.low > -_TOLERANCE:
        return Judgement(
            Verdict.HOLDS, measured, "It reaches the rival, within two points, or surpasses it. Neither is private: BRR-SGD publishes the sign of every coordinate (see “SGD is private”)."
        )  # fmt: skip
    if found.high < -_TOLERANCE:
        return Judgement(Verdict.FAILS, measured, "It stays more than two points below the rival.")
    return Judgement(Verdict.UNDECIDED, measured, "The interval reaches from below to above.")


def _narrows(evidence: Evidence) -> Judgement:
    rows = evidence["sgd"]
    rival = _rivals(rows)[0]
    first, last = min(SGD_AHEAD), _budgets(rows)[-1]
    small, large = (each_seed(*_both(rows, "final", each, rival), sub) for each in (first, last))
    change = paired(small, large, lambda a, b: abs(a) - abs(b))
    if change is None:
        return Judgement(Verdict.UNDECIDED, "nothing", TOO_SMALL)
    gaps = [MeanInterval.of(each.values(), 2) for each in (small, large)]
    measured = f"final accuracy of BRR-SGD minus that of {_RIVALS[rival]}, {_SPENDS}: {gaps[0].say('+.1%')} at ε = {first:g}, {gaps[1].say('+.1%')} at ε = {last:g} {brackets(gaps)}"
    return everywhere(
        {f"ε = {last:g}": change}, 0.0, measured, ("The gap narrows.", "The gap does not narrow."), "Narrower"
    )


CLAIMS: Final = (
    Claim("SGD is private", "Appendix B.2, Fig. 10", "Differentially private SGD models with Laplace and BRR, under total privacy budgets of 0.1 to 1.", _private, ("sgd",), "docs/private-sgd.md"),
    Claim("SGD, smaller ε", "Appendix B.2, Fig. 10", "With smaller privacy budgets the injected noise increases, and the accuracy declines.", _enough(_smaller_budgets), ("sgd",), "docs/private-sgd.md"),
    Claim("SGD, smoother", "Appendix B.2", "BRR is more stable: Laplace’s accuracy fluctuates.", _enough(_smoother), ("sgd", "sgd_readings"), "docs/private-sgd.md"),
    Claim("SGD, slower", "Appendix B.2", "BRR converges more slowly.", _enough(_slower), ("sgd",), "docs/private-sgd.md"),
    Claim("SGD, eventually equal", "Appendix B.2", "BRR eventually reaches or surpasses the accuracy of Laplace.", _enough(_equal), ("sgd",), "docs/private-sgd.md"),
    Claim("SGD, +28 %, +21 %, +12 %", "Appendix B.2, Fig. 10", "Accuracy improves by about 28 %, 21 % and 12 % at ε = 0.3, 0.5, 0.7.", _enough(_gain), ("sgd", "sgd_readings"), "docs/private-sgd.md"),
    Claim("SGD, the gap narrows", "Appendix B.2", "At higher budgets the gap in accuracy between the two narrows.", _enough(_narrows), ("sgd",), "docs/private-sgd.md"),
)  # fmt: skip
"""In the order of the paper."""
