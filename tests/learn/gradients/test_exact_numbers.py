"""Arithmetic that no order can change, against NumPy, SciPy and whole numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy import special

from bipartite.errors import InputError
from bipartite.learn.gradients import exact_numbers, replacements
from bipartite.learn.gradients.operations import OrderFree
from bipartite.learn.gradients.replacements import NotOrderFree

TINY = np.finfo(float).tiny
SPREAD = np.concatenate(
    [np.linspace(-30, 30, 4001), [0.0, 1e-300, -1e-300, 5e-324, 1e-17, -1e-17, 700.0, -700.0, 1e300, -1e300]]
)


def like(found, wanted, digits):
    np.testing.assert_allclose(found.numpy(), wanted, rtol=10.0**-digits, atol=10.0**-digits * TINY)


@pytest.mark.parametrize(
    ("function", "oracle", "digits"),
    [
        (exact_numbers.hyperbolic_tangent, np.tanh, 9),  # 1 − t loses digits of small numbers, relatively
        (exact_numbers.sigmoid, special.expit, 14),
        (exact_numbers.error_function, special.erf, 6),
    ],
)
def test_functions_of_any_number(function, oracle, digits):
    found = function(torch.from_numpy(SPREAD)).numpy()
    np.testing.assert_allclose(found, oracle(SPREAD), rtol=0, atol=10.0**-digits)
    assert np.isnan(function(torch.tensor([math.nan], dtype=torch.float64)).numpy()).all()
    ends = function(torch.tensor([-math.inf, math.inf], dtype=torch.float64)).numpy()
    np.testing.assert_allclose(ends, oracle(np.array([-np.inf, np.inf])), atol=1e-300)


def test_exponential_and_logarithms():
    x = np.linspace(-690, 690, 5001)
    like(exact_numbers.exponential(torch.from_numpy(x)), np.exp(x), 14)
    above = np.concatenate([np.geomspace(1e-300, 1e300, 3001), [5e-324, 1.0, 2.0, 1 + 2**-52, 1 - 2**-53]])
    found = exact_numbers.logarithm(torch.from_numpy(above)).numpy()
    np.testing.assert_allclose(found, np.log(above), rtol=1e-14, atol=1e-15)
    small = np.concatenate([np.geomspace(1e-300, 1e5, 2001), -np.geomspace(1e-300, 0.99, 2001)])
    like(exact_numbers.logarithm_of_more(torch.from_numpy(small)), np.log1p(small), 13)
    odd = torch.tensor([0.0, -1.0, math.inf, math.nan], dtype=torch.float64)
    assert exact_numbers.logarithm(odd).tolist()[0] == -math.inf
    assert exact_numbers.logarithm(odd).isnan().tolist() == [False, True, False, True]
    # Within 2^±1000 also 1/e^x is a number; beyond it is 0 or infinite at once.
    ends = exact_numbers.exponential(torch.tensor([-1e308, -math.inf, -700, 700, math.inf, 1e308], dtype=torch.float64))
    assert ends.tolist() == [0.0] * 3 + [math.inf] * 3
    assert exact_numbers.logarithm_of_more(torch.tensor([math.inf], dtype=torch.float64)).tolist() == [math.inf]


def test_square_roots_are_rounded_correctly():
    x = torch.from_numpy(np.random.default_rng(1).uniform(0, 100, 3000))
    for root, square in zip(exact_numbers.square_root(x).tolist(), x.tolist(), strict=True):
        apart = abs(Fraction(root) ** 2 - Fraction(square))
        assert all(apart <= abs(Fraction(math.nextafter(root, to)) ** 2 - Fraction(square)) for to in (0, math.inf))


def test_powers_of_two_reach_from_the_smallest_to_the_largest():
    k = torch.arange(-1022, 1024)
    assert exact_numbers.power_of_two(k).tolist() == [math.ldexp(1.0, each) for each in k.tolist()]


@pytest.mark.parametrize("terms", [1, 2, 3, 512, 513, 2**30])
def test_products_of_so_many_bits_are_exact_whatever_is_added_first(terms):
    p, q = exact_numbers.bits_for(terms)
    assert terms * 2 ** (p + q) <= 2**53 < 4 * terms * 2 ** (p + q)


@pytest.mark.parametrize("scale", [1.0, 1e300, 1e-300, 5e-324])
def test_whole_numbers_are_small_enough_and_near(scale):
    x = torch.from_numpy(np.random.default_rng(2).uniform(-1, 1, (4, 9)) * scale)
    numbers, back = exact_numbers.whole(x, [-1], 20)
    assert (numbers == numbers.round()).all() and numbers.abs().max() <= 2**20
    assert ((numbers * back - x).abs() <= torch.maximum(x.abs().amax(1, keepdim=True) * 2**-19, back)).all()


def test_one_row_that_is_not_finite_spoils_itself_alone():
    a, b = torch.ones(3, 4, dtype=torch.float64), torch.ones(4, 2, dtype=torch.float64)
    a[1, 2] = math.nan
    found = exact_numbers.product(a, b)
    assert found.isnan().any(1).tolist() == [False, True, False] and found[0].tolist() == [4.0, 4.0]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 100])
def test_sums_go_by_halves(count):
    terms = torch.from_numpy(np.random.default_rng(3).normal(size=(5, count)))
    exact = [float(sum(map(Fraction, row))) for row in terms.tolist()]
    np.testing.assert_allclose(exact_numbers.by_halves(terms).numpy(), exact, rtol=1e-14, atol=1e-14)
    assert torch.equal(exact_numbers.total(terms.T, [0]), exact_numbers.by_halves(terms))
    assert exact_numbers.total(terms.view(5, count, 1), [1, -1], keepdim=True).shape == (5, 1, 1)
    assert exact_numbers.by_halves(terms[:, :0]).tolist() == [0.0] * 5


def test_rows_are_added_at_their_places():
    random = np.random.default_rng(4)
    rows, places = random.normal(size=(200, 3)), random.integers(0, 6, 200)
    wanted = np.zeros((7, 3))
    np.add.at(wanted, places, rows)
    found = exact_numbers.added_at(torch.from_numpy(rows), torch.from_numpy(places), 7)
    np.testing.assert_allclose(found.numpy(), wanted, atol=1e-6)
    mixed = random.permutation(200)
    assert torch.equal(exact_numbers.added_at(torch.from_numpy(rows[mixed]), torch.from_numpy(places[mixed]), 7), found)


def test_more_look_ups_than_whole_numbers_can_add_are_refused(monkeypatch):
    monkeypatch.setattr(exact_numbers, "_PLACES_BITS", 2)
    with pytest.raises(InputError, match=r"Expected at most 2\^2 look-ups at once, got 5; use shorter texts\."):
        exact_numbers.added_at(torch.ones(5, 1), torch.zeros(5, dtype=torch.int64), 2)


# --- replacements, against what they replace ---

X = torch.from_numpy(np.random.default_rng(5).normal(size=(4, 6, 9, 10)))


@pytest.mark.parametrize(
    "compute",
    [
        X.sum, lambda: X.sum((1, 3)), X.mean, lambda: X.mean((0, -1), keepdim=True),
        lambda: (X > 0).sum(1), lambda: X.var((1, 2)), lambda: torch.stack(torch.var_mean(X, 3, correction=0)),
        lambda: torch.nn.functional.max_pool2d(X, (3, 2), stride=2, padding=1, dilation=(1, 2)),
        lambda: torch.nn.functional.avg_pool2d(X, (2, 3), stride=(1, 2), padding=1),
        lambda: X.new_zeros(4, 6, 9, 12).scatter_add(3, (X.abs() * 5).long().clamp(max=11), X),
        lambda: X.new_zeros(4, 6, 9, 10).index_put((torch.tensor([3, 1, 3]),), X[:3], accumulate=True),
        lambda: X.new_zeros(4, 6).index_put((torch.tensor([[0], [-1]]), torch.tensor([2, 2])), X[0, 0, 0, 0], True),
        lambda: torch.sqrt(X.abs()), lambda: torch.rsqrt(X.abs()), lambda: X**3, lambda: X**0, lambda: X.clamp(-1, 1),
        lambda: (X * 7).to(torch.int8), lambda: X**0.5, lambda: X.abs() ** -1.5,
    ],
    ids=range(20),
)  # fmt: skip
def test_what_is_replaced_gives_what_torch_gives(compute):
    with OrderFree():
        found = compute()
    torch.testing.assert_close(found, compute(), rtol=1e-6, atol=1e-6, equal_nan=True)


def test_memory_is_cleared():
    with OrderFree():
        found = [X.new_empty(3), torch.empty(2, 3, dtype=torch.float64), torch.empty_like(X)]
    assert not any(each.any() for each in found)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("padding", [0, 1])
def test_convolutions_and_their_gradients(groups, stride, padding):
    weight = torch.from_numpy(np.random.default_rng(6).normal(size=(8, 6 // groups, 3, 2)))
    bias = torch.arange(8, dtype=torch.float64)
    settings = [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], groups
    wanted = torch.ops.aten.convolution(X, weight, bias, *settings)
    torch.testing.assert_close(replacements.convolution(X, weight, bias, *settings), wanted, rtol=0, atol=1e-5)
    d = torch.from_numpy(np.random.default_rng(7).normal(size=tuple(wanted.shape)))
    given = d, X, weight, [8], *settings, [True] * 3
    gradients = zip(replacements.convolution_backward(*given), torch.ops.aten.convolution_backward(*given), strict=True)
    for found, right in gradients:
        torch.testing.assert_close(found, right, rtol=0, atol=1e-4)


def test_what_no_whole_number_can_be_becomes_the_nearest():
    """Processors do not agree on it: 2^63 on one is −2^63 on another."""
    odd = torch.tensor([math.nan, math.inf, -math.inf, 1e300, -1e300, 300.0, -1.5], dtype=torch.float64)
    assert replacements.converted(odd, dtype=torch.int64).tolist() == [0, 2**53, -(2**53), 2**53, -(2**53), 300, -1]
    assert replacements.converted(odd, dtype=torch.uint8).tolist() == [0, 255, 0, 255, 0, 255, 0]


@pytest.mark.parametrize(
    ("compute", "said"),
    [
        (lambda: X.new_zeros(9, 6, 9, 10).scatter_add(3, X.new_zeros(X.shape).long(), X), "scatter_add with an"),
        (lambda: X.index_put((torch.tensor([1]),), X[:1]), "index_put with accumulate=False"),
        (lambda: X.index_put((X > 0,), X[0, 0, 0, 0], accumulate=True), "index_put with a mask"),
        (X.float, "_to_copy.default in float32"),
        (lambda: X.cumsum(0), "aten.cumsum.default"),
        (X.sin, "aten.sin.default"),
        (lambda: torch.rand(3, dtype=torch.float64), "draws at random"),
        (lambda: torch.linalg.norm(X), "aten.linalg_vector_norm.default"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_refused(compute, said):
    with OrderFree(), pytest.raises(NotOrderFree, match=said):
        compute()


@pytest.mark.parametrize(
    "compute",
    [
        lambda at: X.new_zeros(4, 6).scatter_add(1, torch.full((4, 2), at), X[:, :2, 0, 0]),
        lambda at: X.new_zeros(4, 6).index_put((torch.tensor([0, 1]), torch.tensor([2, at])), X[0, 0, 0, 0], True),
    ],
    ids=["scatter_add", "index_put"],
)  # fmt: skip
def test_places_out_of_range_are_refused(compute):
    """Beyond one person's numbers begin another's, which torch's own check does not see once all lie in one line."""
    with OrderFree():
        compute(5)
        for at in (6, -7):
            with pytest.raises(IndexError, match="a place is out of range"):
                compute(at)


