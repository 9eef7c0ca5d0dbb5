"""Lists of places for the commands: a CSV file, or a public data set by its name."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bipartite.cli.output import BadDataError
from bipartite.data import cities
from bipartite.datasets import SOURCES, foursquare, gowalla
from bipartite.domains.regions import Regions
from bipartite.errors import DomainError, InputError
from bipartite.locations import from_checkins, places
from bipartite.tables.domain_files import read_text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from bipartite.domains import Points

_LATITUDE: Final = ("lat", "latitude", "y")
_LONGITUDE: Final = ("lon", "lng", "long", "longitude", "x")
_LABEL: Final = ("label", "name", "place", "id")
_CITIES: Final = "cities"
_NOT_A_LIST: Final = "gowalla-histogram"  # cells of which nobody knows where they lie
_DELIMITERS: Final = ",;\t"
_NAMED: Final = 5  # bad rows in an error
_MOST_OF_A_DATASET: Final = 3_000
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


def add_places(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a list of places."""
    listed = parser.add_argument_group("the places (FILE or --dataset): public, never the positions of who reports")
    listed.add_argument(
        "file", metavar="FILE.csv", nargs="?", type=Path, help="columns lat, lon and, for names, label; header or none"
    )
    listed.add_argument("--dataset", metavar="NAME", help=f"{', '.join(_known())}; the beginning is enough")
    listed.add_argument("--sample", metavar="N", type=int, help="so many of the distinct places of a data set")
    listed.add_argument("--seed", metavar="S", type=int, default=0, help="which of them (default: 0)")
    listed.add_argument("--merge", metavar="METRES", type=float, help="places nearer than that to another become one")
    listed.add_argument(
        "--regions", metavar="COLUMN", help="the column of FILE with the region of each place (default: by map tile)"
    )


def places_of(options: argparse.Namespace) -> Listed:
    """The places that the options name."""
    if (options.file is None) == (options.dataset is None):
        msg = "Expected a FILE.csv or --dataset NAME, one of them; try --dataset cities."
        raise InputError(msg)
    return _of_dataset(options) if options.file is None else _of_file(options)


def _of_file(options: argparse.Namespace) -> Listed:
    if options.sample is not None:
        msg = "--sample belongs to --dataset; leave it out, and list the places that may be reported."
        raise InputError(msg)
    path: Path = options.file
    table = _table(path)
    coordinates = _coordinates(path, table)
    labels = None if table.label is None else [row[table.label].strip() for row in table.rows]
    try:
        found = places(coordinates, labels, merge_within=options.merge)
    except DomainError as error:
        words = str(error).replace("pass merge_within=1 (metres)", "use --merge 1 (metres)")
        msg = f"{path}: {words}"
        raise BadDataError(msg) from None
    if options.regions is None:
        return Listed(found, Regions.by_prefix(found), str(path))
    if options.regions not in table.names:
        there = ", ".join(repr(name) for name in table.names) or "no names"
        msg = (
            f"{path} has no column {options.regions!r}; its first line holds {there}; name one of them with --regions."
        )
        raise BadDataError(msg)
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
        raise BadDataError(msg) from None


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
        raise BadDataError(msg) from None
    if not rows:
        msg = f"{path} is empty; give a line with latitude and longitude for each place."
        raise BadDataError(msg)
    if any(_number(cell) is not None for cell in rows[0]):
        if len(rows[0]) > _PAIR + 1:
            msg = (
                f"{path}: expected lat, lon and perhaps a label in a file without names, got {len(rows[0])} columns; "
                "name the columns in a first line, and write numbers with a point."
            )
            raise BadDataError(msg)
        return _Table(rows, lines, 0, 1, _PAIR if len(rows[0]) > _PAIR else None, [])
    names = [cell.strip() for cell in rows[0]]
    small = [name.lower() for name in names]
    latitude, longitude, label = (_first(small, known) for known in (_LATITUDE, _LONGITUDE, _LABEL))
    twice = [names[at] for at in (latitude, longitude, label) if at is not None and small.count(small[at]) > 1]
    if twice:
        msg = (
            f"{path}: the first line names {', '.join(map(repr, twice))} more than once; give each column its own name."
        )
        raise BadDataError(msg)
    if latitude is None or longitude is None:
        msg = (
            f"{path}: expected columns lat and lon (or latitude, longitude) in the first line, got "
            f"{', '.join(repr(name) for name in names)}; name them so, or leave the names out."
        )
        raise BadDataError(msg)
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
        raise BadDataError(msg)
    return found


def _of_dataset(options: argparse.Namespace) -> Listed:
    if options.regions is not None:
        msg = "--regions names a column of a FILE; leave it out with --dataset."
        raise InputError(msg)
    name = _full_name(options.dataset)
    if name == _CITIES:
        table = cities()
        if options.sample is not None:
            msg = "--dataset cities has a hundred places, labelled; leave out --sample."
            raise InputError(msg)
        found = places(table.coordinates, table.names, merge_within=options.merge)
        return Listed(found, Regions.by_prefix(found), _CITIES, "GeoNames, CC BY 4.0, a selection")
    near = 1.0 if options.merge is None else options.merge
    coordinates = _checkins(name).coordinates
    found = from_checkins(coordinates, source="public", places=options.sample, seed=options.seed, merge_within=near)
    if options.sample is None and len(found) > _MOST_OF_A_DATASET:
        msg = f"{name} has {len(found):,} distinct places; take some of them, for example --sample 1000."
        raise InputError(msg)
    return Listed(found, Regions.by_prefix(found), name, f"{name}, {SOURCES[name].citation.removesuffix('.')}")


def _checkins(name: str) -> Any:  # noqa: ANN401 (CheckIns)
    """A data set of check-ins by its name: publisher, then city or subset."""
    kind, _, rest = name.partition("-")
    if kind == "gowalla":
        return gowalla(rest or None)  # type: ignore[arg-type]  # the names of the sources are those of the subsets
    city, _, subset = rest.partition("-")
    return foursquare(city, subset=subset or None)  # type: ignore[arg-type]


def _known() -> list[str]:
    return [_CITIES] + [name for name in SOURCES if name.startswith(("gowalla", "foursquare")) and name != _NOT_A_LIST]


def _full_name(given: str) -> str:
    known = _known()
    fits = [name for name in known if name.startswith(given)]
    if given in known:
        return given
    if len(fits) != 1:
        problem = "none of them" if not fits else f"the beginning of {len(fits)}"
        msg = f"Expected --dataset as one of {', '.join(known)}, got {given!r}, {problem}."
        raise InputError(msg)
    return fits[0]


def _first(names: Sequence[str], known: Sequence[str]) -> int | None:
    return next((names.index(name) for name in known if name in names), None)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
