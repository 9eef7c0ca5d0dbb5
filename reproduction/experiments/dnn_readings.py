"""Figure 11 read otherwise: what else appendix B.3 could have meant, and whether its numbers appear there.

The paper says that Laplace noise in DNN-DP (Wang, Gu, Ma, Jin 2020) is replaced by BRR "while keeping the rest of
DNN-DP unchanged", for a "total privacy budget" from 0.25 to 3.5: +3.22 % accuracy on average on Adult, +5.29 % at 0.25.
It says neither what of a record is perturbed nor how ε is shared. With ε for a whole row, in equal parts
(:mod:`~reproduction.experiments.dnn`), its numbers do not appear. Every other reading that was tried is here
(:mod:`~reproduction.experiments.dnn_reading_list`), those that do not give the numbers too, each with **what it really
spends** on a row: in the rows ``spends``, and ``noise_spends`` where importances are taken for public.

Each reading is run with BRR, with Laplace, and with Laplace clamped to BRR's range, all three on the same 21 points of
[0, 1] (the number of points is that of B.1 and B.2, B.3 states none). ``rescaled-laplace`` is min–max *after* the
noise: the scripts scale to [0, 1], and whoever does it last divides Laplace's inputs, and the clean test rows with
them, by the range of the noise; BRR and clamped Laplace fill [0, 1] anyway. It is free post-processing.

The network and the split are the paper's; labels are public; test rows are clean. Rows ``setting="paper"`` have 10
epochs; the paper also speaks of a "uniform hyperparameter optimization strategy", so rows ``setting="tuned"`` stop
after the epoch of the ten that is best on the rows taken for public. Mechanisms of one seed start from the same weights
and see rows in the same order, so that differences are paired.

Importance: Wang et al. give less noise to more important columns. Their paper is not here, and how they measure
importance is not in this one. Here it is the mutual information of a column, numbers on 21 points, with the label; no
column has less than a thousandth of all.

What was chosen by looking at results: mutual information, because of three measures (with absolute correlation and a
random forest's) it was best for the *rival* in a trial with one seed at ε = 3.5; and min–max after the noise and the
choice of an epoch, because one seed of the others had not given the paper's numbers. Tried with one seed and left:
importance of single coordinates, under which Laplace was no better than the majority class at ε = 0.25 nor, by mutual
information, at 3.5, and inputs that are standardised after the noise. So a reading that gave the two numbers would be
one of many.

How the network begins and how large its batches are decide how far it is spoilt by Laplace's far-away inputs in ten
epochs, and the paper has neither. So ε on every coordinate is also run with PyTorch's start and batches of 32, 100 and
512; that was looked for after the others had not given the numbers, because a prototype of ours that started so had.

``bounded`` is what the authors' scripts do in BRR's place: uniform noise of ±0.1 whatever ε is.
"""

from __future__ import annotations

import itertools
from decimal import Decimal
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from sklearn.metrics import mutual_info_score

from bipartite.domains import Interval
from bipartite.learn import PrivateColumns
from bipartite.lottery import insecure_seed
from bipartite.mechanisms import BRR, Laplace
from reproduction.experiments.dnn import AHEAD, TITLES, accuracy, chances_of, gain_panels, gains, measures, seed_of
from reproduction.experiments.dnn_data import DOMAINS, split
from reproduction.experiments.dnn_reading_list import BATCHES, READINGS, UNBOUNDED, cost_of, started_by_torch
from reproduction.experiments.protocols import with_bounded_noise
from reproduction.form import Grid
from reproduction.intervals import bars_of
from reproduction.learning.network_training import TrainingPlan, network_inputs, train_network
from reproduction.pictures import panels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from bipartite.lottery import Source
    from bipartite.mechanisms import Mechanism
    from reproduction.experiments.dnn_reading_list import Reading
    from reproduction.form import Row
    from reproduction.learning.network_training import Layer

    Floats = NDArray[np.float64]
    Inputs = tuple[NDArray[np.float32], NDArray[np.int64]]
    Layers = list[Layer]

