"""``bipartite collect``: a study is served, shown, exported, closed, checked and backed up; messages and exit codes."""

import http.client
import json
import os
import re
import secrets
import signal
import socket
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from datetime import date

import pytest

import bipartite as bp
from bipartite.cli import collect
from bipartite.collect.store import Arrival, begin
from bipartite.collect.study import read_study
from bipartite.mechanisms.spec.canonical import canonical_json
from tests.cli.schemas import conforms
from tests.collect.bags import drawn, values

STUDY = """
title = "Readers of the Courier"
ends = 2999-12-31
people = 2000

[questions.age]
ask = "How old are you?"
domain = { integers = [18, 90] }
epsilon = 1

[questions."which section?"]
ask = "Which section do you read first?"
domain = { categories = ["news", "sport", "science"] }
epsilon = 0.5

[questions.browser]
ask = "Which browser do you use?"
domain = { categories = ["firefox", "chromium", "other"] }
mechanism = "oue"
epsilon = 1

[questions.hour]
ask = "At which hour do you read?"
domain = { cyclic = 24 }
mechanism = "olh"
epsilon = 1

[questions.person]
ask = "About you"
sample = 1
[questions.person.record.pets]
ask = "How many pets do you have?"
domain = { integers = [0, 9] }
epsilon = 1
[questions.person.record.home]
ask = "Where do you live?"
domain = { categories = ["town", "country"] }
epsilon = 1
"""
TODAY = date(2026, 11, 19)


@pytest.fixture
def study_file(tmp_path):
    """readers.toml."""
    path = tmp_path / "readers.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def fill(where, study_file, people=300):
    """Begin the study, and count a report of each of so many people to each question."""
    with begin(where, read_study(study_file)) as store:
        arrivals = []
        for question in store.study.questions:
            columns = {part.name: values(part.mechanism, drawn(part.mechanism, people)) for part in question.parts}
            for at in range(people):
                held = {name: column[at] for name, column in columns.items()}
                if question.is_record:
                    name = ("pets", "home")[at % 2]
                    report = {name: held[name]}
                else:
                    report = held[question.name]
                arrivals.append(Arrival(store.numbers[question.name], secrets.token_bytes(16), canonical_json(report)))
        store.count([arrivals], TODAY)


@pytest.fixture
def filled(study_file):
    """The study with reports of 300 people."""
    fill(study_file.with_suffix(".db"), study_file)
    return study_file


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def database(request, tmp_path):
    """What --database names: another file, or a server."""
    return str(tmp_path / "other.db") if request.param == "SQLite" else request.getfixturevalue("postgresql_url")


# --- What was counted


def test_show_prints_the_answers_as_estimate_does(run, filled):
    code, out, err = run("collect", "show", filled)
    assert (code, err) == (0, "")
    assert out.startswith(
        "Readers of the Courier: reports are taken until 2999-12-31 (UTC); all answers together spend ε = 4.5.\n"
        "\nage: How old are you?\n300 reports of BRR(Integers(18, 90)"
    )
    assert "person: About you (300 reports)\n\npets\n150 reports of BRR" in out and "\nhome\n150 reports of GRR" in out
    assert "Reports are taken until 31 December 2999. Decide then" in out and "link" not in out
    assert run("collect", "show", filled.with_suffix(".db")) == (code, out, err)


def test_show_for_programs_conforms_to_its_schema(run, filled):
    code, out, err = run("collect", "show", filled, "--json", "--link")
    shown = conforms(out, "collect-show")
    assert (code, err, shown["interim"], shown["epsilon"], shown["ends"]) == (0, "", True, "4.5", "2999-12-31")
    assert re.fullmatch(r"/operator\?link=[\w.-]+", shown["link"])
    by_name = {each["question"]: each for each in shown["questions"]}
    assert list(by_name) == ["age", "which section?", "browser", "hour", "person"]
    assert [each["name"] for each in by_name["person"]["columns"]] == ["pets", "home"]
    assert {each["reports"] for each in shown["questions"]} == {300}
    assert by_name["age"]["columns"][0]["estimates"][0]["people"] == 300
    assert conforms(run("collect", "show", filled, "--json")[1], "collect-show")["link"] is None


