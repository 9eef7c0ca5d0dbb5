"""Shares of public ranges: edges, arcs, values that cannot be told apart, and what tables and frames hold of them."""

import re
import types

import numpy as np
import pytest

import bipartite as bp
from bipartite.answers.estimation.ranges import spans
from bipartite.errors import InputError, OutsideDomainError
from bipartite.plots.figure import as_svg
from tests.plots.artists import whiskers, words

AGES = bp.Integers(18, 90)
PADDED = bp.BRR(AGES, epsilon=1, edges="padded", m="cdf")
CLAMPED = bp.BRR(AGES, epsilon=1)
TRUTH = np.repeat([22, 35, 50, 71], 500)


def estimated(mechanism, values, **how):
    return bp.estimate(mechanism, mechanism.privatize(values, rng=bp.insecure_seed(3)), **how)


@pytest.fixture(scope="module")
def ages():
    return estimated(PADDED, TRUTH)


def ends(frame):
    return list(zip(frame["first"], frame["last"], strict=True))


@pytest.mark.parametrize(
    "edges",
    [
        [30, 45, 65],
        (18, 30, 45, 65),
        np.array([30, 45, 65, 90]),
        [18, 30.0, 45, 64.5, 90],
        iter([29.5, 45, 65]),
    ],
    ids=["inner", "with the first value", "with the last value", "both, between values", "once"],
)
def test_a_range_begins_at_each_edge(ages, edges):
    found = ages.to_frame(bins=edges)
    assert ends(found) == [(18, 29), (30, 44), (45, 64), (65, 90)]
    for each in found.itertuples():
        inside = (AGES.to_numpy() >= each.first) & (AGES.to_numpy() <= each.last)
        assert each.share == pytest.approx(ages.shares[inside].sum())
        assert (each.low, each.high) == ages.ask(("range", each.first, each.last)).ci()


def test_edges_of_a_grid_are_the_values_that_they_mean():
    mechanism = bp.BRR(bp.Interval(0, 1, points=11), epsilon=2, edges="padded")
    found = estimated(mechanism, [0.3, 0.7] * 200).to_frame(bins=[0.3, 0.6000000000000001])
    assert found["first"].tolist() == pytest.approx([0, 0.3, 0.6])
    assert found["last"].tolist() == pytest.approx([0.2, 0.5, 1])


def test_arcs_begin_at_edges_and_the_last_goes_around():
    hours = bp.BRR(bp.Cyclic(24), epsilon=1, m=7)
    est = estimated(hours, [23, 1, 12] * 300)
    found = est.to_frame(bins=[6, 12, 22])
    assert ends(found) == [(6, 11), (12, 21), (22, 5)]
    assert found["share"][2] == pytest.approx(est.shares[[22, 23, 0, 1, 2, 3, 4, 5]].sum(), abs=1e-9)
    assert (found["low"][2], found["high"][2]) == pytest.approx(est.ask(("range", 22, 5)).ci())
    assert "22 to 5: " in est.plot(bins=[6, 12, 22]).get_label() and "22 to 5 " in est.summary(bins=[6, 12, 22])
    days = bp.BRR(bp.Cyclic(7, labels=["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"]), epsilon=1, m=3)
    assert "\n  Sa to Su" in estimated(days, ["Mo", "Sa"] * 200).summary(bins=["Mo", "Sa"])
    for wrong, why in (([6, 6], "distinct values where arcs"), ([], "distinct values where arcs")):
        with pytest.raises(InputError, match=why):
            est.to_frame(bins=wrong)
    with pytest.raises(OutsideDomainError):
        est.to_frame(bins=[3, 24])


@pytest.mark.parametrize(
    ("edges", "why"),
    [
        ([], r"Expected bins as edges that are numbers, such as \[30, 45, 65\], got \[\]"),
        (["30"], "as edges that are numbers"),
        ([True], "as edges that are numbers"),
        ([np.nan], "as edges that are numbers"),
        ([30, 95], "Expected bins with edges from 18 to 90, within the domain, got 95; leave it out"),
        ([17], "got 17; leave it out"),
        ([45, 30], "Expected bins with ascending edges and a value of the domain in every range"),
        ([30, 30], "with ascending edges"),
        ([30.2, 30.4], "with ascending edges"),
        ("30,45", "Expected bins as a number of ranges of at least 1, or a list of public edges, got '30,45'"),
        (0, "or a list of public edges, got 0"),
    ],
)
def test_edges_that_cut_nothing_are_refused(ages, edges, why):
    with pytest.raises(InputError, match=why):
        ages.to_frame(bins=edges)


def test_values_that_cannot_be_told_apart_are_one_range():
    est = estimated(CLAMPED, TRUTH)
    together = [(group[0], group[-1]) for group in bp.identifiability(CLAMPED).groups]
    assert together == [(18, 31), (77, 90)]
    found = est.to_frame(bins=10)
    assert set(together) <= set(ends(found)) and len(found) == 8
    # Neighbours follow each other without a gap, from the first value to the last.
    assert found["first"].tolist() == [18, *(found["last"][:-1] + 1)] and found["last"].iloc[-1] == 90
    assert "\n  18 to 31  " in est.summary() and "18 to 31: " in est.plot().get_label()
    assert "guess within its interval" not in est.summary()
    # Edges are kept as they are, and it is said what their shares are.
    assert ends(est.to_frame(bins=[25, 60])) == [(18, 24), (25, 59), (60, 90)]
    assert "separates values which the reports cannot tell apart is a guess" in est.summary(bins=[25, 60])
    assert "guess within" not in est.summary(bins=[32, 77])
    for count in (1, 2, 5, 20):
        cut = ends(est.to_frame(bins=count, confidence=0.9))
        assert not any(18 < first <= 31 or first > 77 for first, _ in cut)


