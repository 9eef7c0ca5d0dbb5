"""The file of a ledger: rights, settings, damage, strangers, and what its check finds."""

import errno
import os
import signal
import sqlite3
import stat
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bipartite as bp
from bipartite.errors import InputError, LedgerFileError
from bipartite.ledger.connection import Connection
from bipartite.ledger.offer import Offer, from_stored
from bipartite.ledger.settings import Period, budget_units, debit_units, decimal_of
from tests.ledger.conftest import AGE, change, refusing


def test_the_file_and_its_log_are_for_the_owner_alone(make, path):
    ledger = make(budget=1)
    ledger.report("ada", "age", AGE, 37)
    rights = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    assert rights["spent.db"] == 0o600 and set(rights.values()) == {0o600} and len(rights) > 1


def test_commits_reach_the_disk_before_a_report_is_released(make):
    ledger = make(budget=1)
    with ledger._file.reading() as database:
        assert database.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert database.execute("PRAGMA synchronous").fetchone()[0] == 2  # FULL: the log is flushed at every commit
        assert database.execute("PRAGMA fullfsync").fetchone()[0] == 1


def test_a_new_ledger_needs_a_budget(make, path):
    with pytest.raises(
        InputError, match="Expected budget= for a new ledger, and spent.db does not exist yet; pass budget=4."
    ):
        make()
    assert not path.exists()
    path.touch()
    with pytest.raises(InputError, match="Expected budget="):
        make()
    assert make(budget=1).period == "forever" and stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_ledger_whose_maker_died_before_its_tables_is_made_by_the_next(make, path):
    change(path, "PRAGMA journal_mode = WAL")
    assert path.stat().st_size > 0
    with pytest.raises(InputError, match="Expected budget="):
        make()
    assert make(budget=1).budget == 1


def test_strangers_and_damaged_files_are_refused_and_left_alone(make, path):
    path.write_text("not a database at all, but long enough to look at" * 50)
    before = path.read_bytes()
    with pytest.raises(LedgerFileError, match="spent.db is not a SQLite database, so not a ledger"):
        make(budget=1)
    assert path.read_bytes() == before
    path.unlink()
    change(path, "CREATE TABLE theirs (x)")
    before = path.read_bytes()
    with pytest.raises(LedgerFileError, match="is a database, but not a bipartite ledger; choose another"):
        make(budget=1)
    assert path.read_bytes() == before and [each.name for each in path.parent.iterdir()] == ["spent.db"]


@pytest.mark.parametrize(
    ("version", "advice"), [(4, "update bipartite"), (0, "no bipartite writes that; restore it from a backup")]
)
def test_a_ledger_of_an_unknown_version_is_refused_with_the_right_advice(make, path, version, advice):
    make(budget=1).close()
    change(path, f"PRAGMA user_version = {version}")
    with pytest.raises(LedgerFileError, match=f"is a ledger of version {version}, expected 2 to 3; {advice}"):
        make()


