"""Learning from private data, in scikit-learn's words; every fitted model tells what it keeps: ``guarantee_``.

Names are loaded at first use, because each needs an extra of its own (``boosting``, ``learn``).
May import: lottery, domains, mechanisms, answers, tables.
Begin reading: guarantee.py, columns.py.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from bipartite.lazily import lazily
from bipartite.learn.guarantee import Guarantee

if TYPE_CHECKING:
    from bipartite.learn.boosting.classifier import PrivateBoostingClassifier as PrivateBoostingClassifier
    from bipartite.learn.boosting.regressor import PrivateBoostingRegressor as PrivateBoostingRegressor
    from bipartite.learn.columns import PrivateColumns as PrivateColumns
    from bipartite.learn.gradients.accounting import Steps as Steps
    from bipartite.learn.gradients.accounting import gaussian_multiplier as gaussian_multiplier
    from bipartite.learn.gradients.central import GaussianSGD as GaussianSGD
    from bipartite.learn.gradients.classifier import PrivateSGDClassifier as PrivateSGDClassifier
    from bipartite.learn.gradients.loop import best_device as best_device
    from bipartite.learn.gradients.loop import follow as follow
    from bipartite.learn.gradients.loop import train_privately as train_privately
    from bipartite.learn.gradients.networks import PicturePlan as PicturePlan
    from bipartite.learn.gradients.networks import tanh_cnn as tanh_cnn
    from bipartite.learn.gradients.per_example import PerExample as PerExample
    from bipartite.learn.labels import PrivateLabels as PrivateLabels

# Each public name and the module that holds it.
_HOMES = {
    "GaussianSGD": "bipartite.learn.gradients.central",
    "PerExample": "bipartite.learn.gradients.per_example",
    "PicturePlan": "bipartite.learn.gradients.networks",
    "PrivateBoostingClassifier": "bipartite.learn.boosting.classifier",
    "PrivateBoostingRegressor": "bipartite.learn.boosting.regressor",
    "PrivateColumns": "bipartite.learn.columns",
    "PrivateLabels": "bipartite.learn.labels",
    "PrivateSGDClassifier": "bipartite.learn.gradients.classifier",
    "Steps": "bipartite.learn.gradients.accounting",
    "best_device": "bipartite.learn.gradients.loop",
    "follow": "bipartite.learn.gradients.loop",
    "gaussian_multiplier": "bipartite.learn.gradients.accounting",
    "tanh_cnn": "bipartite.learn.gradients.networks",
    "train_privately": "bipartite.learn.gradients.loop",
}
# What has to be installed before a module, or any module of a folder, can be loaded.
_LIBRARIES = {
    "boosting.": ("sklearn", "numba"),
    "columns.": ("sklearn",),
    "gradients.": ("torch",),
    "gradients.classifier.": ("sklearn",),
    "labels.": ("sklearn",),
}


def _can_be_loaded(home: str) -> bool:
    needed = [each for part, each in _LIBRARIES.items() if f"{home}.".startswith(f"{__name__}.{part}")]
    return all(find_spec(library) for libraries in needed for library in libraries)


__getattr__, __dir__ = lazily(__name__, _HOMES)
# A star takes what can be loaded here; the other names say what they need when they are asked for.
__all__ = ["Guarantee", *(name for name, home in _HOMES.items() if _can_be_loaded(home))]  # noqa: PLE0604 (one place)
