"""Small multiples and tables of squares: where things stand, what is left out, and that one name has one line."""

import itertools
import math
import xml.etree.ElementTree as ET
from operator import truediv

import pytest

from bipartite.plots.marks import mark
from bipartite.plots.palette import line_of, lines, mark_of
from reproduction.figures import Grid, Line, Panel, Printed, Square, grid, panels, subscripted
from reproduction.figures.panels import _number

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
    assert looks["BRR"] == line_of("BRR")
    assert looks["unknown"] != looks["another"]
    assert looks["unknown"].get("stroke_dasharray") != looks["another"].get("stroke_dasharray")  # in grey too
    every = lines(str(at) for at in range(28)).values()
    assert len({tuple(sorted(look.items())) for look in every}) == 28
    strokes = {element.attrib["stroke"] for element in drawn(simple(), "path")}
    assert strokes == {line_of("BRR")["stroke"], line_of("GRR")["stroke"]}


def test_higher_values_stand_higher_and_panels_side_by_side():
    paths = [element.attrib["d"] for element in drawn(simple(), "path") if element.attrib.get("stroke-width") == "2.6"]
    assert len(paths) == 2
    found = [[tuple(map(float, each.split())) for each in path[1:].split("L")] for path in paths]
    for (_, first), (_, middle), (_, last) in found:
        assert first > middle > last  # SVG counts downwards
    assert found[0][-1][0] < found[1][0][0]


def corners(element):  # of a path, closed or not
    return [tuple(map(float, each.split())) for each in element.attrib["d"][1:].removesuffix("Z").split("L")]


def of_width(svg, width):
    return [corners(element) for element in drawn(svg, "path") if element.attrib.get("stroke-width") == width]


def test_gaps_break_a_line_and_the_edge_cuts_it_where_it_crosses():
    line = Line("BRR", [1, 2, 3, 4, 5], [0.1, 0.2, math.nan, 0.5, 1.5])
    svg = panels([Panel("", [line], lowest=0, highest=1)], across="", up="", says="x")
    before, after = of_width(svg, "2.6")
    assert len(before) == len(after) == 2
    ((x4, _), (cut, top)), (arrow,) = after, of_width(svg, "1.6")
    # Halfway between 0.5 and 1.5, at the edge; the arrow stands where the point would, one unit below the edge.
    assert cut == pytest.approx((x4 + arrow[1][0]) / 2, abs=0.11)
    assert arrow[1][1] == pytest.approx(top + 1, abs=0.11)
    assert len(drawn(svg, "circle")) == 4  # three points within, and the key


def test_what_lies_beyond_is_said_in_numbers():
    line = Line("Laplace", [1, 2, 3, 4, 5], [30.0, 9.474, 0.5, -0.25, 0.5])
    svg = panels([Panel("", [line], lowest=0, highest=1)], across="", up="", says="x")
    assert {"9.47 to 30", "−0.25"} <= set(words(svg))
    assert len(of_width(svg, "1.6")) == 3
    inside = panels([Panel("", [Line("Laplace", [1, 2], [0.0, 1.0])], lowest=0, highest=1)], across="", up="", says="x")
    assert of_width(inside, "1.6") == []


def test_two_numbers_at_one_place_do_not_cover_each_other():
    some = [Line("BRR", [1, 2, 3], [0.5, 7, 0.5]), Line("GRR", [1, 2, 3], [0.5, 8, 0.5])]
    svg = panels([Panel("", some, lowest=0, highest=1)], across="", up="", says="x")
    seven, eight = (next(each.attrib for each in drawn(svg, "text") if each.text == word) for word in "78")
    apart = {at: abs(float(seven[at]) - float(eight[at])) for at in "xy"}
    assert apart["y"] >= 11 or apart["x"] >= 6.2


def test_a_number_at_the_edge_covers_no_line_where_there_is_room():
    steep = Line("BRR", [1, 2, 3], [0.2, 9.5, 0.2])
    svg = panels([Panel("", [steep], lowest=0, highest=1)], across="", up="", says="x", columns=1)
    (left, top, right, bottom), *_ = corners_of_words(svg, "9.5")
    for (ax, ay), (bx, by) in (each for run in of_width(svg, "2.6") for each in itertools.pairwise(run)):
        for share in range(101):
            x, y = ax + (bx - ax) * share / 100, ay + (by - ay) * share / 100
            assert not (left < x < right and top < y < bottom)


