"""The envelopes in which clients send reports: their spec, their question, and their key."""

from __future__ import annotations

import sqlite3
import unicodedata
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import DataFileError
from bipartite.mechanisms.spec.canonical import record_sha256, spec_sha256

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bipartite.mechanisms import Mechanism

REPORT: Final = "report"
"""The column of the reports, if none is named."""


class OtherQuestionError(DataFileError):
    """Envelopes of several questions, none of which was named; no line is to blame."""


class Envelopes:
    """Opens envelopes, refuses those of another spec or question, and counts every key once.

    ``specs`` are the hashes to expect; those of a record, each with the number of ``attributes`` that it draws, or None
    for all. ``study`` and ``question`` say what is counted; what they leave open, all envelopes must have in common.
    """

    def __init__(
        self,
        specs: dict[str, int | None],
        attributes: frozenset[str] | None = None,
        *,
        study: str | None = None,
        question: str | None = None,
    ) -> None:
        self._specs, self._attributes = specs, attributes
        named = {"study": study, "question": question}
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

    @classmethod
    def of_record(cls, attributes: Mapping[str, Mechanism], **named: str | None) -> Envelopes:
        """Envelopes of the record of all private columns of a release, or of some of them."""
        drawn = (None, *range(1, len(attributes)))
        return cls({record_sha256(attributes, each): each for each in drawn}, frozenset(attributes), **named)

    @classmethod
    def of_column(cls, column: str | None, mechanism: Mechanism, **named: str | None) -> Envelopes:
        """Envelopes of the reports of one mechanism; a column of another name is not what they enclose."""
        return cls({spec_sha256(mechanism): None} if column in {None, REPORT} else {}, None, **named)

    def open(self, held: dict[str, Any], place: str) -> tuple[dict[str, Any], str | None]:
        """(what is in an envelope, its key); a line that is none stays as it is, without a key."""
        report = held.get(REPORT)
        record = self._attributes is not None and REPORT not in self._attributes and isinstance(report, dict)
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
                raise DataFileError(f"is about another {field} than {field}= names; leave it out.")
            first, where = self._first.setdefault(field, (given, place))
            if given != first:
                # Which of them is meant must not be decided by the first line, which may be forged.
                raise OtherQuestionError(
                    f"{place} is about another {field} than {where}; say with {field}= which one to count."
                )

    def before(self, key: tuple[bytes, bytes], place: str) -> str | None:
        """Where the key of a report came before with another report; None for a retry, empty for a new key.

        A key is drawn together with its report, so that of two reports with one key the later one is forged.
        """
        if self._seen.execute("INSERT OR IGNORE INTO seen VALUES (?, ?, ?)", (*key, place)).rowcount:
            return ""
        ((report, where),) = self._seen.execute("SELECT report, place FROM seen WHERE key = ?", key[:1]).fetchall()
        if report != key[1]:
            return str(where)
        self.repeated += 1
        return None


def keyed(key: str, cells: Iterable[str]) -> tuple[bytes, bytes]:
    """A key and its report, as they are kept."""
    return _digest(key), _digest("\n".join(map(repr, cells)))


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
