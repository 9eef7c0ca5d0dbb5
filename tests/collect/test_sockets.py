"""What only a real server shows: bodies of a wrong length, slow ones, far too long ones, and other methods."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import time
import zlib
from contextlib import closing
from pathlib import Path

import pytest
import uvicorn
from uvicorn.server import ServerState

from bipartite.collect import protocol
from bipartite.collect.store import begin, resume
from tests.collect import kinds
from tests.collect.hostile import MARK, Bodies
from tests.collect.reports import envelope, written
from tests.collect.running import Running
from tests.collect.storm import study_in


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Two workers, and the study."""
    folder = tmp_path_factory.mktemp("served")
    study = study_in(folder)
    where = folder / "readers.db"
    begin(where, study).close()
    with Running(where, study, folder) as running:
        yield running, study, where
        said = running.said.read_text()
    assert said == ""  # nobody who sends nonsense fills a log


def said(running, *parts, end=False):
    """All that the server answers to these bytes until it closes, or has nothing to say for a while."""
    with closing(socket.create_connection(("127.0.0.1", running.port), timeout=20)) as line:
        for part in parts:
            line.sendall(part)
        held = b""
        with contextlib.suppress(OSError):  # a server that refuses may be gone before the end is told or read
            if end:
                line.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            while part := line.recv(2**16):
                held += part
        return held


def head(length=None, *more, method="POST", path="/reports"):
    """The head of a request that wants the connection closed."""
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: collector",
        "Connection: close",
        "Content-Type: application/json",
        *more,
    ]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def status_of(answer):
    return int(answer.split(b" ", 2)[1])


def report(study, key=None):
    return written(envelope(study, study.questions[0], 40, key))


def counted(where, study):
    with resume(where, study.name) as store:
        assert store.check() == []
        return sum(store.counted().values())


def resident(running):
    """Bytes of memory of each worker."""
    return [
        int(line.split()[1]) * 1024
        for pid in running.workers()
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith("VmRSS")
    ]


@pytest.mark.slow
def test_other_methods_and_paths_are_refused(served):
    running, study, where = served
    before = counted(where, study)
    body = report(study)
    kind = {"Content-Type": "application/json"}
    for method in ("GET", "HEAD", "PUT", "PATCH", "DELETE", "TRACE", "BREW"):
        status, _, headers = running.ask(method, "/reports", body, kind)
        assert status in {400, 405}, method
        assert status == 400 or headers["Allow"] == "POST, OPTIONS"
    for path in (
        "/",
        "/answers",
        "/specs.json",
        "/healthz",
        "/metrics",
        "/openapi.json",
        "/reports/",
        "//reports",
        "/Reports",
    ):
        assert running.ask("POST", path, body, kind)[0] in {404, 405, 307}, path
    assert running.ask("HEAD", "/")[:2] == (200, b"")
    assert counted(where, study) == before


@pytest.mark.slow
def test_kinds_of_content_that_are_not_read(served):
    running, study, where = served
    before = counted(where, study)
    packed = zlib.compress(report(study))
    for kind, coding, body in (
        ("application/x-www-form-urlencoded", None, report(study)),
        ("multipart/form-data; boundary=x", None, report(study)),
        ("application/jsonp", None, report(study)),
        (f"text/{MARK}", None, report(study)),
        ("application/json", "gzip", packed),
        ("application/json", "deflate", packed),
        ("application/json", "br", packed),
    ):
        held = {"Content-Type": kind} | ({} if coding is None else {"Content-Encoding": coding})
        status, words, _ = running.ask("POST", "/reports", body, held)
        assert (status, b"not compressed" in words, MARK.encode() in words) == (415, True, False)
    for kind in ("text/plain;charset=UTF-8", "Application/JSON", "application/json; charset=utf-8"):
        assert running.ask("POST", "/reports", report(study), {"Content-Type": kind})[0] == 200
    assert counted(where, study) == before + 3


