import dataclasses
import math
from decimal import Decimal
from fractions import Fraction

import pytest

from bipartite import BRR, Integers, Points, verify
from bipartite.errors import InputError
from bipartite.lottery import Nearest, Tickets, Window


def test_a_certificate_says_everything_and_rounds_against_itself():
    certificate = verify(BRR(Integers(18, 90), epsilon=1))
    assert certificate.holds
    assert certificate.ratio == Fraction(95641039294813, 35184372088832)
    assert Decimal("0.99999999999999") < certificate.epsilon_upper < 1
    assert certificate.epsilon_upper >= Decimal(math.log(certificate.ratio)) - Decimal("1e-15")
    assert certificate.guarantee == "ε-LDP of each report with ε = 1"
    assert len(certificate.spec_sha256) == 64
    text = str(certificate)
    assert "holds" in text
    assert "95641039294813/35184372088832" in text
    # The ε shown to people is rounded up too.
    shown = Decimal(text.split("realised ε ≤ ")[1].split("\n", maxsplit=1)[0])
    assert shown >= certificate.epsilon_upper


def test_a_certificate_does_not_believe_the_mechanism():
    mechanism = BRR(Integers(18, 90), epsilon=1)
    tickets = mechanism.lottery.tickets
    mechanism._set(draw=dataclasses.replace(mechanism.lottery, tickets=Tickets(tickets.near + 1, tickets.far)))
    certificate = verify(mechanism)
    assert not certificate.holds
    assert "DOES NOT HOLD" in str(certificate)
    assert certificate.epsilon_upper > 1


def every_ratio(lottery):
    rows = lottery.rows(0, lottery.inputs).tolist()
    return max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))


@pytest.mark.parametrize("tickets", [Tickets(3, 2), Tickets(2, 4)])
@pytest.mark.parametrize("shift", [0, -1, -2, -50, 50])
@pytest.mark.parametrize("m", [1, 2, 4])
def test_the_largest_ratio_is_that_of_all_rows(tickets, shift, m):
    # Also for windows that never move, and for tickets the wrong way round.
    for outputs in range(m + 1, 9):
        lottery = Window(6, outputs, m, shift, tickets)
        assert lottery.largest_ratio() == every_ratio(lottery)


def test_rows_of_unequal_totals_are_refused():
    lottery = BRR(Integers(1, 9), 1).lottery
    object.__setattr__(lottery, "total", lottery.total - 1)
    with pytest.raises(AssertionError, match="do not hold the same total"):
        lottery.largest_ratio()


def test_a_lottery_that_belongs_to_another_domain_is_refused():
    mechanism = BRR(Integers(18, 90), epsilon=1)
    mechanism._set(domain=Integers(0, 10**9))
    with pytest.raises(AssertionError, match="does not belong to its domain"):
        verify(mechanism)


def test_a_near_set_of_another_size_is_refused(monkeypatch):
    # One item more near for one value would break the equal totals that the proof rests on.
    mechanism = BRR(Points([[0, 0], [0, 1], [5, 5], [9, 9]]), epsilon=1, m=2)
    right = Nearest.near
    monkeypatch.setattr(Nearest, "near", lambda self, x: right(self, x) | (x == 3))
    with pytest.raises(AssertionError, match="do not hold the same total"):
        verify(mechanism)


def test_what_is_no_mechanism_is_refused_by_name():
    with pytest.raises(InputError, match=r"Expected a mechanism, got int; pass bp.BRR\(…\), or bp.from_spec"):
        verify(3)
