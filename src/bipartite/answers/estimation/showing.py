"""How estimates are shown, one alone or several groups: as a picture, a text, and what a notebook displays."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from bipartite.answers.estimation.intervals import check_confidence
from bipartite.answers.estimation.pictures import UNNAMED, PictureOptions
from bipartite.errors import missing_library
from bipartite.names import Renamed
from bipartite.plots.figure import svg_for_notebooks
from bipartite.texts import notebook_html

if TYPE_CHECKING:
    from types import ModuleType

    from matplotlib.axes import Axes

    from bipartite.answers.estimation.ranges import Bins


class Shown(Renamed, ABC):
    """An estimate, or the estimates of several groups."""

    def plot(
        self,
        ax: Axes | None = None,
        *,
        truth: object = None,
        bins: Bins | None = None,
        confidence: float = 0.95,
        title: str = "",
        label: str = UNNAMED,
        unit: str = "",
    ) -> Axes:
        """Draw the shares with their intervals on matplotlib's ``ax``, or on those of a new figure, and return them.

        One estimate on a line has a bar for each value, and above them the mean and the median with their intervals;
        for a fitted curve, or more than 120 values, a step curve, and bars for ten ranges as high as the average share
        of their values. A circle is a clock, on polar axes; names are bars of the 40 largest shares. Unbiased shares
        may be below zero, and are drawn there. Values that the reports cannot tell apart are hatched. Several groups
        are rows below each other: on a line the mean and the median of each, elsewhere the shares of the values that
        are most common overall. Attributes are drawn one by one.

        ``bins`` asks for the shares of other ranges, as in :meth:`Estimate.to_frame`; nothing finer is drawn then.
        ``label`` and ``unit`` name the values. ``truth`` is drawn as an outline, for demonstrations and tests, since
        nobody has it in earnest: people's values, or a mapping of values to shares that sum to 1.

        ``est.plot(label="age", unit="years").figure.savefig("ages.svg")`` writes a file. The style is that of
        ``plt.style.use("bipartite.plots.bipartite")``, unless ``ax`` has its own; ``ax.get_label()`` says in words what
        is shown, and caveats stand below a figure that this made. Needs the extra ``plots``.
        """
        return self._draw(PictureOptions(ax, check_confidence(confidence), bins, title, label, unit, truth))

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
    def _draw(self, asked: PictureOptions) -> Axes: ...

    @property
    def _has_picture(self) -> bool:
        return True

    def _repr_svg_(self) -> str | None:
        return svg_for_notebooks(self.plot) if self._has_picture else None

    def _repr_html_(self) -> str:
        return notebook_html(self._lines(0.95, None), self._repr_svg_() or "")


def load_pandas(instead: str) -> ModuleType:
    """Pandas, or the advice what to use ``instead`` if it is not installed."""
    try:
        return importlib.import_module("pandas")  # heavy, and only frames need it
    except ImportError:
        raise missing_library(what=f"to_frame (unlike {instead}) needs", library="pandas") from None
