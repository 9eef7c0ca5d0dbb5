import sys
from functools import partial

import pytest

import bipartite as bp
from bipartite.cli import output
from tests.cli import schemas

conforms = partial(schemas.conforms, name="audit")
# A client that keeps a bit with probability KEEP; seeded, so that the test says the same every time.
CLIENT = """import random, sys
random.seed(SEED)
for line in sys.stdin:
    bit = int(line)
    print(bit if random.random() < KEEP else 1 - bit)
"""


@pytest.fixture
def command(write):
    """A program as an argument of --command."""

    return lambda source: f"'{sys.executable}' '{write('client.py', source)}'"


def client(keep, seed=7):
    return CLIENT.replace("SEED", str(seed)).replace("KEEP", str(keep))


def test_a_command_that_breaks_its_claim_is_a_finding(run, command):
    # keep = 0.8 is ε = ln 4 = 1.386.
    arguments = ["audit", "--command", command(client(0.8)), "--inputs", 0, 1, "--trials", 10000, "--epsilon", 1]
    code, out, err = run(*arguments)
    assert (code, err) == (1, "")
    assert out.startswith("broken: real ε is at least 1.2")
    assert "10,000 trials for each input; 2 events tested" in out
    code, out, err = run(*arguments, "--json")
    assert (code, err) == (1, "")
    found = conforms(out)
    assert found["holds"] is False
    assert 1 < found["epsilon_lower"] < 1.387
    assert sorted(found["inputs"]) == ["0", "1"]
    assert found["counts"]["tested"] == 5000


def test_a_command_that_keeps_its_claim_is_not(run, command):
    code, out, _ = run(
        "audit", "--command", command(client(0.7)), "--inputs", 0, 1, "--trials", 4000, "--epsilon", 1, "--json"
    )
    assert code == 0
    assert conforms(out)["holds"] is True
    code, out, _ = run("audit", "--command", command(client(0.7)), "--inputs", 0, 1, "--trials", 400, "--json")
    assert code == 0
    assert conforms(out)["holds"] is conforms(out)["epsilon"] is None


def test_a_command_can_be_run_anew_for_each_report(run, command):
    # Its seed is the same in every run, so that its reports are too: exactly what --each is for.
    source = client(0.7, seed=1)
    code, out, _ = run(
        "audit", "--command", command(source), "--each", "--inputs", 0, 1, "--trials", 40, "--epsilon", 1, "--json"
    )
    assert code == 1
    assert conforms(out)["counts"]["hits_other"] == 0


def test_words_and_vectors_are_read(run, command):
    echo = "import sys\nfor line in sys.stdin: print(line.strip())"
    code, out, _ = run(
        "audit", "--command", command(echo), "--inputs", "yes", "no", "--trials", 100, "--epsilon", 1, "--json"
    )
    assert code == 1
    assert conforms(out)["event"] in {"the report is 'yes'", "the report is 'no'"}
    vectors = "import sys\nfor line in sys.stdin: print([0, int(line), 1.5])"
    code, out, _ = run("audit", "--command", command(vectors), "--inputs", 0, 1, "--trials", 100, "--epsilon", 1)
    assert code == 1
    assert "column 1 = " in out or "the report is " in out
    broken = "import sys\nfor line in sys.stdin: print('[0,' + line.strip())"
    code, out, _ = run("audit", "--command", command(broken), "--inputs", 0, 1, "--trials", 100)
    assert "the report is '[0," in out


