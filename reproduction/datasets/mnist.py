"""MNIST: handwritten digits."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from bipartite.errors import DataFileError, InputError, is_one_of, shown
from reproduction.datasets.finding import Found, find
from reproduction.datasets.opening import opened
from reproduction.datasets.results import Images, fixed, provenance_of
from reproduction.datasets.sources import SOURCES

if TYPE_CHECKING:
    from numpy.typing import NDArray

_IMAGES: Final = 2051
_LABELS: Final = 2049
_DIGITS: Final = 10


def mnist(part: Literal["train", "test"] = "train") -> Images:
    """60,000 digits to learn from or 10,000 to test with: pictures of 28 × 28 grey pixels, and what they show.

    The files are in the idx format: numbers of four bytes, the largest first, say what follows (2051 pictures, 2049
    labels) and how much of it; then one byte a pixel or label.

    Returns
    -------
    Images
        CC BY-SA 3.0 as commonly stated; LeCun, Bottou, Bengio and Haffner, Proceedings of the IEEE 86(11), 1998.

    Raises
    ------
    InputError
        ``part`` is neither of the two.
    MissingDataError
        A file is not here and could not be fetched.
    DataFileError
        A file is damaged or another one.
    """
    if not is_one_of(part, ("train", "test")):
        raise InputError(f"Expected part 'train' or 'test', got {shown(part)}.")
    source = SOURCES["mnist"]
    found = find(source, f"{part}_images"), find(source, f"{part}_labels")
    images, labels = (_read(each, magic) for each, magic in zip(found, (_IMAGES, _LABELS), strict=True))
    if len(images) != len(labels):
        raise DataFileError(
            f"Expected a label for each picture, got {len(images)} pictures and {len(labels)} labels; fetch them again."
        )
    return Images(images, labels, provenance_of(source, *found))


def _read(found: Found, magic: int) -> NDArray[np.uint8]:
    with opened(found) as stream:
        return read_idx(stream.read(), found.path.name, magic)


def read_idx(content: bytes, name: str, magic: int) -> NDArray[np.uint8]:
    """The bytes of an idx file in their shape."""
    dimensions = magic & 0xFF
    header = 4 * (1 + dimensions)
    got, *shape = struct.unpack(f">{1 + dimensions}I", content[:header]) if len(content) >= header else (None,)
    if got != magic:
        raise DataFileError(
            f"{name}: expected the idx format's number {magic} at the beginning, got {got}; is this the right file?"
        )
    if len(content) - header != math.prod(shape):
        got = len(content) - header
        raise DataFileError(
            f"{name}: expected {math.prod(shape):,} bytes after the header, got {got:,}; fetch it again."
        )
    array = np.frombuffer(content, np.uint8, offset=header).reshape(shape)
    if magic == _LABELS and array.size and array.max() >= _DIGITS:
        raise DataFileError(f"{name}: expected labels from 0 to 9, got {array.max()}; is this the right file?")
    return fixed(array)
