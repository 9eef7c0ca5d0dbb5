"""Learning from private data, in scikit-learn's words; every fitted model tells what it keeps: ``guarantee_``.

Names are loaded at first use, because each needs an extra of its own (``boosting``, ``learn``).
May import: lottery, domains, mechanisms, answers.
Begin reading: guarantee.py, columns.py.
"""

from __future__ import annotations

from bipartite.lazily import lazily
from bipartite.learn.guarantee import Guarantee

# Each public name and the module that holds it.
_HOMES = {
    "CoordinateReports": "bipartite.learn.gradients.coordinates",
    "GaussianSGD": "bipartite.learn.gradients.central",
    "LaplaceSGD": "bipartite.learn.gradients.central",
    "LocalSGD": "bipartite.learn.gradients.local",
    "PrivateBoostingClassifier": "bipartite.learn.boosting.classifier",
    "PrivateBoostingRegressor": "bipartite.learn.boosting.regressor",
    "PrivateColumns": "bipartite.learn.columns",
    "PrivateNetwork": "bipartite.learn.network",
    "PrivateQuantile": "bipartite.learn.gradients.magnitude",
    "PrivateSGDClassifier": "bipartite.learn.gradients.classifier",
    "train_privately": "bipartite.learn.gradients.loop",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)
__all__ = ["Guarantee", *_HOMES]  # noqa: PLE0604 (names, kept in one place)