SCRIPTED: Final = "weighted columns"
"""The reading whose Laplace is the rival of the scripts' bounded noise."""
BOUNDED: Final = "bounded"
RESCALED: Final = "rescaled-laplace"
MECHANISMS: Final = {
    "brr": "BRR",
    "laplace": "Laplace",
    "clamped-laplace": "Laplace, clamped",
    RESCALED: "Laplace, scaled to [0, 1] afterwards",
    BOUNDED: "±0.1 whatever ε is, as scripted",
}
MAKERS: Final[Mapping[str, Callable[[Any, Any], Mechanism]]] = {
    "brr": BRR,
    "laplace": Laplace,
    RESCALED: Laplace,
    "clamped-laplace": partial(Laplace, clamped=True),
}
POINTS: Final = 21
LEAST: Final = 0.001
"""No column has less than this part of all importance: without noise of a finite scale there is no report."""

_FIGURE: Final = (0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5)
_ENDS: Final = (0.25, 3.5)
_RUNS: Final = (
    ("adult", "coordinates", _FIGURE),
    ("adult", "weighted columns", _FIGURE),
    *(("adult", started_by_torch(batch), _FIGURE) for batch in BATCHES),
    ("bank", "coordinates", (0.25, 1.0, 3.5)),
    ("adult", "columns", _ENDS),
    ("adult", "weighted row", _ENDS),
    ("adult", "weighted row, public weights", _ENDS),
)
"""Data set, reading and the ε that it names: all of the paper's figure where its numbers could appear, else a few."""


def _grid(runs: Sequence[tuple[str, str, tuple[float, ...]]], seeds: int, rows: int | None) -> Grid:
    """Every mechanism of a reading; the scripts' noise, which has no ε, once a seed."""
    cases = []
    for dataset, reading, epsilons in runs:
        wanted = list(itertools.product(READINGS[reading].mechanisms, epsilons))
        wanted += [(BOUNDED, 0.0)] if reading == SCRIPTED else []
        cases += [(dataset, reading, *each) for each in wanted]
    return Grid({
        "seed": tuple(range(seeds)),
        ("dataset", "reading", "mechanism", "epsilon"): tuple(cases),
        "rows": (rows,),
        "epochs": (10,),
    })  # fmt: skip


FULL = _grid(_RUNS, 5, None)
QUICK = _grid(
    [(dataset, name, _ENDS) for dataset, name, _ in _RUNS if READINGS[name].batch == TrainingPlan.batch_size], 1, 1_000
)


class Loaded(NamedTuple):
    """A data set with what its networks read without noise, and the importance of its columns."""

    private: NDArray[Any]
    """Rows that nothing was done to."""
    inputs: NDArray[np.float32]
    labels: NDArray[np.int64]
    public: Inputs
    test: Inputs
    domains: Mapping[str, Any]
    importance: Mapping[str, Floats]
    """By the rows that it was measured on."""


@lru_cache(maxsize=2)
def loaded(dataset: str, rows: int | None) -> Loaded:
    """The paper's split, and its rows as inputs without noise."""
    parts = split(dataset, rows)
    about = list(DOMAINS[dataset].values())
    # Nothing is drawn: transform only checks and clips.
    columns = PrivateColumns(about, epsilon=1, points=POINTS, outside="clip", at_predict="pass").fit(parts.private[0])
    domains = {name: each.domain for name, each in columns.mechanisms_.items()}
    private, public, test = (
        (network_inputs(columns.transform(some), domains), labels)
        for some, labels in (parts.private, parts.public, parts.test)
    )
    importance = {
        "equal": np.ones(len(about)),
        "raw": importances(*parts.private, about),
        "public": importances(*parts.public, about),
    }
    return Loaded(parts.private[0], *private, public, test, domains, importance)


def importances(rows: NDArray[Any], labels: NDArray[np.int64], about: list[Any]) -> Floats:
    """Mutual information of every column with the label, with mean one, but for those raised to the least."""
    found = []
    for column, domain in zip(rows.T, about, strict=True):
        values = column
        if isinstance(domain, tuple):
            low, high = domain
            values = np.rint((np.clip(column.astype(np.float64), low, high) - low) / (high - low) * (POINTS - 1))
        found.append(mutual_info_score(labels, values.astype(str)))
    shares = np.maximum(np.array(found) / sum(found), LEAST)
    return np.asarray(shares / shares.mean())


def budgets(reading: Reading, epsilon: float, importance: Floats) -> Floats:
    """The ε of each column."""
    parts = epsilon * importance
    return parts / len(importance) if reading.shared == "row" else parts


