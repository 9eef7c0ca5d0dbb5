"""What estimates need of a mechanism before any report: made once for all groups, dates and repetitions."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bipartite.answers.estimation.identify import identifiability
from bipartite.answers.estimation.operator import operator_of
from bipartite.answers.estimation.quantiles import RampScores
from bipartite.errors import DesignError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bipartite.answers.estimation.identify import Identifiability
    from bipartite.answers.estimation.scores import Scores
    from bipartite.mechanisms import Mechanism

_KEPT: Final = 4
# Of larger mechanisms nothing is kept from one estimate to the next: it would hold memory that was given for one.
_MOST_KEPT: Final = 512


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Everything here depends on the mechanism alone."""

    law: NDArray[np.float64]
    """The distribution of reports when every value is equally likely."""
    found: Identifiability | None
    """None where the mechanism is too large to decide what can be told apart; so are the two below."""
    scores: Scores | None
    """Scores of least variance under that law: a choice that depends on no data keeps them unbiased."""
    ramps: RampScores | None


def prepared(mechanism: Mechanism) -> Prepared:
    """What estimates from reports of this mechanism need."""
    return (_kept if len(mechanism.outputs) <= _MOST_KEPT else _made)(mechanism)


def _made(mechanism: Mechanism) -> Prepared:
    law = operator_of(mechanism).uniform_law()
    # It is shared, and nobody is to change it for others.
    law.flags.writeable = False
    try:
        found = identifiability(mechanism)
    except DesignError:
        return Prepared(law, None, None, None)
    scores = found.scores(law)
    return Prepared(law, found, scores, RampScores(scores, law))


_kept = functools.lru_cache(maxsize=_KEPT)(_made)