def test_a_line_wholly_beyond_leaves_arrows_alone():
    some = [Line("BRR", [1, 2, 3], [0.1, 0.11, 0.12]), Line("GRR", [1, 2, 3], [0.6, 0.7, 0.8])]
    svg = panels([Panel("", some, lowest=0.5, highest=1)], across="", up="", says="x")
    assert of_width(svg, "2.6") == []
    assert "0.1 to 0.12" in words(svg)


def test_an_interval_that_goes_on_has_an_arrow_in_place_of_its_end():
    line = Line("BRR", [1, 2], [0.5, 0.5], [0.4, 0.4], [0.6, 3.0])
    svg = panels([Panel("", [line], lowest=0, highest=1)], across="", up="", says="x")
    assert len(of_width(svg, "1.6")) == 1
    bars = [each for each in drawn(svg, "line") if each.attrib.get("stroke") == line_of("BRR")["stroke"]]
    assert len(bars) == 6  # the key, two bars, three ends


def test_intervals_of_several_lines_stand_side_by_side():
    some = [Line(name, [1, 2], [0.5, 0.5], [0.4, 0.4], [0.6, 0.6]) for name in ("BRR", "GRR", "Laplace")]
    svg = panels([Panel("", some)], across="", up="", says="x")
    first = [
        corners(each)[0][0] for each in drawn(svg, "path") if each.attrib.get("stroke-width") in {"2.6", "2", "1.8"}
    ]
    assert len(set(first)) == 3
    assert max(first) - min(first) == pytest.approx(5, abs=0.11)


def test_points_on_another_line_are_not_joined_and_a_line_is_named_at_its_end():
    some = [Line("limit", [1, 2], [1, 2], marked=False, end="the end"), Line("BRR", [1, 2], [1, 2], joined=False)]
    svg = panels([Panel("", some)], across="", up="", says="x")
    assert of_width(svg, "2.6") == []
    assert [each for each in drawn(svg, "line") if each.attrib.get("stroke-width") == "2.6"] == []
    assert "the end" in words(svg)


def test_words_at_the_ends_of_lines_stand_right_of_them_and_do_not_cover_each_other():
    some = [Line(f"line {at}", [1, 2], [at, 0.5 + at / 100], end=f"end {at}") for at in range(3)]
    svg = panels([Panel("", some, lowest=0, highest=2)], across="", up="", says="x")
    found = [each for each in drawn(svg, "text") if (each.text or "").startswith("end ")]
    heights = sorted(float(each.attrib["y"]) for each in found)
    assert len(found) == 3
    assert min(b - a for a, b in itertools.pairwise(heights)) >= 13
    last = max(float(each.attrib["cx"]) for each in drawn(svg, "circle"))
    assert all(last + 2.8 < float(each.attrib["x"]) <= 860 - 6.9 * 5 for each in found)


def test_lines_of_one_colour_differ_in_grey():
    # Colour alone tells nothing in print: with the same lightness, dash, weight or the shape of points must differ.
    def grey(name):
        red, green, blue = (int(line_of(name)["stroke"][at : at + 2], 16) for at in (1, 3, 5))
        return round((0.299 * red + 0.587 * green + 0.114 * blue) / 40)

    together = [
        ("BRR", "GRR", "Anchored", "Exponential", "Exponential, tight", "always the middle", "BRR, best m"),
        ("BRR", "GRR", "L-SRR as published", "L-SRR calibrated", "Exponential, tight", "Anchored", "one place"),
        ("BRR", "Laplace", "Laplace, clamped", "no privacy", "always the middle", "the mean (no privacy)"),
        ("BRR", "Laplace, clamped", "Geometric", "Anchored", "always the middle"),
        ("Gaussian, central", "Laplace, central", "BRR, padded", "Piecewise", "Hybrid", "Duchi", "no privacy"),
        ("BRR-SGD as described", "Laplace on the sum, as described", "Laplace on the mean", "Gaussian, central"),
        ("BRR", "Anchored", "Laplace", "Piecewise", "no privacy", "majority class"),
    ]
    for names in together:
        seen = {(grey(name), line_of(name).get("stroke_dasharray"), mark_of(name)) for name in names}
        assert len(seen) == len(names), names


