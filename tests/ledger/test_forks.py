"""A ledger that is open when a process forks: nothing lost, nothing twice, on either side. See ``forking.py``."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import bipartite as bp
from tests.ledger.forking import AGE, SCENARIOS, Desk

ROOT = Path(__file__).parents[2]
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@forks
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_what_was_released_is_kept_whoever_forks_and_closes_when(scenario, path):
    # From Python 3.12 on a fork beside threads is warned of; that it holds is what is tested here.
    quiet = ("-W", "ignore:This process:DeprecationWarning")
    command = [sys.executable, *quiet, "-m", "tests.ledger.forking", scenario, str(path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True
    ) as run:
        try:
            said = run.communicate(timeout=120)
        finally:
            with suppress(ProcessLookupError):  # nothing that was forked outlives the test
                os.killpg(run.pid, signal.SIGKILL)
    assert (run.returncode, *said) == (0, "[]", "")
    with bp.Ledger(path) as ledger:
        assert ledger.check() == []


def test_the_scenarios_notice_a_lost_and_a_second_report(path):
    desk = Desk(path)
    report = desk.ledger.report("zoe", "age", AGE, 37)
    assert desk.problems() == []
    desk.note("zoe", report + 1)
    assert desk.problems() == [f"lost: ('zoe', {report + 1})", "twice: zoe"]
    desk.ledger.close()
