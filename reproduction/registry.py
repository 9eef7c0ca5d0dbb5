"""Every experiment by name: what it shows, which data sets and extras it needs."""

import difflib
import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, cast

from bipartite.errors import InputError, MissingExtraError, missing_library
from reproduction.datasets import SOURCES, present
from reproduction.form import Experiment


@dataclass(frozen=True)
class Entry:
    """One experiment: the module of this name, the figure of the paper, and what it needs."""

    name: str
    figure: str
    """Where the paper has it."""
    title: str
    data: tuple[str, ...] = ()
    """Names of data sets."""
    extra: str | None = None
    """The extra that its libraries come with."""
    libraries: tuple[str, ...] = ()
    """What is imported of it."""
    seconds: tuple[float, float] = (1.0, 1.0)
    """About how long a quick and a full run take, for the time left."""
    version: int = 1
    """Raised by hand when rows change, so that what an earlier version measured is measured again.

    A test measures a few cells again and says when that was forgotten (:mod:`~reproduction.sentinels`).
    """

    def load(self) -> Experiment:
        """The module.

        Raises
        ------
        MissingExtraError
            A library that it needs is not installed.
        """
        for library in self.libraries:
            try:
                importlib.import_module(library)
            except ImportError:
                raise self.lacks(library) from None
        return cast("Experiment", importlib.import_module(f"reproduction.experiments.{self.name}"))

    def lacks(self, library: str) -> MissingExtraError:
        """What to say where a library is not installed."""
        extra = self.extra if library in self.libraries else None
        return missing_library(what=f"{self.name} needs", library=_ON_THE_INDEX.get(library, library), extra=extra)

    def missing(self) -> list[str]:
        """The data sets that are not on this machine."""
        return [name for name in self.data if any(present(files) is None for files in SOURCES[name].parts.values())]


# What a library is called where it is installed from.
_ON_THE_INDEX: Final = {"sklearn": "scikit-learn", "dp_accounting": "dp-accounting"}
_PLACES: Final = ("gowalla-authors-1000", "foursquare-nyc-filtered")

EXPERIMENTS: Final = (
    Entry("pmf", "Fig. 1", "The chance of each report under GRR and BRR"),
    Entry("worked_example", "Fig. 2", "How m is found: every m⁽ˣ⁾, then the least", seconds=(0.5, 0.5)),
    Entry("monotonicity", "Fig. 3", "The table of sorted distances and its order of derivatives", seconds=(1, 6)),
    Entry("theorems", "Theorems 1–4", "Every theorem and algorithm against brute force", seconds=(2, 17)),
    Entry("sentences", "Sections 3.2 to 5.1, appendix B.2", "Sentences that no figure shows",
          seconds=(0.5, 3)),
    Entry("choice_of_m", "Section 3.3, appendix A.1", "What the m of the global search is best for", seconds=(2, 20)),
    Entry("interval_nodes", "Section 4.1", "Total error on an interval against the number of nodes", seconds=(1, 2)),
    Entry("optimality", "Introduction, section 4.2", "How far BRR is from the best release",
          seconds=(3, 8)),
    Entry("qloss_by_epsilon", "Fig. 4", "Quality loss against ε for five N", seconds=(2, 4)),
    Entry("qloss_by_n", "Fig. 5", "Quality loss against N, and the ratio with its asymptotes", seconds=(3, 14)),
    Entry("jaccard", "Fig. 6", "Jaccard utility against ε for five N", seconds=(4, 8)),
    Entry("location_maps", "Fig. 7", "Both sets of places with their regions", data=_PLACES, seconds=(2, 2), version=2),
    Entry("location_errors", "Fig. 8", "Expected error of a reported place against ε", data=_PLACES,
          seconds=(20, 170)),
    Entry("location_draws", "Figs. 7 and 8", "Regions and savings on other draws of places",
          data=(*_PLACES, "gowalla-stacp", "foursquare-us-stacp"), seconds=(12, 1000)),
    Entry("inference_errors", "Section 6.2", "How well a place is guessed from its report", data=_PLACES,
          seconds=(4, 420)),
    Entry("data_sets", "Appendix B.1", "Sizes and label scale of the data sets of boosting",
          data=("bias", "abalone", "superconduct"), seconds=(2, 2)),
    Entry("gbdt", "Fig. 9", "Boosted trees with private leaves, three data sets",
          data=("bias", "abalone", "superconduct"), extra="boosting", libraries=("sklearn",), seconds=(46, 1100)),
    Entry("gbdt_readings", "Fig. 9, read otherwise", "Boosted trees under every reading that was tried",
          data=("bias", "abalone", "superconduct"), extra="boosting", libraries=("sklearn", "numba"),
          seconds=(10, 2200)),
    Entry("dpboost_ratio", "Appendix B.1", "What DPBoost as published spends: one model, two data sets",
          extra="boosting", libraries=("numba",)),
    Entry("sgd", "Fig. 10", "Accuracy while training on MNIST, six budgets", data=("mnist",), extra="learn",
          libraries=("torch", "dp_accounting"), seconds=(34, 600_000)),
    Entry("sgd_readings", "Fig. 10, read otherwise", "Four and five times the noise, and noise in BRR's range",
          data=("mnist",), extra="learn", libraries=("torch",), seconds=(10, 60_000)),
    Entry("sgd_mlp", "Fig. 10, on a CPU", "A check of SGD without a GPU: a small network, three budgets",
          data=("mnist",), extra="learn", libraries=("torch",), seconds=(5, 120)),
    Entry("dnn", "Fig. 11", "Networks trained on private columns, two data sets", data=("adult", "bank"),
          extra="learn", libraries=("torch", "sklearn"), seconds=(47, 6800)),
    Entry("dnn_readings", "Fig. 11, read otherwise", "Networks with more ε than is named, and the rival by importance",
          data=("adult", "bank"), extra="learn", libraries=("torch", "sklearn"), seconds=(10, 4300)),
    Entry("runtime", "Fig. 12", "Time of the server, to ten million users, and of one report", data=_PLACES,
          seconds=(8, 200), version=2),
)  # fmt: skip
"""In the order of the report."""


def named(names: Iterable[str]) -> tuple[Entry, ...]:
    """The experiments of these names, in the order of the report; all of them where none is named."""
    known = {entry.name: entry for entry in EXPERIMENTS}
    wanted = list(names)
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.4)
            hint = f"did you mean {near[0]}? " if near else ""
            raise InputError(f"Expected the name of an experiment, got {name!r}; {hint}Names: {', '.join(known)}.")
    return tuple(entry for entry in EXPERIMENTS if not wanted or entry.name in wanted)
