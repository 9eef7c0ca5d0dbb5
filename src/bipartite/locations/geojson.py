"""A heat map as GeoJSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from bipartite._version import __version__
from bipartite.locations.grids import names_of, squares_of

if TYPE_CHECKING:
    from bipartite.locations.heat import HeatMap

_DECIMALS: Final = 7  # of a degree: a centimetre
_HALF_TURN: Final = 180.0


def as_geojson(heat: HeatMap, confidence: float) -> dict[str, Any]:
    """A FeatureCollection (RFC 7946) with its guarantee."""
    squares = squares_of(heat.places)
    if squares is None:
        where = heat.places.coordinates[:, ::-1].round(_DECIMALS).tolist()
        shapes: list[dict[str, Any]] = [{"type": "Point", "coordinates": each} for each in where]
    else:
        shapes = [_cell(*each) for each in squares.boxes.tolist()]
    names = names_of(heat.places) if squares is None else squares.names
    size = len(shapes)
    errors = [None] * size if heat.standard_errors is None else heat.standard_errors.tolist()
    ends: list[list[Any]] = [[None] * size] * 4
    if heat.has_intervals:
        ends = [each.tolist() for both in (False, True) for each in heat.intervals(confidence, together=both)]
    keys = ("share", "standard_error", "low", "high", "low_together", "high_together")
    rows = zip(heat.shares.tolist(), errors, *ends, strict=True)
    features = [
        {
            "type": "Feature",
            "geometry": shape,
            "properties": {"place": heat.places.decode(at), "name": names[at], **dict(zip(keys, row, strict=True))},
        }
        for at, (shape, row) in enumerate(zip(shapes, rows, strict=True))
    ]
    about = {
        "version": __version__,
        "guarantee": heat.guarantee,
        "reports": heat.people,
        "smoothing_km": heat.smoothing_km,
        "confidence": confidence,
        "note": heat.note,
    }
    return {"type": "FeatureCollection", "bipartite": about, "features": features}


def _cell(south: float, west: float, north: float, east: float) -> dict[str, Any]:
    """A polygon; a cell across the date line becomes one polygon on each side, as RFC 7946 requires."""
    if east <= _HALF_TURN + 10**-_DECIMALS:
        return {"type": "Polygon", "coordinates": [_ring(south, west, north, min(east, _HALF_TURN))]}
    parts = (west, _HALF_TURN), (-_HALF_TURN, east - 2 * _HALF_TURN)
    return {"type": "MultiPolygon", "coordinates": [[_ring(south, low, north, high)] for low, high in parts]}


def _ring(south: float, west: float, north: float, east: float) -> list[list[float]]:
    """Counter-clockwise from the south-west, and closed."""
    corners = (west, south), (east, south), (east, north), (west, north), (west, south)
    return [[round(x, _DECIMALS), round(y, _DECIMALS)] for x, y in corners]
