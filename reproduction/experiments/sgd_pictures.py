"""The pictures of the SGD experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reproduction import figures
from reproduction.experiments.printed import SGD_AHEAD
from reproduction.runner.contract import Rows, distinct, number, select
from reproduction.runner.intervals import MeanInterval, bars_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SOUND: Final[Mapping[str, str]] = {
    "central-gaussian": "Gaussian, central",
    "central-laplace": "Laplace, central",
    "local-brr": "BRR, padded",
    "local-piecewise": "Piecewise",
    "local-hybrid": "Hybrid",
    "local-duchi": "Duchi",
}
PROTOCOLS: Final[Mapping[str, str]] = {
    "paper-brr": "BRR-SGD as described",
    "paper-laplace": "Laplace on the sum, as described",
    "paper-laplace-of-the-mean": "Laplace on the mean",
}
NETWORKS: Final[Mapping[str, str]] = {
    "paper-cnn": "the paper's network, 26,010 parameters",
    "softmax": "softmax regression, 500 parameters",
}

_SHORT: Final = {"paper-cnn": "paper's network", "softmax": "softmax regression"}
_MOST_POINTS: Final = 10  # more intervals would cover the lines
_CHOSEN: Final = "Settings were chosen on held-out pictures, which ε does not cover."


def pictures(rows: Rows, *, extra: bool = True) -> dict[str, str]:
    """Final accuracy against ε for what is sound; accuracy while training for what the paper describes.

    Without ``extra`` only the paper's: its two protocols (the noise on the sum or on the mean: it does not say which)
    and no privacy.
    """
    found: dict[str, str] = {}
    networks = distinct(rows, "network")
    sound = [figures.Panel(NETWORKS.get(each, each), _by_budget(select(rows, network=each)), lowest=0, highest=1)
             for each in networks]  # fmt: skip
    seeds = bars_of({row["seed"] for row in rows})
    if extra and any(panel.lines for panel in sound):
        found["sgd_budgets"] = figures.panels(
            [panel for panel in sound if panel.lines],
            across="ε of one person",
            up="test accuracy",
            log_x=True,
            says="Test accuracy after private SGD against the ε of one person, central and local mechanisms.",
            notes=(
                "BRR, Piecewise, Hybrid and Duchi: local, everybody answers once.",
                seeds,
                _CHOSEN,
            ),
        )
    if ahead := [panel for each in networks if (panel := _ahead(select(rows, network=each), each))]:
        found["sgd_ahead"] = figures.panels(
            ahead,
            across="claimed ε",
            up="points of accuracy",
            says="Final test accuracy of BRR-SGD minus that of Laplace, by the paper's protocols; none is private.",
            notes=(
                "Final test accuracy of BRR-SGD minus the rival's, by the paper's protocols: none is private, ε = ∞.",
                seeds,
            ),
        )
    for network in networks:
        own = select(rows, network=network, measure="accuracy")
        budgets = sorted({number(row, "epsilon") for row in own if row["mechanism"] in PROTOCOLS})
        if budgets:
            drawn = [_protocols(own, str(network), each, extra=extra) for each in budgets]
            found[f"sgd_protocols_{network}"] = figures.panels(
                drawn,
                across="iterations",
                up="test accuracy",
                says="Test accuracy while training by the paper's protocols at claimed budgets; none is private.",
                notes=(
                    "BRR-SGD publishes the sign of every coordinate, and all protocols scale by private norms: ε = ∞.",
                    *_sound(drawn),
                    seeds,
                ),
            )  # fmt: skip
    return found


def _by_budget(rows: Rows) -> list[figures.Line]:
    finals = select(rows, measure="final")
    lines = []
    for mechanism, name in SOUND.items():
        own = select(finals, mechanism=mechanism)
        budgets = sorted({number(row, "epsilon") for row in own})
        if budgets:
            lines.append(_line(name, {each: select(own, epsilon=each) for each in budgets}))
    ends = [each for line in lines for each in line.x]
    plain = select(finals, mechanism="none")
    if plain and lines:
        level = MeanInterval.of([number(row, "value") for row in plain]).mean
        lines.append(figures.Line("no privacy", (min(ends), max(ends)), (level, level), marked=False))
    return lines


def _sound(drawn: Sequence[figures.Panel]) -> list[str]:
    name = SOUND["central-gaussian"]
    if not any(line.name == name for panel in drawn for line in panel.lines):
        return []
    return [f"{name}: one training keeps the ε of the panel (δ = 0.00001).", _CHOSEN]


def _ahead(rows: Rows, network: str) -> figures.Panel | None:
    """By how much BRR-SGD ends ahead of each reading of the rival; the paper's numbers are of its own network."""
    finals = select(rows, measure="final")
    budgets = sorted(distinct(select(finals, mechanism="paper-brr"), "epsilon"))
    lines = []
    for rival, name in PROTOCOLS.items():
        pairs = {
            at: (select(finals, mechanism="paper-brr", epsilon=at), select(finals, mechanism=rival, epsilon=at))
            for at in budgets
            if rival != "paper-brr"
        }
        line = figures.Line.of_pairs(f"BRR-SGD minus {name}", pairs, "value", _points, like=name)
        lines += [line] if line.x else []
    printed = [
        figures.Printed(100 * ahead, f"+{100 * ahead:g} %", at)
        for at, ahead in SGD_AHEAD.items()
        if network == "paper-cnn"
    ]
    title = f"{NETWORKS.get(network, network)}: BRR-SGD minus Laplace"
    return figures.Panel(title, lines, lowest=0, printed=printed) if lines else None


def _points(ours: float, theirs: float) -> float:
    return 100 * (ours - theirs)


def _protocols(rows: Rows, network: str, epsilon: float, *, extra: bool) -> figures.Panel:
    """One claimed budget."""
    lines = _while_training(rows, epsilon, extra=extra)
    title = f"{_SHORT.get(network, network)}, claimed ε = {epsilon:g}, spent ε = ∞"
    return figures.Panel(title, lines, lowest=0, highest=1)


def _while_training(rows: Rows, epsilon: float, *, extra: bool) -> list[figures.Line]:
    lines = []
    sound = {"central-gaussian": SOUND["central-gaussian"]} if extra else {}
    for mechanism, name in {**PROTOCOLS, **sound, "none": "no privacy"}.items():
        own = select(rows, mechanism=mechanism, epsilon=0.0 if mechanism == "none" else epsilon)
        steps = sorted({number(row, "step") for row in own})
        steps = steps[:: -max(1, len(steps) // _MOST_POINTS)][::-1]  # the last one among them
        if steps:
            lines.append(_line(name, {each: select(own, step=int(each)) for each in steps}))
    return lines


def _line(name: str, groups: Mapping[float, Rows]) -> figures.Line:
    means = {x: MeanInterval.of(number(row, "value") for row in group) for x, group in groups.items()}
    return figures.Line.of_means(name, means, (0.0, 1.0))
