"""The colours and lines of every picture, distinguishable without colour by fill and dash."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

BRR: Final = "#1f5fa8"
BRR_FAR: Final = "#9dbfe3"
GRR: Final = "#8a8a8a"
INK: Final = "#222222"
FAINT: Final = "#e4e4e4"
LAND: Final = "#f0eee9"
PAPER: Final = "#ffffff"
DASH: Final = "5 3"

WIDTH: Final = 860
FONT: Final = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"

# Styles shared by shapes and legends.
BRR_NEAR_STYLE: Final[Mapping[str, Any]] = {"fill": BRR}
BRR_FAR_STYLE: Final[Mapping[str, Any]] = {"fill": BRR_FAR}
GRR_STYLE: Final[Mapping[str, Any]] = {"fill": "none", "stroke": GRR, "stroke_width": 2, "stroke_dasharray": DASH}
GRR_BAR_STYLE: Final[Mapping[str, Any]] = {
    "fill": "#ececec",
    "stroke": GRR,
    "stroke_width": 1.5,
    "stroke_dasharray": DASH,
}
REPORTS_STYLE: Final[Mapping[str, Any]] = {"fill": BRR_FAR, "stroke": BRR, "stroke_width": 1.2}
TRUTH_STYLE: Final[Mapping[str, Any]] = {"fill": "none", "stroke": INK, "stroke_width": 1.8}
SILENCE_STYLE: Final[Mapping[str, Any]] = {"fill": PAPER, "stroke": INK, "stroke_width": 1.2}
ERROR_STYLE: Final[Mapping[str, Any]] = {"fill": "none", "stroke": INK, "stroke_width": 1.2}
SHARE_STYLE: Final[Mapping[str, Any]] = {"fill": BRR_FAR}
GUESS_STYLE: Final[Mapping[str, Any]] = {"fill": PAPER, "stroke": GRR, "stroke_width": 1, "stroke_dasharray": "2 2"}
# Around text on a busy background.
HALO: Final[Mapping[str, Any]] = {"stroke": PAPER, "stroke_width": 3.5, "paint_order": "stroke"}
HATCH: Final = "#cfcfcf"
