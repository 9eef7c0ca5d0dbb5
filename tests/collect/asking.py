"""The collector's application without a server: requests as uvicorn would pass them on, in this process."""

import asyncio
import contextlib
import json
import runpy
from datetime import date
from pathlib import Path
from urllib.parse import urlsplit

from jsonschema import Draft202012Validator

from bipartite.collect.server import Collector
from bipartite.collect.store import begin, resume
from tests.collect.reports import envelope

TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "openapi.py"))
DOCUMENT = json.loads(TOOL["FILE"].read_text(encoding="utf-8"))
TODAY = date(2026, 11, 19)


@contextlib.asynccontextmanager
async def collector(open_store, *, rate=0, **named):
    """An application that takes requests."""
    made = Collector(open_store, rate=rate, **named)
    async with made._running(None):
        yield made


async def ask(
    app, method, path, body=b"", headers=(), *, client=("192.0.2.1", 4711), scheme="http", query=b"", chunks=None
):
    """The status, the headers and the body of an answer."""
    held = [(name.lower().encode(), value.encode()) for name, value in headers]
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": scheme,
        "path": path, "raw_path": path.encode(), "query_string": query, "root_path": "", "headers": held,
        "client": client, "server": ("collector.example", 80), "state": {},
    }  # fmt: skip
    parts = [body] if chunks is None else list(chunks)
    sent = []

    async def receive():
        if not parts:
            return {"type": "http.disconnect"}
        part = parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(parts) or chunks is not None}

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    words = b"".join(each.get("body", b"") for each in sent[1:])
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}, words


async def post(app, body, kind="application/json", **named):
    """The status and the words of an answer to reports."""
    status, _, words = await ask(app, "POST", "/reports", body, [("content-type", kind)], **named)
    return status, json.loads(words)


def validator(schema):
    """What holds JSON against a schema of the published document."""
    return Draft202012Validator({**schema, "components": DOCUMENT["components"]})


class Asked:
    """A collector whose every answer is held against the published document."""

    def __init__(self, folder, study, *, rate=0, today=TODAY):
        self.where, self.study = folder / "readers.db", study
        begin(self.where, study).close()
        self.collector = Collector(lambda: resume(self.where, study.name), rate=rate, today=lambda: today)

    def envelope(self, report=40, question=0, **changes):
        """An envelope as an object, always with the same key."""
        return envelope(self.study, self.study.questions[question], report, "0" * 32) | changes

    def ask(self, method, target, body=b"", client="127.0.0.1", scheme="http", **headers):
        """(status, headers, body) of one request."""
        split = urlsplit(target)
        named = {"content_length": str(len(body)), **({"content_type": "application/json"} if body else {}), **headers}
        held = [(name.replace("_", "-"), value) for name, value in named.items()]

        async def within():
            async with self.collector._running(None):
                named = {"client": (client, 1), "scheme": scheme, "query": split.query.encode()}
                return await ask(self.collector.app, method, split.path, body, held, **named)

        status, found, words = asyncio.run(within())
        _hold_against_the_document(method, split.path, status, found, words)
        return status, found, words


def _hold_against_the_document(method, path, status, headers, body):
    answer = DOCUMENT["paths"][path][method.lower()]["responses"][str(status)]
    for name, header in answer["headers"].items():
        assert name.lower() in headers or not header.get("required"), (path, status, name)
        if name.lower() in headers and header["schema"].get("type") == "integer":
            assert int(headers[name.lower()]) >= 1
    known = {name.lower() for name in answer["headers"]} | {"content-type", "content-length"}
    assert headers.keys() <= known, (path, status, headers.keys() - known)
    if "content" not in answer:
        assert body == b""
        return
    kind = headers["content-type"].partition(";")[0]
    schema = answer["content"][kind]["schema"]
    validator(schema).validate(json.loads(body) if kind == "application/json" else body.decode())
