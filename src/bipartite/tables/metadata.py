"""What travels with released reports: the spec of every private column, ε, and what was published beside it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import SpecError
from bipartite.spec import from_spec, spec_json, spec_sha256

if TYPE_CHECKING:
    from bipartite.mechanisms import Mechanism
    from bipartite.tables.plan import Plan

METADATA_KEY: Final = b"bipartite"
"""The key in the metadata of Arrow schemas and Parquet files."""
_VERSION: Final = 1
_NOT_PRIVATE: Final = "NOT PRIVATE: drawn from words that someone may know (--insecure-seed or fixed words)"


@dataclass(frozen=True, slots=True)
class Described:
    """A release in words and specs. Holds nothing of the data."""

    mechanisms: dict[str, Mechanism]
    public: tuple[str, ...]
    epsilon: Decimal
    guarantee: str
    publishes: tuple[str, ...]
    insecure: bool = False

    def drawn_from(self, *, insecure: bool, rejecting: bool) -> Described:
        """The same, with how it was drawn."""
        publishes = self.publishes
        if rejecting:
            publishes = (*publishes, "how many rows were rejected, and that all others could be reported (--reject)")
        guarantee = _NOT_PRIVATE if insecure else self.guarantee
        return replace(self, publishes=publishes, guarantee=guarantee, insecure=insecure)

    def _head(self) -> dict[str, Any]:
        """All but the columns."""
        return {
            "bipartite_release": _VERSION,
            "guarantee": self.guarantee,
            "epsilon": f"{self.epsilon:f}",
            "insecure": self.insecure,
            "publishes": list(self.publishes),
            "public": list(self.public),
        }

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        columns = {
            name: {
                "guarantee": mechanism.guarantee,
                "spec_sha256": spec_sha256(mechanism),
                "spec": mechanism.to_spec(),
            }
            for name, mechanism in self.mechanisms.items()
        }
        return self._head() | {"columns": columns}

    def to_json(self) -> str:
        """:meth:`to_dict` as text; a spec, which may be long, as it was written when its mechanism was named."""
        columns = ", ".join(
            f'{_json(name)}: {{"guarantee": {_json(mechanism.guarantee)}, '
            f'"spec_sha256": {_json(spec_sha256(mechanism))}, "spec": {spec_json(mechanism)}}}'
            for name, mechanism in self.mechanisms.items()
        )
        return f'{_json(self._head())[:-1]}, "columns": {{{columns}}}}}'

    @classmethod
    def from_json(cls, text: str | bytes) -> Described:
        """A release from :meth:`to_json`, checked: every spec by its name, and that it keeps its ε."""
        try:
            held = json.loads(text)
        except ValueError:
            msg = "Expected the description of a release as JSON; the file may be cut off: ask for it again."
            raise SpecError(msg) from None
        if not isinstance(held, dict) or held.get("bipartite_release") != _VERSION:
            msg = "Expected the description of a release, got something else, or one of a later version."
            raise SpecError(msg)
        try:
            mechanisms = {}
            for name, column in held["columns"].items():
                mechanisms[name] = from_spec(column["spec"])
                if spec_sha256(mechanisms[name]) != column["spec_sha256"]:
                    msg = f"column {name!r}: the spec is another one than its name says; ask for the file again."
                    raise SpecError(msg)
            return cls(
                mechanisms,  # type: ignore[arg-type]  # a plan holds no flat categories
                tuple(held["public"]),
                Decimal(held["epsilon"]),
                str(held["guarantee"]),
                tuple(map(str, held["publishes"])),
                bool(held["insecure"]),
            )
        except (KeyError, TypeError, AttributeError, InvalidOperation):
            msg = "Expected the description of a release, got one with parts missing; ask for the file again."
            raise SpecError(msg) from None


def described(plan: Plan) -> Described:
    """What a plan says about its releases."""
    return Described(plan.mechanisms(), tuple(plan.public()), plan.epsilon_decimal, plan.guarantee, plan.publishes)


def _json(value: Any) -> str:  # noqa: ANN401
    return json.dumps(value, ensure_ascii=False)
