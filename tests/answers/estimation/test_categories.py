"""Answers from flat categories: unbiased and with the right variance, by enumerating every report."""

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import bipartite as bp
from bipartite.answers.estimation import Estimate
from bipartite.answers.estimation.supports import Supports
from bipartite.answers.estimation.tally import Tally
from bipartite.errors import InputError, SpecError
from bipartite.mechanisms.categories.pair_laws import Exchangeable, pair_law
from tests.mechanisms.categories import laws

LINE = bp.Integers(1, 5)
MECHANISMS = {
    "oue": bp.OUE(LINE, epsilon=1),
    "sue": bp.SUE(LINE, epsilon=2),
    "rappor": bp.RAPPOR(LINE, epsilon_permanent=4),
    "sets": bp.SubsetSelection(LINE, epsilon=1),
    "sets of 3": bp.SubsetSelection(bp.Integers(1, 6), epsilon=1, k=3),
    "hadamard, one block": bp.HadamardResponse(LINE, epsilon="0.5"),
    "hadamard, four blocks": bp.HadamardResponse(bp.Integers(1, 11), epsilon="1.5", blocks=4),
    "hashing to a prime": bp.OLH(bp.Integers(1, 7), epsilon=1, buckets=3),
    "hashing to four": bp.OLH(bp.Integers(1, 7), epsilon=1),
    "hashing to two": bp.OLH(LINE, epsilon="0.5", buckets=2),
}
every_mechanism = pytest.mark.parametrize("mech", MECHANISMS.values(), ids=MECHANISMS)


def two_stages(mech):
    """The law of a RAPPOR report as the sum over permanent responses, from its two sets of coins."""
    size = len(mech.domain)
    f = mech.f
    kept = laws.unary(size, 1 - f / 2, f / 2)
    one, zero = Fraction(3, 4), Fraction(1, 4)

    def shown(held, bits):
        chance = Fraction(1)
        for h, b in zip(held, bits, strict=True):
            p = one if h else zero
            chance *= p if b else 1 - p
        return chance

    return {
        bits: [sum(kept[held][x] * shown(held, bits) for held in kept) for x in range(size)]
        for bits in itertools.product((0, 1), repeat=size)
    }


