"""The published document says what the collector answers: every route, status, header and body."""

from datetime import date

from bipartite.collect.server import new_link
from bipartite.collect.store import resume
from tests.collect.asking import DOCUMENT, TOOL, Asked, validator
from tests.collect.reports import written


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
    one = asked.envelope()
    assert asked.ask("POST", "/reports", written(one))[2] == b'{"counted":1,"known":0}'
    assert asked.ask("POST", "/reports", written([one, one]), content_type="text/plain")[0] == 200
    for held, status in (
        (b"{", 400),
        (written(asked.envelope(study="others")), 404),
        (written(asked.envelope(spec="0" * 64)), 409),
        (b" " * (4 * 2**20 + 1), 413),
        (written([one] * 10_001), 413),
        (written(asked.envelope(report=1000)), 422),
        (written([]), 422),
    ):
        assert asked.ask("POST", "/reports", held)[0] == status
    assert asked.ask("POST", "/reports", written(one), content_type="text/html")[0] == 415
    status, headers, _ = asked.ask("OPTIONS", "/reports")
    assert status == 204 and headers["access-control-allow-origin"] == "*"
    asked.collector._limits.wait = lambda _: 7
    status, headers, _ = asked.ask("POST", "/reports", written(one))
    assert status == 429 and headers["retry-after"] == "7"


def test_a_study_that_ended_and_a_database_that_cannot_be_written_are_as_it_says(tmp_path, study, monkeypatch):
    asked = Asked(tmp_path, study, today=date(2027, 1, 1))
    assert asked.ask("POST", "/reports", written(asked.envelope()))[0] == 410
    (tmp_path / "other").mkdir()
    asked = Asked(tmp_path / "other", study)
    asked.collector._open = lambda: resume(tmp_path / "nothing.db", "readers")  # that of the writer
    assert asked.ask("GET", "/healthz")[0] == 503
    monkeypatch.setattr(type(asked.collector._store), "close", lambda _: None)
    assert asked.ask("POST", "/reports", written(asked.envelope()))[0] == 503


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
    one = asked.envelope()
    assert envelopes.is_valid(one) and envelopes.is_valid([one, one])
    wrong = [[], one | {"v": 2}, one | {"key": "A" * 32}, one | {"more": 1}, {**one, "spec": "0"}, [one, {}]]
    assert not any(map(envelopes.is_valid, wrong))
    assert all(asked.ask("POST", "/reports", written(each))[0] in {404, 409, 422} for each in wrong)
