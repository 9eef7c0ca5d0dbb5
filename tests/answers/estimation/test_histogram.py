"""One histogram: everything that is shown comes from it, and every answer lies in its own interval."""

import numpy as np
import pytest

import bipartite as bp
from bipartite.answers.estimation.em import Fit
from bipartite.answers.estimation.histogram import Fitted, on_simplex
from tests.plots.artists import words

LINE = bp.Integers(0, 24)
MECHANISMS = {
    "padded": bp.BRR(LINE, 1, edges="padded"),
    "for the cdf": bp.BRR(LINE, 0.5, m="cdf", edges="padded"),
    "clamped": bp.BRR(LINE, 1),
    "clamped, wide": bp.BRR(LINE, 0.3),
    "square wave": bp.SquareWave(LINE, 1),
    "grr": bp.GRR(LINE, 2),
    "weak grr": bp.GRR(LINE, 0.2),
    "geometric": bp.Geometric(LINE, 1),
    "laplace": bp.Laplace(bp.Interval(0, 24, points=25), 1),
    "exponential": bp.Exponential(LINE, 1),
    "anchored": bp.Anchored(LINE, 2),
    "oue": bp.OUE(LINE, 1),
    "olh": bp.OLH(LINE, 1),
    "sets": bp.SubsetSelection(LINE, 1),
    "hadamard": bp.HadamardResponse(LINE, 1),
}
FLAT = ("oue", "olh", "sets", "hadamard")
DRAWN = range(8)


def population(shape, size, rng):
    at = np.arange(size)
    f = {
        "spikes": np.where(np.isin(at, rng.choice(size, 3, replace=False)), rng.random(size), 0.0),
        "ends": np.where(at == 0, rng.random(), 0.0) + np.where(at == size - 1, rng.random(), 0.0),
        "pair": np.isin(at - rng.integers(0, size - 2), [0, 2]) + 0.0,
        "zipf": rng.permutation(1 / (at + 1)),
        "uniform": np.ones(size),
        "heavy tail": 1 / (at + 1) ** 1.5 + 0.002,
    }[shape]
    return f / f.sum()


def drawn(name, rng):
    """An estimate of people of some shape, 1 to a million, weighted or not, by the default or another method."""
    mechanism = MECHANISMS[name]
    size = len(mechanism.domain)
    shape = rng.choice(["spikes", "ends", "pair", "zipf", "uniform", "heavy tail"])
    f = population(shape, size, rng)
    people, weighted = int(10 ** rng.uniform(0, 6)), rng.random() < 0.25
    method = rng.choice(["auto", "auto", "inverse", "projected", "em"])
    if name in FLAT or weighted:
        people = min(people, 5000)
        held = mechanism.domain.to_numpy()[rng.choice(size, people, p=f)]
        reports = mechanism.privatize(held, rng=bp.insecure_seed(int(rng.integers(10**9))))
        given = {"reports": reports, "weights": rng.choice([0.2, 1.0, 3.0], people) if weighted else None}
    else:
        given = {"counts": rng.multinomial(people, f @ mechanism.matrix())}
    hidden = name not in FLAT and not bp.estimate(mechanism, **given).identifiable
    if (hidden and method in {"inverse", "projected"}) or (name in FLAT and method == "em"):
        method = "auto"
    return bp.estimate(mechanism, method=str(method), **given)


def holds(interval, value):
    low, high = interval
    off = 1e-9 * max(1.0, abs(value))
    return low <= high and low - off <= value <= high + off


