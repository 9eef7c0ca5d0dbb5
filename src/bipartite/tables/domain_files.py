"""Domains described in text files: items as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bipartite.domains import Items
from bipartite.errors import DataFileError
from bipartite.texts import RepeatedKeyError, read_json

if TYPE_CHECKING:
    from pathlib import Path


def read_text(path: Path) -> str:
    """Read a text file, or raise an error that names it."""
    try:
        return path.read_text(encoding="utf-8")
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
