"""Who asked is nowhere afterwards: not in the database, its log, what is printed, the metrics, or a worker's memory."""

import http.client
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bipartite.collect.store import begin
from tests.collect.planted import Planted, memory, without_zeros
from tests.collect.reports import drawn, envelope, written
from tests.collect.running import Running
from tests.collect.storm import study_in

linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is read by way of Linux's /proc")
root = pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() != 0, reason="only root reads another's memory")


def ordinary(running, study, count):
    """What other people ask afterwards."""
    rng = random.Random(1)
    for at in range(count):
        question = study.questions[at % len(study.questions)]
        assert running.post(written(envelope(study, question, drawn(question, rng))))[0] == 200
        if at % 5 == 0:
            for path in ("/", "/answers", "/healthz"):
                assert running.ask("GET", path)[0] == 200


def test_a_mark_is_found_however_many_were_planted():
    planted = Planted(None, None)
    for at in range(2_000):
        assert planted.found(planted.mark(at).encode()) == {at}


def check_forgotten(pid, planted):
    """Wait until a process's memory holds no mark: ten seconds for what only garbage holds, sixty on a busy machine."""
    until = time.monotonic() + 60
    while found := {line: planted.found(held) for line, held in memory(pid) if planted.found(held)}:
        assert time.monotonic() < until, found


@linux
@root
@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "proxies"),
    [("SQLite", ""), ("PostgreSQL", "127.0.0.0/8")],
    indirect=["where"],
    ids=["SQLite", "PostgreSQL behind a proxy"],
)
def test_nothing_holds_who_asked_when_others_have_asked(where, tmp_path, proxies):
    study = study_in(tmp_path)
    begin(where, study).close()
    with Running(where, study, tmp_path, rate=10**6, proxies=proxies) as running:
        planted = Planted(running, study)
        for _ in range(3):  # so that both workers get some
            planted.send()
        files = {
            path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
        }  # the log of SQLite among them
        ordinary(running, study, 100)
        metrics = running.ask("GET", "/metrics")
        assert metrics[0] == 200
        files |= {("metrics", ""): metrics[1], ("later", running.said): running.said.read_bytes()}
        files |= {("later", path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        assert {str(name): planted.found(held) for name, held in files.items() if planted.found(held)} == {}
        workers = running.workers()
        assert len(workers) == 2
        for pid in [*workers, running.head.pid]:
            check_forgotten(pid, planted)
        # That the search finds what is there: a request that has not come to its end.
        open_ones = []
        for _ in range(8):
            waiting = http.client.HTTPConnection("127.0.0.1", running.port)
            waiting.putrequest("POST", "/reports")
            waiting.putheader("User-Agent", planted.mark("open"))
            waiting.putheader("Content-Length", "1000")
            waiting.endheaders(b"[")
            open_ones.append(waiting)
        until = time.monotonic() + 60  # a worker may be slow to read them
        while not any(planted.found(held) == {"open"} for pid in workers for _, held in memory(pid)):
            assert time.monotonic() < until
        for each in open_ones:
            each.close()


@linux
@root
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcore") is None, reason="gdb is not installed here")
def test_a_dump_of_a_worker_holds_nothing_either(tmp_path):
    study = study_in(tmp_path)
    begin(tmp_path / "readers.db", study).close()
    with Running(tmp_path / "readers.db", study, tmp_path, rate=10**6) as running:
        planted = Planted(running, study)
        planted.send()
        ordinary(running, study, 50)
        for pid in running.workers():
            check_forgotten(pid, planted)
            subprocess.run(["gcore", "-o", tmp_path / "dump", str(pid)], check=True, capture_output=True)
            dump = tmp_path / f"dump.{pid}"
            with dump.open("rb") as file:
                held = without_zeros(file, dump.stat().st_size)
            assert study.title.encode() in held
            assert planted.found(held) == set()
            dump.unlink()


_CRASH = """
import os, resource, signal
from bipartite.collect import serving
resource.setrlimit(resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE))
if {kept}:
    serving._leave_no_core()
os.kill(os.getpid(), signal.SIGSEGV)
"""


@linux
def test_a_crash_leaves_no_core_file(tmp_path):
    import resource

    def unlimited():
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    dumped = []
    for kept in (False, True):
        command = [sys.executable, "-c", _CRASH.format(kept=kept)]
        crashed = subprocess.Popen(command, cwd=tmp_path, preexec_fn=unlimited)  # noqa: PLW1509 (no threads here)
        _, status = os.waitpid(crashed.pid, 0)
        crashed.returncode = status
        assert os.WTERMSIG(status) == signal.SIGSEGV
        dumped.append(os.WCOREDUMP(status))
        assert kept is False or list(tmp_path.iterdir()) == []
        for each in tmp_path.iterdir():
            each.unlink()
    assert dumped[1] is False
    if not dumped[0] and Path("/proc/sys/kernel/core_pattern").read_text().strip() == "core":
        pytest.skip("nothing leaves a core file here")
