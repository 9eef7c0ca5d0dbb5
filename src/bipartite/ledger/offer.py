"""Mechanisms that a ledger can account for: what a report costs, how it is drawn, and how it is stored.

Reports are returned unchanged, with the same type. Integers, floats (eight bytes, bit for bit) and labels are stored as
SQLite's own types; the report of a flat category, an array of bits or numbers, as bytes after a short header with its
type and shape; a tuple as a JSON array after such a header. PostgreSQL has one type for a column, so there the first
three are bytes after a header, too.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from bipartite.domains.product import tuple_text
from bipartite.errors import DataError, InputError, LedgerFileError
from bipartite.ledger.settings import debit_units
from bipartite.mechanisms import Mechanism, Record
from bipartite.mechanisms.spec import spec_json
from bipartite.verification import verify

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bipartite.domains import Outside
    from bipartite.lottery import Source

Report = int | float | str | tuple[Any, ...] | np.generic | NDArray[Any]
"""A plain number, a label, a tuple of these, or the array of a flat category."""
Stored = int | float | str | bytes
_TUPLE: Final = b"json;;"
_PLAIN: Final[dict[bytes, Callable[[str], Report]]] = {b"int": int, b"float": float.fromhex, b"str": str}
"""How the types that only SQLite has are read back from their text, which has all of their bits."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A verified ε-LDP mechanism, its spec, and the debit for one report."""

    mechanism: Mechanism
    spec: str
    spec_sha256: str
    units: int

    @classmethod
    def of(cls, mechanism: object) -> Offer:
        """Verify a mechanism; refuse one that no finite ε covers.

        The debit is the ε that the mechanism states, verified in integers to be at least the ε its tickets realise.
        """
        if not isinstance(mechanism, Mechanism):
            hint = "make each attribute a separate question" if isinstance(mechanism, Record) else "pass bp.BRR(…)"
            raise InputError(f"Expected mech as a mechanism, got {type(mechanism).__name__}; {hint}.")
        certificate = verify(mechanism)
        if not certificate.holds:
            raise InputError(
                f"Expected an ε-LDP mechanism to account for, got {mechanism!r}, which spends more than the ε it "
                "states (bp.verify says how much); use bp.BRR instead."
            )
        units = debit_units(mechanism.epsilon_decimal)
        return cls(mechanism, spec_json(mechanism), certificate.spec_sha256, units)

    def draw(self, value: Any, rng: Source | None, outside: Outside) -> Report:  # noqa: ANN401
        """Draw one report, as it is stored and returned."""
        return self.plain(self.mechanism.privatize(value, rng=rng, outside=outside))

    def draw_many(
        self, values: Sequence[Any], positions: Sequence[int], rng: Source | None, outside: Outside
    ) -> list[Report]:
        """Draw the reports of the values at these positions; errors name positions in ``values``, never a value."""
        try:
            reports = self.mechanism.privatize([values[at] for at in positions], rng=rng, outside=outside)
        except DataError as error:
            refusal = type(error)(
                re.sub(r"values\[(\d+)\]", lambda place: f"values[{positions[int(place[1])]}]", str(error))
            )
        else:
            return [self.plain(report) for report in reports]
        raise refusal  # outside the handler, so that it carries no inner exception

    def plain(self, report: object) -> Report:
        """A report as a plain number or label, whatever the type of the value; arrays stay arrays."""
        numbers = not self.mechanism.flat and self.mechanism.outputs.labels is None
        if numbers and isinstance(report, (int, float, np.number)):
            return int(report) if self.mechanism.outputs.whole else float(report)
        if isinstance(report, (int, float, str, tuple, np.generic, np.ndarray)):
            return report
        raise AssertionError(f"a mechanism reported {type(report).__name__}, which the ledger cannot store")


def to_stored(report: Report) -> Stored:
    """Convert a report to a SQLite value."""
    if isinstance(report, tuple):
        return _TUPLE + tuple_text(report).encode()
    if not isinstance(report, (np.ndarray, np.generic)):
        return report
    array = np.asarray(report)
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    shape = ",".join(map(str, array.shape))
    return f"{array.dtype.kind}{array.dtype.itemsize};{shape};".encode() + little.tobytes()


def to_bytes(report: Report) -> bytes:
    """Convert a report to bytes, for a database in which a column has one type."""
    stored = to_stored(report)
    if isinstance(stored, bytes):
        return stored
    return f"{type(stored).__name__};;{stored.hex() if isinstance(stored, float) else stored}".encode()


def from_stored(stored: Stored) -> Report:
    """Convert a stored value back to the report."""
    if not isinstance(stored, bytes):
        return stored
    try:
        if stored.startswith(_TUPLE):
            return tuple(json.loads(stored.removeprefix(_TUPLE)))
        kind, shape, held = stored.split(b";", 2)
        if plain := _PLAIN.get(kind):
            return plain(held.decode())
        array = np.frombuffer(held, dtype=np.dtype("<" + kind.decode()))
        array = array.reshape([int(side) for side in shape.split(b",") if side])
    except (ValueError, TypeError):
        raise LedgerFileError(
            "A stored report is damaged; restore the ledger from a backup, and run `bipartite ledger check`."
        ) from None
    native = array.astype(array.dtype.newbyteorder("="))
    return native if array.shape else native[()]
