"""Pictures of comparisons, read back as artists."""

import itertools

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.text import Text

import bipartite as bp
from bipartite.errors import InputError
from bipartite.plots.looks import looks_of
from bipartite.plots.named import curves, spread
from tests.mechanisms.test_catalogue import Liar
from tests.plots.artists import bars, words

UNIT = bp.Interval(0, 1, points=20)


@pytest.fixture(scope="module")
def compared():
    return bp.compare(UNIT, [0.25, 1, 4], n=1000, tolerance=0.1)


def names(ax):
    """The names beside the ends of curves."""
    return [each for each in ax.texts if each.get_position()[0] > 1]


@pytest.mark.parametrize("measure", ["expected_loss", "worst_loss", "mean_error", "histogram_error", "share_within"])
def test_every_mechanism_has_a_curve_and_its_name_beside_it_apart_from_others(measure, compared):
    ax = compared.plot(measure)
    figures = {}
    for row in compared.rows:
        figures.setdefault(row.mechanism, []).append(getattr(row, measure))
    whole = {name: y for name, y in figures.items() if None not in y and len(y) == 3}
    assert {each.get_label(): list(each.get_ydata()) for each in ax.lines} == whole and len(whole) >= 10
    ax.figure.draw_without_rendering()
    boxes = sorted((Text.get_window_extent(each) for each in names(ax)), key=lambda box: box.y0)  # without arrows
    assert {each.get_text() for each in names(ax)} == set(whole)
    assert all(one.y1 <= other.y0 + 1 for one, other in itertools.pairwise(boxes))
    assert all(box.x1 <= ax.figure.bbox.x1 and box.y0 >= 0 and box.y1 <= ax.figure.bbox.y1 for box in boxes)
    assert all(f"{name} {y[-1]:.4g}" in ax.get_label() for name, y in whole.items())
    if measure == "expected_loss":  # the scale is that of reported values, from zero
        tame = max(y for name, (y, *_) in whole.items() if name in {"GRR", "BRR, best m", "Exponential, published"})
        assert ax.get_ylim()[0] == 0 and tame <= ax.get_ylim()[1] < max(map(max, whole.values()))
    assert (ax.get_yscale() == "log") == (measure in {"mean_error", "histogram_error"})


def test_bars_show_one_epsilon_and_say_what_is_beyond_the_picture():
    compared = bp.compare(UNIT, 1)
    ax = compared.plot()
    shown = words(ax)
    assert "expected error of one release, ε = 1" in shown
    cut = [each for each in ax.texts if each.get_text().endswith("beyond this picture")]
    assert cut and f"{bp.loss(bp.BRR(UNIT, 1)).mean:.4g}" in shown
    drawn = [each.get_width() for each in bars(ax)]
    losses = sorted(row.expected_loss for row in compared.rows if row.expected_loss is not None)
    assert drawn == pytest.approx([min(each, max(drawn)) for each in losses]) and len(cut) == sum(
        each > max(drawn) for each in losses
    )
    hatched = [each for each in bars(ax) if each.get_hatch()]
    assert len(hatched) == len(cut)
    assert f"BRR, best m {compared['BRR, best m'].expected_loss:.4g}" in ax.get_label()


