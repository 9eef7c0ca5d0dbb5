"""Estimates of values that go around: waves, arcs, direction and spread, quantiles from an origin, smoothing."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bipartite as bp
from bipartite.answers.estimation.cells import Cells
from bipartite.answers.estimation.intervals import chi_square_quantile, normal_width
from bipartite.errors import InputError

HOURS = bp.Cyclic(24)
ANGLES = 2 * np.pi * np.arange(24) / 24


def bell(middle, strength, size=24):
    shares = np.exp(strength * np.cos(2 * np.pi * (np.arange(size) - middle) / size))
    return shares / shares.sum()


def expected_counts(mechanism, shares, people=10**9):
    """Counts as the law says, so many that rounding does not matter."""
    return np.rint(people * (shares @ mechanism.matrix())).astype(np.int64)


def drawn_counts(mechanism, shares, people, rng):
    """Counts of the reports of people drawn from a population."""
    values = rng.multinomial(people, shares)
    return np.sum([rng.multinomial(n, row) for n, row in zip(values, mechanism.matrix(), strict=True)], axis=0)


def truth_of(shares, size=24):
    """(mean direction in steps, resultant length)."""
    vector = shares @ np.exp(2j * np.pi * np.arange(size) / size)
    return float(np.angle(vector) / (2 * np.pi) * size % size), abs(vector)


def holds(interval, value, size=24):
    """Whether an arc holds a direction."""
    if interval.high - interval.low >= size:
        return True
    return (value - interval.low) % size <= (interval.high - interval.low) % size


@given(st.integers(2, 30), st.data())
def test_products_and_scores_of_waves_are_those_of_the_matrix(size, data):
    m = data.draw(st.integers(1, size - 1))
    mechanism = bp.BRR(bp.Cyclic(size), 1, m=m)
    matrix, operator = mechanism.matrix(), mechanism.lottery.channel()
    rng = np.random.default_rng(size * 100 + m)
    rows = rng.dirichlet(np.ones(size), 3)
    assert np.allclose(operator.forward(rows), rows @ matrix) and np.allclose(
        operator.forward(rows[0]), rows[0] @ matrix
    )
    assert np.allclose(operator.backward(rows), rows @ matrix.T)
    found = bp.identifiability(mechanism)
    scores = found.scores(operator.uniform_law())
    answer = rows @ matrix.T
    assert np.allclose(scores.of(answer) @ matrix.T, answer)
    if not found.identifiable:
        assert scores.of(np.eye(size)[0]) is None and found.condition() == math.inf
        # Of all scores it has the least variance for a uniform population: that without any lost wave.
        assert np.allclose(scores.of(answer[0]), np.linalg.pinv(matrix, rcond=1e-10) @ answer[0], atol=1e-6)
        return
    inverse, law = np.linalg.inv(matrix), rows[1]
    moments, running = scores.shares(law), scores.cumulative(law)
    assert np.allclose([moments.mean, moments.square], [law @ inverse, law @ inverse**2])
    assert np.allclose(running.square, law @ inverse.cumsum(axis=1) ** 2)
    assert np.allclose(scores.share_spreads(), np.ptp(inverse, axis=0))
    assert found.condition() == pytest.approx(np.linalg.cond(matrix), rel=1e-6)


MECHANISMS = [
    bp.BRR(HOURS, 1),
    bp.BRR(HOURS, 1, m="histogram"),
    bp.GRR(HOURS, 2),
    bp.Exponential(HOURS, 2),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
@pytest.mark.parametrize(("middle", "strength"), [(0.4, 3.0), (12, 1.0), (17.25, 0.3)])
def test_direction_and_spread_are_those_of_the_people(mechanism, middle, strength):
    shares = bell(middle, strength)
    est = bp.estimate(mechanism, counts=expected_counts(mechanism, shares))
    mean, length = truth_of(shares)
    assert est.ask("circular_mean").value == pytest.approx(mean, abs=0.02)
    assert est.ask("resultant_length").value == pytest.approx(length, abs=0.001)
    assert est.ask("circular_spread").value == pytest.approx(
        math.sqrt(-2 * math.log(length)) * 24 / (2 * math.pi), abs=0.02
    )


def test_numbers_count_from_the_start_and_labels_from_zero():
    for domain, first in ((bp.Cyclic(12, start=1), 1), (bp.Cyclic(12, labels=list("abcdefghijkl")), 0)):
        mechanism = bp.GRR(domain, 2)
        est = bp.estimate(mechanism, counts=expected_counts(mechanism, bell(11.5, 4, 12)))
        assert est.ask("circular_mean").value == pytest.approx(first + 11.5, abs=0.01)
        low, high = est.ask("circular_mean").ci()
        assert low < first + 11.5 < high
        assert est.quantile(0.5, origin=domain[6]) == first + 11
        assert est.to_frame(bins=4)["first"].tolist() == [domain[at] for at in (0, 3, 6, 9)]


def test_an_arc_goes_past_the_last_value():
    mechanism = bp.GRR(HOURS, 2)
    shares = bell(0.4, 3)
    est = bp.estimate(mechanism, counts=drawn_counts(mechanism, shares, 20_000, np.random.default_rng(3)))
    night = np.isin(np.arange(24), [22, 23, 0, 1, 2, 3, 4]).astype(float)
    assert est.ask(("range", 22, 4)).value == pytest.approx(float(night @ est.shares))
    assert est.ask(("range", 22, 4)).ci() == pytest.approx(est.ask(night).ci())
    whole, single = est.ask(("range", 5, 4)), est.ask(("range", 5, 5))
    assert whole.value == pytest.approx(1) and single.value == pytest.approx(est.shares[5])
    inside, outside = (est.ask(("range", *ends)).value for ends in ((22, 4), (5, 21)))
    assert inside + outside == pytest.approx(1)


def test_the_ends_of_intervals_are_where_the_stated_tests_stop_to_accept():
    # By trying 20,000 directions and lengths; C, S and their covariance from the scores of the matrix.
    mechanism = bp.BRR(HOURS, 1, m="histogram")
    counts = drawn_counts(mechanism, bell(23.6, 0.8), 30_000, np.random.default_rng(8))
    est = bp.estimate(mechanism, counts=counts)
    waves = np.stack([np.cos(ANGLES), np.sin(ANGLES)])
    scores = np.linalg.solve(mechanism.matrix(), waves.T).T
    people = counts.sum()
    vector = scores @ counts / people
    covariance = ((scores - vector[:, None]) * counts) @ (scores - vector[:, None]).T / people / (people - 1)
    z = normal_width(0.9)
    assert vector @ np.linalg.solve(covariance, vector) > chi_square_quantile(0.9, 2)
    tried = np.linspace(-np.pi, np.pi, 20_001) + np.arctan2(vector[1], vector[0])
    across = np.stack([-np.sin(tried), np.cos(tried)])
    along = vector @ np.stack([np.cos(tried), np.sin(tried)]) > 0
    accepted = (np.abs(vector @ across) <= z * np.sqrt(np.einsum("ik,ij,jk->k", across, covariance, across))) & along
    ends = np.array([tried[accepted].min(), tried[accepted].max()]) / (2 * np.pi) * 24 % 24
    assert est.ask("circular_mean").ci(0.9) == pytest.approx(ends, abs=0.003)
    unit = vector / np.linalg.norm(vector)
    lengths = np.linspace(0, 1, 20_001)
    squared = vector @ vector - covariance.trace()
    error = np.sqrt(4 * lengths**2 * (unit @ covariance @ unit) + 2 * (covariance @ covariance).trace())
    accepted = lengths[np.abs(squared - lengths**2) <= z * error]
    assert est.ask("resultant_length").value == pytest.approx(math.sqrt(squared))
    interval = est.ask("resultant_length").ci(0.9)
    assert interval == pytest.approx((accepted.min(), accepted.max()), abs=5e-4)
    steps = [math.sqrt(-2 * math.log(each)) * 24 / (2 * math.pi) for each in interval]
    assert est.ask("circular_spread").ci(0.9) == pytest.approx(steps[::-1])


@pytest.mark.grid(2)
@pytest.mark.parametrize("mechanism", [bp.BRR(HOURS, 1, m="histogram"), bp.BRR(HOURS, 1), bp.GRR(HOURS, 3)], ids=repr)
@pytest.mark.parametrize(("middle", "strength"), [(0.4, 2.0), (14.0, 0.3), (0.0, 0.0)])
def test_intervals_hold_as_often_as_they_say(mechanism, middle, strength):
    # 300 seeded samples at 95 %: below 0.87 or, for a length, above 0.997 by chance in fewer than 1 of 10^6 runs.
    shares = bell(middle, strength)
    mean, length = truth_of(shares)
    rng = np.random.default_rng(20261116)
    inside = np.zeros(4)
    for _ in range(300):
        est = bp.estimate(mechanism, counts=drawn_counts(mechanism, shares, 2_000, rng))
        arc, ends = est.ask("circular_mean").ci(), est.ask("resultant_length").ci()
        half = (ends.high - ends.low) / 6
        undetermined = "not determined" in arc.note
        inside += [
            undetermined or (strength > 0 and holds(arc, mean)),
            ends.low <= length <= ends.high,
            # The power of this test: intervals of a third of the width hold too seldom.
            est.ask("resultant_length").value - half <= length <= est.ask("resultant_length").value + half,
            undetermined,
        ]
    right, right_length, too_narrow, said = inside / 300
    assert right >= 0.87 and 0.87 <= right_length <= 0.997
    assert too_narrow < 0.8 or strength == 0
    assert strength or said >= 0.87


def test_where_no_direction_is_preferred_that_is_said():
    mechanism = bp.GRR(HOURS, 1)
    est = bp.estimate(mechanism, counts=expected_counts(mechanism, np.full(24, 1 / 24), 24_000))
    interval = est.ask("circular_mean").ci()
    assert interval == (0.0, 24.0) and interval.note.startswith("the direction is not determined")
    assert est.ask("resultant_length").ci().low == 0 and est.ask("circular_spread").value == math.inf
    assert est.ask("circular_spread").ci().high == math.inf
    assert "the direction is not determined" in est.summary()
    even = bp.estimate(mechanism, counts=[10] * 24)
    assert math.isnan(even.ask("circular_mean").value) or even.ask("circular_mean").ci() == (0.0, 24.0)


@pytest.mark.parametrize("people", [1, 2, 7, 30])
def test_few_reports_give_bounds_that_hold(people):
    mechanism = bp.GRR(HOURS, 6)
    shares = bell(0.4, 8)
    mean, length = truth_of(shares)
    rng = np.random.default_rng(people)
    held = 0
    for _ in range(60):
        est = bp.estimate(mechanism, counts=drawn_counts(mechanism, shares, people, rng))
        arc, ends = est.ask("circular_mean").ci(), est.ask("resultant_length").ci()
        held += holds(arc, mean) and ends.low <= length <= ends.high
        assert ends.low <= est.ask("resultant_length").value <= ends.high <= 1
    assert held >= 54  # of 60 at 95 %: fewer in 1 of 1,000 runs


def test_a_box_of_few_reports_is_seen_as_its_corners_are():
    mechanism = bp.GRR(HOURS, 8)
    est = bp.estimate(mechanism, mechanism.privatize([6] * 45, rng=bp.insecure_seed(1)))
    arc = est.ask("circular_mean").ci(0.5)
    assert arc.low < 6 < arc.high and arc.high - arc.low < 12
    assert est.ask("resultant_length").ci(0.5).low > 0


def test_values_that_cannot_be_told_apart_leave_the_direction_open():
    mechanism = bp.Anchored(HOURS, 3, anchors=[4, 12, 20])
    shares = bell(5, 4)
    est = bp.estimate(mechanism, counts=expected_counts(mechanism, shares, 50_000))
    arc, ends = est.ask("circular_mean").ci(), est.ask("resultant_length").ci()
    mean, length = truth_of(shares)
    assert holds(arc, mean) and arc.high - arc.low > 4 and arc.note.startswith("the reports cannot tell all values")
    assert ends.low <= length <= ends.high and ends.high - ends.low > 0.2
    assert "24 values in 3 groups share their rows: 1–8 (8), 9–16 (8), 17–0 (8)" in str(bp.identifiability(mechanism))


@pytest.mark.parametrize("method", ["inverse", "projected", "em"])
@pytest.mark.parametrize("origin", [0, 5, 18])
def test_a_quantile_from_an_origin_is_that_of_a_line_that_begins_there(method, origin):
    # GRR knows no neighbours: around a circle and on a line it is the same, but for where counting begins.
    shares = bell(22, 2)
    around, line = bp.GRR(HOURS, 2), bp.GRR(bp.Integers(0, 23), 2)
    counts = drawn_counts(around, shares, 5_000, np.random.default_rng(4))
    est = bp.estimate(around, counts=counts, method=method)
    other = bp.estimate(line, counts=np.roll(counts, -origin), method=method)
    for q in (0.1, 0.5, 0.8):
        assert est.quantile(q, origin=origin) == (other.quantile(q) + origin) % 24
        ends = other.ask(("quantile", q)).ci()
        assert est.ask(("quantile", q, origin)).ci() == tuple((end + origin) % 24 for end in ends)


def test_quantiles_of_a_curve_count_from_their_origin_and_lie_in_their_interval():
    mechanism = bp.BRR(HOURS, 1, m="cdf")
    shares = bell(0.4, 2)
    est = bp.estimate(mechanism, counts=expected_counts(mechanism, shares, 20_000))
    assert est.method == "smooth"
    running = np.roll(shares, -12).cumsum()
    for q in (0.25, 0.5, 0.9):
        true = (12 + int(np.argmax(running >= q))) % 24
        low, high = est.ask(("quantile", q, 12)).ci()
        assert (low - 12) % 24 <= (true - 12) % 24 <= (high - 12) % 24
        assert (low - 12) % 24 <= (est.quantile(q, origin=12) - 12) % 24 <= (high - 12) % 24


def test_smoothing_goes_around():
    cells = Cells(bp.GRR(bp.Cyclic(9), 1).lottery.channel(), together=True, around=True)
    step = (2 * np.eye(9) + np.roll(np.eye(9), 1, axis=1) + np.roll(np.eye(9), -1, axis=1)) / 4
    for steps in (1, 2, 5):
        assert np.allclose(cells.smoother(steps), np.linalg.matrix_power(step, steps))
    assert cells.smoother(0) is None
    few = cells.smoother(200)
    assert len(few) == 2 and np.allclose(few.sum(axis=1), 1)


def test_a_circle_that_is_turned_has_the_same_curve_turned():
    mechanism = bp.BRR(bp.Cyclic(12), 1, m=5)
    counts = drawn_counts(mechanism, bell(0, 1.5, 12), 4_000, np.random.default_rng(2))
    first = bp.estimate(mechanism, counts=counts, method="em")
    turned = bp.estimate(mechanism, counts=np.roll(counts, 5), method="em")
    assert np.allclose(np.roll(first.shares, 5), turned.shares, atol=1e-4)
    assert turned.ask("circular_mean").value == pytest.approx((first.ask("circular_mean").value + 5) % 12)
    assert turned.ask("resultant_length").value == pytest.approx(first.ask("resultant_length").value)


def test_many_values_need_no_table():
    mechanism = bp.BRR(bp.Cyclic(86_400), 1, m="mean")
    seconds = np.random.default_rng(5).normal(3600, 5000, 20_000).round().astype(int) % 86_400
    est = bp.estimate(mechanism, mechanism.privatize(seconds, rng=bp.insecure_seed(5)))
    low, high = est.ask("circular_mean").ci()
    assert low < 3600 < high and est.identifiable


NO_LINE = "The values of Cyclic\\(24\\) lie on a circle and have no .* ask for 'circular_mean', 'resultant_length'"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda est: est.mean, NO_LINE),
        (lambda est: est.ask("variance").value, NO_LINE),
        (lambda est: est.median, NO_LINE),
        (lambda est: est.cdf(), NO_LINE),
        (lambda est: est.quantile(0.5), NO_LINE),
        (lambda est: est.ask().ci(), NO_LINE),
        (lambda est: est.ask("median").ci(), NO_LINE),
        (lambda est: est.ask(("quantile", 0.5)).ci(), "Expected 'circular_mean', .*got \\('quantile', 0.5\\)"),
        (lambda est: est.ask(("cdf", 3)).ci(), "Expected 'circular_mean', .*got \\('cdf', 3\\)"),
        (lambda est: est.ask([1, 2]).ci(), "Expected 'circular_mean', .*this domain has 24 values"),
        (lambda est: est.ask("circular_mean").forged(1), "No bound is known on what forged reports can do"),
        (lambda est: est.ask(("quantile", 0.5, 0)).forged(1), "No bound is known on what forged reports can do"),
        (lambda est: bp.difference(est, est), NO_LINE),
    ],
)
def test_what_a_circle_has_not_is_refused(ask, message):
    est = bp.estimate(bp.GRR(HOURS, 1), counts=[10] * 24)
    with pytest.raises(InputError, match=message):
        ask(est)


def test_what_only_a_circle_has_is_refused_elsewhere():
    est = bp.estimate(bp.GRR(bp.Integers(0, 23), 1), counts=[10] * 24)
    for ask in (
        lambda: est.ask("circular_mean").value,
        lambda: est.ask("resultant_length").ci(),
        lambda: est.quantile(0.5, 3),
    ):
        with pytest.raises(InputError, match="Expected values on a circle, bp.Cyclic, got Integers\\(0, 23\\)"):
            ask()


def test_methods_that_need_more_are_refused():
    with pytest.raises(InputError, match="method='ems' is in reproduction/ems.py of the repository.*method='smooth'"):
        bp.estimate(bp.GRR(HOURS, 1), counts=[10] * 24, method="ems").shares.sum()
    with pytest.raises(InputError, match="share the factor 3.*use method='smooth' or 'em'.*or collect with GRR"):
        bp.estimate(bp.BRR(HOURS, 1), counts=[10] * 24, method="inverse").shares.sum()


def test_flat_categories_of_a_circle_have_a_direction_too():
    mechanism = bp.OUE(HOURS, 2)
    values = np.random.default_rng(6).choice(24, 20_000, p=bell(0.4, 3))
    est = bp.estimate(mechanism, mechanism.privatize(values, rng=bp.insecure_seed(6)))
    mean, length = truth_of(np.bincount(values, minlength=24) / 20_000)
    assert holds(est.ask("circular_mean").ci(0.999), mean)
    low, high = est.ask("resultant_length").ci(0.999)
    assert low < length < high


def test_ninety_nine_of_a_hundred_at_one_value_have_intervals_that_hold():
    # 400 samples of 60 reports; the normal law without rare values held .69 and .62. By chance below .92: 1 in 100.
    mechanism = bp.GRR(bp.Cyclic(7), 6)
    shares = np.full(7, 0.005 / 6)
    shares[0] = 0.995
    mean, length = truth_of(shares, size=7)
    rng, inside = np.random.default_rng(20261118), np.zeros(2)
    for _ in range(400):
        est = bp.estimate(mechanism, counts=drawn_counts(mechanism, shares, 60, rng))
        low, high = est.ask("resultant_length").ci()
        inside += holds(est.ask("circular_mean").ci(), mean, size=7), low <= length <= high
    assert (inside >= 0.92 * 400).all()


@pytest.mark.parametrize("kind", [bp.GRR, bp.BRR])
def test_a_part_of_pairs_that_goes_around_has_a_direction(kind):
    mechanism = kind(bp.Product(bp.Cyclic(12, start=1), bp.Integers(0, 1)), 3)
    months = np.random.default_rng(7).choice(12, 6_000, p=bell(11, 3, 12)) + 1
    pairs = list(zip(months.tolist(), [0, 1] * 3_000, strict=True))
    est = bp.estimate(mechanism, mechanism.privatize(pairs, rng=bp.insecure_seed(7))).joint(names=("month", "other"))
    month = est.marginal("month")
    assert holds(month.ask("circular_mean").ci(0.999), 12, size=12)
    low, high = month.ask(("quantile", 0.5, 6)).ci()
    assert (low - 6) % 12 <= (month.quantile(0.5, origin=6) - 6) % 12 <= (high - 6) % 12