@functools.cache
def law_of(mech):
    """(reports as the mechanism gives them, Pr[report | x] with a row for every x), by enumeration."""
    size = len(mech.domain)
    if isinstance(mech, (bp.OUE, bp.SUE)):
        law = laws.unary(size, *mech.support)
    elif isinstance(mech, bp.RAPPOR):
        law = two_stages(mech)
    elif isinstance(mech, bp.SubsetSelection):
        law = laws.subsets(size, mech.k, mech.draw.tickets.near, mech.draw.tickets.far)
    elif isinstance(mech, bp.HadamardResponse):
        half, length = mech.block_size // 2, mech.block_size
        near, far = mech.draw.tickets.near, mech.draw.tickets.far
        total = half * near + (mech.numbers - half) * far
        chances = np.zeros((size, mech.numbers))
        for x, y in itertools.product(range(size), range(mech.numbers)):
            block, row = divmod(x, length - 1)
            inside = y // length == block and ((y % length) & (row + 1)).bit_count() % 2 == 0
            chances[x, y] = (near if inside else far) / total
        return np.arange(mech.numbers, dtype=np.uint32), chances
    else:
        g, family = mech.buckets, mech.draw.family
        seeds = np.arange(g**family.digits)
        rows = np.array(list(itertools.product(seeds, range(g))), dtype=np.uint64)
        p = float(mech.support[0])
        chances = np.zeros((size, len(rows)))
        for x in range(size):
            digits = [x // family.base**i % family.base for i in range(family.digits)]
            for y, (seed, bucket) in enumerate(rows.tolist()):
                true = sum(seed // g**i % g * digit for i, digit in enumerate(digits)) % g
                chances[x, y] = (p if bucket == true else (1 - p) / (g - 1)) / len(seeds)
        return rows, chances
    reports = np.array([laws.packed(bits) for bits in law])
    return reports, np.array([[float(row[x]) for row in law.values()] for x in range(size)])


def scores(mech, w):
    """The public score of each report."""
    return bp.scores(mech, law_of(mech)[0], of=w)


def some_weights(size):
    rng = np.random.default_rng(size)
    return [np.arange(size) ** 1.0, (np.arange(size) < 3) * 1.0, rng.normal(size=size)]


def population(size):
    shares = np.arange(1.0, size + 1) ** 2
    return shares / shares.sum()


def exact_source(mech, shares, people=10**6):
    """What reports say when they come exactly as often as expected."""
    p, q = map(float, mech.support)
    supports = people * (q + (p - q) * shares)
    return Supports(mech, Tally(supports, supports, people, float(people), float(people), supports))


def tail_spread(mech, w):
    """The range of scores with which Hoeffding's bound holds."""
    counts = bp.Counts(mech).add(mech.privatize([mech.domain[0]] * 2, rng=bp.insecure_seed(1)))
    return float(Supports(mech, Tally.of_counts(counts.values, 2)).sample(np.asarray(w, float)[None]).spread[0])


@every_mechanism
def test_an_answer_is_unbiased_for_every_value_held(mech):
    _, chances = law_of(mech)
    assert np.allclose(chances.sum(axis=1), 1, atol=1e-12)
    for w in some_weights(len(mech.domain)):
        assert np.allclose(chances @ scores(mech, w), w, atol=1e-9)


@every_mechanism
def test_the_variance_of_an_answer_is_that_of_all_reports(mech):
    _, chances = law_of(mech)
    size = len(mech.domain)
    shares = population(size)
    for w in some_weights(size):
        t = scores(mech, w)
        own = chances @ t**2 - w**2
        assert np.allclose(pair_law(mech).own(w - w.mean()), own, rtol=1e-9, atol=1e-9)
        seen = shares @ chances
        truth = np.sqrt((seen @ t**2 - (seen @ t) ** 2) / (10**6 - 1))
        assert exact_source(mech, shares).sample(w[None]).se == pytest.approx(truth, rel=1e-9)


@every_mechanism
def test_the_error_of_a_share_is_that_of_all_reports(mech):
    reports, chances = law_of(mech)
    size = len(mech.domain)
    shares = population(size)
    each = np.array([bp.estimate(mech, reports[at : at + 1], method="inverse").shares for at in range(len(reports))])
    assert np.allclose(chances @ each, np.eye(size), atol=1e-9)
    variance = shares @ chances @ each**2 - shares**2
    assert np.allclose(exact_source(mech, shares).shares().errors, np.sqrt(variance / (10**6 - 1)), rtol=1e-9)


@every_mechanism
def test_the_covariance_of_answers_is_that_of_all_reports(mech):
    _, chances = law_of(mech)
    size = len(mech.domain)
    shares = population(size)
    w = np.array(some_weights(size))
    t = np.array([scores(mech, row) for row in w])
    seen = shares @ chances
    truth = (t * seen) @ t.T - np.outer(t @ seen, t @ seen)
    found = exact_source(mech, shares).sample(w).cov * (10**6 - 1)
    if isinstance(mech, bp.OLH):
        # The variances are exact, and those of mixtures at most a fiftieth too small.
        assert np.allclose(np.diagonal(found), np.diagonal(truth), rtol=1e-9)
        assert np.linalg.eigvalsh(found - truth).min() >= -0.02 * np.trace(truth)
    else:
        assert np.allclose(found, truth, rtol=1e-9, atol=1e-9)


@every_mechanism
def test_no_two_reports_are_further_apart_than_the_spread(mech):
    for w in some_weights(len(mech.domain)):
        t = scores(mech, w)
        spread = pair_law(mech).spread(w - w.mean())
        assert t.max() - t.min() <= spread * (1 + 1e-9)
        if not isinstance(mech, bp.OLH):
            assert t.max() - t.min() == pytest.approx(spread, rel=1e-9)
        assert tail_spread(mech, w) <= spread * (1 + 1e-9)


@pytest.mark.grid(5)
@every_mechanism
def test_averages_of_reports_stray_no_further_than_their_spread_allows(mech):
    # ln E exp(λ(T − E T)) ≤ λ²s²/8, by enumerating every report, for many λ and for people who are all alike, half at
    # either end, and mixed. Half of s is refuted.
    _, chances = law_of(mech)
    size = len(mech.domain)
    refuted = 0
    for w in (*some_weights(size), np.eye(size)[0]):
        t = scores(mech, w)
        s = tail_spread(mech, w)
        halves = (w == w.min()) / (w == w.min()).sum() / 2 + (w == w.max()) / (w == w.max()).sum() / 2
        for shares in (*np.eye(size), halves, population(size)):
            law = shares @ chances
            off = t - w @ shares
            for strength in np.linspace(-12, 12, 49) / s:
                most = strength * off.max() if strength > 0 else strength * off.min()
                grown = most + np.log(law @ np.exp(strength * off - most))
                assert grown <= strength**2 * s**2 / 8 + 1e-9
                refuted += grown > strength**2 * s**2 / 32 + 1e-9
    assert refuted > 0


def test_bits_and_hash_functions_hardly_ever_all_agree():
    line = bp.Integers(1, 256)
    for mech, narrower in ((bp.OUE(line, 1), 7), (bp.SUE(line, 1), 6), (bp.OLH(line, 1), 2), (bp.OUE(line, 3), 7)):
        for w in (np.arange(256.0), np.arange(256) < 100):
            assert tail_spread(mech, w) < pair_law(mech).spread(w - w.mean()) / narrower


@every_mechanism
def test_a_forecast_is_the_error_that_all_reports_give(mech):
    _, chances = law_of(mech)
    size = len(mech.domain)
    shares = population(size)
    seen = shares @ chances

    def error(w):
        t = scores(mech, w)
        return (seen @ t**2 - (seen @ t) ** 2) / 1000

    assert bp.forecast(mech, 1000, prior=shares) == pytest.approx(
        np.sqrt(error(mech.domain.to_numpy().astype(float))), rel=1e-9
    )
    steps = [error((np.arange(size) <= end) * 1.0) for end in range(size)]
    assert bp.forecast(mech, 1000, "distribution", shares) == pytest.approx(np.sqrt(np.mean(steps)), rel=1e-9)


def test_with_too_many_hash_functions_the_bound_is_never_less_than_the_truth(monkeypatch):
    for name in ("hashing to a prime", "hashing to four", "hashing to two"):
        mech = MECHANISMS[name]
        for w in some_weights(len(mech.domain)):
            z = w - w.mean()
            exact = pair_law(mech).own(z)
            with monkeypatch.context() as patched:
                patched.setattr("bipartite.mechanisms.categories.pair_laws._MOST_HASHES", 0)
                assert (pair_law(mech).own(z) >= exact - 1e-12).all()
                assert (pair_law(mech).own(z).mean() > exact.mean() * 1.01).all()


@pytest.mark.parametrize("name", ["hashing to a prime", "hashing to four", "hashing to two"])
def test_with_too_many_hash_functions_the_reports_tell_their_own_variance(name, monkeypatch):
    mech = MECHANISMS[name]
    size = len(mech.domain)
    values = np.random.default_rng(7).choice(mech.domain.to_numpy(), 20_000, p=population(size))
    reports = mech.privatize(values, rng=bp.insecure_seed(8))
    counts = bp.Counts(mech).add(reports)
    w = np.array(some_weights(size))
    exact = bp.estimate(mech, reports).ask(w[2]).se
    monkeypatch.setattr("bipartite.mechanisms.categories.pair_laws._MOST_HASHES", 0)
    seen = bp.estimate(mech, reports).ask(w[2]).se
    bound = bp.estimate(mech, counts=counts).ask(w[2]).se
    # The variance of 20,000 parts varies by 2 % at most, so their standard error by 1 %: 6.5 times that is 2e-10.
    assert seen == pytest.approx(exact, rel=0.065)
    assert bound > 1.02 * seen
    covariance = Supports(mech, Tally.of(mech, reports)).sample(w).cov
    assert math.sqrt(covariance[2, 2]) == pytest.approx(seen, rel=1e-9)
    assert np.linalg.eigvalsh(covariance).min() >= -1e-12
    weights = np.tile([1.0, 2.0], 10_000)
    weighted = bp.estimate(mech, reports, weights=weights)
    # As certain as 18,000 equally weighted reports: Σw² is 5/9 of (Σw)² over 10,000.
    assert weighted.ask(w[2]).se == pytest.approx(exact * math.sqrt(20 / 18), rel=0.065)
    # With more reports than are looked at, some that are spread evenly tell the variance.
    monkeypatch.setattr("bipartite.answers.estimation.supports._MOST_SEEN", 0)
    few = bp.estimate(mech, reports)
    assert few.ask(w[2]).se == pytest.approx(exact, rel=0.15)
    assert few.ask("median").ci().low <= few.ask("median").ci().high


@every_mechanism
def test_reports_counts_and_groups_say_the_same(mech):
    values = np.tile(mech.domain.to_numpy(), 40)
    reports = mech.privatize(values, rng=bp.insecure_seed(1))
    whole = bp.estimate(mech, reports)
    counts = bp.Counts(mech).add(reports[:90]).merge(bp.Counts(mech).add(reports[90:]))
    assert np.array_equal(bp.estimate(mech, counts=counts).shares, whole.shares)
    assert np.allclose(bp.estimate(mech, reports, weights=np.full(len(values), 3.0)).shares, whole.shares)
    label = np.arange(len(values)) % 2
    groups = bp.estimate(mech, reports, by=label)
    assert groups[1].nobs == len(values) // 2
    assert np.array_equal(groups[1].shares, bp.estimate(mech, reports[1::2]).shares)
    weighted = bp.estimate(mech, reports, weights=label)
    assert np.allclose(weighted.shares, groups[1].shares)
    assert weighted.ask().se == pytest.approx(groups[1].ask().se, rel=1e-9)
    unbiased = bp.estimate(mech, reports, method="inverse")
    assert np.allclose(unbiased.shares, laws.shares(mech, reports)[0], atol=1e-12)
    assert whole.ask(np.ones(len(mech.domain))).value == pytest.approx(1, abs=1e-12)


@every_mechanism
def test_an_estimate_has_every_answer(mech):
    reports = mech.privatize(np.tile([2, 3, 3, 4], 500), rng=bp.insecure_seed(2))
    est = bp.estimate(mech, reports, method="inverse")
    assert isinstance(est, Estimate)
    low, high = est.ask().ci(0.999)
    assert low < 3 < high
    for of in (("bin", 3), ("cdf", 3), np.arange(len(mech.domain)), "median", "variance"):
        low, high = est.ask(of).ci()
        assert low <= high
    assert (est.ask() * 2000).value == pytest.approx(2000 * est.mean)
    assert est.ask(("bin", 3)).value == pytest.approx(est.shares[2])
    assert est.cdf()[-1] == pytest.approx(1)
    assert est.cdf(2) == pytest.approx(est.ask(("cdf", 2)).value)
    assert len(est.to_frame()) == len(mech.domain)
    assert "mean" in est.summary()
    assert est.identifiable
    projected = bp.estimate(mech, reports, method="projected")
    assert projected.shares.sum() == pytest.approx(1) and projected.shares.min() >= 0
    assert projected.mean == est.mean


@every_mechanism
def test_two_groups_are_told_apart(mech):
    young = bp.estimate(mech, mech.privatize([2] * 3000, rng=bp.insecure_seed(3)))
    older = bp.estimate(mech, mech.privatize([4] * 3000, rng=bp.insecure_seed(4)))
    assert bp.difference(older, young).p_value < 1e-3
    assert bp.difference(older, young, of="distribution").p_value < 1e-3
    assert bp.difference(young, young).p_value == 1


# 400 samples a mechanism: intervals that cover 95 % miss 53 times or more with chance 1.6e-10, so one of four raises
# a false alarm with chance below 1e-9. With errors half as large 67 % are held, and 348 of 400 with chance below 1e-18.
@pytest.mark.grid(2)
@pytest.mark.parametrize("name", ["oue", "sets", "hadamard, four blocks", "hashing to four"])
def test_intervals_hold_the_truth_as_often_as_they_say(name):
    mech = MECHANISMS[name]
    size = len(mech.domain)
    shares = population(size)
    rng = np.random.default_rng(5)
    words = bp.insecure_seed(6)
    truth = shares @ mech.domain.to_numpy()
    reports = mech.privatize(rng.choice(mech.domain.to_numpy(), size=400 * 300, p=shares), rng=words)
    off = []
    for at in range(0, 400 * 300, 300):
        answer = bp.estimate(mech, reports[at : at + 300]).ask()
        off.append(abs(answer.value - truth) / answer.se)
    assert np.sum(np.array(off) <= 1.96) >= 348 > np.sum(np.array(off) <= 1.96 / 2)


def test_memory_stays_in_proportion_to_the_number_of_values():
    # 2^17 values: a covariance matrix would take 128 GiB.
    mech = bp.HadamardResponse(bp.Integers(1, 2**17), epsilon=2)
    est = bp.estimate(mech, mech.privatize(np.arange(1, 2**17), rng=bp.insecure_seed(1)))
    low, high = est.ask().ci(0.999999)
    assert low < 2**16 < high
    assert isinstance(pair_law(bp.OUE(bp.Integers(1, 2**17), 1)), Exchangeable)


def test_what_cannot_be_done_is_refused_with_a_reason():
    mech = MECHANISMS["oue"]
    reports = mech.privatize([1, 2], rng=bp.insecure_seed(1))
    with pytest.raises(InputError, match="flat categories have none"):
        bp.estimate(mech, reports, method="smooth")
    with pytest.raises(InputError, match="is in reproduction/flat_em.py of the repository.*use method='projected'"):
        bp.estimate(mech, reports, method="em")
    with pytest.raises(InputError, match="one of 'auto'"):
        bp.estimate(mech, reports, method="best")
    with pytest.raises(InputError, match="also says how many people"):
        bp.estimate(mech, counts=[1, 2, 3, 4, 5])
    with pytest.raises(InputError, match="no reports"):
        bp.estimate(mech, reports[:0])
    with pytest.raises(InputError, match="no reports"):
        bp.estimate(mech, counts=bp.Counts(mech))
    with pytest.raises(SpecError, match="The counts are of"):
        bp.estimate(mech, counts=bp.Counts(MECHANISMS["sue"]).add(reports))
    with pytest.raises(InputError, match="Expected weights as 2"):
        bp.estimate(mech, reports, weights=[1, -1])
    with pytest.raises(InputError, match="NumPy array"):
        bp.estimate(mech, [1, 2])
    with pytest.raises(InputError, match="NumPy array"):
        bp.estimate(mech, 7)
    points = bp.OUE(bp.Items(["a", "b", "c"], loss=1 - np.eye(3)), epsilon=1)
    est = bp.estimate(points, points.privatize(["a", "b"], rng=bp.insecure_seed(1)))
    with pytest.raises(InputError, match="not numbers"):
        _ = est.mean


@pytest.mark.parametrize("name", MECHANISMS)
def test_as_many_different_weights_as_reports_count_as_each_report_alone_would(name):
    mechanism = MECHANISMS[name]
    reports = mechanism.privatize([1, 2, 2, 3] * 50, rng=bp.insecure_seed(1))
    weights = np.exp(np.linspace(-3, 9, 200))
    found = Tally.of(mechanism, reports, weights)
    alone = np.stack([mechanism.count(reports[at : at + 1]) for at in range(200)])
    np.testing.assert_allclose(found.first, weights @ alone, rtol=1e-9, atol=1e-9 * weights.sum())
    np.testing.assert_allclose(found.second, weights**2 @ alone, rtol=1e-9, atol=1e-9 * (weights**2).sum())
