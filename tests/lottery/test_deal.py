"""Every kind of deal on small domains: each ticket of each input has one owner, whichever way it is asked for."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite.lottery import Deal, Mixture, Nearest, Noise, Ring, Table, Tickets, Window
from bipartite.lottery.compiled import line_kernel
from bipartite.lottery.order import RankOrder, VectorOrder

NEAR_FAR = Tickets(11, 4)
LINE = VectorOrder(np.array([[0], [1], [4], [5], [9]]), "squared")
RANKS = RankOrder(np.array([[0, 1, 1, 2], [1, 0, 2, 1], [2, 2, 0, 1], [3, 2, 1, 0]], dtype=np.int32))


def mixture():
    return Mixture(
        sets=(np.array([0, 2, 4]), np.array([3]), np.array([1, 3])),
        own=np.array([[0, 1, 1, 2], [0, 0, 0, 0], [0, 0, 1, 1]], dtype=np.uint8),
        near=np.array([7, 4, 5]),
        far=np.array([3, 4, 2]),
        outputs=5,
    )


WINDOWS = {
    "clamped": Window(7, 7, 3, -1, NEAR_FAR),
    "clamped even": Window(6, 6, 4, -2, NEAR_FAR),
    "padded": Window(5, 7, 3, 0, NEAR_FAR),
    "grr": Window(4, 4, 1, 0, NEAR_FAR),
    "constant": Window(3, 1, 1, 0, Tickets(2, 1)),
    "groups": Window(5, 6, 2, 0, NEAR_FAR, groups=np.array([0, 0, 4, 2, 2])),
    "ring": Ring(5, 2, NEAR_FAR),
    "ring wide": Ring(8, 7, NEAR_FAR),
}
SEARCHED = {
    "mixture": mixture(),
    "noise": Noise(4, 0, np.array([9, 5, 3, 4])),
    "noise padded": Noise(3, 2, np.array([7, 5, 2, 2, 6])),
    "table": Table(np.array([[1, 2, 4, 0], [4, 2, 1, 0], [2, 4, 1, 0]])),
}
POINTS = {
    f"{name} by {'list' if by_list else 'tries'}": Nearest(order, 2, NEAR_FAR, by_list)
    for name, order in (("points", LINE), ("items", RANKS))
    for by_list in (True, False)
}
DEALS = WINDOWS | SEARCHED | POINTS
every = pytest.mark.parametrize("deal", DEALS.values(), ids=DEALS)
one_ticket = pytest.mark.parametrize("deal", (WINDOWS | SEARCHED).values(), ids=WINDOWS | SEARCHED)
BY_TICKET = {name: deal for name, deal in DEALS.items() if not deal.by_tries}


@every
def test_every_ticket_has_the_owner_that_the_row_says(deal):
    for x in range(deal.inputs):
        held = Counter(deal.owner(x, ticket) for ticket in range(deal.total))
        row = {y: count for y, count in enumerate(deal.rows_of(np.array([x]))[0].tolist()) if count}
        assert held == row
        assert deal.rows(x, x + 1).tolist() == deal.rows_of(np.array([x])).tolist()
        assert all(Deal.owner(deal, x, ticket) == deal.owner(x, ticket) for ticket in range(deal.total))


@one_ticket
def test_many_owners_are_found_as_one_is_also_by_visiting_every_run(deal):
    everyone, tickets = (each.ravel() for each in np.mgrid[: deal.inputs, : deal.total])
    expected = [deal.owner(x, ticket) for x, ticket in zip(everyone.tolist(), tickets.tolist(), strict=True)]
    assert deal.owners(everyone, tickets).tolist() == expected
    assert Deal.owners(deal, everyone, tickets).tolist() == expected


@pytest.mark.parametrize("deal", BY_TICKET.values(), ids=BY_TICKET)
def test_the_numpy_kernel_gives_the_owner_of_the_ticket_of_a_word(deal):
    for x in range(deal.inputs):
        # The word in the middle of a ticket's share of all words.
        words = [(2 * ticket + 1) * 2**63 // deal.total for ticket in range(deal.total)]
        reports = np.zeros(deal.total, dtype=np.int64)
        drawn = deal.draw_block(np.full(deal.total, x + 3), reports, np.array(words, dtype=np.uint64), 3, -2)
        assert drawn == (deal.total, deal.total, True)
        assert (reports + 2).tolist() == [deal.owner(x, ticket) for ticket in range(deal.total)]


@every
def test_the_ratio_is_the_largest_of_all_rows_by_fractions(deal):
    rows = deal.rows(0, deal.inputs).tolist()
    assert {sum(row) for row in rows} == {deal.total}
    columns = [column for column in zip(*rows, strict=True) if any(column)]
    assert deal.largest_ratio() == max(Fraction(max(column), min(column)) for column in columns)
    assert Deal.largest_ratio(deal) == deal.largest_ratio()


@every
def test_products_are_those_of_the_matrix_in_every_form(deal):
    rng = np.random.default_rng(3)
    matrix = deal.rows(0, deal.inputs) / deal.total
    f, v = rng.random((2, deal.inputs)), rng.random((2, deal.outputs))
    for channel in (deal, deal.channel()):
        for one_f, one_v in ((f, v), (f[0], v[0])):
            np.testing.assert_allclose(channel.forward(one_f), one_f @ matrix, atol=1e-14)
            np.testing.assert_allclose(channel.backward(one_v), one_v @ matrix.T, atol=1e-14)
        np.testing.assert_allclose(channel.dense(), matrix, atol=1e-14)
    np.testing.assert_allclose(Deal.forward(deal, f), f @ matrix, atol=1e-14)
    np.testing.assert_allclose(Deal.backward(deal, v), v @ matrix.T, atol=1e-14)


@every
def test_distinct_rows_are_those_of_the_matrix(deal):
    rng = np.random.default_rng(4)
    matrix = deal.rows(0, deal.inputs) / deal.total
    for seen in (np.ones(deal.outputs, bool), rng.random(deal.outputs) < 0.4, np.zeros(deal.outputs, bool)):
        groups, rows = deal.channel().distinct(seen)
        of_each = np.arange(deal.inputs) if groups is None else groups
        np.testing.assert_allclose(rows.dense()[of_each][:, seen], matrix[:, seen], atol=1e-14)
    if (known := deal.distinct_rows()) is not None:
        of_each = np.arange(deal.inputs) if known[0] is None else known[0]
        np.testing.assert_allclose(known[1].dense()[of_each], matrix, atol=1e-14)


@pytest.mark.parametrize("deal", WINDOWS.values(), ids=WINDOWS)
def test_near_outputs_are_the_likely_ones(deal):
    for x, row in enumerate(deal.rows(0, deal.inputs).tolist()):
        near = {(deal.start(x) + step) % deal.outputs for step in range(deal.m)}
        assert row == [deal.tickets.near if y in near else deal.tickets.far for y in range(deal.outputs)]


@st.composite
def windows(draw):
    """Windows of any shape: clamped, padded, in groups, around a circle; far is a power of two, as always."""
    inputs, m = draw(st.integers(1, 9)), draw(st.integers(1, 6))
    far = 2 ** draw(st.integers(0, 4))
    tickets = Tickets(draw(st.integers(max(far, 2), 3 * far + 2)), far)
    kind = draw(st.sampled_from(["clamped", "padded", "groups", "ring"]))
    if kind == "ring":
        return Ring(m + inputs, m, tickets)
    if kind == "padded":
        return Window(inputs, inputs + m - 1, m, 0, tickets)
    outputs = m + draw(st.integers(0, 8))
    if kind == "clamped":
        return Window(inputs, outputs, m, draw(st.integers(-m, 3)), tickets)
    groups = draw(st.lists(st.integers(0, outputs - m), min_size=inputs, max_size=inputs))
    return Window(inputs, outputs, m, 0, tickets, groups=np.array(groups))


@given(windows(), st.data())
def test_windows_of_any_shape_agree_with_their_runs(deal, data):
    everyone, tickets = (each.ravel() for each in np.mgrid[: deal.inputs, : deal.total])
    expected = Deal.owners(deal, everyone, tickets)
    words = np.array([(2 * ticket + 1) * 2**63 // deal.total for ticket in tickets.tolist()], dtype=np.uint64)
    compiled = deal.around(line_kernel(deal.turn)) if deal.ring is not None else line_kernel(deal)
    for kernel in (deal.draw_block, compiled):
        reports = np.zeros(len(words), dtype=np.int64)
        assert kernel(everyone + 5, reports, words, 5, 0) == (len(words), len(words), True)
        assert (reports == expected).all()
    assert deal.largest_ratio() == Deal.largest_ratio(deal)
    matrix = deal.rows(0, deal.inputs) / deal.total
    f, v = np.arange(1.0, deal.inputs + 1), np.arange(1.0, deal.outputs + 1) ** 2
    np.testing.assert_allclose(deal.forward(f), f @ matrix, rtol=1e-12)
    np.testing.assert_allclose(deal.backward(v), matrix @ v, rtol=1e-12)
    seen = np.array(data.draw(st.lists(st.booleans(), min_size=deal.outputs, max_size=deal.outputs)))
    groups, rows = deal.distinct(seen)
    of_each = np.arange(deal.inputs) if groups is None else groups
    np.testing.assert_allclose(rows.dense()[of_each][:, seen], matrix[:, seen], rtol=1e-12)


def test_a_new_kind_says_its_runs_and_has_everything_else():
    class Toy(Deal):
        """The value itself holds three tickets, each other one."""

        inputs, outputs, total, word_bits = 4, 4, 6, 64

        def runs(self, x):
            return (x, 1, 3), (0, x, 1), (x + 1, 3 - x, 1)

    toy = Toy()
    assert toy.rows(0, 4).tolist() == (np.ones((4, 4)) + 2 * np.eye(4)).tolist()
    assert toy.largest_ratio() == 3
    assert [toy.owner(2, ticket) for ticket in range(6)] == [2, 2, 2, 0, 1, 3]
    assert toy.owners(np.full(6, 2), np.arange(6)).tolist() == [2, 2, 2, 0, 1, 3]
    np.testing.assert_allclose(toy.channel().uniform_law(), 0.25)
    with pytest.raises(AssertionError, match="do not hold the same total"):
        toy.owner(2, 6)
    Toy.total = 7
    with pytest.raises(AssertionError, match="do not hold the same total"):
        toy.largest_ratio()
