"""Read a spec; refuse it if it is not understood or does not keep its ε."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import DesignError, DomainError, Problems, SpecError, is_one_of, shown
from bipartite.mechanisms.catalogue import by_spec, is_built_in
from bipartite.mechanisms.spec.domains import read_domain
from bipartite.mechanisms.spec.fields import Fields, check_epsilon, check_fields, is_json_integer

if TYPE_CHECKING:
    from bipartite.mechanisms import Mechanism

VERSIONS: Final = (1, 2, 3, 4, 5)
"""1: BRR. 2: other mechanisms, each with its own fields. 3: flat categories. 4: places in regions.
5: lotteries over sets of anchors, and bins reported as means."""


def from_spec(spec: object) -> Mechanism:
    """The mechanism that a spec describes.

    Checks everything the guarantee rests on: fields, types, near > far ≥ 1, 1 ≤ m < M, at most 2^52 tickets, and
    near ≤ e^ε·far in exact arithmetic.

    Raises
    ------
    SpecError
        If the spec is not understood; lists all problems.
    BrokenPromiseError
        If it is understood but its tickets do not keep its ε.

    Examples
    --------
    >>> from bipartite import BRR, Integers
    >>> mech = BRR(Integers(18, 90), epsilon=1)
    >>> from_spec(mech.to_spec()) == mech
    True
    """
    if not isinstance(spec, Mapping):
        raise SpecError(f"Expected a spec as a mapping, got {type(spec).__name__}; parse the JSON first.")
    version = spec.get("bipartite", 1)
    if not is_json_integer(version) or version not in VERSIONS:
        known_ones = f"{VERSIONS[0]} to {VERSIONS[-1]}"
        raise SpecError(
            f"Expected a spec of version {known_ones}, got {shown(version)}; update bipartite to read newer ones."
        )
    _refuse_weaker(spec)
    known = by_spec(version)
    name: Any = spec.get("mechanism")
    unknown = f"Expected mechanism {', '.join(map(repr, known))}, got {shown(name)}; update bipartite to read others."
    named = is_one_of(name, tuple(known))
    if not named and len(known) > 1:
        raise SpecError(unknown)
    # With only one candidate, all other problems can be reported together with the wrong name.
    entry = known[name] if named else next(iter(known.values()))
    kind: type[Mechanism] = entry.load()
    problems = Problems()
    head = {"bipartite", "mechanism", "domain"} | ({"epsilon"} if entry.epsilon else set())
    check_fields("a spec", set(spec), head | kind.fields_on(spec.get("domain")), problems)
    problems.raise_if_any(SpecError)
    if not named:
        problems.add(unknown)
    if entry.epsilon:
        check_epsilon(spec["epsilon"], problems)
    fields = Fields(spec, read_domain(spec["domain"], problems), problems)
    try:
        mechanism: Mechanism = kind.restore(fields)
    except (DesignError, DomainError) as error:
        # No design could have produced this spec.
        raise SpecError(str(error)) from None
    return mechanism if is_built_in(kind) else mechanism.checked()


def _refuse_weaker(spec: Mapping[str, Any]) -> None:
    """Refuse a spec whose tickets promise less than ε-LDP."""
    name, variant = spec.get("mechanism"), spec.get("variant")
    published = is_one_of(name, ("lsrr",)) and is_one_of(variant, ("published",))
    if published or is_one_of(name, ("planar-laplace", "within-region")):
        raise SpecError(
            f"{name}{' as published' if published else ''} promises less than ε-LDP, so bipartite does not "
            "report with it; reproduction.places.from_spec reads it, and says what it promises."
        )


def load_spec(text: str) -> Mechanism:
    """The mechanism described by a JSON text; refuses duplicate keys and non-finite numbers."""
    try:
        spec = json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise SpecError(
            f"Expected a spec as JSON: {error.msg} at line {error.lineno}; ask for the file again."
        ) from None
    except SpecError:
        raise
    except (ValueError, RecursionError):
        raise SpecError("Expected a spec as JSON: too many digits or brackets; ask for the file again.") from None
    return from_spec(spec)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise SpecError("Expected every key of a spec once, got a duplicate; ask for the file again.")
    return found


def _refuse_constant(name: str) -> None:
    raise SpecError(f"Expected finite numbers in a spec, got {name}.")
