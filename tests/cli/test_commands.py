import io
import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import bipartite
from bipartite import BRR, Integers, from_spec, insecure_seed, verify
from bipartite.cli import design, output
from bipartite.cli.output import Progress
from tests.cli.schemas import conforms

NOT_PRIVATE = "bipartite: --insecure-seed: these reports are NOT private; whoever knows the seed can undo them.\n"
AGES = ["18..90", "--epsilon", "1"]


def test_design_describes_the_mechanism_for_people_and_for_programs(run, tmp_path):
    file = tmp_path / "age.json"
    code, out, err = run("design", *AGES, "--output", file)
    assert code == 0 and err.startswith("bipartite: next: ")
    assert "BRR(Integers(18, 90), epsilon=1, m=27)" in out
    assert "17.8174" in out
    assert "holds" in out
    spec = conforms(file.read_text(encoding="utf-8"), "spec")
    assert from_spec(spec) == BRR(Integers(18, 90), 1)
    assert [path.name for path in tmp_path.iterdir()] == ["age.json"]

    code, out, err = run("design", *AGES, "--json")
    assert (code, err) == (0, "")
    described = conforms(out, "design")
    assert described["spec"] == spec
    assert described["expected_loss"] == pytest.approx(17.817, abs=1e-3)
    assert described["expected_loss"] < described["expected_loss_constant"] < described["expected_loss_grr"]


def test_design_takes_every_option_of_the_mechanism(run, write):
    prior = write("prior.txt", "\n".join(["0.25"] * 4))
    code, out, _ = run("design", "0..1/4", "--epsilon", "0.5", "--m", "best", "--prior", prior, "--json")
    assert code == 0
    spec = json.loads(out)["spec"]
    assert spec["domain"] == {"interval": [0, 1], "points": 4, "rounding": "nearest"}
    code, out, _ = run("design", "-5..5", "--epsilon", "2", "--m", 3, "--edges", "padded", "--json")
    assert json.loads(out)["outputs"] == 13
    assert json.loads(out)["spec"]["domain"] == {"integers": [-5, 5]}
    code, out, _ = run("design", *AGES, "--m", "cdf", "--edges", "padded", "--json")
    assert json.loads(out)["spec"]["m"] == BRR(Integers(18, 90), 1, m="cdf", edges="padded").m


@pytest.mark.grid(2)
@pytest.mark.parametrize("purpose", ["release", "mean", "distribution", "categories"])
def test_design_takes_what_is_recommended_for_a_purpose(run, purpose):
    recommended = bipartite.recommend(Integers(18, 40), 2, purpose, n=5000)
    asked = ["design", "18..40", "--epsilon", 2, "--for", purpose, "--n", 5000]
    code, out, err = run(*asked, "--json")
    assert (code, err) == (0, "")
    described = conforms(out, "design")
    assert from_spec(described["spec"]) == recommended.mechanism
    assert described["recommendation"] == str(recommended)
    column = {"release": "expected_loss", "categories": "histogram_error"}.get(purpose, f"{purpose}_error")
    assert described[column] == pytest.approx(recommended.error, rel=1e-9)
    assert str(recommended) in run(*asked)[1]


def test_design_shows_what_estimates_from_many_reports_are_off_by(run):
    _, out, _ = run("design", *AGES, "--edges", "padded", "--m", "mean")
    error = bipartite.forecast(BRR(Integers(18, 90), 1, m="mean", edges="padded"), 100_000)
    assert "errors of estimates from 100,000 reports" in out and f"{error:.6g}" in out and "add --for" in out
    _, out, _ = run("design", *AGES)
    assert out.count("cannot be estimated") == 3
    code, _, err = run("design", *AGES, "--for", "mean", "--edges", "padded")
    assert code == 2 and "--for chooses the mechanism; leave out --edges" in err


def test_design_says_when_grr_cannot_be_had(run, monkeypatch):
    class Refusing:
        def __init__(self, *_, **__):
            raise bipartite.errors.DesignError

    monkeypatch.setattr(design, "GRR", Refusing)
    _, out, _ = run("design", *AGES)
    assert "not available" in out
    _, out, _ = run("design", *AGES, "--json")
    assert conforms(out, "design")["expected_loss_grr"] is None


