import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bipartite
from bipartite.cli import former
from bipartite.cli.program import BIPARTITE, Command
from tests.cli.schemas import conforms

LIBRARY = Path(bipartite.__file__).parent


@pytest.fixture
def command():
    parser = Command()
    parser.add_argument("--from", dest="input_format")
    parser.add_argument("--partition-by", action="append")
    parser.add_argument("--overwrite", action="store_true")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--m")
    parser.add_argument("epsilon")
    return parser


@pytest.mark.parametrize(
    ("of_the_library", "of_the_command"),
    [
        ("Expected threads= as a whole number, got -1.", "Expected --threads as a whole number, got -1."),
        ("use threads=1.", "use --threads 1."),
        ("partition_by= writes Parquet; use input_format='csv'.", "--partition-by writes Parquet; use --from 'csv'."),
        ("use input_format=csv|tsv.", "use --from csv|tsv."),
        ("or use overwrite=True: a second", "or use --overwrite: a second"),
        ("Expected m='safe', 'best' or 7, got ''", "Expected --m 'safe', 'best' or 7, got ''"),
        ("leave such lines out with reject=.", "leave such lines out with --reject."),
        ("made with: release=.", "made with: --spec."),
        # No option of this command; an argument of a call; part of a path.
        ("got low=5, epsilon=1", "got low=5, epsilon=1"),
        ("that BRR(Integers(1, 5), m=3) gives", "that BRR(Integers(1, 5), m=3) gives"),
        ("at (m=3) of (threads=)", "at (--m 3) of (--threads)"),
        ("out/threads=1/a.parquet is not a file", "out/threads=1/a.parquet is not a file"),
    ],
)
def test_parameters_of_the_library_are_options_of_the_command(command, of_the_library, of_the_command):
    assert command.in_flags(of_the_library) == of_the_command


def test_actions_of_a_command_speak_of_their_own_options(run, tmp_path):
    (tmp_path / "in.csv").write_text("age;job\n40;x\n", encoding="utf-8")
    code, _, err = run("plan", "new", tmp_path / "in.csv", "--delimiter", ";;")
    assert code == 2 and "Expected --delimiter as one ASCII character" in err
    code, _, err = run("ledger", "check", tmp_path / "in.csv")
    assert code == 3 and "in.csv" in err


@pytest.mark.parametrize("command", former.COMMANDS)
def test_a_command_of_before_names_what_to_run(run, command):
    told = f"there is no command {command}; run: {former.COMMANDS[command]}"
    assert run(command, "--help") == (2, "", f"bipartite: {told}\n")
    assert command not in BIPARTITE.commands and json.loads(run(command, "--json")[2])["error"] == told


ACTIONS = {"plan": ["check"], "ledger": ["show"]}
GONE = [(command, flag) for command, flags in former.FLAGS.items() for flag in flags]


@pytest.mark.parametrize(("command", "flag"), GONE)
def test_an_option_of_before_names_what_to_use(run, command, flag):
    for words in ([flag, "3"], [f"{flag}=3"], ["x", flag]):
        code, out, err = run(command, *ACTIONS.get(command, []), *words)
        assert (code, out) == (2, "")
        said = f"{flag} is gone: {former.FLAGS[command][flag]}."
        assert json.loads(err)["error"] == said if "--json" in words else err.endswith(f" error: {said}\n")


def test_an_option_that_a_command_lacks_brings_its_usage_and_the_one_that_was_meant(run):
    code, out, err = run("estimate", "x.csv", "--colunm=age")
    assert (code, out) == (2, "") and err.startswith("usage: bipartite estimate ")
    assert err.endswith("bipartite estimate: error: unrecognized arguments: --colunm=age (did you mean --column?)\n")
    assert "did you mean" not in run("explain", "--epsilon", "1")[2]
    code, _, err = run("ledger", "show", "x.db", "y.db")
    told = "bipartite ledger show: error: unrecognized arguments: y.db; its options: bipartite ledger show --help\n"
    assert code == 2 and err.endswith(told)
    assert run("plan", "check", "x.toml", "--users", "5")[2].endswith("--users is gone: use --n N.\n")


@pytest.mark.parametrize(
    "words", [("design", "18..90", "--eps", "1"), ("explain", "1", "--js"), ("plan", "show", "--js")]
)
def test_options_are_not_abbreviated(run, words):
    """They would mean something else once an option is added, and errors would not be JSON after --js."""
    code, out, err = run(*words)
    assert (code, out) == (2, "") and "error: " in err


