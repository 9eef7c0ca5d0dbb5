"""What a collector keeps: a bag of reports, and the keys that came with them, apart.

The bag is the multiset of reports: all that any estimator can use, without time or order. A key says only that its
report was counted. Both are written in one transaction, so that what was acknowledged is counted, and once.
"""

from __future__ import annotations

import secrets
from collections import Counter
from datetime import date
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from bipartite.collect import statements
from bipartite.collect.sqlite import SqliteFile
from bipartite.collect.study import Study
from bipartite.errors import DatabaseError, InputError, MissingDataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Self

    Migrations = Callable[[], list[str]]

_BLOCK: Final = 10_000  # rows read at once
STEP: Final = 50
"""Public answers change when at least so many more reports were counted."""


class Cursor(Protocol):
    """The rows of a statement."""

    @property
    def rowcount(self) -> int:
        """How many rows were written."""

    def fetchone(self) -> Any: ...  # noqa: ANN401, D102

    def fetchall(self) -> list[Any]: ...  # noqa: D102

    def fetchmany(self, size: int, /) -> list[Any]: ...  # noqa: D102


class Database(Protocol):
    """What a store needs of SQLite or PostgreSQL."""

    @property
    def name(self) -> str:
        """What messages call it."""

    blob: str
    rowless: str
    """How the dialect says BLOB, and WITHOUT ROWID."""

    def execute(self, statement: str, parameters: Iterable[Any] = ()) -> Cursor: ...  # noqa: D102

    def executemany(self, statement: str, rows: Iterable[Iterable[Any]]) -> int: ...  # noqa: D102

    def add_keys(self, question: int, keys: Sequence[bytes]) -> list[bytes]:
        """Add these keys; return those that were not there."""

    def add_reports(self, question: int, reports: Sequence[tuple[str, int]]) -> None:
        """Count each of these reports so many times more."""

    def transaction(self, *, alone: bool = False) -> AbstractContextManager[None]:
        """All or nothing, on the disk when it ends; ``alone``, while nobody else writes, whatever the study."""

    def reading(self) -> AbstractContextManager[None]: ...  # noqa: D102

    def tables(self) -> set[str]: ...  # noqa: D102

    def mark(self) -> None: ...  # noqa: D102

    def keep(self, name: str) -> None: ...  # noqa: D102

    def tidy(self) -> None: ...  # noqa: D102

    def settle(self) -> None: ...  # noqa: D102

    def compact(self) -> None: ...  # noqa: D102

    def damage(self) -> list[str]: ...  # noqa: D102

    def close(self) -> None: ...  # noqa: D102


class Arrival(NamedTuple):
    """A checked report, as it is kept: the number of its question, its key, and its canonical text."""

    question: int
    key: bytes
    report: str


class ClosedError(DatabaseError):
    """The study takes no more reports."""


class Counted(NamedTuple):
    """How many of some reports were counted, and how many had been before."""

    counted: int
    known: int


