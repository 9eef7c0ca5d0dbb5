"""Mechanisms of one's own: refused with their true ε, or drawn in tickets that keep the stated one."""

import decimal
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pandas as pd
import pytest

import bipartite as bp
from bipartite.errors import DesignError, InputError, OutsideDomainError
from bipartite.lottery import Epsilon
from bipartite.tables import Column

AGES = bp.Integers(1, 3)
BANDS = [[0.7, 0.3], [0.5, 0.5], [0.3, 0.7]]
WORDS = bp.Custom(AGES, ["young", "old"], BANDS, 1)


# --- 200 random matrices -------------------------------------------------------------------------------------------


def a_matrix(rng, rows, columns, epsilon, kind):
    """A random matrix of ε at most: rows sum to one, columns stay within e^ε.

    Entries are z_y·(1 + (E − 1)·g) with g in [0, 1], and the columns are mixed with a row that all share, which only
    brings ratios closer, until every row can sum to one.
    """
    e = math.exp(epsilon)
    floor = rng.random(columns) ** (6 if kind == "tiny" else 1) + 1e-3
    if kind == "tiny":
        floor[0] = floor.sum() * 10.0 ** rng.integers(-40, -12)
    # Every row raises as much mass as every other: a random order, raised from the first until the share is used up.
    share = rng.uniform(0.2, 0.8) * floor.sum()
    raised = np.zeros((rows, columns))
    for row in raised:
        order = rng.permutation(columns)
        left = share
        for y in order:
            row[y] = min(1.0, left / floor[y])
            left = max(0.0, left - floor[y])
    matrix = floor * (1 + (e - 1) * raised)
    if kind == "inside":
        matrix = 0.7 * matrix + 0.3 * matrix.mean(axis=0)
    if kind == "zero":
        matrix[:, rng.integers(columns)] = 0.0
        matrix /= matrix.sum(axis=1, keepdims=True)
        matrix = 0.5 * matrix + 0.5 * matrix.mean(axis=0)
    return matrix / matrix.sum(axis=1, keepdims=True)