@pytest.mark.slow
def test_lengths_that_lie(served):
    running, study, where = served
    before = counted(where, study)
    body = report(study)
    answer = said(running, head(len(body) + 1), body, end=True)
    assert answer == b"" or status_of(answer) == 400
    assert status_of(said(running, head(len(body) - 1), body)) in {400, 422}
    for wrong in ("-1", "1e3", "0x10", "9" * 30, "1, 2", "٣"):
        answer = said(running, head(wrong) + body)
        assert answer == b"" or status_of(answer) in {400, 413}, wrong
    both = head(len(body), "Transfer-Encoding: chunked")  # how requests are smuggled
    assert status_of(said(running, both + b"0\r\n\r\n")) == 400
    assert status_of(said(running, head(4 * 2**20 + 1))) == 413
    assert counted(where, study) == before


@pytest.mark.slow
def test_bodies_in_chunks(served):
    running, study, where = served
    before = counted(where, study)
    body = report(study)
    chunked = head(None, "Transfer-Encoding: chunked")
    whole = b"".join(b"1\r\n%c\r\n" % each for each in body)
    assert status_of(said(running, chunked, whole, b"0\r\n\r\n")) == 200
    assert counted(where, study) == before + 1
    said(running, chunked, whole, end=True)  # which ends too early
    assert status_of(said(running, chunked + b"g\r\n")) == 400
    assert said(running, chunked, whole, b"0;" + b"x" * 100 + b"\r\n\r\n").startswith(b"HTTP/1.1 ")
    assert counted(where, study) <= before + 2


