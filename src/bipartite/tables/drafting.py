"""A column of a draft plan as text: what is known is filled in, TODO marks what only a person can know."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from bipartite.domains import Integers, Interval
from bipartite.errors import InputError
from bipartite.mechanisms import BRR
from bipartite.tables.purposes import PURPOSES, SINGLE_VALUES, STATISTICS, choice, line_choice
from bipartite.tables.reading import TODO, categories_of
from bipartite.texts import escaped

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


def check_purpose(purpose: str) -> None:
    """Refuse an unknown purpose."""
    if purpose not in PURPOSES:
        raise InputError(f"Expected purpose as one of {', '.join(map(repr, PURPOSES))}, got {purpose!r}.")


def key(name: str) -> str:
    """A name as a TOML key."""
    if name and all(letter.isascii() and (letter.isalnum() or letter in "_-") for letter in name):
        return name
    return _quoted(name)


def _quoted(text: str) -> str:
    return escaped(json.dumps(text, ensure_ascii=False))


def _line(name: str, value: str, why: str) -> str:
    return f"{name} = {_quoted(value)}{f'  # {why}' if why else ''}\n"
