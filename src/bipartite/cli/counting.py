"""From CSV cells to sums over reports: each distinct text is parsed once, and errors name the line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation import Counts
from bipartite.answers.estimation.estimating import tally_of
from bipartite.answers.estimation.reports import indices_of
from bipartite.answers.estimation.tally import Tally
from bipartite.cli.columns import NUMBER, REPORT
from bipartite.domains.product import tuple_of
from bipartite.errors import DataError, DataFileError
from bipartite.mechanisms import Mechanism
from bipartite.mechanisms.categories.cells import from_cells
from bipartite.tables.counting import may_weigh

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism

_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,18}")
_NOT_A_NAME: Final = re.compile(r"[-+.0-9].*|nan|inf|infinity|na|n/a|null|none|true|false|", re.IGNORECASE)
# A number can be written in many ways (40, 40.0, 4e1); no file needs more than this many at a time.
_MOST_TEXTS: Final = 2**20


class Texts:
    """Maps cells to the outputs of a mechanism."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        labels = mechanism.report_labels
        self._labels = None if labels is None else {str(label): label for label in labels}
        self._tuples = mechanism.domain.parts
        self._known: dict[str, int] = {}

    def is_report(self, text: str) -> bool | None:
        """Whether a cell is a report; None if it cannot be one and may be a column name."""
        value = self._value(text)
        if value is not None:
            return self._index(value) is not None
        text = text.strip()
        if self._labels is not None:
            return None if text == REPORT else False
        return None if _is_text(text) and not _NOT_A_NAME.fullmatch(text) else False

    def reports(self, name: str, lines: list[int], texts: list[str]) -> NDArray[np.int64]:
        """The index of the output in each cell; ``name`` and ``lines`` are for errors."""
        if len(self._known) > _MOST_TEXTS:
            self._known.clear()
        known = self._known
        new = dict.fromkeys(text for text in texts if text not in known)
        if new:
            self._learn(list(new), lambda text: f"{name}: line {lines[texts.index(text)]}")
        return np.fromiter((known[text] for text in texts), dtype=np.int64, count=len(texts))

    def _learn(self, texts: list[str], place: Callable[[str], str]) -> None:
        values = [self._value(text) for text in texts]
        if None in values:
            what = "a JSON array" if self._tuples else "a number" if self._labels is None else "a label of the domain"
            raise DataFileError(f"{place(texts[values.index(None)])} is not {what}; repair or remove it.")
        try:
            found = indices_of(self._mechanism, self._batch(values)).tolist()
        except DataError:
            wrong = next(text for text, value in zip(texts, values, strict=True) if self._index(value) is None)
            raise DataFileError(
                f"{place(wrong)} cannot have come from {self._mechanism!r}; pass reports as they came, unclipped and "
                "unrounded, and the spec that they were made with."
            ) from None
        self._known.update(zip(texts, found, strict=True))

    def _value(self, text: str) -> int | float | str | tuple[Any, ...] | None:
        """The label, number or tuple in a cell; None if it is none of these."""
        if self._tuples:
            return tuple_of(text) or None
        if self._labels is not None:
            # Spaces around a label are ignored, unless a label has them.
            return self._labels.get(text, self._labels.get(text.strip()))
        text = text.strip()
        if _WHOLE.fullmatch(text):
            return int(text)
        return float(text) if NUMBER.fullmatch(text) else None

    def _batch(self, values: list[Any]) -> list[Any] | NDArray[Any]:
        return values if self._tuples or self._labels is not None else np.array(values)

    def _index(self, value: float | str | tuple[Any, ...] | None) -> int | None:
        try:
            return int(indices_of(self._mechanism, self._batch([value]))[0])
        except DataError:
            return None


class WideTexts:
    """Parses cells that hold reports of flat categories."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism

    def is_report(self, text: str) -> bool | None:
        """Whether a cell is a report; None if it cannot be one and may be a column name."""
        if self._read([text]) is not None:
            return True
        return None if _is_text(text) and not _NOT_A_NAME.fullmatch(text.strip()) else False

    def reports(self, name: str, lines: list[int], texts: list[str]) -> NDArray[Any]:
        """The report in each cell; ``name`` and ``lines`` are for errors."""
        found = self._read(texts)
        if found is None:
            line = next(line for line, text in zip(lines, texts, strict=True) if self._read([text]) is None)
            raise DataFileError(
                f"{name}: line {line} cannot have come from {self._mechanism!r}; pass reports as privatize wrote them, "
                "and the spec that they were made with."
            )
        return found

    def _read(self, texts: list[str]) -> NDArray[Any] | None:
        try:
            return from_cells(self._mechanism, [text.strip() for text in texts])
        except DataError:
            return None


def weights_of(name: str, lines: list[int], texts: Iterable[str]) -> NDArray[np.float64]:
    """Weights as numbers of at least 0."""
    found = np.array([float(text) if NUMBER.fullmatch(text) else -1.0 for text in texts])
    wrong = np.flatnonzero(~may_weigh(found))
    if len(wrong):
        raise DataFileError(f"{name}: line {lines[wrong[0]]} has no weight from 0 to 1e100; repair or remove it.")
    return found


class GroupCounts:
    """Sums over the reports of one group: counts, or sums of weights."""

    def __init__(self, mechanism: Mechanism, *, weighted: bool = False) -> None:
        self.counts = Counts(mechanism)
        self._people = 0
        self._sums = [np.zeros(len(self.counts.values)) for _ in range(2)] if weighted else None
        self._weights = np.zeros(2)
        """The sum of all weights, and of their squares."""

    def add(self, reports: NDArray[Any], weights: NDArray[np.float64] | None) -> None:
        """Add some reports: the indices of their outputs or, for flat categories, the reports themselves."""
        counts = self.counts
        counts.n += len(reports)
        if counts.mechanism.flat:
            counts.values += counts.mechanism.count(reports)
        else:
            counts.values += np.bincount(reports, minlength=len(counts.values))
        if self._sums is None or weights is None:
            return
        self._people += int(np.count_nonzero(weights))
        self._weights += weights.sum(), (weights**2).sum()
        if weights.any():
            some = Tally.of(counts.mechanism, reports, weights)
            self._sums[0] += some.first
            self._sums[1] += some.second

    @property
    def empty(self) -> bool:
        """Whether no report with a positive weight was added."""
        return not (self._weights[0] if self._sums is not None else self.counts.n)

    @property
    def tally(self) -> Tally:
        """All that an estimate needs."""
        if self._sums is None:
            return tally_of(self.counts)
        size, square = self._weights.tolist()
        return Tally(self._sums[0], self._sums[1], self._people, size, square, self.counts.values)


def _is_text(text: str) -> bool:
    """Whether a cell was valid UTF-8."""
    return not any("\udc80" <= letter <= "\udcff" for letter in text)


def check_label(name: str, line: int, text: str) -> str:
    """Check the name of a group; errors name the line."""
    if text and _is_text(text):
        return text
    raise DataFileError(f"{name}: line {line} has no readable group; repair or remove it.")
