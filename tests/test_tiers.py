"""conftest.py: which tests run in which tier, which may skip, and what the header says."""

import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]
ALLOWED = (ROOT / "tests" / "allowed_skips.txt").read_text(encoding="utf-8").splitlines()

pytest_plugins = ["pytester"]

TIERS = """
import pytest

def test_quick(): pass

@pytest.mark.slow
def test_slow(): pass

@pytest.mark.grid(2)
@pytest.mark.parametrize("a", "abc")
@pytest.mark.parametrize("b", "xyz")
def test_grid(a, b): pass

@pytest.mark.slow
class TestSlow:
    def test_within(self): pass
"""
PROFILE = "from hypothesis import settings\n\ndef test_it(): assert settings.get_current_profile_name() == '{}'\n"
SOME, FIGURES = "tests/test_some.py", "reproduction/tests/figures"


@pytest.fixture
def suite(pytester, monkeypatch):
    """A project with our conftest.py; what a run of pytest there ends with."""
    shutil.copy(ROOT / "conftest.py", pytester.path)
    pytester.makepyprojecttoml(
        '[tool.pytest.ini_options]\nmarkers = ["data", "slow", "grid"]\ntestpaths = ["tests", "reproduction"]\n'
    )
    for folder in ("tests/tables", FIGURES):
        (pytester.path / folder).mkdir(parents=True)
    (pytester.path / "tests" / "allowed_skips.txt").write_text(
        "tests/test_some.py::test_listed  # why\n", encoding="utf-8"
    )
    for name, text in {
        SOME: TIERS,
        "tests/tables/test_spark_columns.py": "def test_cluster(): pass\n",
        f"{FIGURES}/test_picture.py": "def test_picture(): pass\n",
    }.items():
        (pytester.path / name).write_text(text, encoding="utf-8")
    monkeypatch.delenv("BIPARTITE_DATA", raising=False)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    profile = settings.get_current_profile_name()

    def run(*arguments):
        # In this process, whose examples of hypothesis stay as many as they are.
        options = ["-p", "no:doctest", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:xdist"]
        try:
            return pytester.runpytest_inprocess(*options, *arguments)
        finally:
            settings.load_profile(profile)

    return run


@pytest.fixture
def ran(suite):
    """The tests that run, by their names."""

    def names(*arguments):
        result = suite("-q", *arguments)
        assert result.ret == 0
        passed, _, _ = result.reprec.listoutcomes()
        return [report.nodeid.partition("::")[2] for report in passed]

    return names


def test_the_quick_tier_leaves_out_what_is_slow_elsewhere_or_beyond_two_cases_of_a_grid(ran, suite):
    found = ran()
    grid = [name for name in found if name.startswith("test_grid[")]
    assert len(grid) == 2 and sorted(found) == sorted(["test_quick", *grid])
    assert ran() == found  # the same cases each time
    suite("-q").stdout.fnmatch_lines("3 passed, 9 deselected*")


def test_with_all_everything_runs(ran):
    found = ran("--all")
    assert len(found) == len(set(found)) == 14
    assert {"test_slow", "TestSlow::test_within", "test_cluster", "test_picture"} < set(found)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ([f"{SOME}::test_slow"], ["test_slow"]),
        ([f"{SOME}::TestSlow"], ["TestSlow::test_within"]),
        ([f"{SOME}::TestSlow::test_within", f"{SOME}::test_quick"], ["TestSlow::test_within", "test_quick"]),
        ([f"{SOME}::test_grid"], [f"test_grid[{b}-{a}]" for b in "xyz" for a in "abc"]),
        ([f"{SOME}::test_grid[{b}-a]" for b in "xyz"], [f"test_grid[{b}-a]" for b in "xyz"]),
        (["reproduction"], ["test_picture"]),
        ([FIGURES], ["test_picture"]),
        ([f"{FIGURES}/test_picture.py"], ["test_picture"]),
        (["tests/tables/test_spark_columns.py"], ["test_cluster"]),
    ],
)
def test_what_the_command_line_names_runs_without_all_too(ran, words, wanted):
    assert ran(*words) == wanted


@pytest.mark.parametrize("word", ["tests", SOME])
def test_a_file_or_a_folder_with_slow_tests_does_not_name_them(ran, word):
    found = ran(word)
    assert len(found) == 3 and "test_slow" not in found and "test_cluster" not in found


def test_a_slow_test_is_named_from_within_its_folder_too(ran, pytester, monkeypatch):
    monkeypatch.chdir(pytester.path / "tests")
    assert ran("test_some.py::test_slow") == ["test_slow"]
    monkeypatch.chdir(pytester.path / "reproduction")
    assert ran() == ["test_picture"]


