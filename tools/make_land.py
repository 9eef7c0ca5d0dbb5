"""Makes src/bipartite/locations/atlas/land.csv, coarse coasts for maps (Natural Earth, public domain).

    python -m pip download --no-deps geopandas==0.14.4 && python -m pip install pyshp shapely
    python tools/make_land.py geopandas-0.14.4-py3-none-any.whl

That wheel holds Natural Earth's countries at 1:110 million. They are joined, rounded to a tenth of a degree and
simplified by a fifth of a degree; Antarctica and islands below one square degree are left out.
"""

from __future__ import annotations

import csv
import io
import sys
import zipfile
from pathlib import Path

import shapefile
from shapely.geometry import shape
from shapely.ops import unary_union

TARGET = Path(__file__).parents[1] / "src" / "bipartite" / "locations" / "atlas" / "land.csv"
INSIDE = "geopandas/datasets/naturalearth_lowres/naturalearth_lowres"
COARSE, SMALLEST, SOUTH = 0.2, 1.0, -60.0


def rings(wheel: Path) -> list[list[tuple[float, float]]]:
    """The coasts, largest first, as (longitude, latitude)."""
    with zipfile.ZipFile(wheel) as archive:
        files = {kind: io.BytesIO(archive.read(f"{INSIDE}.{kind}")) for kind in ("shp", "shx", "dbf")}
    countries = [shape(each.__geo_interface__).buffer(0.05) for each in shapefile.Reader(**files).shapes()]
    land = unary_union(countries).simplify(COARSE)
    parts = [part for part in land.geoms if part.area >= SMALLEST and part.bounds[1] > SOUTH]
    return [
        [(round(x, 1), round(y, 1)) for x, y in part.exterior.coords[:-1]]
        for part in sorted(parts, key=lambda part: -part.area)
    ]


def write(wheel: Path) -> None:
    """Write one row a corner."""
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["ring", "longitude", "latitude"])
        for number, ring in enumerate(rings(wheel)):
            rows.writerows((number, *corner) for corner in ring)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
