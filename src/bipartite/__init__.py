"""Local differential privacy for values that have neighbours.

A person's value is replaced, on their own device, by a report that is probably near it and provably deniable.

>>> import bipartite as bp
>>> mech = bp.BRR(bp.Integers(18, 90), epsilon=1.0)
>>> mech.m, bp.verify(mech).holds
(27, True)
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from bipartite._version import __version__
from bipartite.lazily import lazily

if TYPE_CHECKING:
    from bipartite import datasets as datasets
    from bipartite import design as design
    from bipartite import errors as errors
    from bipartite import learn as learn
    from bipartite import locations as locations
    from bipartite import quality as quality
    from bipartite import tables as tables
    from bipartite.advise import Comparison as Comparison
    from bipartite.advise import ReportingPlan as ReportingPlan
    from bipartite.advise import SampleSize as SampleSize
    from bipartite.advise import SplitOrSample as SplitOrSample
    from bipartite.advise import compare as compare
    from bipartite.advise import sample_size as sample_size
    from bipartite.advise import split_or_sample as split_or_sample
    from bipartite.categories import OLH as OLH
    from bipartite.categories import OUE as OUE
    from bipartite.categories import RAPPOR as RAPPOR
    from bipartite.categories import SUE as SUE
    from bipartite.categories import HadamardResponse as HadamardResponse
    from bipartite.categories import SubsetSelection as SubsetSelection
    from bipartite.domains import Integers as Integers
    from bipartite.domains import Interval as Interval
    from bipartite.domains import Items as Items
    from bipartite.domains import Points as Points
    from bipartite.estimation import Counts as Counts
    from bipartite.estimation import Difference as Difference
    from bipartite.estimation import Estimate as Estimate
    from bipartite.estimation import Estimates as Estimates
    from bipartite.estimation import Forecast as Forecast
    from bipartite.estimation import GroupMean as GroupMean
    from bipartite.estimation import Identifiability as Identifiability
    from bipartite.estimation import JointEstimate as JointEstimate
    from bipartite.estimation import difference as difference
    from bipartite.estimation import estimate as estimate
    from bipartite.estimation import estimate_joint as estimate_joint
    from bipartite.estimation import forecast as forecast
    from bipartite.estimation import identifiability as identifiability
    from bipartite.ledger import Ledger as Ledger
    from bipartite.lottery import fixed_words as fixed_words
    from bipartite.lottery import insecure_seed as insecure_seed
    from bipartite.mechanisms import BRR as BRR
    from bipartite.mechanisms import GRR as GRR
    from bipartite.mechanisms import LSRR as LSRR
    from bipartite.mechanisms import RR as RR
    from bipartite.mechanisms import Anchored as Anchored
    from bipartite.mechanisms import Constant as Constant
    from bipartite.mechanisms import Duchi as Duchi
    from bipartite.mechanisms import Exponential as Exponential
    from bipartite.mechanisms import Geometric as Geometric
    from bipartite.mechanisms import Hybrid as Hybrid
    from bipartite.mechanisms import Laplace as Laplace
    from bipartite.mechanisms import Optimal as Optimal
    from bipartite.mechanisms import Piecewise as Piecewise
    from bipartite.mechanisms import PlanarLaplace as PlanarLaplace
    from bipartite.mechanisms import Record as Record
    from bipartite.mechanisms import SquareWave as SquareWave
    from bipartite.mechanisms import Staircase as Staircase
    from bipartite.quality import expected_loss as expected_loss
    from bipartite.quality import local_bound as local_bound
    from bipartite.quality import local_loss as local_loss
    from bipartite.quality import loss_quantile as loss_quantile
    from bipartite.quality import qloss as qloss
    from bipartite.quality import share_within as share_within
    from bipartite.quality import worst_loss as worst_loss
    from bipartite.spec import from_spec as from_spec
    from bipartite.tables import Plan as Plan
    from bipartite.tables import privatize_frame as privatize_frame
    from bipartite.verification import Audit as Audit
    from bipartite.verification import Certificate as Certificate
    from bipartite.verification import LawTest as LawTest
    from bipartite.verification import audit as audit
    from bipartite.verification import law_test as law_test
    from bipartite.verification import trials_needed as trials_needed
    from bipartite.verification import verify as verify

logging.getLogger(__name__).addHandler(logging.NullHandler())

# Each public name and the module that holds it; loaded at first use, so that importing bipartite stays cheap.
_HOMES = {
    "Anchored": "bipartite.mechanisms",
    "Audit": "bipartite.verification",
    "BRR": "bipartite.mechanisms",
    "Certificate": "bipartite.verification",
    "Comparison": "bipartite.advise",
    "Constant": "bipartite.mechanisms",
    "Counts": "bipartite.estimation",
    "Difference": "bipartite.estimation",
    "Duchi": "bipartite.mechanisms",
    "Estimate": "bipartite.estimation",
    "Estimates": "bipartite.estimation",
    "Exponential": "bipartite.mechanisms",
    "Forecast": "bipartite.estimation",
    "GRR": "bipartite.mechanisms",
    "Geometric": "bipartite.mechanisms",
    "GroupMean": "bipartite.estimation",
    "HadamardResponse": "bipartite.categories",
    "Hybrid": "bipartite.mechanisms",
    "Identifiability": "bipartite.estimation",
    "Integers": "bipartite.domains",
    "Interval": "bipartite.domains",
    "Items": "bipartite.domains",
    "JointEstimate": "bipartite.estimation",
    "LSRR": "bipartite.mechanisms",
    "Laplace": "bipartite.mechanisms",
    "LawTest": "bipartite.verification",
    "Ledger": "bipartite.ledger",
    "OLH": "bipartite.categories",
    "OUE": "bipartite.categories",
    "Optimal": "bipartite.mechanisms",
    "Piecewise": "bipartite.mechanisms",
    "PlanarLaplace": "bipartite.mechanisms",
    "Plan": "bipartite.tables",
    "Points": "bipartite.domains",
    "RAPPOR": "bipartite.categories",
    "RR": "bipartite.mechanisms",
    "Record": "bipartite.mechanisms",
    "ReportingPlan": "bipartite.advise",
    "SUE": "bipartite.categories",
    "SampleSize": "bipartite.advise",
    "SplitOrSample": "bipartite.advise",
    "SquareWave": "bipartite.mechanisms",
    "Staircase": "bipartite.mechanisms",
    "SubsetSelection": "bipartite.categories",
    "audit": "bipartite.verification",
    "compare": "bipartite.advise",
    "datasets": "bipartite.datasets",
    "design": "bipartite.design",
    "difference": "bipartite.estimation",
    "errors": "bipartite.errors",
    "estimate": "bipartite.estimation",
    "estimate_joint": "bipartite.estimation",
    "expected_loss": "bipartite.quality",
    "fixed_words": "bipartite.lottery",
    "forecast": "bipartite.estimation",
    "from_spec": "bipartite.spec",
    "identifiability": "bipartite.estimation",
    "insecure_seed": "bipartite.lottery",
    "law_test": "bipartite.verification",
    "learn": "bipartite.learn",
    "locations": "bipartite.locations",
    "local_bound": "bipartite.quality",
    "local_loss": "bipartite.quality",
    "loss_quantile": "bipartite.quality",
    "privatize_frame": "bipartite.tables",
    "qloss": "bipartite.quality",
    "quality": "bipartite.quality",
    "sample_size": "bipartite.advise",
    "share_within": "bipartite.quality",
    "split_or_sample": "bipartite.advise",
    "tables": "bipartite.tables",
    "trials_needed": "bipartite.verification",
    "verify": "bipartite.verification",
    "worst_loss": "bipartite.quality",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)
__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 (names, kept in one place)