@pytest.mark.parametrize("command", BIPARTITE.commands)
def test_help_fits_one_screen_and_ends_with_two_examples(run, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "100")
    code, out, _ = run(command, "--help")
    assert code == 0 and len(out.splitlines()) <= 45 and max(map(len, out.splitlines())) <= 120
    examples = out.partition("\nexamples:\n")[2].splitlines()
    assert len(examples) == 2 and all(f"bipartite {command}" in each for each in examples)


@pytest.mark.parametrize("text", ["-5..5", "-9..-3", "-0.5..1/11"])
def test_a_domain_may_begin_with_a_minus_sign(run, text):
    for words in ([text, "--epsilon", "1"], ["--epsilon", "1", "--n", "2000", text]):
        assert run("design", *words, "--json")[::2] == (0, "")
    code, _, err = run("design", text, "--epsilon", "-1")
    assert code == 2 and "Expected --epsilon as a positive decimal" in err


ERRORS = [
    (["estimate", "FILE", "--spec", "SPEC"], 3, "FILE: line 2 cannot have come from GRR"),
    (["estimate", "NONE", "--spec", "SPEC"], 4, "not found: "),
    (["estimate", "FILE", "--spec", "SPEC", "--confidence", "2"], 2, "Expected confidence between 0 and 1"),
    (["estimate", "FILE", "--no-such-option"], 2, "unrecognized arguments: --no-such-option"),
    (["design", "1..5", "--m"], 2, "argument --m: expected one argument"),
    (["design", "--integers", "1..5"], 2, "--integers is gone: write the domain as in: bipartite design 18..90."),
    (["privatize", "-", "OUT", "--spec", "SPEC"], 3, "line 1 is not a number"),
    (["ledger", "show", "NONE"], 4, "NONE not found"),
    (["datasets"], 2, "run: python -m reproduction datasets"),
    (["no-such-command"], 2, "invalid choice: 'no-such-command'"),
]


@pytest.mark.parametrize(("arguments", "exit_code", "message"), ERRORS)
def test_errors_are_json_where_json_is_asked_for(run, tmp_path, arguments, exit_code, message):
    (tmp_path / "FILE").write_text("3\nx\n", encoding="utf-8")
    (tmp_path / "SPEC").write_text(json.dumps(bipartite.GRR(bipartite.Integers(1, 5), 1).to_spec()), encoding="utf-8")
    named = [str(tmp_path / each) if each.isupper() else each for each in arguments]
    code, out, err = run(*named, "--json", stdin="x\n")
    found = conforms(err, "error")
    assert (code, out, found["exit_code"]) == (exit_code, "", exit_code)
    assert message in found["error"].replace(f"{tmp_path}/", "") and "\n" not in err.rstrip("\n")
    # And words where it is not.
    code, _, err = run(*named, stdin="x\n")
    assert (code == exit_code and "bipartite: " in err) or "error: " in err


def test_a_bug_is_json_too_and_help_is_help(run, monkeypatch):
    def fail(_):
        raise AssertionError

    monkeypatch.setattr("bipartite.cli.explain.run", fail)
    code, out, err = run("explain", "1", "--json")
    assert (code, out) == (70, "")
    assert json.loads(err)["error"] == "unexpected AssertionError: this is a bug in bipartite, please report it."
    code, out, err = run("explain", "--json", "--help")
    assert (code, err) == (0, "") and out.startswith("usage: bipartite explain")


def test_only_the_command_line_speaks_of_options():
    for file in LIBRARY.rglob("*.py"):
        if file.relative_to(LIBRARY).parts[0] != "cli":
            found = re.findall(r"(?<![\w-])--[a-z]\w*", file.read_text(encoding="utf-8"))
            assert set(found) <= {"--upgrade"}, f"{file} names {found}; name the parameter, as in threads=."


def test_help_loads_neither_numpy_nor_any_room_but_the_command_line():
    program = """
import sys, bipartite
before = set(sys.modules)
from bipartite.cli import main
try:
    main(["--help"])
except SystemExit:
    print("numpy" in sys.modules, *set(sys.modules) - before, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    numpy, *loaded = done.stderr.split()
    parts = {name.split(".")[1] for name in loaded if name.startswith("bipartite.")}
    assert "usage: bipartite" in done.stdout and numpy == "False"
    assert {part for part in parts if (LIBRARY / part).is_dir()} == {"cli"}
