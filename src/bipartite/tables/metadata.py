"""What travels with released reports: the spec of every private column, ε, and what was published beside it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import SpecError
from bipartite.lottery.budgets import exact_sum
from bipartite.mechanisms.record import composition_problem
from bipartite.mechanisms.spec import from_spec, spec_json, spec_sha256

if TYPE_CHECKING:
    from bipartite.mechanisms.record import Reporting
    from bipartite.tables.plan import Plan

METADATA_KEY: Final = b"bipartite"
"""The key in the metadata of Arrow schemas and Parquet files."""
_VERSION: Final = 1
DO_NOT_AVERAGE: Final = "do not average these reports"
"""What whoever holds reports must know first: they are noise around nothing until the mechanism is read backwards."""
NOT_PRIVATE: Final = "NOT PRIVATE: drawn from words that someone may know (an insecure seed or fixed words)"


@dataclass(frozen=True, slots=True)
class Described:
    """A release in words and specs. Holds nothing of the data.

    What it promises follows from its mechanisms and its words, and is never read from anywhere else.
    """

    mechanisms: dict[str, Reporting]
    public: tuple[str, ...]
    publishes: tuple[str, ...]
    insecure: bool = False
    """Whether it was drawn from words that someone may know."""

    @property
    def epsilon(self) -> Decimal | None:
        """What each row spent: the sum over its columns; None where nothing is promised."""
        if self.insecure:
            return None
        return exact_sum([mechanism.epsilon_decimal for mechanism in self.mechanisms.values()])

    @property
    def epsilon_text(self) -> str | None:
        """:attr:`epsilon` as it is written."""
        return None if self.epsilon is None else f"{self.epsilon:f}"

    @property
    def guarantee(self) -> str:
        """What the release of one row promises, in words."""
        if self.insecure:
            return NOT_PRIVATE
        return f"ε-LDP of the private columns of each row with ε = {self.epsilon_text}"

    def guarantee_of(self, name: str) -> str:
        """What the report of one column promises, in words."""
        return NOT_PRIVATE if self.insecure else self.mechanisms[name].guarantee

    def drawn_from(self, *, insecure: bool, rejecting: bool = False) -> Described:
        """The same, with how it was drawn."""
        publishes = self.publishes
        if rejecting:
            publishes = (*publishes, "how many rows were rejected, and that all others could be reported")
        return replace(self, publishes=publishes, insecure=insecure)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        found: dict[str, Any] = json.loads(self.to_json())
        return found

    def to_json(self) -> str:
        """As text; a spec, which may be long, as it was written when its mechanism was named."""
        head = {
            "bipartite_release": _VERSION,
            "guarantee": self.guarantee,
            "epsilon": self.epsilon_text,
            "insecure": self.insecure,
            "publishes": list(self.publishes),
            "public": list(self.public),
        }
        columns = ", ".join(
            f'{_json(name)}: {{"guarantee": {_json(self.guarantee_of(name))}, '
            f'"spec_sha256": {_json(spec_sha256(mechanism))}, "spec": {spec_json(mechanism)}}}'
            for name, mechanism in self.mechanisms.items()
        )
        return f'{_json(head)[:-1]}, "columns": {{{columns}}}}}'

    @classmethod
    def from_json(cls, text: str | bytes) -> Described:
        """A release from :meth:`to_json`, checked: every spec by its name, that it keeps its ε, and the sum of them."""
        try:
            held = json.loads(text, object_pairs_hook=_once)
        except (ValueError, RecursionError):
            msg = "Expected the description of a release as JSON; the file may be cut off or edited: ask for it again."
            raise SpecError(msg) from None
        if not isinstance(held, dict) or held.get("bipartite_release") != _VERSION:
            msg = "Expected the description of a release, got something else, or one of a later version."
            raise SpecError(msg)
        wrong = "parts missing or of another kind"
        try:
            mechanisms = {name: _mechanism(name, column) for name, column in held["columns"].items()}
            found = cls(mechanisms, tuple(held["public"]), tuple(held["publishes"]), held["insecure"])
            stated = None if held["epsilon"] is None else Decimal(held["epsilon"])
            lists = isinstance(held["public"], list) and isinstance(held["publishes"], list)
            words = all(isinstance(each, str) for each in (held["guarantee"], *found.public, *found.publishes))
            # They are printed, and names stand in them as Python writes them.
            words = words and all(line.isprintable() for line in found.publishes)
            if lists and words and type(held["insecure"]) is bool and mechanisms and found.publishes:
                wrong = _contradiction(found, stated, held["guarantee"])
        except (KeyError, TypeError, ValueError, AttributeError, InvalidOperation) as error:
            if isinstance(error, SpecError):
                raise
        else:
            if not wrong:
                return found
        msg = f"Expected the description of a release, got one with {wrong}; it was edited: ask for the file again."
        raise SpecError(msg)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, in which nothing may be said twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _mechanism(name: str, column: dict[str, Any]) -> Reporting:
    mechanism = from_spec(column["spec"])
    if spec_sha256(mechanism) != column["spec_sha256"]:
        msg = f"column {name!r}: the spec is another one than its name says; ask for the file again."
        raise SpecError(msg)
    problem = composition_problem(f"column {name!r}", mechanism, flat=True)
    if problem is not None:
        raise SpecError(problem)
    return mechanism


def _contradiction(found: Described, stated: Decimal | None, guarantee: str) -> str:
    """What in a description contradicts the rest of it, if anything does."""
    if set(found.public) & set(found.mechanisms):
        return "columns that are both public and private"
    # Older releases from known words state the ε that they do not keep.
    if not found.insecure and stated != found.epsilon:
        claim = "no ε" if stated is None else f"ε = {stated:.20g}"
        return f"{claim} over specs that spend ε = {found.epsilon_text}"
    if not found.insecure and guarantee.startswith(NOT_PRIVATE.partition(":")[0]):
        return "an ε over reports that it calls not private"
    return ""


def described(plan: Plan) -> Described:
    """What a plan says about its releases."""
    return Described(plan.mechanisms(), tuple(plan.public()), plan.publishes)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
