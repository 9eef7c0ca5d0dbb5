"""Reading without the right to write, and copies."""

import errno
import os
import stat
import time

import pytest

import bipartite as bp
from bipartite.errors import InputError, LedgerFileError
from bipartite.ledger import copying
from bipartite.ledger.audit import findings
from tests.ledger.conftest import AGE, change, refusing


def state_of(folder):
    """Everything that a writer would change."""
    held = {each.name: (each.stat().st_mtime_ns, each.stat().st_ino, each.read_bytes()) for each in folder.iterdir()}
    return folder.stat().st_mtime_ns, held


def read_everything(path):
    with bp.Ledger(path, read_only=True) as reader:
        return reader.check(), len(list(reader.export())), reader.summary()["reports"], reader.spent("ada")


@pytest.fixture
def book(make):
    ledger = make(budget=2)
    ledger.report_many(["ada", "bob"], "age", AGE, [37, 52])
    return ledger


def test_reading_needs_no_right_to_write_and_leaves_nothing_behind(book, path):
    book.close()
    path.chmod(0o400)
    path.parent.chmod(0o500)
    before = state_of(path.parent)
    assert read_everything(path) == ([], 2, 2, 1)
    assert state_of(path.parent) == before
    path.parent.chmod(0o700)


def test_a_reader_sees_what_others_debit_meanwhile(book, path):
    with bp.Ledger(path, read_only=True) as reader:
        assert reader.summary()["reports"] == 2
        book.report("eve", "age", AGE, 37)
        assert reader.summary()["reports"] == 3
        book.close()  # the log stays, because the reader is there
        assert reader.summary()["reports"] == 3
    with bp.Ledger(path, read_only=True) as reader:
        assert reader.summary()["reports"] == 3
        book.report("tom", "age", AGE, 37)
        assert reader.summary()["reports"] == 4
    assert book.check() == []


def test_a_reader_of_a_file_that_lay_still_notices_who_writes_to_it(make, book, path):
    book.close()
    with bp.Ledger(path, read_only=True) as reader:
        rows = reader.export()
        next(rows)
        make().report("eve", "age", AGE, 37)
        with pytest.raises(LedgerFileError, match="spent.db was written while it was being read; try again"):
            list(rows)
        assert reader.summary()["reports"] == 3
    assert read_everything(path) == ([], 3, 3, 1)


def test_a_reader_finds_what_a_killed_process_left_in_the_log(book, path, tmp_path):
    book.report("eve", "age", AGE, 37)
    (tmp_path / "after").mkdir()
    for each in ("spent.db", "spent.db-wal", "spent.db-shm"):  # as the disk is at the moment of the kill
        (tmp_path / "after" / each).write_bytes(path.with_name(each).read_bytes())
    assert read_everything(tmp_path / "after" / "spent.db") == ([], 3, 3, 1)


@pytest.mark.usefixtures("book")
def test_a_reader_debits_nothing_and_makes_no_ledger(path, tmp_path):
    with (
        bp.Ledger(path, read_only=True) as reader,
        pytest.raises(
            InputError,
            match="spent.db was opened with read_only=True, but a report must be debited; open it without read_only",
        ),
    ):
        reader.report("eve", "age", AGE, 37)
    with pytest.raises(LedgerFileError, match="none.db cannot be opened; check the folder and its permissions"):
        bp.Ledger(tmp_path / "none.db", budget=1, read_only=True)
    (tmp_path / "empty.db").touch()
    with pytest.raises(
        LedgerFileError, match="empty.db is empty: nothing has been debited yet, so there is no ledger to read"
    ):
        bp.Ledger(tmp_path / "empty.db", budget=1, read_only=True)
    assert not (tmp_path / "none.db").exists()


def test_a_copy_is_whole_and_for_its_owner_alone(book, tmp_path, monkeypatch):
    rights = []
    opened = os.open

    def watched(path, flags, mode=0o777, **options):
        handle = opened(path, flags, mode, **options)
        if flags & os.O_CREAT:
            rights.append(stat.S_IMODE(os.fstat(handle).st_mode))
        return handle

    monkeypatch.setattr(os, "open", watched)
    before = set(tmp_path.iterdir())
    book.backup(tmp_path / "copy.db")
    made = set(tmp_path.iterdir()) - before
    assert [each.name for each in made] == ["copy.db"] and rights == [0o600] * 3  # the name, a lock, the part
    assert stat.S_IMODE((tmp_path / "copy.db").stat().st_mode) == 0o600
    assert read_everything(tmp_path / "copy.db") == ([], 2, 2, 1)
    with bp.Ledger(tmp_path / "copy.db") as copy:  # it is a ledger like any other
        assert copy.report("ada", "age", AGE, 80) == book.report("ada", "age", AGE, 80)
        copy.report("ada", "other", AGE, 80)
    assert book.spent("ada") == 1


def test_a_copy_replaces_nothing(book, tmp_path):
    (tmp_path / "there.db").write_text("precious")
    with pytest.raises(InputError, match="a new file for the copy, but there.db exists; choose"):
        book.backup(tmp_path / "there.db")
    assert (tmp_path / "there.db").read_text() == "precious"


