"""Every mechanism but BRR: formulas as published, ε in exact arithmetic, scalar against bulk, and what is refused."""

import copy
import itertools
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from bipartite import (
    BRR,
    GRR,
    Anchored,
    Constant,
    Exponential,
    Geometric,
    Integers,
    Interval,
    Items,
    Optimal,
    Record,
    SquareWave,
    from_spec,
    insecure_seed,
    verify,
)
from bipartite.errors import (
    DesignError,
    DomainError,
    InputError,
    OutsideDomainError,
    PriorError,
)
from bipartite.mechanisms.brr import square_wave_width
from bipartite.quality import loss as loss_of
from tests.rivals import DOMAINS, MECHANISMS
from tests.strategies import epsilons
from tests.strategies_sets import sets

EPSILONS = ["0.001", "0.01", "0.1", "0.5", "1", "2", "3.3", "5", "8", "12"]
SMALL = st.builds(lambda low, size: Integers(low, low + size - 1), st.integers(-9, 9), st.integers(2, 30))


# --- formulas, coded from the papers


def grr(size, epsilon):
    e = math.exp(epsilon)
    return (np.full((size, size), 1.0) + (e - 1) * np.eye(size)) / (e + size - 1)


def exponential(losses, theta):
    weights = np.exp(-theta * (losses - losses.min(axis=1, keepdims=True)))
    return weights / weights.sum(axis=1, keepdims=True)


def sensitivity(losses):
    """The largest difference of two losses of one report."""
    return max(abs(a - b) for column in losses.T.tolist() for a, b in itertools.combinations(column, 2))


def clamped_geometric(size, epsilon):
    alpha = math.exp(-epsilon / (size - 1))
    matrix = np.zeros((size, size))
    for x in range(size):
        for y in range(size):
            if 0 < y < size - 1:
                matrix[x, y] = (1 - alpha) / (1 + alpha) * alpha ** abs(x - y)
            else:
                # Pr[Z ≥ k] = α^k/(1 + α) for k ≥ 0.
                matrix[x, y] = alpha ** abs(x - y) / (1 + alpha)
    return matrix


def square_wave(size, epsilon):
    """Li et al., section 5.4: d buckets, reports from 1 to d + 2b, p for |v − ṽ| ≤ b."""
    e = mpmath.exp(mpmath.mpf(epsilon))
    width = (mpmath.mpf(epsilon) * e - e + 1) / (2 * e * (e - 1 - mpmath.mpf(epsilon)))
    b = int(mpmath.floor(width * size))
    q = 1 / ((2 * b + 1) * float(e) + size - 1)
    return np.array([[float(e) * q if abs(y - b - x) <= b else q for y in range(size + 2 * b)] for x in range(size)])


def distances(size):
    return np.abs(np.subtract.outer(np.arange(float(size)), np.arange(float(size))))


@pytest.mark.grid(16)
@pytest.mark.parametrize("size", [2, 3, 10, 41])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_matrices_are_the_published_formulas(size, epsilon):
    domain, number_ = Integers(5, 4 + size), float(epsilon)
    assert np.abs(GRR(domain, epsilon).matrix() - grr(size, number_)).max() < 1e-9
    assert np.abs(Geometric(domain, epsilon).matrix() - clamped_geometric(size, number_)).max() < 1e-9
    wave = SquareWave(domain, epsilon)
    assert wave.matrix().shape == square_wave(size, epsilon).shape
    assert np.abs(wave.matrix() - square_wave(size, epsilon)).max() < 1e-9
    published = Exponential(domain, epsilon, variant="published").matrix()
    assert np.abs(published - exponential(distances(size), number_ / 2 / (size - 1))).max() < 1e-9


