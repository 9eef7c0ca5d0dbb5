"""What ``bp.compare`` found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, SupportsFloat

from bipartite.answers.advise.picture import picture_of
from bipartite.answers.advise.recommendation import in_words
from bipartite.answers.advise.rows import COLUMNS, MEASURES
from bipartite.answers.advise.table import table_of
from bipartite.errors import InputError, is_one_of, missing_library, shown
from bipartite.texts import Printed, as_csv

if TYPE_CHECKING:
    from pandas import DataFrame

    from bipartite.answers.advise.recommendation import Recommendation
    from bipartite.answers.advise.rows import Row
    from bipartite.domains import Domain


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Comparison(Printed):
    """Every applicable mechanism at one ε or many, and which to take. ``print`` shows the table."""

    domain: Domain
    n: int | None
    """The number of people that the errors of statistics are for."""
    tolerance: float | None
    has_prior: bool
    """Whether a prior was given; otherwise all values are taken as equally likely."""
    rows: tuple[Row, ...]
    """One per mechanism and ε, and the reference lines after each ε."""
    advice: tuple[Recommendation, ...]
    """The recommendations, one per purpose and ε."""

    @property
    def epsilons(self) -> list[str]:
        """Every ε, ascending."""
        return list(dict.fromkeys(row.epsilon for row in self.rows))

    @property
    def recommendation(self) -> str:
        """Which mechanism to take for what, and why."""
        return in_words(self.advice)

    def best(self, purpose: str | None = None, epsilon: object = None) -> Recommendation:
        """What to take for a purpose, where several were compared; and at which ε, where there are several."""
        found = [
            each
            for each in self.advice
            if purpose in {None, each.purpose} and (epsilon is None or _same(each.epsilon, epsilon))
        ]
        if len(found) == 1:
            return found[0]
        purposes = ", ".join(dict.fromkeys(repr(each.purpose) for each in self.advice))
        raise InputError(
            f"Expected a purpose, one of {purposes}, and one of ε = {', '.join(self.epsilons)}, got "
            f"{shown(purpose)} and {shown(epsilon)}; for example compared.best({purposes.split(', ')[0]}, "
            f"{self.epsilons[0]})."
        )

    def __getitem__(self, key: str | tuple[str, object]) -> Row:
        """The row of a mechanism; ``compared["GRR", 2]`` where there are several ε."""
        name, epsilon = key if isinstance(key, tuple) else (key, None)
        found = [row for row in self.rows if row.mechanism == name and epsilon in {None, row.epsilon}]
        found = found or [row for row in self.rows if row.mechanism == name and _same(row.epsilon, epsilon)]
        if len(found) == 1:
            return found[0]
        if found:
            msg = f"There are {len(found)} ε; name one of them too, for example compared[{name!r}, {found[0].epsilon}]."
        else:
            names = ", ".join(dict.fromkeys(row.mechanism for row in self.rows))
            msg = f"Expected one of {names} and one of ε = {', '.join(self.epsilons)}, got {shown(key)}."
        raise InputError(msg)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, numbers and words; conforms to ``cli/schemas/compare.json``."""
        return {
            "domain": repr(self.domain),
            "values": len(self.domain),
            "users": self.n,
            "tolerance": self.tolerance,
            "prior": "given" if self.has_prior else "uniform",
            "rows": [row.to_dict() for row in self.rows],
            "advice": [each.to_dict() for each in self.advice],
            "recommendation": self.recommendation,
        }

    def to_csv(self) -> str:
        """The rows as CSV with a header; missing figures are empty, floats round-trip."""
        return as_csv(COLUMNS, (row.to_dict().values() for row in self.rows))

    def to_frame(self) -> DataFrame:
        """The rows as a pandas DataFrame."""
        try:
            import pandas as pd  # noqa: PLC0415 (heavy, and not needed by anything else)
        except ImportError:
            raise missing_library(what="to_frame (unlike .rows and .to_csv()) needs", library="pandas") from None
        return pd.DataFrame([row.to_dict() for row in self.rows], columns=list(COLUMNS))

    def plot(self, measure: str = "expected_loss") -> str:
        """Plot as SVG: one bar per mechanism at one ε, one curve per mechanism at several.

        ``measure`` is a column of the table: ``"expected_loss"``, ``"median_loss"``, ``"worst_loss"``,
        ``"share_within"``, ``"mean_error"``, ``"histogram_error"`` or ``"distribution_error"``.
        """
        if not is_one_of(measure, tuple(MEASURES)):
            raise InputError(f"Expected measure as one of {', '.join(map(repr, MEASURES))}, got {shown(measure)}.")
        return picture_of(self.rows, measure, n=self.n)

    def __str__(self) -> str:
        return "\n".join(self._parts())

    def _parts(self) -> list[str]:
        return [*table_of(self.rows, n=self.n, tolerance=self.tolerance), "", self.recommendation]

    def __repr__(self) -> str:
        several = self.epsilons
        which = several[0] if len(several) == 1 else f"{several[0]} … {several[-1]}"
        return f"<Comparison of {len({row.mechanism for row in self.rows})} lines on {self.domain!r}, ε = {which}>"


def _same(text: str, epsilon: object) -> bool:
    try:
        return isinstance(epsilon, (str, SupportsFloat)) and float(text) == float(epsilon)
    except (TypeError, ValueError):
        return False
