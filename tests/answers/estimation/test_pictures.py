"""``plot`` of estimates: the picture that fits, with what must be known about it written beside it."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

import bipartite as bp
from bipartite.errors import InputError
from bipartite.plots import style
from bipartite.plots.shares import share_words
from bipartite.plots.svg import percent
from tests.plots.reading import SVG, words

AGES = bp.Integers(18, 90)


def estimated(mechanism, values, seed=1, **how):
    return bp.estimate(mechanism, mechanism.privatize(values, rng=bp.insecure_seed(seed)), **how)


def test_a_line_is_a_histogram_with_mean_and_median(tmp_path):
    est = estimated(bp.BRR(AGES, 1, edges="padded"), [30] * 6000 + [50] * 4000)
    picture = est.plot(tmp_path / "ages.svg")
    assert (tmp_path / "ages.svg").read_text(encoding="utf-8") == picture + "\n"
    shown = words(picture)
    low, high = est.ask().ci()
    digits = 1 if high - low > 1 else 2
    assert any(each.startswith(f"mean {est.mean:.{digits}f}, {low:.{digits}f} to {high:.{digits}f}") for each in shown)
    assert any(each.startswith(f"median {est.median:.0f}, ") for each in shown)
    counted = "10,000 reports; intervals for the population they were sampled from"
    assert f"{counted}; histogram method '{est.method}'" in shown
    assert "80 % interval of the average share in each range" in words(est.plot(confidence=0.8))
    with pytest.raises(InputError, match="Expected confidence between 0 and 1"):
        est.plot(confidence=2)


def test_a_curve_has_a_band_for_each_public_range_and_nothing_that_is_not_a_number():
    est = estimated(bp.BRR(AGES, 1, edges="padded"), [30] * 600 + [50] * 400)
    picture = est.plot()
    drawn = ET.fromstring(picture)
    assert "nan" not in picture
    says = [each.find(f"{SVG}title").text for each in drawn.iter(f"{SVG}g") if each.find(f"{SVG}title") is not None]
    ranges = est.to_frame(bins=10)
    names = [f"{first:g} to {last:g}" for first, last in zip(ranges["first"], ranges["last"], strict=True)]
    assert [each.split(":")[0] for each in says] == names
    assert all(f"{says[at]}." in drawn.get("aria-label") for at in range(10))
    assert set(map(percent, ranges["share"])) <= set(words(picture))


def test_a_curve_is_no_finer_than_the_ranges_that_are_asked_for():
    est = estimated(bp.BRR(AGES, 1, edges="padded"), [30] * 600 + [50] * 400)
    for bins in ([30, 50], iter([30, 50])):
        picture = est.plot(bins=bins)
        (curve,) = [each for each in ET.fromstring(picture).iter(f"{SVG}path") if each.get("stroke") == style.BRR]
        assert len(curve.get("d").split("L")) == 2 * 3


def test_clamped_reports_are_hatched_where_nothing_is_known():
    est = estimated(bp.BRR(AGES, 1), [20] * 500 + [50] * 500)
    assert np.isinf(est.ask(("bin", 18)).se) and np.isfinite(est.ask(("bin", 48)).se)
    picture = est.plot()
    shown = words(picture)
    assert style.HATCH in picture
    assert "the reports cannot tell some values apart, however many there are: 18 to 31, 77 to 90" in shown
    assert any(each.startswith("mean: no more is known than ") for each in shown)


def test_unbiased_shares_below_zero_are_drawn_and_others_never_are():
    mechanism = bp.GRR(bp.Integers(1, 5), 1)
    values = [1] * 400
    inverse = estimated(mechanism, values, method="inverse")
    assert inverse.shares.min() < 0
    ground = 'x1="76" y1="'  # the line of zero stands apart from the axis only where something lies below it
    zero = [line for line in inverse.plot().splitlines() if ground in line and style.INK in line]
    assert len(zero) == 1
    for method in ("projected", "em"):
        other = estimated(mechanism, values, method=method).plot()
        assert not [line for line in other.splitlines() if ground in line and style.INK in line]


def test_few_reports_say_what_their_bars_are():
    mechanism = bp.GRR(bp.Integers(1, 5), 1)
    wide = estimated(mechanism, [1, 2, 3], method="inverse")
    low, high = wide._histogram.share_bounds(0.95)
    for value, share_low, share_high in zip(range(1, 6), *wide.to_frame()[["low", "high"]].to_numpy().T, strict=True):
        assert (share_low, share_high) == pytest.approx(wide.ask(("bin", value)).ci())
    assert (high - low).min() > 1
    assert "few reports: intervals of shares are wider than by the normal law" in words(wide.plot())


@pytest.mark.parametrize("mechanism", [pytest.param("BRR", marks=pytest.mark.slow), "GRR"])
def test_many_values_keep_their_mean(mechanism):
    many = bp.Integers(1, 3000)
    made = bp.GRR(many, 5) if mechanism == "GRR" else bp.BRR(many, 1, edges="padded")
    shown = words(estimated(made, [500] * 1000).plot())
    assert any(each.startswith("mean ") for each in shown)
    if mechanism == "GRR":
        assert "one in 2 values is plotted" in shown and "95 % interval" in shown
    else:
        assert "95 % interval of the average share in each range" in shown  # of 512 steps, all drawn


def test_few_reports_of_many_values_are_bounded_by_what_is_possible():
    est = estimated(bp.BRR(bp.Integers(1, 3000), 1, edges="padded"), [500] * 10, method="projected")
    low, high = est.to_frame()[["low", "high"]].to_numpy().T
    assert (low == 0).all() and (high == 1).all()


def test_names_and_row_numbers_are_bars():
    items = bp.GRR(bp.Items(["bus", "train"], loss=1 - np.eye(2)), 1)
    assert {"bus", "train"} <= set(words(estimated(items, ["bus"] * 90).plot()))
    places = bp.BRR(bp.Points(np.random.default_rng(1).random((60, 2))), 1, m=3)
    est = estimated(places, list(range(60)) * 20)
    shown = words(est.plot())
    assert sum(each.startswith("row ") for each in shown) == 40
    assert any("20 smaller shares are left out" in each for each in shown)
    if not est.identifiable:
        assert "the reports cannot tell some values apart, however many there are" in shown


def test_groups_are_compared_by_mean_and_median_or_by_their_largest_shares(tmp_path):
    mechanism = bp.BRR(AGES, 1, edges="padded")
    groups = estimated(mechanism, [30] * 300 + [60] * 300, by=["young"] * 300 + ["old"] * 300)
    shown = words(groups.plot(tmp_path / "g.svg"))
    assert {"mean of each group, with its 95 % interval", "median of each group, with its 95 % interval"} <= set(shown)
    assert shown.count("young") == 2
    assert (tmp_path / "g.svg").exists()
    many = estimated(mechanism, [30] * 90, by=np.arange(90) % 45, method="inverse")
    assert "5 more groups are left out" in words(many.plot())

    labels = [f"way {at}" for at in range(9)]
    items = bp.GRR(bp.Items(labels, loss=1 - np.eye(9)), 3)
    ways = estimated(items, ["way 1"] * 200 + ["way 2"] * 200, by=["a", "b"] * 200)
    shown = words(ways.plot())
    assert "share of way 1 in each group, with its 95 % interval" in shown
    assert "3 less common values are left out" in shown
    blurred = bp.BRR(bp.Points(np.array([[0.0, 0], [0, 1], [0, 2], [9, 9]])), 1, m=3)
    shown = words(estimated(blurred, [0, 1, 2, 3] * 50, by=["a", "b"] * 100).plot())
    assert any(each.startswith("no more is known than 0 % to ") for each in shown)


def test_where_nothing_is_known_everything_is_hatched():
    # Two outputs tell about five values little more than their mean: no share has an unbiased estimate.
    duchi = bp.Duchi(bp.Interval(-1, 1, points=5), 1)
    est = estimated(duchi, [0.5] * 400)
    assert np.isinf(est.ask(("bin", 0.5)).se)
    picture = est.plot()
    assert "5 shares are not identifiable" in ET.fromstring(picture).get("aria-label")
    assert np.isfinite(est.ask().se)  # which is all that it was made for


def test_a_file_holds_what_its_ending_says(tmp_path):
    pytest.importorskip("resvg_py")
    mechanism = bp.GRR(bp.Integers(1, 5), 1)
    for est in (estimated(mechanism, [1, 2] * 50), estimated(mechanism, [1, 2] * 50, by=["a", "b"] * 50)):
        picture = est.plot(tmp_path / "shares.png")
        assert picture.startswith("<svg")
        assert (tmp_path / "shares.png").read_bytes().startswith(b"\x89PNG")
        with pytest.raises(InputError, match=r"Expected a file name ending in \.svg or \.png, got 'shares\.pdf'"):
            est.plot(tmp_path / "shares.pdf")


def test_bars_and_whiskers_say_what_intervals_say():
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
    record = bp.Record({"age": bp.BRR(AGES, 1, edges="padded"), "stars": bp.GRR(bp.Integers(1, 5), 1)})
    reports = record.privatize({"age": [30] * 60, "stars": [4] * 60}, rng=bp.insecure_seed(1))
    est = bp.estimate(record, reports)
    with pytest.raises(InputError, match="Expected groups to plot, got attributes"):
        est.plot()
    assert est["stars"].plot().startswith("<svg")


def test_the_summary_of_categories_names_the_most_common_as_the_picture_does():
    labels = ["walk", "bus", "train", "car"]
    for kind in (bp.GRR, bp.OUE):
        mechanism = kind(bp.Items(labels, loss=1 - np.eye(4)), 2)
        est = estimated(mechanism, ["bus"] * 500 + ["car"] * 300 + ["walk"] * 200)
        line = est.summary().splitlines()[1]
        assert line.startswith("  most common  bus: ") and line.index("bus") < line.index("car") < line.index("walk")
        assert "train" not in line
        shown = words(est.plot())
        assert all(each in shown for each in (share_words(est.shares[1], *est.ask(("bin", "bus")).ci()),))
    assert "most common" not in estimated(bp.GRR(bp.Integers(1, 5), 1), [1, 2] * 50).summary()
