"""Pictures are read back as XML: what they show is what they were given."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from bipartite import BRR, Integers
from bipartite.plots import Bar, bars, chances_on_a_line, shares_of_pairs, style
from bipartite.plots.map import heat
from bipartite.plots.svg import legend, percent, tag, text, ticks
from tests.plots.reading import SVG, corners, words

AGES = Integers(18, 90)


def say(value):
    return f"{value:,.0f}"


@pytest.fixture
def chances():
    rows = [BRR(AGES, 1, **m).matrix()[AGES.encode(40)] for m in ({}, {"m": 1})]
    return ET.fromstring(chances_on_a_line(AGES.to_numpy(), *rows, truth=40, label="reported age, years", say=say))


def test_the_chances_of_a_line_have_the_heights_of_the_matrix(chances):
    far, near, _, grr = (corners(each) if "Z" not in each.get("d") else None for each in chances.iter(f"{SVG}path"))
    heights = [float(each.get("y1")) for each in chances.iter(f"{SVG}line") if each.get("stroke") == style.FAINT]
    assert far is None and near is None  # filled
    # The grid lines stand at 0, 2 and 4 %, so they calibrate the picture.
    percent_high = (heights[0] - heights[1]) / 2
    ground = heights[0]
    e = np.e
    assert (ground - grr[:, 1].min()) / percent_high == pytest.approx(100 * e / (e + 72), abs=0.01)
    assert (ground - grr[:, 1].max()) / percent_high == pytest.approx(100 / (e + 72), abs=0.01)
    filled = [each for each in chances.iter(f"{SVG}path") if each.get("fill") == style.BRR]
    tops = corners(filled[0])[:, 1]
    assert (ground - tops.min()) / percent_high == pytest.approx(100 * e / (27 * e + 46), abs=0.01)


def test_the_chances_of_a_line_are_labelled_and_told_in_words(chances):
    shown = words(chances)
    for expected in (
        "true value: 40", "reported age, years", "probability of this report", "4 %",
        "BRR, nearest 27: 2.3 % each", "BRR, all others: 0.84 % each",
        "GRR: 3.6 % for the true value, 1.3 % for any other",
    ):  # fmt: skip
        assert expected in shown
    assert "BRR reports each value from 27 to 53 with probability 2.3 %" in chances.get("aria-label")


def test_nothing_is_drawn_or_written_outside_the_picture(chances):
    _, _, width, height = map(float, chances.get("viewBox").split())
    for element in chances.iter(f"{SVG}path"):
        points = corners(element)
        assert (points >= 0).all() and (points <= (width, height)).all()
    letter = 7  # px, a wide mean letter at this size
    for element in chances.iter(f"{SVG}text"):
        length = letter * len(element.text)
        room = {"middle": 0.5, "end": 0}.get(element.get("text-anchor"), 1)
        assert float(element.get("x")) + room * length <= width or element.get("transform")


def test_mechanisms_are_told_apart_without_colour(chances):
    grr = [each for each in chances.iter(f"{SVG}path") if each.get("stroke") == style.GRR]
    assert len(grr) == 1 and grr[0].get("stroke-dasharray")

    def lightness(colour):
        return sum(weight * int(colour[at : at + 2], 16) for weight, at in ((0.3, 1), (0.59, 3), (0.11, 5)))

    assert lightness(style.BRR_FAR) - lightness(style.BRR) > 60


def test_bars_are_as_long_as_their_numbers():
    rows = [Bar("one", 1.0, "1 km", style.BRR_NEAR_STYLE), Bar("four", 4.0, "4 km", style.GRR_BAR_STYLE)]
    drawn = ET.fromstring(bars(rows, "distance, km"))
    one, four = (float(each.get("width")) for each in drawn.iter(f"{SVG}rect"))
    assert four == pytest.approx(4 * one, rel=0.01)
    assert words(drawn) == ["one", "1 km", "four", "4 km", "distance, km"]


def test_words_are_escaped():
    assert text(1, 2, "<a> & b").endswith(">&lt;a&gt; &amp; b</text>")
    assert tag("line", stroke_width=1.0) == '<line stroke-width="1"/>'
    assert len(legend([("a", style.GRR_STYLE), ("b", style.BRR_NEAR_STYLE)])) == 4


@pytest.mark.parametrize(
    ("low", "high", "about", "expected"),
    [
        (0, 0.0409, 4, [0, 0.02, 0.04]),
        (18, 90, 8, [20, 30, 40, 50, 60, 70, 80, 90]),
        (0, 1, 4, [0, 0.25, 0.5, 0.75, 1]),
    ],
)
def test_ticks_are_round_numbers(low, high, about, expected):
    assert ticks(low, high, about) == pytest.approx(expected)


def test_shares_are_shown_in_two_digits_that_count():
    assert [percent(share) for share in (1e-6, -1e-6, 9e-5, 1e-4)] == ["< 0.01 %", "0 %", "< 0.01 %", "0.01 %"]
    assert [percent(share) for share in (0, 0.0084, 0.0228, 0.54, 1)] == ["0 %", "0.84 %", "2.3 %", "54 %", "100 %"]


def test_a_heat_map_of_pairs_has_a_dark_cell_for_a_likely_pair():
    shares = np.array([[0.1, 0.1, 0.1], [0.1, 0.4, 0.2]])
    names = ["young", "old"], ["jazz", "blues", "metal"]
    drawn = ET.fromstring(shares_of_pairs(shares, names, ("age", "genre"), at=(1, 1), notes=["So it is."]))
    cells = [each for each in drawn.iter(f"{SVG}rect") if each.get("shape-rendering")]
    assert [each.get("fill") for each in cells] == [heat(level) for level in (0.25, 0.25, 1.0, 0.25, 0.5)]
    wide = [float(each.get("width")) for each in cells]  # the two of the first row are alike, and one shape
    assert wide[0] == pytest.approx(2 * wide[1], abs=0.1)
    rows = sorted({float(each.get("y")) for each in cells}, reverse=True)
    assert [float(each.get("y")) for each in cells] == [rows[0], rows[1], rows[1], rows[2], rows[2]]
    marked = [each for each in drawn.iter(f"{SVG}rect") if each.get("fill") == "none"]
    assert {(each.get("x"), each.get("y")) for each in marked} == {(cells[2].get("x"), cells[2].get("y"))}
    assert {"young", "old", "jazz", "blues", "metal", "age", "genre", "So it is.", "40 %"} <= set(words(drawn))
    assert "of age and genre; the largest share, at old and blues, is 40 %. So it is." in drawn.get("aria-label")


def test_a_heat_map_of_many_pairs_names_a_few():
    shares = np.full((100, 50), 1 / 5000)
    names = [[str(at) for at in range(size)] for size in shares.shape]
    drawn = ET.fromstring(shares_of_pairs(shares, tuple(names), ("first", "second")))
    assert len([word for word in words(drawn) if word.isdigit()]) < 60
    assert len(list(drawn.iter(f"{SVG}rect"))) == 50 + 5