@pytest.mark.parametrize(("words", "profile"), [((), "quick"), (("--all",), "full")])
def test_each_tier_has_its_number_of_examples(suite, pytester, words, profile):
    (pytester.path / SOME).write_text(PROFILE.format(profile), encoding="utf-8")
    suite("-q", SOME, *words).assert_outcomes(passed=1)


@pytest.mark.slow
@pytest.mark.usefixtures("suite")
def test_other_processes_do_the_same(pytester):
    options = ["-p", "no:doctest", "-p", "no:cacheprovider", "-q"]
    for words, passed in (([], 3), ([f"{SOME}::test_slow", FIGURES], 2)):
        pytester.runpytest_subprocess(*options, "-n", "1", *words).assert_outcomes(passed=passed)
    (pytester.path / SOME).write_text(PROFILE.format("nightly"), encoding="utf-8")
    words = ["--all", "--hypothesis-profile=nightly", SOME]
    pytester.runpytest_subprocess(*options, *words).assert_outcomes(passed=1)


SKIPPING = """
import os

import pytest

def test_without_the_mark_nobody_sees_the_data(): assert "BIPARTITE_DATA" not in os.environ

@pytest.mark.skip(reason="a known reason")
def test_listed(): pass

@pytest.mark.data
def test_data(): assert os.environ["BIPARTITE_DATA"] == "there"
"""
UNLISTED = '\n@pytest.mark.skip(reason="no reason")\ndef test_unlisted(): pass\n'
NO_DATA = "skipped: tests/test_some.py::test_data: Skipped: BIPARTITE_DATA names no folder of data sets"


@pytest.mark.parametrize("tier", [(), ("--all",)], ids=["quick", "all"])
@pytest.mark.parametrize(
    ("text", "data", "code", "messages"),
    [
        (SKIPPING, "there", 0, ["skipped: tests/test_some.py::test_listed: Skipped: a known reason", "*, 1 skipped*"]),
        (SKIPPING, None, 0, [NO_DATA, "*, 2 skipped*"]),
        (SKIPPING + UNLISTED, None, 1, ["skipped AND NOT ALLOWED: tests/test_some.py::test_unlisted: Skipped: no *"]),
        (
            "import pytest\npytest.importorskip('nothing')\n",
            None,
            1,
            ["skipped AND NOT ALLOWED: tests/test_some.py: *"],
        ),
    ],
    ids=["listed", "no data", "one not listed", "a whole file"],
)
def test_skips_are_listed_and_unlisted_ones_fail_the_run(
    suite, pytester, monkeypatch, tier, text, data, code, messages
):
    (pytester.path / SOME).write_text(text, encoding="utf-8")
    if data:
        monkeypatch.setenv("BIPARTITE_DATA", data)
    result = suite("-q", *tier)
    assert result.ret == code
    result.stdout.fnmatch_lines_random(messages)


def test_a_slow_test_that_skips_fails_the_run_that_runs_it(suite, pytester):
    (pytester.path / SOME).write_text(SKIPPING + UNLISTED.replace("@", "@pytest.mark.slow\n@"), encoding="utf-8")
    assert (suite("-q").ret, suite("-q", "--all").ret) == (0, 1)


@pytest.mark.parametrize("line", [line for line in ALLOWED if not line.startswith("#")], ids=lambda line: line[:60])
def test_what_may_skip_is_there_and_has_a_reason(line):
    named, _, reason = line.partition("  # ")
    path, _, test = named.partition("::")
    files = list(ROOT.glob(f"{path}*"))
    assert files and reason
    assert not test or re.search(rf"^def {test}", files[0].read_text(encoding="utf-8"), re.MULTILINE)


def test_the_header_says_with_how_many_threads_and_which_instructions_numbers_are_computed(request, monkeypatch):
    plugins = request.config.pluginmanager.get_plugins()
    (conftest,) = [each for each in plugins if getattr(each, "__file__", None) == str(ROOT / "conftest.py")]
    cpu = SimpleNamespace(get_cpu_capability=lambda: "AVX2")
    torch = SimpleNamespace(get_num_threads=lambda: 3, backends=SimpleNamespace(cpu=cpu))
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setenv("MKL_CBWR", "COMPATIBLE")
    said = conftest.pytest_report_header()
    assert said.startswith("torch: threads 3, CPU capability AVX2; set: ") and "MKL_CBWR=COMPATIBLE" in said
    monkeypatch.setitem(sys.modules, "torch", None)
    assert conftest.pytest_report_header() == "torch: not installed"
