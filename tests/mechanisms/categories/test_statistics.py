"""Seeded draws against the exact law, and a wrong law that the same test rejects."""

import numpy as np
import pytest
from scipy import stats

import bipartite as bp
from tests.mechanisms.categories import laws, test_laws

PEOPLE = 40_000
# A false alarm of one test in 1e-10; there are fewer than a hundred of them.
LEVEL = 1e-10


def keys(mechanism, reports):
    if isinstance(mechanism, bp.HadamardResponse):
        return reports.tolist()
    if isinstance(mechanism, bp.OLH):
        return list(map(tuple, reports.tolist()))
    size = len(mechanism.domain)
    return list(map(tuple, np.unpackbits(reports, axis=1, bitorder="little", count=size).tolist()))


def fit(mechanism, law, x):
    """The p-value of chi-squared for reports of value number x."""
    reports = mechanism.privatize(np.full(PEOPLE, mechanism.domain[x]), rng=bp.insecure_seed(11))
    order = {key: at for at, key in enumerate(law)}
    found = np.bincount([order[key] for key in keys(mechanism, reports)], minlength=len(law))
    expected = np.array([float(row[x]) for row in law.values()]) * PEOPLE
    return stats.chisquare(found, expected * (found.sum() / expected.sum())).pvalue


MECHANISMS = [
    bp.OUE(bp.Integers(1, 4), 1),
    bp.SUE(bp.Integers(1, 3), 2),
    bp.RAPPOR(bp.Integers(1, 3), epsilon_permanent=3),
    bp.OLH(bp.Integers(1, 5), 1),
    bp.SubsetSelection(bp.Integers(1, 6), 1),
    bp.SubsetSelection(bp.Integers(1, 5), 1, k=3),
    bp.HadamardResponse(bp.Integers(1, 6), 2),
    bp.HadamardResponse(bp.Integers(1, 5), "0.5"),
]


@pytest.mark.grid(4)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_reports_follow_the_law_and_not_that_of_another_value(mechanism):
    law, _ = test_laws.law_of(mechanism)
    size = len(mechanism.domain)
    for x in (0, size - 1):
        assert fit(mechanism, law, x) > LEVEL
        # Power: the law of the neighbour is rejected at the same level.
        wrong = {key: row[1:] + row[:1] for key, row in law.items()}
        assert fit(mechanism, wrong, x) < LEVEL


def test_a_law_that_is_off_by_a_tenth_of_epsilon_is_rejected():
    mechanism = bp.OUE(bp.Integers(1, 3), 1)
    p, q = mechanism.support
    assert fit(mechanism, laws.unary(3, p, q), 1) > LEVEL
    # ln((1 − q)/q) is 0.906 for 1.07·q.
    assert fit(mechanism, laws.unary(3, p, q * 107 / 100), 1) < LEVEL


@pytest.mark.parametrize("kind", [bp.OUE, bp.SUE, bp.OLH, bp.SubsetSelection, bp.HadamardResponse])
def test_standard_errors_are_honest_over_many_values(kind):
    size, people = 200, 20_000
    mechanism = kind(bp.Integers(0, size - 1), 1)
    values = np.minimum(np.random.default_rng(1).geometric(0.05, people) - 1, size - 1)
    shares, errors = laws.shares(mechanism, mechanism.privatize(values, rng=bp.insecure_seed(7)))
    off = (shares - np.bincount(values, minlength=size) / people) / errors
    # The mean square of 200 nearly independent normal errors is 1 ± 0.1; 7 of these is a false alarm below 1e-11.
    assert 0.3 < np.mean(off**2) < 1.7
    assert np.mean((2 * off) ** 2) > 1.7  # errors stated half as large would be seen
