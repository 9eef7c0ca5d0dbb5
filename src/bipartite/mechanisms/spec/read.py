"""Read a portable description, and refuse what is not understood or breaks its promise."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from bipartite.domains.base import MAX_SPEC_INTEGER
from bipartite.errors import Problems, SpecError, is_one_of, shown
from bipartite.mechanisms import BRR
from bipartite.mechanisms.spec.parts import SET_FIELDS, check_epsilon, check_fields, is_whole, read_domain, read_tickets

if TYPE_CHECKING:
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism
    from bipartite.mechanisms.categories import CategoryMechanism

VERSIONS: Final = (1, 2, 3, 4)
"""1: BRR. 2: the other mechanisms, one set of fields each. 3: flat categories. 4: places in regions."""
_FIELDS: Final = {"bipartite", "mechanism", "domain", "epsilon", "m", "edges", "tickets"}


def from_spec(spec: object) -> Mechanism | CategoryMechanism:
    """The mechanism that a portable description describes.

    Checks everything that the guarantee rests on: fields, types, near > far ≥ 1, 1 ≤ m < M, at most 2^52 tickets, and
    near ≤ e^ε·far in exact arithmetic.

    Raises
    ------
    SpecError
        Where the description is not understood; all problems at once.
    BrokenPromiseError
        Where it is understood and its tickets break its ε.

    Examples
    --------
    >>> from bipartite import BRR, Integers
    >>> mech = BRR(Integers(18, 90), epsilon=1)
    >>> from_spec(mech.to_spec()) == mech
    True
    """
    if not isinstance(spec, Mapping):
        msg = f"Expected a spec as a mapping, got {type(spec).__name__}; parse the JSON first."
        raise SpecError(msg)
    version = spec.get("bipartite", 1)
    if not is_whole(version) or version not in VERSIONS:
        msg = f"Expected a spec of version 1, 2, 3 or 4, got {shown(version)}; update bipartite to read newer ones."
        raise SpecError(msg)
    if version == 1:
        return _read_brr(spec)
    # Each reader loads the mechanisms that it knows.
    if version == 2:  # noqa: PLR2004
        from bipartite.mechanisms.spec.rivals import read_rival  # noqa: PLC0415

        return read_rival(spec)
    if version == 3:  # noqa: PLR2004
        from bipartite.mechanisms.spec.categories import read_categories  # noqa: PLC0415

        return read_categories(spec)
    from bipartite.mechanisms.spec.regional import read_regional  # noqa: PLC0415

    return read_regional(spec)


def _read_brr(spec: Mapping[str, Any]) -> BRR:
    problems = Problems()
    on_set = isinstance(spec.get("domain"), Mapping) and set(spec["domain"]) in SET_FIELDS
    check_fields("a spec", set(spec), _FIELDS | {"draw"} if on_set else _FIELDS, problems)
    problems.raise_if_any(SpecError)

    if not is_one_of(spec["mechanism"], ("brr",)):
        problems.add(f"Expected mechanism 'brr', got {shown(spec['mechanism'])}; update bipartite to read others.")
    if not is_one_of(spec["edges"], ("clamped", "padded")):
        problems.add(f"Expected edges 'clamped' or 'padded', got {shown(spec['edges'])}.")
    check_epsilon(spec["epsilon"], problems)
    if not is_whole(spec["m"]) or not 1 <= spec["m"] <= MAX_SPEC_INTEGER:
        problems.add(f"Expected m as a whole number from 1, got {shown(spec['m'])}.")
    if on_set and not is_one_of(spec["draw"], ("tries", "list")):
        problems.add(f"Expected draw 'tries' or 'list', got {shown(spec['draw'])}.")
    if on_set and spec["edges"] == "padded":
        problems.add("Expected edges 'clamped' on points and items, which have no ends to pad.")
    near, far = read_tickets(spec["tickets"], problems)
    domain = read_domain(spec["domain"], problems)
    problems.raise_if_any(SpecError)
    parts = (cast("Domain", domain), spec["epsilon"], spec["m"], spec["edges"], near, far)
    return BRR.restore(*parts, by_list=spec.get("draw") == "list")


def load_spec(text: str) -> Mechanism | CategoryMechanism:
    """The mechanism described by a JSON text; refuses duplicate keys and numbers that JSON does not have."""
    try:
        spec = json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        msg = f"Expected a spec as JSON: {error.msg} at line {error.lineno}; ask for the file again."
        raise SpecError(msg) from None
    except SpecError:
        raise
    except (ValueError, RecursionError):
        msg = "Expected a spec as JSON: too many digits or brackets; ask for the file again."
        raise SpecError(msg) from None
    return from_spec(spec)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        msg = "Expected every key of a spec once, got a duplicate; ask for the file again."
        raise SpecError(msg)
    return found


def _refuse_constant(name: str) -> None:
    msg = f"Expected finite numbers in a spec, got {name}."
    raise SpecError(msg)
