"""What the reports do not rule out: against a general optimiser, with few reports, and with smoothing held out."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom, chi2

import bipartite as bp
from bipartite.answers.estimation.cells import Cells
from bipartite.answers.estimation.likelihood import Model, Search, by_chi_square, down_to, halves, weigh_smoothing

MECHANISMS = [
    bp.BRR(bp.Integers(0, 4), 1, edges="padded"),
    bp.BRR(bp.Integers(0, 4), 0.5),  # clamped: some values cannot be told apart
    bp.GRR(bp.Integers(0, 3), 1),
    bp.Exponential(bp.Integers(0, 4), 2),
    bp.Geometric(bp.Integers(0, 2), 1),
]


def named(mechanism):
    return f"{type(mechanism).__name__} on {len(mechanism.domain)}"


def likelihood(rows, counts, f):
    seen = counts > 0
    return float(counts[seen] @ np.log(np.maximum(f @ rows[:, seen], 1e-300)))


def largest(rows, counts, w, level):
    """The largest w·f under Σ c·ln(fᵀP) ≥ level: sequential quadratic programming from several places."""
    size, seen, rng = len(rows), counts > 0, np.random.default_rng(0)
    limits = [
        {"type": "eq", "fun": lambda f: f.sum() - 1, "jac": lambda _: np.ones(size)},
        {
            "type": "ineq",
            "fun": lambda f: likelihood(rows, counts, f) - level,
            "jac": lambda f: rows[:, seen] @ (counts[seen] / np.maximum(f @ rows[:, seen], 1e-300)),
        },
    ]
    best = -np.inf
    for start in [np.full(size, 1 / size), *rng.dirichlet(np.ones(size), 4)]:
        found = minimize(
            lambda f: -w @ f,
            start,
            jac=lambda _: -w,
            bounds=[(0, 1)] * size,
            constraints=limits,
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-12},
        )
        f = np.maximum(found.x, 0)
        f /= f.sum()
        if likelihood(rows, counts, f) >= level - 1e-6:
            best = max(best, float(w @ f))
    return best


def ends(model, allowed, w):
    """The smallest and the largest w·f of a region."""
    search = Search(model, allowed)
    return -search.furthest(-w), search.furthest(w)


@pytest.mark.grid(4)
@pytest.mark.parametrize("people", [60, 5000])
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=named)
def test_ends_of_a_region_are_those_that_a_general_optimiser_finds(mechanism, people):
    """Shares, shares up to a value, of a range, any weights: never short of the region, and 1 % of it beyond at most.

    The optimiser may stop 1e-6 nats below the level, and so a little outside.
    """
    rows, size = mechanism.matrix(), len(mechanism.domain)
    rng = np.random.default_rng(3)
    at = np.arange(size)
    cells = Cells(mechanism.lottery.channel(), together=False)
    for f in (np.eye(size)[1], rng.dirichlet(np.ones(size))):
        counts = rng.multinomial(people, f @ rows).astype(float)
        model = Model(cells, cells.counts(counts))
        level = model.top.log_likelihood - 2.5
        for w in (np.eye(size)[0], 1.0 * (at <= 1), 1.0 * ((at >= 1) & (at <= 2)), rng.normal(size=size)):
            low, high = ends(model, down_to(model, level), w)
            least, most = -largest(rows, counts, -w, level), largest(rows, counts, w, level)
            room = 0.01 * (most - least)
            assert least - room <= low <= least + 1e-6 and most - 1e-6 <= high <= most + room
            assert low - 1e-12 <= w @ model.shares <= high + 1e-12


@pytest.mark.grid(2)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=named)
def test_quantiles_of_a_region_are_those_whose_shares_up_to_a_value_are_left_open(mechanism):
    """With one degree of freedom, whichever values the constraint removes."""
    rows, size = mechanism.matrix(), len(mechanism.domain)
    counts = np.random.default_rng(5).multinomial(300, np.full(size, 1 / size) @ rows).astype(float)
    histogram, exact = bp.estimate(mechanism, counts=counts.astype(int), method="em")._histogram, 0
    top = likelihood(rows, counts, histogram.shares)
    level = top - chi2.ppf(0.95, 1) / 2
    up_to = [1.0 * (np.arange(size) <= value) for value in range(size)]
    most = [largest(rows, counts, w, level) for w in up_to]
    least = [-largest(rows, counts, -w, level) for w in up_to]
    for q in (0.3, 0.5, 0.77):
        first, last, note = histogram.quantile_interval(q, 0.95)
        assert first <= histogram.quantile(q) <= last and not note
        # The search for an end may go 1 % beyond it.
        for_first = [next(value for value in range(size) if most[value] >= q + room) for room in (-0.01, 0, 0.01)]
        for_last = [
            max(value for value in range(size) if value == 0 or least[value - 1] <= q + room)
            for room in (-0.01, 0, 0.01)
        ]
        assert for_first[0] <= first <= for_first[2] and for_last[0] <= last <= for_last[2]
        exact += (first, last) == (for_first[1], for_last[1])
    assert exact >= 2


def test_degrees_of_freedom_are_between_one_and_the_values_in_use():
    """The interval by χ² lies between the regions of one degree and of as many as there are values."""
    rng = np.random.default_rng(8)
    for mechanism in MECHANISMS:
        rows, size = mechanism.matrix(), len(mechanism.domain)
        cells = Cells(mechanism.lottery.channel(), together=False)
        for people in (80, 4000):
            counts = cells.counts(rng.multinomial(people, rng.dirichlet(np.ones(size)) @ rows).astype(float))
            model = Model(cells, counts)
            top = model.top.log_likelihood
            w = 1.0 * (np.arange(size) <= 1)
            low, high = ends(model, by_chi_square(model, 0.9), w)
            inner, outer = (ends(model, down_to(model, top - chi2.ppf(0.9, degrees) / 2), w) for degrees in (1, size))
            assert ends(model, by_chi_square(model, 0.9, extra=None), w) == pytest.approx(inner, abs=1e-9)
            room = 0.02 * (outer[1] - outer[0])
            assert outer[0] - room <= low <= inner[0] + room and inner[1] - room <= high <= outer[1] + room


def test_values_with_equal_rows_are_one_degree_of_freedom():
    """What one of fourteen values that cannot be told apart may have, they may have together: no more, and no less."""
    mechanism = bp.BRR(bp.Integers(18, 90), 1)
    counts = np.random.default_rng(1).multinomial(1000, mechanism.matrix()[22]).astype(float)
    cells = Cells(mechanism.lottery.channel(), together=True)
    model = Model(cells, cells.counts(counts))
    allowed = by_chi_square(model, 0.95)
    one, last, all_of_them = np.eye(73)[0], np.eye(73)[13], 1.0 * (np.arange(73) < 14)
    (low, high), (_, other), (_, together) = (ends(model, allowed, w) for w in (one, last, all_of_them))
    assert abs(low) < 1e-12 and high == pytest.approx(together, rel=0.01) and other == pytest.approx(together, rel=0.01)
    # And their shares, which nothing tells apart, are shown equal.
    np.testing.assert_allclose(model.shares[:14], model.shares[0])


# Few reports.


@pytest.mark.grid(1)
@pytest.mark.parametrize("confidence", [0.5, 0.9])
@pytest.mark.parametrize("mechanism", MECHANISMS[:2], ids=named)
def test_with_few_reports_the_bound_holds_at_least_as_often_as_stated(mechanism, confidence):
    """Three answers from 150 data sets of 2 to 49 reports, true values at an end, at one value, and anywhere.

    By proof each misses with a chance of at most 1 − confidence, so that more than the quantile 1 − 1e-10 of that
    binomial law of all 150 miss with a chance below 1e-10 for each of the twelve tests. The answer shown is inside.
    Intervals a tenth as wide, around the answer shown, are found out.
    """
    rows, size = mechanism.matrix(), len(mechanism.domain)
    rng = np.random.default_rng(11)
    values = np.arange(size, dtype=float)
    truths = [np.eye(size)[0], np.eye(size)[1], np.full(size, 1 / size)]
    missed, narrow = np.zeros(3), np.zeros(3)
    for at in range(150):
        f = truths[at % 3]
        counts = rng.multinomial(rng.integers(2, 50), f @ rows)
        est = bp.estimate(mechanism, counts=counts, method="em" if at % 2 else "smooth")
        for each, w in enumerate((values <= 0, values <= 1, (values - 1) ** 2)):
            low, high = est._histogram.interval(1.0 * w, confidence)
            missed[each] += not low - 1e-9 <= w @ f <= high + 1e-9
            shown = w @ est.shares
            assert low - 1e-9 <= shown <= high + 1e-9
            narrow[each] += abs(shown - w @ f) > (high - low) / 20
    assert (missed <= binom.isf(1e-10, 150, 1 - confidence)).all()
    assert (narrow > binom.isf(1e-10, 150, 1 - confidence)).any()


def test_one_report_leaves_nearly_everything_open():
    for at in range(5):
        est = bp.estimate(MECHANISMS[0], counts=np.eye(len(MECHANISMS[0].outputs), dtype=int)[at])
        low, high = est.ask(("cdf", 2)).ci()
        assert low < 0.1 and high > 0.9 and low <= est.cdf(2) <= high
        found = est.ask("median").ci()
        assert found == (0, 4) and "only 1 report:" in found.note


# Halves.


def test_halves_are_the_same_every_time_and_add_up():
    rng = np.random.default_rng(2)
    for counts in (rng.integers(0, 50, 40).astype(float), rng.random(40) * 7, np.array([0.0, 0.2, 1.0])):
        first, second = halves(counts)
        np.testing.assert_allclose(first + second, counts, rtol=1e-14)
        assert (first >= 0).all() and (second >= 0).all()
        for _ in range(2):
            again = halves(counts.copy())
            assert (again[0] == first).all() and (again[1] == second).all()
    whole = halves(np.arange(30.0))
    assert all((each == np.rint(each)).all() for each in whole)


def test_halves_of_different_counts_are_independent_coins():
    """Each report by a fair coin: 400 counts of 100 reports an output. Means, variances and the correlation of two
    outputs within six standard errors: a false alarm with a chance below 1e-8."""
    drawn = np.array([halves(np.array([100.0, 100.0, float(other)]))[0] for other in range(400)])
    assert abs(drawn[:, :2].mean() - 50) < 6 * 5 / np.sqrt(800)
    assert np.abs(drawn[:, :2].var(axis=0) / 25 - 1).max() < 6 * np.sqrt(2 / 400)
    assert abs(np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1]) < 6 / np.sqrt(400)
    # Given the law of reports, the two halves of Poisson counts are independent of each other.
    counts = np.random.default_rng(4).poisson(100, (400, 1)).astype(float)
    first, second = np.array([halves(each) for each in counts])[:, :, 0].T
    assert abs(np.corrcoef(first, second)[0, 1]) < 6 / np.sqrt(400)


# Smoothing.


def weights(f, people, seed, mechanism):
    cells = Cells(mechanism.lottery.channel(), together=True)
    counts = cells.counts(np.random.default_rng(seed).multinomial(people, f @ mechanism.matrix()).astype(float))
    found = weigh_smoothing(cells, counts)
    assert weigh_smoothing(cells, counts) == found
    assert sum(found.values()) == pytest.approx(1) and min(found.values()) >= 0.1 * max(found.values())
    return found


def test_held_out_reports_weigh_little_smoothing_for_spikes_and_much_for_smooth_populations():
    mechanism = bp.BRR(bp.Integers(0, 63), 1, edges="padded")
    at = np.arange(64)
    spike = np.where(at == 20, 0.6, 0.4 / 63)
    bell = np.exp(-(((at - 30) / 12) ** 2) / 2)
    for seed in range(2):
        assert max(weights(spike, 100_000, seed, mechanism)) <= 1
        assert min(weights(bell / bell.sum(), 100_000, seed, mechanism)) >= 4


def test_the_weight_of_an_amount_of_smoothing_is_the_likelihood_of_reports_held_out():
    """Against fits by plain EM, many steps of it, of the same halves."""
    mechanism = bp.BRR(bp.Integers(0, 15), 2, edges="padded")
    cells = Cells(mechanism.lottery.channel(), together=True)
    f = np.exp(-(((np.arange(16) - 6) / 4) ** 2) / 2)
    counts = np.random.default_rng(3).multinomial(400, f / f.sum() @ mechanism.matrix()).astype(float)
    found = weigh_smoothing(cells, cells.counts(counts))
    logs = {}
    for steps in found:
        bumps = np.eye(16) if steps == 0 else cells.smoother(steps)
        rows = bumps @ mechanism.matrix()
        total = 0.0
        for again in range(4):
            for seen, other in (halves(counts, again), halves(counts, again)[::-1]):
                h = np.full(len(rows), 1 / len(rows))
                for _ in range(6000):
                    h *= rows @ (seen / (h @ rows)) / seen.sum()
                total += other @ np.log(h @ rows) / 4
        logs[steps] = total
    expected = np.exp(np.array([*logs.values()]) - max(logs.values()))
    np.testing.assert_allclose([*found.values()], expected / expected.sum(), rtol=0.03)


def test_the_average_lies_between_the_models_averaged_and_is_converged():
    mechanism = bp.BRR(bp.Integers(0, 63), 1, edges="padded")
    f = np.exp(-(((np.arange(64) - 30) / 12) ** 2) / 2)
    counts = np.random.default_rng(8).multinomial(500, f / f.sum() @ mechanism.matrix())
    est = bp.estimate(mechanism, counts=counts, method="smooth")
    cells = Cells(mechanism.lottery.channel(), together=True)
    held = cells.counts(counts.astype(float))
    amounts = weigh_smoothing(cells, held)
    assert len(amounts) > 1
    shares = [Model(cells, held, steps).shares for steps in amounts]
    np.testing.assert_allclose(est.shares, np.average(shares, axis=0, weights=[*amounts.values()]), atol=1e-12)
    assert est._histogram.fit.converged and est._histogram.fit.gap <= 1
    law = est.shares @ mechanism.matrix()
    assert est._histogram.fit.log_likelihood == pytest.approx(counts @ np.log(law))
    widths = [np.sqrt(steps / 2) for steps in (min(amounts), max(amounts))]
    assert f"deviation of {widths[0]:.3g} to {widths[1]:.3g} values, weighted by how well" in est._histogram.reason


@pytest.mark.parametrize(("values", "cells"), [(40, 40), (73, 73), (700, 512), (1024, 512)])
@pytest.mark.parametrize("steps", [1, 2, 8, 128, 2048])
def test_bumps_are_distributions_that_keep_the_mass_where_it_was(values, cells, steps):
    made = Cells(bp.BRR(bp.Integers(1, values), 1, edges="padded").lottery.channel(), together=True)
    assert made.many == cells
    bumps = made.smoother(steps)
    assert (bumps >= 0).all() and bumps.shape[1] == cells
    np.testing.assert_allclose(bumps.sum(axis=1), 1, rtol=1e-12)
    # Seen from the other end the line is the same.
    if values % cells == 0:
        np.testing.assert_allclose(bumps, bumps[::-1, ::-1], atol=1e-12)
    # Against as many steps of a walk that stops at the ends, taken one by one.
    sizes = np.bincount(np.arange(values) * cells // values, minlength=cells)
    begins = np.argmax(bumps / sizes, axis=1) if steps < 8 else None
    if begins is not None and values == cells:
        walk = np.eye(cells)
        for _ in range(steps):
            walk = (
                np.pad(walk, ((0, 0), (1, 1)), mode="edge")[:, :-2]
                + 2 * walk
                + np.pad(walk, ((0, 0), (1, 1)), mode="edge")[:, 2:]
            ) / 4
        np.testing.assert_allclose(bumps, walk, atol=1e-12)
    # Far from both ends a bump keeps its mean and has the variance of its steps.
    if 8 * np.sqrt(steps / 2) < cells / 2 and values % cells == 0:
        middle = bumps[len(bumps) // 2]
        at = np.arange(cells)
        mean = middle @ at
        assert mean == pytest.approx(round(mean), abs=1e-6)
        assert middle @ (at - mean) ** 2 == pytest.approx(steps / 2, rel=1e-6)


def test_an_end_that_no_tilt_reaches_is_found():
    """Reports of two kinds: below some tilt all people stay at the last value, above it all move to another one."""
    duchi = bp.Duchi(bp.Interval(-1, 1, points=20), 0.05)
    cells = Cells(duchi.lottery.channel(), together=True)
    model = Model(cells, np.array([0.5, 3.9]))
    up_to = np.where(np.arange(20) <= 16, 1.0, 0.0)
    allowed = 0.02
    low, high = ends(model, down_to(model, model.top.log_likelihood - allowed), up_to)
    # All reports of the second kind are likeliest from the last value; a share s at value 16 instead loses `allowed`.
    rows = cells.rows(0)

    def lost(s):
        law = (1 - s) * rows[-1] + s * rows[16]
        return model.top.log_likelihood - float(np.array([0.5, 3.9]) @ np.log(law))

    assert abs(low) < 1e-12 and 0.1 < high < 1
    assert lost(high - 0.02) < allowed <= lost(high) + 1e-9


@pytest.mark.grid(1)
@pytest.mark.parametrize("counts", [(1, 15), (2, 6), (30, 41)])
def test_the_answer_from_reports_of_two_kinds_lies_in_its_interval(counts):
    for size in (3, 20, 700):
        found = bp.estimate(bp.Duchi(bp.Interval(-1, 1, points=size), 0.05), counts=counts, method="smooth")
        for sure in (0.01, 0.5, 0.95):
            for at in (size // 2, size - 2, size - 1):
                value = found.mechanism.domain.decode(at)
                low, high = found.ask(("cdf", value)).ci(sure)
                assert -1e-12 <= low <= found.cdf(value) + 1e-12 and found.cdf(value) - 1e-12 <= high <= 1 + 1e-12


def test_a_range_that_nobody_is_in_may_be_empty():
    """Fewer than 29 of 40 intervals at 95 % hold with a chance below 1e-6; with one degree of freedom 18 did."""
    mechanism = bp.BRR(bp.Integers(0, 99), 5, edges="padded", m="cdf")
    at = np.arange(100) / 100
    f = np.exp(-(((at - 0.62) / 0.02) ** 2) / 2) + np.exp(-(((at - 0.74) / 0.02) ** 2) / 2)
    samples = np.random.default_rng(1).multinomial(5000, f / f.sum() @ mechanism.matrix(), 40)
    lows = [bp.estimate(mechanism, counts=counts, method="em").ask(("cdf", 33)).ci().low for counts in samples]
    assert np.count_nonzero(np.array(lows) <= 1e-9) >= 29


@pytest.mark.grid(6)
@pytest.mark.parametrize("case", range(24))
def test_the_answer_shown_lies_in_its_interval_at_every_confidence(case):
    """Tiny samples and domains, weights, mechanisms that tell values apart or not: the ends are rounded outward."""
    rng = np.random.default_rng(case)
    make = (bp.Optimal, bp.BRR, bp.GRR, bp.Exponential, bp.Geometric, bp.Duchi)[case % 6]
    domain = bp.Interval(-1, 1, points=int(rng.integers(2, 9)))
    mechanism = make(domain, float(rng.choice([0.05, 1, 10])))
    people = int(rng.choice([1, 2, 5, 10, 49, 50, 300]))
    values = domain.to_numpy()[rng.choice(len(domain), people, p=rng.dirichlet(np.full(len(domain), 0.3)))]
    reports = mechanism.privatize(values, rng=bp.insecure_seed(case))
    weights = rng.uniform(0.01, 5, people) if case % 4 else None
    for method in ("em", "smooth"):
        found = bp.estimate(mechanism, reports, weights=weights, method=method)
        for sure in (1e-9, 0.01, 0.9):
            for value in domain.to_numpy()[:: max(1, len(domain) // 2)]:
                low, high = found.ask(("cdf", value)).ci(sure)
                assert low - 1e-12 <= found.cdf(value) <= high + 1e-12
            low, high = found.ask("median").ci(sure)
            assert low <= found.median <= high
