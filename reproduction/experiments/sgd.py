"""Figure "BRR in SGD" (appendix B.2): accuracy on MNIST while training, under several budgets.

What the paper shows: test accuracy of BRR-SGD, Laplace DP-SGD and SGD without noise over iterations, at ε = 0.1, 0.3,
0.5, 0.7, 0.9 and 1; BRR ahead of Laplace by about 28 %, 21 % and 12 % at 0.3, 0.5 and 0.7.

What is done differently, and why:

- The paper's protocols are run as described, and every row says what they really spend (``protocols.py``): ε = ∞.
- Beside them stand sound ones. Central: L2 clipping with Gaussian noise ((ε, δ), accounted), L1 clipping with Laplace
  noise (pure ε). Local: everybody answers once, k of d coordinates, by padded BRR, Piecewise, Hybrid and Duchi.
- One grid for all: three learning rates of Adam (the paper's 0.001 among them) and two bounds, those of each norm. The
  choice is made on held-out pictures, as if they were public: **its cost is not in ε**. A row holds the chosen run.
- The paper's network has 26,010 parameters, hopeless for local reports at small ε; a softmax regression on 7 × 7 means
  (500 parameters) shows where they do learn.
- Test pictures are the 10,000 of the test part.

Measures: ``accuracy`` at each measured step; ``final``, the mean over the last 20 % of steps; ``stability``, the
standard deviation over these; ``convergence``, the first measured step with 90 % of final; ``held_out``, what the
choice was made with.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from itertools import product
from typing import Final

from bipartite.errors import InputError
from reproduction.experiments.printed import SGD_BUDGETS
from reproduction.runner.contract import Row, Rows, number, select
from reproduction.runner.intervals import MeanInterval

MEASURED_STEPS: Final = 40
"""About how many steps of a run are measured."""
MEASURES: Final = ("final", "stability", "convergence", "held_out")
"""What a run amounts to, beside its curve."""
_LAST: Final = 0.2
_CONVERGED: Final = 0.9
# The two bounds of the grid, in the norm that each mechanism clips.
_CLIPS: Final = {"central-gaussian": (0.3, 1.0), "central-laplace": (5.0, 20.0), "local": (0.01, 0.1)}
_RANGES: Final = {"paper-cnn": 1.0, "softmax": 5.0}  # a coordinate of few parameters is larger


@dataclass(frozen=True)
class Settings:
    """The full run: 530 cells."""

    data: str = "mnist"
    people: int = 50_000
    held_out: int = 10_000
    batch: int = 2048
    steps: int = 200
    seeds: int = 5
    delta: float = 1e-5
    points: int = 21
    learning_rates: tuple[float, ...] = (0.001, 0.01, 0.1)
    protocols: tuple[float, ...] = SGD_BUDGETS
    gaussian: tuple[float, ...] = (*SGD_BUDGETS, 3.0, 10.0)
    laplace: tuple[float, ...] = (0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0)
    local: tuple[float, ...] = (0.1, 1.0, 10.0, 100.0, 1000.0)
    networks: tuple[str, ...] = ("paper-cnn", "softmax")


QUICK: Final = Settings(
    people=4096,
    held_out=512,
    batch=256,
    steps=24,
    seeds=2,
    learning_rates=(0.01,),
    gaussian=(3.0,),
    laplace=(1000.0,),
    local=(10.0, 1000.0),
    networks=("softmax",),
)


@dataclass(frozen=True)
class Cell:
    """One mechanism, budget and seed, with the whole grid of settings to choose from."""

    data: str
    people: int
    held_out: int
    network: str
    mechanism: str
    epsilon: float
    """The budget; 0 for no privacy, which has none."""
    noise_multiplier: float
    """Of Gaussian noise, computed here so that a machine without the accountant can measure; 0 elsewhere."""
    delta: float
    batch: int
    steps: int
    points: int
    learning_rates: tuple[float, ...]
    clips: tuple[float, ...]
    seed: int

    @property
    def every(self) -> int:
        """Between one measured step and the next."""
        return max(1, self.steps // MEASURED_STEPS)


def cells(settings: Settings) -> tuple[Cell, ...]:
    """All parts of the run; needs ``dp_accounting`` for the noise of Gaussian mechanisms."""
    found = []
    for network in settings.networks:
        asked = [("none", 0.0)]
        asked += [("central-gaussian", each) for each in settings.gaussian]
        asked += [("central-laplace", each) for each in settings.laplace]
        asked += [
            (f"local-{name}", each) for each in settings.local for name in ("brr", "piecewise", "hybrid", "duchi")
        ]
        protocols = ("paper-brr", "paper-laplace", "paper-laplace-of-the-mean")
        asked += [(name, each) for each in settings.protocols for name in protocols]
        found += [(network, *each) for each in asked]
    # Seeds last, so that a run that is cut short has all curves, each less sure.
    return tuple(
        _cell(settings, network, mechanism, epsilon, seed)
        for seed in range(settings.seeds)
        for network, mechanism, epsilon in found
    )


def _cell(settings: Settings, network: str, mechanism: str, epsilon: float, seed: int) -> Cell:
    local = mechanism.startswith("local")
    clips = _CLIPS.get("local" if local else mechanism, (1.0,))
    multiplier = 0.0
    if mechanism == "central-gaussian":
        from bipartite.learn import Steps, gaussian_multiplier  # noqa: PLC0415 (needs an extra)

        schedule = Steps(settings.steps, min(1.0, settings.batch / settings.people))
        multiplier = gaussian_multiplier(epsilon, settings.delta, schedule)
    return Cell(
        data=settings.data,
        people=settings.people,
        held_out=settings.held_out,
        network=network,
        mechanism=mechanism,
        epsilon=epsilon,
        noise_multiplier=multiplier,
        delta=settings.delta if mechanism == "central-gaussian" else 0.0,
        batch=settings.batch,
        steps=settings.people // settings.batch if local else settings.steps,
        points=settings.points,
        learning_rates=settings.learning_rates,
        clips=tuple(each * _RANGES[network] for each in clips) if local else clips,
        seed=seed,
    )


def measure(cell: Cell) -> list[Row]:
    """Train with every setting of the grid, keep the best on held-out people, and say how it went."""
    from reproduction.experiments.sgd_training import load, trained  # noqa: PLC0415 (torch)

    data = load(cell.data, cell.people, cell.held_out)
    if len(data.train.features) < cell.people:
        raise InputError(
            f"Expected at most {len(data.train.features)} people beside those held out, got {cell.people}; use fewer."
        )
    grid = product(cell.learning_rates, cell.clips)
    runs = [(rate, clip, trained(cell, rate, clip, data)) for rate, clip in grid]
    rate, clip, outcome = max(runs, key=lambda run: run[2].held_out)
    last = outcome.accuracies[-max(2, round(_LAST * len(outcome.accuracies))) :]
    final = statistics.fmean(last)
    arrived = [step for step, each in zip(outcome.steps, outcome.accuracies, strict=True) if each >= _CONVERGED * final]
    measures = {
        "final": final,
        "stability": statistics.pstdev(last),
        "convergence": arrived[0] if arrived else cell.steps,
        "held_out": outcome.held_out,
    }
    about = about_of(cell) | {"learning_rate": rate, "clip": clip}
    rows = [about | {"measure": "accuracy", "step": step, "value": each}
            for step, each in zip(outcome.steps, outcome.accuracies, strict=True)]  # fmt: skip
    return rows + [about | {"measure": name, "step": cell.steps, "value": value} for name, value in measures.items()]


def about_of(cell: Cell) -> Row:
    """The columns that tell a cell from others, in every row of it."""
    spent, model = real_epsilon(cell)
    return {
        "network": cell.network,
        "mechanism": cell.mechanism,
        "epsilon": cell.epsilon,
        "spent": spent,
        "delta": cell.delta,
        "model": model,
        "seed": cell.seed,
    }


def real_epsilon(cell: Cell) -> tuple[str, str]:
    """What a cell really spends, as text, and the model of privacy under which it does."""
    if cell.mechanism == "none" or cell.mechanism.startswith("paper"):
        return "∞", "none"
    return f"{cell.epsilon:g}", "local" if cell.mechanism.startswith("local") else "central"


def summary(rows: Rows, network: str, mechanism: str, epsilon: float, measure: str) -> MeanInterval:
    """One measure of one mechanism at one budget."""
    found = select(rows, network=network, mechanism=mechanism, epsilon=epsilon, measure=measure)
    if not found:
        raise InputError(
            f"Expected rows of {mechanism} on {network} at ε={epsilon:g}, got none; measure these cells first."
        )
    return MeanInterval.of([number(row, "value") for row in found])


def draw(rows: Rows, *, extra: bool = True) -> dict[str, str]:
    """Accuracy against what is really spent, for each network; and while training, the paper's protocols."""
    from reproduction.experiments.sgd_pictures import pictures  # noqa: PLC0415 (where results are read)

    return pictures(rows, extra=extra)