@given(sets, epsilons)
def test_both_exponentials_on_any_losses(domain, epsilon):
    losses = domain.loss_matrix()
    shifted = losses - losses.min(axis=1, keepdims=True)
    if not (shifted.max(axis=0) > shifted.min(axis=0)).any():
        with pytest.raises(DesignError, match="Expected losses that depend on the value, got the same for all"):
            Exponential(domain, epsilon)
        return
    published = Exponential(domain, epsilon, variant="published")
    reported = [domain.encode(value) for value in published.outputs]
    expected = exponential(losses, float(epsilon) / 2 / sensitivity(losses))
    assert np.abs(published.matrix() - expected[:, reported]).max() < 1e-9
    assert expected[:, [y for y in range(len(domain)) if y not in reported]].max(initial=0) < 1e-300
    tight = Exponential(domain, epsilon)
    assert verify(published).holds and verify(tight).holds
    # The tight one has one θ for all log-odds, and (where tickets can tell) spends all of ε.
    matrix = tight.matrix()
    if len([domain.encode(value) for value in tight.outputs]) == len(domain) and matrix.min() > 1e-6:
        assert float(verify(tight).epsilon_upper) == pytest.approx(float(epsilon), abs=1e-6)
        odds = np.log(matrix) - np.log(matrix.max(axis=1, keepdims=True))
        thetas = -odds[shifted > 1e-6 * shifted.max()] / shifted[shifted > 1e-6 * shifted.max()]
        assert thetas.max() - thetas.min() <= 1e-4 * thetas.max()


def test_the_reference_numbers_of_the_exponential_mechanism():
    forty = Integers(1, 40)
    assert loss_of(Exponential(forty, 1, variant="published")).mean == pytest.approx(12.31, abs=0.005)
    assert loss_of(Exponential(forty, 1)).mean == pytest.approx(11.34, abs=0.005)
    # "about ε/2 on this domain"
    assert 0.45 < float(verify(Exponential(forty, 1, variant="published")).epsilon_upper) < 0.7
    assert float(verify(Exponential(forty, 1)).epsilon_upper) == pytest.approx(1, abs=1e-9)


def test_the_reference_utilities_of_jaccard():
    domain = Items.tanimoto(np.arange(1, 101))
    assert -loss_of(GRR(domain, 2)).mean == pytest.approx(0.634, abs=6e-4)
    # 0.684 takes the whole range of a similarity for its sensitivity, Δ = 1; on these items it is 0.9899.
    losses = domain.loss_matrix()
    assert sensitivity(losses[[0, 99]]) == pytest.approx(0.9899, abs=1e-4)
    assert -(exponential(losses, 2 / 2) * losses).sum(axis=1).mean() == pytest.approx(0.684, abs=6e-4)
    assert -loss_of(Exponential(domain, 2, variant="published")).mean == pytest.approx(0.685, abs=1e-4)

    def excess(theta):
        matrix = exponential(losses, theta)
        return np.log((matrix.max(axis=0) / matrix.min(axis=0)).max()) - 2

    theta = brentq(excess, 0.5, 5)
    tight = -(exponential(losses, theta) * losses).sum(axis=1).mean()
    assert -loss_of(Exponential(domain, 2)).mean == pytest.approx(tight, abs=1e-9)
    assert tight == pytest.approx(0.6966, abs=1e-4)


@pytest.mark.parametrize("size", [2, 3, 8, 9, 40, 101])
def test_a_constant_costs_a_quarter_of_the_range(size):
    cost = Fraction(size, 4) if size % 2 == 0 else Fraction(size * size - 1, 4 * size)
    assert loss_of(Constant(Integers(1, size))).mean == pytest.approx(float(cost), rel=1e-12)


@given(sets, st.sampled_from([None, "squared", "zero-one", np.sqrt]), st.booleans(), st.integers(0, 2**32))
def test_a_constant_is_the_best_single_answer(domain, loss, weighted, seed):
    losses = domain.loss_matrix()
    if loss is np.sqrt and losses.min() < 0:
        loss = None
    own = {None: losses, "squared": losses**2, "zero-one": 1.0 - np.eye(len(domain))}
    matrix = own[loss] if loss is None or isinstance(loss, str) else np.sqrt(losses)
    prior = np.random.default_rng(seed).dirichlet(np.ones(len(domain))) if weighted else None
    chosen = Constant(domain, prior=prior, loss=loss)
    flat = np.full(len(domain), 1 / len(domain)) if prior is None else prior
    costs = flat @ matrix
    assert costs[chosen.outputs.indices[0]] == pytest.approx(costs.min(), rel=1e-9, abs=1e-300)
    assert chosen.matrix().tolist() == [[1.0]] * len(domain)