@pytest.fixture
def places(tmp_path):
    file = tmp_path / "places.csv"
    rows = "Berlin,52.52,13.405\nParis,48.8566,2.3522\nLondon,51.5074,-0.1278\nSydney,-33.8688,151.2093\n"
    file.write_text("name,latitude,longitude\n" + rows, encoding="utf-8")
    return file


def test_places_and_items_are_designed_verified_and_reported(run, places, tmp_path, write):
    spec = tmp_path / "city.json"
    code, out, err = run("design", places, "--epsilon", 2, "--output", spec, "--json")
    assert (code, err) == (0, "")
    conforms(out, "design")
    conforms(spec.read_text(encoding="utf-8"), "spec")
    assert run("verify", spec)[0] == 0
    code, out, _ = run("privatize", "-", "-", "--spec", spec, stdin="Paris\nSydney\n")
    assert code == 0 and set(out.split()) <= {"Berlin", "Paris", "London", "Sydney"}

    items = tmp_path / "items.json"
    similarity = [[3, 2, 1], [2, 3, 2], [1, 2, 3]]
    items.write_text(json.dumps({"labels": [10, 20, 30], "similarity": similarity}), encoding="utf-8")
    unnamed = write("unnamed.csv", "\ufefflatitude,longitude\n1,2\n3,4\n50,60\n")
    assert run("design", unnamed, "--epsilon", 1, "--m", 1)[0] == 0
    assert run("design", items, "--epsilon", 1)[0] == 0


def test_places_beside_people_are_designed_only_once_they_are_called_public(run, write):
    file = write("visits.csv", "user,lat,lon\n7,1,2\n8,3,4\n")
    code, out, err = run("design", file, "--epsilon", 1)
    assert (code, out) == (3, "") and "next to the places: 'user'" in err
    assert err.rstrip().endswith("confirm that the list is public: --places-are-public.")
    assert run("design", file, "--epsilon", 1, "--places-are-public")[0] == 0


@pytest.mark.parametrize(
    ("ending", "text", "message"),
    [
        (
            "csv",
            "a,b\n1,2\n",
            "expected columns lat and lon (or latitude, longitude) in the first line, got 'a', 'b'",
        ),
        ("csv", "", "is empty; add a line with latitude and longitude"),
        ("csv", "latitude,longitude\n1,north\n", "line 2 has a longitude that is not a number"),
        ("csv", "latitude,longitude\n1\n", "line 2 has 1 cell instead of 2"),
        ("json", "[", "is not JSON: see line 1."),
        ("json", "[" * 100_000, "is not JSON."),
        ("json", '{"labels": ["a", "b"], "labels": ["c", "d"]}', "repeats a key."),
        ("json", "[]", "does not hold"),
        ("json", '{"distance": 1}', "does not hold"),
        ("json", '{"labels": ["a", " b"], "loss": [[0, 1], [1, 0]]}', "labels with leading or trailing spaces"),
    ],
)
def test_files_of_places_and_items_are_checked(run, ending, text, message, write):
    file = write(f"file.{ending}", text)
    code, out, err = run("design", file, "--epsilon", 1)
    assert (code, out) == (3, "")
    assert message in err


def test_verify_proves_or_refutes(run, spec, write):
    mechanism = BRR(Integers(18, 90), 1)
    good, broken = spec(mechanism), write("broken.json", json.dumps({**mechanism.to_spec(), "epsilon": "0.5"}))
    code, out, err = run("verify", good)
    assert (code, err) == (0, "")
    assert "ε-LDP of each report with ε = 1: holds" in out
    code, out, _ = run("verify", good, "--json")
    assert code == 0 and conforms(out, "verify")["spec_sha256"] == verify(mechanism).spec_sha256
    code, out, err = run("verify", broken)
    assert (code, out) == (1, "")
    assert "exceed e^ε for ε=0.5; do not report with this spec" in err
    code, out, err = run("verify", broken, "--json")
    assert code == 1
    assert conforms(out, "verify")["holds"] is False


