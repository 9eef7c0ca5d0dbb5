"""The page of the answers: nothing is loaded, nothing in it is taken for markup, and what is uncertain is seen."""

import base64
import hashlib
import json
import re
from collections import Counter
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest
from scipy.stats import norm

import bipartite as bp
from bipartite.collect.answers import Bag
from bipartite.collect.answers_page import LOOKS, WRONG, answers, interim_words, scale_of, views_json
from bipartite.collect.study import Study
from bipartite.collect.views import Row, View, joint_view, view_of
from bipartite.plots import looks
from tests.collect.bags import bag_of, one, record

EVIL = '"><script>alert(1)</script><img src=x onerror=alert(2)> & {{ 7*7 }} \u202e\u0000'
VOID = {"meta", "link", "br", "rect", "path"}


def study(*questions, title="Readers of the Courier", text="", public=True):
    return Study("readers", title, text, date(2026, 12, 31), None, public, questions)


def shown(mechanism, name="age", count=2_000):
    question = one(mechanism, name)
    return question, view_of(Bag.read(question, bag_of(mechanism, count)), question.parts[0])


AGE, AGE_VIEW = shown(bp.BRR(bp.Integers(18, 90), 1, edges="padded", m="cdf"))
SECTION, SECTION_VIEW = shown(bp.GRR(bp.Items(["news", "sport", "science"]), 1), "section")


def page(held=None, views=None, *, public=True, interim=False, arrivals=None):
    held = study(AGE, SECTION) if held is None else held
    views = [AGE_VIEW, SECTION_VIEW] if views is None else views
    made = answers(held, views, public=public, interim=interim, arrivals=arrivals)
    return made.html.decode(), made.headers


