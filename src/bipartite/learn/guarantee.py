"""What a fitted model promises about the people whose data it saw."""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass, replace
from typing import Final, Literal

from bipartite.texts import Printed

Model = Literal["local", "central", "label", "none"]
SEEDED: Final = (
    "the random words were given, by a seed or as they are: whoever knows them can undo the noise, so this fit is not "
    "private"
)
"""Stands first in ``not_covered`` wherever ``rng`` was not the secure source; no ε is claimed there."""
_SIX_DIGITS: Final = decimal.Context(prec=6, rounding=decimal.ROUND_CEILING)
_MODELS = {
    "local": "local differential privacy: the collector sees reports only",
    "central": "central differential privacy: whoever trains sees the data, whoever gets the model does not",
    "label": "label differential privacy, local: features are public, and of each label the collector sees one report",
    "none": "no privacy",
}


@dataclass(frozen=True, repr=False)
class Guarantee(Printed):
    """The privacy of a fitted model, in numbers and words.

    ``add_remove`` is ε for data sets that differ in the presence of one record, ``replace`` for data sets of one size
    that differ in one record; ``math.inf`` where nothing is promised. In the local model everybody sees who takes part,
    so only ``replace`` is finite there. With ``model="label"`` it is ε for one label, all features being public.
    """

    model: Model
    add_remove: float
    replace: float
    delta: float = 0.0
    not_covered: tuple[str, ...] = ()
    """What the numbers leave out, a sentence each: tuning, public parameters, labels that were declared public."""

    @property
    def is_private(self) -> bool:
        """Whether at least one of the two numbers is finite."""
        return self.model != "none" and min(self.add_remove, self.replace) < math.inf

    def __str__(self) -> str:
        lines = [_MODELS[self.model if self.is_private else "none"]]
        if self.is_private:
            if self.model == "label":
                lines.append(f"ε = {_number(self.replace)} when one person's label is replaced and no feature changes")
            else:
                lines.append(f"ε = {_number(self.add_remove)} when a record is added or removed")
                lines.append(f"ε = {_number(self.replace)} when a record is replaced")
            lines.append(f"δ = {self.delta:g}")
        lines += [f"not covered: {each}" for each in self.not_covered]
        return "\n".join(lines)


def from_known_words(promised: Guarantee) -> Guarantee:
    """What is left of a promise where someone may know the words that it was kept with: nothing."""
    return replace(
        promised,
        model="none",
        add_remove=math.inf,
        replace=math.inf,
        delta=0.0,
        not_covered=(SEEDED, *promised.not_covered),
    )


def _number(epsilon: float) -> str:
    """Six digits, rounded up; the sixteenth, which is due to the conversion to a double, does not count."""
    if math.isinf(epsilon):
        return "∞"
    return f"{float(_SIX_DIGITS.create_decimal(f'{epsilon:.15g}')):.6g}"