def test_a_constant_on_a_line_is_the_median_of_its_prior():
    prior = [0.1, 0.2, 0.05, 0.05, 0.6]
    assert Constant(Integers(1, 5), prior=prior).answer == 5
    assert Constant(Integers(1, 5), prior=prior, loss="squared").answer == 4
    assert Constant(Integers(1, 10**9)).answer == 500_000_000


@pytest.mark.parametrize("epsilon", ["1e-15", "1e-9", "0.001", "0.0199999", "0.02", "0.0200001", "0.1", "1", "5", "30"])
def test_the_width_of_the_square_wave_has_no_cancellation(epsilon):
    with mpmath.workdps(80):
        eps = mpmath.mpf(epsilon)
        e = mpmath.exp(eps)
        expected = (eps * e - e + 1) / (2 * e * (e - 1 - eps))
    assert square_wave_width(float(epsilon)) == pytest.approx(float(expected), rel=1e-10)


def test_a_loss_of_zero_or_one_makes_the_exponential_mechanism_grr():
    matrix = Exponential(Integers(1, 9), "1.5", loss="zero-one").matrix()
    assert np.abs(matrix - GRR(Integers(1, 9), "1.5").matrix()).max() < 1e-12


@pytest.mark.parametrize("unit", [1e-320, 1e-300, 1e-9, 1e9, 1e300])
def test_the_exponential_mechanism_has_no_unit(unit):
    losses = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    matrix = Exponential(Items(None, loss=losses), 1).matrix()
    assert np.abs(Exponential(Items(None, loss=losses * unit), 1).matrix() - matrix).max() < 1e-3


# --- ε, in exact arithmetic


def test_geometric_refuses_what_whole_numbers_cannot_hold():
    for size, epsilon in ((10, "45"), (2**22, "50"), (10, "0.000000000000001")):
        with pytest.raises(
            DesignError, match=f"2\\^52 tickets cannot keep ε={epsilon} on N={size} values; use another"
        ):
            Geometric(Integers(1, size), epsilon)


def test_a_constant_spends_nothing():
    for name, mechanism in MECHANISMS.items():
        if name.startswith("constant"):
            certificate = verify(mechanism)
            assert (certificate.ratio, certificate.epsilon_upper, certificate.holds) == (1, 0, True)
            assert (mechanism.epsilon, mechanism.epsilon_decimal) == (0.0, Decimal(0))
            assert certificate.guarantee == "0-LDP: reports do not depend on the value"


def test_a_certificate_does_not_believe_a_tabled_mechanism():
    mechanism = Exponential(Integers(1, 4), 1)
    rows = mechanism.lottery.tickets.copy()
    top = int(rows[:, 0].argmax())
    rows[top, 0] += rows[top, 1] - 1
    rows[top, 1] = 1
    forged = object.__new__(Exponential)
    forged._hold(mechanism.domain, mechanism._budget, {**mechanism.facts, "rows": rows})
    assert not verify(forged).holds
    with pytest.raises(InputError, match="that keeps its ε, got Exponential\\(.*which spends more; verify"):
        Record({"it": forged})


# --- one report, many reports


def test_random_rounding_and_a_few_outputs_go_together_past_a_block():
    mechanism = MECHANISMS["anchored on random"]
    values = np.random.default_rng(1).uniform(-1, 1, 20_000)
    bulk = mechanism.privatize(values, rng=insecure_seed(8))
    scalars = [mechanism.privatize(value, rng=source) for source in [insecure_seed(8)] for value in values.tolist()]
    assert bulk.tolist() == scalars
    assert set(scalars) == set(mechanism.anchors)


# --- objects that stay what they are