class Store:
    """The reports of one study. A store belongs to one thread at a time."""

    def __init__(self, database: Database, study: Study, secret: str) -> None:
        self._database, self.study, self.secret = database, study, secret
        found = database.execute(statements.QUESTIONS, (study.name,)).fetchall()
        self.numbers: dict[str, int] = {name: number for name, number, _, _ in found}
        """The number of each question in the tables."""
        self._last_day = database.execute(statements.LAST_DAY, (study.name,)).fetchone()[0] or ""
        self.late: str | None = None
        """The last day on which a report came, if the clock was before it when reports were counted last."""

    @property
    def name(self) -> str:
        """What messages call the database."""
        return self._database.name

    def count(self, posts: Sequence[Sequence[Arrival]], today: date) -> list[Counted]:
        """Count the reports of these posts: all of them, on the disk when this returns, or none.

        A report whose key came before, in this call or ever, is known, and not counted again. If the clock was set
        back, they count on the last day on which a report came.
        """
        day = self._day(today)
        with self._database.transaction():
            if self._is_over(day):
                refusal = ClosedError(f"The study {self.study.name!r} takes no more reports.")
            else:
                told, self._last_day = self._count(posts, day), day
                return told
        raise refusal

    def _count(self, posts: Sequence[Sequence[Arrival]], day: str) -> list[Counted]:
        first: dict[int, dict[bytes, str]] = {number: {} for number in self.numbers.values()}
        for post in posts:
            for question, key, report in post:
                first[question].setdefault(key, report)
        fresh: dict[int, set[bytes]] = {}
        # In order of content: neighbours share pages, and two workers never wait for each other in a circle.
        for question, reports in sorted(first.items()):
            fresh[question] = set(self._database.add_keys(question, sorted(reports)))
        for question, new in fresh.items():
            reports = first[question]
            bag = Counter(reports.values() if len(new) == len(reports) else map(reports.__getitem__, new))
            self._database.add_reports(question, sorted(bag.items()))
        for question, new in fresh.items():
            if new:
                self._database.execute(statements.ADD_ARRIVALS, (question, day, len(new)))
        if sum(map(len, fresh.values())) == sum(map(len, posts)):  # as nearly always
            return [Counted(len(post), 0) for post in posts]
        told = []
        for post in posts:
            mine = {arrival[:2] for arrival in post if arrival.key in fresh[arrival.question]}
            for question, key in mine:
                fresh[question].discard(key)
            told.append(Counted(len(mine), len(post) - len(mine)))
        return told

    def _day(self, today: date) -> str:
        day = max(today.isoformat(), self._last_day)
        self.late = day if day > today.isoformat() else None
        return day

    def _is_over(self, day: str) -> bool:
        """Whether it is over; once it is, it stays so, whatever a clock says."""
        if day > self.study.ends.isoformat() and self._state() == statements.OPEN:
            self._set_state(statements.ENDED)
        return self._state() != statements.OPEN

    def _state(self) -> int:
        return int(self._database.execute(statements.CLOSED, (self.study.name,)).fetchone()[0])

    def _set_state(self, state: int) -> None:
        self._database.execute(statements.CLOSE, (state, self.study.name, state))

    def is_closed(self, today: date) -> bool:
        """Whether reports are no longer taken."""
        return self._state() != statements.OPEN or today > self.study.ends

    def probe(self, today: date) -> None:
        """Commit something that changes nothing; an error says why reports could not be counted."""
        day = self._day(today)
        with self._database.transaction():
            if not self._is_over(day):
                # A row of its own: workers would wait for each other's commits to write one that they share.
                link = (self.nonce(),)
                self._database.execute(statements.ADD_LINK, link)
                self._database.execute(statements.USE_LINK, link)

    def close_study(self) -> None:
        """Take no more reports, forget the keys, and write the database anew, in the order of its content alone."""
        with self._database.transaction(alone=True):  # no key is written after it was forgotten
            self._set_state(statements.SEALED)
            for number in self.numbers.values():
                self._database.execute(statements.FORGET_KEYS, (number,))
        self._database.compact()

    def counted(self) -> dict[str, int]:
        """How many reports were counted for each question."""
        return {
            name: int(self._database.execute(statements.COUNTED, (number,)).fetchone()[0])
            for name, number in self.numbers.items()
        }

    def bag(self, question: str) -> Iterator[tuple[str, int]]:
        """Each distinct report of a question and how often it came: one snapshot, in the order of the reports."""
        with self._database.reading():
            cursor = self._database.execute(statements.BAG, (self.numbers[question],))
            while rows := cursor.fetchmany(_BLOCK):
                yield from rows

    def arrivals(self, question: str) -> dict[str, int]:
        """How many reports came on each day."""
        return dict(self._database.execute(statements.ARRIVALS, (self.numbers[question],)).fetchall())

    def published(self, question: str) -> tuple[int, str] | None:
        """What everybody may see: of how many reports, and the answers."""
        row = self._database.execute(statements.PUBLISHED, (self.numbers[question],)).fetchone()
        return None if row is None else (int(row[0]), row[1])

    def publish(self, question: str, n: int, answers: str) -> None:
        """Publish the answers of n reports, unless others of fewer than a step less are published."""
        with self._database.transaction():
            self._database.execute(statements.PUBLISH, (self.numbers[question], n, answers, STEP))

    @staticmethod
    def nonce() -> str:
        """What a new link is known by."""
        return secrets.token_urlsafe(16)

    def add_link(self, hashed: str) -> None:
        """Remember a link that can be used once, by its hash."""
        with self._database.transaction():
            self._database.execute(statements.ADD_LINK, (hashed,))

    def use_link(self, hashed: str) -> bool:
        """Use a link; whether it had not been used before."""
        with self._database.transaction():
            return self._database.execute(statements.USE_LINK, (hashed,)).rowcount == 1

    def check(self) -> list[str]:
        """A description of everything that does not add up; empty if all does."""
        with self._database.reading():
            counts = {text: self._database.execute(query).fetchone()[0] for text, query in statements.FINDINGS.items()}
            return self._database.damage() + [text.format(count) for text, count in counts.items() if count]

    def backup(self, path: Path) -> None:
        """Copy everything into a new SQLite file, readable by its owner only, whichever database this is."""
        if path.exists():
            raise InputError(f"{path.name} exists, and backups replace nothing; choose another name.")
        copy = SqliteFile(path, create=True)
        try:
            with copy.transaction(), self._database.reading():
                migrate(copy)
                for table in statements.TABLES:
                    cursor = self._database.execute(f"SELECT * FROM {table}")  # noqa: S608 (our own names)
                    while rows := cursor.fetchmany(_BLOCK):
                        marks = ", ".join("?" * len(rows[0]))
                        copy.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608
            copy.compact()
        except BaseException:
            copy.close()
            path.unlink()
            raise
        copy.close()

    def tidy(self) -> None:
        """Leave no log behind, in a quiet moment."""
        self._database.tidy()

    def settle(self) -> None:
        """In a quiet minute, leave nothing in the order in which it came."""
        self._database.settle()

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# --- Versions of the tables: numbered files of SQL, each run once.