@pytest.mark.grid(20)
@pytest.mark.parametrize("seed", DRAWN)
@pytest.mark.parametrize("name", MECHANISMS)
def test_every_answer_lies_in_its_own_interval(name, seed):
    """Any people, any number of them, any confidence; nothing is chosen so that it comes out right."""
    rng = np.random.default_rng([list(MECHANISMS).index(name), seed])
    est = drawn(name, rng)
    sure = float(rng.choice([0.5, 0.8, 0.95, 0.999]))
    values = est.mechanism.domain.to_numpy().tolist()
    some = rng.choice(values, 3, replace=False).tolist()
    asked = ["mean", "median", ("quantile", 0.05), ("quantile", 0.9)]
    asked += [(kind, value) for kind in ("cdf", "bin") for value in some]
    # One report has no unbiased variance.
    asked += ["variance"] * (not np.isnan(est.ask("variance").value))
    for of in asked:
        assert holds(est.ask(of).ci(sure), est.ask(of).value), (est, of, sure)
    parts = est.to_frame(bins=4, confidence=sure)
    assert all(holds(part[2:4], part[1]) for part in parts[["first", "share", "low", "high"]].values), (est, sure)
    assert parts["share"].sum() == pytest.approx(1, abs=1e-9)
    low, high = est._histogram.share_bounds(sure)
    inside = (low - 1e-9 <= est.shares) & (est.shares <= high + 1e-9)
    assert inside.all() or est._histogram.bins_note, (est, sure)


@pytest.mark.grid(1)
@pytest.mark.parametrize("name", ["padded", "for the cdf", "clamped", "grr", "geometric", "oue"])
def test_the_share_up_to_every_value_lies_in_its_interval(name):
    est = drawn(name, np.random.default_rng(77))
    for value, share in zip(est.mechanism.domain.to_numpy().tolist(), est.cdf().tolist(), strict=True):
        assert holds(est.ask(("cdf", value)).ci(0.9), share), (est, value)


@pytest.mark.grid(4)
@pytest.mark.parametrize("name", MECHANISMS)
def test_everything_that_is_shown_comes_from_one_histogram(name):
    rng = np.random.default_rng(100 + list(MECHANISMS).index(name))
    est = drawn(name, rng)
    values, running = est.mechanism.domain.to_numpy(), est.cdf()
    if est.method != "projected" and not (name in FLAT and est.method == "inverse"):
        np.testing.assert_allclose(running, est.shares.cumsum(), atol=1e-9)
    assert running[-1] == pytest.approx(1, abs=1e-9)
    for q in (0.1, 0.5, 0.83):
        assert est.quantile(q) == values[np.argmax(running >= q - 1e-12)]
    for first, last, share in est.to_frame(bins=3)[["first", "last", "share"]].values.tolist():
        before = est.mechanism.domain.encode(first)
        assert share == pytest.approx(est.cdf(last) - (running[before - 1] if before else 0), abs=1e-9)
        assert share == pytest.approx(est.ask(("range", first, last)).value, abs=1e-9)
    frame = est.to_frame()
    np.testing.assert_array_equal(frame["share"], est.shares)
    np.testing.assert_array_equal(frame["value"], values)
    assert f"histogram by '{est.method}'" in est.summary()
    assert any(f"histogram method '{est.method}'" in each for each in words(est.plot()))


def test_two_groups_of_people_at_one_value_each_are_found_there_and_nothing_contradicts_itself():
    """130,000 people at 22 and 70,000 at 81. Smoothed at all costs, the median was 26, the share at 22 was .05, and
    cdf(25) = .49 had the interval .622 to .699."""
    mechanism = bp.BRR(bp.Integers(0, 99), 1, m="cdf", edges="padded")
    values = np.repeat([22, 81], [130_000, 70_000])
    est = bp.estimate(mechanism, mechanism.privatize(values, rng=bp.insecure_seed(1)))
    assert est.method == "em" and "predicted best without smoothing" in est._histogram.reason
    # The share of one value has a standard error of about .02 here, and that of all up to 25 one of .005.
    assert est.shares[22] == pytest.approx(0.65, abs=0.1) and est.shares[81] == pytest.approx(0.35, abs=0.1)
    assert est.median == 22 and est.cdf(25) == pytest.approx(0.65, abs=0.03)
    for of, truth in (("median", 22), (("cdf", 25), 0.65), (("bin", 22), 0.65), (("range", 20, 24), 0.65)):
        low, high = est.ask(of).ci(0.999)
        assert low <= truth <= high and (of == "median" or high - low < 0.2)
    for share, low, high in est.to_frame(bins=10)[["share", "low", "high"]].values.tolist():
        assert holds((low, high), share)


