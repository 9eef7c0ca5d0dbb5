"""A collector that runs as its own processes, to be asked over sockets, killed, and looked into."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from bipartite.collect.serving import Settings

ROOT = Path(__file__).parents[2]
_PROGRAM = """
import json, sys
from bipartite.collect.serving import Settings, serve
serve(Settings(**json.loads(sys.argv[1])), "127.0.0.1", int(sys.argv[2]), workers=2)
"""


class Running:
    """Two workers on a port of this machine; what they print is in ``said``."""

    def __init__(self, where, study, folder, *, rate=0, proxies="", **environment):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        settings = Settings(str(where), isinstance(where, Path), study.name, rate, proxies or None)
        self.said = folder / "said"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]), **environment}
        with self.said.open("ab") as out:
            self.head = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, json.dumps(asdict(settings)), str(self.port)],
                stdout=out, stderr=out, env=environment, cwd=folder,
            )  # fmt: skip

    def __enter__(self):
        self.wait()
        return self

    def __exit__(self, *_):
        self.head.send_signal(signal.SIGTERM)
        try:
            self.head.wait(30)
        except subprocess.TimeoutExpired:
            self.head.kill()
            self.head.wait()
            raise

    def wait(self, path="/healthz", status=200, seconds=60):
        """Ask until the answer has this status; return its words."""
        until = time.monotonic() + seconds
        while True:
            got = None
            with suppress(OSError, http.client.HTTPException):
                got, words, _ = self.ask("GET", path)
                if got == status:
                    return words
            assert time.monotonic() < until, (got, self.said.read_text())
            assert self.head.poll() is None, self.said.read_text()
            os.sched_yield()

    def ask(self, method, path, body=None, headers=None, *, source=None):
        """One request on a connection of its own: status, words, headers."""
        asked = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60, source_address=source)
        try:
            asked.request(method, path, body, headers or {})
            answer = asked.getresponse()
            return answer.status, answer.read(), answer.headers
        finally:
            asked.close()

    def post(self, body, headers=None, **named):
        """POST to /reports; the words are read."""
        held = {"Content-Type": "application/json", **(headers or {})}
        status, words, headers = self.ask("POST", "/reports", body, held, **named)
        return status, json.loads(words), headers

    def children(self):
        """All processes that the first one started."""
        with suppress(FileNotFoundError):
            return list(map(int, Path(f"/proc/{self.head.pid}/task/{self.head.pid}/children").read_text().split()))
        return []

    def workers(self):
        """The processes that answer; another one only tidies up after multiprocessing."""
        return [
            pid
            for pid in self.children()
            if b"spawn_main" in _command(pid) and b"--multiprocessing-fork" in _command(pid)
        ]


def _command(pid):
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""