def _migrations() -> list[str]:
    """The statements of each version, from the first."""
    files = resources.files("bipartite.collect").joinpath("migrations").iterdir()
    return [each.read_text() for each in sorted(files, key=lambda each: each.name) if each.name.endswith(".sql")]


def migrate(database: Database, version: int = 0, migrations: Migrations = _migrations) -> None:
    """Bring the tables from this version to the last, within a transaction."""
    for number, text in enumerate(migrations(), 1):
        if number > version:
            for statement in (
                text.replace("BLOB", database.blob).replace(" WITHOUT ROWID", database.rowless).split(";\n")
            ):
                if statement.strip():
                    database.execute(statement)
            database.execute(statements.ADD_VERSION, (number,))
    database.mark()


def _version(database: Database, last: int) -> int:
    """The version of the tables; those of another program, and of a later version than the last, are refused."""
    if "collector" not in database.tables():
        raise DatabaseError(f"{database.name} is not a collector's database; choose another.")
    version = int(database.execute(statements.VERSION).fetchone()[0])
    if version > last:
        raise DatabaseError(f"{database.name} is of version {version}, and this bipartite knows {last}; update it.")
    return version


def connect(where: str | Path, *, create: bool = False) -> Database:
    """Connect to a collector's database: a file, or a URL of PostgreSQL."""
    if isinstance(where, Path):
        if not create and not where.exists():
            raise MissingDataError(f"{where.name} not found; begin with: bipartite collect {where.stem}.toml")
        return SqliteFile(where, create=create)
    from bipartite.collect.postgresql import PostgresDatabase  # noqa: PLC0415 (loads a driver)

    return PostgresDatabase(where, create=create)


def begin(where: str | Path, study: Study, migrations: Migrations = _migrations, *, today: date = date.min) -> Store:
    """Open the database of a study, which is made if there is none; refuse one of a study that was otherwise.

    A study that is over can only go on, not begin: a year was mistyped, and a file cannot change later.

    One of an earlier version of the tables is copied as it is, and then brought to this version.
    """
    database = connect(where, create=True)
    try:
        with database.transaction(alone=True):
            if not database.tables() & {"collector", *statements.TABLES}:
                migrate(database, 0, migrations)
        last = len(migrations())
        if _version(database, last) < last:
            database.keep(f"before-{last:04}")
            with database.transaction(alone=True):  # another worker may have been faster
                migrate(database, _version(database, last), migrations)
        with database.transaction(alone=True):
            if database.execute(statements.STUDY, (study.name,)).fetchone() is None:
                _add(database, study, today)
        store = _opened(database, study.name)
        _check_unchanged(store, study)
    except BaseException:
        database.close()
        raise
    return store


def resume(where: str | Path, name: str | None, migrations: Migrations = _migrations) -> Store:
    """Open the database of a study that was begun; None for the only one there."""
    database = connect(where)
    try:
        _check_version(database, len(migrations()))
        return _opened(database, name)
    except BaseException:
        database.close()
        raise


def _check_unchanged(store: Store, study: Study) -> None:
    changes = store.study.changes(study)
    if changes:
        raise InputError(
            f"{', '.join(changes)}: changed since {store.name} was made, and people have answered the study as it was; "
            "put the file back as it was, or begin a study under a new name."
        )


def _check_version(database: Database, last: int) -> None:
    version = _version(database, last)
    if version < last:
        raise DatabaseError(
            f"{database.name} is of version {version}, and this bipartite writes {last}; run bipartite collect "
            "STUDY.toml, which keeps a copy and brings it up to date."
        )


def _opened(database: Database, name: str | None) -> Store:
    studies = [each for (each,) in database.execute(statements.STUDIES).fetchall()]
    if name is None and len(studies) > 1:
        raise MissingDataError(f"{database.name} has more than one study: {', '.join(studies)}; name the file of one.")
    name = studies[0] if name is None and studies else name
    row = database.execute(statements.STUDY, (name,)).fetchone()
    if row is None:
        there = ", ".join(studies) or "none"
        raise MissingDataError(f"{database.name} has no study {name!r}, but {there}; name one of these.")
    return Store(database, Study.from_json(row[0]), row[1])


def _add(database: Database, study: Study, today: date) -> None:
    if study.ends < today:
        raise InputError(f"Expected ends = a day to come, got {study.ends}, which is over.")
    database.execute(statements.ADD_STUDY, (study.name, study.to_json(), secrets.token_hex(32)))
    number = database.execute(statements.NEXT_QUESTION).fetchone()[0]
    for at, question in enumerate(study.questions):
        specs = "[" + ",".join(part.spec for part in question.parts) + "]"
        database.execute(statements.ADD_QUESTION, (number + at, study.name, question.name, question.sha256, specs))
