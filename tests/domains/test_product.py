import itertools
import pickle

import numpy as np
import pytest

from bipartite import BRR, Cyclic, Integers, Interval, Items, Points, Product
from bipartite.domains.product import MOST_IN_A_TABLE, MOST_ON_LINES
from bipartite.errors import DomainError, InputError, NotAValueError, OutsideDomainError

GENRES = Items(["jazz", "blues", "metal"], loss=[[0, 1, 5], [1, 0, 4], [5, 4, 0]])
SHOPS = Points([[0, 0], [3, 4], [6, 8]])
PRODUCTS = {
    "lines": Product(Integers(18, 24), Interval(0, 1, points=5)),
    "line and items": Product(Integers(-2, 4), GENRES),
    "items and points": Product(GENRES, SHOPS),
    "a line and a circle": Product(Integers(1, 3), Cyclic(7, start=1)),
    "a circle and a line": Product(Cyclic(4, labels=["N", "E", "S", "W"]), Integers(1, 3)),
    "three": Product(Integers(0, 3), GENRES, Interval(0, 2, points=3)),
}


def losses_of(part):
    """The loss of each two values of a part, from its definition."""
    if isinstance(part, Points):
        return np.linalg.norm(part.coordinates[:, None] - part.coordinates[None], axis=2)
    if isinstance(part, Items):
        return np.array([[0, 1, 5], [1, 0, 4], [5, 4, 0]], dtype=float)
    if isinstance(part, Cyclic):
        apart = np.abs(np.subtract.outer(range(len(part)), range(len(part))))
        return np.minimum(apart, len(part) - apart).astype(float)
    values = np.array(list(part), dtype=float)
    return np.abs(values[:, None] - values[None])


@pytest.mark.parametrize("product", PRODUCTS.values(), ids=PRODUCTS)
def test_a_value_is_a_tuple_and_its_index_that_of_a_table_stored_row_by_row(product):
    every = list(itertools.product(*product.parts))
    assert [product.decode(at) for at in range(len(product))] == every == list(product)
    assert [product.encode(value) for value in every] == list(range(len(every)))
    assert product.to_numpy().tolist() == every
    assert product.shape == tuple(map(len, product.parts))
    assert np.array_equal(product.join(product.split(np.arange(len(product)))), np.arange(len(product)))
    assert every[1] in product
    assert every[1][:1] not in product


@pytest.mark.parametrize("product", PRODUCTS.values(), ids=PRODUCTS)
def test_the_loss_is_the_sum_of_those_of_the_parts_each_over_its_mean(product):
    own = [losses_of(part) for part in product.parts]
    assert product.weights == pytest.approx([1 / each.mean() for each in own])
    where = np.array(list(itertools.product(*map(range, product.shape))))
    expected = sum(w * each[np.ix_(at, at)] for w, each, at in zip(product.weights, own, where.T, strict=True))
    # Each part is rounded to whole multiples of 2^-bits; on a line its step is, up to len − 1 of them.
    tolerance = sum(product.shape) * 2.0**-product.bits
    assert product.loss_matrix() == pytest.approx(expected, abs=tolerance)
    # A blind guess costs 1 in each part.
    assert product.loss_matrix().mean() == pytest.approx(len(own), abs=tolerance)


@pytest.mark.parametrize("product", PRODUCTS.values(), ids=PRODUCTS)
def test_near_is_decided_by_the_same_whole_numbers(product):
    for x in range(len(product)):
        distances = product.order.distances(x)
        assert distances.dtype == np.int64
        assert np.array_equal(np.ldexp(distances.astype(float), -product.bits), product.losses(x))
        assert distances.max() < 2**31


def test_weights_say_what_a_unit_of_each_loss_counts():
    product = Product(Integers(0, 3), Integers(0, 9), weights=(2, 0.25))
    assert product.weights == (2.0, 0.25)
    assert product.losses(0)[product.encode((1, 3))] == 2.75
    assert product.losses(product.encode((3, 9)))[0] == 8.25


def test_a_similarity_may_be_a_part_and_counts_from_the_best_report():
    likeness = np.array([[1.0, 0.5, 0.0], [0.5, 2.0, 0.0], [0.0, 0.0, 1.0]])
    product = Product(Items(None, similarity=likeness), Integers(0, 1), weights=(1, 1))
    assert product.losses(0)[::2].tolist() == [0.0, 0.5, 1.0]
    assert product.losses(2)[::2].tolist() == [1.5, 0.0, 2.0]


def test_items_among_which_none_is_nearer_than_another_have_a_weight_all_the_same():
    product = Product(Items(None, loss=np.zeros((2, 2))), Integers(0, 1))
    assert product.losses(0).tolist() == [0.0, 2.0, 0.0, 2.0]


def test_products_are_values_that_never_change():
    one, other = (Product(Integers(0, 3), GENRES, weights=weights) for weights in ((1, 1), (1, 2)))
    assert one != other
    assert one == Product(Integers(0, 3), GENRES, weights=[1.0, 1.0])
    assert hash(one) == hash(Product(Integers(0, 3), GENRES, weights=[1.0, 1.0]))
    assert one != Product(Integers(1, 4), GENRES, weights=(1, 1))
    assert repr(one) == "Product(Integers(0, 3), <3 items>)"
    assert one.order is one.order
    again = pickle.loads(pickle.dumps(one))
    assert again == one
    for each in (one, again):
        with pytest.raises(ValueError, match="read-only"):
            each.order.ranks[0] = 0
        with pytest.raises(ValueError, match="read-only"):
            each._steps[1][0] = 0
    with pytest.raises(AttributeError, match="cannot change"):
        one.weights = (1, 3)


