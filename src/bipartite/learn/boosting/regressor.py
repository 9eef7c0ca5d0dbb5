"""Regression by private boosting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import assert_all_finite

from bipartite.errors import InputError, OutsideDomainError, Problems
from bipartite.learn.boosting.estimator import PrivateBoosting
from bipartite.learn.boosting.grids import ranges_of
from bipartite.learn.boosting.leaves import UNIT
from bipartite.learn.boosting.promise import promise
from bipartite.learn.fitting import check_numbers, without_values
from bipartite.learn.scikit import RegressorMixin, config_context, validated

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from bipartite.learn.boosting.estimator import Pair
    from bipartite.learn.boosting.settings import Settings
    from bipartite.learn.guarantee import Guarantee

_ADVICE = "pass public limits of the target such as target_range=(0, 100); never take them from the data"


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateBoostingRegressor(RegressorMixin, PrivateBoosting):
    r"""Gradient-boosted trees that reveal little about any one training record.

    First the mean of the target is released, then a few shallow trees. They are complete and cut at points of a public
    grid chosen by the exponential mechanism (three fifths of ε); of both sides of every cut, empty ones too, the sum of
    the gradients and the number of records are released with discrete Laplace noise (two fifths). Gradients, gains and
    sums are whole numbers, and all draws are exact.

    Parameters
    ----------
    epsilon
        The privacy budget of one fit.
    feature_range
        Public (low, high) of all features, or one pair for each: in the order of the columns, or by name as
        ``{"age": (18, 90), …}`` where X is a data frame. Required; never take it from the data.
    target_range
        Public (low, high) of the target. Required. Predictions stay within it.
    trees, depth
        The number of trees, which share ε, and of cuts on the way to a leaf. None: 3 + ⌈5ε/2⌉ trees, at most 100.
    learning_rate
        What a tree's values are multiplied by.
    gradient_clip
        Gradients beyond this, in halves of the target's range, are clipped to it. A smaller one means less noise, and
        predictions nearer to the median than to the mean where residuals are large.
    bins
        Equal parts of a feature's range, between which trees may cut; one number, or one for each feature, in order or
        by name.
    outside
        ``"error"`` refuses values outside the ranges, ``"clip"`` moves them to the nearest end.
    rng
        None for secure words; ``bp.insecure_seed(…)`` for experiments that must be repeated.
    progress
        Called with 1 after every tree.

    Attributes
    ----------
    guarantee_
        What the fitted model promises, and what it does not.
    trees_, grid_
        All that was learned: the mean, as a tree without cuts, and trees of whole numbers on public bins.

    Guarantee
    ---------
    ε-differential privacy (central) for data sets that differ by one record added or removed, 2ε for one replaced;
    the proof is in ``docs/private-boosting``.

    Examples
    --------
    >>> import numpy as np
    >>> from bipartite import insecure_seed
    >>> X = np.arange(2000).reshape(-1, 1) % 100
    >>> model = PrivateBoostingRegressor(
    ...     epsilon=2, feature_range=(0, 100), target_range=(0, 1), rng=insecure_seed(1)
    ... )
    >>> low, high = model.fit(X, X[:, 0] >= 50).predict([[10], [90]])
    >>> bool(low < 0.3 < 0.7 < high)
    True
    """

    target_range: Pair | None = None
    gradient_clip: float = 0.2

    def predict(self, X: object) -> NDArray[np.float64]:  # noqa: N803
        """The predicted target of every record."""
        (scores,) = self._scores(X)
        return self._targets(np.clip(scores, -UNIT, UNIT))

    def _targets(self, scores: NDArray[np.int64]) -> NDArray[np.float64]:
        low, high = self.target_range_
        half = (high - low) / 2
        predicted: NDArray[np.float64] = low + half + scores / UNIT * half
        return predicted

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # The noise of any useful ε hides what the hundred records of a check could teach.
        tags.regressor_tags.poor_score = True
        return tags

    def _read(self, X: object, y: object) -> tuple[NDArray[np.float64], Any]:  # noqa: N803
        check_numbers(X, y)
        values, given = validated(self, X, y, dtype=np.float64, y_numeric=True)
        targets = without_values(lambda: np.asarray(given, dtype=np.float64))
        # Checked as numbers: scikit-learn lets None and the text "nan" pass, and a label that is NaN has no bound.
        with config_context(assume_finite=False):
            without_values(lambda: assert_all_finite(targets, input_name="y"))
        return values, targets

    def _learn(self, values: NDArray[np.float64], targets: NDArray[np.float64], settings: Settings) -> Guarantee:
        problems = Problems()
        lows, highs = ranges_of("target_range", self.target_range, 1, problems, _ADVICE)
        problems.raise_if_any(InputError)
        low, high = float(lows[0]), float(highs[0])
        if self.outside == "error" and ((targets < low) | (targets > high)).any():
            raise OutsideDomainError(
                "Expected every target within target_range; use outside='clip', or state a wider public range."
            )
        shares = (np.clip(targets, low, high) - low) / (high - low)
        self._boost(values, [np.rint((2 * shares - 1) * UNIT).astype(np.int64)], settings)
        self.target_range_ = (low, high)
        return promise(settings)
