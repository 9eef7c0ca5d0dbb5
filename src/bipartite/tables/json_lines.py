"""JSON lines: the values of each object, as text or as the JSON that they were written in."""

from __future__ import annotations

import json
from json.decoder import scanstring  # type: ignore[attr-defined]  # C or Python, as json has it
from typing import TYPE_CHECKING, Any, NoReturn

from bipartite.errors import DataFileError
from bipartite.tables.extras import pa

if TYPE_CHECKING:
    from collections.abc import Iterator


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)  # NaN and Infinity are not JSON


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


class _RepeatedKeyError(ValueError):
    pass


class _NotAnObjectError(ValueError):
    pass


class JsonLines:
    """The objects of an input of JSON lines, block by block."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._line = 0

    def keys(self, block: bytes) -> list[str]:
        """The keys of the objects in the first block, in the order in which they first appear."""
        found = list(dict.fromkeys(key for row in self._rows(block) for key in row))
        self._line = 0
        return found

    def cells(self, block: bytes, names: list[str], kept: list[str]) -> list[pa.Array]:
        """A column of text for each name; missing keys are null, and columns of ``kept`` hold JSON."""
        columns: dict[str, list[str | None]] = {name: [] for name in names}
        for row in self._rows(block):
            for name, column in columns.items():
                value, written = row.get(name, (None, None))
                column.append(written if name in kept or (not isinstance(value, str) and value is not None) else value)
        return [pa.array(column, pa.string()) for column in columns.values()]

    def _rows(self, block: bytes) -> Iterator[dict[str, tuple[Any, str]]]:
        """Each object as (value, the JSON that it was written in) by key."""
        why = None
        for line in block.splitlines():
            self._line += 1
            if not line.strip():
                continue
            try:
                yield _object(line.decode())
            except (_NotAnObjectError, _RepeatedKeyError) as error:
                why = "is not a JSON object" if isinstance(error, _NotAnObjectError) else "repeats a key"
            except UnicodeError:
                why = "is not UTF-8 text"
            except (ValueError, RecursionError, IndexError):
                why = "is not valid JSON"
            if why is not None:
                raise DataFileError(f"line {self._line:,} of {self.source} {why}; repair it.")


def _object(line: str) -> dict[str, tuple[Any, str]]:
    """The values of a JSON object by key, each with the text that it was written in."""
    line = line.strip(" \t\r")
    if not line.startswith("{"):
        _DECODER.decode(line)
        raise _NotAnObjectError
    found: dict[str, tuple[Any, str]] = {}
    at = _skip(line, 1)
    while line[at] != "}":
        key, at = _text(line, at)
        start = _skip(line, _after(line, at, ":"))
        value, at = _DECODER.raw_decode(line, start)
        if isinstance(value, str):
            value.encode()  # half of a surrogate pair is no letter
        if key in found:
            raise _RepeatedKeyError
        found[key] = (value, line[start:at])
        at = _skip(line, at)
        if line[at] != "}":
            at = _skip(line, _after(line, at, ","))
            if line[at] == "}":
                raise ValueError
    if at + 1 != len(line):
        raise ValueError
    return found


def _text(line: str, at: int) -> tuple[str, int]:
    """(the string that begins here, the place after it)."""
    text, end = scanstring(line, _after(line, at, '"'), True)  # noqa: FBT003 (as json calls it)
    text.encode()
    return text, end


def _after(line: str, at: int, mark: str) -> int:
    """The place after this mark, which must come next."""
    at = _skip(line, at)
    if line[at] != mark:
        raise ValueError
    return at + 1


def _skip(line: str, at: int) -> int:
    while line[at] in " \t":
        at += 1
    return at