def test_equal_mechanisms_of_two_classes_have_one_hash():
    two, line = Integers(0, 1), Integers(0, 30)
    wave = SquareWave(line, 1)
    other = BRR(line, 1, m=wave.m, edges="padded")
    assert wave == other
    assert hash(wave) == hash(other)
    assert len({wave, other}) == 1
    assert GRR(two, 1) != BRR(two, 1, m=1)
    assert SquareWave(line, 1).half_window == pickle.loads(pickle.dumps(wave)).half_window


def test_an_anchored_of_one_anchor_or_of_weaker_tickets_travels():
    single = Anchored(Integers(0, 9), "0.5", anchors=[5])
    assert from_spec(single.to_spec()) == single
    assert from_spec(Anchored(Integers(1, 3), "0.01").to_spec()).anchors == [2]
    assert verify(single).ratio == 1
    spec = Anchored(Integers(0, 9), 1, anchors=[2, 7]).to_spec()
    weaker = from_spec({**spec, "tickets": {"near": "3", "far": "2"}})
    assert verify(weaker).ratio == Fraction(3, 2)
    assert pickle.loads(pickle.dumps(weaker)) == weaker
    designed = Anchored(Integers(1, 100), 2)
    twin = pickle.loads(pickle.dumps(designed))
    assert (twin.achieved_loss, twin.lower_bound, twin.gap) == (
        designed.achieved_loss, designed.lower_bound, designed.gap,
    )  # fmt: skip
    assert designed.gap == pytest.approx(0, abs=1e-9)
    assert (single.gap, single.achieved_loss, single.lower_bound) == (None, None, None)


@given(sets, st.data())
def test_anchored_reports_the_nearest_anchor_most_often(domain, data):
    chosen = data.draw(st.sets(st.integers(0, len(domain) - 1), min_size=2))
    mechanism = Anchored(domain, 1, anchors=[domain[at] for at in chosen])
    assert mechanism.outputs.indices.tolist() == sorted(chosen)
    losses = domain.loss_matrix()[:, sorted(chosen)]
    likeliest = mechanism.matrix().argmax(axis=1)
    for x in range(len(domain)):
        assert losses[x, likeliest[x]] == pytest.approx(losses[x].min(), rel=1e-6, abs=1e-9)
    k, e = len(chosen), math.e
    assert np.sort(np.unique(mechanism.matrix().round(9))) == pytest.approx(
        [1 / (e + k - 1), e / (e + k - 1)], abs=1e-8
    )


@given(SMALL, st.data())
def test_anchored_on_a_line_breaks_ties_downwards(domain, data):
    chosen = sorted(data.draw(st.sets(st.integers(0, len(domain) - 1), min_size=1)))
    mechanism = Anchored(domain, 1, anchors=[domain[at] for at in chosen][::-1])
    expected = [min(range(len(chosen)), key=lambda k: (abs(chosen[k] - x), k)) for x in range(len(domain))]
    assert mechanism.lottery.groups.tolist() == expected


# --- several attributes


def test_a_record_adds_nothing_for_a_constant():
    constant, grr_ = Constant(Integers(0, 9)), GRR(Integers(0, 9), "0.3")
    both = Record({"a": constant, "b": grr_})
    assert both.epsilon_decimal == Decimal("0.3")
    assert Record({"a": constant, "b": grr_}, sample=1).epsilon_decimal == Decimal("0.3")
    nothing = Record({"a": constant})
    assert (nothing.epsilon_decimal, nothing.epsilon) == (0, 0.0)
    assert both.privatize({"a": 9, "b": 3})["a"] == 4
    assert both.privatize({"a": [9, 0], "b": [3, 3]})["a"] == [4, 4]
    for record in (both, nothing):
        twin = pickle.loads(pickle.dumps(record))
        assert twin == record == copy.deepcopy(record)
        assert hash(twin) == hash(record)


# --- what does not fit


