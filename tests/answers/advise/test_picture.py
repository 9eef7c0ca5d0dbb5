"""Pictures of comparisons, read back as XML."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

import bipartite as bp
from bipartite.errors import InputError
from bipartite.plots import style
from bipartite.plots.curves import Curve, curves
from tests.mechanisms.test_catalogue import Liar
from tests.plots.reading import SVG, corners

UNIT = bp.Interval(0, 1, points=20)


def names(drawn):
    """(words, height) of everything beside the right ends."""
    right = style.WIDTH - 200
    return [(each.text, float(each.get("y"))) for each in drawn.iter(f"{SVG}text") if float(each.get("x")) > right]


@pytest.fixture(scope="module")
def compared():
    return bp.compare(UNIT, [0.25, 1, 4], n=1000, tolerance=0.1)


@pytest.mark.parametrize("measure", ["expected_loss", "worst_loss", "mean_error", "histogram_error", "share_within"])
def test_names_beside_curves_do_not_touch_and_nothing_leaves_the_picture(measure, compared):
    drawn = ET.fromstring(compared.plot(measure))
    width, height = (float(each) for each in drawn.get("viewBox").split()[2:])
    heights = sorted(y for _, y in names(drawn))
    assert len(heights) >= 10
    assert (np.diff(heights) >= 14.9).all()
    assert heights[0] > 0 and heights[-1] <= height
    for each in drawn.iter(f"{SVG}path"):
        points = corners(each)
        assert (points[:, 0] >= 0).all() and (points[:, 0] <= width).all()
        assert (points[:, 1] >= 23.9).all() and (points[:, 1] <= height).all()
    longest = max(len(words) for words, _ in names(drawn))
    assert (style.WIDTH - 200) + 33 + 6.9 * longest <= style.WIDTH + 8


def test_bars_show_one_epsilon_and_say_what_is_beyond_the_picture():
    drawn = ET.fromstring(bp.compare(UNIT, 1).plot())
    words = [each.text for each in drawn.iter(f"{SVG}text")]
    assert "expected error of one release, ε = 1" in words
    assert any(each.endswith("beyond this picture") for each in words)
    assert f"{bp.loss(bp.BRR(UNIT, 1)).mean:.4g}" in words
    bars = [float(each.get("width")) for each in drawn.iter(f"{SVG}rect")]
    assert max(bars) <= style.WIDTH - 190 - 270 + 0.1


def test_what_does_not_keep_epsilon_is_marked_in_every_picture():
    ages = bp.Integers(0, 9)
    single = bp.compare(ages, 1, also={"mine": Liar(ages, 1)}).plot()
    assert "does not keep ε: spends" in single
    several = bp.compare(ages, [1, 2], also={"mine": Liar(ages, 1)}).plot()
    assert "(!) marks what does not keep ε: mine" in several


def test_a_curve_with_a_figure_missing_is_named_as_not_drawn():
    compared = bp.compare(bp.Integers(1, 20), [0.25, 2], n=100)
    assert compared["Hybrid", "0.25"].histogram_error is None
    assert "Not drawn, because it has no figure at some ε: Hybrid" in compared.plot("histogram_error")


def test_measures_that_are_none_are_refused():
    compared = bp.compare(UNIT, 1)
    with pytest.raises(InputError, match="Expected measure as one of 'expected_loss'"):
        compared.plot("beauty")
    with pytest.raises(InputError, match="No mechanism has a figure for 'mean_error'; compare with n=10_000"):
        compared.plot("mean_error")
    with pytest.raises(InputError, match="compare with a tolerance"):
        compared.plot("share_within")


def test_curves_are_cut_where_they_cross_the_top():
    above = Curve("wild", [4.0, 0.0, 4.0, 4.0])
    drawn = ET.fromstring(
        curves([0, 1, 2, 3], [above, Curve("tame", [1, 1, 1, 1])], across="x", up="y", says="", highest=2)
    )
    wild = next(corners(each) for each in drawn.iter(f"{SVG}path"))
    assert wild[:, 1].min() == pytest.approx(24, abs=0.05)
    assert len(wild) == 3
    assert dict(names(drawn))["wild"] == pytest.approx(28, abs=0.1)


def test_a_logarithmic_scale_marks_round_numbers():
    drawn = ET.fromstring(
        curves([0, 1], [Curve("a", [0.01, 1]), Curve("b", [0.1, 0.1])], across="x", up="y", says="", logarithmic=True)
    )
    marks = {each.text: float(each.get("y")) for each in drawn.iter(f"{SVG}text") if each.get("text-anchor") == "end"}
    assert {"0.01", "0.02", "0.05", "0.1", "1"} <= set(marks)
    assert marks["0.01"] - marks["0.1"] == pytest.approx(marks["0.1"] - marks["1"], abs=0.2)
    wide = ET.fromstring(curves([0, 1], [Curve("a", [1e-4, 1])], across="x", up="y", says="", logarithmic=True))
    marks = {each.text for each in wide.iter(f"{SVG}text") if each.get("text-anchor") == "end"}
    assert "0.02" not in marks and "0.01" in marks
