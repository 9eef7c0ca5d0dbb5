"""A study: what people are asked, by which mechanisms, and until when. It is read from a TOML file, and never edited.

The questions have the keys of a plan's columns, and their words. Mechanisms are designed once, when the database is
made; from then on its specs are the study's, so that a later version of this package asks as before.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

from bipartite.errors import InputError, Problems, SpecError, how_many, shown
from bipartite.lottery.budgets import most_spent
from bipartite.lottery.checks import is_whole
from bipartite.mechanisms.record import sample_problem
from bipartite.mechanisms.spec import from_spec, spec_json, spec_sha256
from bipartite.mechanisms.spec.canonical import record_sha256
from bipartite.names import unknown_name
from bipartite.tables.reading import column_in, read_toml

if TYPE_CHECKING:
    from pathlib import Path

    from bipartite.mechanisms import Mechanism
    from bipartite.tables.columns import Column

_OF_STUDY: Final = ("title", "text", "ends", "people", "public", "questions")
_CHOSEN: Final = ("for", "mechanism", "m", "edges", "spec")
_OF_PART: Final = ("ask", "domain", "epsilon", "prior", *_CHOSEN)
_OF_RECORD: Final = ("ask", "record", "sample")
_OF_TABLES: Final = ("public", "from", "nulls", "outside", "max_distance")
_MOST_EPSILON: Final = 20  # what a client draws at, unless it is told otherwise
_LONGEST_NAME: Final = 100
_MOST_SPECS: Final = 2**22  # bytes, which every participant loads
_VERSION: Final = 1


@dataclass(frozen=True)
class Part:
    """One answer: its words, and the mechanism that draws its report."""

    name: str
    ask: str
    mechanism: Mechanism

    @cached_property
    def spec(self) -> str:
        """The spec in canonical form."""
        return spec_json(self.mechanism)

    @cached_property
    def sha256(self) -> str:
        """The hash by which the spec is named."""
        return spec_sha256(self.mechanism)


@dataclass(frozen=True)
class Question:
    """What one report answers: one part, or several together in a record."""

    name: str
    ask: str
    parts: tuple[Part, ...]
    sample: int | None = None
    """How many parts of a record each person reports; None for all."""
    is_record: bool = False

    @cached_property
    def mechanisms(self) -> dict[str, Mechanism]:
        """The mechanism of each part."""
        return {part.name: part.mechanism for part in self.parts}

    @cached_property
    def sha256(self) -> str:
        """The hash that an envelope names: that of the spec, or of the record."""
        return record_sha256(self.mechanisms, self.sample) if self.is_record else self.parts[0].sha256

    @property
    def epsilon_decimal(self) -> Decimal:
        """What a report spends."""
        return most_spent([part.mechanism.epsilon_decimal for part in self.parts], self.sample)


@dataclass(frozen=True)
class Study:
    """What people are asked, and until when."""

    name: str
    title: str
    text: str
    ends: date
    """The last day on which reports are taken, in UTC."""
    people: int | None
    """How many are expected to take part."""
    public: bool
    """Whether everybody may see the answers."""
    questions: tuple[Question, ...]

    @property
    def epsilon_decimal(self) -> Decimal:
        """What somebody who answers everything spends: the exact sum over the questions."""
        return sum((each.epsilon_decimal for each in self.questions), Decimal(0))

    def to_json(self) -> str:
        """The whole study as JSON text, as the database keeps it."""
        held = {name: getattr(self, name) for name in ("name", "title", "text", "people", "public")}
        questions = [
            {
                "name": each.name,
                "ask": each.ask,
                "record": each.is_record,
                "sample": each.sample,
                "parts": [
                    {"name": part.name, "ask": part.ask, "spec": json.loads(part.spec), "sha256": part.sha256}
                    for part in each.parts
                ],
            }
            for each in self.questions
        ]
        return json.dumps(
            {"bipartite_study": _VERSION, **held, "ends": self.ends.isoformat(), "questions": questions},
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> Study:
        """Read :meth:`to_json`; every spec is checked against its hash."""
        held = json.loads(text)
        if held.get("bipartite_study") != _VERSION:
            raise SpecError("Expected a study of version 1; this database is of a later bipartite: update it.")
        return cls(
            **{name: held[name] for name in ("name", "title", "text", "people", "public")},
            ends=date.fromisoformat(held["ends"]),
            questions=tuple(map(_question_of, held["questions"])),
        )

    def changes(self, other: Study) -> list[str]:
        """The keys of the file in which another study differs. Which mechanism a purpose chooses is none of them."""
        mine, theirs = ({key: each for one in map(_described, study.questions) for key, each in one.items()}
                        for study in (self, other))  # fmt: skip
        named = {key: (getattr(self, key), getattr(other, key)) for key in _OF_STUDY if key != "questions"}
        found = [key for key, (one, another) in named.items() if one != another]
        if list(mine) != list(theirs):
            found.append("questions")
        return found + [key for key, each in mine.items() if theirs.get(key, each) != each]


def _question_of(held: dict[str, Any]) -> Question:
    parts = tuple(Part(each["name"], each["ask"], from_spec(each["spec"])) for each in held["parts"])
    if any(part.sha256 != each["sha256"] for part, each in zip(parts, held["parts"], strict=True)):
        raise SpecError("A spec in the database does not match its SHA-256; restore it from a backup.")
    return Question(held["name"], held["ask"], parts, held["sample"], held["record"])


def _described(question: Question) -> dict[str, object]:
    """What the file says of a question, by key."""
    at = f"questions.{question.name}"
    found: dict[str, object] = {f"{at}.ask": question.ask, f"{at}.sample": question.sample}
    for part in question.parts:
        where = f"{at}.record.{part.name}" if question.is_record else at
        found |= {
            f"{where}.ask": part.ask,
            f"{where}.domain": part.mechanism.domain,
            f"{where}.epsilon": part.mechanism.epsilon_decimal,
        }
    return found


def read_study(path: Path) -> Study:
    """Read a study, reporting every problem of every question at once; file names are relative to its folder."""
    held, problems = read_toml(path), Problems()
    name = _name(path.stem, "the file name", problems)
    _check_keys("the study", held, _OF_STUDY, problems)
    title, text = (_text(held.get(key, default), key, problems) for key, default in (("title", name), ("text", "")))
    ends = held.get("ends")
    if type(ends) is not date:
        got = "a time" if isinstance(ends, datetime) else "nothing" if ends is None else shown(ends)
        problems.add(f"Expected ends = the last day of the study, such as 2027-03-31, got {got}.")
    people = held.get("people")
    if people is not None and not (is_whole(people) and people > 0):
        problems.add(f"Expected people = how many are expected, such as 2000, got {shown(people)}.")
    public = held.get("public", False)
    if not isinstance(public, bool):
        problems.add(f"Expected public = true or false, got {shown(public)}.")
    given, questions = held.get("questions"), []
    if not isinstance(given, Mapping) or not given:
        problems.add("Expected [questions.NAME] for every question, with ask, domain and epsilon; add one.")
        given = {}
    for key, options in given.items():
        at = f"questions.{key}: "
        with problems.noting(at):
            questions.append(_question(_name(key, "the name of a question", problems), options, path.parent))
    if len({each.name for each in questions}) < len(questions):
        problems.add("Two questions have canonically equivalent names; rename one.")
    problems.raise_if_any(InputError)
    study = Study(name, title, text, cast("date", ends), people, public, tuple(questions))
    if study.epsilon_decimal > _MOST_EPSILON:
        raise InputError(
            f"Expected at most ε = {_MOST_EPSILON} over all questions, got {study.epsilon_decimal:f}: devices refuse "
            "to spend more in one study; lower epsilon, or ask less."
        )
    size, largest = _specs(study)
    if size > _MOST_SPECS:
        raise InputError(
            f"Expected mechanisms that are described in at most {_MOST_SPECS // 2**20} MiB, since every phone loads "
            f"them, got {size / 2**20:.1f} MiB, most of it for {shown(largest)}; ask it on a coarser domain or with "
            "fewer labels."
        )
    return study


def _specs(study: Study) -> tuple[int, str]:
    """The bytes of all specs, and the part with the longest."""
    sizes = [(len(part.spec.encode()), part.name) for question in study.questions for part in question.parts]
    return sum(size for size, _ in sizes), max(sizes)[1]


def _question(name: str, options: object, folder: Path) -> Question:
    if not isinstance(options, Mapping):
        raise InputError(f"Expected keys such as ask and domain, got {shown(options)}; write [questions.NAME].")
    problems = Problems()
    if "record" not in options:
        part = _part(name, options, folder)
        return Question(name, part.ask, (part,))
    _check_keys("", options, _OF_RECORD, problems)
    ask = _text(options.get("ask"), "ask", problems)
    given, parts = options["record"], []
    if not isinstance(given, Mapping) or len(given) < 2:  # noqa: PLR2004 (one part is a plain question)
        problems.add("Expected record with at least two parts, [questions.NAME.record.PART]; add one.")
        given = {}
    for key, held in given.items():
        with problems.noting(f"record.{key}: "):
            parts.append(_part(_name(key, "the name of a part", problems), held, folder))
    if len({part.name for part in parts}) < len(parts):
        problems.add("Two parts have canonically equivalent names; rename one.")
    sample = options.get("sample")
    problem = sample_problem(sample, len(given), "parts of the record") if given else None
    if problem is not None:
        problems.add(problem)
    problems.raise_if_any(InputError)
    return Question(name, ask, tuple(parts), sample, is_record=True)


def _part(name: str, options: object, folder: Path) -> Part:
    if not isinstance(options, Mapping):
        raise InputError(f"Expected keys such as ask and domain, got {shown(options)}.")
    problems = Problems()
    for key in (key for key in _OF_TABLES if key in options):
        problems.add(f"{key!r} is about a table, and people on their own device have none; leave it out.")
    _check_keys("", {key: each for key, each in options.items() if key not in _OF_TABLES}, _OF_PART, problems)
    ask = _text(options.get("ask"), "ask", problems)
    of_plan = {key: each for key, each in options.items() if key in _OF_PART and key != "ask"}
    if not any(key in of_plan for key in _CHOSEN):
        of_plan["for"] = "statistics"
    if isinstance(of_plan.get("domain"), Mapping) and "product" in of_plan["domain"]:
        raise InputError(
            "A product holds several answers; ask each as a part of a record, [questions.NAME.record.PART]."
        )
    with problems.noting():
        column = column_in(of_plan, folder)
    problems.raise_if_any(InputError)
    return Part(name, ask, cast("Column", column).mechanism)


def _check_keys(what: str, given: Mapping[str, Any], known: tuple[str, ...], problems: Problems) -> None:
    where = f"{what}: " if what else ""
    for key in given:
        if key not in known:
            problems.add(f"{where}{unknown_name('unknown key', str(key), known)}; its keys are {', '.join(known)}.")


def _text(given: object, key: str, problems: Problems) -> str:
    if isinstance(given, str) and (given.strip() or key == "text"):
        return unicodedata.normalize("NFC", given)
    problems.add(f"Expected {key} = the words that people read, got {'nothing' if given is None else shown(given)}.")
    return ""


def _name(given: str, what: str, problems: Problems) -> str:
    """A name as clients write it; it is printed, and part of links."""
    name = unicodedata.normalize("NFC", given)
    if not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        problems.add(f"Expected {what} as printable text of at most {how_many(_LONGEST_NAME, 'character')}; rename it.")
    return name
