"""The most likely shares of flat categories, against a general optimiser on the enumerated law."""

import numpy as np
import pytest

import bipartite as bp
from bipartite.answers.estimation.whole_reports import fit_reports
from bipartite.errors import DesignError
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
    est = bp.estimate(mech, reports, method="em")
    assert est.method == "em" and est.fit.converged and est.fit.gap <= 0.1
    assert est.frequencies.sum() == pytest.approx(1) and est.frequencies.min() >= 0
    top = solved(chances, counts)
    seen = counts > 0
    values = [counts[seen] @ np.log(f @ chances[:, seen]) for f in (est.frequencies, top)]
    assert values[1] - values[0] <= est.fit.gap + 1e-6
    # A tenth of a nat is less than half a standard error.
    errors = bp.estimate(mech, reports, method="inverse").standard_errors
    assert (np.abs(est.frequencies - top) <= 0.5 * errors).all()


def test_weights_count_as_repeated_reports():
    mech = bp.SubsetSelection(bp.Integers(1, 6), 2)
    reports = mech.privatize([1, 2, 2, 5, 6, 6] * 100, rng=bp.insecure_seed(3))
    weights = np.tile([1.0, 3.0], 300)
    weighted = bp.estimate(mech, reports, weights=weights, method="em")
    repeated = bp.estimate(mech, np.repeat(reports, weights.astype(int), axis=0), method="em")
    assert np.allclose(weighted.frequencies, repeated.frequencies, atol=0.01)


def test_shares_have_no_intervals_and_the_reason_is_told():
    mech = bp.OUE(bp.Integers(1, 20), 1)
    est = bp.estimate(mech, mech.privatize([3] * 200, rng=bp.insecure_seed(4)), method="em")
    assert est.interval(of=("cdf", 3)) == (0, 1)
    assert "no valid one is known" in est.interval(of=("cdf", 3)).note
    assert est.interval()[0] <= est.mean <= est.interval()[1]  # means are unbiased, whatever the method
    assert np.isnan(est.share_intervals()).all()
    assert "by 'em'" in est.summary()
    assert "without intervals" in est.plot()


def test_too_many_reports_are_refused_before_they_are_held(monkeypatch):
    monkeypatch.setattr("bipartite.answers.estimation.whole_reports._MOST_BYTES", 10)
    mech = bp.OUE(bp.Integers(1, 20), 1)
    with pytest.raises(DesignError, match="at most 10; use method='projected'"):
        fit_reports(mech, mech.privatize(np.arange(1, 21), rng=bp.insecure_seed(5)))