def coordinates(dataset: str, reading: Reading, parts: Floats) -> Floats:
    """The ε of each coordinate, where a reading perturbs coordinates."""
    share = 1 if reading.one_hot == "whole" else 1 / 2
    return np.concatenate([
        [part] if isinstance(domain, tuple) else [part * share] * len(domain)
        for part, domain in zip(parts, DOMAINS[dataset].values(), strict=True)
    ])  # fmt: skip


def spent(dataset: str, reading: Reading, parts: Floats) -> float:
    """What a row spends, exactly, where another row may differ in every column: by composition over its columns.

    A number spends the ε of its column. A category moves two coordinates of a one-hot column, from 0 to 1 and from 1 to
    0, and each of the three mechanisms has reports that are e^ε times likelier at one end of [0, 1] than at the other.
    """
    moved = 2 if reading.one_hot == "whole" else 1
    domains = DOMAINS[dataset].values()
    each = [part * (1 if isinstance(domain, tuple) else moved) for part, domain in zip(parts, domains, strict=True)]
    return round(float(sum(each)), 12)


def measure(
    dataset: str, reading: str, mechanism: str, epsilon: float, seed: int, rows: int | None, epochs: int
) -> Iterator[Row]:
    """Three measures on clean test rows, with what the reading spends; ε is what it names, not what it spends."""
    # Another word in it would change every row.
    rng = insecure_seed(seed_of(f"Cell({dataset=}, {reading=}, {mechanism=}, {epsilon=}, {seed=}, {rows=}, {epochs=})"))
    data, how = loaded(dataset, rows), READINGS[reading]
    parts = budgets(how, epsilon, data.importance[how.weights])
    noise = UNBOUNDED if mechanism == BOUNDED else spent(dataset, how, parts)
    where: Row = {
        "dataset": dataset, "reading": reading, "mechanism": mechanism, "epsilon": epsilon,
        # Weights from raw rows are told to everybody who reports, and nothing hides them.
        "spends": UNBOUNDED if how.weights == "raw" else noise, "noise_spends": noise, "seed": seed,
    }  # fmt: skip
    public, test = data.public[0], data.test[0]
    inputs = reports_of(dataset, how, mechanism, epsilon, parts, data, rng).astype(public.dtype)
    if mechanism == RESCALED:
        low, high = inputs.min(axis=0), inputs.max(axis=0)
        inputs, public, test = ((each - low) / (high - low) for each in (inputs, public, test))
    layers = trained(how, inputs, data.labels, epochs, f"{dataset} {seed}")
    right = {epoch: accuracy(chances_of(each, public), data.public[1]) for epoch, each in layers.items()}
    plans = {"paper": epochs, "tuned": max(right, key=right.__getitem__)}  # the first of the best
    for setting, epoch in plans.items():
        for metric, value in measures(chances_of(layers[epoch], test), data.test[1]).items():
            yield where | {"setting": setting, "metric": metric, "value": value}


def reports_of(
    dataset: str, reading: Reading, mechanism: str, epsilon: float, parts: Floats, data: Loaded, rng: Source
) -> NDArray[Any]:
    """What the network is trained on."""
    if mechanism == BOUNDED:
        return with_bounded_noise(data.inputs.astype(np.float64), rng)
    if reading.shared == "row":
        columns = PrivateColumns(
            list(DOMAINS[dataset].values()),
            epsilon=Decimal(repr(epsilon)),
            numeric=mechanism,
            points=POINTS,
            split=dict(enumerate(data.importance[reading.weights].tolist())),
            outside="clip",
            rng=rng,
        )
        return network_inputs(columns.fit_transform(data.private), data.domains)
    return perturbed(data.inputs.astype(np.float64), coordinates(dataset, reading, parts), mechanism, rng)


def perturbed(inputs: Floats, parts: Floats, mechanism: str, rng: Source) -> Floats:
    """Every coordinate reported by a mechanism on points of [0, 1], with its own ε."""
    reports = np.empty_like(inputs)
    for part in np.unique(parts):
        alike = np.flatnonzero(parts == part)
        made = MAKERS[mechanism](Interval(0, 1, points=POINTS), float(part))
        drawn = made.privatize(inputs[:, alike].ravel(), rng=rng, outside="clip")
        reports[:, alike] = drawn.reshape(-1, len(alike))
    return reports


