"""From the bag of a question to the answers: each report counts as often as it came, and in which order is not needed.

A bag is rows (the report as JSON text, how often it came). They are read in blocks; what stays in memory is, of a
mechanism with outputs, their counts, and of a flat category or a record its reports, a few bytes each. The estimates
are those of :func:`bipartite.estimate` for the same reports, to the last digit.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress, islice
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from bipartite.answers.estimation.estimating import from_tally, rows_of
from bipartite.answers.estimation.joint import joint_of
from bipartite.answers.estimation.tally import Tally
from bipartite.domains.product import tuple_text
from bipartite.errors import BipartiteError, DataFileError, InputError, shown
from bipartite.mechanisms.categories.cells import from_cells
from bipartite.texts import escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from bipartite.answers.estimation import Estimate
    from bipartite.answers.estimation.joint import JointEstimate
    from bipartite.collect.study import Part, Question, Study
    from bipartite.mechanisms import Mechanism

_BLOCK: Final = 2**13
"""Rows of a bag that are Python objects at the same time: few enough for the caches of a processor."""


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The reports of one part, as the bag holds them: each distinct one once."""

    there: NDArray[np.bool_]
    """Which rows of the bag report this part: all but those of a record that drew others."""
    rows: NDArray[Any]
    """For each of those the index of the output or, for flat categories, the report itself."""


class Bag:
    """The reports of one question."""

    def __init__(self, question: Question, times: NDArray[np.int64], columns: dict[str, Column]) -> None:
        self.question = question
        self._times, self._columns = times, columns

    @classmethod
    def read(cls, question: Question, rows: Iterable[tuple[str, int]]) -> Bag:
        """Read a bag row by row: (the report as JSON text, how often it came)."""
        decode = _decoder(question)
        blocks: list[list[Column]] = [[] for _ in question.parts]
        counted, rest = [np.zeros(0, dtype=np.int64)], iter(rows)
        while block := list(islice(rest, _BLOCK)):
            texts, times = zip(*block, strict=True)
            for found, column in zip(blocks, decode(texts), strict=True):
                found.append(column)
            counted.append(np.array(times, dtype=np.int64))
        columns = {part.name: _together(found) for part, found in zip(question.parts, blocks, strict=True)}
        return cls(question, np.concatenate(counted), columns)

    @property
    def n(self) -> int:
        """The number of reports."""
        return int(self._times.sum())

    def reported(self, part: Part) -> int:
        """The number of reports of one part: fewer if a record draws some of its parts."""
        return int(self._times[self._columns[part.name].there].sum())

    def estimate(self, part: Part) -> Estimate:
        """The answers to one part, from those who reported it."""
        column = self._columns[part.name]
        return from_tally(part.mechanism, _tally(part, column.rows, self._times[column.there]))

    def joint(self, first: Part, second: Part) -> JointEstimate:
        """The joint distribution of two parts of a record, from those who reported both."""
        one, other = (self._columns[part.name] for part in (first, second))
        both = one.there & other.there
        times = self._times[both]
        found = []
        for part, column in ((first, one), (second, other)):
            reports = np.repeat(column.rows[both[column.there]], times, axis=0)  # who is who: one row a person
            found.append(from_tally(part.mechanism, Tally.of(part.mechanism, reports)))
        return joint_of(found[0], found[1], (first.name, second.name), "auto")

    def both(self, first: Part, second: Part) -> int:
        """The number of people who reported two parts."""
        one, other = (self._columns[part.name].there for part in (first, second))
        return int(self._times[one & other].sum())


