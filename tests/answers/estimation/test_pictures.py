"""``plot`` of estimates: the picture that fits, with what must be known about it written below."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

import bipartite as bp
from bipartite.answers.estimation.wording import share_words
from bipartite.errors import InputError, OutsideDomainError
from bipartite.plots.figure import as_svg
from bipartite.plots.shares import NOT_APART
from tests.plots.artists import bars, heights, legend, line, whiskers, words

AGES = bp.Integers(18, 90)
PADDED = bp.BRR(AGES, 1, edges="padded")


def estimated(mechanism, values, seed=1, **how):
    return bp.estimate(mechanism, mechanism.privatize(values, rng=bp.insecure_seed(seed)), **how)


@pytest.fixture(scope="module")
def ages():
    return estimated(PADDED, [30] * 6000 + [50] * 4000)


def test_a_fitted_curve_has_the_mean_the_median_and_notes(ages):
    ax = ages.plot(title="Readers", label="age", unit="years")
    shown = words(ax)
    low, high = ages.ask().ci()
    digits = 1 if high - low > 1 else 2
    assert any(each.startswith(f"mean {ages.mean:.{digits}f}, {low:.{digits}f} to {high:.{digits}f}") for each in shown)
    assert any(each.startswith(f"median {ages.median:.0f}, ") for each in shown)
    assert line(ax, "_mean").get_xdata().tolist() == pytest.approx([low, high])
    counted = "10,000 reports; intervals for the population they were sampled from"
    assert any(each.startswith(f"{counted}; histogram method '{ages.method}'") for each in shown)
    assert {"Readers", "age (years)", "share of people at each value"} <= set(shown)
    assert "80 % interval" in legend(ages.plot(confidence=0.8))
    with pytest.raises(InputError, match="Expected confidence between 0 and 1"):
        ages.plot(confidence=2)


def test_the_bars_of_ten_ranges_are_those_of_the_frame_and_the_curve_has_their_shares(ages):
    ax, frame = ages.plot(), ages.to_frame(bins=10)
    sizes = frame["last"] - frame["first"] + 1
    assert [each.get_height() for each in bars(ax)] == pytest.approx((frame["share"] / sizes).tolist())
    found = np.array([[low[1], high[1]] for low, high in whiskers(ax)])
    np.testing.assert_allclose(found, frame[["low", "high"]].to_numpy() / sizes.to_numpy()[:, None], atol=1e-12)
    # Each whisker stands over its range, and curve and bars have the same area there: they belong together.
    curve = np.array(heights(ax, "share of each value", range(18, 91)))
    assert curve.tolist() == ages.shares.tolist()
    for (x, _), (first, last, share) in zip(
        [each[0] for each in whiskers(ax)], frame[["first", "last", "share"]].to_numpy(), strict=True
    ):
        assert x == (first + last) / 2
        assert curve[int(first) - 18 : int(last) - 17].sum() == pytest.approx(share, abs=1e-9)
    for row in frame.itertuples():
        name = f"{row.first:g} to {row.last:g}"
        assert f" {name}: {share_words(row.share, row.low, row.high)}." in ax.get_label()


@pytest.mark.parametrize("bins", [[30, 50], iter([30, 50])])
def test_nothing_is_finer_than_the_ranges_that_are_asked_for(ages, bins):
    truth = np.array([30] * 6 + [50] * 4)
    ax = ages.plot(bins=bins, truth=truth)
    assert len(bars(ax)) == 3 and "share of each value" not in legend(ax)
    assert bars(ax)[0].get_x() > 17.5 and [round(each[0][0], 1) for each in whiskers(ax)] == [23.5, 39.5, 70]
    shares = heights(ax, "true share", range(18, 91))
    assert np.unique(shares).tolist() == pytest.approx([0, 0.4 / 41, 0.6 / 20])


def test_clamped_reports_are_hatched_where_nothing_is_known():
    est = estimated(bp.BRR(AGES, 1), [20] * 500 + [50] * 500)
    assert np.isinf(est.ask(("bin", 18)).se) and np.isfinite(est.ask(("bin", 48)).se)
    ax = est.plot()
    spans = [each for each in ax.patches if each.get_label() == NOT_APART]
    assert [(each.get_x(), each.get_x() + each.get_width()) for each in spans] == [(17.5, 31.5), (76.5, 90.5)]
    shown = words(ax)
    told = "the reports cannot tell some values apart, however many there are: 18 to 31, 77 to 90"
    assert any(told in each for each in shown) and any(each.startswith("mean: no more is known than") for each in shown)
    assert " 28 shares are not identifiable." in ax.get_label()
    assert len([each for each in ax.patches if each.get_label() == "_guess"]) == 2  # dashed parts of the curve


def test_few_values_have_a_bar_each_below_zero_where_they_are():
    mechanism = bp.GRR(bp.Integers(1, 5), 1)
    inverse = estimated(mechanism, [1] * 400, method="inverse", seed=2)
    assert inverse.shares.min() < 0
    ax, frame = inverse.plot(label="stars"), inverse.to_frame()
    assert [each.get_height() for each in bars(ax)] == pytest.approx(inverse.shares.tolist())
    for (x, low), (_, high) in whiskers(ax):
        row = frame[frame["value"] == x].iloc[0]
        assert (low, high) == pytest.approx((row["low"], row["high"]))
    assert ax.get_ylim()[0] < 0 and [*map(int, ax.get_xticks())] == [1, 2, 3, 4, 5]
    for method in ("projected", "em"):
        assert estimated(mechanism, [1] * 400, method=method).plot().get_ylim()[0] == 0


def test_few_reports_say_what_their_bars_are():
    wide = estimated(bp.GRR(bp.Integers(1, 5), 1), [1, 2, 3], method="inverse")
    low, high = wide._histogram.share_bounds(0.95)
    for value, share_low, share_high in zip(range(1, 6), *wide.to_frame()[["low", "high"]].to_numpy().T, strict=True):
        assert (share_low, share_high) == pytest.approx(wide.ask(("bin", value)).ci())
    assert (high - low).min() > 1
    assert any(
        "few reports: intervals of shares are wider than by the normal law" in each for each in words(wide.plot())
    )


@pytest.mark.parametrize("mechanism", [pytest.param("BRR", marks=pytest.mark.slow), "GRR"])
def test_many_values_are_a_curve_and_ranges(mechanism):
    many = bp.Integers(1, 3000)
    made = bp.GRR(many, 5) if mechanism == "GRR" else bp.BRR(many, 1, edges="padded")
    est = estimated(made, [500] * 20_000, method="inverse") if mechanism == "GRR" else estimated(made, [500] * 1000)
    ax = est.plot()
    curve = np.array(heights(ax, "share of each value", range(1, 3001)))
    assert len(bars(ax)) == len(whiskers(ax)) == 10
    averaged = any("the curve has averages of neighbouring values" in each for each in words(ax))
    assert averaged == (mechanism == "GRR")
    pairs = est.shares.reshape(-1, 2).mean(axis=1).repeat(2) if averaged else est.shares
    np.testing.assert_allclose(curve, pairs, atol=1e-12)
    assert any(each.startswith("mean ") for each in words(ax)) and "1,000" in words(ax)


def test_few_reports_of_many_values_are_bounded_by_what_is_possible():
    est = estimated(bp.BRR(bp.Integers(1, 3000), 1, edges="padded"), [500] * 10, method="projected")
    low, high = est.to_frame()[["low", "high"]].to_numpy().T
    assert (low == 0).all() and (high == 1).all()


def test_names_and_row_numbers_are_rows():
    items = bp.GRR(bp.Items(["bus", "train"], loss=1 - np.eye(2)), 1)
    assert {"bus", "train"} <= set(words(estimated(items, ["bus"] * 90).plot()))
    places = bp.BRR(bp.Points(np.random.default_rng(1).random((60, 2))), 1, m=3)
    est = estimated(places, list(range(60)) * 20)
    ax = est.plot()
    shown = [each.get_text() for each in ax.get_yticklabels()]
    assert len(shown) == 40 and all(each.startswith("row ") for each in shown)
    assert [each.get_width() for each in bars(ax)] != []
    drawn = sorted((each.get_y(), each.get_width()) for each in bars(ax))
    assert [width for _, width in drawn] == sorted(est.shares)[20:]  # the largest on top
    rest = sorted(est.shares)[:20]
    assert any(f"20 smaller shares are left out, together {100 * sum(rest):.0f} %" in each for each in words(ax))
    assert est.identifiable is False and NOT_APART in legend(ax)
    assert any("the reports cannot tell some values apart, however many there are" in each for each in words(ax))


def test_an_estimate_around_a_circle_is_a_clock():
    hours = bp.Cyclic(24)
    for mechanism in (bp.GRR(hours, 3), bp.BRR(hours, 1)):
        est = estimated(mechanism, [23] * 3000 + [1] * 3000, seed=2)
        ax = est.plot(label="bedtime", unit="hour", truth=[23, 1])
        assert ax.name == "polar"
        fitted = bool(est._histogram.bins_note)
        assert len(bars(ax)) == (8 if fitted else 24) and ("share of each value" in legend(ax)) == fitted
        assert any(each.startswith("circular mean ") for each in legend(ax))
        assert any(each.startswith("resultant length 0.") for each in legend(ax))
        assert any("around: bedtime (hour); outward: share of people" in each for each in words(ax))
        assert line(ax, "true share").get_ydata().max() == 0.5
        assert "24 cyclic values, from 0 to 23" in ax.get_label()
    arcs = est.plot(bins=[6, 12, 22], truth=[23, 1])
    assert len(bars(arcs)) == 3 and "22 to 5: " in arcs.get_label()
    assert line(arcs, "true share").get_ydata().max() == pytest.approx(1 / 8)


def test_groups_are_compared_by_mean_and_median_or_by_their_largest_shares():
    groups = estimated(PADDED, [30] * 300 + [60] * 300, by=["young"] * 300 + ["old"] * 300)
    ax = groups.plot(label="age", unit="years", title="By group")
    shown = words(ax)
    assert {"mean age (years)", "median age (years)", "age (years)", "By group", "95 % intervals"} <= set(shown)
    assert shown.count("young") == 2
    ends = [tuple(each[:, 0]) for each in whiskers(ax)]
    asked = [groups[name].ask(of).ci() for of in ("mean", "median") for name in ("young", "old")]
    assert ends == [pytest.approx(tuple(each)) for each in asked]
    many = estimated(PADDED, [30] * 90, by=np.arange(90) % 45, method="inverse")
    assert any("5 more groups are left out" in each for each in words(many.plot()))

    labels = [f"way {at}" for at in range(9)]
    items = bp.GRR(bp.Items(labels, loss=1 - np.eye(9)), 3)
    ways = estimated(items, ["way 1"] * 200 + ["way 2"] * 200, by=["a", "b"] * 200)
    shown = words(ways.plot())
    assert "share of way 1" in shown and any("3 less common values are left out" in each for each in shown)
    blurred = bp.BRR(bp.Points(np.array([[0.0, 0], [0, 1], [0, 2], [9, 9]])), 1, m=3)
    shown = words(estimated(blurred, [0, 1, 2, 3] * 50, by=["a", "b"] * 100).plot())
    assert any(each.endswith(": no more is known") for each in shown)


def test_where_nothing_is_known_everything_is_hatched():
    # Two outputs tell about five values little more than their mean: no share has an unbiased estimate.
    est = estimated(bp.Duchi(bp.Interval(-1, 1, points=5), 1), [0.5] * 400)
    assert np.isinf(est.ask(("bin", 0.5)).se)
    ax = est.plot()
    assert "5 shares are not identifiable" in ax.get_label() and not whiskers(ax)
    (span,) = [each for each in ax.patches if each.get_label() == NOT_APART]
    assert (span.get_x(), span.get_x() + span.get_width()) == pytest.approx(ax.get_xlim())
    assert np.isfinite(est.ask().se)  # which is all that it was made for


def test_whiskers_and_words_say_what_intervals_say():
    mechanism = bp.GRR(bp.Items(["bus", "train", "walk"], loss=1 - np.eye(3)), 1)
    est = estimated(mechanism, ["bus"] * 380 + ["walk"] * 20)
    low, high = est.to_frame()[["low", "high"]].to_numpy().T
    assert est._histogram.share_bounds(0.95)[0].min() < low.min() == 0  # cut at what is possible
    said = [share_words(*each) for each in zip(est.shares, low, high, strict=True)]
    assert set(said) <= set(words(est.plot()))
    groups = estimated(mechanism, ["bus"] * 380 + ["walk"] * 20, by=["a"] * 200 + ["b"] * 200)
    first = groups["a"]
    low, high = first.to_frame()[["low", "high"]].to_numpy().T
    assert share_words(first.shares[0], low[0], high[0]) in words(groups.plot())


def test_attributes_are_drawn_one_by_one():
    record = bp.Record({"age": PADDED, "stars": bp.GRR(bp.Integers(1, 5), 1)})
    reports = record.privatize({"age": [30] * 60, "stars": [4] * 60}, rng=bp.insecure_seed(1))
    est = bp.estimate(record, reports)
    with pytest.raises(InputError, match="Expected groups to plot, got attributes"):
        est.plot()
    assert est._repr_svg_() is None
    assert len(bars(est["stars"].plot())) == 5


def test_the_summary_of_categories_names_the_most_common_as_the_picture_does():
    labels = ["walk", "bus", "train", "car"]
    for kind in (bp.GRR, bp.OUE):
        mechanism = kind(bp.Items(labels, loss=1 - np.eye(4)), 2)
        est = estimated(mechanism, ["bus"] * 500 + ["car"] * 300 + ["walk"] * 200)
        said = est.summary().splitlines()[1]
        assert said.startswith("  most common  bus: ") and said.index("bus") < said.index("car") < said.index("walk")
        assert "train" not in said
        assert share_words(est.shares[1], *est.ask(("bin", "bus")).ci()) in words(est.plot())
    assert "most common" not in estimated(bp.GRR(bp.Integers(1, 5), 1), [1, 2] * 50).summary()


STARS = bp.GRR(bp.Integers(1, 5), 1)


@pytest.mark.parametrize(
    "truth",
    [[1, 1, 1, 5], np.array([1, 5, 1, 1]), pd.Series([5, 1, 1, 1]), {1: 0.75, 5: 0.25}, {1: 0.75, 2: 0, 5: 0.25}],
    ids=["list", "array", "series", "shares", "zero"],
)
def test_the_truth_is_peoples_values_or_a_share_for_each_value(truth):
    ax = estimated(STARS, [1, 5] * 100).plot(truth=truth)
    assert heights(ax, "true share", range(1, 6)) == [0.75, 0, 0, 0, 0.25] and "true share" in legend(ax)


def test_the_truth_of_names_is_a_diamond_on_each_row():
    est = estimated(bp.GRR(bp.Items(["bus", "car"], loss=1 - np.eye(2)), 2), ["bus", "car", "car"] * 100)
    assert line(est.plot(truth=["car"] * 3 + ["bus"]), "true share").get_xdata().tolist() == [0.75, 0.25]


@pytest.mark.parametrize(
    ("truth", "why"),
    [
        ({1: 0.5, 5: 0.4}, "Expected truth as shares that sum to 1, got 0.9; or pass people's values, one each"),
        ({1: -0.5, 5: 1.5}, "Expected truth as shares of at least 0 that sum to 1"),
        ([], "Expected truth as people's values, or as a mapping of values to shares, got none of either"),
    ],
)
def test_a_truth_that_is_none_is_refused(truth, why):
    with pytest.raises(InputError, match=why.replace("shares of at least 0 that", "shares that")):
        estimated(STARS, [1, 5] * 100).plot(truth=truth)


def test_the_truth_of_groups_is_refused_instead_of_left_out():
    groups = bp.estimate(STARS, STARS.privatize([1, 5] * 100, rng=bp.insecure_seed(1)), by=["a", "b"] * 100)
    with pytest.raises(InputError, match=r"truth is drawn for one estimate; plot each group alone, ests\['north'\]"):
        groups.plot(truth=[1, 5])


def test_true_values_outside_are_refused_and_not_shown():
    with pytest.raises(OutsideDomainError, match="cannot be reported") as caught:
        estimated(STARS, [1, 5] * 100).plot(truth=[1, 777])
    assert "777" not in str(caught.value)


def test_names_and_labels_are_drawn_letter_by_letter():
    labels = ["a$b$c", "100 $", "_x_", "^", "😀 שלום", "a very long name that cannot stand beside a picture"]
    est = estimated(bp.GRR(bp.Items(labels, loss=1 - np.eye(6)), 1), labels * 20)
    svg = as_svg(lambda: est.plot(title="$x$", label="p_1 $"))
    for each in (*labels[:5], "a very long name that can…", "$x$", "share of people, by p_1 $"):
        assert f">{each}<" in svg
    assert all(each in est.plot().get_label() for each in labels)
    groups = estimated(STARS, [1, 5] * 60, by=labels * 20)
    assert all(f">{each}<" in as_svg(groups.plot) for each in labels[:5])


def test_pairs_are_a_table():
    first, second = STARS, bp.GRR(bp.Items(["bus", "car"], loss=1 - np.eye(2)), 1)
    joint = estimated(first, [1, 5] * 200).joint(
        estimated(second, ["bus", "car"] * 200, seed=2), names=("stars", "way $")
    )
    ax = joint.plot(title="Both")
    table = {each.get_position(): each.get_text() for each in ax.texts}
    assert len(table) == 10 and {"stars", "way $", "bus", "car", "1", "5", "Both"} <= set(words(ax))
    assert ax.collections[0].get_array().T.tolist() == joint.shares.tolist()
    assert any("400 people reported both; table by" in each for each in words(ax))
    assert joint.plot(plt.subplots()[1]).get_label().startswith("Shares of 10 pairs of stars and way $; the largest")


def test_names_on_a_shared_axis_are_those_of_their_rows():
    kinds = bp.GRR(bp.Items(["a", "b"]), 3)
    one, other = (estimated(kinds, values) for values in (["a"] * 90 + ["b"] * 10, ["a"] * 10 + ["b"] * 90))
    _, (left, right) = plt.subplots(1, 2, sharey=True)
    one.plot(left)
    with pytest.raises(
        InputError, match=r"Expected ax with rows of its own, got a y axis shared with other names; use"
    ):
        other.plot(right)
    assert [each.get_text() for each in left.get_yticklabels()] == ["a", "b"]
    one.plot(right)  # the same rows
