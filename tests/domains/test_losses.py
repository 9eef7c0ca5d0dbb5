"""What a wrong report costs, against loops over values and reports."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite import Anchored, Integers, Interval, SquareWave
from bipartite.domains.losses import LossRows, applied, check_loss, largest_loss, output_positions
from bipartite.domains.outputs import Outputs
from bipartite.errors import InputError
from tests.rivals import DOMAINS, MECHANISMS

FUNCTIONS = {None: lambda own: own, "squared": lambda own: own**2}


def own_loss(domain, x, report):
    """The domain's own loss of one report of value number x."""
    if hasattr(domain, "losses"):
        return domain.losses(x)[domain.encode(report)]
    return abs(domain[x] - report)


def every_loss(mechanism, loss):
    domain, outputs = mechanism.domain, mechanism.outputs
    if loss == "zero-one":
        return np.array([[float(report != domain[x]) for report in outputs] for x in range(len(domain))])
    table = np.array([[own_loss(domain, x, report) for report in outputs] for x in range(len(domain))])
    return FUNCTIONS[loss](table) if loss is None or isinstance(loss, str) else loss(table)


@pytest.mark.parametrize("name", MECHANISMS)
def test_rows_of_losses_are_those_of_every_pair(name):
    mechanism = MECHANISMS[name]
    size = len(mechanism.domain)
    for loss in (None, "squared", "zero-one", np.exp if "points" not in name and "labels" not in name else np.log1p):
        rows = LossRows(mechanism.domain, mechanism.outputs, loss)
        expected = every_loss(mechanism, loss)
        assert rows.rows(0, size) == pytest.approx(expected, rel=1e-12, abs=1e-12)
        assert rows.rows(1, size) == pytest.approx(expected[1:], rel=1e-12, abs=1e-12)
    matrix = np.arange(size * len(mechanism.outputs), dtype=float).reshape(size, -1)
    rows = LossRows(mechanism.domain, mechanism.outputs, matrix.tolist())
    assert (rows.rows(2 % size, size) == matrix[2 % size :]).all()


@pytest.mark.parametrize("name", DOMAINS)
def test_the_largest_loss_is_that_of_every_pair(name):
    domain = DOMAINS[name]
    table = np.array([[own_loss(domain, x, report) for report in domain] for x in range(len(domain))])
    assert largest_loss(domain) == pytest.approx(table.max())
    assert largest_loss(domain, "squared") == pytest.approx((table**2).max())
    assert largest_loss(domain, "zero-one") == 1.0
    assert largest_loss(domain, np.cos) == pytest.approx(np.cos(table).max())  # not at the ends
    assert largest_loss(domain, table + 5) == pytest.approx(table.max() + 5)


def test_outputs_stand_where_they_are_among_the_values():
    domain = Integers(1, 9)
    wave = SquareWave(domain, 1)
    assert output_positions(domain, wave.outputs).tolist() == [report - 1 for report in wave.outputs]
    assert output_positions(domain, Outputs(domain, [2, 5])).tolist() == [2, 5]
    assert output_positions(domain, domain).tolist() == list(range(9))


@given(st.integers(2, 9), st.floats(1e-3, 1e3))
def test_distances_on_an_interval_are_in_its_units(points, width):
    domain = Interval(0, width, points=points)
    rows = LossRows(domain, domain, None).rows(0, points)
    assert rows == pytest.approx(np.abs(np.subtract.outer(domain.to_numpy(), domain.to_numpy())), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("loss", "got"),
    [
        ("cubed", "str"),
        (b"squared", "bytes"),
        (["squared"], "list"),
        ([[1, 2], [3]], "list"),
        ({}, "dict"),
        (7, "shape \\(\\)"),
        (np.zeros(3), "shape \\(3,\\)"),
        (np.zeros((3, 2)), "shape \\(3, 2\\)"),
        ([[0, 1, 2], [1, 0, np.nan]], "NaN or infinity"),
        ([[0, 1, 2], [1, 0, np.inf]], "NaN or infinity"),
    ],
)
def test_what_is_no_loss_is_refused(loss, got):
    expected = "Expected loss as None, 'squared', 'zero-one', a function of losses, or a 2 × 3 matrix, got "
    with pytest.raises(InputError, match=f"^{expected}{got}; loss=None uses the domain's own.$"):
        check_loss(loss, 2, 3)


def test_what_is_a_loss_is_not_refused():
    for loss in (None, "squared", "zero-one", np.square):
        assert check_loss(loss, 2, 3) is None
    assert check_loss([[1, 2, 3], [4, 5, 6]], 2, 3).tolist() == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    "function",
    [
        lambda own: own[:-1],
        lambda _: 5.0,
        lambda own: own * np.nan,
        lambda own: np.where(own > 1, np.inf, own),
        lambda own: own * 1j,
        lambda _: "loss",
        lambda _: None,
        lambda own: own.astype(str),
    ],
)
def test_a_function_must_give_a_number_for_every_loss(function):
    with pytest.raises(
        InputError, match="Expected a loss function that maps an array to finite numbers of the same shape"
    ):
        applied(function, np.array([0.0, 1.0, 2.0]))
    with pytest.raises(InputError, match="try np.square"):
        LossRows(Integers(1, 3), Anchored(Integers(1, 3), 1, anchors=[1, 3]).outputs, function).rows(0, 3)


def test_a_function_may_give_whole_numbers_and_truth_values():
    assert applied(lambda own: own > 1, np.array([0.0, 2.0])).tolist() == [0.0, 1.0]
    assert applied(lambda own: own.astype(int), np.array([0.5, 2.5])).tolist() == [0.0, 2.0]