def test_a_proof_that_fails_is_a_finding(run, spec, monkeypatch):
    proof = SimpleNamespace(holds=False, guarantee="", ratio=Fraction(3), epsilon_upper=2, spec_sha256="")
    monkeypatch.setattr("bipartite.cli.verify.verify", lambda _: proof)
    code, out, _ = run("verify", spec(BRR(Integers(1, 5), 1)), "--json")
    assert code == 1 and conforms(out, "verify")["ratio"] == ["3", "1"]


WINDOWS = "Expected --m 'safe', 'best', 'mean', 'cdf', 'histogram' or a whole number, got "


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["design", "18..90"], 2, "Expected --epsilon, the privacy budget of one report; try --epsilon 1."),
        (["design", "18..90", "--for", "mean"], 2, "Expected --epsilon, the privacy budget"),
        (["design", "18-90", "--epsilon", "1"], 2, "got '18-90'; for example 18..90."),
        (["design", "90..18", "--epsilon", "1"], 2, "Expected low < high"),
        (
            ["design", "18..90", "--epsilon", "1,2"],
            2,
            "Expected one ε as --epsilon, got '1,2'; several are for --compare.",
        ),
        (["design", "18..90", "--epsilon", "0.5..2"], 2, "Expected --epsilon as a positive decimal"),
        (["design", *AGES, "--confidence", "0.9"], 2, "--confidence belongs to --mean-within or --share-within; leave"),
        (["design", *AGES, "--plot", "x.svg"], 2, "--plot draws places, or a comparison; add --compare, or leave it"),
        (["design", *AGES, "--compare", "--mean-within", "1"], 2, "--mean-within: not allowed with argument --compare"),
        *((["design", *AGES, "--m", m], 2, f"{WINDOWS}{repr(m)[:6]}") for m in ("²", "", "huge", "9" * 5000)),
        (["design", *AGES, "--m", "cdf"], 2, "Expected --edges 'padded' with --m 'cdf'"),
        (["design", "1..9", "--epsilon", "zero"], 2, "Expected --epsilon as a positive decimal"),
        (["verify", "nowhere.json"], 4, "bipartite: not found: nowhere.json"),
        (["design", "nowhere.json", "--epsilon", "1"], 4, "bipartite: not found: nowhere.json"),
        ([], 2, "bipartite: Expected a command; bipartite --help lists them.\n"),
        (["design"], 2, "the following arguments are required: DOMAIN"),
    ],
)
def test_mistakes_give_a_message_an_exit_code_and_no_traceback(run, arguments, code, message):
    found, out, err = run(*arguments)
    assert (found, out) == (code, "")
    assert message in err
    assert "Traceback" not in err


def test_unreadable_files_are_bad_data(run, tmp_path):
    file = tmp_path / "x"
    file.write_bytes(b"\xff\xfe{}")
    assert run("verify", file)[::2] == (3, f"bipartite: {file} is not UTF-8 text.\n")
    file.write_text("{", encoding="utf-8")
    assert run("verify", file)[0] == 3
    file.write_text("half\n", encoding="utf-8")
    code, _, err = run("design", *AGES, "--m", "best", "--prior", file)
    assert (code, err) == (3, f"bipartite: {file} does not hold one probability per line.\n")
    assert run("verify", tmp_path)[0] == 3


