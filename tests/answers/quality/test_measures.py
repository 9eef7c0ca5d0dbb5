"""What a report is worth: every measure of every mechanism against the matrix, for every loss and prior."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite import BRR, GRR, OUE, Anchored, Constant, Geometric, Integers, Interval, Items, Record
from bipartite.errors import DomainError, InputError, PriorError
from bipartite.quality import loss as loss_of
from reproduction.quality import local_bound, qloss
from tests.oracle import exp
from tests.rivals import DOMAINS, MECHANISMS
from tests.strategies import brr, epsilons, integer_domains
from tests.strategies_sets import sets

NEAR = {"abs": 1e-9, "rel": 1e-9}


def own_losses(mechanism):
    """The domain's own loss for every value and report, one pair at a time."""
    domain, outputs = mechanism.domain, mechanism.outputs
    if hasattr(domain, "losses"):
        return np.array([[domain.losses(x)[domain.encode(y)] for y in outputs] for x in range(len(domain))])
    # In whole steps, so that equal distances are equal.
    return np.array([[round(abs(x - y) / domain.step) * domain.step for y in outputs] for x in domain])


def cases(mechanism):
    """(loss, what each pair costs)."""
    own = own_losses(mechanism)
    same = np.array([[report == value for report in mechanism.outputs] for value in mechanism.domain])
    matrix = np.random.default_rng(3).uniform(-2, 5, own.shape)
    yield None, own
    yield "squared", own**2
    yield "zero-one", 1.0 - same
    yield (lambda losses: np.sqrt(np.abs(losses)) + 1), np.sqrt(np.abs(own)) + 1
    yield matrix, matrix
    yield matrix.tolist(), matrix


@pytest.mark.grid(25)
@pytest.mark.parametrize("name", MECHANISMS)
def test_every_measure_is_that_of_the_matrix(name):
    mechanism = MECHANISMS[name]
    matrix = mechanism.matrix()
    prior = np.random.default_rng(5).dirichlet(np.ones(len(matrix)))
    certain = np.eye(len(matrix))[1]
    for loss, costs in cases(mechanism):
        local = (matrix * costs).sum(axis=1)
        assert loss_of(mechanism, loss=loss).by_value == pytest.approx(local, **NEAR)
        assert loss_of(mechanism, loss=loss).mean == pytest.approx(local.mean(), **NEAR)
        assert loss_of(mechanism, loss=loss).worst == pytest.approx(local.max(), **NEAR)
        for weights in (prior, prior.tolist(), certain):
            assert loss_of(mechanism, weights, loss=loss).mean == pytest.approx(np.array(weights) @ local, **NEAR)


@pytest.mark.grid(25)
@pytest.mark.parametrize("name", MECHANISMS)
def test_qloss_divides_by_the_largest_loss_between_two_values(name):
    mechanism = MECHANISMS[name]
    matrix = mechanism.matrix()
    for loss, costs in cases(mechanism):
        mean = (matrix * costs).sum(axis=1).mean()
        if loss is None or isinstance(loss, str) or callable(loss):
            # Between values, though reports may lie past the ends or be few.
            largest = next(between for other, between in cases(GRR(mechanism.domain, 1)) if _alike(other, loss)).max()
        else:
            largest = costs.max()
        if largest > 0:
            assert qloss(mechanism, loss=loss) == pytest.approx(mean / largest, **NEAR)
        else:
            with pytest.raises(
                InputError, match="Expected a loss with positive values, which QLoss divides by; use exp"
            ):
                qloss(mechanism, loss=loss)


def _alike(one, other):
    return (callable(one) and callable(other)) or one is other or (isinstance(one, str) and one == other)


