"""The ledger: what each person has spent, and one report per person, question and period."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, Final, NoReturn

from bipartite.errors import InputError, Problems, is_one_of, shown
from bipartite.ledger import statements
from bipartite.ledger.audit import Debit, QuestionCertificate, certificates, findings
from bipartite.ledger.file import LedgerFile
from bipartite.ledger.names import People, name_of
from bipartite.ledger.offer import Offer
from bipartite.ledger.server import LedgerServer
from bipartite.ledger.serving import ON_CHANGE, Ask, OnChange, Question, WhenSpent, serve
from bipartite.ledger.settings import FOREVER, Period, Settings, budget_units, check_now, decimal_of, utc_now
from bipartite.lottery import is_secure
from bipartite.postgres import is_url

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from decimal import Decimal
    from typing import Self

    import numpy as np

    from bipartite.domains import Outside
    from bipartite.ledger.settings import Clock
    from bipartite.ledger.store import Store
    from bipartite.lottery import Source
    from bipartite.mechanisms import Mechanism

_KNOWN_OFFERS: Final = 64


class Ledger:
    """Records what each person has spent, enforces the budget, and repeats reports instead of drawing new ones.

    A report is debited and stored on disk in one transaction before it is returned. Within a period a question has
    **one report per person**, repeated even if the value changes, so that asking again costs nothing and reveals
    nothing more. The ledger never stores a value, nor anything computed from it except the report.

    Parameters
    ----------
    path
        A file, created readable by its owner only (0600) if it does not exist. Any number of processes may use it. Or,
        for programs on many machines, the database of a PostgreSQL server: ``postgresql://user@host/database``.
    budget
        The ε of each person in each period, over all questions together. Required for a new ledger, and permanent.
    period
        ``"forever"`` (the default of a new ledger), ``"day"``, ``"month"``, ``"year"``, or a length such as
        ``"30 days"``; in UTC. The ε of different periods adds up.
    person_key
        A secret of at least 16 bytes, under which names are stored as HMAC-SHA-256. None stores the names themselves.
    clock
        Returns the time with its time zone. The clock decides the period, so it must be trusted.
    wait
        Seconds to wait for other processes.
    read_only
        For auditors: needs no write permission, leaves no files behind, and cannot report.

    Guarantee
    ---------
    The ε of all reports about one person that are drawn in one period add up to at most ``budget`` (basic composition).
    Each report is debited at the ε that its mechanism states and :func:`bipartite.verify` proves.
    ``on_change="when-changed"`` publishes when values change, which no ε covers. See :meth:`certificate`.

    Examples
    --------
    >>> import tempfile, bipartite as bp
    >>> ledger = Ledger(tempfile.mkdtemp() + "/spent.db", budget=2, period="month")
    >>> age = bp.BRR(bp.Integers(18, 90), epsilon=1)
    >>> first = ledger.report("ada", "age", age, 37)
    >>> first == ledger.report("ada", "age", age, 38), ledger.remaining("ada")
    (True, Decimal('1'))
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        budget: object = None,
        period: str | None = None,
        person_key: bytes | None = None,
        clock: Clock = utc_now,
        wait: float = 30.0,
        read_only: bool = False,
    ) -> None:
        units = None if budget is None else budget_units(budget)
        self._people = People.of(person_key)
        self._clock = clock
        self._file: Store[Any] = (LedgerServer if is_url(path) else LedgerFile)(path, wait, read_only=read_only)
        self._offers: dict[int, Offer] = {}
        try:
            wanted = None
            if units is not None:
                wanted = Settings(units, Period.of(FOREVER if period is None else period), self._people.check)
            self._settings = self._file.prepare(wanted)
            self._settings.compare(units, period, self._people.check)
        except BaseException:
            self._file.close()
            raise

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A ledger cannot be pickled or copied, since it holds an open file; open it by its path in each process."
        )

    @property
    def name(self) -> str:
        """What messages call it: the name of its file, or the server's host and port with the database."""
        return self._file.name

    @property
    def budget(self) -> Decimal:
        """The ε of each person in each period."""
        return decimal_of(self._settings.budget)

    @property
    def period(self) -> str:
        """How time is divided into periods."""
        return self._settings.period.text

    @property
    def names_are_keyed(self) -> bool:
        """Whether names are stored as keyed hashes."""
        return self._settings.person_key is not None

    def report(  # noqa: PLR0913 (everything a report depends on, by keyword)
        self,
        person: str,
        question: str,
        mech: Mechanism,
        value: float | str | tuple[Any, ...] | np.number[Any],
        *,
        request: str | None = None,
        on_change: OnChange = "repeat",
        changed: bool | None = None,
        now: datetime | None = None,
        outside: Outside = "error",
        rng: Source | None = None,
    ) -> Any:  # noqa: ANN401
        """Return a person's report to a question, debited and stored before it is returned.

        Parameters
        ----------
        person, question
            Text of your choice. A question keeps one mechanism and one ``on_change`` within a period. Canonically
            equivalent Unicode texts (NFC) are one name; upper and lower case are distinct. A member of a ``str``
            enumeration is the text it holds.
        mech, value
            The mechanism, and the private value. The value is not read if a stored report is returned.
        request
            A key of your choice for this request, unique for the person. A retry with the same key returns the same
            report and is not debited again, even in later periods: what is published in a period may
            then include reports of earlier ones.
        on_change
            ``"repeat"``: one report in the period. ``"fresh"``: an independent report for every request, each debited.
            ``"when-changed"``: a new report, debited, if ``changed`` is true; this publishes the fact and time of each
            change and **is not LDP for sequences of values**.
        changed
            With ``on_change="when-changed"``, whether the value changed since the last report. The ledger cannot know,
            since it keeps no value (a hash of a value with few possibilities would reveal it).
        now
            The time with its time zone; None uses the ledger's clock.
        outside, rng
            As in ``privatize``. A report drawn with ``rng=`` is **not private**: its entry is marked ``insecure``, and
            the certificate of its question claims no ε.

        Raises
        ------
        BudgetSpentError
            If the budget does not allow the report; nothing is drawn or debited.
        """
        asked = self._check_question(question, mech, on_change, now, rng)
        ask = self._check_ask(person, request, changed, on_change)

        def draw(_: Sequence[int]) -> list[Any]:
            return [asked.offer.draw(value, rng, outside)]

        with self._file.writing() as database:
            return serve(database, asked, [ask], draw, self._settings.budget, "refuse")[0]

    def report_many(  # noqa: PLR0913 (everything the reports depend on, by keyword)
        self,
        persons: Sequence[str],
        question: str,
        mech: Mechanism,
        values: object,
        *,
        requests: Sequence[str | None] | None = None,
        on_change: OnChange = "repeat",
        changed: Sequence[bool | None] | bool | None = None,
        when_spent: WhenSpent = "refuse",
        now: datetime | None = None,
        outside: Outside = "error",
        rng: Source | None = None,
    ) -> list[Any]:
        """Return the reports of many people to one question, in one transaction: all of them or, on any error, none.

        The list is in the order of ``persons``; ``when_spent="skip"`` leaves None for people whose budget is spent
        instead of refusing all. Other arguments as in :meth:`report`, one per person. Other processes wait meanwhile.
        """
        asked = self._check_question(question, mech, on_change, now, rng)
        held = _as_list(values)
        people = _as_list(persons)
        keys = [None] * len(people) if requests is None else _as_list(requests)
        flags = [changed] * len(people) if changed is None or isinstance(changed, bool) else _as_list(changed)
        problems = Problems()
        for name, given in (("values", held), ("requests", keys), ("changed", flags)):
            if len(given) != len(people):
                problems.add(f"Expected {name} for {len(people)} persons, got {len(given)}; pass one for each.")
        if not is_one_of(when_spent, ("refuse", "skip")):
            problems.add(f"Expected when_spent='refuse' or 'skip', got {shown(when_spent)}.")
        problems.raise_if_any(InputError)
        asks = [self._check_ask(*one, on_change) for one in zip(people, keys, flags, strict=True)]

        def draw(positions: Sequence[int]) -> list[Any]:
            return asked.offer.draw_many(held, positions, rng, outside)

        with self._file.writing() as database:
            return serve(database, asked, asks, draw, self._settings.budget, when_spent)

    def spent(self, person: str, *, now: datetime | None = None) -> Decimal:
        """The ε that a person has spent in the period of ``now``."""
        return decimal_of(self._spent(person, now))

    def remaining(self, person: str, *, now: datetime | None = None) -> Decimal:
        """The ε that a person has left in the period of ``now``."""
        return decimal_of(self._settings.budget - self._spent(person, now))

    def spent_ever(self, person: str) -> Decimal:
        """The ε that a person has spent in all periods: a bound on the privacy loss of all their reports together.

        Reports drawn with ``rng=`` are not private and not covered by it.
        """
        return decimal_of(sum(self._units(self._stored(person)).values()))

    def balances(self, stored_name: str) -> dict[str, Decimal]:
        """What a person, given by the stored name, has spent in each period; empty if unknown."""
        units = self._units(name_of("stored_name", stored_name))
        return {period: decimal_of(spent) for period, spent in units.items()}

    def _stored(self, person: str) -> str:
        return self._people.stored(person, keyed=self.names_are_keyed)

    def _spent(self, person: str, now: datetime | None) -> int:
        period = self._period_at(now)
        return self._units(self._stored(person)).get(period, 0)

    def _units(self, stored_name: str) -> dict[str, int]:
        with self._file.reading() as database:
            return dict(database.execute(statements.BALANCES, (stored_name,)).fetchall())

    def certificate(self, question: str, *, now: datetime | None = None) -> QuestionCertificate:
        """The guarantee of all reports to a question about one person drawn in the period of ``now``."""
        name, period = name_of("question", question), self._period_at(now)
        for each in self.questions():
            if (each.period, each.question) == (period, name):
                return each
        raise InputError(
            f"Expected a question that was asked in the period {period}, got {name!r:.60}; see questions()."
        )

    def questions(self) -> list[QuestionCertificate]:
        """The certificates of all questions in all periods, ordered by period and name."""
        with self._file.reading() as database:
            return certificates(database, self._settings.budget)

    def specs(self) -> dict[str, str]:
        """Every spec that a question used, by its SHA-256, in canonical form."""
        with self._file.reading() as database:
            return dict(database.execute(statements.SPECS))

    def summary(self) -> dict[str, Any]:
        """The numbers of people, periods, questions and reports, and the most that any person has spent."""
        with self._file.reading() as database:
            counts = {name: database.execute(query).fetchone()[0] for name, query in statements.SUMMARY.items()}
        return {name: decimal_of(count) if "spent" in name else count for name, count in counts.items()}

    def export(self) -> Iterator[Debit]:
        """Every debit, ordered by person, period and question, for an auditor; without values or reports.

        The export is one snapshot, whatever is written while it is read.
        """
        with closing(self._file.another()) as file:
            for person, period, question, number, rule, spec, units, when, mark in file.stream(statements.DEBITS):
                yield Debit(person, period, question, number, rule, spec, decimal_of(units), when, bool(mark))

    def check(self) -> list[str]:
        """A description of every inconsistency in the ledger; empty if there is none."""
        with self._file.reading() as database:
            return findings(database)

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copy a snapshot of the ledger into a new file readable by its owner only (0600), while it stays in use.

        The copy is one file, checked as by :meth:`check` and flushed to disk when this returns; an existing file is not
        replaced. **A copy does not contain** later debits: resuming from it would ask people again. A ledger on a
        server is refused: PostgreSQL's own ``pg_dump`` copies it.
        """
        with closing(self._file.another()) as file:
            file.back_up(path)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Ledger {self.name}: ε = {self.budget} per person, period {self.period}>"

    def _instant(self, now: datetime | None) -> datetime:
        return check_now(self._clock() if now is None else now)

    def _period_at(self, now: datetime | None) -> str:
        return self._settings.period.name_at(self._instant(now))

    def _check_question(
        self, question: str, mech: object, on_change: OnChange, now: datetime | None, rng: Source | None
    ) -> Question:
        problems = Problems()
        with problems.noting():
            name = name_of("question", question)
        if not is_one_of(on_change, ON_CHANGE):
            problems.add(f"Expected on_change='repeat', 'fresh' or 'when-changed', got {shown(on_change)}.")
        problems.raise_if_any(InputError)
        instant = self._instant(now)
        period = self._settings.period.name_at(instant)
        return Question(name, self._offer(mech), on_change, period, instant, not is_secure(rng))

    def _offer(self, mech: object) -> Offer:
        """Verify a mechanism, once: mechanisms are immutable."""
        known = self._offers.get(id(mech))
        if known is None or known.mechanism is not mech:
            known = Offer.of(mech)
            if len(self._offers) >= _KNOWN_OFFERS:
                self._offers.clear()
            self._offers[id(mech)] = known  # holds the mechanism, so that its id is not reused
        return known

    def _check_ask(self, person: str, request: str | None, changed: object, on_change: OnChange) -> Ask:
        if not (changed is None or (on_change == "when-changed" and isinstance(changed, bool))):
            raise InputError(
                f"Expected changed=True or False, and only with on_change='when-changed', got {shown(changed)}."
            )
        key = None if request is None else name_of("request", request)
        return Ask(self._stored(person), key, changed)


def _as_list(given: object) -> list[Any]:
    """A container of one value per person as a list of plain values."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(given, method):
            return list(getattr(given, method)())
    if isinstance(given, (list, tuple)):
        return list(given)
    raise InputError(
        f"Expected persons and values as lists, arrays or columns, got {type(given).__name__}; pass lists."
    )
