"""One release of a table, batch by batch, and the random words that its columns draw from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.errors import InputError, shown
from bipartite.lottery import FixedWords, InsecureSeed, insecure_seed, is_secure, source_of
from bipartite.lottery.words import CHUNK
from bipartite.mechanisms.record import choose_many, sets_of
from bipartite.tables.columns import PUBLIC, copied
from bipartite.tables.extras import pa
from bipartite.tables.metadata import check_metadata

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bipartite.errors import DataError
    from bipartite.lottery import Source
    from bipartite.tables.cells import Opened
    from bipartite.tables.plan import Plan
    from bipartite.tables.reports import Reports, Style

_SEED_BYTES: Final = 8
NOTHING: Final[Mapping[str, NDArray[np.bool_]]] = MappingProxyType({})


class Release:
    """Draws the reports of one table, whose batches come in order.

    ``rng`` is None for the secure source; see :func:`column_sources` for the others. ``style`` is how reports
    are represented in Arrow (:data:`~bipartite.tables.reports.Style`). ``lines`` says that rows are lines of text, in
    the words of errors.
    """

    __slots__ = (
        "_lines", "_private", "_reports", "_schemas", "_sets", "_sources", "insecure", "plan", "rejected", "rows",
        "style",
    )  # fmt: skip

    def __init__(self, plan: Plan, rng: object = None, *, style: Style = "values", lines: bool = False) -> None:
        self.plan = plan
        self.style = style
        self._lines = lines
        self._sources: Mapping[str | None, Source] = column_sources(rng, plan.mechanisms(), plan.sample)
        self.insecure = not all(map(is_secure, self._sources.values()))
        self.rows = 0
        """The number of input rows so far."""
        self.rejected = 0
        """The number of rows left out."""
        self._private = plan.private()
        self._reports = {name: column.reports for name, column in self._private.items()}
        self._sets = None if plan.sample is None else sets_of(len(self._private), plan.sample)
        self._schemas: dict[pa.Schema, pa.Schema] = {}

    def privatize(self, batch: pa.RecordBatch, unreadable: Mapping[str, NDArray[np.bool_]] = NOTHING) -> pa.RecordBatch:
        """Draw the reports of the next rows, an Arrow record batch; an invalid row stops the release.

        ``unreadable`` marks, for inputs that were read as text, the rows that are not values of the required type.
        """
        opened = self._read(batch, unreadable)
        for name, rows in opened.items():
            if any(bad.any() for bad in rows.problems.values()):
                raise self._refusal(name, rows)
        return self._draw(batch, opened)

    def values(self, batch: pa.RecordBatch) -> dict[str, Opened]:
        """The private values as they are read and checked, **without privacy**; numbers may need to be clipped."""
        opened = self._read(batch, NOTHING)
        for name, rows in opened.items():
            if self._private[name].problems(rows):
                raise self._refusal(name, rows)
        return opened

    def _refusal(self, name: str, rows: Opened) -> DataError:
        return self._private[name].refusal(name, rows, self.rows, lines=self._lines)

    def privatize_or_reject(
        self,
        batch: pa.RecordBatch,
        unreadable: Mapping[str, NDArray[np.bool_]],
    ) -> tuple[pa.RecordBatch, dict[int, str]]:
        """(the reports of valid rows, the reason for each rejected row by its number from 0)."""
        good = np.ones(batch.num_rows, dtype=np.bool_)
        reasons: dict[int, str] = {}
        opened = self._read(batch, unreadable)
        for name, rows in opened.items():
            for reason, bad in self._private[name].problems(rows).items():
                good &= ~bad
                for row in np.flatnonzero(bad).tolist():
                    reasons[row] = "; ".join(filter(None, (reasons.get(row), f"{name}: {reason}")))
        if reasons:
            batch = batch.filter(pa.array(good))
            opened = self._read(batch, {each: mark[good] for each, mark in unreadable.items()})
            self.leave_out(len(reasons))
        return self._draw(batch, opened), reasons

    def leave_out(self, count: int) -> None:
        """Count rows that are not reported."""
        self.rows += count
        self.rejected += count

    def _read(self, batch: pa.RecordBatch, unreadable: Mapping[str, NDArray[np.bool_]]) -> dict[str, Opened]:
        self._schema(batch.schema)  # before any value is read: Arrow's message about a wrong type would show one
        found = {}
        for name, column in self._private.items():
            inputs = self.plan.inputs_of(name)
            arrays = [batch.column(each) for each in inputs]
            found[name] = column.reader.read(arrays, [unreadable.get(each) for each in inputs])
        return found

    def _draw(self, batch: pa.RecordBatch, opened: Mapping[str, Opened]) -> pa.RecordBatch:
        schema = self._schema(batch.schema)
        asked = None if self._sets is None else self._sets[self._choose(len(self._sets), batch.num_rows)]
        places = {name: at for at, name in enumerate(self._private)}
        arrays = []
        for name, what in self.plan.columns.items():
            if what == PUBLIC:
                arrays.append(copied(batch.column(name)))
                continue
            rows, held = opened[name], self._reports[name]
            reports = self._draw_column(name, held, rows)
            if reports is None:
                raise self._refusal(name, rows)
            missing = rows.missing
            if asked is not None:
                # All are drawn, so that neither errors nor the words of a column depend on who is asked. No value can
                # be missing here: a plan with a sample refuses or replaces it.
                missing = (asked != places[name]).all(axis=1)
                reports = reports[~missing]
            arrays.append(held.write(reports, missing, schema.field(name).type))
        self.rows += batch.num_rows
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _choose(self, sets: int, rows: int) -> NDArray[np.int64]:
        """Draw the set of columns that each of these rows reports, by its number; their values are not known here."""
        cuts = range(0, max(rows, 1), CHUNK)  # as columns draw: words are taken in order however rows are split
        return np.concatenate([choose_many(sets, min(CHUNK, rows - cut), self._sources[None]) for cut in cuts])

    def _draw_column(self, name: str, reports: Reports, opened: Opened) -> NDArray[Any] | None:
        """Draw the reports of a column's values that are not missing; None if the lottery refuses one."""
        return reports.draw(opened.there, self._sources[name])

    def _schema(self, given: pa.Schema) -> pa.Schema:
        """The schema of the reports of batches of this schema."""
        if given not in self._schemas:
            check_metadata(self.plan, given.metadata, "this table", "drop it with .replace_schema_metadata()")
            self._schemas[given] = self.plan.schema(given, self.style, insecure=self.insecure)
        return self._schemas[given]


