"""The tables of a ledger, in a file and on a server: what they refuse to every program, and what the check finds."""

from datetime import UTC, datetime
from decimal import Decimal, localcontext

import pytest

import bipartite as bp
from bipartite.errors import InputError, LedgerFileError
from bipartite.postgres import is_url
from tests.ledger.conftest import AGE, ENGINES, change, other_program, refused_by  # noqa: F401 (ENGINES: on both)
from tests.ledger.forking import Within


def test_settings_are_kept_and_others_refused(make):
    make(budget="4.50", period="30 days").close()
    ledger = make()
    assert (ledger.budget, ledger.period, ledger.names_are_keyed) == (Decimal("4.5"), "30 days", False)
    assert make(budget=4.5, period="30 days").budget == ledger.budget
    with pytest.raises(
        InputError, match=r"2 problems:(.|\n)*the budget of this ledger, 4.5, got 5(.|\n)*'30 days', got"
    ):
        make(budget=5, period="month")
    with pytest.raises(InputError, match="this ledger stores names without a key"):
        make(person_key=bytes(16))
    with pytest.raises(InputError, match="Expected person_key as at least 16 secret bytes"):
        make(person_key=b"short")


DEBIT = "INSERT {} reports VALUES ('{}', 'forever', '{}', {}, {}, '2026-11-15T12:00:00.000000Z', 40, 0)"
REFUSED = {
    DEBIT.format("INTO", "ada", "other", 1, 1): "the budget does not allow this debit",
    DEBIT.format("INTO", "ada", "other", 2, 0): "debits are numbered from 1 without a gap",
    DEBIT.format("OR REPLACE INTO", "ada", "age", 1, 0): "debits are numbered from 1 without a gap",
    DEBIT.format("INTO", "ada", "other", 1, -1): "CHECK constraint failed|violates check constraint",
    DEBIT.format("INTO", "ada", "other", 1, "'much'"): "CHECK constraint failed|invalid input syntax for type bigint",
    "UPDATE reports SET epsilon = 0": "a debit is never changed",
    "DELETE FROM reports": "a debit is never removed",
    "DELETE FROM reports WHERE person = 'ada'": "a debit is never removed",
    "TRUNCATE reports": "a debit is never removed",
    f"BEGIN ISOLATION LEVEL REPEATABLE READ; {DEBIT.format('INTO', 'bob', 'age', 1, 1)}": "that is READ COMMITTED",
}
ONLY = {"INSERT OR": "sqlite", "TRUNCATE": "postgresql", "BEGIN": "postgresql"}


@pytest.mark.parametrize("statement", REFUSED)
def test_no_programme_can_debit_beyond_the_budget_or_take_a_debit_back(make, path, engine, statement):
    make(budget=1).report("ada", "age", AGE, 37)
    if any(statement.startswith(words) and engine != where for words, where in ONLY.items()):
        return  # what this database does not have
    with other_program(path) as database, pytest.raises(refused_by(engine), match=REFUSED[statement]):
        database.execute(statement.replace("40", "'int;;40'") if is_url(path) else statement)
    assert make().check() == [] and make().spent("ada") == 1


def test_a_ledger_that_stays_busy_says_so(make, path, called):
    ledger = make(budget=1, wait=0.05)
    with other_program(path) as other:
        if is_url(path):
            other.execute("BEGIN")
            debit = DEBIT.format("INTO", "one", "age", 1, 1)
            other.execute(debit.replace("40", "'int;;40'"))  # whoever debits holds the lock
        else:
            other.execute("BEGIN IMMEDIATE")
        with pytest.raises(
            LedgerFileError, match=f"{called} stayed busy for 0.05 s; try again, or pass a longer wait="
        ):
            ledger.report("ada", "age", AGE, 37)
        other.execute("ROLLBACK")
    assert ledger.report("ada", "age", AGE, 37) is not None


