"""Reading what is sent: envelopes of this study, each with a report that its mechanism can give, or a refusal.

A body that reads back, byte for byte, as a fast decoder understood it says everything once. Any other body is read by
the strict reader of this package, which refuses what two readers could understand in two ways. A refusal names
positions, and never holds a value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from bipartite.collect.store import Arrival
from bipartite.mechanisms.spec.canonical import canonical_json
from bipartite.tables.collecting import cell_of
from bipartite.tables.extras import pa
from bipartite.tables.reports import THERE, reports_of
from bipartite.texts import RepeatedKeyError, read_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bipartite.collect.study import Part, Question, Study

MOST_BYTES: Final = 4 * 2**20
"""The longest body."""
MOST_ENVELOPES: Final = 10_000
"""The most envelopes in a body."""
_KEY_BYTES: Final = 16
_REMEMBERED: Final = 2**23  # bytes of texts of reports, for each question
_ROW: Final = re.compile("x[0-9a-f]+")  # tables allow blanks around it, which here would be a second way to write it


class Refusal(Exception):  # noqa: N818 (an answer, not a failure)
    """Why a body is not taken: a status of HTTP, words that hold nothing of the body, and positions in it."""

    def __init__(self, status: int, words: str, positions: Sequence[int] | None = None) -> None:
        super().__init__(words)
        self.status, self.words, self.positions = status, words, positions


class _Envelope(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """An envelope as it is sent, in the order in which clients write it."""

    v: int
    study: str
    question: str
    spec: str
    report: msgspec.Raw
    key: str


_one, _many = msgspec.json.Decoder(_Envelope), msgspec.json.Decoder(list[_Envelope])
_encode: Final = msgspec.json.Encoder().encode
_FIELDS: Final = frozenset(_Envelope.__struct_fields__)


@dataclass(slots=True)
class _Desk:
    """A question: what its envelopes must name, and the reports that were found to be its own."""

    question: Question
    number: int
    sha256: str
    known: dict[bytes, str] = field(default_factory=dict)
    """The canonical text of reports as they were written, for as many as there is room."""
    room: int = _REMEMBERED

    def texts(self, reports: Sequence[bytes]) -> list[str | None]:
        """The canonical text of each report; None for one that cannot have come from the mechanism."""
        found = [self.known.get(each) for each in reports]
        new = {reports[at] for at, text in enumerate(found) if text is None}
        if new:
            read = dict(zip(new, self._read([_parsed(each) for each in new]), strict=True))
            found = [read.get(report) if text is None else text for report, text in zip(reports, found, strict=True)]
            kept = {report: text for report, text in read.items() if text is not None}
            size = sum(len(report) + len(text) for report, text in kept.items())
            if size <= self.room:  # a report can be written in four million bytes: spaces, zeros
                self.known |= kept
                self.room -= size
        return found

    def _read(self, given: Sequence[Any]) -> list[str | None]:
        parts, sample = self.question.parts, self.question.sample
        if not self.question.is_record:
            fit = _fitting(parts[0], given)
        else:
            names, count = {part.name for part in parts}, sample or len(parts)
            fit = np.array([type(each) is dict and each.keys() <= names and len(each) == count for each in given])
            for part in parts:
                there = [at for at, each in enumerate(given) if fit[at] and part.name in each]
                fit[there] = _fitting(part, [given[at][part.name] for at in there])
        return [canonical_json(each) if fits else None for each, fits in zip(given, fit.tolist(), strict=True)]


_NOTHING: Final = object()


def _parsed(text: bytes) -> Any:  # noqa: ANN401 (JSON)
    """A report's JSON; what is read in two ways, or is none, is nothing that a mechanism gives."""
    try:
        return read_json(text.decode())
    except (ValueError, RecursionError):
        return _NOTHING


def _fitting(part: Part, given: Sequence[Any]) -> Any:  # noqa: ANN401 (an array)
    """Which of these values the mechanism of a part can give, written as clients write them."""
    mechanism = part.mechanism
    if mechanism.flat:
        # Rows of bits and numbers are text, in lower case; a single number is a number.
        if mechanism.report_shape[1] is None:
            fit = [type(each) is int for each in given]
        else:
            fit = [type(each) is str and _ROW.fullmatch(each) is not None for each in given]
    elif mechanism.domain.parts:
        fit = [type(each) is list for each in given]
    elif mechanism.report_labels is not None:
        labels = set(map(_typed, mechanism.report_labels))
        fit = [type(each) in {str, int, float} and _typed(each) in labels for each in given]
    else:
        fit = [type(each) in {int, float} for each in given]
    found = np.array(fit, dtype=bool)
    rows = np.flatnonzero(found)
    try:
        cells = pa.array([cell_of(given[at]) for at in rows.tolist()], pa.string())
        values, states = reports_of(mechanism).look_up(cells)
        found[rows] = states == THERE
        if not mechanism.flat:
            # Tables allow for floats that files have rounded. Devices round none: one that is near could carry a mark.
            there = np.flatnonzero(found)
            held = values[states == THERE].tolist()
            found[there] = [
                _is(given[at], mechanism.outputs[int(n)]) for at, n in zip(there.tolist(), held, strict=True)
            ]
    except (UnicodeEncodeError, ValueError, OverflowError):  # lone surrogates, numbers of thousands of digits
        if len(given) == 1:
            return np.zeros(1, dtype=bool)
        return np.concatenate([_fitting(part, [each]) for each in given])
    return found


