"""Counts of reports: all that an estimate needs, exact, independent of order and batches."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.reports import indices_of
from bipartite.errors import InputError, SpecError, how_many, shown
from bipartite.lottery.checks import is_whole
from bipartite.mechanisms.base import check_mechanism
from bipartite.mechanisms.categories.cells import as_reports
from bipartite.mechanisms.spec import from_spec, spec_sha256
from bipartite.names import Renamed
from bipartite.texts import RepeatedKeyError, read_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation.reports import Missing
    from bipartite.mechanisms import Mechanism

_VERSION: Final = 1
_MOST_OUTPUTS: Final = 2**27
_MOST_PEOPLE: Final = 2**53


class Counts(Renamed):
    """Counts of the reports of one mechanism: add batches as they come, merge the counts of others.

    They are whole numbers, so the result does not depend on the order or on the batches. They contain no more than the
    reports, and are as private.

    For flat categories (:class:`~bipartite.OUE` and others) ``values`` holds, for each value, the number of reports
    that support it; for all other mechanisms, the number of reports of each output.

    >>> from bipartite import BRR, Integers
    >>> mech = BRR(Integers(1, 5), epsilon=1)
    >>> counts = Counts(mech).add([1, 2, 2]).merge(Counts(mech).add([5]))
    >>> counts.n, counts.values.tolist()
    (4, [1, 2, 0, 0, 1])
    >>> Counts.from_dict(counts.to_dict()) == counts
    True
    """

    __slots__ = ("_sha256", "insecure", "mechanism", "n", "values")

    mechanism: Mechanism
    n: int
    """The number of reports counted."""
    values: NDArray[np.int64]
    insecure: bool | None
    """Whether some of the reports were drawn from random words that someone may know, and so are not private; None if
    unknown. Set it if you know; it is saved with the counts."""

    def __init__(self, mechanism: Mechanism) -> None:
        check_mechanism(mechanism)
        size = len(mechanism.outputs) if not mechanism.flat else len(mechanism.domain)
        if size > _MOST_OUTPUTS:
            raise InputError(
                f"Expected at most 2^27 different reports to count, this mechanism has {size}; use a coarser domain."
            )
        self.mechanism = mechanism
        self.n = 0
        self.insecure = None
        self.values = np.zeros(size, dtype=np.int64)
        self._sha256 = spec_sha256(mechanism)

    def add(self, reports: object, *, nulls: Missing = "error") -> Counts:  # any container
        """Count these reports too; if one cannot have come from the mechanism, none is counted."""
        if self.mechanism.flat:
            rows = as_reports(self.mechanism, reports)
            self.values += self.mechanism.count(rows)
            self.n += len(np.asarray(rows))
        else:
            indices = indices_of(self.mechanism, reports, nulls)
            self.values += np.bincount(indices, minlength=len(self.values))
            self.n += len(indices)
        self.insecure = self.insecure or None  # nothing is known about the new ones
        return self

    def merge(self, other: object) -> Counts:
        """Add the counts of another collector; both must be of exactly the same mechanism."""
        if not isinstance(other, Counts):
            raise InputError(f"Expected Counts to merge, got {type(other).__name__}; use add for reports.")
        theirs = other._sha256
        if theirs != self._sha256:
            raise SpecError(
                f"Counts of {other.mechanism!r} do not match those of {self.mechanism!r}: their specs differ "
                f"({theirs[:12]}… and {self._sha256[:12]}…); estimate each on its own."
            )
        marks = {other.insecure} if not self.n else {self.insecure, other.insecure}
        self.insecure = True if self.insecure or other.insecure else None if None in marks else False
        self.values += other.values
        self.n += other.n
        return self

    def to_dict(self) -> dict[str, Any]:
        """The counts and the spec they belong to, as JSON values."""
        return {
            "bipartite_counts": _VERSION,
            "spec": self.mechanism.to_spec(),
            "spec_sha256": self._sha256,
            "people": self.n,
            "counts": self.values.tolist(),
        } | ({} if self.insecure is None else {"insecure": self.insecure})

    @classmethod
    def from_dict(cls, held: object) -> Counts:  # whatever JSON held
        """Counts from :meth:`to_dict`; the spec is checked by its hash, the counts against the number of people."""
        if not isinstance(held, dict) or held.get("bipartite_counts") != _VERSION or "spec" not in held:
            raise SpecError(
                "Expected counts as written by Counts.to_dict; this is something else, or of a later version."
            )
        counts = cls(from_spec(held["spec"]))
        if held.get("spec_sha256") != counts._sha256:
            raise SpecError("The counts do not belong to the spec beside them; ask for both again.")
        mark = held.get("insecure")  # older files have none
        if mark is not None and not isinstance(mark, bool):
            raise SpecError(
                f"Expected insecure as true or false, got {shown(mark)}; the file was edited: ask for it again."
            )
        counts.insecure = mark
        try:
            counts.n = _check_people(held.get("people"))
            counts.values = check_counts(counts.mechanism, held.get("counts"), counts.n)
        except InputError as error:
            # The file is wrong, not the call.
            refusal = SpecError(str(error))
        else:
            return counts
        raise refusal

    def to_json(self) -> str:
        """:meth:`to_dict` as text."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str | bytes) -> Counts:
        """Counts from :meth:`to_json`."""
        try:
            held = read_json(text if isinstance(text, str) else text.decode())
        except (ValueError, RecursionError) as error:
            why = "a key comes twice" if isinstance(error, RepeatedKeyError) else "the file may be truncated"
            raise SpecError(f"Expected counts as JSON text; {why}: ask for it again.") from None
        return cls.from_dict(held)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Counts)
            and (self._sha256, self.n, self.insecure) == (other._sha256, other.n, other.insecure)
            and np.array_equal(self.values, other.values)
        )

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __repr__(self) -> str:
        return f"<Counts of {how_many(self.n, 'report')} of {self.mechanism!r}>"


def _check_people(people: object) -> int:
    """Check a number of people."""
    if not is_whole(people) or not 0 <= people <= _MOST_PEOPLE:
        raise InputError("Expected people as a whole number from 0 to 2^53; the file was edited: ask for it again.")
    return int(people)


def check_counts(mechanism: Mechanism, counts: object, people: int | None) -> NDArray[np.int64]:
    """Check counts: one whole number per output (or value, for flat categories), possible for this many people."""
    size = len(mechanism.outputs) if not mechanism.flat else len(mechanism.domain)
    try:
        array = np.asarray(counts)
    except ValueError:
        array = np.empty(0)
    if array.shape != (size,) or array.dtype.kind not in "iu":
        raise InputError(
            f"Expected counts as {size} whole numbers, one for each possible report of {mechanism!r}, got shape "
            f"{array.shape} of {array.dtype}; count with bp.Counts."
        )
    held = array.astype(np.int64)
    # As a float, because a sum of whole numbers may overflow.
    if (held < 0).any() or held.sum(dtype=np.float64) > _MOST_PEOPLE:
        raise InputError("Expected counts of at least 0 that add up to at most 2^53; count with bp.Counts.")
    whole = not mechanism.flat
    if people is not None and (int(held.sum()) != people if whole else (held > people).any()):
        raise SpecError(
            f"The counts cannot have come from {people} reports; the file may be truncated or edited: ask for it again."
        )
    return held