@pytest.mark.grid(25)
@pytest.mark.parametrize("name", MECHANISMS)
def test_shares_and_quantiles_are_those_of_the_matrix(name):
    mechanism = MECHANISMS[name]
    matrix, own = mechanism.matrix(), own_losses(mechanism)
    drawn = np.random.default_rng(5).dirichlet(np.ones(len(matrix)))
    for prior in (None, drawn):
        joint = matrix * (np.full(len(matrix), 1 / len(matrix)) if prior is None else prior)[:, None]
        for distance in {0.0, *np.quantile(own, [0.1, 0.5, 0.9]).tolist(), float(own.max())}:
            expected = joint[own <= distance * (1 + 1e-9)].sum()
            if distance >= 0:
                assert loss_of(mechanism, prior).within(distance) == pytest.approx(expected, **NEAR)
        levels = np.unique(own)
        chances = np.array([joint[own <= level + 1e-9 * abs(level)].sum() for level in levels])
        for quantile in (1e-9, 0.05, 0.25, 0.5, 0.75, 0.9, 0.999):
            if np.abs(chances - quantile).min() < 1e-9:
                continue  # where rounding decides
            expected = levels[np.argmax(chances >= quantile)]
            assert loss_of(mechanism, prior).quantile(quantile) == pytest.approx(expected, **NEAR)
        assert loss_of(mechanism, prior).quantile(1) == pytest.approx(own[joint > 0].max(), **NEAR)
    assert loss_of(mechanism).quantile() == loss_of(mechanism).quantile(0.5)


SHORT = st.one_of(
    integer_domains(st.integers(2, 40)), st.builds(lambda n: Interval(0, 3, points=n), st.integers(2, 40))
)


@given(brr(SHORT), st.floats(0.001, 1), st.integers(0, 45), st.randoms())
def test_closed_forms_of_windows_are_those_of_the_matrix(mechanism, quantile, reach, random):
    matrix, own, step = mechanism.matrix(), own_losses(mechanism), mechanism.domain.step
    local = (matrix * own).sum(axis=1)
    assert loss_of(mechanism).by_value == pytest.approx(local)
    assert loss_of(mechanism).mean == pytest.approx(local.mean())
    prior = np.array([random.random() + 0.01 for _ in local])
    prior /= prior.sum()
    assert loss_of(mechanism, prior).mean == pytest.approx(prior @ local)
    assert loss_of(mechanism).worst == pytest.approx(local.max())
    assert qloss(mechanism) == pytest.approx(local.mean() / (step * (len(local) - 1)))

    def within(distance):
        return (matrix * (own <= distance)).sum(axis=1).mean()

    assert loss_of(mechanism).within(reach * step) == pytest.approx(within(reach * step * (1 + 1e-9)))
    far = loss_of(mechanism).quantile(quantile)
    assert within(far - step / 2) - 1e-9 < quantile <= within(far * (1 + 1e-9)) + 1e-9


@pytest.mark.parametrize(("points", "m", "distance"), [(2, 101, 60), (3, 11, 7), (3, 11, 1000), (2, 1, 0), (2, 1, 1)])
def test_windows_wider_than_the_domain_are_counted_right(points, m, distance):
    mechanism = BRR(Integers(1, points), 1, m=m, edges="padded")
    within = (mechanism.matrix() * (own_losses(mechanism) <= distance)).sum(axis=1).mean()
    assert loss_of(mechanism).within(distance) == pytest.approx(within)


