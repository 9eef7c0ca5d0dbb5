"""What is forecast is what estimates then have: against simulated reports, and against the whole matrix."""

import math

import numpy as np
import pytest

import bipartite as bp
from bipartite.answers.advise.forecasting import Foreseen, smooth_variance, without_asking
from bipartite.answers.advise.measuring import shapes_of
from bipartite.errors import DesignError, InputError, PriorError
from bipartite.tables.purposes import choice

AGES = bp.Integers(18, 50)
HOURS = bp.Cyclic(24)


def reports_of(mechanism, shares, n, rng):
    """Counts of n people's reports; flat categories report for themselves."""
    return rng.multinomial(n, shares @ mechanism.matrix())


def found_errors(mechanism, shares, n, times, answer):
    """The root mean square, over repetitions, of the error of an answer from counts."""
    rng = np.random.default_rng(7)
    squares = [
        np.mean(answer(bp.estimate(mechanism, counts=reports_of(mechanism, shares, n, rng))) ** 2) for _ in range(times)
    ]
    return math.sqrt(np.mean(squares))


@pytest.mark.parametrize(
    "mechanism", [bp.BRR(AGES, 1, m="mean", edges="padded"), bp.GRR(AGES, 3)], ids=lambda each: type(each).__name__
)
@pytest.mark.parametrize("shape", ["uniform", "heavy tail"])
def test_the_error_of_a_mean_is_that_of_simulated_estimates(mechanism, shape):
    shares, numbers = shapes_of(AGES)[shape], AGES.to_numpy()
    found = found_errors(mechanism, shares, 2000, 300, lambda each: each.mean - shares @ numbers)
    # 300 squares of normal numbers: their mean is within 5·√(2/300) = 41 % of its expectation but once in 10⁶ times.
    assert bp.forecast(mechanism, 2000, prior=shares) == pytest.approx(found, rel=0.19)


def test_the_error_of_a_direction_is_that_of_its_cosine_and_sine():
    mechanism, rng = bp.BRR(HOURS, 1, m="mean"), np.random.default_rng(3)
    shares = np.exp(np.cos(2 * np.pi * (np.arange(24) - 5) / 24))
    shares /= shares.sum()
    turned = np.exp(2j * np.pi * np.arange(24) / 24)
    # Unbiased by the whole matrix: the least squares solution of P·u = w for a uniform law.
    inverse = np.linalg.inv(mechanism.matrix())
    counts = rng.multinomial(3000, shares @ mechanism.matrix(), size=400)
    found = counts @ inverse @ turned / 3000 - shares @ turned
    assert bp.forecast(mechanism, 3000, prior=shares) == pytest.approx(
        math.sqrt((abs(found) ** 2).mean() / 2), rel=0.15
    )
    # Where the circle begins does not matter.
    assert bp.forecast(mechanism, 3000, prior=np.roll(shares, 4)) == pytest.approx(
        bp.forecast(mechanism, 3000, prior=shares), rel=1e-9
    )


def test_a_direction_takes_the_window_for_it_and_a_fraction_of_the_people():
    """Before, circles had no mean, and plans for statistics took Subset Selection: 7.7 times the people."""
    flat = bp.SubsetSelection(HOURS, 1)
    taken = bp.recommend(HOURS, 1, "mean")
    assert taken.mechanism == bp.BRR(HOURS, 1, m="mean") and "mean direction" in str(taken)
    assert (bp.forecast(flat, 1) / taken.error) ** 2 / taken.n > 7
    compared = bp.compare(HOURS, 1, n=taken.n)
    assert compared.best("mean").mechanism == taken.mechanism
    assert compared.best("mean").error == compared["BRR, mean"].mean_error == pytest.approx(taken.error)
    for epsilon in ("0.5", "1", "2"):
        column = {"domain": {"cyclic": 24}, "epsilon": epsilon, "for": "statistics"}
        planned = bp.Plan.from_dict({"columns": {"hour": column}}).mechanisms()["hour"]
        best = bp.recommend(HOURS, epsilon, "mean").mechanism
        assert isinstance(planned, bp.BRR)
        assert (bp.forecast(planned, 1) / bp.forecast(best, 1)) ** 2 < 1.6
        arcs = bp.recommend(HOURS, epsilon, "distribution").error
        assert bp.forecast(planned, 100_000, "distribution") < 2.3 * arcs
        other = bp.Plan.from_dict({"columns": {"hour": column | {"for": "mean"}}}).mechanisms()["hour"]
        assert other == best
    assert choice("histogram", HOURS, 1, flat=False) == {"mechanism": "subset-selection"}


