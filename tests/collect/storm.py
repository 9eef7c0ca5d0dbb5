"""A storm: workers are killed while people send, send again, twice at once, and in any order.

    python -m tests.collect.storm --kills 200 [--postgresql]

Every report is sent until it is acknowledged, by itself and within batches, and again after that. In the end the
database must hold exactly the reports that were drawn. Prints what happened, as JSON.
"""

import argparse
import http.client
import json
import os
import random
import signal
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from bipartite.collect.store import begin
from bipartite.collect.study import read_study
from bipartite.mechanisms.spec.canonical import canonical_json
from tests.collect.conftest import STUDY
from tests.collect.reports import drawn, envelope, written
from tests.collect.running import Running
from tests.postgresql import Server, binaries

_SENDERS = 12
_SIZES = (1, 1, 1, 1, 2, 7, 40)
_UNTIL = "ends = 2026-12-31", "ends = 9999-12-31"


class Sender(threading.Thread):
    """One of those who send: what it drew, what was acknowledged, and how often something was sent."""

    def __init__(self, running, study, number, over):
        super().__init__(name=f"sender {number}", daemon=True)
        self.running, self.study, self.over = running, study, over
        self.rng = random.Random(number)
        self.drawn, self.statuses, self.counted = Counter(), Counter(), 0
        self.keys, self.past, self.connection = {}, [], None
        self.failure = None

    def run(self):
        try:
            while not self.over.is_set():
                self._turn()
        except BaseException as failure:  # noqa: BLE001 (told by the main thread)
            self.failure = failure
        finally:
            if self.connection is not None:
                self.connection.close()

    def _turn(self):
        rng = self.rng
        held = []
        for _ in range(rng.choice(_SIZES)):
            question = rng.choice(self.study.questions)
            report = drawn(question, rng)
            held.append(envelope(self.study, question, report, f"{rng.getrandbits(128):032x}"))
            self.drawn[question.name, canonical_json(report)] += 1
            self.keys[question.name, held[-1]["key"]] = canonical_json(report)
        rng.shuffle(held)
        doubled = held + rng.sample(held, len(held) // 2)  # within one body, too
        body = written(doubled if len(held) > 1 else held[0])
        twin = None
        if rng.random() < 0.3:  # twice at once, to whichever worker
            twin = threading.Thread(target=self._once, args=(body,), daemon=True)
            twin.start()
        while not self._until_taken(body):
            if len(held) > 1 and rng.random() < 0.3:  # then one by one, backwards
                for each in reversed(held):
                    while not self._until_taken(written(each)):
                        pass
        if twin is not None:
            twin.join()
        if self.past and rng.random() < 0.3:  # long ago, in another order
            self._until_taken(rng.choice(self.past))
        self.past.append(written(held[::-1]))
        del self.past[:-50]

    def _until_taken(self, body):
        status = self._once(body, keep=True)
        self.statuses[status] += 1
        assert status in {200, 503, None}, status
        return status == 200

    def _once(self, body, *, keep=False):
        """The status; None if the connection broke, after which nobody knows whether it was counted."""
        connection = self.connection if keep else None
        try:
            if connection is None:
                connection = http.client.HTTPConnection("127.0.0.1", self.running.port, timeout=60)
            connection.request("POST", "/reports", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            words = json.loads(answer.read())
        except (OSError, http.client.HTTPException):
            if connection is not None:
                connection.close()
            if keep:
                self.connection = None
            return None
        if answer.status == 200:
            self.counted += words["counted"]
        if keep:
            self.connection = connection if self.rng.random() < 0.9 else None
        if connection is not self.connection:
            connection.close()
        return answer.status


def storm(where, study, folder, kills):
    """Kill workers so many times, sometimes both at once; return what was drawn, by whom, and how it went."""
    rng = random.Random(1)
    over = threading.Event()
    with Running(where, study, folder) as running:
        senders = [Sender(running, study, number, over) for number in range(_SENDERS)]
        for each in senders:
            each.start()
        killed = 0
        while killed < kills:
            workers = running.workers()
            before = sum(each.statuses[200] for each in senders)
            for pid in rng.sample(workers, min(len(workers), rng.choice([1, 1, 2]), kills - killed)):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
            until = time.monotonic() + 60
            some = rng.randrange(1, 60)  # the next strikes when so many more were acknowledged
            while sum(each.statuses[200] for each in senders) < before + some:
                assert time.monotonic() < until, running.said.read_text()
                assert running.head.poll() is None, running.said.read_text()
                assert all(each.is_alive() for each in senders), [each.failure for each in senders]
                over.wait(0.02)
        over.set()
        for each in senders:
            each.join(120)
            assert not each.is_alive() and each.failure is None, each.failure
    return killed, senders


def check(where, study, senders):
    """That the database holds what was drawn, each report once; how many."""
    drawn_by_all = sum((each.drawn for each in senders), Counter())
    with begin(where, study) as store:
        for question in study.questions:
            expected = {report: n for (name, report), n in drawn_by_all.items() if name == question.name}
            assert dict(store.bag(question.name)) == expected, question.name
            assert sum(store.arrivals(question.name).values()) == sum(expected.values()), question.name
            assert store.counted()[question.name] == sum(expected.values())
        assert store.check() == []
        keys = {(number, bytes(key)) for number, key in store._database.execute("SELECT * FROM seen").fetchall()}
        sent = {(store.numbers[name], bytes.fromhex(key)) for each in senders for name, key in each.keys}
        assert keys == sent
    return sum(drawn_by_all.values())


def study_in(folder):
    """The study of these tests, for whatever day it is."""
    path = folder / "readers.toml"
    path.write_text(STUDY.replace(*_UNTIL))
    return read_study(path)


def main():
    """Run it once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--postgresql", action="store_true", help="on a server of its own, and not in a file")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, ExitStack() as server:
        folder, began = Path(name), time.monotonic()
        study = study_in(folder)
        where = server.enter_context(_server()) if given.postgresql else folder / "readers.db"
        begin(where, study).close()
        killed, senders = storm(where, study, folder, given.kills)
        reports = check(where, study, senders)
        statuses = sum((each.statuses for each in senders), Counter())
        print(json.dumps({
            "kills": killed, "reports": reports, "acknowledged requests": statuses[200], "503": statuses[503],
            "broken connections": statuses[None], "told as counted": sum(each.counted for each in senders),
            "seconds": round(time.monotonic() - began),
        }))  # fmt: skip


@contextmanager
def _server():
    """The URL of a fresh database."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        server = Server(Path(name), binaries())
        try:
            yield server.make_database()
        finally:
            server.stop("immediate")


if __name__ == "__main__":
    main()
