"""Maps and pages of places say what is public and what a release promises, and show the chances of the tickets."""

import base64
import json
import re
import zlib
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from bipartite import BRR, GRR, Anchored, Exponential, Integers, Points
from bipartite.errors import InputError, OutsideDomainError
from bipartite.locations import draw, page, places
from bipartite.locations.atlas import cities
from bipartite.locations.chances import chances
from bipartite.locations.pages.levels import levels_of
from bipartite.plots.svg import percent

ROWS = [[52.52, 13.40], [48.86, 2.35], [51.51, -0.13], [41.9, 12.5], [40.4, -3.7], [59.9, 10.7]]
NAMES = ["Berlin", "Paris", "London", "Rome", "Madrid", "Oslo"]
WORLD = places(cities().coordinates, labels=cities().names)
EVIL = "</script><img src=x onerror=alert(1)>\"'&\x00"


@pytest.fixture
def europe():
    return places(ROWS, labels=NAMES)


def data_of(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_a_map_of_places_says_that_they_must_be_public(europe, tmp_path):
    drawn = draw(europe, file=tmp_path / "map.svg")
    assert (tmp_path / "map.svg").read_text(encoding="utf-8") == drawn + "\n"
    assert "6 places" in drawn and "which must be public: never the positions of the people who report" in drawn


@pytest.mark.parametrize(
    ("make", "promise"),
    [
        (lambda p: BRR(p, 1), "BRR: ε-LDP of each report with ε = 1."),
        (lambda p: Anchored(p, 1), "Anchored: ε-LDP of each report with ε = 1."),
    ],
    ids=["BRR", "Anchored"],
)
def test_a_map_of_a_person_shows_the_tickets_and_the_promise(europe, make, promise):
    mechanism = make(europe)
    drawn = draw(mechanism, at="Paris")
    text = " ".join(each.text for each in ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text"))
    assert promise in text and "The person is made up" in text
    at = mechanism.domain.encode("Paris")
    row = mechanism.lottery.rows(at, at + 1)[0] / mechanism.lottery.total
    for value, chance in zip(mechanism.outputs, row, strict=True):
        assert f"<title>{value}: {percent(chance)}</title>" in drawn


def test_chances_of_outputs_that_are_few_are_zero_elsewhere(europe):
    anchored = Anchored(europe, 1)
    whole = chances(anchored, 0, 6)
    np.testing.assert_array_equal(whole[:, anchored.outputs.indices], anchored.matrix())
    assert whole.sum() == pytest.approx(6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: draw(BRR(p, 1)), "Expected at= with a mechanism, .* try at='Berlin'"),
        (lambda p: draw(p, at="Paris"), "at= belongs to a mechanism"),
        (lambda _: draw(Points([[0, 0], [1, 1]])), "Expected places as bp.Points"),
        (lambda _: draw(BRR(Integers(1, 5), 1), at=1), "Expected places as bp.Points"),
        (lambda p: draw(p, file="map.gif"), "ending in .svg or .png"),
        (lambda _: page(Points([[0, 0], [1, 1]])), "Expected places as bp.Points"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_words(europe, call, message):
    with pytest.raises(InputError, match=message):
        call(europe)
    with pytest.raises(OutsideDomainError):
        draw(BRR(europe, 1), at="Atlantis")


def test_more_places_than_a_picture_can_show_are_refused(monkeypatch, europe):
    monkeypatch.setattr("bipartite.locations.drawing.MOST_DRAWN", 5)
    with pytest.raises(InputError, match="Expected at most 5 places in a picture, got 6"):
        draw(europe)


@pytest.mark.parametrize("make", [BRR, GRR, Anchored], ids=["BRR", "GRR", "Anchored"])
def test_a_page_holds_every_chance(europe, make):
    mechanism = make(europe, 2)
    held = data_of(page(mechanism, title="T"))
    numbers = np.frombuffer(zlib.decompress(base64.b64decode(held["mechanism"]["rows"])), dtype=np.uint8).reshape(6, 6)
    assert held["mechanism"]["exact"]
    np.testing.assert_allclose(np.array(held["mechanism"]["levels"])[numbers], chances(mechanism, 0, 6), rtol=1e-12)


def test_many_different_chances_are_rounded_by_less_than_half_a_step():
    rng = np.random.default_rng(1)
    many = places(np.column_stack([rng.uniform(-60, 60, 40), rng.uniform(-170, 170, 40)]))
    mechanism = Exponential(many, 2)
    levels = levels_of(mechanism)
    exact = chances(mechanism, 0, 40)
    step = (levels.levels[-1] / levels.levels[1]) ** (1 / 254)
    assert not levels.exact
    assert np.abs(np.log(levels.levels[levels.numbers] / exact)).max() <= np.log(step) / 2 * (1 + 1e-9)


def test_a_page_escapes_every_name_and_loads_nothing():
    world = places(ROWS, labels=[EVIL, *NAMES[1:]])
    text = page(BRR(world, 1), title=EVIL.replace("\x00", ""))
    assert "<img" not in text and text.count("</script>") == 2
    assert data_of(text)["labels"][0] == EVIL.replace("\x00", "\\u0000")
    assert "default-src 'none'" in text
    assert not re.search(r"https?://", text)
    assert "innerHTML" not in text and "insertAdjacentHTML" not in text and "document.write" not in text
    drawn = draw(world) + draw(BRR(world, 1), at="Paris")
    assert "<img" not in drawn and "\x00" not in drawn
    ET.fromstring(draw(world))


def test_a_page_names_the_promise(europe):
    assert '<p class="promise">BRR: ε-LDP of each report with ε = 1.</p>' in page(BRR(europe, 1))
    assert 'class="promise' not in page(europe)


def test_beyond_its_limit_a_page_shows_some_places_and_says_so(europe, monkeypatch):
    monkeypatch.setattr("bipartite.locations.pages.writing.MOST_ON_A_PAGE", 4)
    text = page(BRR(europe, 1))
    held = data_of(text)
    assert held["labels"] == ["Berlin", "London", "Rome", "Oslo"] and held["mechanism"] is None
    assert "6 places, of which 4 are shown, without probabilities" in text
    assert "6 places, of which 4 are shown: " in page(europe)
