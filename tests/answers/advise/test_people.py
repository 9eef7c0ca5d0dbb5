"""How many people: against simulation, and against populations tried out by brute force."""

import math
from statistics import NormalDist

import numpy as np
import pytest

import bipartite as bp
from bipartite.answers.advise.forecasting import Foreseen
from bipartite.answers.advise.people import worst_mean, worst_share
from bipartite.errors import DesignError, EpsilonError, InputError, PriorError

AGES = bp.Integers(18, 50)
SIZE = len(AGES)
UNIFORM = np.full(SIZE, 1 / SIZE)
PADDED = bp.BRR(AGES, 2, edges="padded")
RISING = np.arange(1.0, SIZE + 1) / np.arange(1.0, SIZE + 1).sum()


def scores_of(mechanism, wanted, fitted=UNIFORM):
    """The weights of least variance for a population, by the normal equations of the whole matrix."""
    rows = mechanism.matrix()
    law = fitted @ rows
    solved = np.linalg.pinv((rows / law) @ rows.T, rcond=1e-10, hermitian=True) @ wanted
    scores = ((rows / law).T @ solved).T
    assert np.abs(rows @ scores.T - wanted).max() < 1e-6 * np.abs(wanted).max()
    return scores


def variance(mechanism, wanted, population, fitted=UNIFORM):
    scores = scores_of(mechanism, wanted, fitted)
    law = population @ mechanism.matrix()
    return law @ scores**2 - (law @ scores) ** 2


def tried_populations(rng):
    """All people alike, two kinds of people, and random ones."""
    for x in range(SIZE):
        yield np.eye(SIZE)[x]
        for share in (0.2, 0.5, 0.8):
            yield share * np.eye(SIZE)[x] + (1 - share) * np.eye(SIZE)[rng.integers(SIZE)]
        yield rng.dirichlet(np.full(SIZE, 0.1))


@pytest.mark.parametrize(
    "mechanism",
    [PADDED, bp.GRR(AGES, 1), bp.Duchi(bp.Interval(18, 50, points=SIZE), 1), bp.SquareWave(AGES, 1)],
    ids=lambda each: type(each).__name__,
)
def test_the_error_of_the_mean_is_that_of_the_scores_and_no_population_is_worse_than_the_worst(mechanism):
    values = AGES.to_numpy().astype(float)
    for population in (UNIFORM, RISING):
        here = Foreseen(mechanism).errors("mean", population[None, :], 1)[0]
        assert here**2 == pytest.approx(variance(mechanism, values, population), rel=1e-6)
    worst = worst_mean(Foreseen(mechanism))
    tried = [variance(mechanism, values, each) for each in tried_populations(np.random.default_rng(5))]
    assert max(tried) <= worst**2 * (1 + 1e-9)
    # The worst is a mixture of two values: all of them, in steps of 1 %.
    moments, mixed = mechanism.matrix() @ scores_of(mechanism, values) ** 2, np.linspace(0, 1, 101)[:, None, None]
    pairs = mixed * moments[:, None] + (1 - mixed) * moments
    means = mixed * values[:, None] + (1 - mixed) * values
    assert (pairs - means**2).max() == pytest.approx(worst**2, rel=1e-3)


def test_the_error_of_shares_is_the_largest_and_no_population_is_worse_than_the_worst():
    rng = np.random.default_rng(6)
    for mechanism in (PADDED, bp.GRR(AGES, 1)):
        for population in (UNIFORM, RISING):
            here = math.sqrt(Foreseen(mechanism).of_shares(population[None]).max())
            # Shares have scores fitted to the people.
            each = [variance(mechanism, wanted, population, population) for wanted in np.eye(SIZE)]
            assert here**2 == pytest.approx(max(each), rel=1e-6)
        matrix = mechanism.matrix()
        scores = scores_of(mechanism, np.eye(SIZE))
        worst = 0.0
        for population in tried_populations(rng):
            law = population @ matrix
            worst = max(worst, (scores**2 @ law - (scores @ law) ** 2).max())
        most = worst_share(Foreseen(mechanism))
        assert 0.9 * most**2 < worst <= most**2 * (1 + 1e-9)