def across(study: Study, first: str, second: str) -> tuple[Question, Part, Part]:
    """The Record question that asks two parts of the same people, and these parts; refused if there is none."""
    for question in study.questions:
        named = {part.name: part for part in question.parts}
        if first != second and first in named and second in named:
            if question.sample == 1:
                raise InputError(
                    f"Each person reports one part of {shown(question.name)}, so nobody reported both "
                    f"{shown(first)} and {shown(second)}; to compare them, leave sample out of a new study, or "
                    "take 2 or more."
                )
            return question, named[first], named[second]
    known = [part.name for question in study.questions for part in question.parts]
    unknown = [name for name in (first, second) if name not in known]
    if unknown or first == second:
        wrong = f"no {shown(unknown[0])}" if unknown else f"{shown(first)} twice"
        raise InputError(f"Expected two of {', '.join(map(escaped, known))}, got {wrong}; name two questions.")
    raise InputError(
        f"{shown(first)} and {shown(second)} are questions of their own: nobody knows which of their reports "
        "belong to one person, so there is no answer across them. Answers across questions need a Record question: ask "
        f"both in a new study as [questions.NAME.record.{escaped(first)}] and "
        f"[questions.NAME.record.{escaped(second)}]."
    )


def _decoder(question: Question) -> Callable[[Sequence[str]], list[Column]]:
    """What reads the texts of a block into a column for each part."""
    parts, sampled = question.parts, question.sample is not None
    fields = [f"part{at}" for at in range(len(parts))]
    wanted = question.sample or len(parts)
    decoder = msgspec.json.Decoder(list[Any])
    if question.is_record:
        # Faster than dicts; unknown names are refused, and what is missing is None.
        named = dict(zip(fields, (part.name for part in parts), strict=True))
        optional = [(field, Any, None) for field in fields]
        person = msgspec.defstruct("Person", optional, rename=named, forbid_unknown_fields=True, gc=False)
        decoder = msgspec.json.Decoder(list[person])  # type: ignore[valid-type]  # made here

    def decode(texts: Sequence[str]) -> list[Column]:
        try:
            held = decoder.decode(f"[{','.join(texts)}]")
            cells = [[getattr(each, field) for each in held] for field in fields] if question.is_record else [held]
            there = np.array([[cell is not None for cell in column] for column in cells], dtype=np.bool_)
            if len(held) == len(texts) and (there.sum(axis=0) == wanted).all():
                told = [list(compress(*each)) for each in zip(cells, there, strict=True)] if sampled else cells
                columns = zip(there, (part.mechanism for part in parts), told, strict=True)
                return [Column(some, _rows(mechanism, reports)) for some, mechanism, reports in columns]
        except (msgspec.DecodeError, BipartiteError, TypeError, ValueError, OverflowError):
            pass
        # Outside the handler: the inner error may show a report.
        raise DataFileError(
            f"The database holds reports of the question {shown(question.name)} that its mechanism cannot give, so "
            "something else has written to it; run bipartite collect check, and restore a backup."
        )

    return decode


def _rows(mechanism: Mechanism, cells: list[Any]) -> NDArray[Any]:
    """What ``bp.estimate`` makes of these reports; refused if the mechanism cannot give one of them."""
    if mechanism.domain.parts and not mechanism.flat:
        cells = [tuple_text(each) for each in cells]
    if mechanism.flat:
        return from_cells(mechanism, cells) if cells else mechanism.flat_draw.empty(0)
    return rows_of(mechanism, cells) if cells else np.zeros(0, dtype=np.int64)


def _together(blocks: list[Column]) -> Column:
    """The blocks of one part as one."""
    if not blocks:
        return Column(np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.int64))
    return Column(np.concatenate([each.there for each in blocks]), np.concatenate([each.rows for each in blocks]))


def _tally(part: Part, rows: NDArray[Any], times: NDArray[np.int64]) -> Tally:
    """The sums over reports that came so many times."""
    if part.mechanism.flat:
        # The reports themselves: OLH takes its errors from them.
        return Tally.of(part.mechanism, rows if (times == 1).all() else np.repeat(rows, times, axis=0))
    # As doubles the sums are exact up to 2^53.
    counts = np.bincount(rows, times, minlength=len(part.mechanism.outputs)).astype(np.int64)
    return Tally.of_counts(counts, int(times.sum()))
