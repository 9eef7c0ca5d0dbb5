"""``bipartite ledger``: shows, exports and checks; exit codes and schemas."""

import csv
import io
import stat
from datetime import UTC, datetime

import pytest

import bipartite as bp
from bipartite.postgres import Url, is_url
from tests.cli.schemas import conforms
from tests.ledger.conftest import other_program
from tests.postgresql import ESCAPED, PASSWORD

AGE = bp.BRR(bp.Integers(18, 90), epsilon=1)
RATING = bp.GRR(bp.Integers(1, 5), epsilon="0.3")


@pytest.fixture(params=["sqlite", "postgresql"])
def book(request, tmp_path):
    path = tmp_path / "spent.db" if request.param == "sqlite" else request.getfixturevalue("postgresql_url")
    with bp.Ledger(path, budget=4, period="month", clock=lambda: datetime(2026, 11, 15, tzinfo=UTC)) as ledger:
        ledger.report_many(["ada", "bob, the second"], "age", AGE, [37, 52])
        ledger.report("ada", "rating", RATING, 4, on_change="when-changed")
        ledger.report("ada", "rating", RATING, 5, on_change="when-changed", changed=True)
        ledger.report("ada", "age", AGE, 37, now=datetime(2026, 12, 1, tzinfo=UTC))
    return path


on_disk = pytest.mark.parametrize("book", ["sqlite"], indirect=True)


def called(book):
    return Url(book).name if is_url(book) else book.name


def test_show_says_what_everybody_may_know(run, book):
    code, out, err = run("ledger", "show", book, "--person", "ada")
    assert (code, err) == (0, "")
    assert f"{called(book)}: ε = 4 per person and period (month)" in out
    assert "5 reports of 2 people" in out and "in one period  1.6" in out and "in all         2.6" in out
    assert "this is not LDP for sequences of values" in out and "not covered: whether, when and how often" in out
    assert out.split("\n")[-4:] == ["2026-11    1.6", "2026-12      1", "in all     2.6", ""]


def test_show_for_programs_conforms_to_its_schema(run, book):
    code, out, _ = run("ledger", "show", book, "--json", "--person", "ada")
    shown = conforms(out, "ledger-show")
    assert code == 0 and shown["person"] == {"2026-11": "1.6", "2026-12": "1"}
    assert (shown["people"], shown["periods"], shown["questions"], shown["reports"]) == (2, 2, 2, 5)
    by_name = {each["question"]: each for each in shown["certificates"]}
    assert by_name["rating"]["epsilon_period"] is None and by_name["age"]["epsilon_period"] == "1"
    assert bp.from_spec(shown["specs"][by_name["age"]["spec_sha256"]]) == AGE
    assert conforms(run("ledger", "show", book, "--json")[1], "ledger-show")["person"] is None


def test_the_export_names_every_debit_and_no_report(run, book):
    code, out, err = run("ledger", "export", book)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert (code, err, len(rows)) == (0, "", 5)
    assert rows[0] == {
        "person": "ada",
        "period": "2026-11",
        "question": "age",
        "number": "1",
        "on_change": "repeat",
        "spec_sha256": bp.verify(AGE).spec_sha256,
        "epsilon": "1",
        "time": "2026-11-15T00:00:00.000000Z",
        "insecure": "false",
    }
    assert [row["epsilon"] for row in rows] == ["1", "0.3", "0.3", "1", "1"] and rows[4]["person"] == "bob, the second"
    code, out, _ = run("ledger", "export", book, "--json")
    lines = [conforms(line, "ledger-export") for line in out.splitlines()]
    assert [{key: str(value) for key, value in line.items()} | {"insecure": "false"} for line in lines] == rows
    assert {line["insecure"] for line in lines} == {False}


def test_the_check_finds_what_was_changed_by_hand(run, book):
    assert run("ledger", "check", book) == (
        0, f"{called(book)} adds up: 5 reports, every balance is the sum of its debits.\n", "",
    )  # fmt: skip
    with other_program(book) as database:
        database.execute("DROP TRIGGER debits_kept" + " ON reports" * is_url(book))
    code, out, _ = run("ledger", "check", book)
    assert (code, out) == (1, "1 tables or triggers that differ from those of a ledger with this budget\n")
    code, out, _ = run("ledger", "check", book, "--json")
    assert code == 1 and conforms(out, "ledger-check")["sound"] is False


def test_what_is_no_ledger_is_refused_and_left_alone(run, tmp_path):
    assert run("ledger", "show", tmp_path / "none.db")[::2] == (
        4, "bipartite: none.db not found; name the file that bp.Ledger was opened with.\n",
    )  # fmt: skip
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "text.db").write_text("no database" * 100)
    code, _, err = run("ledger", "check", tmp_path / "text.db")
    assert code == 3 and "is not a SQLite database, so not a ledger" in err