def random_matrices(batch):
    """Forty of 200: ten shapes of four kinds each."""
    rng = np.random.default_rng(20)
    shapes = [(2, 2), (2, 3), (3, 2), (3, 5), (4, 4), (6, 3), (7, 11), (20, 20), (5, 60), (40, 9)]
    for number in range(200):
        rows, columns = shapes[number % len(shapes)]
        kind = ("limit", "tiny", "zero", "inside")[number // len(shapes) % 4]
        if kind == "zero" and columns == 2:
            kind = "limit"
        epsilon = ("0.01", "0.25", "1", "2.5", "5")[number % 5]
        matrix = a_matrix(rng, rows, columns, float(epsilon), kind)
        if number // 40 == batch:
            yield number, kind, epsilon, matrix


def by_brute_force(rows):
    """The largest ratio of two counts in a column, by looking at every pair."""
    return max(Fraction(a, b) for column in zip(*rows, strict=True) for a in column for b in column)


def within(ratio, epsilon):
    """Whether ratio ≤ e^ε by two others than the package: mpmath's interval arithmetic, and decimal's ln."""
    mpmath.iv.dps = 60
    interval = mpmath.iv.exp(mpmath.iv.mpf(epsilon))
    by_interval = mpmath.iv.mpf(ratio.numerator) / mpmath.iv.mpf(ratio.denominator) <= interval.a
    with decimal.localcontext(prec=60):
        by_decimal = Decimal(ratio.numerator).ln() - Decimal(ratio.denominator).ln() <= Decimal(epsilon)
    return bool(by_interval), by_decimal


@pytest.mark.grid(1)
@pytest.mark.parametrize("batch", range(5))
def test_random_matrices_realise_no_more_than_their_epsilon(batch):
    seen = {"limit": 0, "tiny": 0, "zero": 0, "inside": 0}
    at_the_limit = 0
    for number, kind, epsilon, matrix in random_matrices(batch):
        rows, columns = matrix.shape
        given = float(by_brute_force([[Fraction(p) for p in row] for row in matrix[:, matrix.any(axis=0)].tolist()]))
        mech = bp.Custom(bp.Integers(1, rows), [f"report {y}" for y in range(columns)], matrix, epsilon)
        tickets = mech.lottery.tickets.tolist()
        assert len(mech.outputs) == (matrix.any(axis=0)).sum(), number
        assert {sum(row) for row in tickets} == {2**52}, number
        ratio = by_brute_force(tickets)
        assert Epsilon.of(epsilon).allows(*ratio.as_integer_ratio()), (number, kind)
        assert within(ratio, epsilon) == (True, True), (number, kind)
        assert mech.largest_ratio() == ratio and bp.verify(mech).holds, number
        # What is shown is true: the realised ε from above, and the largest change of a probability.
        with decimal.localcontext(prec=60):
            exact = Decimal(ratio.numerator).ln() - Decimal(ratio.denominator).ln()
        assert 0 <= mech.epsilon_realised - exact < Decimal("1e-27"), number
        held = matrix[:, matrix.any(axis=0)].tolist()
        pairs = (pair for row, other in zip(tickets, held, strict=True) for pair in zip(row, other, strict=True))
        change = max(abs(Fraction(count, 2**52) - Fraction(p)) for count, p in pairs)
        assert change <= mech.largest_change <= float(change) * (1 + 1e-9) + 1e-18, number
        # Doubles sum to one within some 1e-16 for each output, and as much again is what tickets resolve; at the limit
        # what doubles put above e^ε is cut off as well.
        assert mech.largest_change < (4 + columns) * 2.0**-50, (number, kind, mech.largest_change)
        seen[kind] += 1
        at_the_limit += abs(math.log(given) - float(epsilon)) < 1e-12
    assert min(seen.values()) >= 6 and at_the_limit >= 12


def test_the_two_oracles_reject_a_ratio_that_is_too_large():
    one = Fraction(math.exp(1))  # the double nearest to e is below it, and the next one above
    above = Fraction(math.nextafter(math.exp(1), 3))
    assert within(one, "1") == (True, True) and within(above, "1") == (False, False)


@pytest.mark.grid(1)
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_at_the_very_limit_half_of_all_doubles_are_above_it_and_are_taken(epsilon):
    rounded_up = 0
    for size in range(2, 40):
        high, low = math.exp(float(epsilon)), 1.0
        p, q = high / (high + size - 1), low / (high + size - 1)
        rounded_up += not Epsilon.of(epsilon).allows(*(Fraction(p) / Fraction(q)).as_integer_ratio())
        matrix = np.where(np.eye(size, dtype=bool), p, q)
        mech = bp.Custom(bp.Integers(1, size), bp.Integers(1, size), matrix, epsilon)
        assert bp.verify(mech).holds
        assert float(mech.epsilon_realised) == pytest.approx(float(epsilon), rel=1e-9)
        assert bp.GRR(bp.Integers(1, size), epsilon).matrix() == pytest.approx(mech.matrix(), abs=1e-14)
    assert 5 < rounded_up < 33


# --- What is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("matrix", "error", "message"),
    [
        (
            [[0.8, 0.2], [0.5, 0.5], [0.2, 0.8]],
            DesignError,
            (
                "Expected a matrix of ε = 1 or less, got ε = 1.386294361119891 in the column of 'old': 0.8 in row 2 "
                "against 0.2 in row 0; ask for that ε, or move the two closer."
            ),
        ),
        (
            [[1, 0], [0.5, 0.5], [0.5, 0.5]],
            DesignError,
            (
                "Expected a matrix of ε = 1 or less, got an infinite ε: row 0 never reports 'old', and row 1 does; "
                "give every row a positive probability there, or none."
            ),
        ),
        (
            [[0.7, 0.2], [0.5, 0.5], [0.3, 0.7]],
            InputError,
            (
                "Expected rows that sum to 1 within 1e-9, got a sum of 0.8999999999999999 in row 0; divide each row "
                "by its sum if that is what you mean."
            ),
        ),
        ([[0.7, 0.3], [0.5, 0.5], [0.3, 0.7 + 2e-9]], InputError, "got a sum of 1.000000002 in row 2"),
        (np.float32(BANDS) * np.float32(1.0000002), InputError, "Expected rows that sum to 1 within 1e-9"),
        (
            [[1.5, -0.5], [0.5, 0.5], [0.3, 0.7]],
            InputError,
            "Expected probabilities from 0 to 1, got 1.5 in row 0, column 0; repair it.",
        ),
        ([[0.7, 0.3], [0.5, math.nan], [0.3, 0.7]], InputError, "got nan in row 1, column 1"),
        ([[0.7, 0.3], [0.5, math.inf], [0.3, 0.7]], InputError, "got inf in row 1, column 1"),
        ([[0.7, 0.3], [1 + 1e-18, -1e-18], [0.3, 0.7]], InputError, "got -1e-18 in row 1, column 1"),
        (
            BANDS[:2],
            InputError,
            (
                "Expected matrix as 3 rows, one per value, of 2 probabilities, one per output, got shape (2, 2); check "
                "domain and outputs."
            ),
        ),
        (np.array(BANDS).T, InputError, "got shape (2, 3); transpose it."),
        ([0.5, 0.5], InputError, "got shape (2,); check domain and outputs."),
        ([[0.5, 0.5], [1], [0.5, 0.5]], InputError, "got list; pass a list of rows or a 2-d"),
        ("a", InputError, "got str; pass a list of rows"),
    ],
)
def test_what_is_no_such_matrix_is_refused(matrix, error, message):
    with pytest.raises(error) as caught:
        bp.Custom(AGES, ["young", "old"], matrix, 1)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("domain", "outputs", "message"),
    [
        (AGES, "yes", "Expected outputs as the domain, or as a list of values, numbers or labels, got 'yes'; pass"),
        (AGES, 5, "Expected outputs as the domain, or as a list of values, numbers or labels, got 5"),
        (AGES, {"yes"}, "Expected outputs as the domain, or as a list of values, numbers or labels, got {'yes'}; pass"),
        (AGES, [], "Expected at least one output, got none; pass the domain itself, or a list."),
        (AGES, ["a", "a"], "Expected distinct outputs, got 1 duplicates; add their columns."),
        (AGES, [1, 1.0], "Expected distinct outputs, got 1 duplicates"),
        (AGES, [1e300, 1e300 + 1], "Expected distinct outputs"),
        (AGES, [2**53, 2**53 + 1], "Expected outputs that are distinct doubles; add the columns of those that"),
        (AGES, ["a", 1], r"Expected outputs all as values of Integers(1, 3), all as numbers, or all as labels"),
        (AGES, [None, 1], "Expected outputs all as values of Integers(1, 3)"),
        (AGES, [[1], [2]], "Expected outputs all as values of Integers(1, 3)"),
        (AGES, [True, False], "Expected outputs all as values of Integers(1, 3)"),
        (bp.Items(["x", "y", "z"], loss=1 - np.eye(3)), [0.5, 1.5], "Expected outputs all as values of <3 items>, all"),
        (bp.Product(AGES, AGES), ["a", "b"], "Expected outputs of a product as its values; pass the domain, or a list"),
        ("ages", ["a", "b"], "Expected domain as bp.Integers"),
    ],
)
def test_what_cannot_be_reported_is_refused(domain, outputs, message):
    rows = len(domain) if not isinstance(domain, str) else 3
    with pytest.raises(InputError) as caught:
        bp.Custom(domain, outputs, np.full((rows, 2), 0.5), 1)
    assert message in str(caught.value)