@pytest.mark.parametrize("build", [bp.OUE, bp.SUE, bp.OLH, bp.SubsetSelection, bp.HadamardResponse])
def test_the_worst_share_of_flat_categories_is_over_all_shares(build):
    mechanism = build(AGES, 1)
    worst = worst_share(Foreseen(mechanism))
    tried = []
    for share in np.linspace(0, 1, 101):
        population = np.full(SIZE, (1 - share) / (SIZE - 1))
        population[0] = share
        tried.append(mechanism.variances(population, 1)[0] + share * (1 - share))
    if worst is None:
        assert build is bp.HadamardResponse and mechanism.blocks > 1
    else:
        assert max(tried) <= worst**2 * (1 + 1e-9)
        assert max(tried) == pytest.approx(worst**2, rel=1e-3)


@pytest.mark.parametrize("skewed", [False, True], ids=["uniform", "rising"])
def test_with_the_advised_number_of_people_the_mean_is_within_the_bound_as_often_as_asked(skewed):
    prior = RISING if skewed else None
    needed = bp.sample_size(PADDED, mean_within=1, confidence=0.9, prior=prior)
    trials = 600
    rng = np.random.default_rng(2)
    people = rng.choice(AGES.to_numpy(), size=(trials, needed.n), p=prior)
    reports = PADDED.privatize(people.ravel(), rng=bp.insecure_seed(3)).reshape(trials, -1)
    truth = AGES.to_numpy() @ (UNIFORM if prior is None else prior)
    within = sum(abs(bp.estimate(PADDED, each).mean - truth) <= 1 for each in reports)
    # Of 600 trials with chance 0.9, within 5 standard deviations: a false alarm in 1.7 million runs.
    assert abs(within - 540) < 5 * math.sqrt(600 * 0.9 * 0.1)


def test_with_the_advised_number_of_people_the_least_known_share_is_within_the_bound_as_often_as_asked():
    mechanism = bp.GRR(bp.Integers(1, 8), 1)
    needed = bp.sample_size(mechanism, share_within=0.02, confidence=0.9)
    trials = 600
    people = np.random.default_rng(4).integers(1, 9, size=(trials, needed.n))
    reports = mechanism.privatize(people.ravel(), rng=bp.insecure_seed(5)).reshape(trials, -1)
    p, q = mechanism.matrix()[0, 0], mechanism.matrix()[0, 1]
    shares = ((reports == 3).mean(axis=1) - q) / (p - q)
    # As above: 5 standard deviations.
    assert abs((np.abs(shares - 1 / 8) <= 0.02).sum() - 540) < 5 * math.sqrt(600 * 0.9 * 0.1)


def test_the_number_follows_from_the_error_the_distance_and_the_confidence():
    needed = bp.sample_size(PADDED, mean_within=0.5, confidence=0.99)
    error = bp.forecast(PADDED, 1)
    assert needed.standard_error == pytest.approx(error, rel=1e-9)
    assert needed.n == math.ceil((NormalDist().inv_cdf(0.995) * error / 0.5) ** 2)
    assert needed.n_worst > needed.n
    assert bp.sample_size(PADDED, mean_within=1000).n == 1
    assert "Below 100 people that is not reliable" in bp.sample_size(PADDED, mean_within=1000).assumptions


def test_for_a_domain_the_mechanism_that_is_recommended_is_taken_and_needs_hardly_more_people_than_any():
    chosen = bp.sample_size(AGES, 1, mean_within=0.5)
    assert chosen.chosen is True
    assert chosen.mechanism == bp.recommend(AGES, 1, "mean").mechanism
    asked = [
        bp.sample_size(each, mean_within=0.5)
        for each in (
            bp.BRR(AGES, 1, edges="padded"), bp.BRR(AGES, 1, m="mean", edges="padded"), bp.SquareWave(AGES, 1),
            bp.Piecewise(bp.Interval(18, 50, points=SIZE), 1), bp.Staircase(bp.Interval(18, 50, points=SIZE), 1),
        )
    ]  # fmt: skip
    assert chosen.n <= 1.05**2 * min(each.n for each in asked)
    assert chosen.mechanism in [each.mechanism for each in asked]
    assert bp.verify(chosen.mechanism).holds
    shares = bp.sample_size(AGES, 1, share_within=0.01)
    assert isinstance(shares.mechanism, bp.SubsetSelection)
    assert "This holds for each share separately" in shares.assumptions
    places = bp.Points([[0, 0], [1, 1], [3, 1]])
    assert bp.sample_size(places, 2, share_within=0.1).n > 1


