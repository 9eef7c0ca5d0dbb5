"""SGD without a trusted curator: everybody sends one report, and only reports are seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import torch
from torch.func import functional_call, grad, vmap

from bipartite import BRR, Integers, estimate
from bipartite.errors import InputError
from bipartite.learn import Guarantee
from bipartite.lottery import Source, whole_numbers_below
from reproduction.learning.coordinates import CoordinateReports, Name, coordinates_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

_NOT_COVERED: Final = (
    "who takes part, and in which step",
    "a second fit with the same people, tuning too, spends ε again",
    "the clipping bound (unless it is a PrivateQuantile), batch, network and its first weights are public",
    "devices: gradients and reports of everybody are computed here; the promise is about reports made by each alone",
)
_WORDS: Final = 2**63
_MOST_EPSILON: Final = 20.0  # more would tell exponents no better
_BLOCK: Final = 256  # people whose gradients are in memory at a time


@dataclass(frozen=True)
class PrivateQuantile:
    """A clipping bound that is paid for: about a share ``quantile`` of all coordinates lies below it.

    ``people`` persons spend their whole ε on it and report no gradient, so that everybody still spends ε once. Each
    draws one coordinate and reports its binary exponent e, ``2^(e−1) ≤ |g| < 2^e``, held to the public range
    ``exponents`` ((−20, 4) is from a millionth to 16), by padded BRR. The bound is 2 to the estimated quantile of the
    exponents.
    """

    quantile: float = 0.95
    people: int = 1000
    exponents: tuple[int, int] = (-20, 4)

    def mechanism(self, epsilon: float) -> BRR:
        """What reports an exponent."""
        return BRR(Integers(*self.exponents), min(epsilon, _MOST_EPSILON), m="cdf", edges="padded")

    def report(self, values: NDArray[np.float64], epsilon: float, source: Source) -> NDArray[np.int64]:
        """The reports about one coordinate of each person; what is not finite counts as the largest."""
        low, high = self.exponents
        sizes = np.abs(np.asarray(values, dtype=np.float64))
        exponents = np.frexp(sizes)[1].astype(np.int64)
        exponents = np.where(sizes == 0, low, np.where(np.isfinite(sizes), exponents, high))
        found: NDArray[np.int64] = self.mechanism(epsilon).privatize(np.clip(exponents, low, high), rng=source)
        return found

    def bound(self, reports: NDArray[np.int64], epsilon: float) -> float:
        """The clipping bound from reports: within the public range, whatever they say."""
        found = float(estimate(self.mechanism(epsilon), reports).quantile(self.quantile))
        return float(2.0 ** min(max(round(found), self.exponents[0]), self.exponents[1]))


@dataclass(frozen=True)
class LocalSGD:
    r"""SGD on local reports: people are split into batches, and each person reports k coordinates of one gradient.

    ``epsilon`` is what one person spends, once, on features and label together; ``clip`` bounds each coordinate: a
    public number or a :class:`PrivateQuantile`. ``batch`` people answer each version of the network; who does not fill
    a last batch is not asked. ``coordinates`` is k; None is one for each 2.5 of ε, at least 1.

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
    coordinates: int | None = None
    points: int = 21

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
        wanted = coordinates_for(self.epsilon, size) if self.coordinates is None else self.coordinates
        return CoordinateReports(self.mechanism, self.epsilon, clip, size, wanted, self.points)

    def bound_of(self, asked: Asked, size: int, people: int, source: Source) -> float:
        """The clipping bound, from people who spend their ε on it."""
        assert isinstance(self.clip, PrivateQuantile)  # noqa: S101 (asked only then)
        values = asked.coordinates(whole_numbers_below(size, people, source)[:, None])[:, 0]
        return self.clip.bound(self.clip.report(values, self.epsilon, source), self.epsilon)

    def guarantee(self, size: int) -> Guarantee:
        """What training promises; refuses what cannot be reported, before anybody is asked."""
        self.reports(size, 1.0 if isinstance(self.clip, PrivateQuantile) else self.clip)
        return Guarantee("local", float("inf"), float(self.epsilon), 0.0, _NOT_COVERED)


class Asked:
    """The people of one batch: of each person's gradient they look up the coordinates that are asked for.

    Gradients are torch's own, in doubles. Their last bits may depend on who else is in the block, which local reports
    allow: people who compute them alone, on their devices, have no block.
    """

    def __init__(self, network: torch.nn.Module, loss: Loss, features: torch.Tensor, labels: torch.Tensor) -> None:
        self._network, self._loss = network, loss
        self._features, self._labels = features.double(), labels

    def coordinates(self, which: NDArray[np.int64]) -> NDArray[np.float64]:
        """Of each person's gradient the coordinates in that person's row."""
        weights = {name: each.detach().double() for name, each in self._network.named_parameters()}
        trained = {name: weights.pop(name) for name, each in self._network.named_parameters() if each.requires_grad}

        def of_one(trained: dict[str, torch.Tensor], features: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
            return self._loss(functional_call(self._network, {**weights, **trained}, (features[None],)), label[None])

        gradients = vmap(grad(of_one), in_dims=(None, 0, 0))
        found = []
        for first in range(0, len(which), _BLOCK):
            here = slice(first, first + _BLOCK)
            rows = gradients(trained, self._features[here], self._labels[here])
            every = torch.cat([each.flatten(1) for each in rows.values()], dim=1)
            found.append(every.gather(1, torch.from_numpy(which[here]).to(every.device)).cpu().numpy())
        return np.concatenate(found)