def test_a_mechanism_is_audited_against_its_tickets(run, spec):
    # Secure words: a false alarm has probability 1e-9.
    few = ["--trials", 2000, "--confidence", 1 - 1e-9, "--json"]
    code, out, _ = run("audit", spec(bp.BRR(bp.Integers(1, 5), 1)), "--inputs", 1, 5, *few)
    assert code == 0
    found = conforms(out)
    assert (found["inputs"] in [[1, 5], [5, 1]], found["holds"]) == (True, True)
    assert found["epsilon"] == pytest.approx(1)
    items = spec(bp.BRR(bp.Items(["a", "b"], loss=[[0, 1], [1, 0]]), 1, m=1))
    code, out, _ = run("audit", items, "--inputs", "a", "b", "--trials", 400, "--json")
    assert sorted(conforms(out)["inputs"]) == ["a", "b"]
    code, _, err = run("audit", items, "--inputs", "a", "c")
    assert (code, err) == (3, "bipartite: Expected --inputs in the domain, got 'c'; choose other values.\n")
    code, out, _ = run("audit", spec(bp.BRR(bp.Interval(0, 1, points=5), 1)), "--inputs", "0.25", 1, *few)
    assert code == 0 and 0.25 in conforms(out)["inputs"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--inputs", 1, 2], 2, "Expected one of SPEC.json and --command; for example audit age.json --inputs 18 90."),
        (["SPEC", "--command", "cat", "--inputs", 1, 2], 2, "Expected one of SPEC.json and --command"),
        (["--command", "", "--inputs", 1, 2], 2, "Expected --command as a program with its arguments, got ''"),
        (["--command", "'", "--inputs", 1, 2], 2, 'Expected --command as a program with its arguments, got "\'"'),
        (["--command", "no-such-program", "--inputs", 1, 2], 4, "bipartite: not found: no-such-program"),
        (
            ["--command", "cat", "--inputs", 1, 2, "--epsilon", "x"],
            2,
            "Expected --epsilon, the claimed ε, as a number of at least 0, got 'x'; try --epsilon 1.",
        ),
        (["--command", "cat", "--inputs", 1], 2, "Expected --inputs as two or more values"),
        (["SPEC", "--inputs", 1, 2, "--each"], 2, "--each and --epsilon are for --command; leave out --each."),
        (["SPEC", "--inputs", 1, 2, "--epsilon", 1], 2, "--each and --epsilon are for --command; leave out --epsilon."),
        (["SPEC", "--inputs", 1, 9], 3, "Expected --inputs in the domain, got '9'"),
        (["SPEC", "--inputs", 1, "x"], 3, "Expected --inputs in the domain, got 'x'"),
        (["none.json", "--inputs", 1, 2], 4, "not found: none.json"),
    ],
)
def test_mistakes_give_a_message_and_an_exit_code(run, spec, arguments, code, message):
    file = spec(bp.BRR(bp.Integers(1, 5), 1))
    found, out, err = run("audit", *(file if each == "SPEC" else each for each in arguments))
    assert (found, out) == (code, "")
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("raise SystemExit(9)", "the command failed with exit code 9; run it by hand with one line to see why."),
        ("import sys\nsys.stdin.read()\nprint(1)", "the command read 5000 lines and wrote 1; it must answer each line"),
        (
            "import sys\nfor line in sys.stdin: print(1, 2, sep='\\n')",
            "the command wrote more than the 5000 lines that it read; it must answer each line with one line.",
        ),
        ("print(1)", "the command read 5000 lines and wrote 1;"),
    ],
)
def test_a_command_that_does_not_answer_line_by_line_is_bad_data(run, command, source, message):
    code, out, err = run("audit", "--command", command(source), "--inputs", 1, 2, "--trials", 5000)
    assert (code, out) == (3, "")
    assert message in err


def test_progress_is_shown_on_a_terminal(run, command, spec, monkeypatch):
    shown = []
    monkeypatch.setattr(output.Progress, "advance", lambda _, by: shown.append(by))
    run("audit", "--command", command(client(0.7)), "--inputs", 0, 1, "--trials", 5000)
    assert sum(shown) == 10_000
    shown.clear()
    run("audit", spec(bp.BRR(bp.Integers(1, 5), 1)), "--inputs", 1, 2, "--trials", 400)
    assert sum(shown) >= 800