def test_the_place_of_a_copy_that_is_being_made_is_not_taken_for_a_new_ledger(book, tmp_path, monkeypatch):
    refused = []

    def meanwhile(connection):
        with pytest.raises(LedgerFileError, match=r"copy.db is not a SQLite database, so not a ledger") as caught:
            bp.Ledger(tmp_path / "copy.db", budget=1)
        refused.append(caught.value)
        return findings(connection)

    monkeypatch.setattr(copying, "findings", meanwhile)
    book.backup(tmp_path / "copy.db")
    assert len(refused) == 1
    assert read_everything(tmp_path / "copy.db") == ([], 2, 2, 1)


def test_a_copy_on_a_full_disk_names_the_copy_and_leaves_nothing(book, tmp_path, monkeypatch):
    class Small(copying.Connection):
        def __init__(self, *given):
            super().__init__(*given)
            self.execute("PRAGMA max_page_count = 1")  # says what a full disk says

    monkeypatch.setattr(copying, "Connection", Small)
    before = set(tmp_path.iterdir())
    with pytest.raises(
        LedgerFileError, match=r"copy.db cannot be created, its disk is full; free some space, or choose another"
    ):
        book.backup(tmp_path / "copy.db")
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize("statement", ["PRAGMA journal_mode", "PRAGMA integrity_check"])
def test_a_disk_that_fills_up_later_leaves_nothing_either(book, tmp_path, monkeypatch, statement):
    class Small(copying.Connection):
        def execute(self, text, *given):
            if text.startswith(statement):
                super().execute("PRAGMA max_page_count = 20")
                super().execute("CREATE TABLE much AS SELECT zeroblob(100000)")
            return super().execute(text, *given)

    monkeypatch.setattr(copying, "Connection", Small)
    before = set(tmp_path.iterdir())
    with pytest.raises(LedgerFileError, match=r"copy.db cannot be created, its disk is full; free some space, or"):
        book.backup(tmp_path / "copy.db")
    assert set(tmp_path.iterdir()) == before


def test_a_damaged_ledger_is_not_copied_and_says_so(book, path, tmp_path):
    book.report_many([f"p{at}" for at in range(3000)], "age", AGE, [40] * 3000)
    book.close()
    held = bytearray(path.read_bytes())
    for page in range(10, 40):
        held[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    path.write_bytes(held)
    with pytest.raises(LedgerFileError, match=r"spent.db is (damaged; restore it|inconsistent \()"):
        book.backup(tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()


def test_a_copy_whose_place_cannot_even_be_held_leaves_nothing(book, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.write", full)  # an empty file would be taken for a ledger yet to be made
    with pytest.raises(LedgerFileError, match=r"copy.db cannot be created in .* \(No space left on device\); fix that"):
        book.backup(tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()


def test_a_copy_on_a_file_system_that_is_read_only_is_refused_in_words(book, tmp_path, monkeypatch):
    monkeypatch.setattr("os.open", refusing(tmp_path / "copy.db", errno.EROFS))
    with pytest.raises(
        LedgerFileError, match=r"copy.db cannot be created in .* \(Read-only file system\); fix that, or"
    ):
        book.backup(tmp_path / "copy.db")


def test_a_copy_that_cannot_be_moved_to_its_place_is_refused_in_words_and_leaves_nothing(book, tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    before = set(tmp_path.iterdir())
    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.raises(LedgerFileError, match=r"copy.db cannot be created in .* \(Input/output error\); fix that, or"):
        book.backup(tmp_path / "copy.db")
    assert set(tmp_path.iterdir()) == before


def test_a_ledger_that_does_not_add_up_is_not_copied(book, path, tmp_path):
    change(path, "UPDATE reports SET number = 2")
    with pytest.raises(LedgerFileError, match=r"is inconsistent \(2 second reports to .* and no copy was made; run"):
        book.backup(tmp_path / "copy.db")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["spent.db", "spent.db-shm", "spent.db-wal"]


@pytest.mark.parametrize("end", ["-wal", "-journal"])
def test_a_copy_is_not_put_beside_a_log_of_something_else(book, tmp_path, end):
    (tmp_path / f"copy.db{end}").write_bytes(b"of a ledger that was removed")
    with pytest.raises(InputError, match=f"copy.db{end} of another database exists, and SQLite would take it for"):
        book.backup(tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()


def test_a_writer_who_comes_while_a_reader_opens_is_not_overlooked(make, book, path, monkeypatch):
    book.close()
    exists, writers = os.path.exists, []

    def comes_after_the_look(name):
        found = exists(name)
        if str(name).endswith("-journal") and not writers:
            writers.append(make())
            writers[0].report("eve", "age", AGE, 37)
        return found

    monkeypatch.setattr(os.path, "exists", comes_after_the_look)
    try:
        with bp.Ledger(path, read_only=True) as reader:
            seen = reader.summary()["reports"]
    except LedgerFileError as error:
        assert "was written while it was being read; try again" in str(error)  # noqa: PT017
    else:
        assert seen == 3
    assert writers


def test_a_file_that_was_written_just_now_is_looked_at_again_when_the_clock_has_moved_on(book, path, monkeypatch):
    book.close()
    now = [path.stat().st_mtime_ns + 1_000_000]  # a later writing might get the same time
    monkeypatch.setattr(time, "time_ns", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now.__setitem__(0, now[0] + int(seconds * 1e9)))
    with bp.Ledger(path, read_only=True) as reader:
        assert reader.summary()["reports"] == 2
    assert now[0] - path.stat().st_mtime_ns > 10_000_000  # the coarsest clock of Linux
