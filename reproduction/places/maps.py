"""Maps of the regions of places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bipartite.locations import coasts
from bipartite.plots import regions_on_a_map
from bipartite.texts import escaped

if TYPE_CHECKING:
    from bipartite.plots import Picture
    from reproduction.places.regions import Regions


def draw(regions: Regions, *, credit: str = "") -> Picture:
    """A map of places, each region with its number, name and size, as SVG text; ``credit`` names their source."""
    places = regions.places
    notes = [
        "A region is named by the leading bits that the map tile codes of its places share."
        if regions.prefixes is not None
        else "The regions were given."
    ]
    if regions.merged:
        notes.append(f"{regions.merged} with a single place were merged with the region of the nearest other place.")
    if len(regions) > 1:
        notes.append(
            f"Publishing a person’s region would reveal {regions.bits():.2f} bits under the uniform prior, and leave "
            f"only {regions.smallest} possible places in the smallest region; no ε covers that."
        )
    notes.append(
        "Made from the list of places alone, which must be public: never the positions of the people who report."
    )
    names = places.labels or [
        f"{at} ({lat:.4f}, {lon:.4f})" for at, (lat, lon) in enumerate(places.coordinates.tolist())
    ]
    return regions_on_a_map(
        places.coordinates,
        regions.labels,
        [escaped(name) or "(no common bits)" for name in regions.names],
        labels=[escaped(name) for name in names],
        coasts=coasts(),
        notes=[*notes, *([f"Places: {credit}."] if credit else [])],
    )