@pytest.mark.slow
def test_many_requests_on_one_line_are_answered_in_order(served):
    running, study, where = served
    before = counted(where, study)
    parts = []
    for at in range(40):
        body = report(study) if at % 2 else b"{"
        parts.append(head(len(body)).replace(b"Connection: close\r\n", b"") + body)
    answer = said(running, b"".join(parts) + head(1) + b"[")
    statuses = [int(each[:3]) for each in answer.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [400, 200] * 20 + [400]
    assert counted(where, study) == before + 20


@pytest.mark.slow
def test_long_heads_and_bodies_take_little_memory(served):
    running, study, where = served
    before, memory = counted(where, study), max(resident(running))

    def flood(first, block, count):
        with closing(socket.create_connection(("127.0.0.1", running.port), timeout=20)) as line:
            line.sendall(first)
            try:
                for _ in range(count):
                    line.sendall(block)
                return line.recv(1000)
            except (BrokenPipeError, ConnectionResetError):
                return b""

    mega = b"x" * 2**20
    for answer in (
        flood(b"GET / HTTP/1.1\r\nX-Long: ", mega, 100),
        flood(b"GET /", mega, 100),
        flood(b"GET / HTTP/1.1\r\n", b"X-Many: 1\r\n" * 10_000, 100),
        flood(head(None, "Transfer-Encoding: chunked") + b"2\r\n[]\r\n0\r\n", b"X-Many: 1\r\n" * 10_000, 100),
    ):
        assert answer == b"" or status_of(answer) == 400
    for answer in (
        flood(head(100 * 2**20), mega, 100),
        flood(head(None, "Transfer-Encoding: chunked"), b"100000\r\n" + mega + b"\r\n", 100),
    ):
        assert answer == b"" or status_of(answer) == 413
    assert max(resident(running)) < memory + 48 * 2**20
    assert counted(where, study) == before


@pytest.mark.slow
def test_a_million_envelopes_are_refused_at_once(served):
    running, study, where = served
    before = counted(where, study)
    one = report(study)
    many = b"[" + b",".join([one] * 10_001) + b"]"
    assert running.post(many)[0] == 413
    small = b"[" + b"0," * (2 * 2**20 - 2) + b"0]"  # two million of nothing, in four megabytes
    status, words, _ = running.post(small)
    assert (status, words) == (413, {"error": "Expected at most 10,000 envelopes; send them in parts."})
    assert running.post(b"[" + b"[" * (2**20) + b"]" * (2**20) + b"]")[0] == 400
    assert counted(where, study) == before


@pytest.mark.slow
def test_a_worker_that_is_killed_while_it_is_asked_whether_it_is_well_is_replaced_soon(tmp_path):
    study = study_in(tmp_path)
    begin(tmp_path / "readers.db", study).close()
    with Running(tmp_path / "readers.db", study, tmp_path) as running:
        before = running.workers()
        for pid in before:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(2)  # asked twice a second
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        began = time.monotonic()
        running.wait()
        assert time.monotonic() < began + 30  # and not when uvicorn's patience with the answer ends
        assert not set(running.workers()) & set(before)


@pytest.mark.slow
def test_some_hostile_bodies_over_a_socket(tmp_path):
    study, where = kinds.study(), tmp_path / "kinds.db"
    begin(where, study).close()
    bodies = Bodies(study, 3)
    with Running(where, study, tmp_path) as running:
        for _ in range(500):
            body, kind = bodies.next()
            status, words, headers = running.post(body)
            assert (status == 200) == (kinds.read(body, study) is not None) or status in {400, 413, 422}, (kind, body)
            assert status in {200, 400, 404, 409, 413, 422}
            assert MARK not in json.dumps(words) + str(headers)
        assert MARK not in running.said.read_text()


def test_nothing_of_a_request_stays_in_the_buffer(monkeypatch):
    async def application(_, receive, send):
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    async def look():
        server, state = await listening(application)
        reader, writer = await asyncio.open_connection("127.0.0.1", server.sockets[0].getsockname()[1])
        writer.write(head(0, f"Cookie: {MARK * 1000}"))
        assert (await asyncio.wait_for(reader.read(), 10)).startswith(b"HTTP/1.1 200 OK")
        writer.close()
        server.close()
        for task in list(state.tasks):
            await task

    monkeypatch.setattr(protocol, "_view", memoryview(bytearray(2**16)))
    asyncio.run(look())
    assert not any(protocol._view)


async def listening(application):
    """A server of one application, and the state that tells its tasks."""
    config, state = uvicorn.Config(application, log_config=None, lifespan="off"), ServerState()
    config.load()
    server = await asyncio.get_running_loop().create_server(
        lambda: protocol.Protocol(config=config, server_state=state, app_state={}), "127.0.0.1", 0
    )
    return server, state


def test_who_is_too_slow_is_shown_out_and_who_waits_for_an_answer_is_not(monkeypatch):
    monkeypatch.setattr(protocol, "_SECONDS", 0.2)
    monkeypatch.setattr(protocol, "_SWEEP_SECONDS", 0.05)

    async def application(_, receive, send):
        await receive()
        await asyncio.sleep(0.6)  # as a full disk may make somebody wait
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    async def look():
        server, state = await listening(application)
        port = server.sockets[0].getsockname()[1]
        slow = []
        for begun in (b"", b"GET / HT", head(1000) + b"{", head(None, "Transfer-Encoding: chunked") + b"1\r\n{\r\n"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(begun)
            slow.append((reader, writer))
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head(0).replace(b"Connection: close\r\n", b""))
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"\r\n")  # the connection is not silent, and yet asks nothing
        slow.append((reader, writer))
        patient, asking = await asyncio.open_connection("127.0.0.1", port)
        asking.write(head(1) + b"{")
        for reader, writer in slow:
            with contextlib.suppress(ConnectionResetError):
                assert await asyncio.wait_for(reader.read(), 10) == b""
            writer.close()
        assert (await asyncio.wait_for(patient.read(), 10)).startswith(b"HTTP/1.1 200 OK")
        asking.close()
        server.close()
        for task in list(state.tasks):  # of those that were shown out
            await task

    asyncio.run(look())