def test_a_distribution_of_few_values_is_not_smoothed_for_nothing():
    """Before, a smoothed forecast 1.6 times too small won against GRR's exact one, and was 24 % worse."""
    domain = bp.Integers(0, 19)
    taken = bp.recommend(domain, 3, "distribution", n=5000)
    assert taken.name == "GRR"
    rival = bp.BRR(domain, 3, m="mean", edges="padded")
    worst = {}
    for mechanism in (taken.mechanism, rival):
        worst[mechanism.m if mechanism is rival else 1] = max(
            found_errors(mechanism, shares, 5000, 6, lambda each, f=shares: (each.cdf() - f.cumsum())[:-1])
            for shares in shapes_of(domain).values()
        )
    # Simulated again, for the shape that is worst for each.
    assert worst[1] < worst[rival.m]


@pytest.mark.parametrize(("n", "epsilon"), [(2000, 1), (20_000, 3)])
def test_a_smoothed_distribution_is_forecast_within_a_factor_of_two_for_other_shapes(n, epsilon):
    """For shapes that no constant was chosen on; for a uniform population smoothing is nearly exact."""
    domain = bp.Integers(0, 59)
    mechanism = bp.BRR(domain, epsilon, m="cdf", edges="padded")
    promised = bp.forecast(mechanism, n, "distribution")
    x = (np.arange(60) + 0.5) / 60
    zero = np.full(60, 0.5 / 60)
    zero[0] += 0.5
    others = [x**3, 1 + np.sin(9 * x), zero, np.where(x < 0.1, 9.0, 1.0)]
    for weights in others:
        shares = weights / weights.sum()
        found = found_errors(mechanism, shares, n, 4, lambda each, f=shares: each.cdf() - f.cumsum())
        assert promised / 2.5 < found < 2 * promised


def test_weights_and_ranges_are_forecast_as_sums_over_the_matrix():
    mechanism = bp.BRR(AGES, 2, edges="padded")
    matrix, size = mechanism.matrix(), len(AGES)
    law = matrix.mean(axis=0)
    w = (np.arange(size) >= 30).astype(float)
    scores = (matrix / law).T @ np.linalg.inv((matrix / law) @ matrix.T) @ w
    expected = math.sqrt((law @ scores**2 - (law @ scores) ** 2) / 500)
    assert bp.forecast(mechanism, 500, w) == pytest.approx(expected, rel=1e-9)
    assert bp.forecast(mechanism, 500, ("range", 48, 50)) == pytest.approx(expected, rel=1e-9)
    around = bp.GRR(HOURS, 1)
    p, q = around.matrix()[0, 0], around.matrix()[0, 1]
    share = 4 / 24
    r = share * (p + 3 * q) + (1 - share) * 4 * q
    assert bp.forecast(around, 100, ("range", 22, 1)) == pytest.approx(math.sqrt(r * (1 - r) / 100) / (p - q), rel=1e-9)


