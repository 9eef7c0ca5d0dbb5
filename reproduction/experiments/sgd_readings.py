"""The SGD of appendix B.2 under readings that the paper does not state.

As its text has it, BRR-SGD is not ahead of Laplace noise by the printed 28, 21 and 12 points
(:mod:`~reproduction.experiments.sgd`). It is when the rival's noise is four or five times C_t/ε: somebody who splits a
"total privacy budget" over that many epochs would add so much, and compare it with BRR at the whole ε. **The factor was
fitted to the paper's numbers**: no sentence of it has one, and 200 steps are more than eight epochs.

Beside every reading stands the line that decides what made the difference: the same Laplace noise, clamped to the half
of [−C_t, C_t] in which the coordinate lies, which is BRR-SGD's range. Whoever clamps so publishes every sign, as
BRR-SGD does. No protocol here keeps an ε: C_t comes from private norms.

One network (the paper's), one batch, 200 steps. Each learning rate has rows of its own, so that "the rate 0.01 for all"
and "each with the rate that is best on held-out pictures" can both be read from them.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reproduction.experiments import sgd
from reproduction.experiments.printed import SGD_AHEAD, SGD_BUDGETS
from reproduction.experiments.sgd import Cell
from reproduction.figures import Line, Panel, panels
from reproduction.runner.contract import Row, Rows, distinct, number, select
from reproduction.runner.intervals import MeanInterval, bars_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reproduction.claims.seeds import BySeed

BRR: Final = "paper-brr"
FACTORS: Final = (1, 4, 5)
"""How many times C_t/ε; 1 is the text's."""
RATE: Final = 0.01
"""The learning rate at which readings are compared where one rate is used for all."""


def rival(times: int, *, in_half: bool = False) -> str:
    """The name of a reading of the rival."""
    return f"paper-laplace{f'-x{times}' if times > 1 else ''}{'-in-half' if in_half else ''}"


RIVALS: Final[Mapping[str, str]] = {
    rival(times, in_half=in_half): f"Laplace{f' × {times}' if times > 1 else ''}{', in BRR’s range' if in_half else ''}"
    for in_half in (False, True)
    for times in FACTORS
}
"""The readings of the rival, and what a picture calls them."""


@dataclass(frozen=True)
class Settings:
    """The full run: 630 cells."""

    data: str = "mnist"
    people: int = 50_000
    held_out: int = 10_000
    batch: int = 2048
    steps: int = 200
    seeds: int = 5
    learning_rates: tuple[float, ...] = (RATE, 0.001, 0.1)
    epsilons: tuple[float, ...] = SGD_BUDGETS
    network: str = "paper-cnn"


QUICK: Final = Settings(
    people=4096,
    held_out=512,
    batch=256,
    steps=24,
    seeds=2,
    learning_rates=(RATE,),
    epsilons=(0.3,),
    network="softmax",
)


def cells(settings: Settings) -> tuple[Cell, ...]:
    """BRR-SGD and every reading of its rival, at every budget, for every learning rate and seed."""
    return tuple(
        Cell(
            data=settings.data,
            people=settings.people,
            held_out=settings.held_out,
            network=settings.network,
            mechanism=mechanism,
            epsilon=epsilon,
            noise_multiplier=0.0,
            delta=0.0,
            batch=settings.batch,
            steps=settings.steps,
            points=sgd.Settings().points,
            learning_rates=(rate,),
            clips=(1.0,),
            seed=seed,
        )
        for rate in settings.learning_rates
        for seed in range(settings.seeds)
        for epsilon in settings.epsilons
        for mechanism in (BRR, *RIVALS)
    )


def measure(cell: Cell) -> list[Row]:
    """What a training amounts to; the curve is not kept."""
    return [row for row in sgd.measure(cell) if row["measure"] != "accuracy"]


def finals(rows: Rows, mechanism: str, epsilon: float, rate: float | None = RATE) -> BySeed:
    """Final accuracy by seed, at one learning rate; where it is None at the one that is best on held-out pictures.

    The best rate is that of the mean over seeds, one for a mechanism and budget.
    """
    own = select(rows, mechanism=mechanism, epsilon=epsilon)
    if rate is None:
        held = select(own, measure="held_out")
        rate = max(
            distinct(held, "learning_rate"),
            key=lambda each: statistics.fmean(number(row, "value") for row in select(held, learning_rate=each)),
        )
    return {int(row["seed"]): number(row, "value") for row in select(own, measure="final", learning_rate=rate)}


def draw(rows: Rows, *, extra: bool = True) -> dict[str, str]:
    """By how much BRR-SGD is ahead of each reading of its rival; without ``extra`` not those in its own range."""
    shown = {name: said for name, said in RIVALS.items() if extra or not name.endswith("-in-half")}
    (network,) = distinct(rows, "network")
    rates = (RATE, None) if len(distinct(rows, "learning_rate")) > 1 else (RATE,)
    return {
        "sgd_readings": panels(
            [Panel(f"{_NETWORKS.get(network, network)}, {_said(rate)}", _lines(rows, shown, rate)) for rate in rates],
            across="ε as claimed; what is spent is ∞",
            up="points ahead",
            says="By how many points of accuracy BRR-SGD is ahead of Laplace noise under several readings, against ε.",
            notes=(
                "× 4 and × 5 were fitted to the paper’s numbers; it states no factor.",
                "In BRR’s range: clamped to the half of [−C, C] in which the coordinate lies.",
                bars_of({row["seed"] for row in rows}),
            ),
        )
    }


_NETWORKS: Final = {"paper-cnn": "MNIST, the paper’s network", "softmax": "MNIST, softmax regression"}


def _said(rate: float | None) -> str:
    return "each at its best rate" if rate is None else f"learning rate {rate:g}"


def _lines(rows: Rows, shown: Mapping[str, str], rate: float | None) -> list[Line]:
    epsilons = sorted(float(each) for each in distinct(rows, "epsilon"))
    drawn = []
    for name, said in shown.items():
        ahead = {}
        for epsilon in epsilons:
            ours, theirs = finals(rows, BRR, epsilon, rate), finals(rows, name, epsilon, rate)
            ahead[epsilon] = MeanInterval.of(100 * (ours[seed] - theirs[seed]) for seed in sorted(ours))
        drawn.append(Line.of_means(f"ahead of {said}", ahead))
    printed = {epsilon: 100 * SGD_AHEAD[epsilon] for epsilon in epsilons if epsilon in SGD_AHEAD}
    return [*drawn, Line("the paper", list(printed), list(printed.values()), joined=False)]
