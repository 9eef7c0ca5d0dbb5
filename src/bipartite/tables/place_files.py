"""Files of places: one row per place with latitude, longitude and optionally a label, with or without a header."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Final

from bipartite.domains import Points
from bipartite.errors import DataFileError, DomainError, how_many
from bipartite.tables.domain_files import read_text
from bipartite.tables.public_places import check_public

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_LATITUDE: Final = ("lat", "latitude", "y")
_LONGITUDE: Final = ("lon", "lng", "long", "longitude", "x")
_LABEL: Final = ("name", "label")
_DELIMITERS: Final = ",;\t"
_NAMED: Final = 5  # bad rows shown in an error
_PAIR: Final = 2


def read_places(path: Path, *, are_public: bool = False, unless: str = "places_are_public = true") -> Points:
    """Read the places of a file as a domain; a column called name or label holds their labels.

    A file that looks like the positions of people is refused unless ``are_public``; ``unless`` names that option.
    """
    lines, rows = _rows(path)
    first = rows[0]
    if any(_number(cell) is not None for cell in first):  # no header
        if len(first) > _PAIR + 1:
            raise DataFileError(
                f"{path}: expected lat, lon and optionally a label in a file without a header, got {len(first)} "
                "columns; name the columns in a header line, and write numbers with a decimal point."
            )
        names, latitude, longitude, label = [], 0, 1, _PAIR if len(first) > _PAIR else None
    else:
        names = [cell.strip() for cell in first]
        latitude, longitude, label = _columns(path, names)
        del lines[0], rows[0]
    # Extra cells are as wrong as missing ones: 52,5 with a comma would pass for 52 and 5.
    coordinates = _coordinates(path, zip(lines, rows, strict=True), max(_PAIR, len(first)), (latitude, longitude))
    if not are_public:
        check_public(path, names, lines, coordinates, unless)
    labels = None if label is None else [row[label].strip() for row in rows]
    try:
        return Points(coordinates, metric="haversine", labels=labels)
    except DomainError as error:
        raise DataFileError(f"{path}: {error}") from None


def _rows(path: Path) -> tuple[list[int], list[list[str]]]:
    """The rows that are not blank, and the line on which each ends."""
    text = read_text(path).removeprefix("\ufeff")  # Excel starts with a byte order mark
    delimiter = max(_DELIMITERS, key=text.split("\n", 1)[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        found = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise DataFileError(
            f"{path}: line {reader.line_num} cannot be read as CSV ({error}); repair or remove it."
        ) from None
    if not found:
        raise DataFileError(f"{path} is empty; add a line with latitude and longitude for each place.")
    return [line for line, _ in found], [row for _, row in found]


def _columns(path: Path, names: list[str]) -> tuple[int, int, int | None]:
    """Which columns hold latitude, longitude and, if there is one, the label."""
    small = [name.lower() for name in names]
    latitude, longitude, label = (_first(small, known) for known in (_LATITUDE, _LONGITUDE, _LABEL))
    twice = [names[at] for at in (latitude, longitude, label) if at is not None and small.count(small[at]) > 1]
    if twice:
        which = ", ".join(map(repr, twice))
        raise DataFileError(f"{path}: the first line names {which} more than once; give each column its own name.")
    if latitude is None or longitude is None:
        raise DataFileError(
            f"{path}: expected columns lat and lon (or latitude, longitude) in the first line, got "
            f"{', '.join(repr(name) for name in names)}; rename them, or leave the header out."
        )
    return latitude, longitude, label


def _coordinates(
    path: Path, rows: Iterable[tuple[int, list[str]]], width: int, columns: tuple[int, int]
) -> list[tuple[float, float]]:
    """The coordinates of every row, or an error that names the rows without them."""
    found, bad = [], []
    for line, row in rows:
        if len(row) < width or any(cell.strip() for cell in row[width:]):
            bad.append(f"line {line} has {how_many(len(row), 'cell')} instead of {width}")
            continue
        latitude, longitude = (_number(row[column]) for column in columns)
        if latitude is None or longitude is None:
            bad.append(f"line {line} has a {'latitude' if latitude is None else 'longitude'} that is not a number")
            continue
        found.append((latitude, longitude))
    if bad:
        more = f" and {len(bad) - _NAMED} more" if len(bad) > _NAMED else ""
        raise DataFileError(
            f"{path}: {'; '.join(bad[:_NAMED])}{more}; repair or remove them, and write numbers with a decimal point."
        )
    return found


def _first(names: Sequence[str], known: Sequence[str]) -> int | None:
    return next((names.index(name) for name in known if name in names), None)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
