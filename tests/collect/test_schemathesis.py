"""A stranger's tool reads the published document and tries the server: nothing that it does not say, no failure."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bipartite.collect.store import begin, resume
from tests.collect.running import Running
from tests.collect.storm import study_in

TOOL = shutil.which("schemathesis", path=str(Path(sys.executable).parent))


@pytest.mark.slow
@pytest.mark.skipif(TOOL is None, reason="schemathesis is not installed here")
def test_the_server_keeps_to_its_document(tmp_path):
    study, where = study_in(tmp_path), tmp_path / "readers.db"
    begin(where, study).close()
    # It does not know that 413 refuses, too.
    statuses = [400, 403, 404, 405, 409, 413, 415, 422]
    settings = f"[checks]\nnegative_data_rejection.expected-statuses = {statuses}\n"
    (tmp_path / "schemathesis.toml").write_text(settings)
    with Running(where, study, tmp_path) as running:
        # All of its checks but one: what a mechanism can give is more than a JSON schema can say, so that a body which
        # the schema allows may be refused.
        found = subprocess.run(
            [
                TOOL, "run", f"http://127.0.0.1:{running.port}/openapi.json", "--generation-deterministic",
                "--phases", "examples,coverage,fuzzing", "--max-examples", "50", "--checks", "all",
                "--exclude-checks", "positive_data_acceptance",
            ],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert found.returncode == 0, found.stdout[-6000:] + found.stderr
        assert "Tested: 9" in found.stdout
        assert "Traceback" not in running.said.read_text()
    with resume(where, study.name) as store:
        assert store.check() == []