TAMPERED = {
    "DELETE FROM reports": "1 answered requests without their report",
    "UPDATE questions SET epsilon = 1": "1 reports to a question that the period does not have, or at another ε",
    "DELETE FROM questions": "1 reports to a question that the period does not have, or at another ε",
    "DELETE FROM constants WHERE length(name) = 64": "1 questions whose spec is missing",
    "UPDATE reports SET number = 2": "1 second reports to a question that repeats its first",
    "UPDATE reports SET number = 3": "1 people and questions whose reports are not numbered from 1 without a gap",
    "DELETE FROM requests; INSERT INTO requests VALUES ('x', 'y', 'forever', 'age', 1)": "1 answered requests without",
    (
        "UPDATE questions SET epsilon = 1; UPDATE reports SET epsilon = 1"
    ): "1 questions at another ε than that of their mechanism",
    "UPDATE constants SET value = replace(value, '\"1\"', '\"0.01\"')": "1 specs that do not match their SHA-256",
    "UPDATE constants SET value = 'x' WHERE length(name) = 64": "1 specs that do not match their SHA-256",
    "UPDATE reports SET insecure = 1": "1 questions that are not marked insecure although",
    "UPDATE questions SET insecure = 1": "1 questions that are marked insecure although no",
    "UPDATE reports SET epsilon = 2000000000000": "1 balances beyond the budget",
    "UPDATE questions SET on_change = 'nonsense'": "1 questions with an unknown on_change rule",
    "UPDATE reports SET time = '2026-12-01T00:00:00.000000Z'": "1 periods with reports dated outside",
    "UPDATE reports SET time = 'yesterday'": "1 periods with reports dated outside",
    "UPDATE constants SET value = '2000000000000' WHERE name = 'budget'": "1 tables or triggers that differ from",
    "CREATE TRIGGER mine AFTER INSERT ON reports BEGIN SELECT 1; END": "1 tables or triggers that differ from",
    "ALTER TABLE reports ADD more text": "1 tables or triggers that differ from",
}
TAMPERED_ON_A_SERVER = {
    "ALTER TABLE reports ADD more text": "1 tables or triggers that differ from",
    "ALTER TABLE questions DROP CONSTRAINT questions_epsilon_check": "1 tables or triggers that differ from",
    "ALTER TABLE reports ALTER time DROP NOT NULL": "1 tables or triggers that differ from",
    "ALTER TABLE reports ALTER person TYPE text": "1 tables or triggers that differ from",
    "ALTER TABLE reports DISABLE TRIGGER debits_kept": "1 tables or triggers that differ from",
    "ALTER TABLE reports ENABLE ROW LEVEL SECURITY": "1 tables or triggers that differ from",
    "CREATE RULE mine AS ON INSERT TO reports DO INSTEAD NOTHING": "1 tables or triggers that differ from",
    "CREATE TABLE more () INHERITS (reports)": "tables or triggers that differ from",
    "ALTER FUNCTION debits_within_the_budget() STABLE": "1 tables or triggers that differ from",
    "ALTER FUNCTION debits_in_order() RESET search_path": "1 tables or triggers that differ from",
    "CREATE OR REPLACE FUNCTION debits_kept() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END'": (
        "1 tables or triggers that differ from"
    ),
    "CREATE TRIGGER mine BEFORE INSERT ON reports FOR EACH ROW EXECUTE FUNCTION debits_kept()": "1 tables or triggers",
    "CREATE TABLE mine (x text, y text, PRIMARY KEY (x))": "1 tables or triggers that differ from",
}


@pytest.mark.parametrize("script", TAMPERED | TAMPERED_ON_A_SERVER)
def test_the_check_finds_what_does_not_add_up(make, path, script, engine):
    if (script not in TAMPERED and engine == "sqlite") or ("SELECT 1; END" in script and engine != "sqlite"):
        return  # what this database does not have
    with make(budget=1, period="month") as ledger:
        ledger.report("ada", "age", AGE, 37, request="r")
        assert ledger.check() == []
    change(path, script)
    expected = (TAMPERED | TAMPERED_ON_A_SERVER)[script]
    assert any(expected in each for each in make().check())


@pytest.mark.parametrize("period", ["forever", "day", "year", "90 minutes"])
def test_times_within_their_periods_are_no_finding(make, clock, period):
    ledger = make(budget=1, period=period)
    for start in (datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC), datetime(2026, 1, 1, tzinfo=UTC)):
        clock.now = start
        for at in range(4):
            ledger.report(f"{start} {at}", "age", AGE, 37)
            clock.go_on(minutes=30)
    assert ledger.check() == []


