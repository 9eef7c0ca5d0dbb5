"""Panels and tables of squares: common axes, what is left out is said, one name has one line, rows become lines."""

import itertools
import math
import xml.etree.ElementTree as ET

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from bipartite.plots import figure as plotting
from bipartite.plots.looks import looks_of
from reproduction.pictures import Printed, Square, Squares, panels, squares, subscripted
from reproduction.pictures.looks import LOOKS
from reproduction.pictures.panels import Line, Panel, figure_of, short
from reproduction.pictures.squares import figure_of_squares
from reproduction.tests.reading import artist, check_words, texts, words

CARETS = {mpl.markers.CARETUP, mpl.markers.CARETDOWN}


@pytest.fixture(autouse=True)
def _close():
    yield
    mpl.pyplot.close("all")


def made(*drawn, **how):
    return figure_of(drawn, **{"across": "", "up": "", "says": "x", **how})


def one(*lines, lowest=None, highest=None, printed=(), **how):
    return made(Panel("title", lines, lowest, highest, printed), **how).axes[0]


def said(figure):
    return [each.get_text() for each in texts(figure)]


def arrows(ax):
    return [(x, y) for line in ax.lines if line.get_marker() in CARETS for x, y in zip(*line.get_data(), strict=True)]


def simple(**how):
    some = [Line("BRR", [1, 2, 3], [0.1, 0.2, 0.3]), Line("GRR", [1, 2, 3], [0.3, 0.3, 0.3])]
    return made(Panel("left", some), Panel("right", some), across="ε", up="loss", says="Two.", **how)


def test_a_name_stands_once_in_the_legend_and_titles_on_every_panel():
    figure = simple(notes=["a note"])
    found = said(figure)
    assert found.count("BRR") == found.count("GRR") == found.count("loss") == 1
    assert {"left", "right", "a note", "ε"} <= set(found)


ROWS = pd.DataFrame(
    [(points, name, epsilon, loss * epsilon)
     for points in (20, 40) for name, loss in (("BRR", 0.1), ("GRR", 0.3), ("one answer", 0.2)) for epsilon in (1, 2)],
    columns=["points", "mechanism", "epsilon", "loss"],
)  # fmt: skip
SEEDS = pd.DataFrame({"mechanism": "BRR", "epsilon": [1, 1, 2, 2], "loss": [1.0, 2.0, 4.0, 4.5]})


