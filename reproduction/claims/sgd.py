"""Claims about SGD on MNIST: appendix B.2.

The paper does not say whether Laplace noise is added to the sum of a batch's gradients or to their mean: both ran.
Against the mean the rival learns nothing, so the shape of its curve says nothing: shapes are judged by the sum.
"""

from operator import sub
from typing import Any, Final

import numpy as np
import pandas as pd

from reproduction.claim import Claim, Edit, Verdict
from reproduction.experiments.printed import SGD_AHEAD
from reproduction.experiments.sgd import BRR
from reproduction.experiments.sgd_readings import FACTORS, at_best, rival
from reproduction.form import SEED
from reproduction.intervals import MeanInterval, Sure, brackets, enough, least_seeds, paired, together

_EVIDENCE: Final = "docs/private-sgd.md"
_NETWORK: Final = "paper-cnn"
_SUM: Final = rival(1)
_MEAN: Final = "paper-laplace-of-the-mean"
_SOUND: Final = {
    "central-gaussian": "Gaussian noise by a curator (with a δ)",
    "central-laplace": "Laplace noise by a curator",
    "local-brr": "BRR by each person",
}
_ALIKE: Final = 2.0
"""Accuracies count as equal, and a difference as reproduced, within two points."""
_NEAR: Final = 5.0
"""They are near one another within five."""
_STEPS: Final = 10.0
"""Ten steps of 200: a smaller difference in convergence is none of note."""
_SCRIPTED_RATE: Final = 0.001
"""The learning rate of the authors' scripts; the paper states none."""