def test_a_table_that_is_too_large_is_refused_before_it_is_looked_at():
    with pytest.raises(DesignError, match="a ticket count for every value and report, at most 2\\^25"):
        bp.Custom(bp.Integers(1, 2**30), ["a", "b"], BANDS, 1)


def test_an_epsilon_near_what_doubles_resolve_is_kept_at_the_cost_of_the_matrix():
    # Above e^ε by 9e-16 of it, which is less than the 1e-9 that count as rounding: cut down to the ε stated.
    matrix = [[0.5, 0.5], [0.5 + 2**-52, 0.5 - 2**-52]]
    mech = bp.Custom(bp.Integers(1, 2), [1, 2], matrix, "1e-15")
    assert bp.verify(mech).holds and 0 < mech.largest_change < 1e-15


# --- What is reported ----------------------------------------------------------------------------------------------


def test_values_and_numbers_are_put_in_order_with_their_columns():
    mech = bp.Custom(AGES, [3, 1], [[0.3, 0.7], [0.5, 0.5], [0.7, 0.3]], 1)
    assert list(mech.outputs) == [1, 3] and mech.matrix() == pytest.approx(np.array(BANDS))
    assert set(mech.privatize([2] * 50, rng=bp.insecure_seed(1))) == {1, 3}
    numbers = bp.Custom(AGES, [4.5, -0.0], [[0.3, 0.7], [0.5, 0.5], [0.7, 0.3]], 1)
    assert list(numbers.outputs) == [0.0, 4.5] and numbers.matrix() == pytest.approx(np.array(BANDS))
    assert numbers.privatize(np.array([1, 2]), rng=bp.insecure_seed(1)).dtype == np.float64
    assert bp.loss(numbers).by_value == pytest.approx([0.7 * 1 + 0.3 * 3.5, 0.5 * 2 + 0.5 * 2.5, 0.3 * 3 + 0.7 * 1.5])


def test_an_output_that_is_never_reported_is_left_out():
    matrix = np.insert(np.array(BANDS), 1, 0.0, axis=1)
    assert list(bp.Custom(AGES, ["a", "never", "b"], matrix, 1).outputs) == ["a", "b"]
    assert list(bp.Custom(AGES, AGES, matrix, 1).outputs) == [1, 3]
    assert list(bp.Custom(AGES, [0.5, 7, 9], matrix, 1).outputs) == [0.5, 9.0]