@pytest.mark.parametrize("groups", [1, 2])
def test_channels_of_convolutions_do_not_know_each_other(groups):
    """Where gradients or weights are shared by all, people are channels: none may change another's power of two."""
    weight = torch.from_numpy(np.random.default_rng(8).normal(size=(8, 6 // groups, 3, 2)))
    settings = [1, 1], [0, 0], [1, 1], False, [0, 0], groups
    d = torch.ones_like(torch.ops.aten.convolution(X, weight, None, *settings))

    def gradients(x, w):
        of_x, of_weight, _ = replacements.convolution_backward(d, x, w, [8], *settings, [True] * 3)
        return of_x, of_weight.reshape(groups, 8 // groups, 6 // groups, -1)

    before, large, heavy = gradients(X, weight), X.clone(), weight.clone()
    large[:, 0] *= 1e12
    heavy[:, 0] *= 1e12
    assert torch.equal(gradients(large, weight)[1][:, :, 1:], before[1][:, :, 1:])
    assert torch.equal(
        gradients(X, heavy)[0].reshape(4, groups, -1, 9, 10)[:, :, 1:],
        before[0].reshape(4, groups, -1, 9, 10)[:, :, 1:],
    )


def test_steps_do_not_depend_on_threads():
    found, before = [], torch.get_num_threads()
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        with OrderFree():
            found.append(torch.arange(0.3, 40_010 * 0.1, 0.1, dtype=torch.float64))
            assert torch.arange(2, 20, 3).tolist() == list(range(2, 20, 3))
    torch.set_num_threads(before)
    assert torch.equal(found[0], found[1]) and torch.equal(found[0], found[2])
    assert found[0].tolist()[:3] == [0.3, 0.1 + 0.3, 0.2 + 0.3]


def test_zeros_have_one_sign():
    zeros = torch.tensor([0.0, -0.0] * 9, dtype=torch.float64)
    with OrderFree():
        found = [zeros.clamp(min=-0.0), torch.maximum(zeros, -zeros), zeros.amax(0), zeros.view(2, 9).amin(1)]
    assert not any(each.signbit().any() for each in found)
