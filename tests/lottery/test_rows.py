"""Lotteries that hold their rows: the law by enumeration, bulk against scalar, and tickets that keep ε exactly."""

import functools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bipartite.errors import DesignError, WordsExhaustedError
from bipartite.lottery import Epsilon, Table, check_table, fixed_words, issue_rows
from bipartite.lottery.deal import largest_fraction
from bipartite.lottery.table import MOST_TICKET_COUNTS, search, totals_of
from tests.lottery.test_draw import EveryWord
from tests.oracle import exp

BITS = 11
WHOLE = 2**52
TABLES = [
    [[1, 1], [1, 1]],
    [[3, 4], [5, 2]],
    [[1, 2, 4], [4, 2, 1], [2, 4, 1]],
    [[0, 7, 0, 6], [6, 0, 7, 0]],  # outputs that some inputs never report
    [[5, 5, 5, 5, 5]] * 2,
    [[100, 1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1, 1, 100]],
    [[9], [9], [9]],
]


def tables(*tables):
    return [np.array(table, dtype=np.int64) for table in tables]


def count_words(lottery, x, bits=BITS):
    """How many words of so many bits draw each output, and how many are redrawn."""
    drawn, redrawn = Counter(), 0
    for word in range(2**bits):
        try:
            drawn[lottery.draw(x, EveryWord(word))] += 1
        except EveryWord.RedrawnError:
            redrawn += 1
    return drawn, redrawn


@pytest.mark.parametrize("table", tables(*TABLES), ids=lambda table: str(table.tolist()))
def test_over_all_words_every_output_gets_exactly_its_tickets(table):
    lottery = Table(table, BITS)
    rounds, left = divmod(2**BITS, int(table[0].sum()))
    for x, row in enumerate(table.tolist()):
        drawn, redrawn = count_words(lottery, x)
        assert redrawn == left
        assert drawn == Counter({y: rounds * count for y, count in enumerate(row) if count})


def words_around(total, borders):
    """The first and last words of the tickets at these borders, the words next to them, and some that are redrawn."""
    words = [0, 1, 2**64 - 1]
    for border in borders:
        first = -(-border * 2**64 // total)
        words += [word for word in range(first - 2, first + 3) if 0 <= word < 2**64]
    return words


def assert_bulk_is_scalar(lottery, kernel, x, words, offset=0):
    source, expected = fixed_words(words), []
    while True:
        try:
            expected.append(lottery.draw(x, source))
        except WordsExhaustedError:
            break
    codes, reports = np.full(len(words), x + offset), np.full(len(words), -9)
    done, used, inside = kernel(codes, reports, np.array(words, dtype=np.uint64), offset, offset - 7)
    assert (done, used, inside) == (len(expected), len(words), True)
    assert (reports[:done] - offset + 7).tolist() == expected


@pytest.mark.parametrize("table", tables(*TABLES), ids=lambda table: str(table.tolist()))
def test_the_bulk_draw_agrees_at_the_edges_of_every_ticket(table):
    lottery = Table(table)
    words = words_around(lottery.total, range(lottery.total + 1))
    for x in range(lottery.inputs):
        assert_bulk_is_scalar(lottery, lottery.draw_block, x, words, offset=-3)


@given(st.integers(1, 70), st.integers(0, 2**32), st.integers(-(2**52), 2**52))
def test_the_bulk_draw_agrees_on_rows_of_any_length(outputs, seed, offset):
    rng = np.random.default_rng(seed)
    table = issue_rows(rng.dirichlet(np.full(outputs, 0.2), size=2), None)
    lottery = Table(table)
    borders = np.cumsum(table[1]).tolist()
    words = words_around(lottery.total, borders) + rng.integers(0, 2**64, 20, dtype=np.uint64).tolist()
    assert_bulk_is_scalar(lottery, lottery.draw_block, 1, words, offset)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40).filter(any))
def test_the_owner_of_a_ticket_is_found_by_counting(row):
    running = np.cumsum(row)
    total = int(running[-1])
    everyone = [y for y, count in enumerate(row) for _ in range(count)]
    found = search(running, np.arange(total), firsts=0, lengths=len(row), longest=len(row))
    assert found.tolist() == everyone


