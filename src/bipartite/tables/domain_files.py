"""Domains described in text files: items as JSON, and places, one a row with latitude, longitude and perhaps a label.

Candidate places must be public: a file of places that looks like the positions of people is refused.
"""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Final

from bipartite.domains import Items, Points
from bipartite.errors import DataFileError, DomainError, how_many
from bipartite.texts import RepeatedKeyError, read_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_LATITUDE: Final = ("lat", "latitude", "y")
_LONGITUDE: Final = ("lon", "lng", "long", "longitude", "x")
_LABEL: Final = ("name", "label")
_DELIMITERS: Final = ",;\t"
_NAMED: Final = 5  # bad rows shown in an error
_PAIR: Final = 2
# Names that a list of shops may well have (owner, phone, email, year) are not included.
_PEOPLE: Final = (
    "caller", "citizen", "client", "customer", "device", "driver", "employee", "guest", "imei", "imsi", "individual",
    "member", "msisdn", "participant", "passenger", "patient", "person", "respondent", "rider", "subscriber", "tourist",
    "traveler", "traveller", "uid", "user", "userid", "username", "visitor",
)  # fmt: skip
_TIMES: Final = (
    "checkin", "date", "datetime", "day", "hour", "minute", "month", "time", "timestamp", "ts", "utc", "visited",
    "when",
)  # fmt: skip
_TELLING: Final = {form for word in (*_PEOPLE, *_TIMES) for form in (word, f"{word}s")}
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def read_text(path: Path) -> str:
    """Read a text file, or raise an error that names it."""
    try:
        return path.read_text(encoding="utf-8-sig")  # Windows writes a mark before it
    except UnicodeDecodeError:
        raise DataFileError(f"{path} is not UTF-8 text.") from None


def read_items(path: Path) -> Items:
    """Read items from a JSON file."""
    try:
        described = read_json(read_text(path))
    except (ValueError, RecursionError) as error:
        why = "repeats a key" if isinstance(error, RepeatedKeyError) else "is not JSON"
        raise DataFileError(
            f"{path} {why}{f': see line {error.lineno}' if isinstance(error, json.JSONDecodeError) else ''}."
        ) from None
    if not isinstance(described, dict) or not set(described) <= {"labels", "loss", "similarity", "allow_off_diagonal"}:
        raise DataFileError(f'{path} does not hold {{"labels": […]}}, if wanted with "loss" or "similarity": [[…]].')
    labels = described.pop("labels", None)
    if isinstance(labels, list) and any(isinstance(label, str) and label != label.strip() for label in labels):
        raise DataFileError(
            f"{path} holds labels with leading or trailing spaces, which no line of input can match; strip them."
        )
    return Items(labels, **described)


# --- Places


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
    latitude, longitude, label = (
        next((small.index(name) for name in known if name in small), None) for known in (_LATITUDE, _LONGITUDE, _LABEL)
    )
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


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def check_public(
    path: Path, names: Sequence[str], lines: Sequence[int], positions: Sequence[tuple[float, float]], unless: str
) -> None:
    """Refuse a list of places that looks like a list of visits; ``unless`` names the option that allows it.

    A list of distinct places may still be people's homes: nothing in a file can show that it is public.
    """
    found = []
    # The words in a name are the same for userId, user_id and User ID.
    beside = [name for name in names if not _TELLING.isdisjoint(map(str.lower, _WORDS.findall(name)))]
    if beside:
        column = "a column" if len(beside) == 1 else "columns"
        found.append(f"has {column} of people or times next to the places: {', '.join(map(repr, beside))}")
    first: dict[tuple[float, float], int] = {}
    again = [line for line, each in zip(lines, positions, strict=True) if first.setdefault(each, line) != line]
    if again:
        found.append(f"repeats coordinates in {how_many(len(again), 'row')}, the first on line {again[0]}")
    if found:
        raise DataFileError(
            f"{path} {'; it '.join(found)}. It looks like the positions of people, and places taken from those reveal "
            "where someone was, whatever ε is. Use a public list with each place once, or a grid (bp.locations.grid, "
            f"or bipartite design grid:S,W,N,E/METRES); or confirm that the list is public: {unless}."
        )