# The histogram that is chosen.


def test_the_most_likely_shares_of_grr_are_at_the_top():
    """No distribution is more likely by n·(max P(c/(n·fᵀP)) − 1); at the top f = max(c/μ − q/e, 0), by bisection."""
    mechanism = bp.GRR(bp.Integers(0, 99), 0.2)
    rows = mechanism.matrix()
    f = np.where(np.arange(100) == 99, 0.6, 0.4 / 99)
    for people in (10_000, 1_000_000):
        counts = np.random.default_rng(people).multinomial(people, f @ rows)
        est = bp.estimate(mechanism, counts=counts, method="em")
        gap = (rows @ (counts / (est.shares @ rows))).max() - people
        fit = est._histogram.fit
        assert gap <= 0.1 and fit.converged and fit.gap == pytest.approx(max(gap, 0), abs=1e-3)
        far, more = rows[0, 1], rows[0, 0] - rows[0, 1]
        low, high = 1e-9, 1e9
        for _ in range(200):
            middle = np.sqrt(low * high)
            short = np.maximum(counts / middle - far / more, 0).sum() < 1
            low, high = (low, middle) if short else (middle, high)
        assert np.abs(est.shares - np.maximum(counts / low - far / more, 0)).max() < 1e-3


def test_the_same_reports_give_the_same_histogram_in_any_order_and_from_either_end():
    mechanism = bp.BRR(bp.Integers(0, 39), 1, edges="padded")
    reports = mechanism.privatize(np.tile([3, 10, 11, 12, 30], 400), rng=bp.insecure_seed(3))
    first, second = bp.estimate(mechanism, reports), bp.estimate(mechanism, np.sort(reports))
    np.testing.assert_array_equal(first.shares, second.shares)
    assert first._histogram.reason == second._histogram.reason
    weighted = bp.estimate(mechanism, reports, weights=np.full(2000, 0.25))
    np.testing.assert_allclose(weighted.shares, first.shares, atol=1e-6)


def test_no_share_of_people_up_to_a_value_is_above_one_whatever_rounding_says():
    shares = np.array([0.5, 0.5 + 2.0**-51, 0.0])
    assert shares[:2].sum() > 1
    assert Fitted("em", "", Fit(shares, 1, 0.0, 0.0), "").cdf.tolist() == [0.5, 1.0, 1.0]


def test_the_share_up_to_a_value_of_one_part_of_two_reports_about_pairs_is_at_most_one():
    domain = bp.Product(bp.Integers(1, 4), bp.Integers(1, 9))
    pairs = bp.BRR(domain, 1)
    found = bp.estimate(pairs, pairs.privatize([(3, 8), (1, 8)], rng=bp.insecure_seed(5))).joint().marginal("second")
    assert found.shares.min() >= 0 and found.cdf().max() <= 1


def test_the_nearest_distribution_is_nearer_than_any_other():
    rng = np.random.default_rng(2)
    for _ in range(20):
        shares = rng.normal(0.1, 0.3, 8)
        found = on_simplex(shares)
        assert found.min() >= 0 and found.sum() == pytest.approx(1)
        others = rng.dirichlet(np.full(8, 0.3), 200)
        # The angle towards every other distribution is obtuse.
        assert ((others - found) @ (shares - found)).max() <= 1e-12


