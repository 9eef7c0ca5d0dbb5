"""The routes of the collector: who sees which answers, and what is never told."""

import json
import logging
import time
from http.cookies import SimpleCookie

import pytest
from itsdangerous import TimestampSigner

from bipartite.collect import views
from bipartite.collect.answering import Answering
from bipartite.collect.envelopes import Reader
from bipartite.collect.server import Collector, new_link
from bipartite.collect.store import STEP, Arrival, begin, resume
from bipartite.collect.study import read_study
from tests.collect.asking import TODAY, Asked
from tests.collect.reports import written


def keys(n, first=0):
    return [(first + at).to_bytes(16) for at in range(n)]


def fill(asked, n, first=0):
    """Count n reports of the first question."""
    asked.collector._store.count([[Arrival(1, key, str(30 + at % 40)) for at, key in enumerate(keys(n, first))]], TODAY)


def test_a_report_counts_once_and_is_known_then(asked):
    for expected in ({"counted": 1, "known": 0}, {"counted": 0, "known": 1}):
        status, headers, words = asked.ask("POST", "/reports", written(asked.envelope()))
        assert (status, json.loads(words)) == (200, expected)
        assert headers["access-control-allow-origin"] == "*"


def test_a_batch_is_all_or_nothing(asked):
    good, bad = asked.envelope(key="1" * 32), asked.envelope(report=400)
    status, _, words = asked.ask("POST", "/reports", written([good, bad]))
    assert (status, json.loads(words)["positions"]) == (422, [1])
    assert asked.collector._store.counted()["age"] == 0


def test_public_answers_change_in_steps(asked):
    def shown():
        return json.loads(asked.ask("GET", "/answers", accept="application/json")[2])["answers"][0]["n"]

    assert shown() == 0
    fill(asked, STEP - 1)
    assert shown() == 0
    fill(asked, 1, first=1000)
    assert shown() == STEP
    fill(asked, STEP - 1, first=2000)
    assert shown() == STEP
    fill(asked, 1, first=3000)
    assert shown() == 2 * STEP


def test_of_many_reports_public_answers_wait_for_more_until_the_study_ends(asked, monkeypatch):
    monkeypatch.setattr(views, "LARGE_STEP", 2)

    def shown(*, closed):
        html = asked.collector._answering.page(public=True, closed=closed, as_json=True).html
        return json.loads(html)["answers"][0]["n"]

    fill(asked, 200)
    assert shown(closed=False) == 200
    fill(asked, 99, first=1000)
    assert [shown(closed=closed) for closed in (False, True)] == [200, 299]


def operator(asked, scheme="http"):
    """The cookie of an operator."""
    link = new_link(asked.collector._store)
    assert asked.ask("GET", link)[0] == 200  # a preview of the link uses nothing
    status, headers, _ = asked.ask("POST", link, scheme=scheme)
    assert (status, headers["location"]) == (303, "answers")
    return link, headers["set-cookie"]


def test_a_link_makes_one_operator(asked):
    link, cookie = operator(asked)
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/answers" in cookie
    assert "Secure" not in cookie
    assert "Secure" in operator(asked, "https")[1]
    assert asked.ask("POST", link)[0] == 403
    assert asked.ask("GET", "/operator")[0] == 403
    assert asked.ask("POST", link[:-1] + ("A" if link[-1] != "A" else "B"))[0] == 403


def test_the_operator_sees_every_report_and_its_day(asked):
    fill(asked, STEP - 1)
    _, cookie = operator(asked)
    sent = SimpleCookie(cookie)
    words = asked.ask("GET", "/answers", cookie=f"operator={sent['operator'].value}")[2].decode()
    assert f"Not yet: {STEP - 1} of the" in words
    assert "2026-11-19" in words
    everybody = asked.ask("GET", "/answers", cookie="operator=forged")[2].decode()
    assert str(STEP - 1) not in everybody
    assert "2026-11-19" not in everybody


def test_an_operators_session_ends_after_thirty_days(asked, monkeypatch):
    fill(asked, STEP - 1)
    day = 86_400
    for age, sees in ((29 * day, True), (31 * day, False)):
        with monkeypatch.context() as before:
            before.setattr(TimestampSigner, "get_timestamp", lambda _, age=age: int(time.time()) - age)
            value = SimpleCookie(operator(asked)[1])["operator"].value
        assert ("2026-11-19" in asked.ask("GET", "/answers", cookie=f"operator={value}")[2].decode()) == sees


