"""Small multiples and tables of squares: where things stand, what is left out, and that one name has one line."""

import math
import xml.etree.ElementTree as ET

import pytest

from bipartite.plots import LINES, Line, Panel, panels
from bipartite.plots.grid import Grid, Square, grid
from bipartite.plots.palette import lines

SVG = "{http://www.w3.org/2000/svg}"


def drawn(svg, tag):
    return list(ET.fromstring(svg).iter(SVG + tag))


def words(svg):
    return [element.text for element in drawn(svg, "text")]


def simple(**how):
    some = [Line("BRR", [1, 2, 3], [0.1, 0.2, 0.3]), Line("GRR", [1, 2, 3], [0.3, 0.3, 0.3])]
    return panels([Panel("left", some), Panel("right", some)], across="ε", up="loss", says="Two.", **how)


def test_a_name_stands_once_in_the_key_and_titles_on_every_panel():
    found = words(simple(notes=["a note"]))
    assert found.count("BRR") == found.count("GRR") == 1
    assert {"left", "right", "a note", "ε", "loss"} <= set(found)


def test_one_mechanism_has_one_line_everywhere_and_others_get_spare_ones():
    looks = lines(["BRR", "unknown", "another"])
    assert looks["BRR"] is LINES["BRR"]
    assert looks["unknown"] != looks["another"]
    strokes = {element.attrib["stroke"] for element in drawn(simple(), "path")}
    assert strokes == {LINES["BRR"]["stroke"], LINES["GRR"]["stroke"]}


def test_higher_values_stand_higher_and_panels_side_by_side():
    paths = [element.attrib["d"] for element in drawn(simple(), "path") if element.attrib.get("stroke-width") == "2.6"]
    assert len(paths) == 2
    corners = [[tuple(map(float, each.split())) for each in path[1:].split("L")] for path in paths]
    for (_, first), (_, middle), (_, last) in corners:
        assert first > middle > last  # SVG counts downwards
    assert corners[0][-1][0] < corners[1][0][0]


def test_values_beyond_the_frame_and_gaps_break_a_line():
    line = Line("BRR", [1, 2, 3, 4, 5], [0.1, 0.2, math.nan, 0.2, 9.0])
    svg = panels([Panel("", [line], lowest=0, highest=1)], across="", up="", says="x")
    paths = [element for element in drawn(svg, "path") if element.attrib.get("stroke-width") == "2.6"]
    assert len(paths) == 1  # the two points after the gap are one point and one beyond
    assert all(math.isfinite(float(element.attrib["cy"])) for element in drawn(svg, "circle"))


def test_intervals_are_bars_with_ends():
    line = Line("BRR", [1, 2], [0.5, 0.5], [0.4, math.nan], [0.6, math.nan])
    with_bars = panels([Panel("", [line])], across="", up="", says="x")
    without = panels([Panel("", [Line("BRR", [1, 2], [0.5, 0.5])])], across="", up="", says="x")
    bars = [each for each in drawn(with_bars, "line") if each.attrib.get("stroke") == LINES["BRR"]["stroke"]]
    plain = [each for each in drawn(without, "line") if each.attrib.get("stroke") == LINES["BRR"]["stroke"]]
    assert len(bars) - len(plain) == 3


def test_levels_and_long_lines_are_not_marked():
    level = panels([Panel("", [Line("limit", [1, 2], [1, 2], marked=False)])], across="", up="", says="x")
    many = panels([Panel("", [Line("limit", range(40), range(40))])], across="", up="", says="x")
    assert drawn(level, "circle") == drawn(many, "circle") == []


@pytest.mark.parametrize("log_x", [False, True])
@pytest.mark.parametrize("log_y", [False, True])
def test_scales_have_marks_within_the_frame(log_x, log_y):
    line = Line("BRR", [1, 10, 1000, 100_000], [0.01, 0.1, 0.5, 1.0])
    svg = panels([Panel("", [line])], across="", up="", says="x", columns=1, log_x=log_x, log_y=log_y)
    assert ("10⁵" in words(svg)) or not log_x
    for element in drawn(svg, "text"):
        assert 0 <= float(element.attrib["x"]) <= 860


def test_a_single_point_and_a_flat_line_have_a_scale():
    for line in (Line("BRR", [1], [0.0]), Line("BRR", [1, 2], [3, 3])):
        assert "NaN" not in panels([Panel("", [line])], across="", up="", says="x")


def test_many_names_wrap_into_rows():
    names = [f"a mechanism with a long name {number}" for number in range(8)]
    svg = panels([Panel("", [Line(name, [1, 2], [1, 2]) for name in names])], across="", up="", says="x")
    places = {element.text: element.attrib for element in drawn(svg, "text") if element.text in names}
    assert len({each["y"] for each in places.values()}) > 1
    assert all(float(each["x"]) + 6.9 * len(name) < 880 for name, each in places.items())


def test_a_grid_has_its_squares_names_and_cut():
    rows = [("x = 1", [Square("0", dark=True), Square("1")], "2"), ("x = 2", [Square("0"), Square("1")], "1")]
    marks = {(0, 1): Square("▲", {"fill": "#000000"})}
    svg = grid(
        Grid(["a", "b"], rows, "value", "m", marks, cut=1),
        says="x",
        entries=[("dark", {"fill": "#123456"})],
        notes=["why"],
    )
    assert len(drawn(svg, "rect")) == 5
    assert {"x = 1", "x = 2", "a", "b", "value", "m", "▲", "why", "dark"} <= set(words(svg))
    assert len([each for each in drawn(svg, "line") if each.attrib.get("stroke-width") == "3"]) == 1
