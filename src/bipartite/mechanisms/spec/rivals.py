"""Mechanisms other than BRR in a portable description: version 2 of the spec."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.errors import DesignError, Problems, SpecError, is_one_of, shown
from bipartite.mechanisms import GRR, LSRR, Anchored, Constant, Exponential, Geometric, Optimal, PlanarLaplace
from bipartite.mechanisms.spec.continuous import CONTINUOUS
from bipartite.mechanisms.spec.parts import (
    check_epsilon,
    check_fields,
    is_whole,
    read_counts,
    read_domain,
    read_two_tickets,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism
    from bipartite.mechanisms.tabled import Tabled

_TABLED: Final[dict[str, type[Tabled]]] = {kind.name: kind for kind in (Exponential, Optimal, LSRR, PlanarLaplace)}
_ALWAYS: Final = {"bipartite", "mechanism", "domain", "epsilon"}
_FIELDS: Final = {
    "grr": _ALWAYS | {"tickets"},
    "anchored": _ALWAYS | {"anchors", "tickets"},
    "geometric": _ALWAYS | {"noise"},
    "constant": _ALWAYS - {"epsilon"} | {"answer"},
    **{name: _ALWAYS | fields for name, (fields, _) in CONTINUOUS.items()},
} | {name: _ALWAYS | {"outputs", "rows"} | ({"variant"} if kind.variants else set()) for name, kind in _TABLED.items()}


def read_rival(spec: Mapping[str, Any]) -> Mechanism:
    """The mechanism that a spec of version 2 describes, after checking everything that its promise rests on."""
    name = spec.get("mechanism")
    if not isinstance(name, str) or name not in _FIELDS:
        msg = f"Expected mechanism {', '.join(map(repr, _FIELDS))}, got {shown(name)}; update bipartite to read others."
        raise SpecError(msg)
    problems = Problems()
    check_fields("a spec", set(spec), _FIELDS[name], problems)
    problems.raise_if_any(SpecError)
    if "epsilon" in spec:
        check_epsilon(spec["epsilon"], problems)
    domain = read_domain(spec["domain"], problems)
    problems.raise_if_any(SpecError)
    build = _READERS.get(name, _read_tabled)
    try:
        return build(spec, domain)  # type: ignore[arg-type]  # a domain that is None was a problem
    except DesignError as error:
        # What no design could be is a spec that nobody could have written.
        raise SpecError(str(error)) from None


def _read_grr(spec: Mapping[str, Any], domain: Domain) -> Mechanism:
    return GRR.restore(domain, spec["epsilon"], *read_two_tickets(spec))


def _read_anchored(spec: Mapping[str, Any], domain: Domain) -> Mechanism:
    anchors = _indices("anchors", spec["anchors"], domain)
    return Anchored.restore(domain, spec["epsilon"], anchors, *read_two_tickets(spec))


def _read_constant(spec: Mapping[str, Any], domain: Domain) -> Mechanism:
    if not is_whole(spec["answer"]):
        msg = f"Expected answer as a whole number, got {shown(spec['answer'])}; ask for another spec."
        raise SpecError(msg)
    return Constant.restore(domain, spec["answer"])


def _read_geometric(spec: Mapping[str, Any], domain: Domain) -> Mechanism:
    return Geometric.restore(domain, spec["epsilon"], read_counts("noise", spec["noise"], len(domain)))


def _read_tabled(spec: Mapping[str, Any], domain: Domain) -> Mechanism:
    kind = _TABLED[spec["mechanism"]]
    if kind.variants and not is_one_of(spec["variant"], kind.variants):
        msg = f"Expected variant {' or '.join(map(repr, kind.variants))}, got {shown(spec['variant'])}."
        raise SpecError(msg)
    outputs = _indices("outputs", spec["outputs"], domain)
    rows = spec["rows"]
    if not isinstance(rows, list) or len(rows) != len(domain):
        msg = f"Expected rows as a list of {len(domain)} lists, one a value; ask for another spec."
        raise SpecError(msg)
    tickets = np.array([read_counts("rows", row, len(outputs)) for row in rows], dtype=np.int64)
    return kind.restore(domain, spec["epsilon"], outputs, tickets, spec.get("variant"))


def _indices(name: str, given: object, domain: Domain) -> list[int]:
    """Ascending indices of values."""
    expected = f"Expected {name} as ascending indices from 0 to {len(domain) - 1}; ask for another spec."
    if not isinstance(given, list) or not given or not all(is_whole(each) for each in given):
        raise SpecError(expected)
    if given[0] < 0 or given[-1] >= len(domain) or any(a >= b for a, b in pairwise(given)):
        raise SpecError(expected)
    return given


_READERS: Final[dict[str, Callable[[Mapping[str, Any], Domain], Mechanism]]] = {
    "grr": _read_grr,
    "anchored": _read_anchored,
    "constant": _read_constant,
    "geometric": _read_geometric,
    **{name: read for name, (_, read) in CONTINUOUS.items()},
}