@given(SHORT, st.integers(0, 45))
def test_always_answering_the_middle_costs_what_enumeration_says(domain, reach):
    values = domain.to_numpy()
    mechanism = Constant(domain)
    error = np.abs(values - values[(len(values) - 1) // 2])
    assert loss_of(mechanism).mean == pytest.approx(error.mean())
    distance = reach * domain.step
    assert loss_of(mechanism).within(distance) == pytest.approx((error <= distance * (1 + 1e-9)).mean())


@pytest.mark.parametrize(("epsilon", "expected"), [("0.25", 12.39), ("1", 9.75), ("2", 6.73), ("3", 4.47)])
def test_forty_points_give_the_reference_values(epsilon, expected):
    assert loss_of(BRR(Integers(1, 40), epsilon)).mean == pytest.approx(expected, abs=0.005)


def test_rows_are_read_in_blocks(monkeypatch):
    mechanisms = [MECHANISMS[f"{kind} on integers"] for kind in ("exponential", "geometric", "anchored")]
    whole = [
        (loss_of(each).by_value, loss_of(each).within(2), loss_of(each).quantile(0.7), loss_of(each).worst)
        for each in mechanisms
    ]
    monkeypatch.setattr("bipartite.answers.quality.losses._BLOCK", 30)
    for each, (local, share, quantile, worst) in zip(mechanisms, whole, strict=True):
        assert loss_of(each).by_value == pytest.approx(local)
        assert loss_of(each).within(2) == pytest.approx(share)
        assert loss_of(each).quantile(0.7) == quantile
        assert loss_of(each).worst == pytest.approx(worst)


def test_a_million_values_are_measured_without_a_matrix():
    size = 10**6
    domain = Integers(1, size)
    grr, window = GRR(domain, 1), BRR(domain, 1)
    near, far, total = grr.lottery.tickets.near, grr.lottery.tickets.far, grr.lottery.total
    assert near + (size - 1) * far == total
    # Σ_{x,y} |x − y| = N(N² − 1)/3.
    found, reach = loss_of(grr), 10**5
    assert found.mean == pytest.approx(float(Fraction(far * (size**2 - 1), 3 * total)), rel=1e-12)
    assert found.worst == pytest.approx(float(Fraction(far * size * (size - 1), 2 * total)), rel=1e-12)
    within = 2 * (size - reach) * reach + reach * (reach - 1)
    assert found.within(reach) == pytest.approx(float(Fraction(near * size + far * within, total * size)), rel=1e-10)
    # Theorem 3's limit of the ratio to GRR: (7h+9)/(4(h+1)²) with h = e^{ε/2}; 0.7320 at ε = 1.
    h = math.exp(0.5)
    assert loss_of(window).mean / found.mean == pytest.approx((7 * h + 9) / (4 * (h + 1) ** 2), rel=1e-4)
    assert 0 < loss_of(window).within(reach) < loss_of(window).within(size) == pytest.approx(1, abs=1e-9)
    with pytest.raises(InputError, match="Expected at most 2.27 values, got 1,000,000,000; use an Interval of fewer"):
        loss_of(GRR(Integers(1, 10**9), 1))


def by_enumeration(losses, e):
    """The least loss of a row whose weights are 1 or E, over how many of the smallest weigh E."""
    ordered = sorted(losses)
    return min((e * sum(ordered[:m]) + sum(ordered[m:])) / (e * m + len(ordered) - m) for m in range(len(ordered) + 1))


@given(st.one_of(sets, integer_domains(st.integers(2, 25)), st.just(Interval(-1, 1, points=21))), epsilons)
def test_the_local_bound_is_the_best_m_of_every_row(domain, epsilon):
    e = float(exp(epsilon))
    own = own_losses(GRR(domain, 1))
    bound = local_bound(domain, epsilon)
    assert bound == pytest.approx([by_enumeration(row, e) for row in own.tolist()], **NEAR)
    squares = [by_enumeration(row, e) for row in (own**2).tolist()]
    assert local_bound(domain, epsilon, loss="squared") == pytest.approx(squares, **NEAR)
    matrix = np.random.default_rng(len(domain)).uniform(0, 5, own.shape)
    assert local_bound(domain, epsilon, loss=matrix) == pytest.approx(
        [by_enumeration(row, e) for row in matrix.tolist()], **NEAR
    )
    for mechanism in (GRR(domain, epsilon), BRR(domain, epsilon)):
        assert (loss_of(mechanism).by_value >= bound - 1e-9 * (1 + np.abs(bound))).all()


def test_the_local_bound_is_no_bound_for_other_mechanisms():
    domain = Integers(1, 40)
    assert (loss_of(Anchored(domain, "0.1")).by_value < local_bound(domain, "0.1")).any()


TWO = GRR(Integers(1, 5), 1)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.2, 0.2, 0.2, 0.2, -0.2], "sum of 0.6; divide it by its sum"),
        ([0.5, 0.5, 0.5, 0, -0.5], "Expected prior as non-negative numbers that sum to 1, got a sum of 1; divide it"),
        ([0.2] * 4 + [0.3], "got a sum of 1.1; divide it by its sum"),
        ([0.2] * 4 + [math.nan], "got a sum of nan"),
        ([0.2] * 4 + [math.inf], "got a sum of inf"),
        ([0.25] * 4, "Expected prior as 5 probabilities, got shape \\(4,\\); give one for each value of the domain"),
        ([[0.2] * 5], "Expected prior as 5 probabilities, got shape \\(1, 5\\)"),
        (["0.2"] * 5, "Expected prior as 5 probabilities, got list; pass a list or an array"),
        ("uniform", "Expected prior as 5 probabilities, got str; pass a list or an array"),
        (0.2, "Expected prior as 5 probabilities, got shape \\(\\)"),
        ([0.2j] * 5, "Expected prior as 5 probabilities, got list"),
        (np.ma.masked_array([0.2] * 5, mask=[1, 0, 0, 0, 0]), "Expected prior as 5 probabilities, got MaskedArray"),
    ],
)
@pytest.mark.parametrize("mechanism", [TWO, Geometric(Integers(1, 5), 1)], ids=["window", "noise"])
def test_bad_priors_are_refused_everywhere(mechanism, prior, message):
    for measure in (
        lambda: loss_of(mechanism, prior).mean,
        lambda: qloss(mechanism, prior),
        lambda: loss_of(mechanism, prior).within(1),
        lambda: loss_of(mechanism, prior).quantile(0.5),
    ):
        with pytest.raises(PriorError, match=message):
            measure()