def test_a_spec_is_written_whole_or_not_at_all(run, tmp_path, monkeypatch):
    file = tmp_path / "age.json"

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    code, _, err = run("design", *AGES, "--output", file)
    assert code == 5
    assert "No space left on device" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("raised", "code", "told"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (bipartite.errors.MissingExtraError("install bipartite[plots]"), 4, "install bipartite[plots]"),
        # Its kind and nothing else: a message could hold a private value.
        (ZeroDivisionError("40"), 70, "unexpected ZeroDivisionError: this is a bug in bipartite, please report it."),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_interruption_a_missing_library_and_a_bug_are_one_line_each(run, spec, monkeypatch, raised, code, told):
    def fail(_):
        raise raised

    monkeypatch.setattr("bipartite.cli.privatize.source_of", fail)
    assert run("privatize", "-", "-", "--spec", spec(BRR(Integers(18, 90), 1))) == (code, "", f"bipartite: {told}\n")


@pytest.mark.parametrize("options", [["design"], ["verify"], ["verify", "--json"]])
def test_output_is_utf8_whatever_the_system_gives_to_pipes(piped, spec, options):
    code, out, _ = piped(*options, spec(BRR(Integers(18, 90), 1)), encoding="cp1252")
    assert code == 0 and ("ε" in out.decode() or "\\u03b5" in out.decode())


@pytest.mark.skipif(os.name == "nt", reason="links and rights of files as POSIX has them")
def test_a_spec_takes_the_place_of_no_other(run, tmp_path):
    """Reports of the other could no longer be read."""
    file = tmp_path / "age.json"
    for _ in range(2):  # the same again is no loss
        assert run("design", *AGES, "--output", file)[0] == 0
    before = file.read_bytes()
    code, out, err = run("design", *AGES[:-1], "2", "--output", file, "--json")
    assert (code, out) == (2, "") and "already exists, and reports drawn with its spec cannot be read without it" in err
    assert file.read_bytes() == before


def test_a_spec_is_written_through_links_with_the_rights_of_a_new_file(run, tmp_path, write):
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    link.symlink_to(target)
    assert run("design", *AGES, "--output", link)[0] == 0
    assert link.is_symlink()
    assert from_spec(json.loads(target.read_text(encoding="utf-8")))
    fresh = write("fresh", "")
    assert target.stat().st_mode == fresh.stat().st_mode
    assert run("design", *AGES, "--output", os.devnull)[0] == 0
    assert not Path(os.devnull).is_file()


def test_a_reader_that_goes_away_is_no_error_message(spec):
    command = ["privatize", "-", "-", "--spec", str(spec(BRR(Integers(18, 90), 1)))]
    code = f"import sys; from bipartite.cli import main; sys.exit(main({command!r}))"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdout.close()
    _, err = process.communicate("40\n" * 200_000, timeout=60)
    assert (process.returncode, err) == (141, "")


def test_version_and_help_name_the_program(run):
    assert run("--version") == (0, f"bipartite {bipartite.__version__}\n", "")
    for command in ("design", "privatize", "verify", "explain", "demo"):
        code, out, _ = run(command, "--help")
        assert code == 0
        assert f"usage: bipartite {command}" in out
    assert "\n  echo 40 | bipartite privatize - - --spec age.json\n" in run("privatize", "--help")[1]


def test_the_installed_command_runs():
    script = Path(sys.executable).with_name("bipartite" + (".exe" if os.name == "nt" else ""))
    assert script.exists(), "bipartite is not installed beside this Python; run: pip install --no-deps --editable ."
    result = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout == f"bipartite {bipartite.__version__}\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_shows_on_a_terminal_only(monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(output.time, "monotonic", lambda: next(clock))
    for stream, total, patience, expected in (
        (
            Terminal(),
            4,
            0,
            "\r[#######.......................]  25 %  1 reports, 9 s left\r"
            "[##############################] 100 %  4 reports" + " " * len(", 9 s left") + "\n",
        ),
        (Terminal(), None, 0, "\r1 reports\r4 reports\n"),
        (Terminal(), None, 100, ""),
        (io.StringIO(), 4, 0, ""),
    ):
        monkeypatch.setattr("sys.stderr", stream)
        with Progress("reports", total, patience=patience) as progress:
            progress.advance(1)
            progress.advance(3)
        assert stream.getvalue() == expected


@pytest.mark.parametrize("name", ["bash", "zsh", "tcsh"])
def test_completion_knows_the_commands(run, name):
    code, out, err = run("completion", name)
    assert (code, err) == (0, "")
    assert "design" in out
    assert "--epsilon" in out or "epsilon" in out


def test_completion_in_a_real_bash_offers_the_commands():
    script = 'source <("$0" -m bipartite completion bash); complete -p bipartite'
    result = subprocess.run(
        ["bash", "-c", script, sys.executable], capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 0
    assert "bipartite" in result.stdout


def test_completion_without_its_extra_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    code, out, err = run("completion", "bash")
    assert (code, out) == (4, "")
    assert err.startswith('bipartite: Completion needs shtab, which is not installed; run: pip install "bipartite[comp')


RIVALS = ["anchored", "exponential", "geometric", "grr", "optimal", "square-wave"]


@pytest.mark.parametrize("name", ["duchi", "hybrid", "laplace", "piecewise", "staircase"])
def test_mechanisms_for_ranges_are_designed_verified_and_reported(run, tmp_path, name):
    file = tmp_path / "spec.json"
    interval = ["0..10/11", "--epsilon", "1"]
    code, out, _ = run("design", *interval, "--mechanism", name, "--json", "--output", file)
    assert code == 0
    described = conforms(out, "design")
    assert described["holds"] and conforms(described["spec"], "spec")["mechanism"] == name
    code, out, _ = run("verify", file, "--json")
    assert code == 0 and conforms(out, "verify")["holds"]
    code, out, _ = run("privatize", "-", "-", "--spec", file, stdin="5\n")
    assert code == 0
    float(out)


FLAT = {
    "oue": bipartite.OUE(Integers(1, 9), 1),
    "olh": bipartite.OLH(Integers(1, 9), 1),
    "subset-selection": bipartite.SubsetSelection(Integers(1, 9), 1),
    "hadamard": bipartite.HadamardResponse(Integers(1, 9), 1),
    "rappor": bipartite.RAPPOR(Integers(1, 9), epsilon_permanent=1),
}


def test_labels_of_flat_categories_are_reported_and_audited(run, spec):
    mechanism = bipartite.OUE(bipartite.Items(["a", "b", "c"], loss=1 - np.eye(3)), 1)
    file = spec(mechanism)
    assert run("audit", file, "--inputs", "a", "b", "--trials", 2000)[0] == 0


@pytest.mark.parametrize("name", RIVALS)
def test_design_makes_every_mechanism(run, tmp_path, name):
    file = tmp_path / "spec.json"
    code, out, err = run("design", "1..20", "--epsilon", "1", "--mechanism", name, "--output", file, "--json")
    assert (code, err) == (0, "")
    described = conforms(out, "design")
    mechanism = from_spec(conforms(file.read_text(encoding="utf-8"), "spec"))
    assert described["spec"] == mechanism.to_spec()
    assert described["spec_sha256"] == verify(mechanism).spec_sha256
    assert described["holds"] is True
    assert described["expected_loss"] == pytest.approx(bipartite.loss(mechanism).mean)
    assert described["worst_loss"] == pytest.approx(bipartite.loss(mechanism).worst)
    assert described["expected_loss_constant"] == 5
    assert described["outputs"] == len(mechanism.outputs)
    assert (described["gap"] is not None) == (name == "anchored")
    window = name == "square-wave"
    assert (described["m"] is not None) == (described["near_probability"] is not None) == window
    code, out, _ = run("design", "1..20", "--epsilon", "1", "--mechanism", name)
    assert code == 0
    assert "holds" in out
    assert ("above that of the best possible mechanism by at most" in out) == (name == "anchored")
    assert ("near outputs m" in out) == window
    # The other commands take the spec.
    assert run("verify", file)[0] == 0
    code, out, _ = run("privatize", "-", "-", "--spec", file, "--insecure-seed", 7, stdin="5\n20\n")
    assert code == 0 and out.split() == [str(report) for report in mechanism.privatize([5, 20], rng=insecure_seed(7))]


def test_design_makes_a_constant_which_spends_nothing(run, write):
    file = write("prior.txt", "0.1\n0.1\n0.8\n")
    code, out, _ = run("design", "1..3", "--mechanism", "constant", "--prior", file, "--json")
    described = conforms(out, "design")
    assert (code, described["spec"]["answer"], described["holds"], described["epsilon_upper"]) == (0, 2, True, "0")
    assert described["expected_loss_grr"] is None
    code, out, _ = run("design", "1..3", "--mechanism", "constant")
    assert code == 0
    assert "0-LDP: reports do not depend on the value: holds" in out


def test_the_prior_reaches_those_that_take_one(run, write):
    prior = write("prior.txt", "0.97\n0.01\n0.01\n0.01\n")
    answers = {}
    for name in ("anchored", "optimal"):
        code, out, _ = run("design", "1..4", "--epsilon", "0.1", "--mechanism", name, "--prior", prior, "--json")
        answers[name] = from_spec(json.loads(out)["spec"])
        assert code == 0
    assert answers["anchored"].anchors == [1]
    assert list(answers["optimal"].outputs) == [1]
    code, _, err = run("design", "1..4", "--epsilon", "0.1", "--prior", prior)
    assert code == 2 and "A prior is used only with --m 'best'" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--mechanism", "grr"], "Expected --epsilon, the privacy budget of one report; try --epsilon 1."),
        (["--mechanism", "grr", "--epsilon", "1", "--m", "3"], "--mechanism grr has no window; leave out --m."),
        (
            ["--mechanism", "anchored", "--epsilon", "1", "--m", "best", "--edges", "padded"],
            "--mechanism anchored has no window; leave out --m, --edges.",
        ),
        (
            ["--mechanism", "grr", "--epsilon", "1", "--prior", "x"],
            "--mechanism grr does not depend on a prior; leave out --prior.",
        ),
        (["--mechanism", "constant", "--epsilon", "1"], "--mechanism constant spends nothing; leave out --epsilon."),
    ],
)
def test_options_that_do_not_go_with_a_mechanism_are_refused(run, options, message):
    code, out, err = run("design", "1..9", *options)
    assert (code, out) == (2, "")
    assert message in err