@pytest.mark.parametrize(
    ("parts", "weights", "message"),
    [
        ((), None, "at least two domains, got 0"),
        ((Integers(0, 3),), None, "at least two domains, got 1"),
        ((Integers(0, 3), 5), None, "part 1 as bp.Integers, bp.Interval, bp.Cyclic, bp.Points or bp.Items, got int"),
        ((Product(GENRES, GENRES), GENRES), None, "got Product; name all parts at once"),
        (
            (GENRES, BRR(Interval(0, 9, points=10), 1, edges="padded").outputs),
            None,
            "part 1 .* got the outputs of a mechanism",
        ),
        ((Interval(0, 1, points=3, rounding="random"), GENRES), None, "rounding='nearest' in part 0, got 'random'"),
        ((Integers(1, 2**20), Integers(1, 2**20)), None, "at most 2\\^31 values, got 1048576 × 1048576"),
        ((GENRES, Items(None, loss=1 - np.eye(3))), (1, 0), "weights as 2 positive numbers, one per part, got"),
        ((GENRES, GENRES), (1, 2, 3), "weights as 2 positive numbers"),
        ((GENRES, GENRES), (1, float("nan")), "weights as 2 positive numbers"),
        ((GENRES, GENRES), "ab", "weights as 2 positive numbers"),
        ((GENRES, GENRES), (1e308, 1e308), "with finite sums"),
    ],
)
def test_what_cannot_be_a_product_is_refused(parts, weights, message):
    with pytest.raises(DomainError, match=message):
        Product(*parts, weights=weights)


def test_large_products_have_no_order_of_neighbours():
    lines = Product(Integers(1, 2**9), Integers(1, 2**9))
    assert len(lines) > MOST_ON_LINES
    with pytest.raises(DomainError, match="at most 131072 values of lines to compare all pairs, got 262144; use f"):
        _ = lines.order
    mixed = Product(Integers(1, 2**12), GENRES)
    assert len(mixed) > MOST_IN_A_TABLE
    with pytest.raises(DomainError, match="at most 8192 values of sets, or lines and sets .* got 12288"):
        _ = mixed.order
    with pytest.raises(DomainError, match="at most 8192 values in part 1, got 8193; merge some"):
        Product(GENRES, Points(np.arange(8193.0)[:, None]))
    assert Product(Integers(1, 2**10), Integers(1, 2**21)).encode((1024, 2**21)) == 2**31 - 1


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (5, NotAValueError, "5 is not a tuple of 2, one value for each part of Product"),
        ((1, "jazz", 3), NotAValueError, "is not a tuple of 2"),
        ([1, "jazz"], NotAValueError, "is not a tuple of 2"),
        ((1.5, "jazz"), NotAValueError, r"\(1.5, 'jazz'\) is invalid: part 0 is not a whole number"),
        ((9, "jazz"), OutsideDomainError, r"\(9, 'jazz'\) is invalid: part 0 is outside 0..3"),
        ((1, "rock"), OutsideDomainError, "is invalid: part 1 is not one of the labels"),
    ],
)
def test_what_is_not_a_value_is_refused(value, kind, message):
    product = Product(Integers(0, 3), GENRES)
    with pytest.raises(kind, match=message) as caught:
        product.encode(value)
    assert str(value) not in repr(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_lines_have_ends_to_clamp_to_and_sets_have_none():
    product = Product(Integers(0, 3), GENRES)
    assert product.decode(product.encode((9, "jazz"), outside="clip")) == (3, "jazz")
    with pytest.raises(OutsideDomainError, match="part 1"):
        product.encode((9, "rock"), outside="clip")
    with pytest.raises(InputError, match="no meaning on a set"):
        Product(GENRES, GENRES).encode(("jazz", "jazz"), outside="clip")


def test_arrays_have_a_field_for_each_part():
    product = Product(Integers(18, 24), Interval(0, 1, points=5))
    values = np.array([(18, 0.1), (24, 0.9), (20, 0.5)], dtype=[("f0", "i8"), ("f1", "f4")])
    codes = product.encode_array(values)
    assert codes.tolist() == [0, 34, 12]
    codec = product.codec(product, "error")
    reports = np.empty(3, dtype=codec.report_dtype)
    codec.decode(codes, reports)
    assert reports.tolist() == [(18, 0.0), (24, 1.0), (20, 0.5)] == product[codes].tolist()
    wrong = np.array([(18, 0.1), (25, 0.9), (20, np.nan)], dtype=[("f0", "i8"), ("f1", "f8")])
    assert product.encode_array(wrong).tolist() == [0, -1, -1]
    assert product.encode_array(wrong, "clip").tolist() == [0, 34, -1]
    error = product.explain(wrong, "error", lambda at: f"values[{at}]")
    assert isinstance(error, NotAValueError)
    assert "part 0 of values[1] is outside 18..24 (1 such)" in str(error)
    assert "part 1 of values[2] is not a number (1 such)" in str(error)
    assert "part 0" not in str(product.explain(wrong, "clip", lambda at: f"values[{at}]"))
    assert {reason: bad.tolist() for reason, bad in product.refusals(wrong, "error").items()} == {
        "outside": [False, True, False],
        "not a number": [False, False, True],
    }