def test_reports_of_another_mechanism_serve_as_outputs():
    duchi = bp.Duchi(bp.Interval(-1, 1, points=5), 1)
    mech = bp.Custom(duchi.domain, duchi.outputs, duchi.matrix(), 1)
    assert mech.outputs == duchi.outputs and mech.matrix() == pytest.approx(duchi.matrix(), abs=1e-14)
    anchored = bp.Anchored(bp.Integers(0, 9), 1, anchors=[2, 7])
    again = bp.Custom(anchored.domain, anchored.outputs, anchored.matrix(), 1)
    assert again.outputs == anchored.outputs and again.privatize(4, rng=bp.insecure_seed(2)) in {2, 7}


def test_pairs_of_values_are_reported_as_pairs():
    pairs = bp.Product(bp.Integers(0, 1), bp.Items(["a", "b"], loss=1 - np.eye(2)))
    mech = bp.Custom(pairs, [(1, "b"), (0, "a")], np.full((4, 2), 0.5), 1)
    assert list(mech.outputs) == [(0, "a"), (1, "b")]
    assert set(mech.privatize([(0, "b")] * 50, rng=bp.insecure_seed(3))) == {(0, "a"), (1, "b")}
    assert pickle.loads(pickle.dumps(mech)) == mech


def test_labels_of_a_set_give_way_to_those_of_the_reports():
    items = bp.Items(["a", "b"], loss=1 - np.eye(2))
    mech = bp.Custom(items, ["x", "y", "z"], [[0.4, 0.3, 0.3], [0.3, 0.4, 0.3]], 1)
    assert set(mech.privatize(["a", "b"] * 50, rng=bp.insecure_seed(3))) == {"x", "y", "z"}
    assert set(mech.privatize(pd.Series(["a", "b"] * 50), rng=bp.insecure_seed(3))) == {"x", "y", "z"}
    record = bp.Record({"word": mech, "age": WORDS})
    both = record.privatize({"word": ["a"] * 40, "age": [1] * 40}, rng=bp.insecure_seed(4))
    assert set(both["word"]) == {"x", "y", "z"} and set(both["age"]) == {"young", "old"}
    numbered = bp.Custom(items, [10, 20], [[0.4, 0.6], [0.6, 0.4]], 1)
    assert numbered.privatize("a", rng=bp.insecure_seed(1)) in {10, 20}


def test_words_have_no_loss_of_their_own_and_fit_no_column():
    with pytest.raises(InputError, match="labels, not values, so none is nearer than another; give loss="):
        _ = bp.loss(WORDS).mean
    assert bp.loss(WORDS, loss=[[0, 1], [1, 1], [1, 0]]).mean == pytest.approx((0.3 + 1 + 0.3) / 3)
    with pytest.raises(InputError, match="Expected reports that are values or numbers, got Custom.*other labels"):
        Column(WORDS)
    assert Column(bp.Custom(AGES, [0.5, 3.5], BANDS, 1)).mechanism.epsilon == 1


# --- What is shown, and what it is for -----------------------------------------------------------------------------


def test_it_shows_the_realised_epsilon_and_the_largest_change():
    assert repr(WORDS).startswith("Custom(Integers(1, 3), epsilon=1, outputs=2, realised=0.847298, largest_change=")
    assert "realised ε ≤ 0.8472978603872" in str(bp.verify(WORDS))
    read = bp.from_spec(WORDS.to_spec())
    assert read == WORDS and read.largest_change is None
    assert repr(read) == "Custom(Integers(1, 3), epsilon=1, outputs=2, realised=0.847298)"
    twin = pickle.loads(pickle.dumps(WORDS))
    assert repr(twin) == repr(WORDS) and twin == WORDS
    same = bp.Custom(AGES, ["a", "b"], np.full((3, 2), 0.5), 1)
    assert (same.largest_change, same.epsilon_realised) == (0.0, 0)


def test_it_says_what_its_reports_cannot_tell_apart():
    assert "rank 2 of 3" in str(bp.identifiability(WORDS))
    reports = WORDS.privatize(np.repeat([1, 2, 3], 400), rng=bp.insecure_seed(3))
    with pytest.raises(InputError, match="needs a mechanism that tells all values apart, .* rank 2 of 3"):
        bp.estimate(WORDS, reports, method="inverse")
    # The mean can be told all the same: 7/10, 5/10 and 3/10 are a straight line in the value.
    low, high = bp.estimate(WORDS, reports).ask().ci()
    assert low < 2 < high < low + 1


