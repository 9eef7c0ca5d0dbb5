"""What the readers return: plain NumPy arrays that cannot be written to, with where they came from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from bipartite.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from reproduction.datasets.finding import Found, Standing
    from reproduction.datasets.sources import Source

    Column = NDArray[Any]

_NO_CHECKSUM: Final = (
    "no checksum of the publisher's file is known to bipartite, so that nobody can say whether this is it."
)
# Gowalla's publisher writes at most ten decimals.
_DECIMALS: Final = 10


@dataclass(frozen=True)
class UsedFile:
    """A file that was read."""

    path: Path
    sha256: str
    standing: Standing
    note: str


@dataclass(frozen=True)
class Provenance:
    """Where data came from, and on which terms."""

    dataset: str
    files: tuple[UsedFile, ...]
    url: str | None
    """The publisher's address; None where only a copy made by others is known."""
    licence: str
    citation: str

    @property
    def is_official(self) -> bool:
        """Whether every file is known to be the publisher's, byte for byte."""
        return all(file.standing == "official" for file in self.files)


def provenance_of(source: Source, *found: Found) -> Provenance:
    """Where the data of these files came from."""
    files = tuple(
        UsedFile(
            path=each.path,
            sha256=each.sha256,
            standing=each.standing,
            note=f"{each.path.name}: {_NO_CHECKSUM}" if each.standing == "unchecked" else each.file.note,
        )
        for each in found
    )
    return Provenance(source.name, files, source.url, source.licence, source.citation)


