"""The published document says what the collector answers: every route, status, header and body."""

import asyncio
import json
import runpy
from datetime import date
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from jsonschema import Draft202012Validator

from bipartite.collect.server import Collector, new_link
from bipartite.collect.store import begin, resume

TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "openapi.py"))
DOCUMENT = json.loads(TOOL["FILE"].read_text(encoding="utf-8"))
TODAY = date(2026, 11, 19)


def validator(schema):
    return Draft202012Validator({**schema, "components": DOCUMENT["components"]})


class Asked:
    """A collector in this process, whose every answer is held against the document."""

    def __init__(self, folder, study, *, rate=0, today=TODAY):
        self.where, self.study = folder / "readers.db", study
        begin(self.where, study).close()
        self.collector = Collector(lambda: resume(self.where, study.name), rate=rate, today=lambda: today)

    def ask(self, method, target, body=b"", client="127.0.0.1", **headers):
        """(status, headers, body) of one request, which the document describes."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if body and "content-type" not in named:
            named["content-type"] = "application/json"
        status, found, words = asyncio.run(self._within(method, target, body, client, named))
        self._hold_against_the_document(method, urlsplit(target).path, status, found, words)
        return status, found, words

    async def _within(self, method, target, body, client, headers):
        split, got = urlsplit(target), []
        scope = {
            "type": "http", "method": method, "path": split.path, "query_string": split.query.encode(),
            "scheme": "http",
            "root_path": "", "http_version": "1.1", "client": (client, 1), "server": ("127.0.0.1", 8000),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()]
            + [(b"content-length", b"%d" % len(body))],
        }  # fmt: skip

        async def receive():
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message):
            got.append(message)

        async with self.collector._running(None):
            await self.collector.app(scope, receive, send)
        start, *rest = got
        named = {name.decode(): value.decode() for name, value in start["headers"]}
        return start["status"], named, b"".join(each.get("body", b"") for each in rest)

    def _hold_against_the_document(self, method, path, status, headers, body):
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


@pytest.fixture
def asked(tmp_path, study, monkeypatch):
    """A collector of three questions; its store stays open between requests."""
    found = Asked(tmp_path, study)
    monkeypatch.setattr(type(found.collector._store), "close", lambda _: None)
    yield found
    monkeypatch.undo()
    found.collector._store.close()


def envelope(asked, report=40, question=0, **changes):
    named = asked.study.questions[question]
    held = {"v": 1, "study": "readers", "question": named.name, "spec": named.sha256, "report": report, "key": "0" * 32}
    return held | changes


def body(held):
    return json.dumps(held, separators=(",", ":")).encode()


def test_it_is_made_from_the_collectors_own_types():
    assert TOOL["text"]() == TOOL["FILE"].read_text(encoding="utf-8"), "run python tools/openapi.py"


def test_it_names_every_route_and_method(asked):
    routes = {route.path: route.methods for route in asked.collector.app._others.routes}
    described = {
        path: {method.upper() for method in held if method != "parameters"} for path, held in DOCUMENT["paths"].items()
    }
    assert described.pop("/reports") == {"POST", "OPTIONS"}
    assert described == {path: methods - {"HEAD"} for path, methods in routes.items()}


def test_every_answer_to_reports_is_as_it_says(asked):
    one = envelope(asked)
    assert asked.ask("POST", "/reports", body(one))[2] == b'{"counted":1,"known":0}'
    assert asked.ask("POST", "/reports", body([one, one]), **{"content-type": "text/plain"})[0] == 200
    for held, status in (
        (b"{", 400),
        (body(envelope(asked, study="others")), 404),
        (body(envelope(asked, spec="0" * 64)), 409),
        (b" " * (4 * 2**20 + 1), 413),
        (body([one] * 10_001), 413),
        (body(envelope(asked, report=1000)), 422),
        (body([]), 422),
    ):
        assert asked.ask("POST", "/reports", held)[0] == status
    assert asked.ask("POST", "/reports", body(one), **{"content-type": "text/html"})[0] == 415
    status, headers, _ = asked.ask("OPTIONS", "/reports")
    assert status == 204 and headers["access-control-allow-origin"] == "*"
    asked.collector._limits.wait = lambda _: 7
    status, headers, _ = asked.ask("POST", "/reports", body(one))
    assert status == 429 and headers["retry-after"] == "7"


def test_a_study_that_ended_and_a_database_that_cannot_be_written_are_as_it_says(tmp_path, study, monkeypatch):
    asked = Asked(tmp_path, study, today=date(2027, 1, 1))
    assert asked.ask("POST", "/reports", body(envelope(asked)))[0] == 410
    (tmp_path / "other").mkdir()
    asked = Asked(tmp_path / "other", study)
    asked.collector._open = lambda: resume(tmp_path / "nothing.db", "readers")  # that of the writer
    assert asked.ask("GET", "/healthz")[0] == 503
    monkeypatch.setattr(type(asked.collector._store), "close", lambda _: None)
    assert asked.ask("POST", "/reports", body(envelope(asked)))[0] == 503


def test_every_other_answer_is_as_it_says(asked):
    for path in ("/", "/specs.json", "/openapi.json", "/healthz", "/metrics", "/answers"):
        assert asked.ask("GET", path)[0] == 200
    assert asked.ask("GET", "/answers", accept="application/json")[1]["content-type"] == "application/json"
    assert asked.ask("GET", "/metrics", client="192.0.2.7")[0] == 403
    assert asked.ask("GET", "/operator?link=none")[0] == asked.ask("POST", "/operator?link=none")[0] == 403
    with resume(asked.where, "readers") as store:
        link = new_link(store)
    asked.collector._store = resume(asked.where, "readers")
    assert asked.ask("GET", link)[0] == 200
    assert asked.ask("POST", link)[0] == 303


def test_private_answers_are_refused_as_it_says(tmp_path, study_file):
    from bipartite.collect.study import read_study

    study_file.write_text(study_file.read_text().replace("public = true", "public = false"))
    asked = Asked(tmp_path, read_study(study_file))
    assert asked.ask("GET", "/answers")[0] == 403


def test_the_document_refuses_what_the_collector_refuses(asked):
    envelopes = validator({"$ref": "#/components/schemas/Envelopes"})
    one = envelope(asked)
    assert envelopes.is_valid(one) and envelopes.is_valid([one, one])
    wrong = [[], one | {"v": 2}, one | {"key": "A" * 32}, one | {"more": 1}, {**one, "spec": "0"}, [one, {}]]
    assert not any(map(envelopes.is_valid, wrong))
    assert all(asked.ask("POST", "/reports", body(each))[0] in {404, 409, 422} for each in wrong)
