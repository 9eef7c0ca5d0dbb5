"""How estimates are shown, one alone or several groups: as a picture, a text, and what a notebook displays."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from bipartite.answers.estimation.intervals import check_confidence
from bipartite.answers.estimation.pictures import UNNAMED, Naming
from bipartite.errors import missing_library
from bipartite.names import Renamed
from bipartite.texts import notebook_html

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from bipartite.answers.estimation.ranges import Bins
    from bipartite.plots import Picture


class Shown(Renamed, ABC):
    """An estimate, or the estimates of several groups."""

    def plot(
        self,
        file: str | Path | None = None,
        confidence: float = 0.95,
        bins: Bins | None = None,
        *,
        title: str = "",
        label: str = UNNAMED,
        unit: str = "",
    ) -> Picture:
        """Plot the shares with their intervals; written to ``file`` (.svg, .png) if one is given.

        One estimate on a line is a histogram with the mean and the median above it (for more than 120 values, a line in
        a band), or a fitted curve over the intervals of ten ranges; elsewhere it is a bar chart of the 40 largest
        shares. Unbiased shares may be below zero, and are drawn there. Values that the reports cannot tell apart are
        hatched. Several groups are drawn below each other: on a line the mean and the median of each, elsewhere the
        shares of the values that are most common overall. Attributes are plotted one by one.

        ``bins`` asks for the shares of other ranges, as in :meth:`Estimate.to_frame`. ``label`` and ``unit`` name the
        values: ``est.plot("ages.svg", title="Readers", label="age", unit="years")``. The result is SVG text, which a
        notebook displays.
        """
        return self._draw(check_confidence(confidence), file, bins, Naming(title, label, unit))

    def summary(self, confidence: float = 0.95, bins: Bins | None = None) -> str:
        """The answers in words, with intervals, and a table of shares.

        The table has the shares of ``bins``, as in :meth:`Estimate.to_frame`; without them, of ten ranges, of every
        value if there are few, or the largest shares if values are names. Groups are side by side in it; attributes
        have a table each.
        """
        return "\n".join(self._lines(check_confidence(confidence), bins))

    def __str__(self) -> str:
        return self.summary()

    @abstractmethod
    def _lines(self, confidence: float, bins: Bins | None) -> list[str]: ...

    @abstractmethod
    def _draw(self, confidence: float, file: str | Path | None, bins: Bins | None, naming: Naming) -> Picture: ...

    @property
    def _has_picture(self) -> bool:
        return True

    def _repr_html_(self) -> str:
        return notebook_html(self._lines(0.95, None), self.plot() if self._has_picture else "")


def load_pandas(instead: str) -> ModuleType:
    """Pandas, or the advice what to use ``instead`` if it is not installed."""
    try:
        return importlib.import_module("pandas")  # heavy, and only frames need it
    except ImportError:
        raise missing_library(what=f"to_frame (unlike {instead}) needs", library="pandas") from None
