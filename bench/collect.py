"""The collector's CPU time beside that of a hello-world of the same server, and of bare SQLite inserts, in one run.

    python bench/collect.py [KEYS ...]

KEYS are how many keys the database holds before; 0, 10⁶ and 5·10⁶ if none are named, which takes about two minutes.
Ratios are of CPU seconds, user and system together, of the process that serves: 1 is as cheap as the other, more is
cheaper. Posts come over 64 connections, so that those that wait share a transaction; batches also over one, where each
has its own, as the bare inserts have.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from socket import create_connection, create_server

from bipartite.collect.envelopes import Reader
from bipartite.collect.serving import Settings, run_workers, serve
from bipartite.collect.store import begin
from bipartite.collect.study import read_study

STUDY = """
ends = 9999-12-31
[questions.age]
ask = "How old are you?"
domain = { integers = [18, 90] }
epsilon = 1
"""
POSTS, BATCHES, SIZE, CONNECTIONS, ROUNDS = 20_000, 60, 1000, 64, 3


def hello():  # noqa: ANN201
    """A hello-world of Starlette that reads the body, as any endpoint for JSON does."""
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def greet(request):  # noqa: ANN001, ANN202
        await request.body()
        return JSONResponse({"hello": "world"})

    return Starlette(routes=[Route("/reports", greet, methods=["POST"])])


def envelope(sha256: str, chance: random.Random) -> bytes:
    """A body as the client writes it."""
    held = {"v": 1, "study": "study", "question": "age", "spec": sha256, "report": chance.randint(9, 99),
            "key": os.urandom(16).hex()}  # fmt: skip
    return json.dumps(held, separators=(",", ":")).encode()


def cpu_of(pid: int) -> float:
    """The CPU seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def workers_of(pid: int) -> list[int]:
    """The processes that a process started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [each for child in map(int, children) for each in [child, *workers_of(child)]]


class Served:
    """A server in a process of its own."""

    def __init__(self, *arguments: str) -> None:
        with create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._process = subprocess.Popen([sys.executable, __file__, "--serve", str(self.port), *arguments])  # noqa: S603
        while True:
            try:
                create_connection(("127.0.0.1", self.port)).close()
            except OSError:
                time.sleep(0.1)
            else:
                break
        self.send([b"{}"] * 100)  # everything is loaded

    def send(self, bodies: list[bytes], connections: int = CONNECTIONS) -> float:
        """Post these bodies over so many connections; the CPU seconds that it took the server."""
        before, left = self._cpu(), iter(bodies)
        lock = threading.Lock()

        def post() -> None:
            with create_connection(("127.0.0.1", self.port)) as connection:
                while True:
                    with lock:
                        body = next(left, None)
                    if body is None:
                        return
                    connection.sendall(
                        b"POST /reports HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: "
                        + b"%d\r\n\r\n" % len(body)
                        + body
                    )
                    answer = b""
                    while b"}" not in answer:
                        answer += connection.recv(65536)

        threads = [threading.Thread(target=post) for _ in range(connections)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        return self._cpu() - before

    def _cpu(self) -> float:
        return sum(map(cpu_of, workers_of(self._process.pid)))

    def stop(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait()


def fill(path: Path, keys: int) -> None:
    """Give a database so many keys, and the reports that came with them."""
    with sqlite3.connect(path) as database:
        for first in range(0, keys, 10**6):
            more = min(10**6, keys - first)
            database.executemany(
                "INSERT INTO seen VALUES (1, ?)", ((key,) for key in sorted(os.urandom(16) for _ in range(more)))
            )
        chance = random.Random(1)  # noqa: S311
        bag = Counter(chance.randint(9, 99) for _ in range(keys))
        database.executemany("INSERT INTO bag VALUES (1, ?, ?)", [(str(report), n) for report, n in bag.items()])
        if keys:
            database.execute("INSERT INTO arrivals VALUES (1, '2026-01-01', ?)", (keys,))
    database.close()


def bare(path: Path, batches: list[list[tuple[bytes, str]]]) -> float:
    """The CPU seconds of the inserts alone, row by row, a transaction a batch, in this process."""
    database = sqlite3.connect(path, isolation_level=None)
    for setting in ("synchronous = FULL", "secure_delete = ON", "cache_size = -65536"):
        database.execute(f"PRAGMA {setting}")
    day, before = datetime.now(UTC).date().isoformat(), time.process_time()
    for batch in batches:
        database.execute("BEGIN IMMEDIATE")
        database.executemany("INSERT INTO seen VALUES (1, ?) ON CONFLICT DO NOTHING", [(key,) for key, _ in batch])
        database.executemany(
            "INSERT INTO bag VALUES (1, ?, 1) ON CONFLICT (question, report) DO UPDATE SET n = n + 1",
            [(report,) for _, report in batch],
        )
        database.execute(
            "INSERT INTO arrivals VALUES (1, ?, ?) ON CONFLICT (question, day) DO UPDATE SET n = n + excluded.n",
            (day, len(batch)),
        )
        database.execute("COMMIT")
    spent = time.process_time() - before
    database.close()
    return spent


def measure(keys: int, folder: Path) -> None:
    """Print a row: single posts beside hello-worlds, batches beside bare inserts."""
    file = folder / "study.toml"
    file.write_text(STUDY)
    study, path = read_study(file), folder / "study.db"
    begin(path, study).close()
    fill(path, keys)
    sha256, chance = study.questions[0].sha256, random.Random(2)  # noqa: S311
    ours, greeting = Served("collector", str(path)), Served("hello")
    reader = Reader(study, {"age": 1})
    found: dict[str, list[tuple[float, float]]] = {}  # CPU seconds a report of the other, and of ours
    for _ in range(ROUNDS):
        bodies = [envelope(sha256, chance) for _ in range(POSTS)]
        found.setdefault("single posts", []).append((greeting.send(bodies) / POSTS, ours.send(bodies) / POSTS))
        for what, connections in ((f"batches of {SIZE:,}", CONNECTIONS), ("one after another", 1)):
            arrays = [b"[" + b",".join(envelope(sha256, chance) for _ in range(SIZE)) + b"]" for _ in range(BATCHES)]
            rows = [[(os.urandom(16), each.report) for each in reader.read(array)] for array in arrays]
            reports = BATCHES * SIZE
            found.setdefault(what, []).append((bare(path, rows) / reports, ours.send(arrays, connections) / reports))
    ours.stop()
    greeting.stop()
    path.unlink()
    for what, pairs in found.items():
        ratios = sorted(other / mine for other, mine in pairs)
        other, mine = (1e6 * sum(each) / ROUNDS for each in zip(*pairs, strict=True))
        print(f"{keys:>9,} keys  {what:<17}  {ratios[ROUNDS // 2]:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
              f"  µs of CPU a report: {other:.1f} and {mine:.1f}", flush=True)  # fmt: skip


def run_server(port: int, kind: str, path: str = "") -> None:
    """Serve one of the two, with the same settings."""
    if kind == "hello":
        run_workers("collect:hello", "127.0.0.1", port, workers=1)
    else:
        serve(Settings(path, is_file=True, study="study", rate=0), "127.0.0.1", port, workers=1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        run_server(int(sys.argv[2]), *sys.argv[3:])
    else:
        with tempfile.TemporaryDirectory() as temporary:
            for given in [*map(int, sys.argv[1:])] or [0, 10**6, 5 * 10**6]:
                measure(given, Path(temporary))