def test_the_better_half_sets_the_scale_of_errors():
    compared = bp.compare(bp.Integers(18, 90), 1, n=10_000)
    errors = sorted(row.mean_error for row in compared.rows if row.mean_error is not None)
    ax = compared.plot("mean_error")
    assert (
        max(each.get_width() for each in bars(ax)) == pytest.approx(2 * errors[len(errors) // 2])
        or errors[-1] <= 2 * errors[len(errors) // 2]
    )
    assert "standard error of the mean, 10,000 people, ε = 1" in words(ax)


def test_mechanisms_can_be_chosen(compared):
    for wanted in (["GRR", "BRR, padded"], iter(["BRR, padded", "GRR"])):
        ax = compared.plot("mean_error", mechanisms=wanted)
        assert {each.get_label() for each in ax.lines} == {"GRR", "BRR, padded"}
    assert len(bars(bp.compare(UNIT, 1).plot(mechanisms="GRR"))) == 1
    with pytest.raises(InputError, match=r"Expected mechanisms as some of .*GRR.*, got \['MRR'\]"):
        compared.plot(mechanisms=["GRR", "MRR"])
    with pytest.raises(InputError, match=r"Expected mechanisms as some of .*, got \[\]"):
        compared.plot(mechanisms=[])


def test_two_measures_stand_beside_each_other(compared):
    _, both = plt.subplots(1, 2)
    drawn = [compared.plot(measure, ax) for measure, ax in zip(("mean_error", "expected_loss"), both, strict=True)]
    assert drawn == list(both)


def test_what_does_not_keep_epsilon_is_marked_in_every_picture():
    ages = bp.Integers(0, 9)
    single = bp.compare(ages, 1, also={"mine": Liar(ages, 1)}).plot()
    assert any("does not keep ε: spends" in each for each in words(single))
    several = bp.compare(ages, [1, 2], also={"mine": Liar(ages, 1)}).plot()
    assert "(!) marks what does not keep ε: mine." in several.get_label()
    assert any("(!) marks what does not keep ε: mine" in each for each in words(several))


def test_baselines_are_dotted(compared):
    ax = compared.plot()
    dotted = [each.get_label() for each in ax.lines if each.get_label().startswith("always ")]
    assert dotted and all(looks_of([name])[name].dashes == (1, 2) for name in dotted)
    silent = [row for row in bp.compare(UNIT, 1).rows if row.kind == "reference"]
    outlined = [each for each in bars(bp.compare(UNIT, 1).plot()) if each.get_linestyle() == ":"]
    assert len(outlined) == len([row for row in silent if row.expected_loss is not None])


def test_a_curve_with_a_figure_missing_is_named_as_not_drawn():
    compared = bp.compare(bp.Integers(1, 20), [0.25, 2], n=100)
    assert compared["Hybrid", "0.25"].histogram_error is None
    ax = compared.plot("histogram_error")
    assert "Not drawn, because it has no figure at some ε: Hybrid" in ax.get_label()
    assert "Hybrid" not in {each.get_label() for each in ax.lines}


def test_measures_that_are_none_are_refused():
    compared = bp.compare(UNIT, 1)
    with pytest.raises(InputError, match="Expected measure as one of 'expected_loss'"):
        compared.plot("beauty")
    with pytest.raises(InputError, match="No mechanism has a figure for 'mean_error'; compare with n=10_000"):
        compared.plot("mean_error")
    with pytest.raises(InputError, match="compare with a tolerance"):
        compared.plot("share_within")


def test_a_curve_that_ends_above_the_top_is_named_there():
    _, ax = plt.subplots()
    curves(ax, [0, 1, 2], {"wild": [4.0, 0.0, 4.0], "tame": [1, 1, 1], "alike": [1, 1, 1]}, highest=2)
    assert ax.get_ylim()[1] == 2
    ends = {each.get_text(): (each.xy[1], each.get_position()[1]) for each in ax.texts}
    assert ends["wild"] == (1, 1) and ends["tame"][0] == ends["alike"][0]
    assert abs(ends["tame"][1] - ends["alike"][1]) > 0.02  # moved apart
    np.testing.assert_allclose(np.diff(spread([0.1, 0.1, 0.1, 0.9], 0.1)), [0.1, 0.1, 0.7])


def test_a_logarithmic_scale_marks_round_numbers():
    ax = bp.compare(bp.Integers(18, 90), [0.25, 4], n=10_000).plot("mean_error")
    shown = [each.get_text() for each in ax.get_yticklabels()]
    assert {"0.5", "1", "2", "5", "10"} <= set(shown) and not any("$" in each for each in shown)
    assert not len(ax.yaxis.get_minorticklocs())


def test_where_nothing_is_lost_there_is_still_an_axis():
    sure = bp.Integers(0, 1)
    for epsilon in (20, [10, 20]):
        assert bp.compare(sure, epsilon).plot("median_loss").get_label()  # and no warning


def test_curves_that_leave_the_picture_are_named_below():
    ax = bp.compare(bp.Integers(0, 20), [0.5, 2]).plot()
    assert any("Beyond this picture at some ε: " in each and "Laplace, raw" in each for each in words(ax))