def test_the_mean_of_flat_categories_is_answered_too():
    needed = bp.sample_size(bp.OUE(AGES, 1), mean_within=1)
    assert needed.standard_error == pytest.approx(bp.forecast(bp.OUE(AGES, 1), 1), rel=1e-9)
    assert needed.n_worst is None


def test_what_was_found_is_said_in_full():
    text = str(bp.sample_size(PADDED, mean_within=0.5, prior=RISING))
    for part in ("people: the estimated mean is then within 0.5", "as asked", "For every population,",
                 "with the shares given", repr(PADDED)):  # fmt: skip
        assert part in text
    unknown = bp.sample_size(bp.HadamardResponse(AGES, 2), share_within=0.01)
    assert unknown.n_worst is None
    assert "not known here" in str(unknown) and "bp.estimate" in unknown.assumptions
    assert "recommended for it" in str(bp.sample_size(bp.Integers(1, 3), 1, share_within=0.1))


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: bp.sample_size(AGES, mean_within=1), InputError, "Expected epsilon with a domain"),
        (lambda: bp.sample_size(AGES, "x", mean_within=1), EpsilonError, "epsilon"),
        (lambda: bp.sample_size(PADDED, 1, mean_within=1), InputError, "leave epsilon out"),
        (lambda: bp.sample_size(PADDED), InputError, "Expected mean_within= or share_within="),
        (lambda: bp.sample_size(PADDED, mean_within=1, share_within=1), InputError, "one of them"),
        (lambda: bp.sample_size(PADDED, mean_within=0), InputError, "Expected mean_within as a positive number, got 0"),
        (lambda: bp.sample_size(PADDED, share_within=True), InputError, "Expected share_within as a positive number"),
        (lambda: bp.sample_size(PADDED, mean_within="1"), InputError, "Expected mean_within"),
        (lambda: bp.sample_size(PADDED, mean_within=1, confidence=1), InputError, "Expected confidence between 0 and"),
        (lambda: bp.sample_size(PADDED, mean_within=1, confidence=1 - 1e-16), InputError, "Expected confidence"),
        (lambda: bp.sample_size(PADDED, mean_within=1e-300), InputError, "allow a larger distance"),
        (lambda: bp.sample_size(3, mean_within=1), InputError, "Expected a mechanism or a domain, got int"),
        (
            lambda: bp.sample_size(bp.BRR(bp.Interval(0, 1, points=9), 1, edges="padded").outputs, 1, mean_within=1),
            InputError,
            "outputs of another mechanism",
        ),
        (lambda: bp.sample_size(PADDED, mean_within=1, prior=[1]), PriorError, "prior"),
        (lambda: bp.sample_size(bp.BRR(AGES, 1), mean_within=1), DesignError, "The mean cannot be estimated from BRR"),
        (lambda: bp.sample_size(bp.BRR(AGES, 1), share_within=1), DesignError, "use edges='padded'"),
        (
            lambda: bp.sample_size(bp.Items(None, loss=1 - np.eye(3)), 1, mean_within=1),
            InputError,
            "have no mean; ask for share_within",
        ),
        (
            lambda: bp.sample_size(bp.GRR(bp.Items(None, loss=1 - np.eye(3)), 1), mean_within=1),
            InputError,
            "have no mean; ask for share_within",
        ),
        (
            lambda: bp.sample_size(bp.Geometric(bp.Integers(1, 5000), 1), mean_within=1),
            DesignError,
            "is too large: .* use an Interval of fewer points",
        ),
        (lambda: bp.sample_size(AGES, "1e-15", mean_within=1), InputError, "More than 10.18 people would be needed"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_what_to_do(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
