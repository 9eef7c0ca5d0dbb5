"""What a first plan asks at a terminal: what only a person can know, and must not be taken from the data."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar

from bipartite.cli.output import NUMBER
from bipartite.domains import Integers, Interval
from bipartite.errors import InputError
from bipartite.lottery import Epsilon
from bipartite.tables.drafting import NO_ANSWER, OPEN, OTHER, POINTS
from bipartite.tables.reading import categories_of
from bipartite.texts import escaped

if TYPE_CHECKING:
    from collections.abc import Callable

    from bipartite.tables.drafting import Draft

T = TypeVar("T")
_ABOUT: Final = """Answer from public knowledge, never from these data.
Press Enter to leave TODO, or type "public" to publish a column unchanged, or "drop" to leave it out.
"""
_TWO: Final = 2
_WHOLE: Final = re.compile("[+-]?[0-9]+")
_ASKED: Final = {
    "whole": "{name}: the smallest and largest whole number that anybody could have, such as 18 90: ",
    "real": "{name}: the smallest and largest number that anybody could have, such as 0 200000: ",
    "text": f"{{name}}: every possible answer, separated by commas ({OTHER!r} and {NO_ANSWER!r} are added): ",
    OPEN: (
        "{name}: the smallest and largest number that anybody could have, such as 18 90 (with decimals: 0.0 2.5), or "
        f"every possible answer, separated by commas ({OTHER!r} and {NO_ANSWER!r} are added): "
    ),
    "truth": "{name}: true or false; press Enter to keep it private: ",
}


def at_a_terminal() -> bool:
    """Whether somebody can answer; stdout may still be redirected to a file."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


class Questions:
    """Asks about one column after the other, on stderr; at the end of the input the rest stays TODO."""

    def __init__(self) -> None:
        self._epsilon: str | None = None
        print(_ABOUT, file=sys.stderr)

    def __call__(self, name: str, draft: Draft) -> Draft | None:
        """What a person knows about a column; None to leave it out."""
        name = escaped(name)
        filled = _asked(_ASKED[draft.kind].format(name=name), lambda answer: _decided(draft, answer))
        if filled is None or filled.public:
            return filled
        if draft.kind not in {OPEN, filled.kind}:
            print(f"  Taken as {'a list of answers' if filled.kind == 'text' else 'a range'}.", file=sys.stderr)
        # The only default is the ε of the column before.
        before = "" if self._epsilon is None else f" (Enter: {self._epsilon}, as before)"
        self._epsilon = _asked(f"{name}: ε of one report, such as 1{before}: ", self._epsilon_of)
        return replace(filled, epsilon=self._epsilon)

    def _epsilon_of(self, answer: str) -> str | None:
        return Epsilon.of(answer).text if answer else self._epsilon


def _asked(prompt: str, read: Callable[[str], T]) -> T:
    """What an answer means; asks again until it means something."""
    while True:
        print(prompt, end="", file=sys.stderr, flush=True)
        try:
            return read(sys.stdin.readline().strip())
        except InputError as error:
            print(f"  {error}", file=sys.stderr)


def _decided(draft: Draft, answer: str) -> Draft | None:
    """The draft with this answer, or None to leave the column out."""
    if answer.lower() == "drop":
        return None
    return replace(draft, public=bool(answer)) if answer.lower() in {"", "public"} else _filled(draft, answer)


def _filled(draft: Draft, answer: str) -> Draft:
    """The draft with these values, checked as in a plan."""
    if draft.kind == "truth":
        raise InputError('Expected Enter, "public" or "drop"; its values are known.')
    ends = answer.replace("..", " ").replace(",", " ").split()
    two_numbers = len(ends) == _TWO and all(map(NUMBER.fullmatch, ends))
    # A name such as income suggests what to ask; the answer decides.
    if two_numbers and (draft.kind == OPEN or (draft.kind == "text" and "," not in answer)):
        draft = replace(draft, kind="whole" if all(map(_WHOLE.fullmatch, ends)) else "real")
    elif "," in answer and (draft.kind == OPEN or (ends and not any(map(NUMBER.fullmatch, ends)))):
        draft = replace(draft, kind="text")
    elif draft.kind == OPEN:
        raise InputError("Expected two numbers, such as 18 90, or answers separated by commas.")
    if draft.kind == "text":
        labels = tuple(dict.fromkeys(label.strip() for label in answer.split(",") if label.strip()))
        categories_of([*labels, *(each for each in (OTHER, NO_ANSWER) if each not in labels)])
        return replace(draft, labels=labels)
    try:
        if draft.kind == "whole":
            first, last = map(int, ends)
            return replace(draft, ends=_written(Integers(first, last)))
        low, high = map(float, ends)
        return replace(draft, ends=_written(Interval(low, high, points=POINTS)))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"Expected two {'whole ' if draft.kind == 'whole' else ''}numbers, such as 18 90.") from None


def _written(domain: Integers | Interval) -> tuple[str, str]:
    return repr(domain.low), repr(domain.high)