def test_every_command_says_which_reports_are_not_private(run, book):
    with bp.Ledger(book) as ledger:
        ledger.report("eve", "mood", RATING, 4, rng=bp.insecure_seed(1), now=datetime(2026, 11, 15, tzinfo=UTC))
    said = "1 of the reports are NOT PRIVATE: they were drawn from random words that someone may know (rng=)."
    for command in ("show", "check"):
        code, out, _ = run("ledger", command, book)
        assert code == 0 and said in out
    assert "mood, period 2026-11: NOT PRIVATE" in run("ledger", "show", book)[1]
    shown = conforms(run("ledger", "show", book, "--json")[1], "ledger-show")
    [mood] = [each for each in shown["certificates"] if each["question"] == "mood"]
    assert mood["insecure"] is True and mood["epsilon_period"] is None and shown["insecure_reports"] == 1
    assert conforms(run("ledger", "check", book, "--json")[1], "ledger-check")["insecure_reports"] == 1
    rows = list(csv.DictReader(io.StringIO(run("ledger", "export", book)[1])))
    assert [row["question"] for row in rows if row["insecure"] == "true"] == ["mood"]
    lines = [conforms(line, "ledger-export") for line in run("ledger", "export", book, "--json")[1].splitlines()]
    assert [line["question"] for line in lines if line["insecure"]] == ["mood"]


@on_disk
def test_no_command_writes(run, book):
    before = book.parent.stat().st_mtime_ns, book.stat().st_mtime_ns, book.read_bytes()
    for command in ("show", "export", "check"):
        assert run("ledger", command, book)[0] == 0
    assert (book.parent.stat().st_mtime_ns, book.stat().st_mtime_ns, book.read_bytes()) == before


@on_disk
def test_a_backup_is_a_private_checked_copy(run, book, tmp_path):
    copy = tmp_path / "copy.db"
    code, out, err = run("ledger", "backup", book, copy)
    assert (code, err) == (0, "")
    assert out == "copy.db: 5 reports, and everything adds up. It does not know of debits made from now on.\n"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert run("ledger", "export", copy)[1] == run("ledger", "export", book)[1]
    code, _, err = run("ledger", "backup", book, copy)
    assert code == 2 and "copy.db exists; choose another name" in err
    assert run("ledger", "backup", tmp_path / "none.db", tmp_path / "new.db")[0] == 4
    assert not (tmp_path / "new.db").exists()


def test_a_person_of_whom_the_ledger_holds_nothing_is_not_said_to_have_spent_nothing(run, book):
    code, out, err = run("ledger", "show", book, "--person", "nobody")
    assert (code, err) == (0, "") and "in all     0" not in out
    assert out.endswith(f"\n{called(book)} holds nothing under the name 'nobody'.\n")
    assert conforms(run("ledger", "show", book, "--person", "nobody", "--json")[1], "ledger-show")["person"] == {}


def test_a_person_of_a_ledger_with_keyed_names_is_asked_for_by_their_stored_name(run, tmp_path):
    path = tmp_path / "keyed.db"
    with bp.Ledger(path, budget=4, person_key=b"0123456789abcdef") as ledger:
        ledger.report("ada", "age", AGE, 37)
    code, out, _ = run("ledger", "show", path, "--person", "ada")
    assert code == 0 and out.endswith("holds nothing under the name 'ada'; names are keyed: give the stored one.\n")


@pytest.mark.parametrize("book", ["postgresql"], indirect=True)
def test_no_command_repeats_the_password_of_a_url(run, book, tmp_path):
    wrong = book.replace("127.0.0.1", "127.0.0.1,host.invalid").replace("/fresh", "/stale")
    for arguments, code in (
        (("show", book), 0),
        (("check", book), 0),
        (("export", book, "--json"), 0),
        (("show", wrong), 3),
        (("check", book.replace("postgresql", "postgres+driver")), 2),
        (("backup", book, tmp_path / "copy.db"), 2),
        (("backup", tmp_path / "spent.db", book), 4),
        ((book,), 2),
        (("show", tmp_path, book), 2),
        (("show", book, "--jsn"), 2),
    ):
        done = run("ledger", *arguments)
        assert done[0] == code, done
        assert not [secret for secret in (PASSWORD, ESCAPED, "swordfish") if secret in done[1] + done[2]]
    assert (
        "whose own tool copies it while it is in use: run pg_dump" in run("ledger", "backup", book, tmp_path / "c")[2]
    )


def test_a_copy_goes_to_a_file(run, tmp_path):
    bp.Ledger(tmp_path / "spent.db", budget=1).close()
    for url in ("postgresql://ada:swordfish@host/db", "mysql://ada:swordfish@host/db"):
        code, _, err = run("ledger", "backup", tmp_path / "spent.db", url)
        assert (code, err) == (2, "bipartite: Expected a file for the copy, got a URL; pass a path.\n")
