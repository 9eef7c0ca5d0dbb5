"""How workers are started: what they never log, forget at once, and leave no dump of."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict

import pytest
import uvicorn.supervisors

from bipartite.collect import serving
from bipartite.collect.serving import Settings
from bipartite.collect.store import begin


def test_workers_log_no_request_and_overwrite_what_they_free(monkeypatch):
    given = []

    class Supervisor:
        def __init__(self, config, sockets):
            given.append((config, sockets))

        def run(self):
            """Nothing."""

    monkeypatch.setattr(uvicorn.supervisors, "Multiprocess", Supervisor)
    for name in ("PYTHONMALLOC", "MALLOC_PERTURB_", "GLIBC_TUNABLES"):
        monkeypatch.setenv(name, "")
    before = {number: signal.getsignal(number) for number in serving._STOP}
    try:
        assert serving.run_workers("none:app", "127.0.0.1", 0, workers=1) is None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    ((config, _),) = given
    assert config.timeout_worker_healthcheck >= 60  # after five seconds a busy machine's workers were killed
    assert (config.access_log, config.log_level, config.proxy_headers) == (False, "warning", False)
    assert (os.environ["PYTHONMALLOC"], os.environ["GLIBC_TUNABLES"]) == ("malloc", "glibc.malloc.tcache_count=0")
    assert 0 < int(os.environ["MALLOC_PERTURB_"]) < 256


_WORKER = """
import ctypes, resource
from bipartite.collect.serving import app
app()
print(resource.getrlimit(resource.RLIMIT_CORE), ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux's prctl")
def test_a_worker_leaves_no_core_before_it_takes_a_request(tmp_path, study):
    where = tmp_path / "readers.db"
    begin(where, study).close()
    settings = Settings(str(where), is_file=True, study="readers", rate=0)
    environment = {**os.environ, "BIPARTITE_COLLECT": json.dumps(asdict(settings))}
    found = subprocess.run([sys.executable, "-c", _WORKER], env=environment, capture_output=True, text=True, check=True)
    assert found.stdout == "(0, 0) 0\n"
