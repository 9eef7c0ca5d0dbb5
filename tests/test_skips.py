"""conftest.py: a skip that is not on the committed list fails the run, every test runs on one worker; its header."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = """
import os

import pytest

def test_without_the_mark_nobody_sees_the_data(): assert "BIPARTITE_DATA" not in os.environ

@pytest.mark.skip(reason="a known reason")
def test_listed(): pass

@pytest.mark.data
def test_data(): assert os.environ["BIPARTITE_DATA"] == "there"
"""
UNLISTED = """
@pytest.mark.skip(reason="no reason")
def test_unlisted(): pass
"""


@pytest.mark.parametrize(
    ("suite", "data", "code", "message"),
    [
        (SUITE, "there", 0, "skipped: tests/test_some.py::test_listed: Skipped: a known reason"),
        (SUITE, None, 0, "skipped: tests/test_some.py::test_data: Skipped: BIPARTITE_DATA names no folder"),
        (SUITE, "there", 0, "2 passed, 1 skipped"),
        (SUITE + UNLISTED, None, 1, "skipped AND NOT ALLOWED: tests/test_some.py::test_unlisted: Skipped: no reason"),
    ],
    ids=["listed", "no data", "data there", "one not listed"],
)
def test_skips_are_listed_and_unlisted_ones_fail_the_run(tmp_path, suite, data, code, message):
    (tmp_path / "tests").mkdir()
    shutil.copy(Path(__file__).parents[1] / "conftest.py", tmp_path)
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\nmarkers = ["data"]\n', encoding="utf-8")
    (tmp_path / "tests" / "test_some.py").write_text(suite, encoding="utf-8")
    listed = "tests/test_some.py::test_listed  # why\n"
    (tmp_path / "tests" / "allowed_skips.txt").write_text(listed, encoding="utf-8")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "BIPARTITE_DATA"))
    }
    if data:
        environment["BIPARTITE_DATA"] = data
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:doctest", "-p", "no:cacheprovider"]
    result = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == code
    assert message in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("named", "passed"), [([], 8), (["tests/test_5.py::test_it"], 1)])
def test_workers_share_the_files_and_every_test_runs_once(tmp_path, named, passed):
    (tmp_path / "tests").mkdir()
    shutil.copy(Path(__file__).parents[1] / "conftest.py", tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "tests" / "allowed_skips.txt").touch()
    for number in range(8):
        (tmp_path / "tests" / f"test_{number}.py").write_text("def test_it(): pass\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        "2",
        "--dist",
        "each",
        "-p",
        "no:cacheprovider",
        "-q",
        "-rp",
        *named,
    ]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    result = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 0, result.stdout
    ran = [line for line in result.stdout.splitlines() if line.startswith("PASSED ")]
    assert len(ran) == len(set(ran)) == passed


def test_the_header_says_with_how_many_threads_and_which_instructions_numbers_are_computed(request, monkeypatch):
    torch = pytest.importorskip("torch")
    here = str(Path(__file__).parents[1] / "conftest.py")
    (conftest,) = [
        each for each in request.config.pluginmanager.get_plugins() if getattr(each, "__file__", None) == here
    ]
    monkeypatch.setenv("MKL_CBWR", "COMPATIBLE")
    said = conftest.pytest_report_header()
    capability = torch.backends.cpu.get_cpu_capability()
    assert said.startswith(f"torch: threads {torch.get_num_threads()}, CPU capability {capability}; set: ")
    assert "MKL_CBWR=COMPATIBLE" in said
    monkeypatch.setitem(sys.modules, "torch", None)
    assert conftest.pytest_report_header() == "torch: not installed"
