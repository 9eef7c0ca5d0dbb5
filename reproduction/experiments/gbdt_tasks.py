"""What boosting is asked to predict, on public ranges that are written down here and never computed from the data.

Ranges of features are physical limits, or those of the publishers' descriptions, in round numbers; values beyond them
are clipped. Targets have the scale of the authors' scripts, (y − b)/k: abalone (14, 15), superconductivity (92.499895,
92.500105), and for Bias (2.53985, 2.63835), which is the range of the column ``Slope``, a fixed property of each
station (see the errata). So Bias is run twice: on ``Slope`` as scripted, and on ``Next_Tmax``, which the data set is
there for. These four are the smallest and the largest target of each data set, known from what was published about it;
somebody with private records would have to state wider ones.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reproduction import datasets

Ranges = Mapping[str, tuple[float, float]]

BINS: Final = 32


@dataclass(frozen=True)
class Task:
    """One target of one data set."""

    title: str
    read: Callable[[], pd.DataFrame]
    target: str
    target_range: tuple[float, float]
    ranges: Ranges
    """Features that are numbers."""
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Features that are words, each a feature of zeros and ones."""
    bins: Mapping[str, int] = field(default_factory=dict)
    """Where not 32."""


@dataclass(frozen=True, eq=False)
class Records:
    """The records of a task, with their public ranges."""

    features: NDArray[np.float64]
    targets: NDArray[np.float64]
    feature_range: tuple[tuple[float, float], ...]
    bins: tuple[int, ...]
    target_range: tuple[float, float]


_ABALONE: Final[Ranges] = {
    "Length": (0, 1), "Diameter": (0, 1), "Height": (0, 0.3), "Whole_weight": (0, 3), "Shucked_weight": (0, 1.5),
    "Viscera_weight": (0, 0.8), "Shell_weight": (0, 1.1),
}  # fmt: skip
_BIAS: Final[Ranges] = {
    "station": (1, 25),
    **dict.fromkeys(("Present_Tmax", "Present_Tmin"), (0, 45)),
    **dict.fromkeys(("LDAPS_RHmin", "LDAPS_RHmax"), (0, 100)),
    **dict.fromkeys(("LDAPS_Tmax_lapse", "LDAPS_Tmin_lapse"), (0, 45)),
    "LDAPS_WS": (0, 25),
    "LDAPS_LH": (-20, 220),
    **{f"LDAPS_CC{at}": (0, 1) for at in (1, 2, 3, 4)},
    **{f"LDAPS_PPT{at}": (0, 25) for at in (1, 2, 3, 4)},
    "lat": (37.4, 37.7),
    "lon": (126.8, 127.2),
    "DEM": (0, 220),
    "Slope": (0, 6),
    "Solar radiation": (4000, 6000),
}
# The largest value of each property among the elements of superconductors, rounded up.
_PROPERTIES: Final = {
    "atomic_mass": 220, "fie": 1600, "atomic_radius": 300, "Density": 23_000, "ElectronAffinity": 350,
    "FusionHeat": 110, "ThermalConductivity": 430, "Valence": 7,
}  # fmt: skip
# Of values between 0 and the largest: a mean or a range is at most that, a standard deviation half of it; the entropy
# of at most nine shares is at most ln 9.
_STATISTICS: Final = {
    "mean": 1, "wtd_mean": 1, "gmean": 1, "wtd_gmean": 1, "range": 1, "wtd_range": 1, "std": 0.5, "wtd_std": 0.5,
}  # fmt: skip
_ENTROPY: Final = 2.2
_SUPERCONDUCT: Final[Ranges] = {
    "number_of_elements": (1, 9),
    **{f"{name}_{of}": (0, share * most) for of, most in _PROPERTIES.items() for name, share in _STATISTICS.items()},
    **{f"{name}_{of}": (0, _ENTROPY) for of in _PROPERTIES for name in ("entropy", "wtd_entropy")},
}
_STATIONS: Final = {"station": 25}

TASKS: Final = {
    "abalone": Task(
        "abalone: rings", datasets.abalone, "Rings", (1, 29), _ABALONE, words={"Sex": ("F", "I", "M")}
    ),
    "bias-slope": Task(
        "Bias: slope, as scripted", datasets.bias, "Slope", (0.0985, 5.1782), _BIAS, bins=_STATIONS
    ),
    "bias-tmax": Task(
        "Bias: tomorrow's maximum, °C", datasets.bias, "Next_Tmax", (17.4, 38.9), _BIAS, bins=_STATIONS
    ),
    "superconduct": Task(
        "superconductivity: critical temperature, K", datasets.superconduct, "critical_temp", (0.00021, 185),
        _SUPERCONDUCT,
    ),
}  # fmt: skip


@functools.lru_cache(maxsize=2)
def records_of(name: str) -> Records:
    """The complete records of a task."""
    task = TASKS[name]
    table = task.read().dropna()
    numbers = [each for each in task.ranges if each != task.target]
    columns = [table[each].to_numpy(np.float64) for each in numbers]
    columns += [(table[each] == word).to_numpy(np.float64) for each, words in task.words.items() for word in words]
    ones = len(columns) - len(numbers)
    return Records(
        np.column_stack(columns),
        table[task.target].to_numpy(np.float64),
        (*(task.ranges[each] for each in numbers), *[(0.0, 1.0)] * ones),
        (*(task.bins.get(each, BINS) for each in numbers), *[2] * ones),
        task.target_range,
    )
