"""Adult, or Census income: who earns more than 50,000 dollars a year."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np

from bipartite.errors import InputError, is_one_of, shown
from reproduction.datasets.finding import find
from reproduction.datasets.opening import opened
from reproduction.datasets.results import Provenance, Table, provenance_of
from reproduction.datasets.sources import SOURCES
from reproduction.datasets.texts import read_rows, repeated

_KINDS: Final = SOURCES["adult"].columns
_MISSING: Final = "?"
_COMMENT: Final = "|"


def adult(part: Literal["train", "test", "all"] = "train") -> Table:
    """Census records of 1994: 14 features and the target ``income``, ``<=50K`` or ``>50K``.

    ``train`` has 32,561 rows, ``test`` 16,281, ``all`` both in this order. What the files do, and what is made of it:

    - Blanks after the commas, the empty last line and the comment in the first line of the test file are left out.
    - In the test file the labels end in a dot, ``<=50K.``; it is taken away, so that both parts have the same labels.
    - A missing value is the text ``?``. It stays; ``complete`` says which rows have none (30,162 and 15,060).

    Returns
    -------
    Table
        CC BY 4.0; Becker and Kohavi, UCI Machine Learning Repository, 1996.

    Raises
    ------
    InputError
        ``part`` is none of the three.
    MissingDataError
        A file is not here and could not be fetched.
    DataFileError
        A file is damaged or another one.
    """
    if not is_one_of(part, ("train", "test", "all")):
        msg = f"Expected part 'train', 'test' or 'all', got {shown(part)}."
        raise InputError(msg)
    source = SOURCES["adult"]
    found = [find(source, each) for each in (("train", "test") if part == "all" else (part,))]
    contents = []
    for each in found:
        with opened(each) as stream:
            contents.append((stream.read(), each.path.name))
    return read_adult(contents, provenance_of(source, *found))


def read_adult(contents: list[tuple[bytes, str]], provenance: Provenance) -> Table:
    """The rows of the publisher's texts, one after the other."""
    texts = [read_rows(content, name, len(_KINDS), skip=(_COMMENT,)) for content, name in contents]
    parts = [text.columns(_KINDS) for text in texts]
    rows = [row for text in texts for row in text.rows]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in _KINDS}
    columns["income"] = np.char.rstrip(columns["income"], ".")
    complete = np.array([_MISSING not in row for row in rows], dtype=bool)
    oddities = {
        "rows with ?": int(np.count_nonzero(~complete)),
        "labels with a dot, taken away": sum(row[-1].endswith(".") for row in rows),
        "comment lines, left out": sum(_comments(content) for content, _ in contents),
        "repeated rows": repeated(rows),
    }
    return Table.of(columns, ("income",), complete, oddities, provenance)


def _comments(content: bytes) -> int:
    return sum(line.startswith(_COMMENT.encode()) for line in content.splitlines())
