"""Kill -9 in the middle of anything: nothing lost, nothing overspent. The long run is bench/ledger_soak.py."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import bipartite as bp
from tests.ledger.conftest import change

SCRIPT = Path(__file__).parents[2] / "bench" / "ledger_soak.py"


def test_killed_processes_lose_nothing_and_overspend_nothing():
    command = [sys.executable, str(SCRIPT), "--kills", "6", "--processes", "3", "--people", "3", "--seed", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    figures = json.loads(done.stdout)
    assert done.returncode == 0 and figures["problems"] == []
    assert figures["kills"] == 6 and figures["released"] > 0


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("DELETE FROM requests", "lost: ('ada', 'age', 'r')"),
        ("UPDATE reports SET report = report + 1", "changed: ('ada', 'age', 'r')"),
        ("UPDATE reports SET epsilon = 5000000000000", "overspent: 1 people"),
        ("UPDATE reports SET number = 2", "1 second reports to a question that repeats its first"),
    ],
)
def test_the_check_of_the_soak_can_fail(tmp_path, script, problem):
    soak = runpy.run_path(str(SCRIPT))
    path = tmp_path / "l.db"
    with bp.Ledger(path, budget=soak["BUDGET"]) as ledger:
        released = {("ada", "age", "r"): soak["ask"](ledger, "ada", "age", "r")}
    assert soak["problems_of"](path, released) == [] and soak["retry"](path, list(released)) == ([], 1)
    change(path, script)
    assert problem in soak["problems_of"](path, released)
