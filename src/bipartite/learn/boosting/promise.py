"""What a fitted model promises, and what it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bipartite.learn.guarantee import Guarantee, from_known_words
from bipartite.lottery import is_secure
from bipartite.lottery.budgets import exact_sum, float_at_least

if TYPE_CHECKING:
    from bipartite.learn.boosting.settings import Settings

_TUNING: Final = (
    "tuning and cross-validation: each further fit to the same records spends its own ε, and a score computed on "
    "private records is not private at all"
)
_PUBLIC: Final = (
    "the parameters, the number and names of the features, and the ranges: they are public and must not come from the "
    "records; and earlier steps of a pipeline, such as scalers and encoders, where they learn from the records"
)
_ERRORS: Final = (
    "errors, and how long a fit takes: a fit that refuses a value reveals that there was one; outside='clip' refuses "
    "fewer, and missing and infinite values and no records are always refused"
)


def promise(settings: Settings, *more: str) -> Guarantee:
    """ε for one record added or removed, 2ε for one replaced; ``more`` names further things that are not covered."""
    value = settings.epsilon.value
    promised = Guarantee(
        "central",
        float_at_least(value),
        float_at_least(exact_sum([value, value])),
        not_covered=(*more, _TUNING, _PUBLIC, _ERRORS),
    )
    return promised if is_secure(settings.source) else from_known_words(promised)