def test_a_mechanism_does_not_go_with_a_spec_and_must_be_known(run, tmp_path):
    file = tmp_path / "spec.json"
    file.write_text(json.dumps(bipartite.GRR(Integers(1, 9), 1).to_spec()), encoding="utf-8")
    code, _, err = run("design", file, "--mechanism", "grr", "--prior", "x")
    assert code == 2
    assert "without --epsilon, the spec describes the whole mechanism; leave out --mechanism" in err
    code, _, err = run("design", "1..9", "--epsilon", "1", "--mechanism", "laplacian")
    assert code == 2
    assert "'laplacian'" in err


def test_design_takes_the_mechanism_of_a_spec_or_its_domain(run, spec):
    mechanism = bipartite.GRR(bipartite.Interval(0, 1, points=5, rounding="random"), "0.5")
    file = spec(mechanism)
    code, out, err = run("design", file, "--json")
    assert (code, err) == (0, "") and conforms(out, "design")["spec"] == mechanism.to_spec()
    code, out, _ = run("design", file, "--epsilon", 2, "--mechanism", "anchored", "--json")
    assert code == 0 and from_spec(json.loads(out)["spec"]) == bipartite.Anchored(mechanism.domain, 2)
    flat = run("design", spec(bipartite.OUE(Integers(1, 9), 1)), "--json")[1]
    assert conforms(flat, "design")["expected_loss_constant"] is None


def test_a_forged_spec_is_a_finding_or_refused(run, tmp_path):
    file = tmp_path / "spec.json"
    spec = bipartite.GRR(Integers(1, 9), 1).to_spec()
    file.write_text(json.dumps({**spec, "epsilon": "0.5"}), encoding="utf-8")
    for command in (["verify"], ["design"], ["privatize", "-", "-", "--spec"]):
        code, out, err = run(*command, file, stdin="5\n")
        assert code in {1, 2, 3}
        assert out == ""
        assert "exceed e^ε for ε=0.5; do not report with this spec" in err


def test_the_domain_may_come_last(run):
    first, last = (
        run("design", "18..90", "--epsilon", "1", "--json"),
        run("design", "--epsilon", "1", "--json", "18..90"),
    )
    assert first[0] == 0 and first == last