def column_sources(rng: object, columns: Iterable[str], sample: int | None = None) -> dict[str | None, Source]:
    """A source for each private column, so that the same words give the same reports in every engine.

    With ``sample`` there is one more, under None, for the columns that each row reports; from a seed it continues
    ``insecure_seed(SHA-256("bipartite sample {w}"))``.

    Every private column has its own stream, and its rows take words from it in order, however the table is split into
    batches: a frame at once and a file in batches of any size give the same reports.

    ==========================  ========================================================================================
    ``None``                    the secure source, a fresh key for every batch of every column
    ``bp.insecure_seed(7)``     one word w of it begins a release; the column named c continues
                                ``insecure_seed(SHA-256("bipartite column {w} {c}"))``, of which the first 8 bytes count
    ``{"age": fixed_words(…)}`` given words, a stream for each private column
    ==========================  ========================================================================================
    """
    names: list[str | None] = list(columns)
    words = f"the columns {', '.join(map(shown, names))}"
    if sample is not None:
        names, words = [None, *names], f"{words}, and under None for who is asked what"
    if isinstance(rng, Mapping):
        if set(rng) != set(names):
            raise InputError(f"Expected words for {words}; pass a source for each, no others.")
        return {name: source_of(rng[name]) for name in names}
    source = source_of(rng)
    if isinstance(source, InsecureSeed):
        first = source.streams().stream(0, 1).word()
        return {name: insecure_seed(_seed(first, name)) for name in names}
    if isinstance(source, FixedWords) and len(names) > 1:
        raise InputError(
            "Expected fixed words for each column, because rows come in batches and every column has its own stream; "
            f"pass a dict: {{{names[0]!r}: bp.fixed_words(…), …}}."
        )
    return dict.fromkeys(names, source)


def _seed(first: int, name: str | None) -> int:
    stream = f"sample {first}" if name is None else f"column {first} {name}"
    digest = hashlib.sha256(f"bipartite {stream}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:_SEED_BYTES], "big")
