"""Regression by private boosting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import validate_data

from bipartite.errors import InputError, OutsideDomainError, Problems
from bipartite.learn.boosting.estimator import PrivateBoosting
from bipartite.learn.boosting.grids import ranges_of
from bipartite.learn.boosting.leaves import UNIT
from bipartite.learn.scikit import RegressorMixin

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from bipartite.learn.boosting.estimator import Pair
    from bipartite.learn.boosting.settings import Settings

_ADVICE = "pass public limits of the target such as target_range=(0, 100); never take them from the data"


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateBoostingRegressor(RegressorMixin, PrivateBoosting):
    r"""Gradient-boosted trees whose predictions tell little about any one training record.

    DPBoost made sound: every record serves one tree of an ensemble, drawn for it alone with public chances
    ∝ (1 − η)\ :sup:`i`; trees are complete, cut at public grid points chosen by the exponential mechanism
    (half of ε), and every leaf, empty ones too, is randomised (the other half). Gradients, gains and leaves
    are whole numbers, and all draws are exact.

    Parameters
    ----------
    epsilon
        The privacy budget of one fit.
    leaf
        What randomises a leaf: ``"brr"``, ``"anchored"``, ``"geometric"`` on points of [−c, c]; ``"laplace"``,
        ``"clamped-laplace"``; ``"none"`` for a baseline without any privacy.
    feature_range
        Public (low, high) of all features, or one pair for each. Required, and never to be taken from the data.
    target_range
        Public (low, high) of the target. Required.
    trees, ensemble_trees
        T and T_e: how many trees in all and in an ensemble. Ensembles share ε; None makes one ensemble.
    depth
        Cuts on the way to a leaf.
    learning_rate, regularization
        η and λ.
    leaf_range
        c, in halves of the target's range, for all trees whose leaves reach so far (those of tree t reach
        (1 − η)\ :sup:`t−1`); None for the paper's c = ΔV/2, which is the same as 1/(2 + 2λ).
    leaf_points
        How many points [−c, c] is divided into.
    bins
        Equal parts of a feature's range, between which trees may cut; one number, or one for each feature.
    outside
        ``"error"`` refuses values outside the ranges, ``"clip"`` moves them to the nearest end.
    large_gradients
        What becomes of a record whose gradient exceeds 1: it leaves its tree (``"skip"``, DPBoost's rule), or its
        gradient is clipped to 1 (``"clip"``).
    rng
        None for secure words; ``bp.insecure_seed(…)`` for experiments that must be repeated.
    progress
        Told 1 after every tree.

    Attributes
    ----------
    guarantee_
        What the fitted model promises, and what not.
    trees_, grid_
        All that was learned: trees of whole numbers, on public bins.

    Guarantee
    ---------
    ε-differential privacy (central) for data sets that differ by one record added or removed, 2ε for one replaced;
    the proof is in ``docs/private-boosting``.

    Reference
    ---------
    Li, Wu, Wen, He: *Privacy-Preserving Gradient Boosting Decision Trees* (AAAI 2020), with the changes that make it
    sound; leaves by BRR as in the BRR paper, appendix B.1.

    Examples
    --------
    >>> import numpy as np
    >>> from bipartite import insecure_seed
    >>> X = np.arange(2000).reshape(-1, 1) % 100
    >>> model = PrivateBoostingRegressor(
    ...     epsilon=5, feature_range=(0, 100), target_range=(0, 1), depth=2, rng=insecure_seed(1)
    ... )
    >>> low, high = model.fit(X, X[:, 0] >= 50).predict([[10], [90]])
    >>> bool(low < 0.3 < 0.7 < high)
    True
    """

    target_range: Pair | None = None

    def predict(self, X: object) -> NDArray[np.float64]:  # noqa: N803
        """The predicted target of every record."""
        (scores,) = self._scores(X)
        low, high = self.target_range_
        half = (high - low) / 2
        predicted: NDArray[np.float64] = low + half + scores / UNIT * half
        return predicted

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # Noise of any useful ε ruins what the hundred records of a check could teach.
        tags.regressor_tags.poor_score = True
        return tags

    def _read(self, X: object, y: object) -> tuple[NDArray[np.float64], Any]:  # noqa: N803
        values, targets = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        return values, np.asarray(targets, dtype=np.float64)

    def _learn(self, values: NDArray[np.float64], targets: NDArray[np.float64], settings: Settings) -> None:
        problems = Problems()
        lows, highs = ranges_of("target_range", self.target_range, 1, problems, _ADVICE)
        problems.raise_if_any(InputError)
        low, high = float(lows[0]), float(highs[0])
        if settings.outside == "error" and ((targets < low) | (targets > high)).any():
            msg = "Expected every target within target_range; use outside='clip', or state a wider public range."
            raise OutsideDomainError(msg)
        shares = (np.clip(targets, low, high) - low) / (high - low)
        self._boost(values, [np.rint((2 * shares - 1) * UNIT).astype(np.int64)], settings)
        self.target_range_ = (low, high)
        self.guarantee_ = settings.guarantee()
