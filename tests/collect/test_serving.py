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
    given, names = [], ("PYTHONMALLOC", "MALLOC_PERTURB_", "GLIBC_TUNABLES", "OPENBLAS_NUM_THREADS")

    class Supervisor:
        def __init__(self, config, sockets):
            given.append((config, sockets))

        def run(self):
            given.append([os.environ[name] for name in names])

    monkeypatch.setattr(uvicorn.supervisors, "Multiprocess", Supervisor)
    for name in names[:3]:
        monkeypatch.setenv(name, "as before")
    monkeypatch.delenv(names[3], raising=False)
    before = {number: signal.getsignal(number) for number in serving._STOP}
    try:
        assert serving.run_workers("none:app", "127.0.0.1", 0, workers=1) is None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    (config, _), (malloc, perturb, tunables, threads) = given
    assert config.timeout_worker_healthcheck >= 60  # after five seconds a busy machine's workers were killed
    assert (config.access_log, config.log_level, config.proxy_headers) == (False, "error", False)
    assert config.log_config is None  # uvicorn's would close the handlers of everybody else in this process
    assert (malloc, tunables, threads) == ("malloc", "glibc.malloc.tcache_count=0", "1")
    assert 0 < int(perturb) < 256
    assert [os.environ.get(name) for name in names] == ["as before"] * 3 + [None]


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
