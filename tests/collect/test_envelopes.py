"""What a body may be: each refusal has its status, names positions, and holds nothing of the body."""

import json
import math

import pytest

from bipartite.collect.envelopes import MOST_ENVELOPES, Reader, Refusal
from bipartite.collect.store import Arrival
from tests.collect import kinds
from tests.collect.reports import envelope, written


@pytest.fixture
def reader(study):
    return Reader(study, {"age": 1, "section": 2, "person": 3})


@pytest.fixture
def age(study):
    """An envelope of the first question."""
    return envelope(study, study.questions[0], 40, "0" * 31 + "a")


def refused(reader, body):
    with pytest.raises(Refusal) as caught:
        reader.read(body)
    return caught.value.status, caught.value.words, caught.value.positions


def test_one_envelope_and_an_array_are_read(reader, study, age):
    pets = {"pets": 3, "home": "town"}
    person = envelope(study, study.questions[2], pets, "f" * 32)
    ours = Arrival(1, bytes(15) + b"\n", "40")
    assert reader.read(written(age)) == [ours]
    assert reader.read(written([age, person])) == [ours, Arrival(3, b"\xff" * 16, '{"home":"town","pets":3}')]


def test_the_same_report_is_one_text_however_it_is_written(reader, age):
    bodies = [
        written(age),
        json.dumps(age, indent=1).encode(),
        json.dumps(dict(reversed(age.items()))).encode(),
        written(age).replace(b":40,", b":40.0,"),
        written(age).replace(b":40,", b":4e1,"),
        written(age).replace(b'"age"', b'"\\u0061ge"'),
    ]
    assert {tuple(reader.read(body)) for body in bodies for _ in range(2)} == {tuple(reader.read(written(age)))}


NOT_JSON = "The body is not JSON in UTF-8, or is nested too deeply; send an envelope, or an array of them."


@pytest.mark.parametrize(
    "change",
    [
        lambda _: b"",
        lambda _: b"nul",
        lambda body: body[:-1],
        lambda body: body + b"x",
        lambda body: body.replace(b":40,", b":NaN,"),
        lambda body: body.replace(b":40,", b":-Infinity,"),
        lambda body: body + b"\xff",
        lambda body: b"\xef\xbb\xbf" + body,
        lambda body: body.decode().encode("utf-16"),
        lambda _: b"[" * 100_000,
        lambda body: body.replace(b":40,", b":" + b"[" * 100_000 + b","),
    ],
)
def test_what_is_no_json_is_400(reader, age, change):
    assert refused(reader, change(written(age))) == (400, NOT_JSON, None)


def test_a_repeated_key_is_400(reader, age):
    body = written(age).replace(b'"v":1', b'"v":1,"key":"' + b"1" * 32 + b'"')
    words = "The body repeats a key; send an envelope, or an array of them."
    assert refused(reader, body) == (400, words, None)
    assert refused(reader, b"[" + written(age) + b"," + body + b"]") == (400, words, None)


@pytest.mark.parametrize("held", [{}, 1, "x", None, [[]], True])
def test_what_is_no_envelope_is_422(reader, held):
    words = "Expected envelopes with v, study, question, spec, report and key, and nothing else."
    assert refused(reader, written(held)) == (422, words, [0])


@pytest.mark.parametrize("change", [{"more": 1}, {"v": True}, {"v": 1.0}, {"key": 3}, {"study": None}])
def test_an_envelope_has_its_fields_and_no_other(reader, age, change):
    status, words, positions = refused(reader, written([age, age | change]))
    assert (status, positions) == (422, [1])
    assert "and nothing else" in words


def test_other_versions_studies_questions_and_specs_have_their_status(reader, age):
    for change, status, words in (
        ({"v": 2}, 422, "Expected envelopes of version 1; update the client."),
        ({"study": "others"}, 404, "Expected questions of this study; see /specs.json."),
        ({"question": "others"}, 404, "Expected questions of this study; see /specs.json."),
        (
            {"spec": "0" * 64},
            409,
            "Expected reports drawn by the spec of their question, got another; see /specs.json.",
        ),
    ):
        assert refused(reader, written([age, age | change, age, age | change])) == (status, words, [1, 3])


WRONG = (
    "Expected reports that the mechanism can give, with keys of 32 hexadecimal digits; nothing was counted: leave "
    "these positions out, or draw by the spec of the question."
)


@pytest.mark.parametrize(
    ("question", "report"),
    [(0, given) for given in (400, 40.5, "40", True, None, [40], {"age": 40}, 10**400, -1, 1e308)]
    + [(1, given) for given in ("sports", " news", "News", "", 0, ["news"])]
    + [
        (2, given)
        for given in ({"pets": 3}, {"pets": 3, "home": "x"}, {"pets": 3, "home": "town", "x": 1}, [3, "town"])
    ],
)
def test_a_report_that_no_mechanism_gives_is_422(reader, study, question, report):
    right = envelope(study, study.questions[question], {0: 40, 1: "news", 2: {"pets": 3, "home": "town"}}[question])
    wrong = envelope(study, study.questions[question], report)
    assert refused(reader, written([right, wrong])) == (422, WRONG, [1])
    assert refused(reader, written(wrong)) == (422, WRONG, [0])


@pytest.mark.parametrize("report", [b"1e400", b'"\\ud800"', b"9" * 5000, b'{"pets":3,"pets":3,"home":"town"}'])
def test_reports_that_readers_understand_in_two_ways_are_422(reader, study, report):
    body = written(envelope(study, study.questions[2], 0)).replace(b'"report":0', b'"report":' + report)
    assert refused(reader, body)[0] in {400, 422}


def test_one_report_is_written_in_one_way_so_that_nothing_else_can_be_told_by_it():
    """Upper case, or a number that is nearly an output, would be one more bit about somebody."""
    study = kinds.study()
    reader = Reader(study, {each.name: at for at, each in enumerate(study.questions, 1)})
    by_name = {each.name: each for each in study.questions}
    mean = max(kinds._MEAN)
    for name, right, wrong in (
        ("bits", "x1f", "x1F"),
        *(("bits", "x1f", each) for each in ("x1f ", " x1f", "x1f\n", "x1f\u00a0")),
        *((name, right, right + " ") for name, right in (("subset", "x03"), ("hashed", "x" + "0" * 31 + "4"))),
        ("mean", mean, math.nextafter(mean, 0)),
        ("grid", 0.3, 0.30000000000000004),
    ):
        assert len(reader.read(written(envelope(study, by_name[name], right)))) == 1
        assert refused(reader, written(envelope(study, by_name[name], wrong))) == (422, WRONG, [0])


@pytest.mark.parametrize("key", ["", "0" * 31, "0" * 33, "A" * 32, "g" * 32, "٣" * 32, "0x" + "0" * 30])
def test_a_key_is_of_32_digits(reader, age, key):
    assert refused(reader, written(age | {"key": key})) == (422, WRONG, [0])


def test_a_body_has_at_most_so_many_envelopes(reader, age):
    words = "Expected at most 10,000 envelopes; send them in parts."
    assert refused(reader, b"[]") == (422, "Expected an envelope, or an array of them; send at least one.", None)
    assert refused(reader, written([age] * (MOST_ENVELOPES + 1))) == (413, words, None)
    assert len(reader.read(written([age] * MOST_ENVELOPES))) == MOST_ENVELOPES