def test_damage_in_the_middle_is_named(make, path):
    ledger = make(budget=1)
    ledger.report_many([f"p{i}" for i in range(3000)], "age", AGE, [40] * 3000)
    ledger.close()
    held = bytearray(path.read_bytes())
    for page in range(2, len(held) // 4096):  # the first pages hold the schema and the settings
        held[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    path.write_bytes(held)
    with pytest.raises(LedgerFileError, match="spent.db is damaged; restore it from a backup, and debit nothing"):
        make().report_many([f"p{i}" for i in range(3000)], "age", AGE, [40] * 3000)


def test_a_disk_that_fails_is_named_and_what_was_released_is_kept(make, path):
    resource = pytest.importorskip("resource")  # not on Windows
    make(budget=1).report("ada", "age", AGE, 37)
    child = os.fork()
    if not child:
        code = 1
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            with bp.Ledger(path) as ledger:
                resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
                with pytest.raises(
                    LedgerFileError,
                    match=r"cannot be read or written \(disk I/O error\), and nothing was released; m",
                ):
                    ledger.report_many([f"p{at}" for at in range(2000)], "age", AGE, [37] * 2000)
                assert ledger.report("ada", "age", AGE, 37) is not None and ledger.check() == []
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert make().summary()["reports"] == 1


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_ledger_that_the_system_does_not_let_be_made_is_refused_in_words(make, path, monkeypatch, code):
    monkeypatch.setattr("os.open", refusing(path, code))
    told = rf"spent.db cannot be created in {path.parent} \({os.strerror(code)}\); fix that, or choose another folder"
    with pytest.raises(LedgerFileError, match=told):
        make(budget=1)
    assert not path.exists()


@given(st.decimals("1e-15", "50", allow_nan=False, places=20))
def test_debits_round_up_and_budgets_down(epsilon):
    debit, budget = decimal_of(debit_units(epsilon)), decimal_of(budget_units(str(max(epsilon, Decimal("1e-12")))))
    assert 0 <= debit - epsilon < Decimal("1e-12") or debit == epsilon
    assert 0 <= max(epsilon, Decimal("1e-12")) - budget < Decimal("1e-12")


@pytest.mark.parametrize("budget", [0, -1, "x", True, float("nan"), float("inf"), 2_000_000, [1]])
def test_a_budget_is_a_positive_decimal(budget, path):
    with pytest.raises(InputError, match="Expected budget as a positive decimal of at most 1,000,000, got"):
        bp.Ledger(path, budget=budget)
    assert not path.exists()


def test_a_budget_too_small_to_count_is_refused(path):
    with pytest.raises(InputError, match="and at least 1e-12, got '1e-13'"):
        bp.Ledger(path, budget="1e-13")


def test_amounts_are_read_as_people_write_them():
    assert [
        str(decimal_of(budget_units(each))) for each in (4, "0.50", 0.1, 10, "1e3", np.float64(0.1), np.int64(3))
    ] == [
        *("4", "0.5", "0.1", "10", "1000", "0.1", "3"),
    ]


NOON = datetime(2026, 2, 28, 23, 30, tzinfo=UTC)
PERIODS = {
    "forever": ("forever", None),
    "day": ("2026-02-28", timedelta(days=1)),
    "month": ("2026-02", timedelta(days=31)),
    "year": ("2026", timedelta(days=366)),
    "1 hour": ("2026-02-28T23:00:00Z", timedelta(hours=1)),
    "30 days": ("2026-02-06T00:00:00Z", timedelta(days=30)),  # day 20,512 of the epoch, 20,512 mod 30 = 22
    "2 weeks": ("2026-02-26T00:00:00Z", timedelta(weeks=2)),  # 20,512 mod 14 = 2
}


@pytest.mark.parametrize("text", PERIODS)
def test_periods_are_cut_in_utc(text):
    period = Period.of(text)
    name, length = PERIODS[text]
    elsewhere = NOON.astimezone(timezone(timedelta(hours=9)))
    assert period.name_at(NOON) == period.name_at(elsewhere) == name
    if length is not None:
        assert period.name_at(NOON + length) != name


@given(st.integers(1, 500), st.sampled_from([("second", 1), ("minute", 60), ("hour", 3600), ("day", 86400)]), st.data())
def test_a_fixed_period_is_the_multiple_of_its_length_since_1970(count, unit, data):
    seconds = data.draw(st.integers(0, 4_000_000_000))
    period = Period.of(f"{count} {unit[0]}s")
    start = datetime.fromisoformat(period.name_at(datetime.fromtimestamp(seconds, UTC))).timestamp()
    length = count * unit[1]
    assert start == seconds - seconds % length and period == Period.of(period.text)


@pytest.mark.parametrize("period", ["fortnight", "0 days", "-1 days", "1.5 days", 30, "30", "30  days", ""])
def test_other_periods_are_refused(period, path):
    with pytest.raises(InputError, match="Expected period as 'forever', 'day', 'month', 'year' or a length such as"):
        bp.Ledger(path, budget=1, period=period)


def test_a_damaged_report_is_named():
    for stored in (b"u8;2;abc", b"x", b"z9;;a"):
        with pytest.raises(LedgerFileError, match="A stored report is damaged"):
            from_stored(stored)
    with pytest.raises(AssertionError, match="reported dict"):
        Offer.of(AGE).plain({})


def test_a_request_to_stop_that_is_heard_just_after_waiting_leaves_the_file_free(make, monkeypatch):
    ledger, other = make(budget=2, wait=0.05), make(wait=0.05)
    for use in (lambda: ledger.report("ada", "age", AGE, 37), lambda: ledger.spent("ada")):
        with monkeypatch.context() as patched:
            patched.setattr(Connection, "execute", interrupted_after("BEGIN"))
            with pytest.raises(KeyboardInterrupt):
                use()
        other.report("bob", "age", AGE, 37)
    assert ledger.summary()["reports"] == 1


def interrupted_after(word):
    """Runs a statement, and hears Ctrl-C where it begins so, as Python does after it waited in C."""

    def execute(self, statement, *given):
        done = sqlite3.Connection.execute(self, statement, *given)
        if statement.startswith(word):
            raise KeyboardInterrupt
        return done

    return execute