def test_every_shape_is_drawn():
    names = ["BRR", "GRR", "Gaussian, central", "Anchored", "Piecewise", "Hybrid", "Geometric", "Duchi", "Laplace"]
    shapes = {name: mark(name, 10, 10, "#123456") for name in [*names, "Laplace, clamped"]}
    assert {mark_of(name) for name in shapes} == {
        f"{kind}{shape}"
        for kind, shape in [("", "dot"), ("hollow ", "dot"), ("", "square"), ("hollow ", "square"), ("", "triangle"),
                            ("hollow ", "triangle"), ("", "down"), ("hollow ", "down"), ("", "diamond"),
                            ("hollow ", "diamond")]
    }  # fmt: skip
    assert len(set(shapes.values())) == 10


def test_intervals_are_bars_with_ends():
    line = Line("BRR", [1, 2], [0.5, 0.5], [0.4, math.nan], [0.6, math.nan])
    with_bars = panels([Panel("", [line])], across="", up="", says="x")
    without = panels([Panel("", [Line("BRR", [1, 2], [0.5, 0.5])])], across="", up="", says="x")
    bars = [each for each in drawn(with_bars, "line") if each.attrib.get("stroke") == line_of("BRR")["stroke"]]
    plain = [each for each in drawn(without, "line") if each.attrib.get("stroke") == line_of("BRR")["stroke"]]
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


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.25, "0.25"),
        (-2, "−2"),
        (2000, "2000"),
        (10_000, "10⁴"),
        (20_000, "20,000"),
        (100_000, "10⁵"),
        (2_500_000, "2.5·10⁶"),
    ],
)
def test_numbers_of_a_scale_are_short(value, written):
    assert _number(value) == written


def test_a_single_point_and_a_flat_line_have_a_scale():
    for line in (Line("BRR", [1], [0.0]), Line("BRR", [1, 2], [3, 3])):
        assert "NaN" not in panels([Panel("", [line])], across="", up="", says="x")


def test_many_names_wrap_into_rows():
    names = [f"a mechanism with a long name {number}" for number in range(8)]
    svg = panels([Panel("", [Line(name, [1, 2], [1, 2]) for name in names])], across="", up="", says="x")
    places = {element.text: element.attrib for element in drawn(svg, "text") if element.text in names}
    assert len({each["y"] for each in places.values()}) > 1
    assert all(float(each["x"]) + 6.9 * len(name) < 880 for name, each in places.items())


STAR = "#f5c400"


def stars(svg):
    return [corners(element)[0] for element in drawn(svg, "path") if element.attrib["fill"] == STAR]


def corners_of_words(svg, beginning):
    """The boxes of words, by the width that a letter of their size has."""
    found = [each for each in drawn(svg, "text") if (each.text or "").startswith(beginning)]
    return [
        (float(each.attrib["x"]), float(each.attrib["y"]) - 9, float(each.attrib["x"]) + 6.2 * len(each.text),
         float(each.attrib["y"]))
        for each in found
    ]  # fmt: skip


def test_a_printed_number_is_a_star_where_it_belongs_with_words_and_stands_in_the_key():
    line = Line("BRR", [1, 2, 3], [0.2, 0.4, 0.6])
    svg = panels([Panel("", [line], printed=[Printed(0.4, "40 %", 2)])], across="", up="", says="x")
    assert {"the paper: 40 %", "printed in the paper"} <= set(words(svg))
    in_key, in_panel = stars(svg)
    (point,) = [each for each in drawn(svg, "circle") if float(each.attrib["cx"]) == pytest.approx(in_panel[0])]
    assert float(point.attrib["cy"]) == pytest.approx(in_panel[1] + 6.5, abs=0.11)  # the upper corner of the star
    assert in_key[1] < 14
    without = panels([Panel("", [line])], across="", up="", says="x")
    assert stars(without) == [] and "printed in the paper" not in words(without)


def test_a_printed_mean_is_a_level():
    line = Line("BRR", [1, 2, 3], [0.2, 0.4, 0.6])
    svg = panels([Panel("", [line], printed=[Printed(0.3, "30 %")])], across="", up="", says="x")
    levels = [each for each in drawn(svg, "line") if each.attrib.get("stroke-dasharray") == "1 2"]
    assert len(levels) == 2  # and in the key
    assert float(levels[1].attrib["y1"]) == float(levels[1].attrib["y2"]) == pytest.approx(stars(svg)[1][1] + 6.5)


