"""A command that is asked to stop: nothing private is left, no traceback is shown, and the exit code says why."""

import os
import signal
import subprocess
import sys

import duckdb
import pytest

PLAN = "[columns.age]\ndomain = { integers = [18, 90] }\nepsilon = 1\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "temporary").mkdir()
    # More than a pipe holds, so that whoever wrote it knows that most of it was read.
    query = "SELECT (18 + hash(i) % 73)::INTEGER AS age FROM range(100000) AS numbers(i)"
    duckdb.execute(f"COPY ({query}) TO '{tmp_path / 'in.parquet'}'")
    return tmp_path


def heed(*, ignored=()):
    """In the new process: all signals but these are heeded, also where whoever runs the tests ignores some (nohup)."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)


def reading(folder, ignored=()):
    """``bipartite privatize`` in the middle of a copy of its private input."""
    command = [sys.executable, "-m", "bipartite", "privatize", "-", "out.csv", "--from", "parquet"]
    process = subprocess.Popen(
        [*command, "--plan", "plan.toml"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(folder / "temporary")},
        preexec_fn=lambda: heed(ignored=ignored),  # noqa: PLW1509 (it takes no lock)
    )
    process.stdin.write((folder / "in.parquet").read_bytes())
    process.stdin.flush()
    return process


def left(folder):
    """The files that hold something."""
    kept = {folder / "plan.toml", folder / "in.parquet"}
    return [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size and path not in kept]


@pytest.mark.grid(1)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_request_to_stop_leaves_nothing_of_the_private_input(folder, number, code):
    with reading(folder) as process:
        process.send_signal(number)
        assert process.wait(timeout=60) == code
        assert process.stderr.read() == b"bipartite: interrupted\n"
    assert not left(folder) and not list((folder / "temporary").iterdir())


def test_a_killed_process_leaves_nothing_of_the_private_input(folder):
    with reading(folder) as process:
        process.kill()
    assert not left(folder)


@pytest.mark.slow
def test_what_nohup_ignores_stays_ignored(folder):
    with reading(folder, ignored=[signal.SIGHUP]) as process:
        process.send_signal(signal.SIGHUP)
        process.stdin.close()
        assert process.wait(timeout=60) == 0
    assert (folder / "out.csv").exists()


# Asks itself to stop while a library is being loaded.
STARTING = """
import os, signal, sys

class Asking:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), int(sys.argv[2]))

sys.meta_path.insert(0, Asking())
from bipartite.cli import main
sys.exit(main(["privatize", "in.parquet", "out.csv", "--plan", "plan.toml"]))
"""


@pytest.mark.grid(3)
@pytest.mark.parametrize("loading", ["bipartite.cli.running", "argparse", "numpy", "pyarrow"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_a_command_that_is_still_loading_stops_without_a_traceback(folder, loading, number, code):
    command = [sys.executable, "-c", STARTING, loading, str(int(number))]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, preexec_fn=heed)
    assert (done.returncode, done.stderr) == (code, b"bipartite: interrupted\n")
    assert not (folder / "out.csv").exists()
