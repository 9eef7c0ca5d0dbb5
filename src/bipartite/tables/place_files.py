"""Files of places: one row per place with latitude, longitude and optionally a label, with or without a header."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bipartite.domains import Points
from bipartite.errors import DataFileError, DomainError, how_many
from bipartite.tables.domain_files import read_text
from bipartite.tables.public_places import check_public

if TYPE_CHECKING:
    from collections.abc import Sequence
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
    found = PlaceFile.read(path)
    coordinates = found.coordinates()
    if not are_public:
        check_public(path, found.names, found.lines, coordinates, unless)
    try:
        return Points(coordinates, metric="haversine", labels=found.labels())
    except DomainError as error:
        raise DataFileError(f"{path}: {error}") from None


@dataclass(frozen=True, slots=True)
class PlaceFile:
    """The rows of a file of places, their line numbers, and the role of each column."""

    path: Path
    rows: list[list[str]]
    lines: list[int]
    latitude: int
    longitude: int
    label: int | None
    names: list[str]
    """The names of the columns; empty without a header."""

    @classmethod
    def read(cls, path: Path) -> PlaceFile:
        """Read the rows of a file with or without a header."""
        text = read_text(path).removeprefix("\ufeff")  # Excel starts with a byte order mark
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
            raise DataFileError(
                f"{path}: line {reader.line_num} cannot be read as CSV ({error}); repair or remove it."
            ) from None
        if not rows:
            raise DataFileError(f"{path} is empty; add a line with latitude and longitude for each place.")
        if any(_number(cell) is not None for cell in rows[0]):
            if len(rows[0]) > _PAIR + 1:
                raise DataFileError(
                    f"{path}: expected lat, lon and optionally a label in a file without a header, got {len(rows[0])} "
                    "columns; name the columns in a header line, and write numbers with a decimal point."
                )
            return cls(path, rows, lines, 0, 1, _PAIR if len(rows[0]) > _PAIR else None, [])
        names = [cell.strip() for cell in rows[0]]
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
        return cls(path, rows[1:], lines[1:], latitude, longitude, label, names)

    def coordinates(self) -> list[tuple[float, float]]:
        """The coordinates of every row, or an error that names the rows without them."""
        found, bad = [], []
        # Extra cells are as wrong as missing ones: 52,5 with a comma would pass for 52 and 5.
        width = max(_PAIR, len(self.names) or len(self.rows[0]))
        for line, row in zip(self.lines, self.rows, strict=True):
            if len(row) < width or any(cell.strip() for cell in row[width:]):
                bad.append(f"line {line} has {how_many(len(row), 'cell')} instead of {width}")
                continue
            pair = _number(row[self.latitude]), _number(row[self.longitude])
            if pair[0] is None or pair[1] is None:
                bad.append(f"line {line} has a {'latitude' if pair[0] is None else 'longitude'} that is not a number")
                continue
            found.append((pair[0], pair[1]))
        if bad:
            more = f" and {len(bad) - _NAMED} more" if len(bad) > _NAMED else ""
            raise DataFileError(
                f"{self.path}: {'; '.join(bad[:_NAMED])}{more}; repair or remove them, and write numbers with a "
                "decimal point."
            )
        return found

    def labels(self) -> list[str] | None:
        """The label of every row, if the file has labels."""
        return None if self.label is None else [row[self.label].strip() for row in self.rows]


def _first(names: Sequence[str], known: Sequence[str]) -> int | None:
    return next((names.index(name) for name in known if name in names), None)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