def test_no_run_of_neighbours_that_cannot_be_told_apart_is_cut():
    draw = np.random.default_rng(1)
    for _ in range(500):
        size = int(draw.integers(2, 60))
        group_of = np.sort(draw.integers(0, 8, size)) if draw.random() < 0.5 else draw.integers(0, 3, size)
        known = types.SimpleNamespace(group_of=group_of)
        count = int(draw.integers(1, size + 1))
        found = spans(bp.Integers(1, size), count, known)
        starts = [first for first, _ in found]
        assert starts[0] == 0 and sum(many for _, many in found) == size
        assert all(group_of[at] != group_of[at - 1] for at in starts[1:])


def test_a_summary_has_the_table_of_shares(ages):
    lines = ages.summary(0.9).splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("  range "))
    assert lines[at].split() == ["range", "share", "90", "%", "interval"]
    found = ages.to_frame(bins=10, confidence=0.9)
    for line, each in zip(lines[at + 1 : at + 11], found.itertuples(), strict=True):
        assert line.split()[:3] == [f"{each.first:g}", "to", f"{each.last:g}"]


def test_groups_are_side_by_side_in_words_frames_and_pictures():
    regions = np.array([f"r{at}" for at in range(5)])[np.arange(len(TRUTH)) % 5]
    groups = estimated(PADDED, TRUTH, by=regions, method="em")
    text = groups.summary(bins=[30, 65])
    assert "  share in each group (95 % interval)" in text
    # Four beside each other, the fifth below.
    assert re.search(r"\n  range +r0 +r1 +r2 +r3\n", text) and re.search(r"\n  range +r4\n", text)
    frame = groups.to_frame(bins=[30, 65])
    assert list(frame) == ["group", "first", "last", "share", "low", "high", "note"] and len(frame) == 15
    picture = groups.plot(bins=[30, 65], label="age", unit="years")
    for label, each in groups.items():
        rows = frame[frame["group"] == label].to_dict("records")
        for row, found in zip(rows, each.to_frame(bins=[30, 65]).itertuples(), strict=True):
            assert (row["first"], row["share"], row["low"]) == (found.first, found.share, found.low)
    # Edges that come one by one are the same for every group.
    assert groups.summary(bins=iter([30, 65])) == text == groups.summary(bins=np.array([30, 65]))
    assert groups.to_frame(bins=iter([30, 65])).equals(frame)
    assert groups.plot(bins=iter([30, 65]), label="age", unit="years").get_label() == picture.get_label()
    assert groups.summary(bins=np.int64(3)) == groups.summary(bins=3)
    for wrong in (2.5, "30,65"):
        for ask in (groups.summary, groups.plot, groups.to_frame, groups["r0"].summary):
            with pytest.raises(InputError, match="Expected bins as a number of ranges of at least 1"):
                ask(bins=wrong)
    assert {"share with age 30 to 64 years", "95 % intervals"} <= set(words(picture))
    assert len(whiskers(picture)) == 15
    assert "mean age (years)" in words(groups.plot(label="age", unit="years"))
    jobs = bp.GRR(bp.Items(["nurse", "cook"], loss=1 - np.eye(2)), epsilon=1)
    found = estimated(jobs, ["nurse", "cook", "cook"] * 100, by=["a", "b", "b"] * 100)
    assert re.search(r"\n  value +a +b\n  nurse ", found.summary())
    for ask in (found["a"].summary, found.summary, found.plot, found["a"].plot, found["a"].to_frame):
        with pytest.raises(InputError, match="are not numbers"):
            ask(bins=[1, 2])


def test_a_picture_has_a_title_an_axis_and_a_unit(ages):
    plain, named = ages.plot(), ages.plot(title="Age & <health>", label="age", unit="years", bins=[30, 65])
    assert {"value", "share of people at each value"} <= set(words(plain))
    assert {"age (years)", "Age & <health>"} <= set(words(named))
    assert named.get_label().startswith("Age & <health>. The estimated shares")
    assert "30 to 64: " in named.get_label() and "25 to 32: " not in named.get_label()
    trips = bp.GRR(bp.Items(["bus", "car"], loss=1 - np.eye(2)), epsilon=1)
    found = estimated(trips, ["bus", "car"] * 50)
    assert {"Trips", "share of people"} <= set(words(found.plot(title="Trips")))
    assert "share of people, by way to work" in words(found.plot(label="way to work"))
    assert as_svg(found.plot) == as_svg(lambda: found.plot(title="", label="value", unit=""))


@pytest.mark.parametrize("method", ["smooth", "em", "inverse"])
def test_nothing_is_missing_in_a_frame_without_a_reason(method):
    found = estimated(PADDED, [30, 50] * 500, method=method)
    why = found._histogram.bins_note
    for frame in (found.to_frame(), found.to_frame(bins=4)):
        missing = frame[["low", "high"]].isna().any(axis=1)
        assert frame["note"].tolist() == [why if each else "" for each in missing]
        assert missing.any() == (why != "" and "value" in frame)
