"""JSON lines of reports, and the envelopes that clients send: their spec, their question, and their key."""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from bipartite.errors import DataFileError, shown
from bipartite.texts import RepeatedKeyError, read_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bipartite.cli.columns import Chunk
    from bipartite.cli.rejected import Rejected


class Envelopes:
    """Opens envelopes, refuses those of another spec or question, and counts every key once.

    ``named`` says which study and question are counted; what it leaves open, all envelopes must have in common.
    """

    def __init__(
        self,
        specs: dict[str, int | None],
        named: dict[str, str | None],
        attributes: frozenset[str] | None = None,
    ) -> None:
        """``specs`` are the hashes to expect, those of a record with how many ``attributes`` it draws, or None."""
        self._specs, self._attributes = specs, attributes
        self._named = {field: name and unicodedata.normalize("NFC", name) for field, name in named.items()}
        self._first: dict[str, tuple[object, str]] = {}
        self.sampled = False
        """Whether there are records with only some of their attributes."""
        self.repeated = 0
        """The number of lines whose key and report came before."""
        # An unnamed file that SQLite deletes: keys may be too many for memory.
        self._seen = sqlite3.connect("")
        self._seen.execute("PRAGMA journal_mode = OFF")
        self._seen.execute("PRAGMA cache_size = -65536")  # kilobytes
        self._seen.execute("CREATE TABLE seen (key BLOB PRIMARY KEY, report BLOB, place TEXT) WITHOUT ROWID")

    def open(self, held: dict[str, Any], place: str) -> tuple[dict[str, Any], str | None]:
        """(what is in an envelope, its key); a line that is none stays as it is, without a key."""
        report = held.get("report")
        record = self._attributes is not None and "report" not in self._attributes and isinstance(report, dict)
        if not {"spec", "key"} <= held.keys() or not self._specs or record != (self._attributes is not None):
            if any(self._named.values()):
                raise DataFileError("is in no envelope, and so about no question; leave it out.")
            return held, None
        if not isinstance(held["spec"], str) or held["spec"] not in self._specs:
            raise DataFileError("was drawn with another spec; estimate it with its own.")
        self._check_question(held, place)
        if not isinstance(held["key"], str):
            raise DataFileError("has a key that is not text; repair or remove it.")
        if self._attributes is None or not isinstance(report, dict):
            return held, held["key"]
        sample = self._specs[held["spec"]]
        if not report.keys() <= self._attributes or len(report) != (sample or len(self._attributes)):
            raise DataFileError("does not have the attributes of its record; repair or remove it.")
        self.sampled = self.sampled or sample is not None
        return {**held, **dict.fromkeys(self._attributes), **report}, held["key"]

    def _check_question(self, held: dict[str, Any], place: str) -> None:
        for field, name in self._named.items():
            given = held.get(field)
            if name is not None and given != name:
                raise DataFileError(f"is about another {field} than --{field} names; leave it out.")
            first, where = self._first.setdefault(field, (given, place))
            if given != first:
                # Which of them is meant must not be decided by the first line, which may be forged.
                raise OtherQuestionError(
                    f"{place} is about another {field} than {where}; say with --{field} which one to count."
                )

    def fresh(self, name: str, chunk: Chunk, width: int, rejected: Rejected) -> list[int]:
        """The rows of a chunk that count: of several with one key and one report only the first.

        A key is drawn together with its report, so that of two reports with one key the later one is refused.
        """
        found = []
        for row, key in enumerate(chunk.keys):
            if key is not None:
                report = _digest("\n".join(repr(column[row]) for column in chunk.columns[:width]))
                mine = (_digest(key), report, f"{name}: line {chunk.lines[row]}")
                if not self._seen.execute("INSERT OR IGNORE INTO seen VALUES (?, ?, ?)", mine).rowcount:
                    query = "SELECT report, place FROM seen WHERE key = ?"
                    ((before, place),) = self._seen.execute(query, mine[:1]).fetchall()
                    if before == report:
                        self.repeated += 1
                    else:
                        why = f"{mine[2]} has the key of {place}, but another report, so one of them is forged."
                        rejected.refuse(why, chunk.raw[row] if chunk.raw else "")
                    continue
            found.append(row)
        return found


class OtherQuestionError(DataFileError):
    """Envelopes of several questions, none of which was named; no line is to blame."""


def rows_of_json(
    name: str, lines: Iterable[str], names: list[str], envelopes: Envelopes, rejected: Rejected
) -> Iterator[tuple[int, list[str], str | None, str]]:
    """(number, cells of these names, key, text) of every line; a name that a later line lacks is an empty cell."""
    begun = False
    for number, line in enumerate(lines, start=1):
        if line.isspace():
            continue
        place = f"{name}: line {number}"
        try:
            held, key = envelopes.open(_object(line), place)
        except OtherQuestionError:
            raise
        except DataFileError as error:
            rejected.refuse(f"{place} {error}", line)
            continue
        missing = [] if begun else [each for each in names if each not in held]
        if missing:
            rejected.refuse(f"{place} has no column {shown(missing[0])}; name one with --column.", line)
            continue
        begun = True
        yield number, [_cell(held.get(each)) for each in names], key, line


def _object(line: str) -> dict[str, Any]:
    try:
        held = read_json(line)
    except (ValueError, RecursionError) as error:
        why = "has an object that repeats a key" if isinstance(error, RepeatedKeyError) else "is not a JSON object"
    else:
        if isinstance(held, dict):
            return held
        why = "is not a JSON object"
    raise DataFileError(f"{why}; repair or remove it.")


def _cell(value: object) -> str:
    """A JSON value as the cell of a table."""
    if isinstance(value, str):
        return value
    return "" if value is None else str(value) if type(value) is int else json.dumps(value)


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
