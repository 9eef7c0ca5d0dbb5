"""The worth of reports around a circle: closed forms against sums over the matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bipartite as bp
from bipartite.answers.quality.losses import windows_of
from reproduction.quality import qloss


@given(st.integers(2, 25), st.data(), st.sampled_from(["0.1", "1", "4"]))
def test_closed_forms_are_sums_over_the_matrix(size, data, epsilon):
    m = data.draw(st.integers(0, size - 1))
    domain = bp.Cyclic(size, start=3)
    mechanism = bp.BRR(domain, epsilon, m=m) if m else bp.GRR(domain, epsilon)
    assert windows_of(mechanism) is not None
    losses, matrix = domain.loss_matrix(), mechanism.matrix()
    prior = np.arange(1, size + 1) / np.arange(1, size + 1).sum()
    local = (losses * matrix).sum(axis=1)
    assert bp.loss(mechanism).by_value == pytest.approx(local)
    assert bp.loss(mechanism).mean == pytest.approx(local.mean())
    assert bp.loss(mechanism, prior).mean == pytest.approx(prior @ local)
    assert bp.loss(mechanism).worst == pytest.approx(local.max())
    for loss, cost in (("squared", losses**2), (np.sqrt, np.sqrt(losses)), ("zero-one", losses > 0)):
        assert bp.loss(mechanism, loss=loss).mean == pytest.approx((cost * matrix).sum(axis=1).mean())
    assert qloss(mechanism) == pytest.approx(local.mean() / losses.max())
    for distance in (0, 1, 2.5, size):
        within = (matrix * (losses <= distance)).sum(axis=1).mean()
        assert bp.loss(mechanism).within(distance) == pytest.approx(within)
    chances = [(matrix * (losses <= d)).sum(axis=1).mean() for d in range(size // 2 + 1)]
    for quantile in (0.3, 0.9):
        assert bp.loss(mechanism).quantile(quantile) == np.searchsorted(np.array(chances) + 1e-12, quantile)


def test_seconds_of_the_day_cost_nothing():
    mechanism = bp.BRR(bp.Cyclic(86_400), 1)
    assert bp.loss(mechanism).mean == bp.loss(mechanism).worst == pytest.approx(16_270, rel=0.01)
    assert qloss(mechanism) == pytest.approx(0.3766, abs=1e-3)


def test_other_mechanisms_are_added_up():
    assert windows_of(bp.Exponential(bp.Cyclic(6), 1)) is None
    assert windows_of(bp.Anchored(bp.Cyclic(6), 1, anchors=[2])) is None
    assert bp.loss(bp.Anchored(bp.Cyclic(6), 1, anchors=[2])).mean == 1.5
