"""The package for browsers passes its own tests: so `make test` guards it, too, wherever its tools are installed."""

import shutil
import subprocess
from pathlib import Path

import pytest

CLIENT = Path(__file__).parents[1] / "client"
VITEST = CLIENT / "node_modules" / "vitest" / "vitest.mjs"


def test_the_tests_of_the_client_pass():
    node = shutil.which("node")
    if node is None or not VITEST.exists():
        pytest.skip("needs Node and the client's tools, which `make client` installs")
    # One thread for all files: they are small, and a worker for each would take longer to start than to run.
    options = ["--pool=threads", "--no-isolate", "--no-file-parallelism"]
    result = subprocess.run(
        [node, VITEST, "run", *options], cwd=CLIENT, capture_output=True, text=True, timeout=300, check=False
    )
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-2000:]
    assert " passed" in result.stdout
