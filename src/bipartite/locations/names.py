"""What places and regions are called on maps, and what is said about regions there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bipartite.domains import Points
    from bipartite.domains.regions import Regions


def names_of(places: Points) -> list[str]:
    """What to call each place: its label, or its row number and where it lies."""
    if places.labels is not None:
        return [_printable(str(label)) for label in places.labels]
    return [
        f"{number} ({latitude:.4f}, {longitude:.4f})"
        for number, (latitude, longitude) in enumerate(places.coordinates.tolist())
    ]


def region_names(regions: Regions) -> list[str]:
    """What to call each region."""
    return [_printable(name) or "(no common bits)" for name in regions.names]


def told_by(regions: Regions) -> str:
    """What publishing somebody's region would tell; nothing where there is only one."""
    if len(regions) == 1:
        return ""
    return (
        f"To publish a person’s region would tell {regions.bits():.2f} bits under the uniform prior, and leave a crowd "
        f"of {regions.smallest} places in the smallest one; no ε covers that."
    )


def _printable(words: str) -> str:
    """Words that any picture and page can hold: XML has no control characters."""
    return "".join(each if each.isprintable() else "\ufffd" for each in words)
