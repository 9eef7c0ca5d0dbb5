"""Flat categories in a portable description: version 3 of the spec.

Everything in such a spec follows from the domain, ε and a few numbers by exact rules, so a reader builds the mechanism
anew and refuses a spec that says anything else.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import BrokenPromiseError, InputError, Problems, SpecError, shown
from bipartite.mechanisms.categories import OLH, OUE, RAPPOR, SUE, HadamardResponse, SubsetSelection
from bipartite.mechanisms.spec.parts import check_epsilon, check_fields, is_chance, is_whole, read_domain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bipartite.domains import Domain
    from bipartite.mechanisms.categories import CategoryMechanism

    Build = Callable[[Domain, Mapping[str, Any]], CategoryMechanism]

_ALWAYS: Final = {"bipartite", "mechanism", "domain", "epsilon"}
_CERTAIN: Final = 2**64


def read_categories(spec: Mapping[str, Any]) -> CategoryMechanism:
    """The mechanism that a spec of version 3 describes."""
    name = spec.get("mechanism")
    if not isinstance(name, str) or name not in _KINDS:
        msg = f"Expected mechanism {', '.join(map(repr, _KINDS))}, got {shown(name)}; update bipartite to read others."
        raise SpecError(msg)
    fields, build = _KINDS[name]
    problems = Problems()
    check_fields("a spec", set(spec), _ALWAYS | fields, problems)
    problems.raise_if_any(SpecError)
    check_epsilon(spec["epsilon"], problems)
    domain = read_domain(spec["domain"], problems)
    problems.raise_if_any(SpecError)
    try:
        mechanism = build(domain, spec)  # type: ignore[arg-type]  # a domain that is None was a problem
    except InputError as error:
        raise SpecError(str(error)) from None
    if mechanism.to_spec() != dict(spec):
        msg = f"Expected the numbers that ε={spec['epsilon']} gives, got others; do not report with this spec."
        raise BrokenPromiseError(msg)
    return mechanism


def _whole(spec: Mapping[str, Any], name: str) -> int:
    if not is_whole(spec[name]):
        msg = f"Expected {name} as a whole number, got {shown(spec[name])}; ask for another spec."
        raise SpecError(msg)
    number: int = spec[name]
    return number


def _read_rappor(domain: Domain, spec: Mapping[str, Any]) -> CategoryMechanism:
    chances = [
        spec[part][bit] if isinstance(spec[part], dict) and bit in spec[part] else None
        for part in ("permanent", "instantaneous")
        for bit in ("one", "zero")
    ]
    if not all(is_chance(chance) for chance in chances):
        msg = "Expected permanent and instantaneous as {'one': '…', 'zero': '…'}, whole numbers as strings."
        raise SpecError(msg)
    _, kept, high, low = (Fraction(int(str(chance)), _CERTAIN) for chance in chances)
    by_epsilon = RAPPOR(domain, epsilon_permanent=spec["epsilon"], p=low, q=high)
    # The permanent response may have been given by its f, from which ε follows, instead of by ε.
    return by_epsilon if by_epsilon.to_spec() == dict(spec) else RAPPOR(domain, f=2 * kept, p=low, q=high)


_KINDS: Final[dict[str, tuple[set[str], Build]]] = {
    "oue": ({"chances"}, lambda domain, spec: OUE(domain, spec["epsilon"])),
    "sue": ({"chances"}, lambda domain, spec: SUE(domain, spec["epsilon"])),
    "olh": ({"buckets", "tickets"}, lambda domain, spec: OLH(domain, spec["epsilon"], buckets=_whole(spec, "buckets"))),
    "subset-selection": (
        {"k", "tickets"},
        lambda domain, spec: SubsetSelection(domain, spec["epsilon"], k=_whole(spec, "k")),
    ),
    "hadamard-response": (
        {"blocks", "block-size", "tickets"},
        lambda domain, spec: HadamardResponse(domain, spec["epsilon"]),
    ),
    "rappor": ({"permanent", "instantaneous"}, _read_rappor),
}
