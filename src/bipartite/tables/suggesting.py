"""A draft plan for a table, from the names of its columns, the types that a file declares, and a person's answers.

No value of a private column may influence the plan: a range, a list of categories or a kind of numbers learned from the
data is itself a release, which no ε covers. Text files declare no types, so what their cells look like is not looked
at. What only a person can know is left as TODO.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from bipartite.errors import DataFileError, InputError
from bipartite.tables.complaints import unreadable, without_lines
from bipartite.tables.drafting import Draft, check_purpose, key, kind_by_name
from bipartite.tables.extras import pa
from bipartite.tables.formats import STDIO, Asked, inputs
from bipartite.tables.purposes import STATISTICS
from bipartite.tables.reading import TODO
from bipartite.tables.sources import columns_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LEAK: Final = (
    "Fill in every TODO from public knowledge, never from the data: a range or a list of categories learned from "
    "the data is itself a release, which no ε covers."
)
_DECLARED: Final = "the names of the columns, and the types that the file declares"
_FIRST_LINE: Final = "the names in the first line, and whether the first rows can be split into as many cells"
_LOOKED_AT: Final = {
    "csv": _FIRST_LINE,
    "tsv": _FIRST_LINE,
    "jsonl": "the keys in the first rows, as names",
    "parquet": _DECLARED,
    "arrow": _DECLARED,
}
"""What decides about a draft, by format."""
_VALUE: Final = re.compile(
    r"\s*(?:[-+]?[.,0-9][-+.,:/0-9eET Z]*|true|false|nan|n/?a|null|none|[0-9]+\s.*|[$€£¥]\s*[0-9].*|\S+@\S+)\s*",
    re.IGNORECASE,
)
_UNCUT: Final = re.compile(r"[;|\t]|^\s*[{\[]")
_HEAD: Final = """# A draft plan. Looked at: {looked}. No cell decided anything.
# Fill in every {todo} from public knowledge, never from the data: a range or a list of categories learned from the data
# is itself a release, which no ε covers. `bipartite plan check` lists what is left to do, and says what each column
# will answer before anything is spent.
# Check that no values are among the names.
# A column that is not named here is dropped. For one that anyone may read: public = true, and nothing else.
# The ε of all private columns add up for each row; `bipartite plan check` says the sum.
# `for` says what a column is for: "statistics", "mean" or "histogram" of many people, or "single-values".
"""
_LATITUDE: Final = {"lat", "latitude"}
_LONGITUDE: Final = {"lon", "lng", "long", "longitude"}
_POSITION: Final = """# {latitude} and {longitude} look like a position. Instead of both columns, for a heat map:
#   [columns.place]
#   from = {pair}
#   spec = "cells.json"  # the grid that people are counted on: bipartite design grid:… writes it
"""


@without_lines
def first_plan(
    pattern: str | Path,
    asked: Asked | None = None,
    *,
    header: bool = False,
    purpose: str = STATISTICS,
    answers: Callable[[str, Draft], Draft | None] | None = None,
) -> str:
    """Draft the text of a plan for a file, or for the files of a pattern.

    Parameters
    ----------
    header
        Whether the first line of a CSV file is a header, although some names look like values.
    purpose
        What every column is for (:data:`~bipartite.tables.purposes.PURPOSES`), unless an answer says otherwise.
    answers
        Asks a person about a column: called with its name and draft, returns the completed draft, or None to drop the
        column. Without it, TODO marks everything that only a person can know.
    """
    check_purpose(purpose)
    looked, columns = _looked_at(str(pattern), asked or Asked(), header=header)
    parts = [_HEAD.format(todo=TODO, looked=looked), *_about_a_position([*columns])]
    for name, declared in columns.items():
        kind = kind_by_name(name) if declared is None else _kind_of(declared)
        if kind is None:
            outer = str(declared).partition("<")[0].partition("[")[0]
            parts.append(f"# {key(name)} is of type {outer}, which no domain supports, and is dropped.\n")
            continue
        known = Draft(kind, purpose)
        draft = known if answers is None else answers(name, known)
        parts.append(f"# {key(name)} is dropped.\n" if draft is None else f"[columns.{key(name)}]\n{draft.to_toml()}")
    return "\n".join(parts)


def _about_a_position(names: list[str]) -> list[str]:
    """A comment on how to turn two columns into one place, if their names are those of a position."""
    found = [[name for name in names if name.strip().lower() in among] for among in (_LATITUDE, _LONGITUDE)]
    if any(len(each) != 1 for each in found):
        return []
    (latitude,), (longitude,) = found
    return [_POSITION.format(latitude=key(latitude), longitude=key(longitude), pair=json.dumps([latitude, longitude]))]


def _looked_at(pattern: str, asked: Asked, *, header: bool) -> tuple[str, dict[str, pa.DataType | None]]:
    """What was looked at, in words; and each column with the type that the file declares, if it declares any."""
    if pattern == STDIO:
        raise InputError("A draft plan needs a file, not standard input; save the table as one.")
    written, files = inputs(pattern, asked)
    try:
        names, types = columns_of(files, written)
    except (pa.ArrowException, OSError) as error:
        raise unreadable(error) from None
    if written.kind in {"csv", "tsv"}:
        if not header and _may_be_a_row(names):
            raise DataFileError(
                "The first line holds numbers, dates, addresses or truth values, like a row of data rather than a "
                "header, or has another delimiter; add a header line above it, name the delimiter with delimiter=, or "
                "confirm with header=True that these are names."
            )
        names = [name.strip() for name in names]
    if written.kind == "jsonl":
        names = sorted(names)  # rows may omit keys: their order would tell of a missing value
    if len(set(names)) < len(names):
        raise DataFileError("The table has several columns with the same name; rename them.")
    return _LOOKED_AT[written.kind], dict(zip(names, types or [None] * len(names), strict=True))


def _may_be_a_row(names: list[str]) -> bool:
    """Whether a first line looks like a row of values, or was not split into cells."""
    cells = names[0].split() if len(names) == 1 else names
    return any(_VALUE.fullmatch(cell) for cell in cells) or any(_UNCUT.search(name) for name in names)


def _kind_of(declared: pa.DataType) -> str | None:
    """The kind of values in a column that declares this type."""
    types = pa.types
    kind = declared.value_type if types.is_dictionary(declared) else declared
    if types.is_floating(kind) or types.is_decimal(kind):
        return "real"
    if types.is_integer(kind):
        return "whole"
    if types.is_boolean(kind):
        return "truth"
    return "text" if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) else None