def trained(
    reading: Reading, inputs: NDArray[np.float32], labels: NDArray[np.int64], epochs: int, words: str
) -> dict[int, Layers]:
    """The network after every epoch; these words make the seed, the same for every reading, mechanism and ε."""
    plan = TrainingPlan(epochs=epochs, batch_size=reading.batch, device="cpu")
    seed = seed_of(words) >> 1
    if reading.start == "torch":
        return dict(enumerate(train_as_torch_does(inputs, labels, plan, seed), 1))
    return dict(enumerate(train_network(inputs, labels, 2, plan, seed=seed), 1))


def train_as_torch_does(
    inputs: NDArray[np.float32], labels: NDArray[np.int64], plan: TrainingPlan, seed: int
) -> list[Layers]:
    """The network of ``train_network``, begun by the defaults of ``torch.nn.Linear``.

    Weights and biases are uniform within ±1/√(inputs of the layer).
    """
    import torch  # noqa: PLC0415 (for these readings only)

    rows = torch.from_numpy(inputs)
    targets = torch.from_numpy(labels).to(rows.dtype)
    found = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        linear = [torch.nn.Linear(a, b) for a, b in itertools.pairwise((inputs.shape[1], *plan.hidden, 1))]
        network = torch.nn.Sequential(*[each for layer in linear for each in (layer, torch.nn.ReLU())][:-1])
        optimiser = torch.optim.Adam(network.parameters(), lr=plan.learning_rate, fused=True)
        for _ in range(plan.epochs):
            for batch in torch.randperm(len(rows)).split(plan.batch_size):  # type: ignore[no-untyped-call]
                loss = torch.nn.functional.binary_cross_entropy_with_logits(network(rows[batch])[:, 0], targets[batch])
                optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimiser.step()
            found.append(
                [(layer.weight.detach().numpy().T.copy(), layer.bias.detach().numpy().copy()) for layer in linear]
            )
    return found


_PLANS: Final = {
    "paper": "10 epochs, the paper's plan",
    "tuned": "The epoch of ten that is best on public rows is chosen",
}
_RIVALS: Final = {
    **AHEAD,
    RESCALED: "BRR minus Laplace scaled afterwards",
    "clamped-laplace": "BRR minus clamped Laplace",
}
_LIKE: Final = {_RIVALS[RESCALED]: "Laplace", _RIVALS["clamped-laplace"]: "Laplace, clamped"}


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """For either plan: accuracy against the ε that a reading names, and by how much BRR is ahead."""
    titles = {
        (dataset, reading): f"{TITLES[dataset]}, {READINGS[reading].words}: a row spends {cost_of(own)}"
        for (dataset, reading), own in rows.groupby(["dataset", "reading"], sort=False)
    }
    rows = rows.assign(
        line=rows["mechanism"].map(MECHANISMS),
        of=[titles[each] for each in zip(rows["dataset"], rows["reading"], strict=True)],
    )
    pictures: dict[str, str] = {}
    for setting, plan in _PLANS.items():
        own = rows[(rows["setting"] == setting) & (rows["metric"] == "accuracy")]
        across = "ε as the reading names it"
        under = f"under several readings of appendix B.3. {plan}."
        notes = [
            f"{plan}. ε is the number that a reading names; its panel says what a row really spends.",
            f"Labels are public. {bars_of(rows['seed'])}",
        ]
        pictures[f"dnn_readings_gains_{setting}"] = gain_panels(
            gains(own, _RIVALS), like=_LIKE, across=across, notes=notes,
            says=f"By how many points BRR is more accurate than Laplace, {under}",
        )  # fmt: skip
        pictures[f"dnn_readings_{setting}"] = panels(
            own, x="epsilon", y="value", hue="line", facet="of", flat=[MECHANISMS[BOUNDED]],
            like={MECHANISMS[BOUNDED]: "no privacy"}, within=(0, 1), share_y=False, across=across,
            up="accuracy on clean test rows", notes=[*notes, "Vertical axes do not begin at 0."],
            says=f"Accuracy of networks {under}",
        )  # fmt: skip
    return pictures