def test_a_bound_for_few_reports_is_called_proved_only_where_it_is():
    mechanism = bp.BRR(bp.Integers(0, 39), 1, edges="padded")
    reports = [3, 9, 12, 30] * 5
    assert "holds for any number" in bp.estimate(mechanism, reports).ask("median").ci().note
    weighted = bp.estimate(mechanism, reports, weights=[1.0, 2.5] * 10)
    assert "not proved" in weighted.ask("median").ci().note
    # Fits without smoothing are of single values, also of many; but not where cells hardly differ.
    long = bp.BRR(bp.Integers(0, 999), 1, edges="padded")
    assert "holds for any number" in bp.estimate(long, reports).ask("median").ci().note
    noise = bp.Geometric(bp.Integers(0, 999), 1)
    assert "not proved" in bp.estimate(noise, reports, method="smooth").ask("median").ci().note


def test_intervals_are_searched_for_once_for_all_that_shows_them(monkeypatch):
    mech = bp.BRR(bp.Integers(0, 39), 1, edges="padded")
    est = bp.estimate(mech, mech.privatize([7] * 300 + [30] * 200, rng=bp.insecure_seed(1)), method="smooth")
    first = est.to_frame(bins=10), est.ask("median").ci(), est.ask("median").ci(0.5)

    def refused(*_, **__):
        raise AssertionError

    monkeypatch.setattr("bipartite.answers.estimation.likelihood.Search.furthest", refused)
    assert est.to_frame(bins=10).equals(first[0])
    assert (est.ask("median").ci(), est.ask("median").ci(0.5)) == first[1:]
    assert first[1] != first[2]
    assert est.plot() and est.summary()
    with pytest.raises(AssertionError):
        est.to_frame(bins=3)


# The same question.


@pytest.mark.parametrize("method", ["inverse", "projected", "em", "smooth"])
def test_weights_of_a_set_of_its_complement_and_scaled_have_one_interval(method):
    mechanism = bp.BRR(bp.Integers(0, 39), 1, edges="padded")
    reports = mechanism.privatize(np.tile([3, 10, 11, 12, 30], 60), rng=bp.insecure_seed(3))
    histogram = bp.estimate(mechanism, reports, method=method)._histogram
    for member in (np.arange(40) < 11, np.arange(40) == 0, (np.arange(40) > 9) & (np.arange(40) < 25)):
        low, high = histogram.interval(1.0 * member, 0.9)
        assert histogram.interval(1.0 * ~member, 0.9) == pytest.approx((1 - high, 1 - low), abs=1e-15)
        assert histogram.interval(np.where(member, 5.0, 3.0), 0.9) == pytest.approx((3 + 2 * low, 3 + 2 * high))
        assert histogram.interval(np.where(member, -1.0, 2.0), 0.9) == pytest.approx((2 - 3 * high, 2 - 3 * low))
    assert histogram.interval(np.full(40, 2.5), 0.9) == (2.5, 2.5)


# Long lines.


def counts_of(mechanism, f, people, seed):
    law = np.maximum(mechanism.lottery.channel().forward(f), 0)
    return np.random.default_rng(seed).multinomial(people, law / law.sum())


@pytest.mark.parametrize("method", ["auto", "em"])
def test_many_people_at_one_of_5000_values_are_found_there(method):
    """Two thirds of 100,000 people at 0: smeared over a cell of ten values the share was .066, and the median 7."""
    mechanism = bp.BRR(bp.Integers(0, 4999), 4, edges="padded", m="cdf")
    at = (np.arange(5000) + 0.5) / 5000
    f = at * (1 - at) ** 4
    f *= 0.336 / f.sum()
    f[0] += 0.664
    est = bp.estimate(mechanism, counts=counts_of(mechanism, f, 100_000, 1), method=method)
    assert est.shares[0] == pytest.approx(0.664, abs=0.02) and est.median == 0
    assert est.method == ("em" if method == "em" else "smooth")
    for of, truth in (("median", 0), (("bin", 0), f[0]), (("cdf", 0), f[0]), (("range", 1, 999), f[1:1000].sum())):
        low, high = est.ask(of).ci(0.999)
        assert low - 1e-9 <= truth <= high + 1e-9 and low - 1e-9 <= est.ask(of).value <= high + 1e-9
        assert of == "median" or high - low < 0.15
    if method == "auto":
        # The other people are smooth: no value beside has more than twice its share.
        assert est.shares[50:].max() < 2 * f[50:].max()


