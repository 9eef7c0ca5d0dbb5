"""Tables of releases of places: printed, and as JSON and CSV."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from bipartite.cli import print_table
from bipartite.texts import as_csv as csv_of
from reproduction.places.releases import PER_KM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.domains import Points
    from reproduction.places.regions import Regions
    from reproduction.places.releases import PlaceRelease

_TOO_MUCH: Final = "(!)"
_OTHER: Final = "(*)"


@dataclass(frozen=True, slots=True)
class Listed:
    """Places, and their source in words."""

    places: Points
    source: str
    credit: str = ""
    """The source that every map of it must name."""


def described(listed: Listed, regions: Regions) -> dict[str, Any]:
    """The places and their regions, for JSON."""
    return {
        "source": listed.source,
        "places": len(listed.places),
        "regions": {
            "count": len(regions),
            "smallest": regions.smallest,
            "largest": int(regions.sizes.max()),
            "bits": regions.bits(),
        },
    }


def headline(listed: Listed, regions: Regions) -> str:
    """The places and their regions, in one line."""
    start = f"{listed.source}: {len(listed.places):,} places"
    if len(regions) == 1:
        return f"{start} in one region"
    return f"{start} in {len(regions)} regions of {regions.smallest} to {regions.sizes.max()}"


def print_releases(rows: Sequence[PlaceRelease]) -> None:
    """Print a table of releases."""
    print_table(
        ("release", "where", "ε", "expected km", "worst km", "ε-LDP spent"),
        [
            (
                row.name,
                row.scope,
                row.epsilon,
                f"{row.expected_loss:,.1f}",
                f"{row.worst_loss:,.1f}",
                _spent(row),
            )
            for row in rows
            if not row.note
        ],
    )
    if any(_spent(row).endswith(_TOO_MUCH) for row in rows):
        print(f"{_TOO_MUCH} spends more than its stated ε, and is never chosen.")
    for row in rows:
        if _is_per_km(row):
            print(per_km_words(row, rows))
        if row.note:
            print(f"{row.name}, {row.scope}, ε = {row.epsilon}: {row.note}")


def _spent(row: PlaceRelease) -> str:
    """The ε of plain ε-LDP that a release actually spends."""
    if math.isinf(row.realised_epsilon):
        return "none: region published"
    mark = "" if row.eligible else f" {_OTHER if _is_per_km(row) else _TOO_MUCH}"
    return f"{row.realised_epsilon:.4f}{mark}"


def _is_per_km(row: PlaceRelease) -> bool:
    return row.epsilon.endswith(PER_KM)


def per_km_words(row: PlaceRelease, rows: Sequence[PlaceRelease]) -> str:
    """What the ε of planar Laplace means, compared with that of the other releases."""
    per_km = row.epsilon.removesuffix(PER_KM).strip()
    words = (
        f"{_OTHER} {row.name} promises geo-indistinguishability, not ε-LDP: the odds between two places d km "
        f"apart change by at most a factor e^({per_km}·d)."
    )
    others = {float(each.epsilon) for each in rows if not _is_per_km(each)}
    if len(others) == 1:
        (epsilon,) = others
        words += (
            f" For places closer than {epsilon / float(per_km):.3g} km this is stronger than ε-LDP with "
            f"ε = {epsilon:g}, for more distant ones weaker: neither implies the other, and their errors are not "
            "comparable."
        )
    if row.note:
        return words
    upward = math.ceil(row.realised_epsilon * 10**4) / 10**4  # a promise is never rounded down
    return f"{words} On these places it is ε-LDP with ε = {upward:.4f}."


def plain(row: PlaceRelease) -> dict[str, Any]:
    """A row as JSON, which has no infinity: the ε of a published region is null."""
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in row.to_dict().items()
    }


def as_csv(rows: Sequence[PlaceRelease]) -> str:
    """The rows of a table, one line each."""
    return csv_of(list(rows[0].to_dict()), (row.to_dict().values() for row in rows))