def test_a_circle_has_no_first_value_that_smoothing_could_prefer():
    matrix, uniform = bp.BRR(HOURS, 1, m=5).matrix(), np.full(24, 1 / 24)
    steps = matrix[:-1] - matrix[1:]
    # The same in terms of shares: neighbours differ by 1/N³, around the circle; cumulative sums of their covariance.
    ring = np.roll(np.eye(24), 1, axis=1) - np.eye(24)
    lower = np.tri(24)
    free = np.vstack([np.eye(23), -np.ones(23)])  # shares add up to one
    precision = 900 * free.T @ (matrix / (uniform @ matrix)) @ matrix.T @ free + 24**3 * free.T @ ring.T @ ring @ free
    spread = lower @ free @ np.linalg.inv(precision) @ free.T @ lower.T
    assert smooth_variance(matrix, uniform, 900, around=True) == pytest.approx(np.trace(spread) / 24, rel=1e-9)
    assert len(steps) == 23
    assert without_asking(HOURS, "distribution") < without_asking(bp.Integers(1, 24), "distribution")
    assert without_asking(HOURS, "mean") == math.sqrt(0.5)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: bp.forecast(bp.GRR(AGES, 1), 0), InputError, "Expected n as a whole number of at least 1, got 0"),
        (lambda: bp.forecast(bp.GRR(AGES, 1), 10, "median"), InputError, "Expected of as 'mean', 'share', 'distr"),
        (lambda: bp.forecast(bp.GRR(AGES, 1), 10, [1, 2]), InputError, "Expected of as 33 weights, one for each value"),
        (lambda: bp.forecast(bp.GRR(AGES, 1), 10, ["x"]), InputError, "Expected of as 33 weights"),
        (lambda: bp.forecast(bp.GRR(AGES, 1), 10, prior=[1.0]), PriorError, "Expected prior as 33 probabilities"),
        (
            lambda: bp.forecast(bp.BRR(AGES, 1), 10, "share"),
            DesignError,
            "some values have the same reports; use ed",
        ),
        (lambda: bp.forecast(bp.BRR(AGES, 1), 10, np.arange(33)), DesignError, "The answer cannot be estimated from"),
        (
            lambda: bp.forecast(bp.GRR(bp.Points([[0, 0], [1, 1]]), 1), 10),
            DesignError,
            "are not numbers and have no mean; ask for the share of each value",
        ),
        (
            lambda: bp.forecast(bp.Geometric(bp.Integers(1, 5000), 1), 10),
            DesignError,
            "use an Interval of fewer points",
        ),
        (lambda: bp.forecast("x", 10), InputError, "mechanism"),
    ],
)
def test_what_cannot_be_forecast_is_refused_with_what_to_do(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_errors_fall_with_the_root_of_the_number_of_people():
    mechanism = bp.OUE(AGES, 1)
    one, many = (Foreseen(mechanism).errors("share", np.full((1, 33), 1 / 33), n)[0] for n in (1, 10_000))
    assert one == pytest.approx(100 * many)


def test_the_best_of_a_comparison_is_named_by_purpose_and_epsilon():
    compared = bp.compare(AGES, [1, 2], n=5000, purpose="statistics")
    assert compared.best("mean", 2).epsilon == "2"
    assert compared.best("mean", 1).mechanism == bp.recommend(AGES, 1, "mean", n=5000).mechanism
    with pytest.raises(InputError, match=r"Expected a purpose, one of 'mean', 'distribution', and one of ε = 1, 2"):
        compared.best("mean")
    assert bp.compare(AGES, 1).best().name == "Anchored"


def information_oracle(matrix, population, w):
    """The variance of an efficient unbiased answer from one report, by the information matrix itself."""
    law = population @ matrix
    information = (matrix / law) @ matrix.T
    return w @ np.linalg.solve(information, w) - (population @ w) ** 2


@pytest.mark.parametrize("prior", [None, "skewed"])
@pytest.mark.parametrize("name", ["padded", "grr", "geometric", "exponential"])
def test_forecasts_of_unbiased_answers_are_those_of_the_information_matrix(name, prior):
    """The least possible; only scores that are not fitted to the people, those of means, may have up to 3 % more."""
    line = bp.Interval(-2, 6, points=9)
    mechanism = {
        "padded": bp.BRR(line, 1, edges="padded"),
        "grr": bp.GRR(line, 1),
        "geometric": bp.Geometric(line, 2),
        "exponential": bp.Exponential(line, 2),
    }[name]
    population = np.full(9, 1 / 9) if prior is None else np.arange(1, 10) / 45
    matrix, values, n = mechanism.matrix(), line.to_numpy(), 10**7

    def error(w):
        return math.sqrt(information_oracle(matrix, population, w) / n)

    fixed = 1e-6 if prior is None or name == "grr" else 0.03
    assert bp.forecast(mechanism, n, "mean", population) == pytest.approx(error(values), rel=fixed)
    bins = math.sqrt(np.mean([error(unit) ** 2 for unit in np.eye(9)]))
    fitted = 1e-6 if prior is None or name in {"grr", "padded"} else 0.25
    assert bp.forecast(mechanism, n, "share", population) == pytest.approx(bins, rel=fitted)
    # With so many people nothing is smoothed.
    steps = math.sqrt(sum(error(row) ** 2 for row in np.tri(9)[:-1]) / 9)
    assert bp.forecast(mechanism, n, "distribution", population) == pytest.approx(steps, rel=1e-6)


def test_a_mean_may_be_estimable_where_a_histogram_is_not():
    mechanism = bp.Duchi(bp.Interval(0, 1, points=5), 1)
    with pytest.raises(DesignError, match="The share cannot be estimated"):
        bp.forecast(mechanism, 100, "share")
    # Duchi's reports are ±B around the middle: variance B² − (mean of squares around it) over the population.
    matrix, reports = mechanism.matrix(), mechanism.outputs.to_numpy()
    law = matrix.mean(axis=0)
    assert bp.forecast(mechanism, 100) == pytest.approx(math.sqrt((law @ reports**2 - (law @ reports) ** 2) / 100))


def test_a_forecast_for_very_many_values_is_quick_because_it_is_closed_form():
    found, coarse = (bp.forecast(bp.SquareWave(bp.Integers(0, size - 1), 1), 10**6) for size in (10**5, 1000))
    # The mean of a fine grid is as well known as that of a coarse one, in units of the range.
    assert found / 10**5 == pytest.approx(coarse / 10**3, rel=0.01)
