"""Verdicts on places: too few draws or budgets decide nothing, an exception decides at once."""

import pytest

from reproduction.claim import Verdict
from reproduction.claims.locations import CLAIMS
from reproduction.tests.committed import table

BY_KEY = {claim.key: claim for claim in CLAIMS}
FEW = "what == 'regions' or (seed <= 2 and epsilon in (0.25, 2))"


def judged(key, **queries):
    claim = BY_KEY[key]
    return claim.judge({name: table(name).query(queries.get(name, "index >= 0")) for name in claim.needs}).verdict


@pytest.mark.parametrize("key", ["Gowalla, 8.7 %", "FourSquare, 6.7 %"])
def test_few_draws_or_budgets_decide_nothing(key):
    assert judged(key, location_draws=FEW) == Verdict.UNDECIDED
    assert judged(key, location_draws="what == 'regions' or epsilon in (0.25, 2)") == Verdict.UNDECIDED


def test_few_budgets_show_no_exception_but_show_one_that_is_there():
    assert judged("places, falls with ε", location_errors="epsilon in (0.25, 2)") == Verdict.UNDECIDED
    own = "what == 'regions' or pool.str.contains('New York')"  # where BRR is nowhere worse
    assert judged("best across all budgets", location_draws=own) == Verdict.HOLDS
    both = {"location_errors": "epsilon in (0.25, 2)", "location_draws": own}
    assert judged("best across all budgets", **both) == Verdict.UNDECIDED
    assert judged("best across all budgets", location_errors="epsilon in (0.25, 2)") == Verdict.PART
