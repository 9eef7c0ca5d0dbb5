"""Where the file of a ledger is: links to it, and what happens to it while it is open."""

import os
import shutil
from pathlib import Path

import pytest

import bipartite as bp
from bipartite.errors import InputError, LedgerFileError
from tests.ledger.conftest import AGE
from tests.ledger.forking import Within


def test_a_file_of_two_names_is_refused_before_and_while_it_is_open(make, path):
    ledger = make(budget=1)
    ledger.report("ada", "age", AGE, 37)
    other = path.with_name("other.db")
    os.link(path, other)
    refusal = "has 2 names .hard links., each of which would have its own log, and debits would be lost; remove"
    for name in (path, other):
        with pytest.raises(LedgerFileError, match=f"{name.name} {refusal}"):
            bp.Ledger(name)
    with pytest.raises(LedgerFileError, match=refusal):
        ledger.report("bob", "age", AGE, 37)
    other.unlink()
    ledger.report("bob", "age", AGE, 37)
    assert ledger.summary()["reports"] == 2


def test_symbolic_links_lead_to_the_one_file_and_its_one_log(make, path, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.db"
    link.symlink_to(path)
    with bp.Ledger(link, budget=1) as ledger:  # makes the file where the link leads
        first = ledger.report("ada", "age", AGE, 37)
        assert make().report("ada", "age", AGE, 80) == first
        assert [each.name for each in link.parent.iterdir()] == ["link.db"]
    assert path.is_file() and not path.is_symlink()


def test_a_ledger_stays_where_it_was_opened_when_the_process_goes_elsewhere(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with bp.Ledger("spent.db", budget=1) as ledger:
        ledger.report("ada", "age", AGE, 37)
        ledger.close()
        monkeypatch.chdir(tmp_path / "elsewhere")
        assert ledger.spent("ada") == 1  # opens again


def _move(path):
    path.rename(path.with_name("moved.db"))


def _replace(path):
    shutil.copy(path, path.with_name("copy.db"))
    path.with_name("copy.db").replace(path)


def _lose_the_log(path):
    path.with_name("spent.db-wal").unlink()


def _replace_the_log(path):
    _lose_the_log(path)
    path.with_name("spent.db-wal").touch()


@pytest.mark.parametrize("happens", [_move, os.unlink, _replace, _lose_the_log, _replace_the_log])
def test_nothing_is_debited_to_a_file_or_log_that_is_no_longer_there(make, path, happens):
    ledger = make(budget=1)
    ledger.report("ada", "age", AGE, 37)
    happens(path)
    for use in (lambda: ledger.report("bob", "age", AGE, 37), ledger.check, lambda: ledger.spent("ada")):
        with pytest.raises(
            LedgerFileError, match=r"spent.db-wal was moved, removed or replaced while it was open, and"
        ):
            use()


def test_a_refused_ledger_leaves_no_descriptor_open(make, path, clock):
    make(budget=1, person_key=bytes(16)).close()
    descriptors = Path("/proc/self/fd")
    if not descriptors.is_dir():
        pytest.skip("this system does not list descriptors")

    def held():
        return [each for each in descriptors.iterdir() if str(each.resolve()).startswith(str(path))]

    for wrong in ({"budget": 2}, {"period": "month"}, {"person_key": b"another, 16 long"}):
        with pytest.raises(ValueError, match="Expected the") as caught:
            bp.Ledger(path, clock=clock, **wrong)
        assert held() == []
        del caught


def test_a_reader_of_a_file_that_was_removed_says_so(make, path):
    make(budget=1).close()
    with bp.Ledger(path, read_only=True) as reader:
        path.unlink()
        with pytest.raises(LedgerFileError, match=r"spent.db cannot be opened; check the folder and its permissions"):
            reader.check()


@pytest.mark.parametrize("happens", [_move, _replace, _lose_the_log, lambda path: os.link(path, f"{path}-2")])
def test_no_report_is_released_whose_debit_went_to_a_file_that_was_moved_meanwhile(make, path, happens):
    ledger = make(budget=1)
    with pytest.raises(LedgerFileError, match=r"was moved, removed or replaced|has 2 names"):
        ledger.report("ada", "age", AGE, 37, rng=Within(lambda: happens(path)))


def test_a_folder_that_is_renamed_takes_its_ledger_with_it(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    ledger = bp.Ledger(folder / "spent.db", budget=1)
    first = ledger.report("ada", "age", AGE, 37)
    folder.rename(tmp_path / "renamed")
    folder.mkdir()
    with pytest.raises(LedgerFileError, match="was moved, removed or replaced"):
        ledger.report("ada", "age", AGE, 37)
    with bp.Ledger(tmp_path / "renamed" / "spent.db") as other:
        assert other.report("ada", "age", AGE, 80) == first
    ledger.close()


def test_a_symbolic_link_that_is_led_elsewhere_while_its_ledger_is_open_is_refused(tmp_path):
    for each in ("old", "new"):
        (tmp_path / each).mkdir()
    folder = tmp_path / "folder"
    folder.symlink_to("old")
    ledger = bp.Ledger(folder / "spent.db", budget=1)
    ledger.report("ada", "age", AGE, 37)
    reader = bp.Ledger(folder / "spent.db", read_only=True)
    folder.unlink()
    folder.symlink_to("new")
    with bp.Ledger(folder / "spent.db", budget=1) as other:
        other.report("bob", "age", AGE, 37)
    uses = (
        lambda: ledger.report("bob", "age", AGE, 37),
        lambda: list(ledger.export()),
        lambda: ledger.backup(tmp_path / "copy.db"),
        reader.check,
    )
    for _ in ("open", "closed, as before a fork"):
        for use in uses:
            with pytest.raises(
                LedgerFileError, match=r"spent.db is reached by a symbolic link that no longer leads to"
            ):
                use()
        ledger.close()
    folder.unlink()
    folder.symlink_to("old")
    ledger.report("bob", "age", AGE, 37)
    assert len(list(ledger.export())) == 2
    ledger.close()
    reader.close()


@pytest.mark.parametrize("other", [{"budget": 5}, {"period": "day"}, {"person_key": bytes(16)}])
def test_a_ledger_of_other_settings_that_comes_in_its_place_between_two_uses_is_refused(make, path, other):
    ledger = make(budget=4)
    ledger.report("ada", "age", AGE, 37)
    ledger.close()  # as before a fork
    path.unlink()
    with bp.Ledger(path, **({"budget": 4} | other)):
        pass
    for use in (lambda: ledger.report("ada", "age", AGE, 37), ledger.check, lambda: list(ledger.export())):
        with pytest.raises(
            LedgerFileError, match=r"spent.db was replaced by a ledger with other settings since it was"
        ):
            use()


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal"])
def test_no_ledger_and_no_copy_has_a_name_that_sqlite_gives_to_its_own_files(make, path, end):
    ledger = make(budget=1)
    ledger.report("ada", "age", AGE, 37)
    ledger.close()
    name = f"{path}{end}"
    reader = make(read_only=True)
    for use in (lambda: reader.backup(name), lambda: bp.Ledger(name, budget=1)):
        with pytest.raises(
            InputError, match=f"does not end in -wal, -shm or -journal, got spent.db{end}: SQLite deletes"
        ):
            use()
    assert [each.name for each in path.parent.iterdir()] == ["spent.db"]


@pytest.fixture
def killed(make, path, tmp_path):
    """The folder of a ledger as a killed process leaves it, ten debits in the log; and an older copy beside it."""
    ledger = make(budget=1)
    ledger.report_many([f"older {at}" for at in range(400)], "age", AGE, [37] * 400)
    folder = tmp_path / "killed"
    folder.mkdir()
    ledger.backup(folder / "copy.db")
    ledger.report_many([f"later {at}" for at in range(300)], "age", AGE, [37] * 300)
    ledger.close()
    ledger.report_many([f"last {at}" for at in range(10)], "age", AGE, [37] * 10)
    for each in (path, path.with_name("spent.db-wal")):
        shutil.copy(each, folder)
    return folder


def _restore(path):
    shutil.copy(path.with_name("copy.db"), path)


@pytest.mark.parametrize("happens", [os.unlink, _move, lambda path: os.truncate(path, 0), _restore])
def test_a_log_beside_no_file_or_another_is_neither_deleted_nor_mixed_with_it(killed, happens):
    path = killed / "spent.db"
    held = path.read_bytes()
    happens(path)
    before = {each.name: each.read_bytes() for each in killed.iterdir()}
    for options in ({"budget": 1}, {"read_only": True}):
        with pytest.raises(LedgerFileError, match=r"has a log that belongs to another file .*; put that file back, or"):
            bp.Ledger(path, **options)
    assert {each.name: each.read_bytes() for each in killed.iterdir()} == before
    path.write_bytes(held)
    with bp.Ledger(path) as ledger:
        assert ledger.summary()["reports"] == 710 and ledger.check() == []
