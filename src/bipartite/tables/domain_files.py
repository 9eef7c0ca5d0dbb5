"""Domains in files: places as CSV, items as JSON."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

from bipartite.domains import Items, Points
from bipartite.errors import DataFileError

if TYPE_CHECKING:
    from pathlib import Path


def read_text(path: Path) -> str:
    """A file as text, or an error that names it."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        msg = f"{path} is not UTF-8 text."
        raise DataFileError(msg) from None


def read_places(path: Path) -> Points:
    """Places from a CSV file with a header: latitude, longitude and, for labels, name."""
    rows = list(csv.DictReader(read_text(path).removeprefix("\ufeff").splitlines()))  # Excel begins with a mark
    columns = set(rows[0]) if rows else set()
    if not {"latitude", "longitude"} <= columns:
        msg = f"{path} has no columns latitude and longitude; give them in the first line."
        raise DataFileError(msg)
    try:
        coordinates = [(float(row["latitude"]), float(row["longitude"])) for row in rows]
    except (TypeError, ValueError):
        msg = f"{path} holds a latitude or longitude that is no number."
        raise DataFileError(msg) from None
    names = [row["name"].strip() for row in rows] if "name" in columns else None
    return Points(coordinates, metric="haversine", labels=names)


def read_items(path: Path) -> Items:
    """Items from a JSON file."""
    try:
        described = json.loads(read_text(path))
    except (ValueError, RecursionError):
        msg = f"{path} is not JSON."
        raise DataFileError(msg) from None
    if not isinstance(described, dict) or not set(described) <= {"labels", "loss", "similarity", "allow_off_diagonal"}:
        msg = f'{path} does not hold {{"labels": […], "loss": [[…]]}} or "similarity".'
        raise DataFileError(msg)
    labels = described.pop("labels", None)
    if isinstance(labels, list) and any(isinstance(label, str) and label != label.strip() for label in labels):
        msg = f"{path} holds labels that begin or end with blanks, which no line of input can name; strip them."
        raise DataFileError(msg)
    return Items(labels, **described)
