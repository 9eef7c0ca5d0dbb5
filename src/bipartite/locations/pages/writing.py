"""The interactive map page: its text, and the data that its script plots."""

from __future__ import annotations

import html
import json
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite._version import __version__
from bipartite.locations.atlas import coasts
from bipartite.locations.candidates import check_places
from bipartite.locations.chances import places_of
from bipartite.locations.drawing import MADE_UP, PUBLIC
from bipartite.locations.names import names_of
from bipartite.locations.pages.levels import levels_of
from bipartite.mechanisms import Mechanism
from bipartite.plots import COLOURS
from bipartite.plots.view import View

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains import Points

MOST_ON_A_PAGE: Final = 3_000
_DECIMALS: Final = 6  # of a degree: a tenth of a metre
# The browser may load nothing: the page cannot tell any server what its reader looks at.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def page(
    shown: Points | Mechanism,
    *,
    title: str = "Places",
    credit: str = "",
) -> str:
    """An interactive map as a self-contained HTML page.

    Pan and zoom, hover over a place for its name, select one to see what a made-up person there may report.

    Parameters
    ----------
    shown
        Places, or a mechanism on places.
    title
        The heading.
    credit
        The source of the places, which many licences require.

    Notes
    -----
    Beyond 3,000 places the page shows 3,000 of them, evenly spaced in the list, without probabilities, and says so.
    More than 255 different probabilities are shown with ≈: their relative error is at most ln(largest/smallest)/508,
    which is 0.8 % if the largest is 55 times the smallest. Such a page of 3,000 places has 11 MB.
    """
    mechanism = shown if isinstance(shown, Mechanism) else None
    places = check_places(shown) if mechanism is None else places_of(mechanism)
    size = len(places)
    kept = np.arange(size) if size <= MOST_ON_A_PAGE else np.linspace(0, size - 1, MOST_ON_A_PAGE).round().astype(int)
    hints = _hints(size, len(kept), mechanism)
    data = _data(places, kept)
    if mechanism is not None and len(kept) == size:
        levels = levels_of(mechanism)
        data["mechanism"] = {
            "exact": levels.exact,
            "levels": levels.levels.tolist(),
            "rows": levels.packed(),
        }
    credited = f"Places: {credit}. " if credit else ""
    return _html(title, _promise(mechanism), hints, credited, data)


def _data(places: Points, kept: NDArray[np.int64]) -> dict[str, Any]:
    view = View(places.coordinates, 0)
    names = names_of(places)
    return {
        "places": places.coordinates[kept].round(_DECIMALS).tolist(),
        "labels": [names[each] for each in kept.tolist()],
        "coasts": [ring.round(2).ravel().tolist() for ring in coasts()],
        "colour": COLOURS[0],
        "middle": view.middle,
        "flat": view.flat,
        "mechanism": None,
    }


def _promise(mechanism: Mechanism | None) -> str:
    """The guarantee of each report, above the map."""
    if mechanism is None:
        return ""
    return f'<p class="promise">{html.escape(f"{type(mechanism).__name__}: {mechanism.guarantee}.")}</p>'


def _hints(size: int, drawn: int, mechanism: Mechanism | None) -> str:
    if drawn < size:
        without = "" if mechanism is None else ", without probabilities"
        return f"{size:,} places, of which {drawn:,} are shown{without}: the most that fits a page."
    if mechanism is None:
        return f"{size:,} places."
    return f"{size:,} places. Select one to see what a made-up person there may report. {MADE_UP}"


def _html(title: str, promise: str, hints: str, credited: str, data: dict[str, Any]) -> str:
    here = resources.files("bipartite.locations.pages")
    style, script = ((here / name).read_text(encoding="utf-8") for name in ("map.css", "map.js"))
    # No name may close the script element: "<" is escaped, which JSON reads back.
    held = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<title>{html.escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<header>
<h1>{html.escape(title)}</h1>
{promise}
<p class="small" id="hint">{html.escape(hints)}</p>
</header>
<main>
<div id="stage">
<canvas id="map" tabindex="0" role="img" aria-label="A map; the same places are in the list next to it"></canvas>
<div class="tools">
<button id="in" type="button" aria-label="zoom in">+</button>
<button id="out" type="button" aria-label="zoom out">−</button>
<button id="all" type="button" aria-label="all places">⤢</button>
</div>
<div id="hover" hidden></div>
</div>
<aside>
<label>Find a place <input id="find" list="names" autocomplete="off"></label>
<datalist id="names"></datalist>
<div id="panel" aria-live="polite"></div>
<p class="small">{html.escape(PUBLIC)}</p>
<p class="small">{html.escape(credited)}Coasts: Natural Earth, coarse.</p>
<p class="small">Made by bipartite {__version__}; this page loads nothing.</p>
</aside>
</main>
<script type="application/json" id="data">{held}</script>
<script>
{script}</script>
</body>
</html>
"""