@pytest.mark.parametrize(("y", "x"), [(5.0, 2), (-5.0, 2), (0.5, 9)])
def test_a_printed_number_widens_its_panel(y, x):
    panel = Panel("", [Line("BRR", [1, 3], [0.2, 0.6])], lowest=0, highest=1, printed=[Printed(y, "?", x)])
    svg = panels([panel], across="", up="", says="x", columns=1)
    left, top = stars(svg)[1]
    frame = [float(each.attrib["y1"]) for each in drawn(svg, "line") if each.attrib.get("stroke-width") == "0.8"]
    assert 58 <= left <= 846 and 24 + 26 <= top + 6.5 <= frame[0]


def test_words_of_printed_numbers_cover_neither_each_other_nor_a_line():
    line = Line("BRR", [1, 2, 3], [0.5, 0.5, 0.5], marked=False)
    printed = [Printed(0.5, "one", 2), Printed(0.52, "two", 2.05), Printed(0.48, "three", 3)]
    svg = panels([Panel("", [line], lowest=0, highest=1, printed=printed)], across="", up="", says="x", columns=1)
    boxes = corners_of_words(svg, "the paper: ")
    assert len(boxes) == 3
    for at, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 58 and right <= 846
        level = float(of_width(svg, "2.6")[0][0][1])
        assert not top < level < bottom
        for other in boxes[:at]:
            assert left > other[2] or right < other[0] or top > other[3] or bottom < other[1]


def test_pairs_are_taken_seed_by_seed_and_a_line_may_look_like_another():
    ours = [{"seed": 0, "rmse": 2.0}, {"seed": 1, "rmse": 6.0}, {"seed": 2, "rmse": 1.0}]
    theirs = [{"seed": 0, "rmse": 1.0}, {"seed": 1, "rmse": 2.0}]
    line = Line.of_pairs("BRR over Laplace", {5.0: (ours, theirs), 6.0: (ours, [])}, "rmse", truediv, like="Laplace")
    assert (line.x, line.y) == ([5.0], [2.5])  # 2/1 and 6/2, not 8/3
    assert line.high[0] - 2.5 == pytest.approx(12.706 * 0.5, rel=1e-4)  # Student's t with one degree of freedom
    svg = panels([Panel("", [line, Line("BRR", [5], [1])])], across="", up="", says="x")
    assert line_of("Laplace")["stroke"] in {each.attrib["stroke"] for each in drawn(svg, "line")}
    assert words(svg).count("BRR over Laplace") == 1


def test_a_long_title_is_wrapped_within_its_panel():
    title = "superconductivity: critical temperature in kelvin, BRR over its rivals at every ε"
    svg = panels([Panel(title, [Line("BRR", [1, 2], [1, 2])]), Panel("short", [Line("BRR", [1, 2], [1, 2])])],
                 across="", up="", says="x")  # fmt: skip
    bold = [each for each in drawn(svg, "text") if each.attrib.get("font-weight") == "bold"]
    assert [each.text for each in bold][-1] == "short" and len(bold) > 2
    assert " ".join(each.text for each in bold[:-1]) == title
    assert all(float(each.attrib["x"]) + 7.6 * len(each.text) <= 422 for each in bold[:-1])
    assert len({each.attrib["y"] for each in bold[:-1]}) == len(bold) - 1


def test_an_index_stands_below():
    assert subscripted("λ", 10) == "λ₁₀"


def test_a_grid_has_its_squares_names_and_cut():
    rows = [("x = 1", [Square("0", dark=True), Square("1")], "2"), ("x = 2", [Square("0"), Square("1")], "1")]
    marks = {(0, 1): Square("▲", {"fill": "#000000"})}
    svg = grid(
        Grid(["a", "b"], rows, "value", "m", marks, cut=1),
        title="what it is",
        says="x",
        entries=[("dark", {"fill": "#123456"})],
        notes=["why"],
    )
    assert len(drawn(svg, "rect")) == 5
    assert {"what it is", "x = 1", "x = 2", "a", "b", "value", "m", "▲", "why", "dark"} <= set(words(svg))
    assert len([each for each in drawn(svg, "line") if each.attrib.get("stroke-width") == "3"]) == 1
