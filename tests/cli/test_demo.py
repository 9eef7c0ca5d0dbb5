import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from bipartite import BRR, Constant, Integers, Interval, Points, expected_loss, share_within
from bipartite.answers.explain import explain
from bipartite.cli import demo, demo_page
from bipartite.cli.demo_questions import Question, ask, bands
from bipartite.cli.output import Progress
from bipartite.locations.atlas import cities
from tests.cli.test_commands import conforms

DOMAINS = {"age": (Integers(18, 90), 5), "income": (Interval(0, 200_000, points=401), 10_000)}


class Reader(HTMLParser):
    """What a browser would have to fetch or run, and whether every element is closed."""

    VOID = frozenset({"meta", "rect", "line", "path", "circle"})

    def __init__(self):
        super().__init__()
        self.open, self.fetched, self.words = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        if tag in {"script", "link", "img", "iframe", "object", "use", "image"}:
            self.fetched.append(tag)
        self.fetched += [value for name, value in attrs if name in {"src", "srcset", "style"} or name.startswith("on")]

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def read(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert not reader.open
    return reader, " ".join(" ".join(reader.words).split())


def test_demo_shows_what_a_report_is_worth_and_is_honest_about_silence(run, tmp_path):
    code, out, err = run("demo", "--people", 20_000, "--output", tmp_path / "new" / "folder")
    assert (code, err) == (0, "")
    assert "20,000 simulated people" in out
    for name in (
        "BRR, m = 27",
        "GRR",
        "always saying 54",
        "BRR, m = 151",
        "always saying 100,000",
        "always saying Baghdad",
    ):
        assert name in out
    file = tmp_path / "new" / "folder" / "demo.html"
    assert str(file) in out
    assert [path.name for path in file.parent.iterdir()] == ["demo.html"]


def test_demo_numbers_are_those_of_the_closed_forms(run, tmp_path):
    code, out, err = run("demo", "--people", 200_000, "--json", "--epsilon", "2", "--output", tmp_path)
    assert (code, err) == (0, "")
    shown = conforms(json.loads(out), "demo")
    assert shown["page"] == str(tmp_path / "demo.html")
    found = {question["name"]: question for question in shown["questions"]}
    for name, (domain, nearby) in DOMAINS.items():
        brr, grr, constant = found[name]["answers"]
        for row, mechanism in ((brr, BRR(domain, 2)), (grr, BRR(domain, 2, m=1))):
            assert row["expected_error"] == pytest.approx(expected_loss(mechanism))
            assert row["within"] == pytest.approx(share_within(mechanism, nearby))
        assert constant["expected_error"] == pytest.approx(expected_loss(Constant(domain)))
        assert constant["within"] == pytest.approx(share_within(Constant(domain), nearby))
        # Measured on people who are not uniform: near the exact value, not at it.
        assert brr["measured_within"] == pytest.approx(brr["within"], abs=0.05)
        assert brr["measured_error"] < grr["measured_error"]
        assert found[name]["certificate"]["holds"]


def test_a_separate_survey_estimates_what_is_true_of_these_people(run, tmp_path):
    code, out, _ = run("demo", "--people", 50_000, "--json", "--output", tmp_path)
    assert code == 0
    found = {question["name"]: question["statistics"] for question in conforms(json.loads(out), "demo")["questions"]}
    for name, (domain, _) in DOMAINS.items():
        mean = found[name]["mean"]
        # Reports are drawn anew each time: within ten standard errors, a false alarm in 10^22 runs.
        half = (mean["high"] - mean["low"]) / 2
        assert abs(mean["value"] - mean["true"]) < 10 / 1.96 * half
        assert half < (domain.high - domain.low) / 20  # which a guess would not keep
        # Reports of single values leave it open, however many there are.
        assert mean["from_single_values"]["high"] - mean["from_single_values"]["low"] > 2 * half
        assert found[name]["mechanism"] == repr(BRR(domain, 1, m="cdf", edges="padded"))
        assert sum(each["true"] for each in found[name]["shares"]) == pytest.approx(1)
        assert sum(each["share"] for each in found[name]["shares"]) == pytest.approx(1)
        assert found[name]["certificate"]["holds"]
    assert [each["value"] for each in found["age"]["shares"]][:2] == ["18 to 29", "30 to 39"]
    assert found["city"]["mean"] is None and len(found["city"]["shares"]) == 10
    assert found["city"]["mechanism"].startswith("GRR(")


def test_made_up_people_lie_in_their_domains():
    generator = np.random.default_rng(1)
    ages, incomes = demo._made_up_ages(generator, 10_000), demo._made_up_incomes(generator, 10_000)
    assert ages.min() >= 18 and ages.max() <= 90
    assert incomes.min() >= 0 and incomes.max() <= 200_000
    assert set(demo._made_up_cities(generator, 10_000)) == set(cities().names)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    from bipartite.cli import main

    assert main(["demo", "--people", "5000", "--output", str(folder), "--json"]) == 0
    return (folder / "demo.html").read_text(encoding="utf-8")


def test_the_page_needs_nothing_but_itself(page):
    reader, _ = read(page)
    assert reader.fetched == []
    assert "url(" not in page and "@import" not in page
    # A name and two links to follow; nothing is fetched.
    assert set(re.findall(r"https?://[^'\" ]+", page)) == {
        "http://www.w3.org/2000/svg",
        "https://www.geonames.org/",
        "https://creativecommons.org/licenses/by/4.0/",
    }


def test_no_picture_is_torn_apart(page):
    """A map holds an SVG within an SVG: a box of HTML inside would end both, and leave an empty space."""
    inside = 0
    for part in re.findall(r"<svg|</svg>|<div", page):
        assert not (part == "<div" and inside)
        inside += {"<svg": 1, "</svg>": -1}.get(part, 0)
    assert not inside and page.count("<div class='picture'>") == page.count('<svg xmlns="')


def test_the_page_leads_from_the_question_to_the_report_and_what_it_is_worth(page):
    _, words = read(page)
    explained = explain(1)
    at = -1
    for expected in (
        "How old are you?", "answer is 40 years", "true value: 40", "This time the report drawn is",
        "What the collector sees from 5,000 people", "not the true distribution", "How precise one report is",
        "How much do you earn in a year?", "42,000 dollars", "Which of these hundred cities", "true place: Paris",
        "The same people, asked for statistics", "separate survey", "spends 2ε = 2 on it", "The collector learns: the",
        "intervals, ", "contain the true share", "however many people report", "from 25,000",
        "share of each of 100 cities", "What ε = 1 means", explained.guess, explained.coin,
        "three questions, which together spend ε = 3",
        "It does not hide that you reported", "Proved, not promised", "holds", "0.999999999999994",
        "age, for statistics",
    ):  # fmt: skip
        at = words.find(expected, at + 1)
        assert at >= 0, expected


def test_the_page_says_when_a_constant_answer_is_nearer(page):
    _, words = read(page)
    # Of these people, always saying 54 is nearer than BRR: shown, not hidden.
    assert re.search(r"always saying 54, which reveals nothing about anyone, it is 2 % closer to the truth", words)
    assert re.search(r"among these people \d+ % farther from it", words)
    assert "A single report says little; that is what protects Ada." in words
    assert "The 73 answers have only 47 different distributions of reports, so no method can recover" in words
    assert len(np.unique(BRR(Integers(18, 90), 1).matrix(), axis=0)) == 47


def test_a_large_epsilon_is_not_praised(run, tmp_path):
    assert run("demo", "--people", 1000, "--epsilon", "6", "--output", tmp_path)[0] == 0
    _, words = read((tmp_path / "demo.html").read_text(encoding="utf-8"))
    assert "At this ε a single report says much, and Ada is hardly protected." in words
    assert "that is what protects" not in words
    assert "This is little protection" in words


def test_a_page_is_written_whole_or_not_at_all(run, tmp_path, monkeypatch):
    (tmp_path / "demo.html").write_text("old", encoding="utf-8")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    code, out, err = run("demo", "--people", 1_000, "--output", tmp_path)
    assert (code, out) == (3, "")
    assert "No space left on device" in err
    assert (tmp_path / "demo.html").read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["demo.html"]


@pytest.fixture
def city_question():
    names, coordinates = (part[:10] for part in cities())
    places = Points(coordinates, metric="haversine", labels=names)
    brr, grr = BRR(places, 1, m=3), BRR(places, 1, m=1)
    return Question("city", "Where?", brr, grr, "km", "Lagos", 1000)


def test_distances_between_places_are_great_circles():
    names, coordinates = cities()
    places = Points(coordinates, metric="haversine", labels=names)
    question = Question("city", "", BRR(places, 1, m=1), BRR(places, 1, m=1), "km", "Paris", 0)
    distances = question.distances
    # Known to any atlas: London to Paris 344 km, to Sydney 16,994 km.
    london = names.index("London")
    assert distances[london, names.index("Paris")] == pytest.approx(344, abs=1)
    assert distances[london, names.index("Sydney")] == pytest.approx(16_994, abs=10)
    assert (distances == distances.T).all() and (np.diag(distances) == 0).all()


def test_bands_of_distance_hold_every_report_once(city_question):
    names, shares = bands(city_question, (1000.0, 6000.0), lambda km: f"{km:.0f} km")
    assert names == ["Lagos itself", "within 1000 km", "1000 km to 6000 km", "beyond 6000 km"]
    assert np.sum(shares, axis=0) == pytest.approx([1, 1])
    e = np.e
    assert shares[0] == pytest.approx([e / (3 * e + 7), e / (e + 9)])


def test_a_question_about_places_is_asked_and_drawn(city_question):
    people = np.arange(20_000) % 7
    outcome = ask(city_question, city_question.values[people], Progress("reports", 1))
    distances, matrix = city_question.distances, city_question.brr.matrix()
    assert outcome.report in city_question.values
    assert outcome.answers == pytest.approx(np.bincount(people, minlength=10) / 20_000)
    # 0.025 is more than seven standard errors of a share of 20,000 reports: a false alarm in 10^11 runs.
    assert outcome.reports == pytest.approx(outcome.answers @ matrix, abs=0.025)
    assert np.abs(outcome.reports - outcome.answers).max() > 0.03  # the wrong law is told apart
    brr, _, constant = outcome.worths
    assert brr.expected_error == pytest.approx((matrix * distances).sum() / 10)
    assert brr.expected_error == pytest.approx(expected_loss(city_question.brr), rel=1e-6)
    assert constant.expected_error == pytest.approx(distances.mean(axis=0).min())
    assert constant.measured_error == pytest.approx(outcome.answers @ distances[:, np.argmin(distances.sum(axis=0))])
    _, words = read(demo_page.page([outcome], explain(1), 20_000))
    for expected in (
        "true place: Lagos",
        "3 favoured",
        "beyond 6,000 km",
        "GeoNames",
        "CC BY 4.0",
        "Natural Earth",
    ):
        assert expected in words
    assert "one question" in words


def test_what_can_be_read_backwards_is_decided_by_the_rows(city_question):
    shared = len(np.unique(city_question.brr.matrix(), axis=0))
    assert shared < 10
    assert f"The 10 answers have only {shared} different distributions of reports, so no method" in demo_page._trap(
        city_question
    )
    own = replace(city_question, brr=city_question.grr)
    assert demo_page._trap(own) == "An estimator can undo this on average, with error bars; the picture cannot."


def test_a_place_that_cannot_be_written_is_said_before_anything_is_drawn(run, tmp_path):
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    code, out, err = run("demo", "--people", 1_000, "--output", file)
    assert (code, out) == (3, "")
    assert "cannot be written to (File exists); choose another --output." in err


@pytest.mark.parametrize("epsilon", ["0.01", "4", "20"])
def test_the_page_says_nothing_false_at_other_budgets(run, tmp_path, epsilon):
    assert run("demo", "--people", 2_000, "--epsilon", epsilon, "--output", tmp_path)[0] == 0
    text = (tmp_path / "demo.html").read_text(encoding="utf-8")
    assert ("says little" in text) == (epsilon == "0.01")
    assert ("hardly protected" in text) == (epsilon != "0.01")
    assert "0&nbsp;% closer" not in text.replace("00&nbsp;%", "").replace("10&nbsp;%", "") or epsilon == "4"
    assert ("could have been used for statistics too" in text) == (epsilon == "20")
    if epsilon == "20":
        assert "come from the mechanism" not in text
