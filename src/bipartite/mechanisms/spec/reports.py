"""The outputs of a table of tickets in its spec: values of the domain by index, or its own numbers or labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bipartite.domains.outputs import Outputs
from bipartite.domains.sets import check_labels
from bipartite.errors import DomainError, Problems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.domains import Domain
    from bipartite.mechanisms.spec.parts import Fields


def chosen_values(domain: Domain, indices: Sequence[int]) -> Domain:
    """The values with these indices; the domain itself if they are all."""
    return domain if len(indices) == len(domain) else Outputs(domain, indices)


def written_reports(outputs: Domain) -> list[int] | dict[str, list[Any]]:
    """The outputs as a spec writes them: indices, ``{"numbers": …}`` or ``{"labels": …}``."""
    if outputs.own_numbers or outputs.own_labels:
        return {"numbers" if outputs.own_numbers else "labels": list(outputs)}
    indices: list[int] = list(range(len(outputs))) if outputs.indices is None else outputs.indices.tolist()
    return indices


def read_reports(fields: Fields, own: frozenset[str]) -> Domain:
    """The inverse of `written_reports`; ``own`` lists the kinds allowed apart from values."""
    given = fields["outputs"]
    if isinstance(given, Mapping) and len(given) == 1 and set(given) <= own:
        ((kind, held),) = given.items()
        _check_kind(fields, kind)
        return _numbers(fields, held) if kind == "numbers" else _labels(fields, held)
    return chosen_values(fields.domain, fields.indices("outputs"))


def _check_kind(fields: Fields, kind: str) -> None:
    """Refuse reports that a container of these values could not hold."""
    if kind == "numbers" and not fields.domain.has_ends:
        fields.refuse("Expected numbers as outputs on a line only; ask for another spec.")
    if kind == "labels" and fields.domain.parts:
        fields.refuse("Expected outputs of a product as indices of its values; ask for another spec.")


def _numbers(fields: Fields, held: object) -> Outputs:
    numbers: list[float] = held if isinstance(held, list) and all(map(_is_double, held)) else []
    try:
        return Outputs.of_numbers(numbers)
    except DomainError:
        fields.refuse("Expected outputs as {'numbers': […]}, finite and ascending; ask for another spec.")


def _is_double(number: object) -> bool:
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return False
    try:
        return math.isfinite(number) and float(number) == number
    except OverflowError:
        return False


def _labels(fields: Fields, held: object) -> Outputs:
    problems = Problems()
    names = check_labels(held if isinstance(held, list) else 0, None, problems)
    if problems or not names:
        fields.refuse("Expected outputs as {'labels': […]}, distinct strings or whole numbers; ask for another spec.")
    return Outputs.of_labels(names)
