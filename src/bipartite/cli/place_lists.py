"""Lists of places for the commands: a CSV file, or large cities."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bipartite.domains.regions import Regions
from bipartite.errors import DataFileError, DomainError, InputError
from bipartite.locations import cities, places
from bipartite.tables.domain_files import read_text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from bipartite.domains import Points

_LATITUDE: Final = ("lat", "latitude", "y")
_LONGITUDE: Final = ("lon", "lng", "long", "longitude", "x")
_LABEL: Final = ("label", "name", "place", "id")
CITIES: Final = "cities"
_DELIMITERS: Final = ",;\t"
_NAMED: Final = 5  # bad rows in an error
_PAIR: Final = 2


@dataclass(frozen=True, slots=True)
class Listed:
    """Places, their regions, and where they came from, in words."""

    places: Points
    regions: Regions
    source: str
    credit: str = ""
    """Whose list it is, on every map of it."""


@dataclass(frozen=True, slots=True)
class _Table:
    """The rows of a file, the line of each, and which column is what."""

    rows: list[list[str]]
    lines: list[int]
    latitude: int
    longitude: int
    label: int | None
    names: list[str]


def add_places(parser: argparse.ArgumentParser, data_sets: str = "cities: a hundred large cities of the world") -> None:
    """Add the options that name a list of places."""
    listed = parser.add_argument_group("the places (FILE or --dataset): public, never the positions of who reports")
    listed.add_argument(
        "file", metavar="FILE.csv", nargs="?", type=Path, help="columns lat, lon and, for names, label; header or none"
    )
    listed.add_argument("--dataset", metavar="NAME", help=data_sets)
    listed.add_argument(
        "--merge", dest="merge_within", metavar="METRES", type=float, help="places nearer than that become one"
    )
    listed.add_argument(
        "--regions", metavar="COLUMN", help="the column of FILE with the region of each place (default: by map tile)"
    )
    parser.set_defaults(places_of=places_of)


def places_of(options: argparse.Namespace) -> Listed:
    """The places that the options name."""
    if (options.file is None) == (options.dataset is None):
        msg = "Expected a FILE.csv or --dataset NAME, one of them; try --dataset cities."
        raise InputError(msg)
    if options.dataset not in {None, CITIES}:
        msg = (
            f"Expected --dataset cities, got {options.dataset!r}; name a FILE.csv for other places, or take the data "
            "sets of the paper: python -m reproduction locations."
        )
        raise InputError(msg)
    return _of_cities(options) if options.file is None else _of_file(options)


def _of_file(options: argparse.Namespace) -> Listed:
    path: Path = options.file
    table = _table(path)
    coordinates = _coordinates(path, table)
    labels = None if table.label is None else [row[table.label].strip() for row in table.rows]
    try:
        found = places(coordinates, labels, merge_within=options.merge_within)
    except DomainError as error:
        msg = f"{path}: {error}"
        raise DataFileError(msg) from None
    if options.regions is None:
        return Listed(found, Regions.by_prefix(found), str(path))
    if options.regions not in table.names:
        there = ", ".join(repr(name) for name in table.names) or "no names"
        msg = (
            f"{path} has no column {options.regions!r}; its first line holds {there}; name one of them with --regions."
        )
        raise DataFileError(msg)
    at = table.names.index(options.regions)
    # Of merged places the first stands for all, with its region.
    region_at: dict[tuple[float, ...], str] = {}
    for row, position in zip(table.rows, coordinates, strict=True):
        region_at.setdefault(position, row[at].strip())
    given = [region_at[tuple(position)] for position in found.coordinates.tolist()]
    try:
        return Listed(found, Regions.of(found, given), str(path))
    except InputError as error:
        msg = f"{path}: column {options.regions!r}: {error}"
        raise DataFileError(msg) from None


def _table(path: Path) -> _Table:
    """The rows of a file whose first one names the columns, or does not."""
    text = read_text(path).removeprefix("\ufeff")  # Excel begins with a mark
    first = text.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows, lines = [], []
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error as error:
        msg = f"{path}: line {reader.line_num} cannot be read as CSV ({error}); repair or remove it."
        raise DataFileError(msg) from None
    if not rows:
        msg = f"{path} is empty; give a line with latitude and longitude for each place."
        raise DataFileError(msg)
    if any(_number(cell) is not None for cell in rows[0]):
        if len(rows[0]) > _PAIR + 1:
            msg = (
                f"{path}: expected lat, lon and perhaps a label in a file without names, got {len(rows[0])} columns; "
                "name the columns in a first line, and write numbers with a point."
            )
            raise DataFileError(msg)
        return _Table(rows, lines, 0, 1, _PAIR if len(rows[0]) > _PAIR else None, [])
    names = [cell.strip() for cell in rows[0]]
    small = [name.lower() for name in names]
    latitude, longitude, label = (_first(small, known) for known in (_LATITUDE, _LONGITUDE, _LABEL))
    twice = [names[at] for at in (latitude, longitude, label) if at is not None and small.count(small[at]) > 1]
    if twice:
        msg = (
            f"{path}: the first line names {', '.join(map(repr, twice))} more than once; give each column its own name."
        )
        raise DataFileError(msg)
    if latitude is None or longitude is None:
        msg = (
            f"{path}: expected columns lat and lon (or latitude, longitude) in the first line, got "
            f"{', '.join(repr(name) for name in names)}; name them so, or leave the names out."
        )
        raise DataFileError(msg)
    return _Table(rows[1:], lines[1:], latitude, longitude, label, names)


def _coordinates(path: Path, table: _Table) -> list[tuple[float, float]]:
    """The numbers of every row, or which rows hold none."""
    found, bad = [], []
    # More cells than the first line has are as wrong as fewer: 52,5 with a comma would pass for 52 and 5.
    width = max(_PAIR, len(table.names) or len(table.rows[0]))
    for line, row in zip(table.lines, table.rows, strict=True):
        if len(row) < width or any(cell.strip() for cell in row[width:]):
            bad.append(f"line {line} has {len(row)} cells instead of {width}")
            continue
        pair = _number(row[table.latitude]), _number(row[table.longitude])
        if pair[0] is None or pair[1] is None:
            bad.append(f"line {line} has a {'latitude' if pair[0] is None else 'longitude'} that is no number")
            continue
        found.append((pair[0], pair[1]))
    if bad:
        more = f" and {len(bad) - _NAMED} more" if len(bad) > _NAMED else ""
        msg = f"{path}: {'; '.join(bad[:_NAMED])}{more}; repair or remove them, and write numbers with a point."
        raise DataFileError(msg)
    return found


def _of_cities(options: argparse.Namespace) -> Listed:
    if options.regions is not None:
        msg = "--regions names a column of a FILE; leave it out with --dataset."
        raise InputError(msg)
    table = cities()
    found = places(table.coordinates, table.names, merge_within=options.merge_within)
    return Listed(found, Regions.by_prefix(found), CITIES, "GeoNames, CC BY 4.0, a selection")


def _first(names: Sequence[str], known: Sequence[str]) -> int | None:
    return next((names.index(name) for name in known if name in names), None)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
