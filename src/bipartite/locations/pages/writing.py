"""The interactive map page: its text, and the data that its script plots."""

from __future__ import annotations

import html
import json
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite._version import __version__
from bipartite.domains.regions import Regions, check_places, check_regions_of
from bipartite.errors import InputError
from bipartite.locations.atlas import coasts
from bipartite.locations.chances import places_of
from bipartite.locations.drawing import MADE_UP, PUBLIC
from bipartite.locations.names import names_of, region_names, region_warning
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
    shown: Points | Regions | Mechanism,
    *,
    regions: Regions | None = None,
    title: str = "Places",
    credit: str = "",
) -> str:
    """An interactive map as a self-contained HTML page.

    Pan and zoom, hover over a place for its name, select one to see what a made-up person there may report.

    Parameters
    ----------
    shown
        Places, regions, or a mechanism on places.
    regions
        With a mechanism: the regions to colour its places by, if any.
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
    places, parts = _places_and_regions(shown, regions)
    size = len(places)
    kept = np.arange(size) if size <= MOST_ON_A_PAGE else np.linspace(0, size - 1, MOST_ON_A_PAGE).round().astype(int)
    hints = _hints(size, len(kept), mechanism)
    data = _data(places, parts, kept)
    if mechanism is not None and len(kept) == size:
        levels = levels_of(mechanism)
        data["mechanism"] = {
            "exact": levels.exact,
            "levels": levels.levels.tolist(),
            "rows": levels.packed(),
        }
    credited = f"Places: {credit}. " if credit else ""
    return _html(title, _promise(mechanism, parts), hints, credited, data)


def _places_and_regions(shown: Points | Regions | Mechanism, regions: Regions | None) -> tuple[Points, Regions | None]:
    if isinstance(shown, Regions):
        if regions is not None:
            raise InputError("regions= belongs to a mechanism; pass the regions once.")
        return shown.places, shown
    if isinstance(shown, Mechanism):
        places = places_of(shown)
    else:
        check_places(shown)
        places = shown
    if regions is not None:
        check_regions_of(places, regions)
    return places, regions


def _data(places: Points, regions: Regions | None, kept: NDArray[np.int64]) -> dict[str, Any]:
    view = View(places.coordinates, 0)
    names = names_of(places)
    of = np.zeros(len(places), dtype=np.int64) if regions is None else regions.labels
    return {
        "places": places.coordinates[kept].round(_DECIMALS).tolist(),
        "labels": [names[each] for each in kept.tolist()],
        "regions": {
            "names": [""] if regions is None else region_names(regions),
            "sizes": [len(places)] if regions is None else regions.sizes.tolist(),
            "of": of[kept].tolist(),
        },
        "coasts": [ring.round(2).ravel().tolist() for ring in coasts()],
        "colours": list(COLOURS),
        "middle": view.middle,
        "flat": view.flat,
        "mechanism": None,
    }


def _promise(mechanism: Mechanism | None, regions: Regions | None) -> str:
    """The guarantee of each report, above the map; in red if it is not ε-LDP."""
    if mechanism is not None:
        plain = mechanism.keeps_epsilon and mechanism.publishes is None and mechanism.distance_unit is None
        guarantee = f"{type(mechanism).__name__}: {mechanism.guarantee}."
        return f'<p class="promise{"" if plain else " not"}">{html.escape(guarantee)}</p>'
    warning = "" if regions is None else region_warning(regions)
    return warning and f'<p class="promise">{html.escape(warning)}</p>'


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
