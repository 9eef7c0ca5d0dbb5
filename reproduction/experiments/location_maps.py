"""Figure 7: both sets of places with their regions.

The paper finds 13 regions (7 to 235 places) on Gowalla and 14 (64 to 278) on FourSquare. Its rule, run on the authors'
1000 places, gives 14 regions of 7 to 235. Its 3000 FourSquare places are not published.

Rows with a ``size`` are regions; those with a ``latitude`` are places, from which the maps are drawn without any data
set. A ``prefix`` begins with 0b, so that it is read as a word.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bipartite.domains import Points
from reproduction.experiments.places_of_the_paper import CREDITS, FOURSQUARE, GOWALLA, both, places_of
from reproduction.experiments.printed import REGIONS
from reproduction.form import Row
from reproduction.pictures import Printed, panels
from reproduction.places import Regions
from reproduction.places import draw as draw_map

FULL = both()
QUICK = FULL
NOTE: Final = (
    "The authors' file of 1000 places is drawn as it stands, latitude before longitude: about a third of them lie in "
    "the sea, and none lies nearer than 14 km to any of the 66,797 places of Gowalla that we have, in either order. "
    "What they are places of, we do not know."
)
_DIGITS: Final = {GOWALLA: 2, FOURSQUARE: 4}  # of degrees: about a tenth of a point on the map
_HIGHEST: Final = 1000  # leaves room for words at the largest
_BITS: Final = "0b"


def measure(dataset: str, places: int) -> Iterator[Row]:
    """The regions by size, and what publishing one tells; then where every place is on the map."""
    _, regions = places_of(dataset, places)
    by_size = np.argsort(-regions.sizes, kind="stable")
    for number, at in enumerate(by_size.tolist(), start=1):
        yield {"dataset": dataset, "places": places, "regions": len(regions), "region": number,
               "size": int(regions.sizes[at]), "bits": regions.bits(), "prefix": _BITS + regions.names[at]}  # fmt: skip
    numbers = np.argsort(by_size)[regions.labels] + 1
    spots = _rounded(regions.places.coordinates, _DIGITS[dataset])
    for number, (latitude, longitude) in zip(numbers.tolist(), spots.tolist(), strict=True):
        yield {"dataset": dataset, "region": number, "latitude": latitude, "longitude": longitude}


def _rounded(coordinates: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """No more digits than the map resolves, and one more where two places would be one."""
    found = coordinates.round(digits)
    _, which, counts = np.unique(found, axis=0, return_inverse=True, return_counts=True)
    return np.where(counts[which.ravel()][:, np.newaxis] > 1, coordinates.round(digits + 1), found)


def regions_of(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of regions."""
    return rows[rows["size"].notna()].astype(dict.fromkeys(("places", "regions", "size"), int))


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """The maps, and how many places each region has."""
    regions = regions_of(rows)
    titles = regions["dataset"] + regions["places"].map(", {:,} places".format)
    named = dict(zip(titles, regions["dataset"], strict=True))
    maps = {
        f"map_{name.lower()}": draw_map(_read(rows[rows["dataset"] == name]), title=title, credit=CREDITS[name])
        for title, name in named.items()
    }
    return maps | {
        "region_sizes": panels(
            regions.assign(line="region", panel=titles), x="region", y="size", hue="line", facet="panel",
            title="{}: sizes of regions", highest=_HIGHEST, printed={title: _printed(named[title]) for title in named},
            across="regions, the largest first", up="places of a region", log_y=True,
            says="How many places each region has, the largest first.",
            notes=["The vertical axis is logarithmic. Of its regions the paper prints number, largest and smallest."],
        )
    }  # fmt: skip


def _read(rows: pd.DataFrame) -> Regions:
    """The regions of a set, numbered by prefix as they were when they were made."""
    regions, spots = regions_of(rows).sort_values("prefix"), rows[rows["latitude"].notna()]
    prefixes = tuple(regions["prefix"].str.removeprefix(_BITS))
    labels = spots["region"].map({number: at for at, number in enumerate(regions["region"])}).to_numpy(np.int64)
    return Regions(Points(spots[["latitude", "longitude"]].to_numpy(), metric="haversine"), labels, prefixes)


def _printed(dataset: str) -> list[Printed]:
    """The largest, and of the smallest how many regions come before it: it is the last."""
    count, smallest, largest = REGIONS[dataset]
    return [
        Printed(largest, f"the largest {largest}", 1),
        Printed(smallest, f"{count} regions, the smallest {smallest}", count),
    ]
