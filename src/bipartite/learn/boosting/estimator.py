"""What regressor and classifier share: parameters, reading tables, scikit-learn's protocol."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bipartite.learn.boosting.grids import grid_of
from bipartite.learn.boosting.model import boost, scores_of
from bipartite.learn.boosting.settings import Settings, settings_of
from bipartite.learn.boosting.stages import stages_of
from bipartite.learn.boosting.trees import Growth
from bipartite.learn.fitting import as_it_was, check_numbers
from bipartite.learn.scikit import CountedFits, validated
from bipartite.lottery.words import draw_from

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from bipartite.domains import Outside
    from bipartite.learn.boosting.trees import Tree
    from bipartite.learn.guarantee import Guarantee
    from bipartite.lottery import Source, Stream

    Pair = tuple[float, float]
    Grown = Callable[[NDArray[np.uint8], NDArray[np.int64], Stream], list[Tree]]


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateBoosting(CountedFits):
    """The common part of :class:`PrivateBoostingRegressor` and :class:`PrivateBoostingClassifier`."""

    epsilon: object = 1.0
    feature_range: Pair | Sequence[Pair] | Mapping[str, Pair] | NDArray[np.float64] | None = None
    trees: int | None = None
    depth: int = 2
    learning_rate: float = 1.0
    bins: int | Sequence[int] | Mapping[str, int] = 32
    outside: Outside = "error"
    gradient_clip: float = 1.4
    rng: Source | None = None
    progress: Callable[[int], None] | None = None

    def fit(self, X: object, y: object) -> Self:  # noqa: N803
        """Learn from records X with targets or classes y, and spend ε; a failed fit changes nothing."""
        with as_it_was(self):
            settings = settings_of(self.get_params(deep=False))
            values, labels = self._read(X, y)
            self.guarantee_ = self._learn(values, labels, settings)
        if self.guarantee_.is_private:
            self._count_fit()
        return self

    def _read(self, X: object, y: object) -> tuple[NDArray[np.float64], Any]:  # noqa: N803
        """Records and labels as arrays."""
        raise NotImplementedError

    def _learn(self, values: NDArray[np.float64], labels: NDArray[Any], settings: Settings) -> Guarantee:
        """Fit the trees to these labels; returns what the model promises."""
        raise NotImplementedError

    def _boost(self, values: NDArray[np.float64], labels: list[NDArray[np.int64]], settings: Settings) -> None:
        """Fit one model to each list of labels, in units; they share ε."""
        grid = grid_of(self.feature_range, self.bins, values.shape[1], getattr(self, "feature_names_in_", None))
        bins = grid.encode(values, self.outside)
        growth = Growth(grid, settings.depth, settings.eta, settings.clip)
        grown = self._grown(growth, settings, Fraction(settings.epsilon.value) / len(labels))
        self.trees_ = draw_from(
            settings.source, len(values), lambda stream: tuple(tuple(grown(bins, each, stream)) for each in labels)
        )
        self.grid_ = grid

    def _grown(self, growth: Growth, settings: Settings, epsilon: Fraction) -> Grown:
        """How the trees of one model are grown, with this part of ε."""
        return functools.partial(boost, stages_of(growth, settings.trees, epsilon), progress=self.progress)

    def _scores(self, X: object) -> list[NDArray[np.int64]]:  # noqa: N803
        """The sum of each model's trees for every record."""
        check_is_fitted(self)
        check_numbers(X)
        values = validated(self, X, reset=False, dtype=np.float64)
        bins = self.grid_.encode(values, self.outside)
        return [scores_of(trees, bins) for trees in self.trees_]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "trees_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags
