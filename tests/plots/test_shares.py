"""Bars, curves, clocks, rows and tables: shares, intervals and marks stand where the numbers say."""

import itertools
import math

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import QuadMesh

import bipartite as bp
from bipartite.errors import InputError
from bipartite.plots.chances import plot_chances
from bipartite.plots.figure import as_svg, axes
from bipartite.plots.forest import forest
from bipartite.plots.looks import BLUE, PALE
from bipartite.plots.named import curves
from bipartite.plots.pairs import plot_pairs
from bipartite.plots.shares import (
    NOT_APART,
    Bars,
    DrawnShares,
    around,
    shares_by_name,
    shares_on_a_clock,
    shares_on_a_line,
)
from bipartite.plots.whiskers import Mark, say, shortened
from tests.plots.artists import bars, heights, legend, line, whiskers, words


def shares_of(share, error=0.05, guessed=(), **more):
    share = np.asarray(share, dtype=float)
    edges = np.arange(len(share) + 1) - 0.5
    flags = np.isin(np.arange(len(share)), guessed)
    ends = np.where(flags, np.nan, share - error), np.where(flags, np.nan, share + error)
    return DrawnShares(Bars(edges[:-1], edges[1:], share, *ends), "95 % interval", edges, flags, **more)


def on_a_line(drawn):
    with axes(None) as ax:
        shares_on_a_line(ax, drawn)
    return ax


def on_a_clock(drawn, names=None):
    with axes(None, polar=True) as ax:
        shares_on_a_clock(ax, drawn, names or [str(at) for at in range(len(drawn.guessed))])
    return ax


def test_bars_and_whiskers_have_the_heights_of_their_shares_below_zero_too():
    share = np.array([0.6, -0.2, 0.3, 0.3])
    ax = on_a_line(shares_of(share))
    assert [each.get_height() for each in bars(ax)] == pytest.approx(share)
    assert [each.get_x() + each.get_width() / 2 for each in bars(ax)] == pytest.approx(range(4))
    for at, ((x, low), (_, high)) in enumerate(whiskers(ax)):
        assert (x, low, high) == pytest.approx((at, share[at] - 0.05, share[at] + 0.05))
    assert ax.get_ylim()[0] < -0.25 and "−20 %" in words(ax)
    assert legend(ax) == ["estimated share", "95 % interval"]
    (zero,) = [each for each in ax.lines if np.array_equal(each.get_ydata(), [0, 0])]
    assert zero.get_xdata() == [0, 1]  # across all of it
    assert on_a_line(shares_of([0.5, 0.5])).get_ylim()[0] == 0


def test_what_cannot_be_told_apart_is_hatched_and_has_no_whisker():
    ax = on_a_line(shares_of(np.full(6, 1 / 6), guessed=[0, 1, 5]))
    assert len(whiskers(ax)) == 3 and NOT_APART in legend(ax)
    spans = [each for each in ax.patches if each.get_label() == NOT_APART]
    assert [(each.get_x(), each.get_x() + each.get_width()) for each in spans] == [(-0.5, 1.5), (4.5, 5.5)]
    assert all(each.get_hatch() == "////" for each in spans)
    assert len(bars(ax, "estimated share")) == 3
    clock = on_a_clock(shares_of(np.full(6, 1 / 6), guessed=[0, 1, 5]))
    assert len(whiskers(clock)) == 3 and NOT_APART in legend(clock)


def test_the_bars_of_ranges_carry_whiskers_and_the_curve_runs_over_them():
    edges, curve = np.arange(7) - 0.5, np.array([0.1, 0.3, 0.2, 0.2, 0.1, 0.1])
    ranges = Bars(
        np.array([-0.5, 2.5]), np.array([2.5, 5.5]), np.array([0.2, 0.4 / 3]), *np.array([[0.1, 0], [0.3, 1]])
    )
    guessed = np.arange(6) >= 4
    ax = on_a_line(DrawnShares(ranges, "90 % interval", edges, guessed, curve, np.full(6, 1 / 6)))
    assert legend(ax) == [
        "average share in each range",
        "90 % interval",
        NOT_APART,
        "share of each value",
        "true share",
    ]
    assert [each.get_height() for each in bars(ax)] == pytest.approx([0.2, 0.4 / 3])
    np.testing.assert_allclose(whiskers(ax), [[(1, 0.1), (1, 0.3)], [(4, 0), (4, 1)]], atol=1e-12)
    assert heights(ax, "share of each value", [0, 1, 2, 3]) == curve[:4].tolist()
    assert heights(ax, "_guess", [4, 5]) == [0.1, 0.1] and line(ax, "_guess").get_linestyle() == "--"
    assert heights(ax, "true share", range(6)) == [1 / 6] * 6
    dots = line(ax, "_share")
    assert (dots.get_xdata().tolist(), dots.get_ydata().tolist()) == ([1, 4], [0.2, 0.4 / 3])


@pytest.mark.parametrize(
    ("low", "high", "aside", "above"),
    [(2, 4, "left", "center"), (90, 97, "right", "center"), (1, 98, "center", "bottom")],
)
def test_marks_stand_near_the_top_with_words_where_there_is_room(low, high, aside, above):
    mark = Mark("mean", (low + high) / 2, low, high, "somewhere here, with words beside it")
    ax = on_a_line(shares_of(np.full(100, 0.01), marks=[mark]))
    whisker = line(ax, "_mean")
    assert list(whisker.get_xdata()) == [low, high] and whisker.get_ydata()[0] > 0.8
    dots = [each.get_xdata()[0] for each in ax.lines if each.get_marker() == "o"]
    assert dots == [mark.value]
    (said,) = [each for each in ax.texts if each.get_text() == mark.said]
    assert (said.get_ha(), said.get_va()) == (aside, above)
    # The words stay within the figure, and nothing but marks is that high.
    ax.figure.draw_without_rendering()
    box, whole = said.get_window_extent(), ax.figure.bbox
    assert whole.x0 <= box.x0 and box.x1 <= whole.x1
    assert 0.8 * ax.get_ylim()[1] > 0.06


def test_a_mark_beyond_all_values_has_no_dot_and_stays_within_the_axes():
    marks = [Mark("mean", -30, -30, 4, "−30, −30 to 4"), Mark("median", 3, 0, 9, "unknown", known=False)]
    ax = on_a_line(shares_of(np.full(10, 0.1), marks=marks))
    assert not [each for each in ax.lines if each.get_marker() == "o"]
    assert list(line(ax, "_mean").get_xdata()) == [-0.5, 4] and {"mean −30, −30 to 4", "median: unknown"} <= set(
        words(ax)
    )


def test_a_clock_begins_at_the_top_and_goes_round():
    share = np.linspace(0.01, 0.08, 24)
    mark = Mark("circular mean", 23.5, 22.5, 0.5, "23.5, 22.5 to 0.5")
    length = Mark("resultant length", 0.5, 0.4, 0.6, "0.5")
    ax = on_a_clock(shares_of(share, 0.01, marks=[mark, length]))
    assert (ax.get_theta_offset(), ax.get_theta_direction()) == (math.pi / 2, -1)
    assert [each.get_height() for each in bars(ax)] == pytest.approx(share)
    middles = [(each.get_x() + each.get_width() / 2) / (2 * math.pi) * 24 for each in bars(ax)]
    assert middles == pytest.approx(range(24))
    arc = line(ax, mark.said).get_xdata() / (2 * math.pi) * 24
    assert (arc[0], arc[-1]) == pytest.approx((22.5, 24.5)) and legend(ax)[-2:] == [mark.said, length.said]
    assert [each.get_text() for each in ax.get_xticklabels()] == [str(each) for each in range(24)]
    unknown = on_a_clock(shares_of(share, marks=[mark._replace(known=False, words="the direction is not determined")]))
    assert not len(line(unknown, "circular mean: the direction is not determined").get_xdata())


def test_names_around_a_clock_are_few_and_stand_outside():
    ax = on_a_clock(shares_of(np.full(360, 1 / 360)))
    assert len(ax.get_xticklabels()) == 24
    aligned = [each.label1.get_ha() for each in on_a_clock(shares_of(np.full(4, 0.25))).xaxis.get_major_ticks()]
    assert aligned == ["center", "left", "center", "right"]


def test_shares_below_zero_reach_into_a_clock():
    ax = on_a_clock(shares_of([0.5, -0.1, 0.3, 0.3], truth=np.full(4, 0.25)))
    assert ax.get_ylim()[0] == pytest.approx(-0.15) and ax.get_rorigin() < -0.15
    assert min(each.get_height() for each in bars(ax)) == -0.1
    assert set(line(ax, "true share").get_ydata()) == {0.25}


def test_a_step_curve_around_a_clock_is_closed_and_has_every_value():
    angles, radii = around(np.array([1.0, 2.0, 3.0]))
    turns = angles / (2 * math.pi) * 3
    for value in range(3):
        inside = (turns > value - 0.49) & (turns < value + 0.49)
        assert set(radii[inside]) == {value + 1.0}
    assert (turns[0], turns[-1]) == pytest.approx((-0.5, 2.5)) and radii[0] == radii[-1]
    assert len(angles) > 100  # matplotlib would draw chords


def test_names_have_a_row_each_in_the_order_given():
    share = np.array([0.7, 0.4, -0.1])
    low, high = np.array([0.6, np.nan, -0.3]), np.array([0.8, np.nan, 0.1])
    with axes(None) as ax:
        how = {"sure": "95 % interval", "guessed": np.array([False, True, False]), "words": ["70 %", "40 %", "−10 %"]}
        shares_by_name(ax, ["a$b$", "x" * 60, "c"], (share, low, high), truth=np.array([0.5, 0.5, 0]), **how)
    assert [each.get_width() for each in bars(ax, "estimated share")] == [0.7, -0.1]
    assert [each.get_width() for each in bars(ax, NOT_APART)] == [0.4]
    assert [tuple(map(tuple, each)) for each in whiskers(ax)] == [
        (pytest.approx((0.6, 0)), pytest.approx((0.8, 0))),
        (pytest.approx((-0.3, -2)), pytest.approx((0.1, -2))),
    ]
    assert list(line(ax, "true share").get_xdata()) == [0.5, 0.5, 0]
    assert legend(ax) == ["estimated share", NOT_APART, "95 % interval", "true share"]
    assert {"a$b$", "x" * 25 + "…", "c", "70 %", "−10 %"} <= set(words(ax))
    assert ax.get_xlim()[0] < -0.3


def test_groups_stand_below_each_other_on_one_axis():
    rows = [Mark("a", 2, 1, 3, "2, 1 to 3"), Mark("b$", 5, 4, 6, "5, 4 to 6"), Mark("c", 0, 0, 7, "open", known=False)]
    with axes(None) as ax:
        said = forest(ax, [("mean", rows), ("median", [Mark("a", 1, 1, 1, "1")])], "stars", say)
    dots = [each.get_xdata()[0] for each in ax.lines if each.get_marker() == "o"]
    assert dots == [2, 5, 1]  # none for what is open
    assert [each[:, 0].tolist() for each in whiskers(ax)] == [[1, 3], [4, 6], [0, 7], [1, 1]]
    assert {"mean", "median", "a", "b$", "c", "open", "stars"} <= set(words(ax))
    heights = [each.get_position()[1] for each in ax.texts if each.get_text() in {"mean", "median"}]
    assert heights[0] > ax.get_yticks()[2] > heights[1] > ax.get_yticks()[3]
    assert said == "mean: a 2, 1 to 3; b$ 5, 4 to 6; c open. median: a 1."
    with axes(None) as ax:
        assert forest(ax, [("mean", [Mark("a", np.inf, -np.inf, np.inf, "?", known=False)])], "x", say) == "mean: a ?."


def test_a_table_of_pairs_is_dark_where_people_are_and_says_shares_where_they_fit():
    shares = np.array([[0.1, 0.1, 0.1], [0.1, 0.4, 0.2]])
    names = ["young", "old"], ["jazz", "blues", "metal"]
    ax = plot_pairs(shares, names, ("age", "genre"), at=(1, 1), title="Music", notes=["So it is."])
    (mesh,) = [each for each in ax.collections if isinstance(each, QuadMesh)]
    assert mesh.get_array().T.tolist() == shares.tolist() and mesh.get_clim() == (0, 0.4)
    assert {"young", "old", "jazz", "blues", "metal", "age", "genre", "So it is.", "40 %", "Music"} <= set(words(ax))
    placed = {each.get_position(): each.get_text() for each in ax.texts}
    assert placed[1.5, 1.5] == "40 %" and placed[1.5, 2.5] == "20 %" and len(placed) == 6
    assert {each.get_xy() for each in ax.patches} == {(1, 1)}
    assert ax.get_label() == (
        "Music. Shares of 6 pairs of age and genre; the largest, at old and blues, is 40 %. So it is."
    )
    many = np.full((100, 50), 1 / 5000)
    names = tuple([str(at) for at in range(size)] for size in many.shape)
    ax = plot_pairs(many, names, ("first", "second"), notes=["So it is."])
    assert "So it is." in words(ax)
    assert not ax.texts and len(ax.figure.axes) == 2  # a scale of colours instead
    assert len(ax.get_xticks()) <= 12 and len(ax.get_yticks()) <= 25


AGES = bp.Integers(18, 90)


