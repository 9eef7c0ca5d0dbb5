"""Pictures of estimates, read back as XML: shares, error bars and marks stand where the numbers say."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from bipartite.plots import Band, Mark, forest, histogram, shares_by_name, style
from bipartite.plots.svg import Picture, percent
from tests.plots.reading import SVG, words


def say(value):
    return f"{value:g}"


def grid(drawn):
    """Picture coordinate → share, by the labelled grid lines."""
    lines = [float(each.get("y1")) for each in drawn.iter(f"{SVG}line") if each.get("stroke") == style.FAINT]
    labels = [each for each in words(drawn) if each and each.endswith(" %") and "interval" not in each]
    shares = [float(each.removesuffix(" %").replace("−", "-")) / 100 for each in labels[: len(lines)]]
    slope = (shares[1] - shares[0]) / (lines[1] - lines[0])
    return lambda y: shares[0] + slope * (y - lines[0])


def whiskers(drawn):
    """(x, low end, high end) of upright error bars."""
    return [
        (float(each.get("x1")), *sorted(float(each.get(end)) for end in ("y1", "y2"))[::-1])
        for each in drawn.iter(f"{SVG}line")
        if each.get("stroke") == style.INK and each.get("stroke-width") == "1.2" and each.get("x1") == each.get("x2")
    ]


@pytest.fixture
def negative():
    shares = np.array([0.6, -0.2, 0.3, 0.3])
    return shares, ET.fromstring(
        histogram(np.arange(1, 5), shares, shares - 0.05, shares + 0.05, label="stars", say=say, sure="95 %")
    )


def test_bars_and_error_bars_have_the_heights_of_their_shares(negative):
    shares, drawn = negative
    at = grid(drawn)
    bars = [each for each in drawn.iter(f"{SVG}rect") if each.get("fill") == style.BRR_FAR][:4]
    for bar, share in zip(bars, shares, strict=True):
        top, bottom = (at(float(bar.get("y")) + part * float(bar.get("height"))) for part in (0, 1))
        assert sorted((top, bottom)) == pytest.approx(sorted((share, 0)), abs=0.002)
    for (_, low, high), share in zip(whiskers(drawn), shares, strict=True):
        assert (at(low), at(high)) == pytest.approx((share - 0.05, share + 0.05), abs=0.002)


def test_a_share_below_zero_is_drawn_below_the_line_of_zero(negative):
    _, drawn = negative
    assert "−20 %" in words(drawn)
    assert any(each.get("stroke") == style.INK and float(each.get("x2")) > 800 for each in drawn.iter(f"{SVG}line"))


def test_only_values_that_exist_are_named_on_the_axis(negative):
    _, drawn = negative
    assert [each for each in words(drawn) if each in {"1", "2", "3", "4"}] == ["1", "2", "3", "4"]
    assert "1.5" not in words(drawn)


def test_what_cannot_be_known_is_hatched_and_has_no_error_bar():
    shares = np.full(6, 1 / 6)
    error = np.array([np.inf, np.inf, 0.1, 0.1, 0.1, np.inf])
    text = histogram(np.arange(6), shares, shares - error, shares + error, label="x", say=say, sure="90 %")
    drawn = ET.fromstring(text)
    assert len(whiskers(drawn)) == 3
    hatch = [each for each in drawn.iter(f"{SVG}line") if each.get("stroke") == style.HATCH]
    left, right = ([float(each.get(end)) for each in hatch] for end in ("x1", "x2"))
    # The hatching covers the first two sixths and the last one, and nothing between.
    edges = 76 + np.arange(7) * (860 - 76 - 34) / 6
    middle = [(a, b) for a, b in zip(left, right, strict=True) if a < edges[5] - 0.1 and b > edges[2] + 0.1]
    assert hatch and not middle
    assert "hatched: not identifiable; dashed: a guess" in words(drawn)
    assert "3 shares are not identifiable" in drawn.get("aria-label")


def test_many_values_are_a_line_in_a_band():
    shares = np.linspace(0.001, 0.01, 200)
    error = np.where(np.arange(200) < 50, np.inf, 0.001)
    drawn = ET.fromstring(
        histogram(np.arange(200), shares, shares - error, shares + error, label="x", say=say, sure="95 %")
    )
    filled = [each for each in drawn.iter(f"{SVG}path") if each.get("fill") == style.BRR_FAR]
    assert len(filled) == 1 and filled[0].get("d").count("L") == 2 * 150 - 1
    lines = [each.get("d").count("L") + 1 for each in drawn.iter(f"{SVG}path") if each.get("fill") == "none"]
    assert sorted(lines) == [50, 150]
    assert not whiskers(drawn)


@pytest.mark.parametrize(
    ("low", "high", "anchor"), [(2, 4, "start"), (90, 97, "end"), (1, 99, "middle")], ids=["left", "right", "wide"]
)
def test_marks_stand_at_their_values_with_words_where_there_is_room(low, high, anchor):
    shares = np.full(100, 0.01)
    mark = Mark("mean", (low + high) / 2, low, high, "mean somewhere here, with many words beside it")
    drawn = ET.fromstring(
        histogram(np.arange(100), shares, shares, shares, label="x", say=say, sure="95 %", marks=[mark])
    )
    (dot,) = drawn.iter(f"{SVG}circle")
    assert float(dot.get("cx")) == pytest.approx(76 + ((low + high) / 2 + 0.5) * 7.5, abs=0.1)
    (label,) = (each for each in drawn.iter(f"{SVG}text") if each.text == mark.words)
    assert label.get("text-anchor") == anchor
    unsure = ET.fromstring(
        histogram(
            np.arange(100), shares, shares, shares, label="x", say=say, sure="",
            marks=[Mark("mean", 50, 40, 60, "mean unknown", known=False)], notes=["a note"],
        )
    )  # fmt: skip
    assert not list(unsure.iter(f"{SVG}circle"))
    assert "a note" in words(unsure) and not any("interval" in each for each in words(unsure))


def test_a_mark_beyond_all_values_is_told_in_words_alone():
    shares = np.full(10, 0.1)
    marks = [Mark("mean", -30, 0, 9, "mean −30, 0 to 9, and so many words that there is no room beside it")]
    drawn = ET.fromstring(
        histogram(np.arange(10), shares, shares, shares, label="x", say=say, sure="95 %", marks=marks)
    )
    assert not list(drawn.iter(f"{SVG}circle"))
    assert marks[0].words in words(drawn)
    open_end = [Mark("mean", -30, -30, 4, "mean −30, −30 to 4")]
    cut = histogram(np.arange(10), shares, shares, shares, label="x", say=say, sure="95 %", marks=open_end)
    for each in (drawn, ET.fromstring(cut)):
        assert all(float(line.get("x1")) >= 76 for line in each.iter(f"{SVG}line") if line.get("stroke-width") == "1.5")


def test_the_truth_is_drawn_where_it_is_known():
    shares, truth = np.array([0.2, 0.8]), np.array([0.25, 0.75])
    drawn = ET.fromstring(histogram(np.arange(2), shares, shares, shares, label="x", say=say, sure="95 %", truth=truth))
    assert "true share" in words(drawn)
    squares = ET.fromstring(shares_by_name(["a", "b"], shares, shares, shares, sure="95 %", truth=truth))
    assert len([each for each in squares.iter(f"{SVG}rect") if each.get("width") == "7"]) == 2


def test_named_shares_come_largest_first_and_the_rest_is_counted():
    shares = np.arange(50) / np.arange(50).sum()
    names = [f"name {at}" if at else "never & <shown>" for at in range(50)]
    drawn = ET.fromstring(shares_by_name(names, shares, shares - 0.01, shares + 0.01, sure="95 %", most=40))
    shown = [each for each in words(drawn) if each.startswith("name ")]
    assert shown == [f"name {at}" for at in range(49, 9, -1)]
    assert any("10 smaller shares are left out, together 3.7 %" in each for each in words(drawn))
    assert "4.0 % (3.0 to 5.0)" in words(drawn)


def test_a_named_share_below_zero_and_one_that_cannot_be_known():
    shares = np.array([1.1, -0.1, 0.0])
    error = np.array([0.2, 0.2, np.inf])
    long = "a name that is much too long to stand beside the picture"
    text = shares_by_name(["much", long, "none"], shares, shares - error, shares + error, sure="95 %", notes=["so"])
    drawn = ET.fromstring(text)
    assert {"−10 % (−30 to 10)", "not identifiable", "not identifiable: a guess", "so"} <= set(words(drawn))
    assert "a name that is much too…" in words(drawn)
    assert long in ET.tostring(drawn, encoding="unicode")  # whole for who points at it
    zero = next(float(each.get("x1")) for each in drawn.iter(f"{SVG}line") if each.get("stroke") == style.INK
                and each.get("y1") == "26")  # fmt: skip
    bar = [each for each in drawn.iter(f"{SVG}rect") if each.find(f"{SVG}title") is not None][1]
    bars = {each.find(f"{SVG}title").text.split(":")[0]: each for each in drawn.iter(f"{SVG}rect")
            if each.find(f"{SVG}title") is not None}  # fmt: skip
    assert bar is not None and float(bars[long].get("x")) < zero == pytest.approx(float(bars["much"].get("x")), abs=0.1)


def test_groups_stand_below_each_other_on_one_axis():
    rows = [Mark("a", 2, 1, 3, "2, 1 to 3"), Mark("b", 5, 4, 6, "5, 4 to 6"), Mark("c", 0, 0, 7, "open", known=False)]
    drawn = ET.fromstring(forest([("mean", rows), ("same", [Mark("a", 1, 1, 1, "1")])], say, "a note"))
    dots = [float(each.get("cx")) for each in drawn.iter(f"{SVG}circle")]
    assert len(dots) == 3  # none for what is open
    assert dots[0] < dots[1]
    assert {"mean", "same", "a", "b", "c", "open", "a note"} <= set(words(drawn))
    assert "mean: a 2, 1 to 3; b 5, 4 to 6; c open." in drawn.get("aria-label")
    assert forest([("mean", [Mark("a", np.inf, -np.inf, np.inf, "?", known=False)])], say)


def test_intervals_of_ranges_are_error_bars_around_the_average_share_of_their_values():
    shares = np.array([0.1, 0.3, 0.4, 0.2])
    bands = [
        Band(-0.5, 1.5, 0.15, 0.25, 0.2, "40 %", "0 to 1: 40 % (30 to 50)"),
        Band(1.5, 3.5, 0.3, 0.3, 0.3, "60 %", "2 to 3"),
    ]
    low = np.array([np.inf, 0.3, 0.4, 0.2])
    drawn = ET.fromstring(histogram(np.arange(4), shares, low, low, label="x", say=say, sure="95 %", bands=bands))
    at, bars = grid(drawn), [each for each in drawn.iter(f"{SVG}g") if each.find(f"{SVG}title") is not None]
    (_, bottom, top), *_ = whiskers(bars[0])
    assert (at(bottom), at(top)) == pytest.approx((0.15, 0.25), abs=0.002)
    # Of an interval without width the point is still seen.
    assert [at(float(bar.find(f"{SVG}circle").get("cy"))) for bar in bars] == pytest.approx([0.2, 0.3], abs=0.002)
    assert not [each for each in drawn.iter(f"{SVG}rect") if each.get("fill") == style.BRR_FAR]
    assert {"40 %", "60 %", "95 % interval of the average share in each range"} <= set(words(drawn))
    curves = [each for each in drawn.iter(f"{SVG}path") if each.get("fill") == "none"]
    assert sorted(each.get("stroke") for each in curves) == sorted([style.BRR, style.GRR])  # the rest, and a guess
    assert "0 to 1: 40 % (30 to 50)." in drawn.get("aria-label")


def test_a_named_share_without_an_interval_is_told_and_a_guess_is_outlined():
    shares, nowhere = np.array([0.7, 0.3]), np.array([np.nan, 0.1])
    text = shares_by_name(["a", "b"], shares, nowhere, shares + nowhere, sure="95 %", guessed=np.array([False, True]))
    assert "nan" not in text and {"70 %", "30 % (10 to 40)", "not identifiable: a guess"} <= set(
        words(ET.fromstring(text))
    )


def test_a_picture_is_text_that_a_notebook_shows():
    drawn = forest([("mean", [Mark("a", 2, 1, 3, "2")])], say)
    assert isinstance(drawn, Picture) and drawn._repr_svg_() == drawn


def test_shares_below_zero_have_as_many_digits_as_others():
    assert [percent(share) for share in (-0.123, -0.0123, -0.00123)] == ["−12 %", "−1.2 %", "−0.12 %"]
