"""A killed executor, a slow task's copy, a reshuffled input, all of it encrypted: still one report a row."""

import json
import shutil
import subprocess
import sys

import pytest

import bipartite as bp
from tests.tables.keyed_oracle import report
from tests.tables.spark_session import ROOT

AGE = bp.BRR(bp.Integers(18, 90), epsilon=1)
KEY = bytes(range(32))


@pytest.mark.skipif(shutil.which("java") is None, reason="no Java on this machine")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has 127.0.0.2 without asking for it")
def test_a_killed_executor_and_speculation_give_one_report_a_row(tmp_path):
    command = [sys.executable, "-m", "tests.tables.spark_cluster", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    # It did happen: an executor died in the middle of a task, and copies overtook slow ones.
    assert found["executors_lost"] >= 1 and found["speculative"] >= 1
    assert found["slow"]["marks"] == ["overtaken", "slow"]
    assert found["keyed"]["marks"] == ["killed", "overtaken", "slow"]
    # Large plans are broadcast through a file of Spark's; with the settings of the docs the key is not in it.
    assert found["keyed"]["broadcast"] >= 1 and found["keyed"]["key_on_disk"] == 0
    assert [row for row, _ in found["slow"]["reports"]] == list(range(600))
    assert found["keyed"]["reports"] == [[row, report(KEY, AGE, "age", row, 18 + row % 73)[0]] for row in range(600)]