POINTS, ITEMS = DOMAINS["points"], DOMAINS["items"]
ON_A_LINE = (
    "Expected domain as bp.Integers or bp.Interval, got (Points|Items), which has no low and high; "
    "use bp.BRR, bp.GRR, bp.Exponential or bp.Anchored there"
)
NINE = Integers(1, 9)


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: Geometric(POINTS, 1), DesignError, ON_A_LINE),
        (lambda: Geometric(ITEMS, 1), DesignError, ON_A_LINE),
        (lambda: SquareWave(POINTS, 1), DesignError, ON_A_LINE),
        (lambda: SquareWave(ITEMS, 1), DesignError, ON_A_LINE),
        (lambda: Geometric(Integers(0, 2**22), 1), DesignError, "at most 2\\^22 values, got 4194305; use bp.BRR, or a"),
        (lambda: GRR(Integers(0, 2**31 - 1), "0.0001"), DesignError, "too small for N=2147483648.*; use a larger ε, o"),
        (lambda: GRR(Integers(0, 9), 50), DesignError, "ε=50 is too large for N=10.*; use a smaller ε, or fewer value"),
        (lambda: Exponential(NINE, 1, variant="best"), InputError, "variant='tight' or 'published', got 'best'"),
        (lambda: Exponential(NINE, 1, variant=["tight"]), InputError, "variant='tight' or 'published', got \\['tight'"),
        (lambda: Exponential(Integers(1, 6000), 1), DesignError, "at most 2\\^25, got 6000 × 6000; use a smaller doma"),
        (lambda: Exponential(NINE, 1, loss=np.ones((9, 9))), DesignError, "Expected losses that depend on the value"),
        (
            lambda: Exponential(Items(None, loss=[[-1e308, 1e308], [1e308, -1e308]]), 1),
            DesignError,
            "Expected losses whose differences are finite numbers, got larger ones; scale them down",
        ),
        (lambda: Exponential(NINE, 1, loss="cubed"), InputError, "Expected loss as None, 'squared', 'zero-one', a fun"),
        (lambda: Optimal(Integers(1, 401), 1), DesignError, "Expected at most 400 items .*, got 401; use Anchored"),
        (lambda: Optimal(Integers(1, 6000), 1), DesignError, "at most 2\\^25, got 6000 × 6000"),
        (lambda: Optimal(NINE, 19), DesignError, "Expected e\\^ε of at most 1e\\+08 .*; use Anchored or GRR"),
        (lambda: Optimal(NINE, 1, prior="uniform"), InputError, "None for uniform, or 'minimax', got 'uniform'"),
        (lambda: Optimal(NINE, 1, prior=[1.0]), PriorError, "Expected prior as 9 probabilities, got shape \\(1,\\)"),
        (lambda: Optimal(NINE, 1, loss=np.eye(3)), InputError, "or a 9 × 9 matrix, got shape \\(3, 3\\); loss=None us"),
        (lambda: Anchored(NINE, 1, prior="uniform"), InputError, "None for uniform, or 'minimax', got 'uniform'"),
        (lambda: Anchored(NINE, 1, prior=[0.5, 0.5]), PriorError, "Expected prior as 9 probabilities, got shape \\(2,"),
        (lambda: Anchored(NINE, 1, loss="zero-one"), InputError, "a function that never falls .* use bp.GRR"),
        (lambda: Anchored(NINE, 1, loss="cubed"), InputError, "a function that never falls .* use bp.GRR"),
        (lambda: Anchored(NINE, 1, loss=np.ones((9, 9))), InputError, "for another loss build bp.Items with loss="),
        (lambda: Anchored(NINE, 1, loss=np.negative), InputError, "that never falls as the domain's loss grows; build"),
        (lambda: Anchored(POINTS, 1, loss=np.negative), InputError, "that never falls as the domain's loss grows; bui"),
        (lambda: Anchored(NINE, 1, loss=lambda own: own[:2]), InputError, "maps an array to finite numbers"),
        (lambda: Anchored(NINE, 1, loss=lambda _: "many"), InputError, "maps an array to finite numbers"),
        (lambda: Anchored(NINE, 1, loss=lambda own: own * 1j), InputError, "maps an array to finite numbers"),
        (lambda: Anchored(NINE, 1, anchors=[]), InputError, "Expected one or more distinct anchors, got 0 with 0 rep"),
        (lambda: Anchored(NINE, 1, anchors=[3, 3, 4]), InputError, "distinct anchors, got 3 with 1 repeated"),
        (lambda: Anchored(NINE, 1, anchors=[10]), OutsideDomainError, "10 is outside 1..9"),
        (lambda: Anchored(NINE, 1, anchors="abc"), InputError, "Expected anchors as a list of values .*, got str"),
        (lambda: Anchored(NINE, 1, anchors=5), InputError, "Expected anchors as a list of values .*, got int"),
        (lambda: Anchored(NINE, 1, anchors=[5], prior=[1.0]), InputError, "Given anchors need no prior, no loss and"),
        (lambda: Anchored(NINE, 1, anchors=[5], loss="squared"), InputError, "need no prior, no loss and no outputs"),
        (lambda: Anchored(NINE, "0.000000000000001", anchors=[1, 9]), DesignError, "too small for N=2 anchors.*; us"),
        (lambda: Anchored(Integers(0, 2**24), 1), DesignError, "Expected at most 2\\^24 values, got 16777217; use an "),
        (lambda: Constant(NINE, prior=[0.5] * 9), PriorError, "sum to 1, got a sum of 4.5; divide it by its sum"),
        (lambda: Constant(NINE, loss="cubed"), InputError, "Expected loss as None, 'squared', 'zero-one'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_and_says_why(make, kind, message):
    with pytest.raises(kind, match=message):
        make()


MAKERS = [GRR, Exponential, Geometric, SquareWave, Anchored, Optimal, lambda domain, _: Constant(domain)]


@pytest.mark.parametrize("make", MAKERS)
def test_a_domain_is_values_and_nothing_else(make):
    padded = SquareWave(Interval(0, 1, points=9), 1).outputs
    few = Anchored(NINE, 1, anchors=[2, 5]).outputs
    for outputs in (padded, few):
        with pytest.raises(
            InputError, match="Expected domain as values, got the outputs of another mechanism; pass its"
        ):
            make(outputs, 1)
    with pytest.raises(InputError, match="Expected domain as bp.Items for labels, or bp.Integers for a range, got"):
        make([1, 2], 1)


@pytest.mark.parametrize("kind", [BRR, GRR, Anchored])
def test_labels_are_no_domain_even_where_epsilon_is_missing(kind):
    with pytest.raises(InputError, match="Expected domain as bp.Items for labels, or bp.Integers for a range, got"):
        kind(["a", "b"])


@pytest.mark.grid(24)
@pytest.mark.parametrize("make", MAKERS[:-1])
@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "x", None, True, "1.234567890123456789012"])
def test_epsilon_is_a_positive_decimal(make, epsilon):
    with pytest.raises(InputError, match="Expected epsilon as a positive decimal|Expected domain"):
        make(Integers(0, 1), epsilon)


def test_items_of_a_spec_have_no_losses_to_design_with():
    items = from_spec(GRR(ITEMS, 1).to_spec()).domain
    for make in (Exponential, Optimal, lambda domain, _: Constant(domain)):
        with pytest.raises(DomainError, match="which carries only ranks; build them with loss="):
            make(items, 1)
    assert GRR(items, 1).privatize("a") in ["a", "b", "c", "d"]


# --- secrecy


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("epsilon", ["0.001", "1", "15", "20", "30"])
def test_the_tight_exponential_spends_what_it_was_given(size, epsilon):
    """Of two values at ε = 20 the far report has few tickets: rounding them down once cost 3.6 of the 20."""
    spent = verify(Exponential(Integers(1, size), epsilon)).epsilon_upper
    # A ticket or two of the rarest report is what rounding may cost: it holds some 2^52/e^ε of them.
    assert float(epsilon) - float(spent) <= 1e-9 + 4 * math.exp(float(epsilon)) / 2**52


def test_a_table_is_held_once():
    for mechanism in (Exponential(Integers(1, 9), 1), Optimal(Integers(1, 9), 1)):
        assert np.shares_memory(mechanism.facts["rows"], mechanism.lottery.tickets)
