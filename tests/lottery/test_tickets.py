import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite.lottery import MAX_TOTAL, Epsilon, Tickets, TooFewTickets, issue_tickets
from tests.oracle import exp, number
from tests.strategies import epsilons


@given(epsilons, st.integers(2, 2**31), st.data())
def test_tickets_are_honest_close_and_the_finest_that_fit(epsilon, outputs, data):
    budget = Epsilon.of(epsilon)
    m = data.draw(st.integers(1, outputs - 1))
    tickets = issue_tickets(budget, m, outputs)
    exact = number(budget)
    if tickets is TooFewTickets.EPSILON_TOO_LARGE:
        assert m * int(mpmath.floor(exp(budget))) + outputs - m > MAX_TOTAL
        return
    if tickets is TooFewTickets.EPSILON_TOO_SMALL:
        # 1/near bounds the shortfall, so at least 1000/ε (or a million) tickets would have been needed.
        assert MAX_TOTAL / outputs < 4 * max(1000 / exact, 1e6)
        return
    realised = mpmath.log(mpmath.mpf(tickets.near) / tickets.far)
    assert exact - min(mpmath.mpf("1e-6"), exact / 1000) <= realised <= exact
    assert exact - realised < 1 / mpmath.mpf(tickets.near)
    assert tickets.far & (tickets.far - 1) == 0
    assert tickets.total(m, outputs) <= MAX_TOTAL
    assert Tickets(budget.most_near_tickets(2 * tickets.far), 2 * tickets.far).total(m, outputs) > MAX_TOTAL


@pytest.mark.parametrize(
    ("epsilon", "m", "outputs", "refusal"),
    [
        ("37", 1, 2, TooFewTickets.EPSILON_TOO_LARGE),
        ("0.0000000000001", 1, 2, TooFewTickets.EPSILON_TOO_SMALL),
        ("0.000001", 10, 2**31, TooFewTickets.EPSILON_TOO_SMALL),
    ],
)
def test_what_tickets_cannot_keep_is_named(epsilon, m, outputs, refusal):
    assert issue_tickets(Epsilon.of(epsilon), m, outputs) is refusal