def test_chances_have_the_heights_of_the_matrix():
    ax = plot_chances(bp.BRR(AGES, 1), 40, others=[bp.GRR(AGES, 1)], title="A report", label="reported age")
    e = math.e
    near, far = (bars(ax, label) for label in ("BRR, nearest 27: 2.3 % each", "BRR, all others: 0.84 % each"))
    assert [each.get_height() for each in near] == pytest.approx([e / (27 * e + 46)] * 27)
    assert [each.get_height() for each in far] == pytest.approx([1 / (27 * e + 46)] * 46)
    assert sorted(round(each.get_x() + each.get_width() / 2) for each in near) == list(range(27, 54))
    assert near[0].get_facecolor() != far[0].get_facecolor()
    other = line(ax, "GRR, 40: 3.6 %; any other: 1.3 %")
    values, edges, _ = other.get_data()
    assert values.max() == pytest.approx(e / (e + 72)) and edges[np.argmax(values)] == 39.5
    assert other.get_linestyle() == "--"  # told apart without colour
    assert {"true value: 40", "reported age", "probability of this report", "A report"} <= set(words(ax))
    assert ax.get_label() == (
        "A report. The probability of each report of 40: BRR, nearest 27: 2.3 % each; BRR, all others: 0.84 % each; "
        "GRR, 40: 3.6 %; any other: 1.3 %."
    )


def test_near_and_far_are_told_apart_without_colour():
    def lightness(colour):
        return sum(weight * int(colour[at : at + 2], 16) for weight, at in ((0.3, 1), (0.59, 3), (0.11, 5)))

    assert lightness(PALE) - lightness(BLUE) > 60


def test_outputs_beyond_the_values_and_several_levels_are_drawn():
    padded = bp.BRR(AGES, 1, edges="padded")
    ax = plot_chances(padded, 20, others=[bp.Geometric(AGES, 8)])
    assert ax.get_xlim() == (float(padded.outputs.low) - 0.5, float(padded.outputs.high) + 0.5)
    assert len(bars(ax)) == len(padded.outputs)
    row = bp.Geometric(AGES, 8).matrix()[2]
    (other,) = [each for each in legend(ax) if each.startswith("Geometric")]
    assert other == f"Geometric: up to {100 * row.max():.0f} %; down to < 0.01 %"


def test_a_window_goes_past_the_top_of_a_clock():
    hours = bp.Cyclic(24)
    ax = plot_chances(bp.BRR(hours, 1), 23, others=[bp.GRR(hours, 1)], label="hour")
    near = bars(ax, "BRR, nearest 9: 6.9 % each")
    turns = sorted(round((each.get_x() + each.get_width() / 2) / (2 * math.pi) * 24) for each in near)
    assert turns == [0, 1, 2, 3, 19, 20, 21, 22, 23] and len(bars(ax)) == 24
    assert {"true value: 23", "around: hour; outward: probability of this report"} <= set(words(ax))
    with pytest.raises(InputError, match=r"a mechanism with reports on a line or a circle.*; use \.matrix\(\)"):
        plot_chances(bp.GRR(bp.Items(["a", "b"]), 1), "a")


def test_long_names_are_shortened_and_escaped():
    assert shortened("a\nb") == "a\\nb" and len(shortened("x" * 99)) == 26


def test_two_mechanisms_of_one_kind_have_a_row_each():
    ages = bp.Integers(0, 20)
    ax = plot_chances(bp.BRR(ages, 1), 5, others=[bp.BRR(ages, 3)])
    assert max(each.get_height() for each in bars(ax)) == bp.BRR(ages, 1).matrix()[5].max()
    assert sum("epsilon=3" in each for each in legend(ax)) == 1
    with pytest.raises(InputError, match=r"Expected a mechanism with reports on a line or a circle, got OUE"):
        plot_chances(bp.OUE(ages, 1), 5)


def test_a_true_value_with_dollar_signs_is_no_formula():
    hours = bp.Cyclic(3, labels=["$a_1$", "b", "c"])
    assert ">true value: $a_1$</text>" in as_svg(lambda: plot_chances(bp.GRR(hours, 1), "$a_1$"))


@pytest.mark.parametrize(("low", "high", "some"), [(10**9, 10**9 + 10, "1,000,000,002"), (999_990, 10**6, "1,000,000")])
def test_large_values_are_told_apart_on_their_axis(low, high, some):
    ages = bp.GRR(bp.Integers(low, high), 1)
    ticks = [each.get_text() for each in plot_chances(ages, low).get_xticklabels()]
    assert len(set(ticks)) == len(ticks) and some in ticks


def test_ticks_do_not_run_into_each_other():
    ax = plot_chances(bp.GRR(bp.Interval(0, 12.34567, points=11), 1), 0)
    ax.figure.draw_without_rendering()
    boxes = [each.get_window_extent() for each in ax.get_xticklabels() if each.get_text()]
    assert not any(left.overlaps(right) for left, right in itertools.pairwise(boxes))


def test_names_of_curves_stay_beside_the_axes():
    ax = plt.subplots()[1]
    curves(ax, [1, 2], {f"name {at}": [1.0, at / 1e6] for at in range(15)})
    places = [each.xyann[1] for each in ax.texts]
    assert min(places) >= 0 and max(places) <= 1 and places == sorted(places)