def test_the_check_finds_people_who_are_not_stored_under_the_key(make, path):
    with make(budget=1, person_key=bytes(16)) as ledger:
        ledger.report("ada", "age", AGE, 37)
        assert ledger.check() == []
    change(path, "UPDATE reports SET person = 'ada'")
    assert make().check() == ["1 balances of people who are not stored under the key of the ledger"]


@pytest.mark.parametrize("name", ["budget", "period"])
@pytest.mark.parametrize("script", ["UPDATE constants SET value = 'fortnight'", "DELETE FROM constants"])
def test_settings_that_cannot_be_read_are_damage(make, path, called, name, script):
    make(budget=1).close()
    change(path, f"{script} WHERE name = '{name}'")
    for read_only in (False, True):
        with pytest.raises(
            LedgerFileError, match=f"{called} has no budget or no valid period: it is damaged; restore it from a backup"
        ):
            make(budget=1, read_only=read_only)


def test_a_ledger_whose_trigger_was_taken_away_says_so(make, path):
    make(budget=1).close()
    with other_program(path) as database:
        database.execute("DROP TRIGGER debits_within_the_budget" + " ON reports" * is_url(path))
    assert make().check() == ["1 tables or triggers that differ from those of a ledger with this budget"]


@pytest.mark.parametrize("script", ["DROP TABLE reports", "DROP TABLE requests", "ALTER TABLE reports RENAME TO old"])
def test_a_ledger_without_one_of_its_tables_is_damaged(make, path, script):
    make(budget=1).report("ada", "age", AGE, 37)
    with other_program(path) as database:
        database.execute(script)
    for use in (make().check, make(read_only=True).check, lambda: make().report("bob", "age", AGE, 37, request="r")):
        with pytest.raises(LedgerFileError, match="is no whole ledger.*; restore it from a backup, and debit nothing"):
            use()


def test_the_export_has_every_debit_even_where_its_question_was_removed(make, path):
    make(budget=1).report("ada", "age", AGE, 37)
    change(path, "DELETE FROM questions")
    assert [(debit.person, debit.epsilon, debit.on_change) for debit in make().export()] == [("ada", 1, "")]


def test_a_ledger_that_is_used_from_within_its_transaction_refuses_and_keeps_that_whole(make):
    ledger = make(budget=2)

    def within():
        for use in (lambda: ledger.spent("ada"), lambda: ledger.report("ada", "other", AGE, 37)):
            with pytest.raises(LedgerFileError, match="was used inside one of its own transactions, by a source"):
                use()

    ledger.report("ada", "age", AGE, 37, rng=Within(within))
    assert ledger.spent("ada") == ledger.summary()["reports"] == 1 and ledger.check() == []


def test_a_ledger_that_a_newer_bipartite_upgrades_while_it_is_open_is_refused_from_then_on(make, path):
    ledger = make(budget=1)
    change(
        path,
        "COMMENT ON SCHEMA bipartite_ledger IS 'bipartite ledger 4'" if is_url(path) else "PRAGMA user_version = 4",
    )
    for use in (lambda: ledger.report("ada", "age", AGE, 37), ledger.check, lambda: next(ledger.export())):
        with pytest.raises(LedgerFileError, match="is a ledger of version 4, expected 2 to 3; update bipartite"):
            use()


def test_amounts_are_exact_whatever_precision_decimals_have(make, clock):
    ledger = make(budget=1000, period="day")
    third = bp.BRR(bp.Integers(18, 90), epsilon="0.333333333333")
    for _ in range(2):
        ledger.report("ada", "often", third, 37, on_change="fresh")
        clock.go_on(days=1)
    ledger.report("ada", "often", third, 37, on_change="fresh")
    with localcontext(prec=3):
        assert str(ledger.spent_ever("ada")) == "0.999999999999"
        assert str(ledger.certificate("often").epsilon_period) == "999.999999999"


def test_an_instant_whose_period_begins_before_the_calendar_is_refused(make):
    ledger = make(budget=1, period="999999 weeks")
    with pytest.raises(InputError, match="Expected now in a period that starts after the year 1, got"):
        ledger.spent("ada", now=datetime(1969, 12, 31, tzinfo=UTC))