def fixed(array: Column) -> Column:
    """The array, which cannot be written to any more."""
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False)
class Table:
    """A table: one array a column."""

    columns: Mapping[str, Column]
    """Every column by its name, in the order of the file."""
    targets: tuple[str, ...]
    """What models of this data set predict."""
    complete: NDArray[np.bool_]
    """Which rows miss no value."""
    oddities: Mapping[str, int]
    """What is odd about these rows, counted; nothing of it was changed or left out unless its name says so."""
    provenance: Provenance

    @classmethod
    def of(
        cls,
        columns: Mapping[str, Column],
        targets: tuple[str, ...],
        complete: NDArray[np.bool_],
        oddities: Mapping[str, int],
        provenance: Provenance,
    ) -> Self:
        """A table that cannot be written to."""
        for column in (*columns.values(), complete):
            fixed(column)
        return cls(MappingProxyType(dict(columns)), targets, complete, MappingProxyType(dict(oddities)), provenance)

    @property
    def target(self) -> str:
        """The first of the targets."""
        return self.targets[0]

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that are no targets."""
        return tuple(name for name in self.columns if name not in self.targets)

    def __len__(self) -> int:
        return len(self.complete)

    def __getitem__(self, name: str) -> Column:
        if name not in self.columns:
            raise InputError(f"Expected one of the columns {', '.join(self.columns)}, got {name!r}.")
        return self.columns[name]

    def matrix(self, names: Sequence[str] | None = None) -> NDArray[np.float64]:
        """Columns of numbers side by side, as float64: those named, or every feature that is a number."""
        chosen = [name for name in self.features if self.columns[name].dtype.kind in "if"] if names is None else names
        for name in chosen:
            if self[name].dtype.kind not in "if":
                raise InputError(
                    f"Expected columns of numbers, got {name!r}, which holds {self[name].dtype}; encode it first."
                )
        return np.column_stack([self.columns[name].astype(np.float64) for name in chosen])

    def rows(self, which: NDArray[Any]) -> Self:
        """These rows: a mask, such as ``table.complete``, or positions. Oddities stay those of the whole table."""
        return replace(
            self,
            columns=MappingProxyType({name: fixed(column[which]) for name, column in self.columns.items()}),
            complete=fixed(self.complete[which]),
        )

    def to_frame(self) -> Any:  # noqa: ANN401 (a pandas DataFrame)
        """The table as a pandas DataFrame."""
        return _frame(self.columns)


@dataclass(frozen=True, eq=False)
class CheckIns:
    """Who was where, when; what a file does not hold is None."""

    coordinates: NDArray[np.float64]
    """One row each: latitude and longitude in degrees."""
    users: NDArray[np.int64] | None
    places: Column | None
    """The id of the place: a number, or a text of letters and digits for the full Foursquare files."""
    times: NDArray[np.datetime64] | None
    """In UTC, to the second."""
    counts: NDArray[np.int64] | None
    """How many check-ins a row stands for; None: one."""
    more: Mapping[str, Column]
    """What else the file holds."""
    left_out: int
    """Rows outside the world that ``outside="drop"`` left out."""
    provenance: Provenance

    def __len__(self) -> int:
        return len(self.coordinates)

    @cached_property
    def oddities(self) -> Mapping[str, int]:
        """What is odd about these rows, counted at first use; nothing of it was changed, or left out unless it says so.

        ``repeated rows`` equal an earlier row in every column; ``places with several coordinates`` are ids; ``more than
        ten decimals`` are latitudes and longitudes: in Gowalla, whose publisher writes at most ten, they are float
        tails such as −73.78280639649999, which somebody's program made of −73.7828063965; ``outside the world`` are
        rows whose latitude or longitude is none.
        """
        odd = {
            "repeated rows": _repeated(list(self._columns().values())),
            "more than ten decimals": int(np.count_nonzero(np.round(self.coordinates, _DECIMALS) != self.coordinates)),
            "outside the world": int(np.count_nonzero(outside_the_world(self.coordinates))),
            "outside the world, left out": self.left_out,
        }
        if self.places is not None:
            odd["places with several coordinates"] = self._torn_places(self.places)
        return MappingProxyType(odd)

    def _torn_places(self, places: Column) -> int:
        """How many ids have more than one coordinate."""
        latitudes, longitudes = self.coordinates.T
        order = np.lexsort((longitudes, latitudes, places))
        same_place = places[order][1:] == places[order][:-1]
        moved = np.any(self.coordinates[order][1:] != self.coordinates[order][:-1], axis=1)
        return len(np.unique(places[order][1:][same_place & moved]))

    def _columns(self) -> dict[str, Column]:
        latitudes, longitudes = self.coordinates.T
        named = {"user": self.users, "time": self.times, "latitude": latitudes, "longitude": longitudes}
        named |= {"place": self.places, "count": self.counts}
        return {name: column for name, column in named.items() if column is not None} | dict(self.more)

    def to_frame(self) -> Any:  # noqa: ANN401 (a pandas DataFrame)
        """A pandas DataFrame: user, time, latitude, longitude, place, count, and what else the file holds."""
        return _frame(self._columns())


@dataclass(frozen=True, eq=False)
class Images:
    """Pictures in grey and what they show."""

    images: NDArray[np.uint8]
    """One picture each: rows of pixels, 0 is the background."""
    labels: NDArray[np.uint8]
    provenance: Provenance

    def __len__(self) -> int:
        return len(self.labels)

    def to_frame(self) -> Any:  # noqa: ANN401 (a pandas DataFrame)
        """A pandas DataFrame: label, then one column a pixel, row by row."""
        pixels = self.images.reshape(len(self), -1).T
        return _frame({"label": self.labels} | {f"pixel{at}": pixel for at, pixel in enumerate(pixels)})


@dataclass(frozen=True, eq=False)
class Histogram:
    """Check-ins counted in the cells of a grid."""

    counts: NDArray[np.int64]
    provenance: Provenance

    def to_frame(self) -> Any:  # noqa: ANN401 (a pandas DataFrame)
        """A pandas DataFrame with the grid's rows and columns."""
        return _frame({str(at): column for at, column in enumerate(self.counts.T)})


def outside_the_world(coordinates: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows are no place on earth; NaN is none."""
    outside: NDArray[np.bool_] = ~np.all(np.abs(coordinates) <= (90.0, 180.0), axis=1)
    return outside


def _repeated(columns: Sequence[Column]) -> int:
    """How many rows equal an earlier one."""
    if len(columns[0]) == 0:
        return 0
    order = np.lexsort(columns)
    same = np.ones(len(order) - 1, dtype=bool)
    for column in columns:
        ordered = column[order]
        same &= ordered[1:] == ordered[:-1]
    return int(np.count_nonzero(same))


def _frame(columns: Mapping[str, Column]) -> Any:  # noqa: ANN401
    try:
        import pandas as pd  # noqa: PLC0415 (only people who ask for a frame need it)
    except ImportError:
        raise MissingExtraError("to_frame needs pandas; install it, or use the arrays as they are.") from None
    return pd.DataFrame(dict(columns))
