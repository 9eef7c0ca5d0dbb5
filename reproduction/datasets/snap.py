"""SNAP's check-ins, five columns between tabs, read block by block with whole-array arithmetic.

The full Gowalla file has 6.4 million lines. A block of a few megabytes is cut at its tabs and line ends in one pass,
and each column becomes numbers position by position, all lines at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final, Literal, NoReturn

import numpy as np

from bipartite.errors import DataFileError
from reproduction.datasets.results import outside_the_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

Outside = Literal["raise", "keep", "drop"]

_BLOCK: Final = 1 << 20  # fits into a core's own cache, with what is made of it
_TAB, _END, _MINUS, _DOT, _ZERO, _Z = b"\t\n-.0Z"
_NAMES: Final = ("user", "time", "latitude", "longitude", "location id")
_SEPARATORS: Final = np.array([_TAB] * (len(_NAMES) - 1) + [_END], dtype=np.uint8)
_TIME_LENGTH: Final = len("2010-10-12T00:21:28Z")
# Whole numbers below 2^53, so that sums of digits are exact, and a quotient by a power of ten is the float nearest to
# the decimal that was written.
_DIGITS: Final = 15
_DECIMALS: Final = 12
_BEFORE_DOT: Final = (1, 2, 3)


@dataclass(frozen=True)
class Block:
    """Some lines of the file as arrays."""

    users: NDArray[np.int64]
    times: NDArray[np.datetime64]
    coordinates: NDArray[np.float64]
    places: NDArray[np.int64]
    left_out: int


def blocks(stream: IO[bytes], name: str, outside: Outside, size: int = _BLOCK) -> Iterator[Block]:
    """The file from its beginning to its end, ``size`` bytes at a time.

    Raises
    ------
    DataFileError
        A line has another number of columns, a column is not of its kind, or, under ``outside="raise"``, a coordinate
        is none; the message names the line.
    """
    line, rest = 1, b""
    while chunk := stream.read(size):
        whole, end, rest_of_chunk = chunk.rpartition(b"\n")
        text, rest = (rest + whole + end, rest_of_chunk) if end else (b"", rest + chunk)
        if len(rest) > size:
            msg = (
                f"{name}, line {line}: expected lines of text, got one of {len(rest):,} bytes; is this the right file?"
            )
            raise DataFileError(msg)
        if text:
            yield _Text(text, name, line).block(outside)
            line += text.count(b"\n")
    if rest:
        yield _Text(rest + b"\n", name, line).block(outside)


class _Text:
    """Whole lines, cut into cells."""

    def __init__(self, text: bytes, name: str, first_line: int) -> None:
        self.text = text.replace(b"\r\n", b"\n") if b"\r" in text else text
        self.name = name
        self.first_line = first_line
        self.bytes = np.frombuffer(self.text, np.uint8)
        ends = np.flatnonzero((self.bytes == _TAB) | (self.bytes == _END))
        width = len(_SEPARATORS)
        if len(ends) % width or not np.array_equal(
            self.bytes[ends].reshape(-1, width), np.broadcast_to(_SEPARATORS, (len(ends) // width, width))
        ):
            self._complain_about_width()
        self.starts = np.concatenate(([0], ends[:-1] + 1)).reshape(-1, width)
        self.ends = ends.reshape(-1, width)

    def block(self, outside: Outside) -> Block:
        """The cells as arrays."""
        users, places = self._whole(0), self._whole(4)
        times = self._times(1)
        coordinates = np.column_stack((self._decimal(2), self._decimal(3)))
        wrong = outside_the_world(coordinates)
        if not wrong.any() or outside == "keep":
            return Block(users, times, coordinates, places, 0)
        if outside == "raise":
            row = int(np.argmax(wrong))
            if outside_the_world(np.array([[coordinates[row, 0], 0.0]]))[0]:
                self._complain(row, 2, "a latitude from −90 to 90")
            self._complain(row, 3, "a longitude from −180 to 180")
        inside = ~wrong
        return Block(users[inside], times[inside], coordinates[inside], places[inside], int(np.count_nonzero(wrong)))

    def _whole(self, column: int) -> NDArray[np.int64]:
        starts, ends = self.starts[:, column], self.ends[:, column]
        lengths = ends - starts
        values, wrong = self._digits(starts, np.minimum(lengths, _DIGITS))
        wrong |= (lengths == 0) | (lengths > _DIGITS)
        if wrong.any():
            self._complain(int(np.argmax(wrong)), column, f"a whole number of at most {_DIGITS} digits")
        return values.astype(np.int64)

    def _decimal(self, column: int) -> NDArray[np.float64]:
        starts, ends = self.starts[:, column], self.ends[:, column]
        negative = self._at(starts) == _MINUS
        starts = starts + negative
        before = np.select([self._at(starts + length) == _DOT for length in _BEFORE_DOT], _BEFORE_DOT, 0)
        after = ends - starts - before - 1
        odd = (before == 0) | (after < 1) | (after > _DECIMALS)
        before, after = np.where(odd, 1, before), np.where(odd, 1, after)
        whole, no_whole = self._digits(starts, before)
        # Zeros up to the same number of decimals in every row: one power of ten for all.
        most = int(after.max())
        fraction, no_fraction = self._digits(starts + before + 1, after, zeros_follow=True)
        values: NDArray[np.float64] = (whole * 10.0**most + fraction) / 10.0**most
        values = np.where(negative, -values, values)
        for row in np.flatnonzero(odd | no_whole | no_fraction).tolist():  # exponents, float tails, what is no number
            try:
                values[row] = float(self._cell(row, column))
            except ValueError:
                self._complain(row, column, "a number")
        return values

    def _digits(
        self, starts: NDArray[np.int64], lengths: NDArray[np.int64], *, zeros_follow: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Digits from each start on, as whole numbers below 2^53; and which rows hold something else.

        With ``zeros_follow``, shorter rows are filled with zeros up to the longest.
        """
        most = int(lengths.max())
        skipped = np.zeros_like(lengths) if zeros_follow else most - lengths
        starts = starts - skipped
        ends = skipped + lengths
        values = np.zeros(len(starts))
        largest = np.zeros(len(starts), np.uint8)
        for place in range(most):  # one place of all rows at a time: NumPy is fastest along rows
            digits = self._at(starts + place) - _ZERO  # unsigned: what stands before "0" is large
            digits *= (place >= skipped) & (place < ends)
            np.maximum(largest, digits, out=largest)
            values *= 10.0
            values += digits
        return values, largest > 9  # noqa: PLR2004

    def _times(self, column: int) -> NDArray[np.datetime64]:
        starts = self.starts[:, column]
        wrong = self.ends[:, column] - starts != _TIME_LENGTH
        cells = self._at(starts[:, None] + np.arange(_TIME_LENGTH))
        wrong |= (cells[:, -1] != _Z) | (cells[:, 0] - _ZERO > 9)  # noqa: PLR2004
        texts = np.ascontiguousarray(cells[:, :-1]).view(f"S{_TIME_LENGTH - 1}")[:, 0]
        try:
            times: NDArray[np.datetime64] = texts.astype("datetime64[s]")
        except ValueError:
            wrong |= np.array([not _is_time(text) for text in texts.tolist()], dtype=bool)
        if wrong.any():
            self._complain(int(np.argmax(wrong)), column, "a time such as 2010-10-12T00:21:28Z")
        return times

    def _at(self, positions: NDArray[np.int64]) -> NDArray[np.uint8]:
        # A short cell of the first or last line may be read past an end of the text; what is read there is not used.
        return self.bytes.take(positions, mode="clip")

    def _cell(self, row: int, column: int) -> str:
        return self.text[self.starts[row, column] : self.ends[row, column]].decode("latin-1")

    def _complain(self, row: int, column: int, expected: str) -> NoReturn:
        remedy = (
            "use outside='drop' to leave such rows out, or 'keep'" if "from −" in expected else "fetch the file again"
        )
        msg = (
            f"{self.name}, line {self.first_line + row}: expected {expected} as {_NAMES[column]}, got "
            f"{self._cell(row, column)[:40]!r}; {remedy}."
        )
        raise DataFileError(msg)

    def _complain_about_width(self) -> NoReturn:
        lines = self.text.split(b"\n")[:-1]
        at, got = next(
            (at, line.count(b"\t") + 1) for at, line in enumerate(lines) if line.count(b"\t") + 1 != len(_NAMES)
        )
        msg = (
            f"{self.name}, line {self.first_line + at}: expected {len(_NAMES)} columns between tabs "
            f"({', '.join(_NAMES)}), got {got}; is this the right file?"
        )
        raise DataFileError(msg)


def _is_time(text: bytes) -> bool:
    try:
        np.array([text]).astype("datetime64[s]")
    except ValueError:
        return False
    return True