@pytest.mark.parametrize("code", [-1, 3, 2**62, -(2**63), 2**63 - 1])
def test_a_code_outside_the_domain_is_noticed(code):
    kernel = Table(np.array([[1, 2], [2, 1], [2, 1]])).draw_block
    words = np.arange(1, 6, dtype=np.uint64) << np.uint64(61)
    assert kernel(np.array([0, code]), np.zeros(2, dtype=np.int64), words, 0, 0) == (0, 0, False)
    assert kernel(np.array([0, 2]), np.zeros(2, dtype=np.int64), words, 0, 0) == (2, 2, True)
    assert kernel(np.array([], dtype=np.int64), np.zeros(0, dtype=np.int64), words, 0, 0) == (0, 0, True)


@pytest.mark.parametrize(
    "table",
    [
        [[1, 2], [2, 2]],
        [[-1, 4], [1, 2]],
        [[0, 0], [0, 0]],
        [[WHOLE, 1], [1, WHOLE]],
        [[2**53] * 2048] * 2,  # wraps to 0
        [[2**53] * 2047 + [2**53 + 12]] * 2,  # wraps to 12
        [[2**53] * 1024] * 2,  # wraps to −2^63
    ],
    ids=["unequal", "negative", "empty", "one too many", "wraps to 0", "wraps to 12", "wraps below"],
)
def test_rows_that_hold_no_common_total_are_refused(table):
    with pytest.raises(AssertionError, match="do not hold the same total"):
        Table(np.array(table, dtype=np.int64))


@given(st.lists(st.lists(st.integers(0, 10**16), min_size=1, max_size=3), min_size=1, max_size=3), st.integers(1, 3000))
def test_totals_do_not_wrap(parts, times):
    table = [(part * times)[:times] for part in parts]
    found = totals_of(np.array(table, dtype=np.int64))
    exact = [sum(row) for row in table]
    assert (None if found is None else found.tolist()) == (exact if max(exact) <= WHOLE else None)


def test_the_tickets_of_a_lottery_cannot_be_written():
    lottery = Table(np.array([[1, 2], [2, 1]]))
    for array in (lottery.tickets, lottery.running, lottery.rows(0, 1)):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 5
    with pytest.raises(AttributeError):
        lottery.total = 4


ratio_tables = st.integers(1, 6).flatmap(
    lambda outputs: st.lists(
        st.lists(st.one_of(st.integers(1, 9), st.integers(2**51, WHOLE)), min_size=outputs, max_size=outputs),
        min_size=1,
        max_size=5,
    )
)


@given(ratio_tables)
def test_the_largest_ratio_is_that_of_all_pairs(rows):
    table = np.array(rows)
    every = [Fraction(a, b) for column in zip(*rows, strict=True) for a in column for b in column]
    assert largest_fraction(table.max(axis=0), table.min(axis=0)) == max(every)


@given(st.integers(2**50, WHOLE - 9), st.integers(0, 8), st.integers(0, 8))
def test_ratios_that_doubles_cannot_tell_apart_are_told_apart(base, i, j):
    above, below = np.array([base + i + 1, base + j + 1]), np.array([base + i, base + j])
    assert largest_fraction(above, below) == max(Fraction(base + i + 1, base + i), Fraction(base + j + 1, base + j))


def test_a_lottery_knows_its_largest_ratio_and_refuses_an_infinite_one():
    assert Table(np.array([[1, 2, 4], [4, 2, 1], [2, 4, 1]])).largest_ratio() == 4
    assert Table(np.array([[1, 0, 4], [4, 0, 1]])).largest_ratio() == 4
    with pytest.raises(AssertionError, match="infinite ratio"):
        Table(np.array([[1, 0, 4], [3, 1, 1]])).largest_ratio()