def _is(given: object, output: object) -> bool:
    """Whether a value of JSON is an output: 20.0 is 20, but true is not 1."""
    if isinstance(output, tuple):
        return isinstance(given, list) and len(given) == len(output) and all(map(_is, given, output))
    return not isinstance(given, bool) and given == output


def _typed(label: object) -> tuple[bool, object]:
    return isinstance(label, str), label


class Reader:
    """Reads the bodies of one study."""

    def __init__(self, study: Study, numbers: Mapping[str, int]) -> None:
        self._study = study.name
        self._desks = {each.name: _Desk(each, numbers[each.name], each.sha256) for each in study.questions}

    def read(self, body: bytes) -> list[Arrival]:
        """The reports of a body, all of them checked; a :class:`Refusal` if one is not of this study."""
        envelopes = _opened(body)
        if len(envelopes) == 1:
            fast = self._one(envelopes[0])
            if fast is not None:
                return [fast]
        self._check_named(envelopes)
        positions: dict[str, list[int]] = {}
        for at, envelope in enumerate(envelopes):
            positions.setdefault(envelope.question, []).append(at)
        texts: dict[int, str] = {}
        for name, mine in positions.items():
            found = self._desks[name].texts([bytes(envelopes[at].report) for at in mine])
            texts |= {at: text for at, text in zip(mine, found, strict=True) if text is not None}
        keys = [_key(each.key) for each in envelopes]
        wrong = [at for at, key in enumerate(keys) if at not in texts or not key]
        if wrong:
            raise Refusal(
                422,
                "Expected reports that the mechanism can give, with keys of 32 hexadecimal digits; nothing was "
                "counted: leave these positions out, or draw by the spec of the question.",
                wrong,
            )
        return [
            Arrival(self._desks[each.question].number, key, texts[at])
            for at, (each, key) in enumerate(zip(envelopes, keys, strict=True))
        ]

    def _one(self, envelope: _Envelope) -> Arrival | None:
        """The one report of a body, if all is right and its text is known: the way of nearly every post."""
        desk = self._desks.get(envelope.question)
        if desk is None or (envelope.v, envelope.study, envelope.spec) != (1, self._study, desk.sha256):
            return None
        text = desk.known.get(bytes(envelope.report))
        key = _key(envelope.key)
        return Arrival(desk.number, key, text) if text is not None and key else None

    def _check_named(self, envelopes: Sequence[_Envelope]) -> None:
        """Refuse envelopes of another version, study, question or spec."""
        desks = self._desks
        _refuse(422, "Expected envelopes of version 1; update the client.", [each.v != 1 for each in envelopes])
        others = [each.study != self._study or each.question not in desks for each in envelopes]
        _refuse(404, "Expected questions of this study; see /specs.json.", others)
        specs = [each.spec != desks[each.question].sha256 for each in envelopes]
        _refuse(409, "Expected reports drawn by the spec of their question, got another; see /specs.json.", specs)


def _refuse(status: int, words: str, wrong: Sequence[bool]) -> None:
    if any(wrong):
        raise Refusal(status, words, [at for at, each in enumerate(wrong) if each])


def _key(text: str) -> bytes:
    """The 16 bytes of a key; empty if it is not written as clients write it."""
    try:
        key = bytes.fromhex(text)
    except ValueError:
        return b""
    return key if len(key) == _KEY_BYTES and key.hex() == text else b""


def _opened(body: bytes) -> list[_Envelope]:
    """The envelopes of a body that says everything once."""
    try:
        found = _many.decode(body) if body[:1] == b"[" else [_one.decode(body)]
        if _encode(found if body[:1] == b"[" else found[0]) != body:
            found = _strictly(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        found = _strictly(body)
    if not found:
        raise Refusal(422, "Expected an envelope, or an array of them; send at least one.")
    if len(found) > MOST_ENVELOPES:
        raise _too_many()
    return found


def _too_many() -> Refusal:
    return Refusal(413, f"Expected at most {MOST_ENVELOPES:,} envelopes; send them in parts.")


def _strictly(body: bytes) -> list[_Envelope]:
    """The same, by the strict reader, which knows why not."""
    try:
        held = read_json(body.decode())
    except (ValueError, RecursionError) as error:
        why = (
            "repeats a key" if isinstance(error, RepeatedKeyError) else "is not JSON in UTF-8, or is nested too deeply"
        )
        refusal = Refusal(400, f"The body {why}; send an envelope, or an array of them.")
    else:
        listed = held if isinstance(held, list) else [held]
        if len(listed) > MOST_ENVELOPES:
            raise _too_many()
        wrong = [at for at, each in enumerate(listed) if not _is_envelope(each)]
        if not wrong:
            return [_Envelope(**{**each, "report": msgspec.Raw(_written(each["report"]))}) for each in listed]
        refusal = Refusal(
            422, "Expected envelopes with v, study, question, spec, report and key, and nothing else.", wrong
        )
    raise refusal


def _is_envelope(held: object) -> bool:
    return (
        isinstance(held, dict)
        and held.keys() == _FIELDS
        and type(held["v"]) is int
        and all(isinstance(held[name], str) for name in ("study", "question", "spec", "key"))
    )


def _written(report: object) -> bytes:
    """A report as clients write it; one that cannot be written is no mechanism's."""
    try:
        return canonical_json(report).encode()
    except (ValueError, RecursionError, TypeError):
        return b""