@pytest.mark.parametrize(
    "loss", ["cubed", 5, np.ones((2, 2)), [[1]], np.full((5, 5), np.nan), lambda own: own[..., :1]]
)
@pytest.mark.parametrize("mechanism", [TWO, Geometric(Integers(1, 5), 1)], ids=["window", "noise"])
def test_bad_losses_are_refused_everywhere(mechanism, loss):
    for measure in (lambda *given, **options: loss_of(*given, **options).mean, qloss):
        with pytest.raises(InputError, match="Expected (loss as None, 'squared'|a loss function that maps an array)"):
            measure(mechanism, loss=loss)
    with pytest.raises(InputError, match="Expected (loss as None, 'squared'|a loss function that maps an array)"):
        local_bound(mechanism.domain, 1, loss=loss)


@pytest.mark.parametrize("quantile", [0, -0.5, 1.0001, math.nan, math.inf, "0.5", None, True, 10**400, [0.5]])
def test_bad_quantiles_are_refused(quantile):
    with pytest.raises(InputError, match="^Expected quantile in \\(0, 1\\], got .*; 0.5 is the median.$"):
        loss_of(TWO).quantile(quantile)


@pytest.mark.parametrize("quantile", [1, np.int64(1), np.float32(1), Fraction(1)])
def test_quantiles_are_numbers_of_any_kind(quantile):
    assert loss_of(TWO).quantile(quantile) == 4


@pytest.mark.parametrize("distance", [-1, math.nan, "x", None, True, -(10**400), 1j])
def test_bad_distances_are_refused(distance):
    for mechanism in (TWO, Geometric(Integers(1, 5), 1)):
        with pytest.raises(InputError, match="^Expected distance ≥ 0, got .*; distances are not negative.$"):
            loss_of(mechanism).within(distance)


@pytest.mark.parametrize("distance", [4, 10**400, math.inf, np.float32(9), Fraction(9, 2)])
def test_everything_lies_within_a_long_way(distance):
    for mechanism in (TWO, Geometric(Integers(1, 5), 1), Constant(Integers(1, 5))):
        assert loss_of(mechanism).within(distance) == pytest.approx(1)


def test_items_of_a_spec_have_no_quality():
    from bipartite import from_spec

    mechanism = from_spec(GRR(DOMAINS["items"], 1).to_spec())
    for measure in (lambda each: loss_of(each).worst, qloss):
        with pytest.raises(DomainError, match="which carries only ranks; build them with loss="):
            measure(mechanism)
    assert loss_of(mechanism, loss="zero-one").mean == pytest.approx(1 - float(mpmath.e / (mpmath.e + 3)))


def test_losses_near_the_largest_double_have_an_expectation():
    far = Items(["here", "there"], loss=[[0, 1e300], [1e300, 0]])
    mech = GRR(far, 1)
    assert loss_of(mech).mean == pytest.approx(1e300 * mech.matrix()[0, 1])


def test_a_similarity_is_no_distance():
    """Its losses are below 0, so that every share within a distance would be 1."""
    songs = Items(["one", "two"], similarity=[[1, 0.2], [0.2, 1]])
    with pytest.raises(InputError, match="similarity, which is not a distance"):
        loss_of(GRR(songs, 1)).within(0.5)


@pytest.mark.parametrize("measure", [loss_of, qloss])
@pytest.mark.parametrize("wrong", [3, "x", OUE(Integers(0, 9), 1), Record({"a": GRR(Integers(0, 9), 1)})])
def test_what_reports_no_values_is_refused_by_name(measure, wrong):
    expected = f"Expected a mechanism whose reports are values, got {type(wrong).__name__}; pass bp.BRR"
    with pytest.raises(InputError, match=expected):
        measure(wrong)
