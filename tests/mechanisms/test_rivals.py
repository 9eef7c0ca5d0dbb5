"""Every mechanism but BRR: formulas as published, ε in exact arithmetic, scalar against bulk, and what is refused."""

import copy
import functools
import itertools
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from bipartite import (
    BRR,
    GRR,
    LSRR,
    RR,
    Anchored,
    Constant,
    Exponential,
    Geometric,
    Integers,
    Interval,
    Items,
    Optimal,
    Points,
    Record,
    SquareWave,
    expected_loss,
    fixed_words,
    from_spec,
    insecure_seed,
    verify,
)
from bipartite.errors import (
    DesignError,
    DomainError,
    InputError,
    NotAValueError,
    NullError,
    OutsideDomainError,
    PriorError,
    WordsExhaustedError,
)
from bipartite.lottery.words import CHUNK
from bipartite.mechanisms.square_wave import square_wave_width
from tests.oracle import exp, number
from tests.rivals import DOMAINS, KEEPING, MECHANISMS
from tests.strategies import epsilons
from tests.strategies_sets import sets

EPSILONS = ["0.001", "0.01", "0.1", "0.5", "1", "2", "3.3", "5", "8", "12"]
DIGITS = ["1.2345678901234567891", "0.69314718055994530941", "0.10000000000000000001", "11.999999999999999999"]
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
    if size == 2:
        assert np.abs(RR(domain, epsilon).matrix() - grr(2, number_)).max() < 1e-9


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
    assert expected_loss(Exponential(forty, 1, variant="published")) == pytest.approx(12.31, abs=0.005)
    assert expected_loss(Exponential(forty, 1)) == pytest.approx(11.34, abs=0.005)
    # "about ε/2 on this domain"
    assert 0.45 < float(verify(Exponential(forty, 1, variant="published")).epsilon_upper) < 0.7
    assert float(verify(Exponential(forty, 1)).epsilon_upper) == pytest.approx(1, abs=1e-9)


def test_the_reference_utilities_of_jaccard():
    domain = Items.tanimoto(np.arange(1, 101))
    assert -expected_loss(GRR(domain, 2)) == pytest.approx(0.634, abs=6e-4)
    # 0.684 takes the whole range of a similarity for its sensitivity, Δ = 1; on these items it is 0.9899.
    losses = domain.loss_matrix()
    assert sensitivity(losses[[0, 99]]) == pytest.approx(0.9899, abs=1e-4)
    assert -(exponential(losses, 2 / 2) * losses).sum(axis=1).mean() == pytest.approx(0.684, abs=6e-4)
    assert -expected_loss(Exponential(domain, 2, variant="published")) == pytest.approx(0.685, abs=1e-4)

    def excess(theta):
        matrix = exponential(losses, theta)
        return np.log((matrix.max(axis=0) / matrix.min(axis=0)).max()) - 2

    theta = brentq(excess, 0.5, 5)
    tight = -(exponential(losses, theta) * losses).sum(axis=1).mean()
    assert -expected_loss(Exponential(domain, 2)) == pytest.approx(tight, abs=1e-9)
    assert tight == pytest.approx(0.6966, abs=1e-4)


@pytest.mark.parametrize("size", [2, 3, 8, 9, 40, 101])
def test_a_constant_costs_a_quarter_of_the_range(size):
    cost = Fraction(size, 4) if size % 2 == 0 else Fraction(size * size - 1, 4 * size)
    assert expected_loss(Constant(Integers(1, size))) == pytest.approx(float(cost), rel=1e-12)


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


@functools.cache
def exact_exp(epsilon):
    return exp(epsilon)


def assert_keeps(mechanism, epsilon):
    """Every ratio of the actual rows, against 1200 digits of e^ε; the certificate says the same."""
    rows = mechanism.lottery.rows(0, len(mechanism.domain)).tolist()
    assert {sum(row) for row in rows} == {mechanism.lottery.total}
    assert mechanism.lottery.total <= 2**52
    ratio = max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))
    certificate = verify(mechanism)
    assert ratio == mechanism.largest_ratio() == certificate.ratio
    assert certificate.holds
    assert mechanism.keeps_epsilon
    assert mpmath.mpf(ratio.numerator) <= exact_exp(epsilon) * ratio.denominator
    assert number(certificate.epsilon_upper) >= mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
    assert mechanism.guarantee == f"ε-LDP of each report with ε = {Decimal(epsilon).normalize():f}"
    return float(certificate.epsilon_upper)