def test_two_parts_of_a_record_are_shown_together(run, study_file):
    study_file.write_text(STUDY.replace("sample = 1\n", ""))
    with begin(study_file.with_suffix(".db"), read_study(study_file)) as store:
        pets, home = store.study.questions[-1].parts
        number, seed = store.numbers["person"], bp.insecure_seed(1)
        ones = pets.mechanism.privatize([at % 3 for at in range(4000)], rng=seed)
        others = home.mechanism.privatize([("town", "country")[at % 3 // 2] for at in range(4000)], rng=seed)
        reports = [canonical_json({"pets": one, "home": other}) for one, other in zip(ones, others, strict=True)]
        store.count([[Arrival(number, secrets.token_bytes(16), report) for report in reports]], TODAY)
    code, out, err = run("collect", "show", study_file, "--across", "home", "pets")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "Where do you live? × How many pets do you have? (4,000 reports of both)"
    assert lines[1].split() == ["home", "pets", "share", "95%", "interval"]
    assert lines[-1] == "About 12,000 more people, 4 times as many in all, would halve the error."
    held = conforms(run("collect", "show", study_file, "--across", "home", "pets", "--json")[1], "collect-across")
    assert (held["parts"], held["n"]) == (["home", "pets"], 4000)
    assert abs(sum(row["share"] for row in held["rows"]) - 1) < 1e-9
    assert [[*row["names"], *row["words"]] for row in held["rows"]] == [
        re.split(r"  +", line.strip()) for line in lines[2 : 2 + len(held["rows"])]
    ]


def test_what_cannot_be_shown_together_says_why(run, filled):
    code, _, err = run("collect", "show", filled, "--across", "age", "browser")
    assert code == 2 and "Answers across questions need a Record question" in err
    assert "Each person reports one part of 'person'" in run("collect", "show", filled, "--across", "home", "pets")[2]
    assert run("collect", "show", filled, "--across", "home", "pets", "--link")[0] == 2


def test_before_the_first_report_there_is_nothing_to_show(run, study_file):
    begin(study_file.with_suffix(".db"), read_study(study_file)).close()
    code, out, _ = run("collect", "show", study_file)
    assert code == 0 and "age: How old are you? (0 reports)\n" in out
    questions = conforms(run("collect", "show", study_file, "--json")[1], "collect-show")["questions"]
    assert [(each["reports"], each["columns"]) for each in questions] == [(0, [])] * 5


def test_reports_that_no_mechanism_gave_are_a_finding(run, study_file):
    """Of 3,000 reports of ages all on 99: no answers give these, so the p-value is 0 to any digit."""
    with begin(study_file.with_suffix(".db"), read_study(study_file)) as store:
        store.count([[Arrival(1, secrets.token_bytes(16), "99") for _ in range(3000)]], TODAY)
    code, _, err = run("collect", "show", study_file)
    assert code == 1 and "warning: age: the reports of 'age' cannot have come from their mechanism\n" in err
    assert run("collect", "show", study_file, "--json")[0] == 1


def test_the_export_gives_the_same_answers_as_show(run, filled, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("collect", "export", filled, "reports")
    assert (code, err) == (0, "")
    commands = [line.split()[1:] for line in out.splitlines()]
    assert commands[1] == ["estimate", "reports/question-2.jsonl", "--spec", "reports/question-2.json"]
    shown = json.loads(run("collect", "show", filled, "--json")[1])["questions"]
    for command, question in zip(commands, shown, strict=True):
        code, out, _ = run(*command, "--json")
        assert code == 0
        columns = conforms(out, "estimate")["columns"]
        mine = [each["estimates"] for each in question["columns"]]
        found = [each["estimates"] for each in columns]
        for (one,), (other,) in zip(found, mine, strict=True):
            # Of a frequency oracle, who counts a file knows less than the bag does: which reports there were.
            assert (one.pop("poisoning") == other.pop("poisoning")) or question["question"] in {"browser", "hour"}
        assert found == mine and mine


def test_the_export_is_the_bag_in_the_order_of_its_content(run, filled, tmp_path):
    assert run("collect", "export", filled, tmp_path / "reports")[0] == 0
    lines = (tmp_path / "reports" / "age.jsonl").read_text().splitlines()
    with closing(sqlite3.connect(filled.with_suffix(".db"))) as database:
        bag = dict(database.execute("SELECT report, n FROM bag WHERE question = 1"))
    assert Counter(lines) == Counter({f'{{"report":{report}}}': n for report, n in bag.items()})
    assert lines == [f'{{"report":{report}}}' for report in sorted(bag) for _ in range(bag[report])]
    people = [json.loads(line) for line in (tmp_path / "reports" / "person.jsonl").read_text().splitlines()]
    assert all(set(each) == {"pets", "home"} and list(each.values()).count(None) == 1 for each in people)


def test_an_export_replaces_nothing(run, filled, tmp_path):
    code, _, err = run("collect", "export", filled, tmp_path)
    assert code == 2 and err == f"bipartite: {tmp_path} exists; name a new folder.\n"
    code, _, err = run("collect", "export", filled, tmp_path / "none" / "reports")
    assert code == 2 and "make it, or name another" in err


def test_a_closed_study_has_no_keys_and_keeps_its_reports(run, filled):
    code, out, err = run("collect", "close", filled)
    assert (code, err) == (0, "")
    assert out == (
        "readers is closed with 1,500 reports: it takes no more, its keys are forgotten, and its database is written "
        "anew.\nBackups of before still hold the keys; delete them when you need them no more.\n"
    )
    with closing(sqlite3.connect(filled.with_suffix(".db"))) as database:
        assert database.execute("SELECT count(*) FROM seen").fetchone() == (0,)
    code, out, _ = run("collect", "show", filled)
    assert code == 0 and "no more reports are taken" in out and "Decide then" not in out
    assert run("collect", "check", filled)[0] == 0
    assert not conforms(run("collect", "show", filled, "--json")[1], "collect-show")["interim"]


def test_the_check_finds_what_was_changed_by_hand(run, filled):
    assert run("collect", "check", filled) == (0, "readers adds up: 1,500 reports.\n", "")
    sound = conforms(run("collect", "check", filled, "--json")[1], "collect-check")
    assert sound == {"sound": True, "reports": 1500, "findings": []}
    with closing(sqlite3.connect(filled.with_suffix(".db"))) as database:
        database.execute("DELETE FROM seen")
        database.commit()
    code, out, _ = run("collect", "check", filled)
    assert (code, out) == (1, "5 questions whose reports are not as many as their keys\n")
    code, out, _ = run("collect", "check", filled, "--json")
    assert code == 1 and conforms(out, "collect-check")["findings"] == [out.split('"')[-2]]


def test_a_backup_is_a_database_like_any_other(run, filled, tmp_path):
    copy = tmp_path / "copy.db"
    code, out, err = run("collect", "backup", filled, copy)
    assert (code, err) == (0, "")
    assert out == "copy.db: 1,500 reports, and everything adds up. What comes from now on is not in it.\n"
    assert copy.stat().st_mode & 0o777 == 0o600
    assert run("collect", "show", copy)[1] == run("collect", "show", filled)[1]
    assert run("collect", "show", filled, "--database", copy)[1] == run("collect", "show", filled)[1]
    code, _, err = run("collect", "backup", filled, copy)
    assert code == 2 and "copy.db exists, and backups replace nothing; choose another name." in err


def test_every_action_works_on_either_engine(run, study_file, tmp_path, database):
    fill(database if "://" in database else tmp_path / "other.db", study_file, 60)
    named = ("--database", database)
    assert "60 reports of BRR" in run("collect", "show", study_file, *named)[1]
    assert run("collect", "export", study_file, tmp_path / "reports", *named)[0] == 0
    assert run("collect", "check", study_file, *named)[:2] == (0, "readers adds up: 300 reports.\n")
    assert run("collect", "backup", study_file, tmp_path / "copy.db", *named)[0] == 0
    assert run("collect", "close", study_file, *named)[0] == 0
    assert "no more reports" in run("collect", "show", study_file, *named)[1]
    assert "300 reports" in run("collect", "check", tmp_path / "copy.db")[1]


# --- What is refused


def test_a_bad_study_file_is_told_all_its_problems_at_once(run, tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text('title = ""\nends = 2026\n[questions.age]\ndomain = { integers = [9, 1] }\nepsilon = -1\n')
    code, out, err = run("collect", path)
    assert (code, out) == (2, "")
    for words in ("title", "ends", "ask", "epsilon"):
        assert words in err
    assert err.count("\n- ") >= 4 and not (tmp_path / "bad.db").exists()


def test_a_changed_study_is_refused_for_its_database(run, filled):
    filled.write_text(STUDY.replace("How old are you?", "How young are you?"))
    code, out, err = run("collect", filled)
    assert (code, out) == (2, "")
    assert "questions.age.ask: changed since readers.db was made" in err


def test_a_file_of_windows_may_begin_with_a_mark(run, filled):
    filled.write_bytes(b"\xef\xbb\xbf" + STUDY.replace("you?", "they?", 1).replace("\n", "\r\n").encode())
    assert "questions.age.ask: changed since readers.db was made" in run("collect", filled)[2]


ERRORS = [
    (["other.toml"], 4, "not found: other.toml"),
    (["serve", "readers.db"], 2, "Expected a study file that ends with .toml, got readers.db."),
    (["readers"], 2, "argument FILE.toml | ACTION: invalid choice: 'readers'"),
    (["past.toml"], 2, "Expected ends = a day to come, got 2020-12-31, which is over."),
    (["readers.toml", "--database", ""], 2, "Expected --database of a file or postgresql://…, got the folder '.'."),
    (["show", "readers.toml", "--database", "/"], 2, "Expected --database of a file or postgresql://…, got the folder"),
    (["show", "other.toml"], 4, "other.db not found; begin with: bipartite collect other.toml"),
    (["show", "readers.toml", "--database", "none.db"], 4, "none.db not found"),
    (["shwo", "readers.toml"], 2, "invalid choice: 'shwo' (choose from"),
    (["readers.toml", "--workers", "0"], 2, "Expected --workers of at least 1, got 0."),
    (["readers.toml", "--proxies", "proxy.example"], 2, "Expected --proxies as addresses or networks, such as 127"),
    (["readers.toml", "--proxies", "127.0.0.1,"], 2, "Expected --proxies as addresses or networks, such as 127"),
    (["--rate", "-1", "readers.toml"], 2, "Expected --rate of at least 0, got -1."),
    (["readers.toml", "--host", "192.0.2.1"], 2, "Cannot listen at 192.0.2.1, port 8000: "),
    (["readers.toml", "--proxies", "localhost"], 2, "Expected --proxies as addresses or networks, such as 127.0.0.1,"),
    (["readers.toml", "--port", "70000"], 2, "Expected --port of 0 to 65535, got 70000."),
    (["readers.toml", "--prot", "1"], 2, "unrecognized arguments: --prot 1 (did you mean --port?)"),
    (["show", "postgresql://ada:hunter2@host/db"], 2, "name a URL with --database"),
    (["show", "plain.db"], 3, "plain.db is a SQLite database, but not a collector's; choose another file."),
    (["show", "text.db"], 3, "text.db is not a SQLite database; choose another file."),
]  # fmt: skip


@pytest.mark.parametrize(("words", "code", "message"), ERRORS)
def test_what_is_refused_says_what_to_do(run, filled, monkeypatch, words, code, message):
    monkeypatch.chdir(filled.parent)
    with closing(sqlite3.connect("plain.db")) as database:
        database.execute("CREATE TABLE numbers (n)")
    (filled.parent / "text.db").write_text("no database" * 100)
    (filled.parent / "past.toml").write_text(STUDY.replace("2999", "2020"))
    found, out, err = run("collect", *words)
    assert (found, out) == (code, "") and message in err and "hunter2" not in err


def test_a_password_is_in_no_message(run, study_file):
    url = "postgresql://ada:hunter2@127.0.0.1:1/db"
    for words in ([study_file], ["show", study_file]):
        code, out, err = run("collect", *words, "--database", url)
        assert code == 3 and "postgresql://127.0.0.1:1/db cannot be reached" in err
        assert "hunter2" not in out + err


def test_a_missing_library_is_named_with_its_extra(run, filled, monkeypatch):
    find = collect.importlib.util.find_spec
    monkeypatch.setattr(collect.importlib.util, "find_spec", lambda name: None if name == "uvicorn" else find(name))
    for words in ([filled], ["show", filled], ["close", filled]):
        code, out, err = run("collect", *words)
        assert (code, out) == (
            4,
            "",
        ) and 'uvicorn, which is not installed; run: pip install "bipartite[collect]"' in err


def test_a_path_of_many_studies_is_asked_for_one(run, tmp_path, study_file, database):
    """Two studies in one database: each is named by its file."""
    where = database if "://" in database else tmp_path / "other.db"
    fill(where, study_file, 20)
    other = tmp_path / "others.toml"
    other.write_text(STUDY)
    begin(where, read_study(other)).close()
    assert run("collect", "check", other, "--database", database)[:2] == (0, "others adds up: 0 reports.\n")
    assert run("collect", "check", study_file, "--database", database)[:2] == (0, "readers adds up: 100 reports.\n")
    if "://" not in database:
        code, _, err = run("collect", "check", where)
        assert code == 4 and "other.db has more than one study: others, readers; name the file of one.\n" in err


# --- The server


def started(folder, *words):
    """The command as a process of its own, once it has said where it listens: (process, port, all that it said)."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bipartite", "collect", *words], cwd=folder, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    said = []
    for line in process.stdout:
        said.append(line)
        if line.startswith("The answers here"):
            break
    found = re.search(r"participants +http://127\.0\.0\.1:(\d+)/\n", "".join(said))
    assert found, (said, process.stderr.read() if process.poll() is not None else "")
    return process, int(found[1]), "".join(said)


def asked(port, method, path, body=None, headers=None):
    """(status, headers, body) of one request; the socket listens before the workers answer, so that it waits."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with closing(connection):
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_study_is_served_from_the_file_to_the_answers(study_file, run, number):
    process, port, said = started(study_file.parent, "readers.toml", "--port", "0", "--workers", "2")
    try:
        assert said.startswith("Readers of the Courier: reports are taken until 2999-12-31 (UTC); answers are for you ")
        assert (
            re.search(r"\nage +1 +brr +± 4\.1 +± 14 +", said)
            and "\nWhoever answers everything spends ε = 4.5.\n" in said
        )
        status, _, page = asked(port, "GET", "/")
        assert status == 200 and b"Readers of the Courier" in page
        question = read_study(study_file).questions[0]
        held = {"v": 1, "study": "readers", "question": "age", "spec": question.sha256, "report": 40, "key": "0" * 32}
        for counted in (b'{"counted":1,"known":0}', b'{"counted":0,"known":1}'):
            status, _, words = asked(port, "POST", "/reports", json.dumps(held), {"content-type": "application/json"})
            assert (status, words) == (200, counted)
        assert asked(port, "GET", "/answers")[0] == 403
        link = re.search(r"/operator\?link=\S+", said)[0]
        assert asked(port, "GET", link)[0] == 200  # a preview
        status, headers, _ = asked(port, "POST", link)
        cookie = {"cookie": headers["set-cookie"].partition(";")[0]}
        assert status == 303 and asked(port, "GET", "/answers", headers=cookie)[0] == 200
        assert asked(port, "POST", link)[0] == 403
        assert "1 report of BRR" in run("collect", "show", study_file)[1]
    finally:
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert errors == "bipartite: stopped; every report that was acknowledged is kept, and the same command goes on.\n"
    assert sorted(path.name for path in study_file.parent.iterdir()) == ["readers.db", "readers.toml"]
    assert run("collect", "check", study_file)[:2] == (0, "readers adds up: 1 report.\n")


@pytest.mark.slow
def test_a_port_that_is_taken_is_told(run, study_file):
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        code, out, err = run("collect", study_file, "--port", port)
    assert (code, out) == (2, "") and f"Cannot listen at 127.0.0.1, port {port}: Address already in use" in err


def test_a_study_that_ended_says_so(study_file, capsys):
    from bipartite.cli.collect_output import show_study

    show_study(read_study(study_file), closed=True)
    assert "no more reports are taken" in capsys.readouterr().out


def test_what_a_record_that_samples_promises_is_for_those_who_report_the_part(study_file, capsys):
    from bipartite.cli.collect_output import show_study

    told = []
    for text in (STUDY, STUDY.replace("sample = 1\n", "").replace("people = 2000", "people = 1000")):
        study_file.write_text(text)
        show_study(read_study(study_file), closed=False)
        told.append([line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("person.")])
    assert told[0] == told[1] and len(told[0]) == 2
