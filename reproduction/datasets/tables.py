"""Tables of the UCI Machine Learning Repository, and MNIST.

Abalone: how old is a sea snail? Adult, or Census income: who earns more than 50,000 dollars a year. Bank Marketing:
which clients subscribe to a deposit after a telephone call. Bias correction: tomorrow's temperatures in Seoul, from
today's and from a weather model. Superconductivity: the temperature at which a material loses its resistance. MNIST:
handwritten digits.

Every function raises MissingDataError where a file is not here and could not be fetched, and DataFileError where it is
damaged or another one. What models predict of a table: ``SOURCES[name].targets``.
"""

import csv
import math
import struct
from dataclasses import replace
from typing import Final, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bipartite.errors import DataFileError, InputError, is_one_of, shown
from reproduction.datasets.finding import find
from reproduction.datasets.opening import Found
from reproduction.datasets.reading import read
from reproduction.datasets.sources import SOURCES

_SUPERCONDUCT: Final = (82, "number_of_elements", "critical_temp")  # columns, the first and the last
_IMAGES: Final = 2051
_LABELS: Final = 2049
_DIGITS: Final = 10


def abalone() -> pd.DataFrame:
    """4,177 abalones: sex (M, F or I for infant), seven sizes and weights, and the target ``Rings``.

    Lengths are in mm and weights in grams, both divided by 200 by the publisher. No value is missing. Two animals have
    a height of 0, which cannot be; they are kept. CC BY 4.0; Nash and others, UCI Machine Learning Repository, 1994.
    """
    return _table("abalone")


def adult() -> pd.DataFrame:
    """Census records of 1994: 14 features and the target ``income``, ``<=50K`` or ``>50K``.

    48,842 rows: the 32,561 of the publisher's training file, then the 16,281 of its test file. What the files do, and
    what is made of it:

    - Blanks after the commas, the empty last line and the comment in the first line of the test file are left out.
    - In the test file the labels end in a dot, ``<=50K.``; it is taken away, so that both parts have the same labels.
    - A missing value is the text ``?``. It stays: 2,399 rows of the first and 1,221 of the second have one.

    CC BY 4.0; Becker and Kohavi, UCI Machine Learning Repository, 1996.
    """
    table = pd.concat([_table("adult", part) for part in ("train", "test")], ignore_index=True)
    return table.assign(income=table["income"].str.rstrip("."))


def bank() -> pd.DataFrame:
    """41,188 calls of a bank (``bank-additional-full``): 20 features and the target ``y``, ``yes`` or ``no``.

    - Semicolons, quotes and CRLF are the publisher's; they leave no trace in the columns.
    - A missing value is the category ``unknown``. It stays: 10,700 rows have one.
    - 12 rows repeat an earlier one. They are kept; clients have no ids.
    - ``pdays`` 999 means that the client was never called before; it is no number of days.
    - ``duration`` is known only after the call, and so no feature for a prediction, as the publisher says.

    CC BY 4.0; Moro, Rita and Cortez, UCI Machine Learning Repository, 2014.
    """
    return _table("bank")


def bias() -> pd.DataFrame:
    """7,750 summer days at 25 stations in Seoul, 2013 to 2017: 23 features, targets ``Next_Tmax`` and ``Next_Tmin``.

    - The last two rows of the file have neither station nor date: they hold the smallest and the largest value of each
      column. They are no observations, and are **left out**.
    - A missing number is the text ``NaN`` or an empty cell; here it is NaN. 7,588 rows have none, the number that the
      BRR paper states.
    - ``Solar radiation`` has a blank in its name.
    - The checksum of the publisher's file is not known. The copy that is known has the publisher's content as far as
      two independent copies agree, and other line ends.

    CC BY 4.0; Cho, Yoo, Im and Cha, Earth and Space Science 7, 2020.
    """
    source = SOURCES["bias"]
    cells = read(find(source), source)
    is_day = ((cells.texts["station"] != "") | (cells.texts["Date"] != "")).to_numpy()
    days = int(np.flatnonzero(is_day).max(initial=-1)) + 1
    return replace(cells, texts=cells.texts.iloc[:days]).typed()


def superconduct() -> pd.DataFrame:
    """21,263 superconductors: 81 numbers about their elements and the target ``critical_temp`` in kelvin.

    The publisher's archive is preferred; no checksum of it is known. In its absence a known **reconstruction** is read,
    ``superconduct_train_reconstructed.csv.gz``. It has the publisher's columns in their order, but:

    - its **rows are in another order**, so that row numbers and splits by position mean nothing outside this file;
    - five columns (``number_of_elements``, ``gmean_fie``, ``range_Valence``, ``entropy_ThermalConductivity`` and
      ``wtd_entropy_ThermalConductivity``) were recomputed from the others, and agree where that could be checked.

    ``python -m reproduction datasets fetch superconduct`` says which one is read. 66 rows repeat an earlier one; they
    are kept. CC BY 4.0; Hamidieh, Computational Materials Science 154, 2018.
    """
    source = SOURCES["superconduct"]
    found = find(source)
    first = found.content.partition(b"\n")[0].decode("utf-8-sig", errors="replace").strip()
    header = next(csv.reader([first]), [])
    width, *ends = _SUPERCONDUCT
    if not header or [header[0], header[-1]] != ends or len(set(header)) != len(header) or len(header) != width:
        raise DataFileError(
            f"{found.name}: expected {width} names from {ends[0]} to {ends[1]} in the first line; is this the right "
            "file?"
        )
    return read(found, replace(source, columns=dict.fromkeys(header, "number"))).typed()


def _table(name: str, part: str = "data") -> pd.DataFrame:
    return read(find(SOURCES[name], part), SOURCES[name]).typed()


class Images(NamedTuple):
    """Pictures in grey and what they show."""

    images: NDArray[np.uint8]
    """One picture each: rows of pixels, 0 is the background."""
    labels: NDArray[np.uint8]


def mnist(part: Literal["train", "test"] = "train") -> Images:
    """60,000 digits to learn from or 10,000 to test with: pictures of 28 × 28 grey pixels, and what they show.

    The files are in the idx format: numbers of four bytes, the largest first, say what follows (2051 pictures, 2049
    labels) and how much of it; then one byte a pixel or label. CC BY-SA 3.0 as commonly stated; LeCun, Bottou, Bengio
    and Haffner, Proceedings of the IEEE 86(11), 1998.
    """
    if not is_one_of(part, ("train", "test")):
        raise InputError(f"Expected part 'train' or 'test', got {shown(part)}.")
    found = (find(SOURCES["mnist"], f"{part}_{what}") for what in ("images", "labels"))
    images, labels = map(read_idx, found, (_IMAGES, _LABELS))
    if len(images) != len(labels):
        raise DataFileError(
            f"Expected a label for each picture, got {len(images)} pictures and {len(labels)} labels; fetch them again."
        )
    return Images(images, labels)


def read_idx(found: Found, magic: int) -> NDArray[np.uint8]:
    """The bytes of an idx file in their shape."""
    content, name = found.content, found.name
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
    return array
