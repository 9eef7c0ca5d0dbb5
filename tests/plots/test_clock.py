"""Clocks, read back as XML: bars, bands, directions and names stand where the numbers say."""

import math
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import bipartite as bp
from bipartite.plots import Band, Mark, chances_on_a_clock, shares_on_a_clock, style
from bipartite.plots.clock import _CENTRE, _INNER, _OUTER, _RIM
from tests.plots import reading
from tests.plots.reading import SVG, words

HOURS = [str(hour) for hour in range(24)]


def corners(shape):
    return reading.corners(shape) - _CENTRE


def polar(places):
    """(distance, hours clockwise from the top) of places around the centre."""
    return np.hypot(*places.T), np.arctan2(places[:, 0], -places[:, 1]) / (2 * math.pi) * 24 % 24


def shapes(drawn, **how):
    return [each for each in drawn.iter(f"{SVG}path") if all(each.get(key) == value for key, value in how.items())]


def picture(**options):
    shares = np.linspace(0.01, 0.08, 24)
    ends = shares - 0.01, shares + 0.02
    return shares, ET.fromstring(shares_on_a_clock(HOURS, shares, ends, sure="95 %", **options))


def test_bars_stand_clockwise_and_are_as_long_as_their_shares():
    shares, drawn = picture()
    bars = shapes(drawn, fill=style.BRR_FAR)
    assert len(bars) == 24
    highest = shares.max() + 0.02
    for hour, bar in enumerate(bars):
        distances, angles = polar(corners(bar))
        assert distances.min() == pytest.approx(_INNER, abs=0.2)
        assert distances.max() == pytest.approx(_INNER + shares[hour] / highest * (_OUTER - _INNER), abs=0.2)
        assert np.abs((angles - hour + 12) % 24 - 12).max() == pytest.approx(0.45, abs=0.05)
        assert bar.find(f"{SVG}title").text.startswith(f"{hour}: ")
    names = {each.text: polar(np.array([[float(each.get("x")), float(each.get("y"))]]) - _CENTRE)[1][0]
             for each in drawn.iter(f"{SVG}text") if each.text in HOURS}  # fmt: skip
    assert len(names) == 24
    assert all(abs((at - int(hour) + 12) % 24 - 12) < 0.5 for hour, at in names.items())


def test_the_direction_and_its_arc_stand_at_the_rim_across_the_top():
    _, drawn = picture(marks=[Mark("circular mean", 23.5, 22.5, 0.5, "circular mean 23.5, 22.5 to 0.5")])
    (arc,) = [each for each in shapes(drawn, stroke=style.INK) if polar(corners(each))[0].min() > _RIM - 1]
    distances, angles = polar(corners(arc))
    assert distances == pytest.approx(_RIM, abs=0.2) and (angles[0], angles[-1]) == pytest.approx((22.5, 0.5), abs=0.02)
    assert "circular mean 23.5, 22.5 to 0.5" in words(drawn)
    _, hidden = picture(marks=[Mark("circular mean", 3, 0, 24, "the direction is not determined", known=False)])
    assert not [each for each in shapes(hidden, stroke=style.INK) if polar(corners(each))[0].min() > _RIM - 1]


def test_shares_below_zero_are_drawn_inwards_and_guesses_outlined():
    shares = np.array([0.5, -0.1, 0.3, 0.3])
    ends = np.full(4, np.nan), np.full(4, np.nan)
    drawn = ET.fromstring(
        shares_on_a_clock(list("abcd"), shares, ends, sure="", guessed=np.array([False, False, True, False]))
    )
    assert len(shapes(drawn, fill=style.BRR_FAR)) == 3
    assert len(shapes(drawn, stroke=style.GRR)) == 1 and "not identifiable: a guess" in words(drawn)
    below = polar(corners(shapes(drawn, fill=style.BRR_FAR)[1]))[0]
    zero = polar(corners(shapes(drawn, fill=style.BRR_FAR)[0]))[0].min()
    assert below.min() == pytest.approx(_INNER, abs=0.2) and below.max() == pytest.approx(zero, abs=0.2)


def test_intervals_of_a_curve_are_error_bars_in_the_middle_of_their_arcs():
    shares = np.full(24, 1 / 24)
    bands = [
        Band(-0.5, 11.5, 0.02, 0.05, 1 / 24, "50 %", "0 to 11: 50 %"),
        Band(11.5, 23.5, 0.03, 0.06, 1 / 24, "50 %", "12 to 23"),
    ]
    drawn = ET.fromstring(shares_on_a_clock(HOURS, shares, bands, sure="95 %", notes=["a note"]))
    assert not shapes(drawn, fill=style.BRR_FAR)
    bar, *caps = [corners(each) for each in next(drawn.iter(f"{SVG}g")).iter(f"{SVG}path")]
    distances, hours = polar(bar)
    assert len(caps) == 2 and hours == pytest.approx([5.5, 5.5], abs=0.05)
    scale = (_OUTER - _INNER) / 0.06
    assert (distances.min(), distances.max()) == pytest.approx((_INNER + 0.02 * scale, _INNER + 0.05 * scale), abs=0.3)
    assert len(shapes(drawn, stroke=style.BRR)) == 1 and "a note" in words(drawn)


def test_many_values_are_a_line_and_few_names():
    shares = np.full(360, 1 / 360)
    ends = np.full(360, np.nan), np.full(360, np.nan)
    drawn = ET.fromstring(shares_on_a_clock([str(each) for each in range(360)], shares, ends, sure=""))
    assert not shapes(drawn, fill=style.BRR_FAR) and len(shapes(drawn, stroke=style.BRR)) == 1
    assert len([each for each in words(drawn) if each.isdigit()]) == 24


def test_chances_show_a_window_that_goes_past_the_top():
    brr, grr = bp.BRR(bp.Cyclic(24), 1), bp.GRR(bp.Cyclic(24), 1)
    text = chances_on_a_clock(HOURS, brr.matrix()[23], grr.matrix()[23], truth=23)
    drawn = ET.fromstring(text)
    near = {round(float(np.median(polar(corners(each))[1] + 12) - 12)) for each in shapes(drawn, fill=style.BRR)}
    assert len(shapes(drawn, fill=style.BRR)) == 9 and len(shapes(drawn, fill=style.BRR_FAR)) == 15
    assert {19, 20, 21, 22, 23} <= near
    assert "reports each of 0, 1, 2, 3, 19, 20, 21, 22, 23 with probability 6.9 %" in text


@pytest.mark.parametrize("mechanism", [bp.GRR(bp.Cyclic(24), 3), bp.BRR(bp.Cyclic(24), 1)], ids=repr)
def test_an_estimate_around_a_circle_is_drawn_as_a_clock(mechanism, tmp_path):
    reports = mechanism.privatize([23] * 3000 + [1] * 3000, rng=bp.insecure_seed(2))
    est = bp.estimate(mechanism, reports)
    drawn = ET.fromstring(est.plot(tmp_path / "clock.svg"))
    assert (tmp_path / "clock.svg").exists()
    mean = next(each for each in words(drawn) if each.startswith("circular mean"))
    assert len(mean) < 40 and any(each.startswith("resultant length 0.") for each in words(drawn))
