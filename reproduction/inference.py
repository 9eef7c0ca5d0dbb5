"""The expected inference error: how far the best guess from a report stays from the truth, on average.

Every answer is tried for every report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.quality.losses import blocks, check_values
from bipartite.design import check_prior
from bipartite.domains.losses import Loss, LossRows
from bipartite.errors import InputError
from bipartite.mechanisms import Mechanism

if TYPE_CHECKING:
    from bipartite.answers.quality.losses import Prior

# A table of 512 MB, and the losses between all pairs of values: some minutes on one core.
_MOST_PAIRS: Final = 2**26
_MOST_VALUES: Final = 2**16


def inference_error(mechanism: Mechanism, prior: Prior = None, *, loss: Loss = None) -> float:
    r"""How far the best guess of the value from its report is off, for values distributed as ``prior`` (None: uniform).

    Σ_y min_x̂ Σ_x π_x·Pr[y|x]·L(x, x̂): somebody who knows the prior and the mechanism sees the report y and answers the
    value x̂ of the domain with the least expected loss. On a line this is a median of the posterior.

    Parameters
    ----------
    mechanism
        Any mechanism whose reports can be listed; they need not be values.
    prior
        The probability of each value: what is known before the report.
    loss
        None is the domain's own loss, in its units; ``"squared"``, ``"zero-one"``, a function of it, or a matrix with a
        row for each value and a column for each answer, both values of the domain.

    Guarantee
    ---------
    None: this is a measurement for one prior and one loss, not a promise. What ε-LDP does promise, for losses of at
    least 0 and every prior: at least e\ :sup:`−ε` times the loss of the best guess without a report.

    Notes
    -----
    It is also the least expected loss that a well-meaning recipient gets out of the report by any post-processing, so
    never more than ``bp.loss(mechanism, prior).mean``: under one loss and one prior reports cannot be useful and tell
    little. A release that is optimal for the prior, as :class:`~bipartite.Anchored` on a line, has both equal.

    It is for at most 65,536 values and 2\ :sup:`26` pairs of a report and an answer.

    Reference
    ---------
    Shokri, Theodorakopoulos, Le Boudec and Hubaux: *Quantifying Location Privacy* (IEEE S&P 2011).

    Examples
    --------
    >>> from bipartite import BRR, Constant, Integers
    >>> from bipartite import loss
    >>> ages = Integers(18, 90)
    >>> mech = BRR(ages, epsilon=1)
    >>> round(loss(mech).mean, 2), round(inference_error(mech), 2), round(loss(Constant(ages)).mean, 2)
    (17.82, 16.07, 18.25)
    """
    check_values(mechanism)
    domain = mechanism.domain
    size, reports = len(domain), len(mechanism.outputs)
    rows = LossRows(domain, domain, loss)
    if size > _MOST_VALUES or size * reports > _MOST_PAIRS:
        raise InputError(
            f"Expected at most {_MOST_VALUES:,} values and 2^26 pairs of a report and an answer, got {size:,} values "
            f"and {reports:,} reports; use fewer values."
        )
    weights = np.full(size, 1 / size) if prior is None else check_prior(prior, size)
    costs = np.zeros((reports, size))
    for start, stop, tickets in blocks(mechanism):
        joint = tickets * (weights[start:stop, None] / mechanism.lottery.total)
        costs += joint.T @ rows.rows(start, stop)
    return float(costs.min(axis=1).sum())
