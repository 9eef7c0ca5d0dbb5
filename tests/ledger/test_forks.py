"""A ledger that is open when a process forks: nothing lost, nothing twice, on either side. See ``forking.py``."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

import bipartite as bp
from tests.ledger.forking import AGE, SCENARIOS, Desk

ROOT = Path(__file__).parents[2]
PATIENCE = 60
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@pytest.fixture(scope="module")
def stage():
    """The process from which those of the scenarios are forked."""
    # From Python 3.12 on a fork beside threads is warned of; that it holds is what is tested here.
    quiet = ("-W", "ignore:This process:DeprecationWarning")
    command = [sys.executable, *quiet, "-m", "tests.ledger.forking"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        yield process


@forks
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_what_was_released_is_kept_whoever_forks_and_closes_when(stage, scenario, path):
    stage.stdin.write(f"{scenario} {path}\n")
    stage.stdin.flush()
    group = int(stage.stdout.readline())

    def end():  # nothing that was forked outlives the test
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)

    patience = threading.Timer(PATIENCE, end)
    patience.start()
    code = int(stage.stdout.readline())
    patience.cancel()
    end()
    assert (code, path.with_suffix(".said").read_text()) == (0, "[]")
    with bp.Ledger(path) as ledger:
        assert ledger.check() == []


def test_the_scenarios_notice_a_lost_and_a_second_report(path):
    desk = Desk(path)
    report = desk.ledger.report("zoe", "age", AGE, 37)
    assert desk.problems() == []
    desk.note("zoe", report + 1)
    assert desk.problems() == [f"lost: ('zoe', {report + 1})", "twice: zoe"]
    desk.ledger.close()