@pytest.mark.parametrize("epsilon", EPSILONS + DIGITS)
@pytest.mark.parametrize("size", [2, 3, 7, 40])
def test_epsilon_is_kept_on_lines(size, epsilon):
    for domain in (Integers(1, size), Interval(0, 1, points=size)):
        for kind in (GRR, Exponential, Geometric, SquareWave, Anchored):
            realised = assert_keeps(kind(domain, epsilon), epsilon)
            if kind is not Anchored or realised:  # a single anchor spends nothing
                assert realised == pytest.approx(float(epsilon), abs=1e-6, rel=1e-3)
        assert_keeps(Exponential(domain, epsilon, variant="published"), epsilon)
    if size <= 7:
        assert_keeps(Optimal(Integers(1, size), epsilon), epsilon)
    if size == 2:
        assert assert_keeps(RR(Integers(0, 1), epsilon), epsilon) == pytest.approx(float(epsilon), rel=1e-3)


@given(sets, epsilons)
def test_epsilon_is_kept_on_sets(domain, epsilon):
    kinds = [GRR, Anchored, Optimal, _exponential_where_losses_differ]
    if isinstance(domain, Points) and domain.metric == "haversine":
        kinds += [LSRR]
    for kind in kinds:
        mechanism = kind(domain, epsilon)
        if mechanism is not None:
            assert_keeps(mechanism, epsilon)


def _exponential_where_losses_differ(domain, epsilon):
    try:
        return Exponential(domain, epsilon)
    except DesignError as error:
        assert "the same for all" in str(error)  # noqa: PT017
        return None


@pytest.mark.parametrize("epsilon", ["0.000001", "0.0000000001", "0.000000000001", "20", "30", "36", "45", "50"])
@pytest.mark.parametrize("size", [2, 3, 10, 100])
def test_extreme_epsilons_are_kept_or_refused_with_advice(size, epsilon):
    for kind in (GRR, Exponential, Geometric, SquareWave, Anchored, Optimal):
        if kind is Optimal and size > 10:
            continue
        try:
            mechanism = kind(Integers(1, size), epsilon)
        except DesignError as error:
            assert "; use " in str(error) or "2^52" in str(error)  # noqa: PT017
        else:
            assert_keeps(mechanism, epsilon)


def test_geometric_refuses_what_whole_numbers_cannot_hold():
    for size, epsilon in ((10, "45"), (2**22, "50"), (10, "0.000000000000001")):
        with pytest.raises(
            DesignError, match=f"2\\^52 tickets cannot keep ε={epsilon} on N={size} values; use another"
        ):
            Geometric(Integers(1, size), epsilon)


def test_a_constant_spends_nothing():
    for name, mechanism in KEEPING.items():
        if name.startswith("constant"):
            certificate = verify(mechanism)
            assert (certificate.ratio, certificate.epsilon_upper, certificate.holds) == (1, 0, True)
            assert (mechanism.epsilon, mechanism.epsilon_decimal) == (0.0, Decimal(0))
            assert certificate.guarantee == "0-LDP: reports do not depend on the value"
            assert mechanism.keeps_epsilon


def test_a_certificate_does_not_believe_a_tabled_mechanism():
    mechanism = Exponential(Integers(1, 4), 1)
    rows = mechanism.lottery.tickets.copy()
    top = int(rows[:, 0].argmax())
    rows[top, 0] += rows[top, 1] - 1
    rows[top, 1] = 1
    forged = Exponential._made(mechanism.domain, mechanism._budget, rows, "tight")
    assert not verify(forged).holds
    assert not forged.keeps_epsilon


# --- one report, many reports


def values_of(mechanism, count, seed=5):
    """Values of the domain; between the nodes too where they are rounded."""
    rng = np.random.default_rng(seed)
    domain = mechanism.domain
    if isinstance(domain, Interval):
        return rng.uniform(domain.low, domain.high, count).tolist()
    return [domain[int(at)] for at in rng.integers(0, len(domain), count)]


def some_words(count, seed=3):
    words = np.random.default_rng(seed).integers(0, 2**64, count, dtype=np.uint64)
    words[::7] = 0  # redrawn wherever anything is
    return words.tolist()


def one_by_one(mechanism, values, words, **options):
    source = fixed_words(words)
    return [mechanism.privatize(value, rng=source, **options) for value in values], source._start


