"""One histogram: everything that is shown comes from it, and every answer lies in its own interval."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

import bipartite as bp
from bipartite.answers.estimation.em import Fit
from bipartite.answers.estimation.histogram import Fitted, on_simplex

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
    hidden = name not in FLAT and not bp.estimate(mechanism, **given).identifiability.identifiable
    if hidden and method in {"inverse", "projected"}:
        method = "auto"
    return bp.estimate(mechanism, method=str(method), **given)


def answer(est, of):
    if isinstance(of, str):
        return getattr(est, of)
    if of[0] == "bin":
        return float(est.frequencies[est.mechanism.domain.encode(of[1])])
    return getattr(est, of[0])(of[1])


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
    asked += ["variance"] * (not np.isnan(est.variance))
    for of in asked:
        assert holds(est.interval(sure, of=of), answer(est, of)), (est, of, sure)
    parts = est.ranges(4, sure)
    assert all(holds(part.interval, part.share) for part in parts), (est, sure)
    assert sum(part.share for part in parts) == pytest.approx(1, abs=1e-9)
    low, high = est.share_intervals(sure)
    inside = (low - 1e-9 <= est.frequencies) & (est.frequencies <= high + 1e-9)
    assert inside.all() or est.bins_note, (est, sure)


@pytest.mark.grid(1)
@pytest.mark.parametrize("name", ["padded", "for the cdf", "clamped", "grr", "geometric", "oue"])
def test_the_share_up_to_every_value_lies_in_its_interval(name):
    est = drawn(name, np.random.default_rng(77))
    for value, share in zip(est.mechanism.domain.to_numpy().tolist(), est.cdf().tolist(), strict=True):
        assert holds(est.interval(0.9, of=("cdf", value)), share), (est, value)


@pytest.mark.grid(4)
@pytest.mark.parametrize("name", MECHANISMS)
def test_everything_that_is_shown_comes_from_one_histogram(name):
    rng = np.random.default_rng(100 + list(MECHANISMS).index(name))
    est = drawn(name, rng)
    values, running = est.mechanism.domain.to_numpy(), est.cdf()
    if est.method != "projected" and not (name in FLAT and est.method == "inverse"):
        np.testing.assert_allclose(running, est.frequencies.cumsum(), atol=1e-9)
    else:
        # Sums of projected shares would be biased, and single shares of flat categories add up to one only on average.
        np.testing.assert_allclose(
            running, [est.unbiased(("cdf", value)).value for value in values.tolist()], atol=1e-9
        )
    assert running[-1] == pytest.approx(1, abs=1e-9)
    for q in (0.1, 0.5, 0.83):
        assert est.quantile(q) == values[np.argmax(running >= q - 1e-12)]
    for part in est.ranges(3):
        before = est.mechanism.domain.encode(part.first)
        share = est.cdf(part.last) - (running[before - 1] if before else 0)
        assert part.share == pytest.approx(share, abs=1e-9)
    frame = est.to_frame()
    np.testing.assert_array_equal(frame["share"], est.frequencies)
    np.testing.assert_array_equal(frame["value"], values)
    summary = est.summary()
    assert f"mean      {est.mean:.6g}, {est.interval()}" in summary
    assert f"median    {est.median:.6g}, {est.interval(of='median')}" in summary
    assert f"histogram by '{est.method}'" in summary
    words = [each.text for each in ET.fromstring(est.plot()).iter("{http://www.w3.org/2000/svg}text")]
    assert any(each.startswith(f"median {est.median:,.0f}".replace("-", "−")) for each in words)
    assert any(f"histogram method '{est.method}'" in each for each in words)


def test_two_groups_of_people_at_one_value_each_are_found_there_and_nothing_contradicts_itself():
    """130,000 people at 22 and 70,000 at 81. Smoothed at all costs, the median was 26, the share at 22 was .05, and
    cdf(25) = .49 had the interval .622 to .699."""
    mechanism = bp.BRR(bp.Integers(0, 99), 1, m="cdf", edges="padded")
    values = np.repeat([22, 81], [130_000, 70_000])
    est = bp.estimate(mechanism, mechanism.privatize(values, rng=bp.insecure_seed(1)))
    assert est.method == "em" and "predicted best without smoothing" in est.reason
    # The share of one value has a standard error of about .02 here, and that of all up to 25 one of .005.
    assert est.frequencies[22] == pytest.approx(0.65, abs=0.1) and est.frequencies[81] == pytest.approx(0.35, abs=0.1)
    assert est.median == 22 and est.cdf(25) == pytest.approx(0.65, abs=0.03)
    for of, truth in (("median", 22), (("cdf", 25), 0.65), (("bin", 22), 0.65), (("range", 20, 24), 0.65)):
        low, high = est.interval(0.999, of=of)
        assert low <= truth <= high and (of == "median" or high - low < 0.2)
    for part in est.ranges():
        assert holds(part.interval, part.share)
    assert "median    22, 22 to 22" in est.summary()


# The histogram that is chosen.


def test_the_most_likely_shares_of_grr_are_at_the_top():
    """No distribution is more likely by n·(max P(c/(n·fᵀP)) − 1); at the top f = max(c/μ − q/e, 0), by bisection."""
    mechanism = bp.GRR(bp.Integers(0, 99), 0.2)
    rows = mechanism.matrix()
    f = np.where(np.arange(100) == 99, 0.6, 0.4 / 99)
    for people in (10_000, 1_000_000):
        counts = np.random.default_rng(people).multinomial(people, f @ rows)
        est = bp.estimate(mechanism, counts=counts, method="em")
        gap = (rows @ (counts / (est.frequencies @ rows))).max() - people
        assert gap <= 0.1 and est.fit.converged and est.fit.gap == pytest.approx(max(gap, 0), abs=1e-3)
        far, more = rows[0, 1], rows[0, 0] - rows[0, 1]
        low, high = 1e-9, 1e9
        for _ in range(200):
            middle = np.sqrt(low * high)
            short = np.maximum(counts / middle - far / more, 0).sum() < 1
            low, high = (low, middle) if short else (middle, high)
        assert np.abs(est.frequencies - np.maximum(counts / low - far / more, 0)).max() < 1e-3


AT = np.arange(48)
SHAPES = {
    "bell": np.exp(-(((AT - 16) / 7) ** 2) / 2),
    "spike": np.where(AT == 12, 0.6, 0.4 / 48),
    "pair": np.isin(AT, [15, 19]) + 0.0,
    "tail": np.exp(-AT / 3),
}


@pytest.mark.grid(1)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_choice_by_reports_held_out_is_as_good_as_the_better_of_em_and_ems(shape):
    """Within 5 % of it in Wasserstein error, on average over ten samples."""
    f = SHAPES[shape] / SHAPES[shape].sum()
    mechanism = bp.BRR(bp.Integers(0, 47), 1, edges="padded")
    rng = np.random.default_rng(5)
    errors = dict.fromkeys(("smooth", "em", "ems"), 0.0)
    for _ in range(10):
        counts = rng.multinomial(20_000, f @ mechanism.matrix())
        for method in errors:
            found = bp.estimate(mechanism, counts=counts, method=method).frequencies
            errors[method] += np.abs((found - f).cumsum()).sum()
    assert errors["smooth"] <= 1.05 * min(errors["em"], errors["ems"])


def test_the_same_reports_give_the_same_histogram_in_any_order_and_from_either_end():
    mechanism = bp.BRR(bp.Integers(0, 39), 1, edges="padded")
    reports = mechanism.privatize(np.tile([3, 10, 11, 12, 30], 400), rng=bp.insecure_seed(3))
    first, second = bp.estimate(mechanism, reports), bp.estimate(mechanism, np.sort(reports))
    np.testing.assert_array_equal(first.frequencies, second.frequencies)
    assert first.reason == second.reason
    weighted = bp.estimate(mechanism, reports, weights=np.full(2000, 0.25))
    np.testing.assert_allclose(weighted.frequencies, first.frequencies, atol=1e-6)


def test_no_share_of_people_up_to_a_value_is_above_one_whatever_rounding_says():
    shares = np.array([0.5, 0.5 + 2.0**-51, 0.0])
    assert shares[:2].sum() > 1
    assert Fitted("em", "", Fit(shares, 1, 0.0, 0.0, converged=True), "").cdf.tolist() == [0.5, 1.0, 1.0]


def test_the_share_up_to_a_value_of_one_part_of_two_reports_about_pairs_is_at_most_one():
    domain = bp.Product(bp.Integers(1, 4), bp.Integers(1, 9))
    pairs = bp.BRR(domain, 1)
    found = bp.estimate(pairs, pairs.privatize([(3, 8), (1, 8)], rng=bp.insecure_seed(5))).joint().marginal("second")
    assert found.frequencies.min() >= 0 and found.cdf().max() <= 1


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
    assert "holds for any number" in bp.estimate(mechanism, reports).interval(of="median").note
    weighted = bp.estimate(mechanism, reports, weights=[1.0, 2.5] * 10)
    assert "not proved" in weighted.interval(of="median").note
    assert "holds for any number" in weighted.interval().note
    long = bp.BRR(bp.Integers(0, 999), 1, edges="padded")
    assert "not proved" in bp.estimate(long, reports).interval(of="median").note


def test_intervals_are_searched_for_once_for_all_that_shows_them(monkeypatch):
    mech = bp.BRR(bp.Integers(0, 39), 1, edges="padded")
    est = bp.estimate(mech, mech.privatize([7] * 300 + [30] * 200, rng=bp.insecure_seed(1)), method="smooth")
    first = est.ranges(), est.interval(of="median"), est.interval(0.5, of="median")

    def refused(*_):
        raise AssertionError

    monkeypatch.setattr("bipartite.answers.estimation.likelihood.Model.furthest", refused)
    assert (est.ranges(), est.interval(of="median"), est.interval(0.5, of="median")) == first
    assert first[1] != first[2]
    assert est.plot() and est.summary()
    with pytest.raises(AssertionError):
        est.ranges(3)