def test_estimates_recover_what_a_matrix_of_full_rank_tells():
    matrix = [[0.5, 0.2, 0.2, 0.1], [0.2, 0.5, 0.2, 0.1], [0.2, 0.2, 0.4, 0.2]]
    mech = bp.Custom(AGES, ["a", "b", "c", "d"], matrix, 1)
    people = np.repeat([1, 2, 3], [5000, 3000, 2000])
    # Seeded. All three intervals of level 1 − 1e-9 hold but for a probability of 3e-9, in the normal approximation.
    est = bp.estimate(mech, mech.privatize(people, rng=bp.insecure_seed(11)), method="inverse")
    for value, share in ((1, 0.5), (2, 0.3), (3, 0.2)):
        low, high = est.ask(("bin", value)).ci(1 - 1e-9)
        assert low < share < high < low + 0.5
    with pytest.raises(
        OutsideDomainError, match="the first at reports\\[1\\], cannot have|Some reports cannot have come from"
    ):
        bp.estimate(mech, ["a", "e"])


def test_it_stands_in_a_comparison_beside_the_others():
    matrix = bp.BRR(bp.Integers(1, 8), 1, edges="padded", m="mean").matrix()
    mine = bp.Custom(bp.Integers(1, 8), [f"r{y}" for y in range(matrix.shape[1])], matrix, 1)
    compared = bp.compare(bp.Integers(1, 8), [1, 2], n=1000, also={"mine": mine})
    row, twin = compared["mine", 1], compared["BRR, padded, mean", 1]
    assert row.mean_error == pytest.approx(twin.mean_error) and row.histogram_error == pytest.approx(
        twin.histogram_error
    )
    assert row.expected_loss is None and "its reports are not values" in row.note
    assert (
        row.epsilon_spent == pytest.approx(1)
        and "mine" in str(compared)
        and "mine" in compared.plot("mean_error").get_label()
    )
    assert not any(each.mechanism == "mine" for each in compared.rows if each.epsilon == "2")
    # One that is best at what is asked is taken, and has no line of Python to build it.
    clear = bp.Custom(bp.Integers(1, 8), bp.Integers(1, 8), bp.GRR(bp.Integers(1, 8), 4).matrix(), 4)
    alone = bp.compare(bp.Integers(1, 8), 4, n=1000, purpose="categories", also={"mine": clear})
    assert alone["mine"].histogram_error == pytest.approx(alone["GRR"].histogram_error)


@pytest.mark.parametrize(
    ("also", "message"),
    [
        ([WORDS], "Expected also as a dict of mechanisms by name, got list; pass {'mine': mechanism}"),
        ({"mine": 5}, "Expected a mechanism, got int"),
        ({"GRR": WORDS}, "Expected a name of its own for a mechanism in also, got 'GRR'; call it 'mine'"),
        ({1: WORDS}, "Expected a name of its own for a mechanism in also, got 1"),
        ({"mine": bp.GRR(bp.Integers(1, 4), 1)}, "Expected 'mine' on Integers\\(1, 3\\), which is compared, got GRR"),
        ({"mine": bp.GRR(AGES, 3)}, "Expected 'mine' at ε = 1, 2, got ε = 3; compare at that ε too"),
    ],
)
def test_what_cannot_be_compared_is_refused(also, message):
    with pytest.raises(InputError, match=message):
        bp.compare(AGES, [1, 2], also=also)


@pytest.mark.grid(1)
@pytest.mark.parametrize("seed", range(20, 24))
def test_rounding_to_tickets_makes_no_rank(seed):
    """Rows that are mixtures of a few have the rank of those few; a last ticket here or there tells nothing."""
    rng = np.random.default_rng(seed)
    for _ in range(10):
        few, more, reports = rng.integers(2, 5), rng.integers(1, 5), rng.integers(5, 9)
        made = 0.5 / reports + 0.5 * rng.dirichlet(np.full(reports, 3.0), size=few)
        rows = rng.dirichlet(np.ones(few), size=few + more) @ made
        epsilon = round(math.log((rows.max(axis=0) / rows.min(axis=0)).max()) + 1e-3, 6)
        mech = bp.Custom(bp.Integers(1, int(few + more)), [f"word {at}" for at in range(reports)], rows, epsilon)
        assert bp.identifiability(mech).rank == few
        est = bp.estimate(mech, mech.privatize([1, 2] * 100, rng=bp.insecure_seed(1)))
        low, high = est.ask().ci()
        assert 1 <= low <= est.mean <= high <= few + more
