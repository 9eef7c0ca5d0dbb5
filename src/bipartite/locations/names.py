"""Names of places on maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bipartite.texts import escaped

if TYPE_CHECKING:
    from bipartite.domains import Points


def names_of(places: Points) -> list[str]:
    """The name of each place: its label, or its row number and coordinates."""
    if places.labels is not None:
        return [escaped(label) for label in places.labels]
    return [
        f"{number} ({latitude:.4f}, {longitude:.4f})"
        for number, (latitude, longitude) in enumerate(places.coordinates.tolist())
    ]
