"""Names of places and regions on maps, and the note about publishing a region."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bipartite.texts import escaped

if TYPE_CHECKING:
    from bipartite.domains import Points
    from bipartite.domains.regions import Regions


def names_of(places: Points) -> list[str]:
    """The name of each place: its label, or its row number and coordinates."""
    if places.labels is not None:
        return [escaped(label) for label in places.labels]
    return [
        f"{number} ({latitude:.4f}, {longitude:.4f})"
        for number, (latitude, longitude) in enumerate(places.coordinates.tolist())
    ]


def region_names(regions: Regions) -> list[str]:
    """The name of each region."""
    return [escaped(name) or "(no common bits)" for name in regions.names]


def region_warning(regions: Regions) -> str:
    """What publishing a person's region would reveal; empty if there is only one region."""
    if len(regions) == 1:
        return ""
    return (
        f"Publishing a person’s region would reveal {regions.bits():.2f} bits under the uniform prior, and leave only "
        f"{regions.smallest} possible places in the smallest region; no ε covers that."
    )