def test_a_cookie_of_another_collector_opens_nothing(tmp_path, study_file, monkeypatch):
    study_file.write_text(study_file.read_text().replace("public = true", "public = false"))
    study = read_study(study_file)
    ours, theirs = (Asked(folder, study) for folder in (tmp_path / "a", tmp_path / "b") if not folder.mkdir())
    monkeypatch.setattr(type(ours.collector._store), "close", lambda _: None)
    _, cookie = operator(theirs)
    value = SimpleCookie(cookie)["operator"].value
    assert theirs.ask("GET", "/answers", cookie=f"operator={value}")[0] == 200
    assert ours.ask("GET", "/answers", cookie=f"operator={value}")[0] == 403
    assert ours.ask("GET", "/answers")[0] == 403
    monkeypatch.undo()
    for each in (ours, theirs):
        each.collector._store.close()


def test_too_many_requests_are_429_with_the_time_to_wait(tmp_path, study, monkeypatch):
    found = Asked(tmp_path, study, rate=2)
    monkeypatch.setattr(type(found.collector._store), "close", lambda _: None)
    sent = [found.ask("POST", "/reports", written(found.envelope()), client=each) for each in ("a", "a", "a", "b")]
    assert [status for status, _, _ in sent] == [200, 200, 429, 200]
    assert 0 < int(sent[2][1]["retry-after"]) <= 3600
    monkeypatch.undo()
    found.collector._store.close()


def test_metrics_are_for_this_machine_and_tell_steps(asked):
    fill(asked, STEP + 7)
    asked.ask("POST", "/reports", b"{}")
    words = asked.ask("GET", "/metrics")[2].decode()
    assert f'bipartite_reports{{question="age"}} {STEP}.0' in words
    assert 'bipartite_refused_total{status="422"}' in words
    assert "200" not in words.replace("2001", "")
    assert "_created" not in words
    for denied in ({"client": "192.0.2.1"}, {"x_forwarded_for": "127.0.0.1"}, {"forwarded": "for=127.0.0.1"}):
        status, _, words = asked.ask("GET", "/metrics", **denied)
        assert (status, json.loads(words)) == (403, {"error": "Metrics are for this machine alone."})


def test_a_bug_is_told_by_its_type_and_place_alone(asked, caplog, monkeypatch):
    def fail(*_, **__):
        raise KeyError("a private value")

    monkeypatch.setattr(Reader, "read", fail)
    with caplog.at_level(logging.DEBUG):
        status, _, words = asked.ask("POST", "/reports", written(asked.envelope()))
    assert (status, json.loads(words)) == (500, {"error": "The collector failed; send the same again."})
    (record,) = (each for each in caplog.records if each.name.startswith("bipartite"))
    assert record.getMessage().startswith("KeyError in fail, line ")
    assert "private" not in caplog.text


def test_two_workers_publish_the_same_answers(asked):
    fill(asked, STEP)
    with resume(asked.where, "readers") as second:
        other = Answering(second)
        mine = asked.collector._answering
        pages = [each.page(public=True, closed=False, as_json=True).html for each in (mine, other)]
    assert pages[0] == pages[1]


def test_answers_are_counted_again_only_when_the_bag_has_grown(asked, monkeypatch):
    fill(asked, 200)
    answering = asked.collector._answering
    first = answering.page(public=False, closed=False, as_json=True).html
    monkeypatch.setattr(type(asked.collector._store), "bag", lambda *_: pytest.fail("read again"))
    assert answering.page(public=False, closed=False, as_json=True).html == first


def test_joint_answers_of_a_record_are_shown(tmp_path, study):
    with begin(tmp_path / "readers.db", study) as store:
        reports = ['{"home":"town","pets":%d}' % (at % 5) for at in range(4000)]  # noqa: UP031 (braces)
        store.count([[Arrival(3, key, text) for key, text in zip(keys(4000), reports, strict=True)]], TODAY)
        views = Answering(store).current(study.questions[2], 4000)[1]
    assert [view.parts for view in views] == [("pets",), ("home",), ("pets", "home")]
    assert views[2].rows


def test_a_collector_closes_every_connection_that_it_opened(tmp_path, study):
    opened = []

    def open_store():
        opened.append(resume(tmp_path / "readers.db", "readers"))
        return opened[-1]

    begin(tmp_path / "readers.db", study).close()
    found = Asked.__new__(Asked)
    found.study, found.collector = study, Collector(open_store, rate=0, today=lambda: TODAY)
    found.ask("POST", "/reports", written(found.envelope()))
    assert len(opened) == 3  # to write, to look up, to count
    assert not (tmp_path / "readers.db-wal").exists()