@st.composite
def private_matrices(draw):
    """(ε, rows of probabilities that are ε-LDP up to rounding): mixtures of GRR on random outputs, public odds.

    A mixture drawn without looking at the value is as private as its parts; weights down to 10^−20 make tiny
    probabilities, outputs outside every part are empty.
    """
    epsilon = draw(
        st.one_of(
            st.sampled_from(["0.001", "0.01", "1", "2", "5", "12", "20", "30", "50", "0.000001", "0.000000000001"]),
            st.decimals(min_value="0.001", max_value=12, places=18).map(lambda value: f"{value:f}"),
        )
    )
    rows, outputs = draw(st.integers(1, 6)), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    e = np.exp(float(epsilon))
    weights = 10.0 ** -rng.choice([0, 0, 1, 5, 12, 15, 16, 20], size=draw(st.integers(1, 3)))
    matrix = np.zeros((rows, outputs))
    for weight in weights / weights.sum():
        chosen = rng.permutation(outputs)[: rng.integers(1, outputs + 1)]
        part = np.zeros((rows, outputs))
        part[:, chosen] = 1.0
        part[np.arange(rows), rng.choice(chosen, size=rows)] = e
        matrix += weight * part / (e + len(chosen) - 1)
    return epsilon, matrix


@functools.cache
def exact_exp(epsilon):
    return exp(epsilon)


@given(private_matrices())
@example(("0.001", np.array([[5e-21, 1.0]])))  # once refused: no ticket was left for the first output
def test_issued_rows_keep_epsilon_exactly_and_stay_near_the_probabilities(case):
    epsilon, given_rows = case
    outputs = given_rows.shape[1]
    tickets = issue_rows(given_rows, Epsilon.of(epsilon))
    assert [sum(row) for row in tickets.tolist()] == [WHOLE] * len(tickets)
    for column, offered in zip(tickets.T.tolist(), (given_rows > 0).any(axis=0), strict=True):
        assert (min(column) >= 1) if offered else not any(column)
        # Independent of the package: 1200 digits of e^ε.
        assert max(column) <= exact_exp(epsilon) * min(column)
    # A count loses a ticket to rounding, one to those kept back and e^ε + 1 to the ceiling above a floor; what a row
    # loses in all its columns may come back in one. Rounding errors of the given floats may be clipped too.
    bound = outputs * (np.exp(float(epsilon)) + 4) / WHOLE + 1e-12
    assert np.abs(tickets / WHOLE - given_rows).max() <= bound


@given(private_matrices())
def test_rows_without_a_promise_are_only_rounded(case):
    _, given_rows = case
    tickets = issue_rows(given_rows, None)
    assert [sum(row) for row in tickets.tolist()] == [WHOLE] * len(tickets)
    assert np.abs(tickets / WHOLE - given_rows).max() <= 1e-14


def test_rows_that_break_epsilon_are_held_to_it():
    # Not what anyone should ask for, but never a broken promise.
    tickets = issue_rows(np.array([[0.75, 0.25], [0.25, 0.75]]), Epsilon.of("1"))
    assert Table(tickets).largest_ratio() <= Fraction(271828182845904523536, 10**20)
    # What one output cannot take goes to the next: each is filled to its ceiling and no ticket further.
    rows = np.array([[0.2, 0.2, 0.3, 0.3], [0.3, 0.3, 0.2, 0.2], [0.2, 0.2, 0.2, 0.2]])
    tickets = issue_rows(rows, Epsilon.of("0.405"))
    most, least = tickets.max(axis=0).tolist(), tickets.min(axis=0).tolist()
    assert all(a <= exact_exp("0.405") * b for a, b in zip(most, least, strict=True))
    assert any(a + 1 > exact_exp("0.405") * b for a, b in zip(most, least, strict=True))
    tickets = issue_rows(np.array([[1.0, 0.0], [0.5, 0.5]]), Epsilon.of("50"))
    assert 1 <= tickets.min() <= 2


def test_rows_that_no_tickets_can_keep_are_refused():
    # Two columns of one ticket each may rise to e^ε < 3 tickets: nowhere to put the rest.
    with pytest.raises(DesignError, match="2\\^52 tickets cannot keep this ε on this domain; use a larger ε, or fewer"):
        issue_rows(np.array([[1.0, 0.0], [0.0, 1.0]]), Epsilon.of("1"))
    for wrong in (np.nan, np.inf):
        with pytest.raises(DesignError, match="Expected probabilities as finite numbers; scale the losses"):
            issue_rows(np.array([[wrong, 0.5], [0.5, 0.5]]), Epsilon.of("1"))


def test_tables_too_large_to_hold_are_refused():
    check_table(2**12, MOST_TICKET_COUNTS // 2**12)
    with pytest.raises(DesignError, match="at most 2\\^25, got 5793 × 5793; use a smaller domain, or BRR, GRR or Anch"):
        check_table(5793, 5793)
