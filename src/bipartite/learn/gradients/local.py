"""SGD without a trusted curator: everybody sends one report, and only reports are seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import torch

from bipartite.errors import InputError, Problems, is_one_of, shown
from bipartite.learn.gradients.checks import REFUSALS, positive, whole
from bipartite.learn.gradients.coordinates import NAMES, CoordinateReports, Name, coordinates_for
from bipartite.learn.gradients.magnitude import PrivateQuantile
from bipartite.learn.guarantee import Guarantee
from bipartite.lottery.uniform import whole_numbers_below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bipartite.learn.gradients.per_example import PerExample
    from bipartite.lottery import Source

_NOT_COVERED: Final = (
    "who takes part, and in which step",
    "a second fit with the same people, tuning too, spends ε again",
    "the clipping bound (unless it is a PrivateQuantile), batch, network and its first weights are public",
    REFUSALS,
    (
        "devices: fit computes everybody's gradients and reports in one place; the promise is about reports made by "
        "each person on their own"
    ),
)
_WORDS: Final = 2**63


@dataclass(frozen=True)
class LocalSGD:
    r"""SGD on local reports: people are split into batches, and each person reports k coordinates of one gradient.

    Parameters
    ----------
    epsilon
        What one person spends, once: on features and label together.
    clip
        The bound on each coordinate: a public number, or a :class:`PrivateQuantile`, for which some people spend their
        ε and report no gradient.
    batch
        How many people answer each version of the network; people who do not fill a last batch are not asked.
    mechanism
        ``"brr"`` (padded, its bias taken out), ``"piecewise"``, ``"hybrid"`` or ``"duchi"``: each coordinate's report,
        drawn exactly from whole-number tickets.
    coordinates
        k, or ``"auto"``: one for each 2.5 of ε, at least 1.
    points
        The nodes of [−clip, clip].

    Guarantee
    ---------
    ε-LDP for everybody: k reports of ε/k each, about a choice of coordinates that does not look at the data.

    Notes
    -----
    The estimate of a coordinate of n people's mean gradient is unbiased (of the clipped gradients) and has variance
    Σ_i[(d/k)(v(g_i) + g_i²) − g_i²]/n²: it grows with d, and at k = 1 like 1/ε², which is why this learns small models
    from many people and large networks hardly at all.
    """

    epsilon: float
    clip: float | PrivateQuantile
    batch: int
    mechanism: Name = "brr"
    coordinates: int | Literal["auto"] = "auto"
    points: int = 21

    def __post_init__(self) -> None:
        problems = Problems()
        positive("epsilon", self.epsilon, problems)
        if not isinstance(self.clip, PrivateQuantile):
            positive("clip", self.clip, problems, hint="a public bound on one coordinate, or a PrivateQuantile")
        whole("batch", self.batch, problems, hint="a few thousand are usual")
        whole("points", self.points, problems, hint="21 is the paper's choice", least=2)
        if self.coordinates != "auto":
            whole("coordinates", self.coordinates, problems, hint="or 'auto'")
        if not is_one_of(self.mechanism, NAMES):
            problems.add(f"Expected mechanism as one of {', '.join(NAMES)}, got {shown(self.mechanism)}.")
        problems.raise_if_any(InputError)

    def batches(self, people: int, source: Source) -> Iterator[NDArray[np.int64]]:
        """Everybody at most once, in an order drawn without looking at the data; the first batch may set the bound."""
        order = np.argsort(whole_numbers_below(_WORDS, people, source), kind="stable")
        first = self.clip.people if isinstance(self.clip, PrivateQuantile) else 0
        if people < first + self.batch:
            raise InputError(
                f"Expected at least {first + self.batch} people for one batch, got {people}; use a smaller batch."
            )
        if first:
            yield order[:first]
        for start in range(first, people - self.batch + 1, self.batch):
            yield order[start : start + self.batch]

    def reports(self, size: int, clip: float) -> CoordinateReports:
        """Both halves of the protocol, for a network of ``size`` parameters."""
        wanted = coordinates_for(self.epsilon, size) if self.coordinates == "auto" else self.coordinates
        return CoordinateReports(self.mechanism, self.epsilon, clip, size, wanted, self.points)

    def bound(self, gradients: PerExample, features: torch.Tensor, labels: torch.Tensor, source: Source) -> float:
        """The clipping bound, from people who spend their ε on it."""
        assert isinstance(self.clip, PrivateQuantile)  # noqa: S101 (asked only then)
        which = whole_numbers_below(gradients.size, len(features), source)
        values = _picked(gradients, features, labels, which[:, None])
        return self.clip.bound(self.clip.report(values[:, 0], self.epsilon, source), self.epsilon)

    def estimated(
        self,
        reports: CoordinateReports,
        gradients: PerExample,
        features: torch.Tensor,
        labels: torch.Tensor,
        source: Source,
    ) -> torch.Tensor:
        """The mean gradient of a batch, from one report of each of its people."""
        starts = reports.starts(len(features), source)
        values = _picked(gradients, features, labels, reports.chosen(starts))
        return torch.from_numpy(reports.totals(starts, reports.report(values, source)) / len(features))

    def guarantee(self, size: int) -> Guarantee:
        """What training promises."""
        # Refuses what cannot be reported, before anybody is asked; with any bound.
        self.reports(size, 1.0 if isinstance(self.clip, PrivateQuantile) else self.clip)
        return Guarantee("local", float("inf"), float(self.epsilon), 0.0, _NOT_COVERED)


def _picked(
    gradients: PerExample, features: torch.Tensor, labels: torch.Tensor, which: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Of each person's gradient the coordinates in that person's row."""
    found = []
    first = 0
    for block in gradients.blocks(features, labels):
        rows = torch.from_numpy(which[first : first + len(block)]).to(block.device)
        found.append(block.gather(1, rows).double().cpu().numpy())
        first += len(block)
    return np.concatenate(found)
