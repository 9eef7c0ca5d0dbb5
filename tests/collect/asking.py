"""The collector's application without a server: requests as uvicorn would pass them on, in this process."""

import contextlib
import json

from bipartite.collect.server import Collector


@contextlib.asynccontextmanager
async def collector(open_store, *, rate=0, **named):
    """An application that takes requests."""
    made = Collector(open_store, rate=rate, **named)
    async with made._running(None):
        yield made


async def ask(app, method, path, body=b"", headers=(), *, client=("192.0.2.1", 4711), query=b"", chunks=None):
    """The status, the headers and the body of an answer."""
    held = [(name.lower().encode(), value.encode()) for name, value in headers]
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
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
