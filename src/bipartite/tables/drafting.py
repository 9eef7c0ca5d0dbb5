"""A draft plan as text: what is known is filled in, TODO marks what only a person can know."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from bipartite.domains import Integers, Interval
from bipartite.errors import DataFileError, InputError
from bipartite.mechanisms import BRR
from bipartite.tables.extras import pa, unreadable, without_lines
from bipartite.tables.formats import STDIO, Asked, inputs
from bipartite.tables.purposes import PURPOSES, SINGLE_VALUES, STATISTICS, choice, line_choice
from bipartite.tables.reading import TODO, categories_of
from bipartite.tables.sources import columns_of
from bipartite.texts import escaped

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OTHER: Final = "other"
NO_ANSWER: Final = "no answer"
POINTS: Final = 401
_MOST_WHOLE: Final = 10_000
"""Whole numbers of a wider range become an interval: answers are as precise, and far faster."""
TRUTH: Final = ("false", "true")
_LATER: Final = "# {}: run plan check once domain and epsilon are filled in; it says what to add\n"
_COMMENTS: Final = {
    "padded": "reports extend past both ends: do not clip or average them, run bipartite estimate",
    "anchored": 'the least expected error; "brr" where no value may fare worse than under randomized response',
    "clip": 'values beyond the ends are clamped to them; "error" stops, and reveals that there was one',
}
_WINDOWS: Final = {"cdf": "cumulative shares and medians", "mean": "the mean", "histogram": "the share of each value"}
OPEN: Final = "open"
_BY_NAME: Final = {
    "whole": "age year birthyear yearofbirth children",
    "real": "income salary wage price height weight bmi distance temperature lat latitude lon lng longitude",
    "text": "country city town region state job occupation profession gender sex education language religion party",
}
"""The kinds of values that some names stand for, in lower case without marks between words."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What is known about one column, none of it from the data."""

    kind: str
    """The kind of its values: ``whole``, ``real``, ``text`` or ``truth``; ``open`` if only a person can know."""
    purpose: str = STATISTICS
    ends: tuple[str, str] | None = None
    """The smallest and largest number that anyone could have, as text."""
    labels: tuple[str, ...] | None = None
    """Every possible answer."""
    epsilon: str | None = None
    public: bool = False

    @property
    def own_purpose(self) -> str:
        """What the column is for: labels have shares but no mean."""
        has_none = self.purpose == "mean" and self.kind in {"text", "truth"}
        return STATISTICS if has_none else self.purpose

    def to_toml(self) -> str:
        """The keys of the column."""
        if self.public:
            return "public = true\n"
        lines = [_line("for", self.own_purpose, PURPOSES[self.own_purpose]), self._domain()]
        for key, value in self._chosen().items():
            lines.append(_line(key, value, _COMMENTS.get(value, "")) if key != "m" else self._window(value))
        if "mechanism" not in self._chosen():
            lines.append(_LATER.format("mechanism"))
        lines.append(f"epsilon = {_quoted(TODO) if self.epsilon is None else self.epsilon}\n")
        if self.kind in {"whole", "real"}:
            lines.append(_line("outside", "clip", _COMMENTS["clip"]))
        if self.kind == OPEN:
            lines.append('# for numbers: outside = "clip"; for answers: outside and nulls = { as = "an answer" }\n')
        if self.kind == "text":
            lines += [
                f"{key} = {{ as = {_quoted(label)} }}\n" for key, label in (("outside", OTHER), ("nulls", NO_ANSWER))
            ]
        return "".join(lines)

    @property
    def _is_wide(self) -> bool:
        """Whether numbers lie on an interval rather than among integers."""
        return self.kind == "real" or (self.ends is not None and int(self.ends[1]) - int(self.ends[0]) > _MOST_WHOLE)

    def _window(self, rule: Any) -> str:  # noqa: ANN401 (one of _WINDOWS)
        """The line for m: the number, since a rule would be computed again in every run."""
        if self.ends is None or self.epsilon is None:
            return _LATER.format("m")
        low, high = self.ends
        line = Interval(float(low), float(high), points=POINTS) if self._is_wide else Integers(int(low), int(high))
        m = BRR(line, self.epsilon, edges="padded", m=rule).m
        why = f'for {_WINDOWS[rule]} ("{rule}") at this range and ε; if they change, leave m out and run plan check'
        return f"m = {m}  # {why}\n"

    def _domain(self) -> str:
        if self.kind == OPEN:
            return (
                f"domain = {_quoted(TODO)}  # numbers: {{ integers = [low, high] }} or {{ interval = [low, high], "
                f'points = {POINTS} }}; answers: {{ categories = ["every", "possible", "answer"] }}\n'
            )
        if self.kind in {"whole", "real"}:
            low, high = (_quoted(TODO),) * 2 if self.ends is None else self.ends
            wide = self._is_wide
            kind, points = ("interval", f", points = {POINTS}") if wide else ("integers", "")
            why = "the smallest and largest possible value"
            if not wide and self.ends is None:
                why += f"; for decimals or a wide range: {{ interval = …, points = {POINTS} }}"
            return f"domain = {{ {kind} = [{low}, {high}]{points} }}  # {why}\n"
        if self.kind == "truth":
            return f"domain = {{ categories = [{', '.join(map(_quoted, TRUTH))}] }}\n"
        listed = ", ".join(map(_quoted, (*(self.labels or (TODO,)), *self._spare())))
        return f"domain = {{ categories = [{listed}] }}  # every possible answer\n"

    def _spare(self) -> tuple[str, ...]:
        """The labels for other and missing answers."""
        return tuple(each for each in (OTHER, NO_ANSWER) if each not in (self.labels or ()))

    def _chosen(self) -> dict[str, str]:
        """The mechanism and its options, as far as they follow from what is known."""
        if self.kind in {"whole", "real"}:
            return line_choice(self.own_purpose)
        if self.kind == "truth" or (self.kind == "text" and self.own_purpose == SINGLE_VALUES):
            return {"mechanism": "grr"}  # optimal for two values, and the likeliest to be right for many
        if self.labels is None or self.epsilon is None:
            return {}
        return choice(self.own_purpose, categories_of([*self.labels, *self._spare()]), self.epsilon, flat=True)


def kind_by_name(name: str) -> str:
    """The kind of values in a column of this name, of which nothing else is known.

    >>> [kind_by_name(each) for each in ("Age", "birth_year", "income", "score")]
    ['whole', 'whole', 'real', 'open']
    """
    plain = "".join(letter for letter in name.lower() if letter.isalnum())
    return next((kind for kind, names in _BY_NAME.items() if plain in names.split()), OPEN)


def key(name: str) -> str:
    """A name as a TOML key."""
    if name and all(letter.isascii() and (letter.isalnum() or letter in "_-") for letter in name):
        return name
    return _quoted(name)


def _quoted(text: str) -> str:
    return escaped(json.dumps(text, ensure_ascii=False))


def _line(name: str, value: str, why: str) -> str:
    return f"{name} = {_quoted(value)}{f'  # {why}' if why else ''}\n"


# --- A draft plan for a table, from the names of its columns, the types that a file declares, and a person's answers.
#
# No value of a private column may influence the plan: a range, a list of categories or a kind of numbers learned from
# the data is itself a release, which no ε covers. Text files declare no types, so what their cells look like is not
# looked at. What only a person can know is left as TODO.


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
# Somebody who is in n rows spends n times as much: one row a person is best.
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
    if purpose not in PURPOSES:
        raise InputError(f"Expected purpose as one of {', '.join(map(repr, PURPOSES))}, got {purpose!r}.")
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
