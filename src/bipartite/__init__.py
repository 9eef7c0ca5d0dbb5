"""Local differential privacy for values that have neighbours.

A person's value is replaced, on their own device, by a report that is probably near it and provably deniable.

>>> import bipartite as bp
>>> mech = bp.BRR(bp.Integers(18, 90), epsilon=1.0)
>>> mech.m, bp.verify(mech).holds
(27, True)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bipartite._version import __version__
from bipartite.lazily import lazily
from bipartite.mechanisms.catalogue import entries

if TYPE_CHECKING:
    from bipartite import design as design
    from bipartite import errors as errors
    from bipartite import learn as learn
    from bipartite import locations as locations
    from bipartite import quality as quality
    from bipartite import surveys as surveys
    from bipartite import tables as tables
    from bipartite.answers.advise import compare as compare
    from bipartite.answers.advise import forecast as forecast
    from bipartite.answers.advise import recommend as recommend
    from bipartite.answers.advise import sample_size as sample_size
    from bipartite.answers.advise import split_or_sample as split_or_sample
    from bipartite.answers.estimation import Counts as Counts
    from bipartite.answers.estimation import difference as difference
    from bipartite.answers.estimation import estimate as estimate
    from bipartite.answers.estimation import identifiability as identifiability
    from bipartite.answers.estimation import scores as scores
    from bipartite.answers.quality import loss as loss
    from bipartite.domains import Cyclic as Cyclic
    from bipartite.domains import Integers as Integers
    from bipartite.domains import Interval as Interval
    from bipartite.domains import Items as Items
    from bipartite.domains import Points as Points
    from bipartite.domains import Product as Product
    from bipartite.ledger import Ledger as Ledger
    from bipartite.lottery import fixed_words as fixed_words
    from bipartite.lottery import insecure_seed as insecure_seed
    from bipartite.mechanisms import BRR as BRR
    from bipartite.mechanisms import GRR as GRR
    from bipartite.mechanisms import Anchored as Anchored
    from bipartite.mechanisms import AnchoredMeans as AnchoredMeans
    from bipartite.mechanisms import Constant as Constant
    from bipartite.mechanisms import Custom as Custom
    from bipartite.mechanisms import Duchi as Duchi
    from bipartite.mechanisms import Exponential as Exponential
    from bipartite.mechanisms import Geometric as Geometric
    from bipartite.mechanisms import Hybrid as Hybrid
    from bipartite.mechanisms import Laplace as Laplace
    from bipartite.mechanisms import Minimax as Minimax
    from bipartite.mechanisms import Optimal as Optimal
    from bipartite.mechanisms import Piecewise as Piecewise
    from bipartite.mechanisms import Record as Record
    from bipartite.mechanisms import SquareWave as SquareWave
    from bipartite.mechanisms import Staircase as Staircase
    from bipartite.mechanisms.categories import OLH as OLH
    from bipartite.mechanisms.categories import OUE as OUE
    from bipartite.mechanisms.categories import RAPPOR as RAPPOR
    from bipartite.mechanisms.categories import SUE as SUE
    from bipartite.mechanisms.categories import HadamardResponse as HadamardResponse
    from bipartite.mechanisms.categories import SubsetSelection as SubsetSelection
    from bipartite.mechanisms.spec import from_spec as from_spec
    from bipartite.tables import Plan as Plan
    from bipartite.tables import privatize_frame as privatize_frame
    from bipartite.verification import audit as audit
    from bipartite.verification import law_test as law_test
    from bipartite.verification import trials_needed as trials_needed
    from bipartite.verification import verify as verify

# Public names by the package that defines them; loaded on first use, so that importing bipartite stays cheap.
_NAMES = {
    "answers.advise": "compare forecast recommend sample_size split_or_sample",
    "answers.estimation": "Counts difference estimate identifiability scores",
    "answers.quality": "loss",
    "domains": "Cyclic Integers Interval Items Points Product",
    "ledger": "Ledger",
    "lottery": "fixed_words insecure_seed",
    "mechanisms": "Record",
    "mechanisms.spec": "from_spec",
    "tables": "Plan privatize_frame",
    "verification": "audit law_test trials_needed verify",
}
_MODULES = ("design", "errors", "learn", "locations", "quality", "surveys", "tables")
_HOMES = (
    {name: f"{__name__}.{home}" for home, names in _NAMES.items() for name in names.split()}
    | {name: f"{__name__}.{name}" for name in _MODULES}
    | {each.kind: each.module for each in entries() if each.family != "regions"}
)
if not TYPE_CHECKING:  # so that type checkers and editors report a name that is not above
    __getattr__, __dir__ = lazily(__name__, _HOMES)
__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 (names, kept in one place)
