"""The most likely shares of flat categories, against a general optimiser on the enumerated law."""

import numpy as np
import pytest

import bipartite as bp
from reproduction.flat_em import GAP, most_likely
from tests.answers.estimation.test_categories import every_mechanism, law_of, population
from tests.answers.estimation.test_em import solved


def counted(mech, reports):
    """(how often each enumerated report came, the law as an array)."""
    every, chances = law_of(mech)
    places = {row.tobytes(): at for at, row in enumerate(every)}
    return np.bincount([places[row.tobytes()] for row in reports], minlength=len(every)), chances


@every_mechanism
def test_no_distribution_is_more_likely_than_the_fit_by_more_than_its_gap(mech):
    size = len(mech.domain)
    values = np.random.default_rng(1).choice(mech.domain.to_numpy(), 3000, p=population(size))
    reports = mech.privatize(values, rng=bp.insecure_seed(2))
    counts, chances = counted(mech, reports)
    shares, gap = most_likely(mech, reports)
    assert gap <= GAP and shares.sum() == pytest.approx(1) and shares.min() >= 0
    top = solved(chances, counts)
    seen = counts > 0
    values = [counts[seen] @ np.log(f @ chances[:, seen]) for f in (shares, top)]
    assert values[1] - values[0] <= gap + 1e-6
    # A tenth of a nat is less than half a standard error.
    errors = bp.estimate(mech, reports, method="inverse").to_frame()["se"]
    assert (np.abs(shares - top) <= 0.5 * np.asarray(errors)).all()
