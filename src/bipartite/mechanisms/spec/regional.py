"""Places in regions in a portable description: version 4 of the spec.

A spec carries which region each place is in, and whole-number tickets for each region; near places follow from the
whole numbers of the domain. A release that publishes the region says so in a field of its own, which a reader must
know: a client that does not cannot take it for ε-LDP.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from bipartite.domains import Points
from bipartite.domains.regions import Regions
from bipartite.errors import BrokenPromiseError, InputError, Problems, SpecError, is_one_of, shown
from bipartite.mechanisms import RegionWeighted, TwoLevel, WithinRegion
from bipartite.mechanisms.spec.parts import check_epsilon, check_fields, is_ticket_count, is_whole, read_domain

if TYPE_CHECKING:
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

_ALWAYS: Final = {"bipartite", "mechanism", "domain", "epsilon", "regions", "tickets", "total"}
_FIELDS: Final = {
    "two-level": _ALWAYS | {"m"},
    "within-region": _ALWAYS | {"m", "publishes"},
    "region-weighted": _ALWAYS,
}
_TICKETS: Final = {
    "two-level": ("near", "far", "outside"),
    "within-region": ("near", "far"),
    "region-weighted": ("own", "other"),
}


def read_regional(spec: Mapping[str, Any]) -> Mechanism:
    """The mechanism that a spec of version 4 describes, after checking everything that its promise rests on."""
    name = spec.get("mechanism")
    if not isinstance(name, str) or name not in _FIELDS:
        msg = f"Expected mechanism {', '.join(map(repr, _FIELDS))}, got {shown(name)}; update bipartite to read others."
        raise SpecError(msg)
    problems = Problems()
    check_fields("a spec", set(spec), _FIELDS[name], problems)
    problems.raise_if_any(SpecError)
    check_epsilon(spec["epsilon"], problems)
    domain = read_domain(spec["domain"], problems)
    if domain is not None and not (isinstance(domain, Points) and domain.metric == "haversine"):
        problems.add("Expected domain as points with metric 'haversine'; regions are of places.")
    if name == "within-region" and not is_one_of(spec["publishes"], ("region",)):
        problems.add(f"Expected publishes 'region', got {shown(spec['publishes'])}; ask for another spec.")
    if "m" in spec and not (isinstance(spec["m"], list) and all(is_whole(each) for each in spec["m"])):
        problems.add("Expected m as a list of whole numbers, one a region.")
    if not is_ticket_count(spec["total"]):
        problems.add("Expected total as a whole number of at most 16 digits, as a string.")
    tickets = _tickets(spec["tickets"], _TICKETS[name], problems)
    problems.raise_if_any(SpecError)
    regions = _regions(spec["regions"], domain)
    total = int(spec["total"])
    try:
        if name == "region-weighted":
            return RegionWeighted.restore(regions, spec["epsilon"], [(own, other) for own, other in tickets], total)
        if name == "two-level":
            return TwoLevel.restore(regions, spec["epsilon"], spec["m"], [tuple(each) for each in tickets], total)
        return WithinRegion.restore(regions, spec["epsilon"], spec["m"], [(a, b, 0) for a, b in tickets], total)
    except SpecError:
        raise
    except InputError as error:
        # What no design could be is a spec that nobody could have written.
        raise BrokenPromiseError(str(error)) from None


def _tickets(given: object, names: tuple[str, ...], problems: Problems) -> list[list[int]]:
    if (
        isinstance(given, list)
        and given
        and all(isinstance(each, Mapping) and set(each) == set(names) for each in given)
    ):
        found = [[each[name] for name in names] for each in given]
        if all(is_ticket_count(count) for each in found for count in each):
            return [[int(count) for count in each] for each in found]
    wanted = ", ".join(f"'{name}': '…'" for name in names)
    problems.add(f"Expected tickets as {{{wanted}}} for each region, whole numbers of at most 16 digits as strings.")
    return []


def _regions(given: object, domain: Domain | None) -> Regions:
    if not isinstance(domain, Points) or not isinstance(given, Mapping) or set(given) != {"labels", "names"}:
        msg = "Expected regions as {'labels': […], 'names': […]}; ask for another spec."
        raise SpecError(msg)
    labels, names = given["labels"], given["names"]
    whole = isinstance(labels, list) and all(is_whole(each) and 0 <= each < len(domain) for each in labels)
    if not whole or not isinstance(names, list) or not all(isinstance(each, str) for each in names) or not names:
        msg = "Expected labels of regions as whole numbers from 0, and names as text; ask for another spec."
        raise SpecError(msg)
    try:
        return Regions.restore(domain, labels, names)
    except InputError as error:
        msg = f"{error} Ask for another spec."
        raise SpecError(msg) from None