@pytest.mark.parametrize("name", MECHANISMS)
def test_many_reports_are_those_of_one_by_one_and_take_the_same_words(name):
    mechanism = MECHANISMS[name]
    values, words = values_of(mechanism, 60), some_words(4000)
    expected, used = one_by_one(mechanism, values, words)
    source = fixed_words(words)
    assert mechanism.privatize(values, rng=source) == expected
    assert source._start == used
    assert all(report in mechanism.outputs for report in expected)
    # No word too many is needed, and one too few is noticed.
    assert mechanism.privatize(values, rng=fixed_words(words[:used])) == expected
    with pytest.raises(WordsExhaustedError):
        mechanism.privatize(values, rng=fixed_words(words[: used - 1]))


CONTAINERS = {
    "tuple": tuple,
    "array": np.array,
    "pandas": pd.Series,
    "polars": pl.Series,
    "arrow": pa.array,
    "chunked": lambda values: pa.chunked_array([values[:7], values[7:]]),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_container_gets_the_reports_of_a_list(name):
    mechanism = MECHANISMS[name]
    values, words = values_of(mechanism, 20), some_words(2000)
    expected = mechanism.privatize(values, rng=fixed_words(words))
    as_list = {"tuple": list, "polars": pl.Series.to_list, "chunked": pa.ChunkedArray.to_pylist}
    for kind, container in CONTAINERS.items():
        given_values = container(values)
        reports = mechanism.privatize(given_values, rng=fixed_words(words))
        assert type(reports) is type(given_values)
        assert as_list.get(kind, lambda found: found.tolist())(reports) == expected


@pytest.mark.parametrize(
    "dtype", ["int8", "int16", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64"]
)
@pytest.mark.parametrize("kind", ["grr", "exponential", "geometric", "square wave", "anchored", "constant"])
def test_every_type_of_number_gets_the_same_reports(kind, dtype):
    mechanism = MECHANISMS[f"{kind} on integers"]
    values = np.array([0, 1, 5, 8, 3, 0, 2], dtype=dtype)
    words = some_words(200)
    expected, _ = one_by_one(mechanism, values.astype(int).tolist(), words)
    reports = mechanism.privatize(values, rng=fixed_words(words))
    assert reports.tolist() == expected
    assert np.can_cast(values.dtype, reports.dtype, "same_kind") or reports.dtype.kind == "i"
    scalars = [mechanism.privatize(value, rng=source) for source in [fixed_words(words)] for value in values]
    assert scalars == expected
    assert {type(scalar) for scalar in scalars} == {reports.dtype.type}


@pytest.mark.parametrize(
    "kind", ["grr", "exponential", "geometric", "square wave", "anchored", "constant", "one anchor"]
)
def test_values_outside_are_clipped_alike_or_refused(kind):
    mechanism = MECHANISMS[f"{kind} on integers"]
    values, words = [-100, 3, 9, 10**9, -4], some_words(100)
    clipped = mechanism.privatize([-3, 3, 8, 8, -3], rng=fixed_words(words))
    assert mechanism.privatize(values, outside="clip", rng=fixed_words(words)) == clipped
    assert mechanism.privatize(np.array(values), outside="clip", rng=fixed_words(words)).tolist() == clipped
    assert one_by_one(mechanism, values, words, outside="clip")[0] == clipped
    with pytest.raises(OutsideDomainError, match="4 of 5 values cannot be reported: values\\[0\\] is outside -3..8"):
        mechanism.privatize(values)
    with pytest.raises(NotAValueError, match="1 of 2 values cannot be reported: values\\[1\\] is not a whole number"):
        mechanism.privatize([1, 2.5])


@pytest.mark.parametrize("name", [name for name in MECHANISMS if "labels" in name or "items" in name])
def test_there_is_nothing_to_clip_on_a_set_and_unknown_labels_are_refused(name):
    mechanism = MECHANISMS[name]
    with pytest.raises(InputError, match="outside='clip' has no meaning on a set"):
        mechanism.privatize(mechanism.domain[0], outside="clip")
    with pytest.raises(
        OutsideDomainError, match="1 of 2 values cannot be reported: values\\[1\\] is not one of the labels"
    ):
        mechanism.privatize([mechanism.domain[0], "Atlantis"])


@pytest.mark.parametrize("name", MECHANISMS)
def test_nulls_are_kept_in_place_or_refused(name):
    mechanism = MECHANISMS[name]
    first, words = mechanism.domain[0], some_words(500)
    expected = mechanism.privatize([first, first], rng=fixed_words(words))
    kept = mechanism.privatize([first, None, first], nulls="keep", rng=fixed_words(words))
    assert kept == [expected[0], None, expected[1]]
    assert mechanism.privatize(pl.Series([first, None, first]), nulls="keep", rng=fixed_words(words)).to_list() == kept
    assert mechanism.privatize(None, nulls="keep") is None
    with pytest.raises(NullError, match="1 of 3 values are missing"):
        mechanism.privatize([first, None, first])


@pytest.mark.parametrize("name", ["exponential on integers", "geometric on integers", "anchored on integers"])
def test_reports_depend_on_words_and_not_on_threads(name):
    mechanism = MECHANISMS[name]
    values = np.random.default_rng(1).integers(-3, 9, CHUNK + 777)
    one = mechanism.privatize(values, rng=insecure_seed(3))
    assert (mechanism.privatize(values, rng=insecure_seed(3), threads=2) == one).all()
    assert (mechanism.privatize(values[:CHUNK], rng=insecure_seed(3)) == one[:CHUNK]).all()
    scalars = [mechanism.privatize(int(value), rng=source) for source in [insecure_seed(3)] for value in values[:300]]
    assert one[:300].tolist() == scalars
    for position in (CHUNK - 1, CHUNK, CHUNK + 776):
        wrong = values.copy()
        wrong[position] = 9
        with pytest.raises(
            OutsideDomainError, match=f"1 of {CHUNK + 777} values cannot be reported: values\\[{position}"
        ):
            mechanism.privatize(wrong, threads=2)


def test_random_rounding_and_a_few_outputs_go_together_past_a_block():
    mechanism = MECHANISMS["anchored on random"]
    values = np.random.default_rng(1).uniform(-1, 1, 20_000)
    bulk = mechanism.privatize(values, rng=insecure_seed(8))
    scalars = [mechanism.privatize(value, rng=source) for source in [insecure_seed(8)] for value in values.tolist()]
    assert bulk.tolist() == scalars
    assert set(scalars) == set(mechanism.anchors)


@pytest.mark.parametrize("name", MECHANISMS)
def test_reports_follow_the_matrix(name):
    # 20,000 reports of one value: a count deviates by more than 6 standard deviations and 1 with chance below 10^−8.
    mechanism = MECHANISMS[name]
    at = len(mechanism.domain) // 2
    reports = mechanism.privatize([mechanism.domain[at]] * 20_000, rng=insecure_seed(11))
    counts = np.bincount([mechanism.outputs.encode(report) for report in reports], minlength=len(mechanism.outputs))
    chances = mechanism.matrix()[at]
    assert (np.abs(counts - 20_000 * chances) <= 6 * np.sqrt(20_000 * chances * (1 - chances)) + 1).all()


# --- objects that stay what they are


@pytest.mark.parametrize("name", MECHANISMS)
def test_copies_and_pickles_are_the_same_mechanism(name):
    mechanism = MECHANISMS[name]
    for twin in (pickle.loads(pickle.dumps(mechanism)), copy.copy(mechanism), copy.deepcopy(mechanism)):
        assert type(twin) is type(mechanism)
        assert twin == mechanism
        assert hash(twin) == hash(mechanism)
        assert repr(twin) == repr(mechanism)
        assert verify(twin) == verify(mechanism)
        assert twin.outputs == mechanism.outputs
        assert_frozen(twin)
    assert_frozen(mechanism)
    assert mechanism != "mechanism"
    assert {mechanism: 1}[pickle.loads(pickle.dumps(mechanism))] == 1


def assert_frozen(mechanism):
    for name in ("epsilon", "domain", "outputs", "_lottery", "variant"):
        with pytest.raises(AttributeError):
            setattr(mechanism, name, None)
    lottery = mechanism.lottery
    held = [getattr(lottery, name, None) for name in ("tickets", "running", "groups")]
    held += [getattr(mechanism.outputs, "indices", None)]
    for array in held:
        if isinstance(array, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0


def test_equal_mechanisms_of_two_classes_have_one_hash():
    two, line = Integers(0, 1), Integers(0, 30)
    wave = SquareWave(line, 1)
    for one, other in ((RR(two, 1), GRR(two, 1)), (wave, BRR(line, 1, m=wave.m, edges="padded"))):
        assert one == other
        assert hash(one) == hash(other)
        assert len({one, other}) == 1
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


@pytest.mark.parametrize("name", KEEPING)
def test_a_record_takes_every_mechanism_that_keeps_its_epsilon(name):
    mechanism = KEEPING[name]
    record = Record({"it": mechanism, "age": GRR(Integers(18, 90), "0.5")})
    assert record.epsilon_decimal == mechanism.epsilon_decimal + Decimal("0.5")
    values = values_of(mechanism, 5)
    reports = record.privatize({"it": values, "age": [18] * 5})
    assert all(report in mechanism.outputs for report in reports["it"])


def test_a_record_refuses_a_mechanism_that_spends_more_than_it_says():
    broken = MECHANISMS["lsrr as published on points"]
    with pytest.raises(
        InputError,
        match="Expected a mechanism for 'place' that keeps its ε, got "
        "LSRR\\(<6 points, haversine>, epsilon=1, variant='published'\\), which spends more; verify\\(\\) says how",
    ):
        Record({"age": GRR(Integers(18, 90), 1), "place": broken})
    with pytest.raises(InputError, match="2 problems:"):
        Record({"place": pickle.loads(pickle.dumps(broken)), "age": 1}, sample=1)


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
        (lambda: RR(Integers(1, 3), 1), DesignError, "Expected a domain of two values, got 3; use bp.GRR for more"),
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
        (lambda: LSRR(NINE, 1), DesignError, "Points\\(…, metric='haversine'\\): L-SRR needs map tiles; use bp.BRR el"),
        (lambda: LSRR(Points([[0, 0], [1, 1]]), 1), DesignError, "Expected domain as bp.Points\\(…, metric='haversine"),
        (lambda: LSRR(POINTS, 1, variant="tight"), InputError, "Expected variant='calibrated' or 'published', got 'ti"),
        (lambda: LSRR(POINTS, 1, thresholds=(10, 6)), DesignError, "Expected 0 as the last threshold, got 6; end with"),
        (lambda: LSRR(POINTS, 1, thresholds=(6, 10, 0)), DesignError, "Expected thresholds as two or more decreasing "),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_and_says_why(make, kind, message):
    with pytest.raises(kind, match=message):
        make()


MAKERS = [GRR, RR, Exponential, Geometric, SquareWave, Anchored, Optimal, LSRR, lambda domain, _: Constant(domain)]


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


SENTINEL = 918_273_645


@pytest.mark.parametrize(
    "kind", [GRR, Geometric, Exponential, Anchored, SquareWave, lambda domain, _: Constant(domain)]
)
@pytest.mark.parametrize(
    "values",
    [
        [2, SENTINEL],
        np.array([2, SENTINEL]),
        np.array([2.0, SENTINEL + 0.546372819]),
        np.full(3000, SENTINEL),
        pd.Series([2, SENTINEL]),
        pl.Series([2, SENTINEL]),
        pa.array([2, SENTINEL]),
        [2, str(SENTINEL)],
        [None, SENTINEL],
    ],
    ids=lambda values: type(values).__name__,
)
def test_an_array_error_shows_no_value(kind, values):
    mechanism = kind(NINE, 1)
    with pytest.raises(ValueError, match="values") as caught:
        mechanism.privatize(values)
    error = caught.value
    for text in (str(error), repr(error), pickle.dumps(error).decode("latin-1"), repr(error.__context__)):
        assert "918273" not in text
        assert "546372819" not in text


@pytest.mark.parametrize("make", [GRR, lambda domain, _: Constant(domain), SquareWave])
def test_a_mechanism_that_has_reported_holds_no_value(make):
    mechanism = make(Integers(0, 2**30 - 1), 1)
    mechanism.privatize(SENTINEL)
    mechanism.privatize([SENTINEL] * 3)
    for text in (repr(mechanism), pickle.dumps(mechanism).decode("latin-1"), str(mechanism.to_spec())):
        assert "918273" not in text


def test_labels_do_not_show_either():
    mechanism = Anchored(DOMAINS["labels"], 1)
    with pytest.raises(OutsideDomainError) as caught:
        mechanism.privatize(["Berlin", "Sentinel-918273645"])
    assert "918273645" not in str(caught.value) + repr(caught.value)
    with pytest.raises(OutsideDomainError, match="'Sentinel-918273645' is not one of the labels") as caught:
        mechanism.privatize("Sentinel-918273645")
    assert "918273645" not in repr(caught.value) + pickle.dumps(caught.value).decode("latin-1")


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("epsilon", ["0.001", "1", "15", "20", "30"])
def test_the_tight_exponential_spends_what_it_was_given(size, epsilon):
    """Of two values at ε = 20 the far report has few tickets: rounding them down once cost 3.6 of the 20."""
    spent = verify(Exponential(Integers(1, size), epsilon)).epsilon_upper
    # A ticket or two of the rarest report is what rounding may cost: it holds some 2^52/e^ε of them.
    assert float(epsilon) - float(spent) <= 1e-9 + 4 * math.exp(float(epsilon)) / 2**52