class Reader(HTMLParser):
    """The elements and words of a page; elements that do not end are refused."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.open, self.words, self.attributes = Counter(), [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)


def words(html):
    return " ".join(" ".join(Reader(html).words).split())


def test_the_first_words_are_the_answer_with_its_error():
    html, _ = page()
    told = words(html)
    assert told.startswith(
        f"Readers of the Courier: answers Readers of the Courier How old are you? {AGE_VIEW.headline}".replace(
            "\xa0", " "
        )
    )
    for row in (*AGE_VIEW.rows, *SECTION_VIEW.rows):
        assert f"{row.names[0]} {row.words[0]} , {row.words[1]}" in told  # what is read aloud has a pause
    for sentence in (AGE_VIEW.more, AGE_VIEW.forged, SECTION_VIEW.forged):
        assert sentence in told


def test_tables_can_be_read_aloud():
    html, _ = page()
    tags = Reader(html).tags
    assert tags["table"] == tags["caption"] == 2
    assert html.count('scope="col"') == 4
    assert html.count('scope="row"') == len(AGE_VIEW.rows) + len(SECTION_VIEW.rows)
    assert html.count('aria-hidden="true"') == tags["svg"] == html.count('scope="row"')
    assert tags["h1"] == 1
    assert re.findall(r'aria-labelledby="(.*?)"', html) == re.findall(r'h2 id="(.*?)"', html)
    assert '<html lang="en">' in html


def test_bars_lie_within_their_picture():
    held = replace(
        AGE_VIEW,
        rows=(
            Row(("18 to 40",), 0.31, 0.2, 0.42, ("31%", "20% to 42%")),
            Row(("41 to 60",), -0.1, -0.2, -0.05, ("−10%", "−20% to −5%")),
            Row(("61 to 90",), 0.1, None, None, ("10%", "none")),
        ),
    )
    html, _ = page(study(AGE), [held])
    assert "from 0 to 50 %" in words(html)
    assert re.findall(r'class="share" y="1" width="(.*?)"', html) == ["62.0", "0.0", "20.0"]
    assert re.findall(r'class="whisker" d="(.*?)"', html) == [
        "M40.0 5H84.0M40.0 2V8M84.0 2V8",
        "M0.0 5H0.0M0.0 2V8M0.0 2V8",
    ]


@pytest.mark.parametrize(("most", "scale"), [(0.004, 0.01), (0.05, 0.05), (0.051, 0.1), (0.9, 1), (1.3, 1)])
def test_the_width_of_a_picture_is_a_round_share(most, scale):
    assert scale_of(replace(AGE_VIEW, rows=(Row(("a",), 0.0, 0.0, most, ("", "")),))) == scale
    assert scale_of(replace(AGE_VIEW, rows=())) == 1


def test_nothing_is_taken_for_markup():
    question = one(bp.GRR(bp.Items([EVIL, "b"]), 1), EVIL, EVIL)
    found = view_of(Bag.read(question, bag_of(question.parts[0].mechanism, 2_000)), question.parts[0])
    html, _ = page(
        study(question, title=EVIL, text=EVIL), [found], public=False, arrivals={EVIL: [(date(2026, 1, 2), 3)]}
    )
    plain, _ = page(study(SECTION), [SECTION_VIEW], public=False, arrivals={"section": [(date(2026, 1, 2), 3)]})
    dangerous = ("script", "img", "iframe", "object", "form", "a")
    assert not any(Reader(html).tags[tag] for tag in dangerous)
    assert "alert(1)" in html
    assert "49" not in words(html).split()
    assert {name for name, _ in Reader(html).attributes} == {name for name, _ in Reader(plain).attributes}


def test_the_page_loads_nothing_and_its_policy_allows_nothing_else():
    html, headers = page()
    attributes = Reader(html).attributes
    assert not {"src", "style", "onclick", "action"} & {name for name, _ in attributes}
    assert [value for name, value in attributes if name == "href"] == ["data:,"]
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    allowed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = dict(each.split(" ", 1) for each in headers["content-security-policy"].split("; "))
    assert policy["style-src"] == f"'sha256-{allowed}'"
    assert (policy["default-src"], policy["script-src"], policy["connect-src"]) == ("'none'", "'none'", "'none'")
    assert "url(" not in style
    assert "@import" not in style
    assert headers["content-type"] == "text/html; charset=utf-8"


def test_arrivals_are_the_operators():
    days = {"age": [(date(2026, 11, 18), 1_200), (date(2026, 11, 19), 800)]}
    told, headers = page(public=False, arrivals=days)
    assert "age: 2,000" in words(told)
    assert "2026-11-18 1,200 2026-11-19 800" in words(told)
    assert headers["cache-control"] == "no-store"
    told, headers = page(public=True, arrivals=days)
    assert "2026-11-1" not in told
    assert headers["cache-control"] == "no-cache"


def test_public_answers_say_their_steps():
    step = "These answers are renewed when at least 50 more reports have come, never for a single one."
    assert step in words(page(public=True)[0])
    assert step not in words(page(public=False)[0])


def test_interim_answers_say_so_first():
    told = words(page(interim=True)[0])
    assert told.index("Interim answers") < told.index("How old are you?")
    assert interim_words(study(AGE)) in told
    assert interim_words(study(AGE)) == (
        "Reports are taken until 31 December 2026. Decide then: who looks once sees an interval that misses the truth "
        "in 5 % of surveys; who looks 13 times, evenly spaced, sees at least one in 21 %."
    )
    assert "nterim" not in words(page()[0])


def wrong_at_some_look(looks, step=0.005):
    """The chance that the mean of normal numbers, looked at after 1, 2, … parts, is once outside of its 95 % interval.

    The density of the sum, among those that were inside so far, is carried from look to look on a grid (Armitage,
    McPherson, Rowe, *Repeated significance tests on accumulating data*, 1969): no simulation, so no false alarm.
    """
    z = norm.ppf(0.975)
    grid = np.arange(-z * np.sqrt(looks), z * np.sqrt(looks) + step, step)
    kernel = norm.pdf(np.arange(1 - len(grid), len(grid)) * step)
    inside = norm.pdf(grid) * (abs(grid) <= z)
    for look in range(2, looks + 1):
        size = 1 << int(np.ceil(np.log2(len(grid) + len(kernel))))
        both = np.fft.irfft(np.fft.rfft(inside, size) * np.fft.rfft(kernel, size), size)
        inside = both[len(grid) - 1 : 2 * len(grid) - 1] * step * (abs(grid) <= z * np.sqrt(look))
    return 1 - inside.sum() * step


def test_how_often_some_look_misses_the_truth_is_computed():
    # Armitage, McPherson and Rowe: 5 % for one look, 8.3 % for two, 14.2 % for five, 19.3 % for ten.
    found = [wrong_at_some_look(looks) for looks in (1, 2, 5, 10)]
    np.testing.assert_allclose(found, [0.05, 0.083, 0.142, 0.193], atol=1e-3)
    assert round(wrong_at_some_look(LOOKS), 2) == WRONG


def test_parts_without_a_view_have_no_answer_yet():
    told = words(page(views=[AGE_VIEW])[0])
    assert "How old are you? Not yet: a first answer needs 50 reports." in told
    assert told.count("Not yet") == 1


def test_what_is_not_yet_hides_the_rest():
    empty = View("age", ("age",), ("How old are you?",), 30, "Not yet: 30 of the 50.")
    html, _ = page(study(AGE), [empty])
    assert "Not yet: 30 of the 50." in words(html)
    assert Reader(html).tags["table"] == 0


def test_doubts_and_notes_are_seen():
    held = replace(AGE_VIEW, doubt="these reports cannot be.", notes=("unbiased shares may lie below 0 %",))
    told = words(page(study(AGE), [held])[0])
    assert told.index("Do not trust these answers: these reports cannot be.") < told.index("Mean ")
    assert "Unbiased shares may lie below 0 %." in told


def test_smaller_shares_are_shown_on_demand():
    question, found = shown(bp.SubsetSelection(bp.Items([f"town {at}" for at in range(40)]), 1), "town", 5_000)
    html, _ = page(study(question), [found])
    assert "30 smaller shares" in words(html)
    assert html.count('scope="row"') == 40
    assert html.index("<details>") > html.index(found.rows[9].names[0])


def test_parts_of_a_record_stand_alone_and_together():
    parts = {"age": bp.BRR(bp.Integers(18, 90), 2, edges="padded"), "pet": bp.GRR(bp.Items(["cat", "dog"]), 2)}
    question = record(parts)
    columns = [bp.insecure_seed(1), bp.insecure_seed(2)]
    reports = zip(
        parts["age"].privatize(np.full(5_000, 40), rng=columns[0]).tolist(),
        parts["pet"].privatize(["cat", "dog"] * 2_500, rng=columns[1]),
        strict=True,
    )
    found = Bag.read(question, Counter(json.dumps({"age": age, "pet": pet}) for age, pet in reports).items())
    joint = joint_view(found, *question.parts)
    html, _ = page(study(question), [*(view_of(found, part) for part in question.parts), joint])
    told = words(html)
    assert told.count("About you") == 3
    assert "Your age? × Your pet?" in told
    assert f"18 to 35, cat {joint.rows[0].words[0]}" in told.replace(" ,", ",")
    assert Reader(html).tags["table"] == 3


YES = one(bp.GRR(bp.Integers(0, 1), "0.5"), "yes")
ODDS = "the odds of any belief about the person's answers at most"
TOGETHER = "all reports of a person together spend"


@pytest.mark.parametrize(
    ("questions", "sentence"),
    [
        ([AGE], f"Each report is ε-LDP with ε = 1, and changes {ODDS} 2.72-fold."),
        ([AGE, SECTION], f"Each report is ε-LDP with ε = 1; {TOGETHER} ε = 2 and change {ODDS} 7.39-fold."),
        (
            [AGE, SECTION, YES],
            (
                f"Each report is ε-LDP with ε = 1 for age and section and ε = 0.5 for yes; {TOGETHER} ε = 2.5 and "
                f"change {ODDS} 12.2-fold."
            ),
        ),
    ],
)
def test_the_guarantee_is_one_sentence(questions, sentence):
    told = words(page(study(*questions), [])[0])
    assert sentence in told
    assert "ε covers the reports and nothing else: not that somebody took part, from which address and when" in told


def test_json_has_the_same():
    held = json.loads(views_json(study(AGE, SECTION), [AGE_VIEW], interim=True))
    assert {name: held[name] for name in ("bipartite_answers", "study", "epsilon", "interim", "confidence")} == {
        "bipartite_answers": 1, "study": "readers", "epsilon": "2", "interim": True, "confidence": 0.95,
    }  # fmt: skip
    assert [each["headline"] for each in held["answers"]] == [AGE_VIEW.headline, ""]
    assert held["answers"][0]["rows"][0]["share"] == AGE_VIEW.rows[0].share


def test_bars_have_the_colours_of_our_pictures():
    style = (files("bipartite.collect") / "static" / "answers.css").read_text("utf-8")
    assert f"--bar: {looks.PALE.lower()}; --track: {looks.FAINT.lower()};" in style