@pytest.mark.parametrize("size", [1000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_spikes_are_found_at_ends_and_round_numbers(size):
    mechanism = bp.BRR(bp.Integers(0, size - 1), 4, edges="padded", m="cdf")
    heaps = np.array([0, size // 5, size // 2, size - 1])
    f = np.full(size, 0.2 / size)
    f[heaps] += 0.2
    est = bp.estimate(mechanism, counts=counts_of(mechanism, f, 200_000, 2))
    assert est.shares[heaps] == pytest.approx(0.2, abs=0.02)
    assert np.abs(est.cdf() - f.cumsum()).max() < 0.02
    low, high = est.ask("median").ci(0.999)
    assert low <= size // 2 <= high


def test_spikes_around_a_circle_are_found_from_any_origin():
    mechanism = bp.BRR(bp.Cyclic(1440), 4, m="cdf")
    f = np.full(1440, 0.3 / 1440)
    f[[0, 480]] += 0.35
    est = bp.estimate(mechanism, counts=counts_of(mechanism, f, 100_000, 3))
    assert est.shares[[0, 480]] == pytest.approx(0.35, abs=0.03)
    for origin in (1, 470, 1439):
        turned = np.roll(f, -origin).cumsum()
        for q in (0.2, 0.5):
            true = (origin + int(np.argmax(turned >= q))) % 1440
            steps = [(each - origin) % 1440 for each in (*est.ask(("quantile", q, origin)).ci(0.999), true)]
            assert steps[0] <= steps[2] <= steps[1]
            assert steps[0] <= (est.quantile(q, origin=origin) - origin) % 1440 <= steps[1]


def test_smooth_populations_have_no_values_that_stand_out():
    """Samples of smooth people raise the log-likelihood by at most 2 nats for any value; the price is 5."""
    mechanism = bp.BRR(bp.Integers(0, 4999), 2, edges="padded", m="cdf")
    at = (np.arange(5000) + 0.5) / 5000
    f = at * (1 - at) ** 4
    for seed in range(4):
        counts = counts_of(mechanism, f / f.sum(), 20_000, seed)
        assert not len(bp.estimate(mechanism, counts=counts)._histogram._cells.apart)


def test_without_smoothing_no_distribution_of_any_values_is_more_likely_by_more_than_the_gap():
    """The gradient at all 3000 values, from the matrix itself."""
    mechanism = bp.BRR(bp.Integers(0, 2999), 2, edges="padded", m="cdf")
    f = np.zeros(3000)
    f[[7, 1499, 1500, 2990]] = 0.25
    counts = counts_of(mechanism, f, 3000, 4)
    est = bp.estimate(mechanism, counts=counts, method="em")
    matrix = mechanism.matrix()
    slopes = matrix @ (counts / (est.shares @ matrix))
    assert slopes.max() - 3000 <= est._histogram.fit.gap + 1e-6 <= 0.02


@pytest.mark.parametrize("make", [bp.Exponential, bp.Geometric])
def test_mechanisms_whose_neighbours_hardly_differ_are_fitted_in_cells(make):
    """Cells of one or two of 600 values: intervals cover every way of dividing the share of a cell."""
    mechanism = make(bp.Integers(0, 599), 2)
    at = np.arange(600) / 600
    f = np.exp(-(((at - 0.4) / 0.1) ** 2) / 2)
    f /= f.sum()
    est = bp.estimate(mechanism, counts=counts_of(mechanism, f, 50_000, 5), method="smooth")
    assert est.shares.sum() == pytest.approx(1) and not est._histogram._cells.single
    for of, truth in (("median", 240), (("cdf", 300), f[:301].sum()), (("range", 200, 280), f[200:281].sum())):
        low, high = est.ask(of).ci(0.999)
        assert low <= truth <= high and low - 1e-9 <= est.ask(of).value <= high + 1e-9