def of_rows(rows, **how):
    """The figure of tidy rows, whose SVG hides what is what."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plotting, "as_svg", lambda draw: draw())
        return panels(rows, **{"x": "epsilon", "y": "loss", "across": "ε", "up": "loss", "says": "x", **how})


def test_rows_become_the_same_svg_each_time_with_words_of_a_width_for_a_phone():
    how = {"x": "epsilon", "y": "loss", "facet": "points", "title": "N = {}", "across": "ε", "up": "loss"}
    svg, again = (panels(ROWS, **how, says="Two.", notes=["a note"]) for _ in range(2))
    assert svg == again
    drawn = ET.fromstring(svg)
    assert drawn.attrib["aria-label"] == "Two. N = 20. N = 40."
    assert float(drawn.attrib["viewBox"].split()[2]) == pytest.approx(5.2 * 72)  # inches
    assert all(f" {word} " in f" {words(svg)} " for word in ("N = 20", "N = 40", "BRR", "GRR", "ε", "a note"))


def test_a_panel_for_each_facet_has_a_line_for_each_name_in_the_order_of_rows():
    star = Printed(0.15, "15 %", 1)
    figure = of_rows(
        ROWS[::-1], facet="points", titles={20: "few", 40: "many"}, levels={"limit": [0.5, 0.6]}, flat={"one answer"},
        dots={"GRR"}, bare={"BRR"}, like={"GRR": "Laplace"}, lowest=0, highest=lambda own: own["loss"].max() + 0.4,
        printed={20: [star]},
    )  # fmt: skip
    many, few = figure.axes
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["many", "few"]
    labels = ["one answer", "points of GRR", "BRR", "limit", "limit"]
    assert [line.get_label() for line in many.lines] == labels
    assert [line.get_label() for line in few.lines] == [*labels, "the paper: 15 %"]
    assert sorted(zip(*artist(many, "BRR").get_data(), strict=True)) == [(1, 0.1), (2, 0.2)]
    (level, *_) = many.lines  # the mean of its rows, as wide as the others
    assert list(level.get_xdata()) == [1, 2] and list(level.get_ydata()) == pytest.approx([0.3, 0.3])
    assert [list(line.get_ydata()) for line in many.lines[-2:]] == [[0.5, 0.5], [0.6, 0.6]]
    assert artist(many, "points of GRR").get_color() == LOOKS["Laplace"].color
    assert many.get_ylim() == pytest.approx((0, 1))
    steps, named = of_rows(ROWS, facet="points", steps=True), of_rows(ROWS, facet="points", ends=True)
    assert artist(steps.axes[0], "BRR").get_drawstyle() == "steps-mid"
    assert not any(line.get_label().startswith("points") for line in steps.axes[0].lines)
    assert said(named).count("BRR") == 2 and not named.legends[0].get_texts()


def test_seeds_become_a_mean_with_its_interval_cut_where_no_value_can_be():
    ax = of_rows(SEEDS, within=(0, 5)).axes[0]
    assert list(artist(ax, "BRR").get_ydata()) == [1.5, 4.25]
    half = 12.7062  # Student's t with one degree of freedom; of two values the deviation over √2 is half their distance
    ends = [[y for _, y in segment] for segment in ax.collections[0].get_segments()]
    assert ends == [pytest.approx([max(0, 1.5 - half / 2), 5]), pytest.approx([4.25 - half / 4, 5], rel=1e-4)]
    assert not of_rows(SEEDS[::2]).axes[0].collections
    own = SEEDS[::2].assign(low=[0.5, math.nan], high=[1.5, math.nan])
    ends = of_rows(own, between=("low", "high")).axes[0].collections[0].get_segments()
    assert [[y for _, y in segment] for segment in ends] == [pytest.approx([0.5, 1.5])]


def test_panels_share_their_axes_unless_units_differ():
    drawn = [Panel("a", [Line("BRR", [1, 2], [0, 1])]), Panel("b", [Line("BRR", [3, 9], [5, 7])], lowest=-3)]
    left, right = made(*drawn).axes
    assert left.get_xlim() == right.get_xlim() and left.get_ylim() == right.get_ylim()
    assert left.get_xlim() == pytest.approx((0.6, 9.4)) and left.get_ylim() == pytest.approx((-3, 7.5))
    left, right = made(*drawn, share_y=False, share_x=False).axes
    assert right.get_xlim() == pytest.approx((2.7, 9.3)) and left.get_ylim() == pytest.approx((-0.05, 1.05))


def test_every_column_ends_with_its_axis():
    some = [Panel(str(at), [Line("BRR", [1, 2], [0, 1])]) for at in range(3)]
    *axes, spare = made(*some, across="ε", up="loss").axes
    assert [ax.get_xlabel() for ax in axes] == ["", "ε", "ε"] and not spare.get_visible()
    assert [ax.get_ylabel() for ax in axes] == ["loss", "", "loss"]
    numbers = [any(tick.label1.get_visible() for tick in ax.xaxis.get_major_ticks()) for ax in axes]
    assert numbers == [False, True, True]


def test_one_mechanism_has_one_line_everywhere_and_others_get_spare_ones():
    looks = looks_of(["BRR", "unknown", "another"], LOOKS)
    assert looks["unknown"] != looks["another"]
    assert looks["unknown"].dashes != looks["another"].dashes  # in grey too
    for ax in simple().axes:
        assert to_hex(artist(ax, "BRR").get_color()).upper() == LOOKS["BRR"].color
        assert artist(ax, "GRR").is_dashed() and not artist(ax, "BRR").is_dashed()


def test_gaps_break_a_line_and_the_edge_cuts_it():
    ax = one(Line("BRR", [1, 2, 3, 4, 5], [0.1, 0.2, math.nan, 0.5, 1.5]), lowest=0, highest=1)
    line = artist(ax, "BRR")
    assert line.get_clip_on() and math.isnan(line.get_ydata()[2])
    assert list(artist(ax, "points of BRR").get_xdata()) == [1, 2, 4]  # no gap, and none beyond
    assert arrows(ax) == [(5, 1.0)]


def test_what_lies_beyond_is_said_in_numbers():
    ax = one(Line("Laplace", [1, 2, 3, 4, 5], [30.0, 9.474, 0.5, -0.25, 0.5]), lowest=0, highest=1)
    assert {"↑ Laplace: 9.47 to 30", "↓ Laplace: −0.25"} <= set(said(ax.figure))
    assert sorted(arrows(ax)) == [(1, 1.0), (2, 1.0), (4, 0.0)]
    inside = one(Line("Laplace", [1, 2], [0.0, 1.0]), lowest=0, highest=1)
    assert arrows(inside) == [] and not any("Laplace:" in each for each in said(inside.figure))


def test_a_line_wholly_beyond_leaves_arrows_and_its_numbers():
    some = [Line("BRR", [1, 2, 3], [0.1, 0.11, 0.12]), Line("GRR", [1, 2, 3], [0.6, 0.7, 0.8])]
    ax = one(*some, lowest=0.5, highest=1)
    assert len(arrows(ax)) == 3 and "↓ BRR: 0.1 to 0.12" in said(ax.figure)


def test_an_interval_that_goes_on_has_an_arrow():
    ax = one(Line("BRR", [1, 2], [0.5, 0.5], [0.4, 0.4], [0.6, 3.0]), lowest=0, highest=1)
    assert arrows(ax) == [(2, 1.0)]
    assert "BRR:" not in " ".join(said(ax.figure))  # its point is inside


def test_intervals_of_several_lines_stand_side_by_side():
    ax = one(*(Line(name, [1, 2], [0.5, 0.5], [0.4, 0.4], [0.6, 0.6]) for name in ("BRR", "GRR", "Laplace")))
    lines = [artist(ax, name) for name in ("BRR", "GRR", "Laplace")]
    at = [line.get_transform().transform((1, 0.5))[0] * 72 / ax.figure.dpi for line in lines]
    assert [b - a for a, b in itertools.pairwise(at)] == pytest.approx([1.6, 1.6])


def test_points_on_another_line_are_not_joined_and_a_line_is_named_at_its_end():
    some = [Line("limit", [1, 2], [1, 2], marked=False, end="the end"), Line("BRR", [1, 2], [1, 2], joined=False)]
    ax = one(*some)
    assert {line.get_label() for line in ax.lines} == {"limit", "points of BRR"}
    assert said(ax.figure).count("the end") == 1 and "limit" not in said(ax.figure)
    (sample,) = ax.figure.legends[0].get_lines()
    assert sample.get_linestyle() == "None" and sample.get_marker() == "o"


def test_a_line_without_points_leaves_the_others_as_they_are():
    check_words(one(Line("BRR", [], [], [], []), Line("GRR", [1, 2], [1, 2])).figure)


@pytest.mark.parametrize("names", [
    ("BRR", "GRR", "Anchored", "Exponential", "Exponential, tight", "always the middle", "BRR, best m"),
    ("BRR", "GRR", "L-SRR as published", "L-SRR calibrated", "Exponential, tight", "Anchored", "one place"),
    ("BRR", "Laplace", "Laplace, clamped", "no privacy", "always the middle", "the mean (no privacy)"),
    ("BRR", "Laplace, clamped", "Geometric", "Anchored", "always the middle"),
    ("Gaussian, central", "Laplace, central", "BRR, padded", "Piecewise", "Hybrid", "Duchi", "no privacy"),
    ("BRR-SGD as described", "Laplace on the sum, as described", "Laplace on the mean", "Gaussian, central"),
    ("BRR", "Anchored", "Laplace", "Piecewise", "no privacy", "majority class"),
])  # fmt: skip
def test_lines_of_one_picture_differ_in_grey(names):
    # Colour alone tells nothing in print: with the same lightness, dashes or the shape of points must differ.
    def grey(look):
        red, green, blue = (int(look.color[at : at + 2], 16) for at in (1, 3, 5))
        return round((0.299 * red + 0.587 * green + 0.114 * blue) / 40)

    looks = looks_of(names, LOOKS).values()
    assert len({(grey(look), look.dashes, look.marker, look.hollow) for look in looks}) == len(names)


def test_levels_and_long_lines_are_not_marked():
    for line in (Line("limit", [1, 2], [1, 2], marked=False), Line("limit", range(40), range(40))):
        assert [each.get_label() for each in one(line).lines] == ["limit"]


@pytest.mark.parametrize("log_x", [False, True])
@pytest.mark.parametrize("log_y", [False, True])
def test_scales_have_short_numbers(log_x, log_y):
    line = Line("BRR", [1, 10, 1000, 100_000], [0.01, 0.1, 0.5, 1.0])
    ax = one(line, log_x=log_x, log_y=log_y)
    assert (ax.get_xscale(), ax.get_yscale()) == tuple("log" if each else "linear" for each in (log_x, log_y))
    ax.figure.canvas.draw()
    assert ("10⁵" in [each.get_text() for each in ax.get_xticklabels()]) == log_x
    assert ("0.01" in [each.get_text() for each in ax.get_yticklabels()]) == log_y


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
    assert short(value) == written


@pytest.mark.parametrize("line", [Line("BRR", [1], [0.0]), Line("BRR", [1, 2], [3, 3])], ids=["point", "flat"])
def test_a_single_point_and_a_flat_line_have_a_scale(line):
    ax = one(line)
    for low, high in (ax.get_xlim(), ax.get_ylim()):
        assert low < high


def test_many_names_and_long_titles_stay_in_the_picture_and_cover_nothing():
    names = [f"a mechanism with a long name {number}" for number in range(8)]
    title = "superconductivity: critical temperature in kelvin, BRR over its rivals at every ε = 1"
    lines = [Line(name, [1, 2], [9, 2]) for name in names]
    figure = made(Panel(title, lines, highest=5, printed=[Printed(3, "44 %", 2)]), Panel("b", lines),
                  across="ε", up="a long label of the vertical axis", notes=["a note of a few words"])  # fmt: skip
    assert "ε = 1" in figure.axes[0].get_title(loc="left").splitlines()[-1]
    assert " ".join(figure.axes[0].get_title(loc="left").split()) == title
    check_words(figure)


def test_words_beyond_a_picture_or_on_others_are_noticed():
    figure = simple()
    figure.axes[0].text(2, 0.2, "one word")
    figure.axes[0].text(2, 0.2, "other")
    with pytest.raises(AssertionError):
        check_words(figure)
    figure = simple()
    figure.text(0.9, 0.5, "far too long")
    with pytest.raises(AssertionError):
        check_words(figure)


def test_a_printed_number_is_a_star_where_it_belongs_with_words_and_stands_in_the_legend():
    line = Line("BRR", [1, 2, 3], [0.2, 0.4, 0.6])
    ax = one(line, printed=[Printed(0.4, "40 %", 2)])
    assert {"★ the paper: 40 %", "printed in the paper"} <= set(said(ax.figure))
    star = artist(ax, "the paper: 40 %")
    assert star.get_marker() == "*" and not star.get_clip_on()
    assert list(map(list, star.get_data())) == [[2], [0.4]]
    assert "printed in the paper" not in said(one(line).figure)


def test_a_printed_mean_is_a_level():
    ax = one(Line("BRR", [1, 2, 3], [0.2, 0.4, 0.6]), printed=[Printed(0.3, "30 %")])
    (level,) = [line for line in ax.lines if line.get_linestyle() == ":" or list(line.get_xdata()) == [0, 1]]
    assert list(level.get_ydata()) == [0.3, 0.3]
    assert list(artist(ax, "the paper: 30 %").get_data()[0]) == pytest.approx([2])


@pytest.mark.parametrize(("y", "x"), [(5.0, 2), (-5.0, 2), (0.5, 9)])
def test_a_printed_number_widens_its_panel(y, x):
    ax = one(Line("BRR", [1, 3], [0.2, 0.6]), lowest=0, highest=1, printed=[Printed(y, "?", x)])
    assert ax.get_xlim()[0] < x < ax.get_xlim()[1] and ax.get_ylim()[0] < y < ax.get_ylim()[1]
    assert ax.get_ylim()[0] <= 0 and ax.get_ylim()[1] >= 1


def test_an_index_stands_below():
    assert subscripted("λ", 10) == "λ₁₀"


def test_a_table_has_its_squares_names_and_cut():
    rows = [
        ("x = 1", [Square("0", "#123456", dark=True), Square("1")], "2"),
        ("x = 2", [Square("0"), Square("1")], "1"),
    ]
    drawn = Squares(["a", "b"], rows, "value", "m", {(0, 1): ("▲", "#000000")}, cut=1)
    how = {"title": "what it is", "says": "x", "entries": {"dark": "#123456"}, "notes": ["why"]}
    figure = figure_of_squares(drawn, **how)
    (ax,) = figure.axes
    filled = [to_hex(each.get_facecolor()) for each in ax.patches if isinstance(each, Rectangle)]
    assert filled == ["#123456", "#ffffff", "#ffffff", "#ffffff"]
    assert [list(line.get_xdata()) for line in ax.lines] == [[1, 1]]
    found = said(figure)
    assert {"a", "b", "x = 1", "x = 2", "value", "m", "▲", "what it is", "dark", "why", "2"} <= set(found)
    (white,) = [each for each in ax.texts if each.get_weight() == "bold" and each.get_text() == "0"]
    assert to_hex(white.get_color()) == "#ffffff"
    check_words(figure)
    assert 'aria-label="what it is. x"' in squares(drawn, **how)