def _of(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """A measure on the paper's network, or on the one that ran; accuracies in points."""
    network = _NETWORK if _NETWORK in set(rows["network"]) else rows["network"].iloc[0]
    of = rows.loc[(rows["network"] == network) & (rows["measure"] == measure), ["mechanism", "epsilon", SEED, "value"]]
    return of.assign(value=of["value"] * (1 if measure == "convergence" else 100))


def _ran(*tables: pd.DataFrame) -> dict[str, Any]:
    """Whether the paper's network ran at the paper's budgets often enough, and what is compared how."""
    complete = all(enough(of, network=[_NETWORK], epsilon=SGD_AHEAD) for of in tables)
    last = tables[0].loc[tables[0]["mechanism"] == BRR, "epsilon"].max()
    return {"enough": complete, "first": min(SGD_AHEAD), "last": last, "alike": _ALIKE, "near": _NEAR, "note": _STEPS}


def _gaps(rows: pd.DataFrame, against: str = _SUM) -> pd.DataFrame:
    """BRR-SGD minus a rival, by ε and seed."""
    return paired(rows, BRR, against, "value", sub)


def _log_ratios(rows: pd.DataFrame, against: str = _SUM) -> pd.DataFrame:
    """The logarithm of how many times as much a rival varies as BRR-SGD."""
    return paired(rows, BRR, against, "value", lambda ours, theirs: np.log(theirs / ours))


def _times(log_ratio: MeanInterval) -> str:
    mean, low, high = np.exp([log_ratio.mean, log_ratio.low, log_ratio.high])
    return f"{mean:.2g} ({low:.2g}–{high:.2g})"


def _spent(sgd: pd.DataFrame) -> dict[str, Any]:
    final, largest = _of(sgd, "final"), _ran(sgd)["last"]
    means = final[final["epsilon"] == largest].groupby("mechanism")["value"].mean()
    sound = ", ".join(f"{words} {means[name]:.0f} %" for name, words in _SOUND.items() if name in means)
    spent = sgd.loc[sgd["mechanism"].str.startswith("paper"), "spent"]
    return {"spent": ", ".join(sorted(spent.astype(str).unique())), "largest": largest, "sound": sound or "none ran"}


def _declines(sgd: pd.DataFrame) -> dict[str, Any]:
    final = _of(sgd, "final")
    final = final[final["mechanism"].isin([BRR, _SUM])]
    least, largest = final["epsilon"].min(), final["epsilon"].max()
    falls = together(paired(final, largest, least, "value", sub, by="epsilon"), "mechanism")
    means = final.groupby(["mechanism", "epsilon"])["value"].mean()
    return _ran(sgd) | {
        "brr": falls[BRR], "laplace": falls[_SUM], "least": least, "brackets": brackets(falls.values()),
        "ours": f"{means[BRR].min():.1f}–{means[BRR].max():.1f}",
        "theirs": f"{means[_SUM][least]:.1f} to {means[_SUM][largest]:.1f}",
    }  # fmt: skip


def _noise(sentences: pd.DataFrame) -> dict[str, Any]:
    of = sentences[sentences["what"] == "gradient noise"]
    noise = of.pivot(index="epsilon", columns="mechanism", values="noise")
    ours, mean, added = (noise[name] for name in ("BRR", "Laplace on the mean", "Laplace on the sum"))
    return {
        "shown": ", ".join(f"{name} {each.min():.2g} to {each.max():.2g}" for name, each in noise.items()),
        "sum_larger": (added > ours).all(), "mean_larger": (mean > ours).all(), "times": (ours / added).min(),
        "grows": added.max() / added.min(), "ours_grow": ours.max() / ours.min(),
    }  # fmt: skip


def _smoother(sgd: pd.DataFrame, sgd_readings: pd.DataFrame) -> dict[str, Any]:
    ratios = _log_ratios(_of(sgd, "stability"))
    found = together(ratios, "epsilon")
    sure = [at for at, each in found.items() if each.is_above]
    rest = ratios[~ratios["epsilon"].isin(sure)].groupby(SEED)["value"].mean()
    scripted = sgd_readings[sgd_readings["learning_rate"] == _SCRIPTED_RATE]
    rates = {f"rate {_SCRIPTED_RATE:g}": scripted, "best rate": at_best(sgd_readings, "stability")}
    readings = [
        f"noise × {times}, {words}"
        for times in FACTORS
        for words, rows in rates.items()
        if len(rows) and _everywhere(_log_ratios(_of(rows, "stability"), rival(times)))
    ]
    return _ran(sgd, sgd_readings) | {
        "sure": sure, "against": [at for at, each in found.items() if each.is_below], "of": len(found),
        "shown": ", ".join(f"{at:g}: {_times(each)}" for at, each in found.items()),
        "readings": readings, "tried": len(FACTORS) * len(rates), "under": "; ".join(readings) or "no reading",
        "where": ", ".join(f"{at:g}" for at in sure) or "none", "rest": _times(MeanInterval.of(rest)) if len(rest) else "",
    }  # fmt: skip


def _everywhere(log_ratios: pd.DataFrame) -> bool:
    found = together(log_ratios, "epsilon")
    return bool(found) and all(each.is_above for each in found.values())


def _later(sgd: pd.DataFrame) -> dict[str, Any]:
    found = together(_gaps(_of(sgd, "convergence")), "epsilon")
    return _ran(sgd) | {
        "sure": Sure.among(found.values()),
        "none": sum(not each.is_above and each.high < _STEPS for each in found.values()),
        "shown": ", ".join(f"{at:g}: {each:+.0f}" for at, each in found.items()),
    }  # fmt: skip


def _eventually(sgd: pd.DataFrame) -> dict[str, Any]:
    gaps, ran = _gaps(_of(sgd, "final")), _ran(sgd)
    gap = MeanInterval.of(gaps.loc[gaps["epsilon"] == ran["last"], "value"])
    return ran | {"gap": gap, "brackets": brackets([gap])}


def _narrows(sgd: pd.DataFrame) -> dict[str, Any]:
    ran, gaps = _ran(sgd), _gaps(_of(sgd, "final"))
    ends = gaps[gaps["epsilon"].isin([ran["first"], ran["last"]])]
    found = together(ends, "epsilon")
    sizes = ends.assign(value=ends["value"].abs())
    change = paired(sizes, ran["first"], ran["last"], "value", sub, by="epsilon")
    return ran | {"small": found[ran["first"]], "large": found[ran["last"]], "brackets": brackets(found.values()),
                  "change": MeanInterval.of(change["value"])}  # fmt: skip


def _without_noise(sgd: pd.DataFrame) -> dict[str, Any]:
    ran, final = _ran(sgd), _of(sgd, "final")
    here = final[(final["epsilon"] == ran["last"]) | (final["mechanism"] == "none")].drop(columns="epsilon")
    lost = [paired(here, name, "none", "value", sub).assign(mechanism=name) for name in (BRR, _SUM)]
    brr, laplace = (MeanInterval.of(each["value"], together=2) for each in lost)
    wrong = 100 - here.loc[here["mechanism"] == "none", "value"].mean()
    return ran | {"brr": brr, "laplace": laplace, "least": min(brr.low, laplace.low), "most": min(brr.high, laplace.high),
                  "brackets": brackets([brr, laplace]), "brr_wrong": 1 - brr.mean / wrong,
                  "laplace_wrong": 1 - laplace.mean / wrong}  # fmt: skip


def _ahead(sgd: pd.DataFrame, sgd_readings: pd.DataFrame) -> dict[str, Any]:
    """BRR-SGD minus its rival at the printed budgets: as the text has it, and under the readings."""
    printed = {at: 100 * gain for at, gain in SGD_AHEAD.items()}
    final, read = _of(sgd, "final"), _of(at_best(sgd_readings, "final"), "final")
    fitted = [times for times in FACTORS if times > 1]

    def ahead(rows: pd.DataFrame, against: str) -> dict[float, MeanInterval]:
        return together(_gaps(rows[rows["epsilon"].isin(printed)], against), "epsilon")

    text = [ahead(final, against) for against in (_SUM, _MEAN)]
    more = {times: ahead(read, rival(times)) for times in fitted}
    # That an interval has room for a number would be the likelier the less ran: the means have to be near.
    room = [times for times, of in more.items() if set(of) == set(printed)
            and all(each.is_above and abs(each.mean - printed[at]) <= _NEAR for at, each in of.items())]  # fmt: skip
    possible = any(all(each.low - _NEAR <= printed[at] <= each.high + _NEAR for at, each in of.items())
                   for of in more.values())  # fmt: skip
    told = room or fitted
    off = max(abs(each.mean - printed[at]) for times in told for at, each in more[times].items())
    left = [each.mean for times in told for each in ahead(read, rival(times, in_half=True)).values()]
    at_last = read[read["epsilon"] == read["epsilon"].max()]
    behind = [_gaps(at_last, rival(times))["value"].mean() for times in told]
    on_sum = text[0].values()
    return _ran(sgd, sgd_readings) | {
        "reproduced": any(set(of) == set(printed) and all(abs(each.mean - printed[at]) <= _ALIKE for at, each in of.items())
                          for of in text),
        "excluded": all(any(not each.low - _ALIKE <= printed[at] <= each.high + _ALIKE for at, each in of.items())
                        for of in text),
        "text": [", ".join(f"{each.mean:+.1f}" for each in of.values()) for of in text],
        "least": min(each.mean for each in on_sum), "most": max(each.mean for each in on_sum),
        "surely": all(each.is_above for each in on_sum), "room": room,
        "open": possible and not any(each.is_below for each in on_sum), "times": " or ".join(map(str, room)),
        "shown": "; ".join(f"{times} times: {', '.join(_points(each) for each in of.values())}"
                           for times, of in more.items()),
        "off": off, "behind": "–".join(f"{gap:.1f}" for gap in behind), "low": min(left), "high": max(left),
        "seeds": least_seeds(sgd_readings),
    }  # fmt: skip


def _points(gap: MeanInterval) -> str:
    return f"{gap.mean:+.1f} ({gap.low:.1f}–{gap.high:.1f})"


CLAIMS: Final = (
    Claim(
        key="SGD is private",
        where="Appendix B.2, Fig. 10",
        says="Differentially private SGD models with Laplace and BRR, under total privacy budgets of 0.1 to 1.",
        find=_spent,
        measured="ε that the paper’s protocols really spend, by their text: {spent}; what keeps ε = {largest:g} ends "
        "at: {sound}",
        rules={Verdict.HOLDS: "spent and '∞' not in spent"},
        expected=Verdict.FAILS,
        finding="ε = ∞: the sign of every coordinate is published, and private norms scale the noise",
        why="Choosing [−C, 0] or [0, C] publishes the sign of every coordinate, the adaptive bound comes from private "
        "norms, and ε is not composed over coordinates and steps. Sound variants stand beside it.",
        flip=Edit("sgd", "spent == '∞'", "spent", "epsilon", Verdict.HOLDS),
        evidence=_EVIDENCE,
    ),
    Claim(
        key="SGD, smaller ε",
        where="Appendix B.2, Fig. 10",
        says="With smaller privacy budgets the injected noise increases, and the accuracy declines.",
        find=_declines,
        measured="final accuracy in % at ε = {least:g} to {last:g}, by the paper’s protocol, which spends ε = ∞: "
        "BRR-SGD {ours}, Laplace on the sum {theirs}; at the largest minus at the least: BRR-SGD {brr:+.1f}, Laplace "
        "{laplace:+.1f} {brackets}",
        rules={
            Verdict.UNDECIDED: "not enough or not all(each.is_above or each.high <= alike for each in (brr, laplace))",
            Verdict.HOLDS: "brr.is_above and laplace.is_above",
            Verdict.PART: "brr.is_above or laplace.is_above",
        },
        expected=Verdict.PART,
        finding="so for Laplace; BRR-SGD ends equally high at every budget",
        why="So for Laplace on the sum. The noise of BRR-SGD grows by a fifth, but its accuracy does not decline: "
        "whatever ε is, it publishes the sign of every coordinate.",
        flip=Edit("sgd", "mechanism == 'paper-brr' and measure == 'final'", "value", "value * epsilon", Verdict.HOLDS),
        evidence=_EVIDENCE,
    ),
    Claim(
        key="SGD, larger noise",
        where="Appendix B.2",
        says="With small budgets the Laplace mechanism introduces larger noise magnitudes.",
        find=_noise,
        measured="noise of a coordinate near zero, root mean square in units of C, at the paper’s budgets, which spend "
        "ε = ∞: {shown}",
        rules={Verdict.HOLDS: "sum_larger and mean_larger", Verdict.READING: "mean_larger"},
        expected=Verdict.READING,
        finding="larger only on the mean of a batch, where nothing is learnt; on the sum at least {times:.0f} times smaller",
        why="Larger if added to the mean of a batch: then the rival learns nothing. Added to the sum, as in DP-SGD, "
        "whose procedure the paper follows, it is at least {times:.0f} times smaller than BRR’s, though it grows "
        "{grows:.0f} times towards small budgets, BRR’s {ours_grow:.1f} times. So smaller noise is not what makes "
        "BRR-SGD better.",
        flip=Edit("sentences", "what == 'gradient noise' and mechanism == 'Laplace on the mean'", "noise", "0"),
        evidence=_EVIDENCE,
    ),
    Claim(
        key="SGD, smoother",
        where="Appendix B.2",
        says="BRR is more stable: Laplace’s accuracy fluctuates.",
        find=_smoother,
        measured="deviation of accuracy over the last fifth of steps, Laplace’s over BRR-SGD’s (both spend ε = ∞), at "
        "ε = {shown} (intervals together); surely more, each by itself, in these of {tried} readings: {under}",
        rules={
            Verdict.UNDECIDED: "not enough or not (sure or against or readings)",
            Verdict.HOLDS: "len(sure) == of > 0",
            Verdict.READING: "readings",
            Verdict.PART: "sure and not against",
        },
        expected=Verdict.READING,
        finding="surely at ε = {where} by the text, everywhere with {under}",
        why="By the text surely so at ε = {where} only; at the other budgets together, looked at afterwards, Laplace "
        "varies {rest} times as much. At every budget it is so with {under}: factors fitted to the paper, 0.001 "
        "the learning rate of its scripts. All spend ε = ∞.",
        flip=Edit(
            "sgd_readings", "measure == 'stability' and mechanism != 'paper-brr'", "value", "0.001", Verdict.PART
        ),
        evidence=_EVIDENCE,
    ),
    Claim(
        key="SGD, slower",
        where="Appendix B.2",
        says="BRR converges more slowly.",
        find=_later,
        measured="steps to 90 % of the final accuracy, BRR-SGD minus Laplace on the sum, by the paper’s protocol, which "
        "spends ε = ∞, at ε = {shown} (95 % intervals together)",
        rules={
            Verdict.UNDECIDED: "not enough or not (sure.above or sure.below or 0 < none == sure.of)",
            Verdict.HOLDS: "sure.above == sure.of > 0",
            Verdict.PART: "sure.above and not sure.below",
        },
        expected=Verdict.UNDECIDED,
        why="No difference that could be told from chance. One of {note:g} steps more can be excluded at {none} of the "
        "{sure.of} budgets.",
        flip=Edit(
            "sgd", "mechanism == 'paper-brr' and measure == 'convergence'", "value", "value + 200", Verdict.HOLDS
        ),
        evidence=_EVIDENCE,
    ),
    Claim(
        key="SGD, eventually equal",
        where="Appendix B.2",
        says="BRR eventually reaches or surpasses the accuracy of Laplace.",
        find=_eventually,
        measured="final accuracy of BRR-SGD minus that of Laplace on the sum in points at ε = {last:g}, the largest "
        "budget, by the paper’s protocol, which spends ε = ∞: {gap:+.1f} {brackets}",
        rules={Verdict.UNDECIDED: "not enough or gap.low <= -alike <= gap.high", Verdict.HOLDS: "gap.low > -alike"},
        expected=Verdict.HOLDS,
        why="It reaches the rival, within two points, or surpasses it. Neither is private: BRR-SGD publishes the sign "
        "of every coordinate (see “SGD is private”).",
        flip=Edit("sgd", "mechanism == 'paper-brr' and measure == 'final'", "value", "value - 0.1"),
        evidence=_EVIDENCE,
    ),
    Claim(
        key="SGD, +28 %, +21 %, +12 %",
        where="Appendix B.2, Fig. 10",
        says="Accuracy improves by about 28 %, 21 % and 12 % at ε = 0.3, 0.5, 0.7.",
        find=_ahead,
        measured="points of final accuracy above Laplace, all spending ε = ∞: noise on the sum {text[0]}, on the mean "
        "{text[1]}; with more on the sum, {shown} (95 % intervals together, {seeds} seeds); the same in BRR’s range "
        "{low:+.1f} to {high:+.1f}",
        rules={
            Verdict.UNDECIDED: "not enough or not (reproduced or excluded)"
            " or not reproduced and open and not (room and surely)",
            Verdict.HOLDS: "reproduced",
            Verdict.READING: "room and surely",
        },
        expected=Verdict.READING,
        finding="ahead by {text[0]} points; by about the printed numbers with {times} times the noise",
        why="By the text surely ahead, by {least:.1f} to {most:.1f} points. Laplace noise of {times} times C/ε, a "
        "fitted factor, gives the printed numbers within {near:g} points, up to {off:.1f} off, but is "
        "{behind} behind at ε = {last:g}, where both should be equal. In BRR’s range, which publishes every sign, "
        "hardly any gain is left.",
        flip=Edit("sgd_readings", "measure == 'final' and mechanism != 'paper-brr'", "value", "value + 0.2"),
        evidence=_EVIDENCE,
    ),
    Claim(
        key="SGD, near no noise",
        where="Appendix B.2",
        says="At higher budgets the performance of both approximates a noise-free scenario.",
        find=_without_noise,
        measured="final accuracy minus that without noise in points at ε = {last:g}, by the paper’s protocol, which "
        "spends ε = ∞: BRR-SGD {brr:+.1f}, Laplace on the sum {laplace:+.1f} {brackets}",
        rules={
            Verdict.UNDECIDED: "not enough or least <= -near <= most",
            Verdict.HOLDS: "least > -alike",
            Verdict.PART: "least > -near",
        },
        expected=Verdict.PART,
        finding="within {near:g} points of it; BRR-SGD has {brr_wrong:.1f}, Laplace {laplace_wrong:.1f} times as many "
        "wrong answers",
        why="Near: both surely within {near:g} points of training without noise, but not both within {alike:g}; there "
        "are {brr_wrong:.1f} (BRR-SGD) and {laplace_wrong:.1f} (Laplace) times as many wrong answers.",
        flip=Edit("sgd", "mechanism == 'paper-laplace' and measure == 'final'", "value", "value - 0.1"),
        evidence=_EVIDENCE,
    ),
    Claim(
        key="SGD, the gap narrows",
        where="Appendix B.2",
        says="At higher budgets the gap in accuracy between the two narrows.",
        find=_narrows,
        measured="final accuracy of BRR-SGD minus that of Laplace on the sum in points, by the paper’s protocol, which "
        "spends ε = ∞: {small:+.1f} at ε = {first:g}, {large:+.1f} at ε = {last:g} {brackets}",
        rules={Verdict.UNDECIDED: "not enough or change.low <= 0 <= change.high", Verdict.HOLDS: "change.is_above"},
        expected=Verdict.HOLDS,
        why="The gap narrows, by {change:.1f} points (95 % interval).",
        flip=Edit("sgd", "mechanism == 'paper-brr' and measure == 'final' and epsilon == 1", "value", "value - 0.5"),
        evidence=_EVIDENCE,
    ),
)
