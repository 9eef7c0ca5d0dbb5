"""The outputs of a custom mechanism: values of its domain, other numbers, or labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.domains import Domain
from bipartite.domains.base import as_real
from bipartite.domains.outputs import Outputs
from bipartite.domains.sets import check_labels
from bipartite.errors import DomainError, InputError, Problems, shown
from bipartite.mechanisms.tabled import chosen_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Kept = Callable[[NDArray[np.bool_]], Domain]


def own_reports(domain: Domain, outputs: object) -> tuple[Kept, NDArray[np.int64]]:
    """(a function from a mask of used outputs to their domain, the order of the columns of the matrix among them)."""
    listed = _listed(domain, outputs)
    if isinstance(listed, Domain):
        return _values(domain, list(range(len(domain)))), np.arange(len(domain))
    try:
        distinct = len(set(listed)) == len(listed)
    except TypeError:
        distinct = True  # refused below
    if not distinct:
        raise InputError(
            f"Expected distinct outputs, got {len(listed) - len(set(listed))} duplicates; add their columns."
        )
    if all(each in domain for each in listed):
        indices = [domain.encode(each) for each in listed]
        order = np.argsort(indices, kind="stable")
        return _values(domain, sorted(indices)), order
    if domain.has_ends and np.isfinite([as_real(each) for each in listed]).all():
        return _numbers(listed)
    return _labels(domain, listed), np.arange(len(listed))


def _listed(domain: Domain, outputs: object) -> list[Any] | Domain:
    """The outputs one by one, or the domain itself."""
    if isinstance(outputs, Domain) and outputs == domain:
        return domain
    # A set is refused because its order, and with it that of the columns, may differ each time.
    if isinstance(outputs, (str, bytes, set, frozenset)) or not isinstance(outputs, Iterable):
        raise InputError(
            f"Expected outputs as the domain, or as a list of values, numbers or labels, got {shown(outputs)}; "
            "pass domain, or a list such as ['yes', 'no']."
        )
    listed = [each.item() if isinstance(each, np.generic) else each for each in outputs]
    if not listed:
        raise InputError("Expected at least one output, got none; pass the domain itself, or a list.")
    return listed


def _values(domain: Domain, indices: list[int]) -> Kept:
    return lambda used: chosen_values(domain, np.array(indices)[used].tolist())


def _numbers(listed: list[Any]) -> tuple[Kept, NDArray[np.int64]]:
    numbers = np.array([as_real(each) for each in listed]) + 0.0  # −0.0 becomes 0.0
    order = np.argsort(numbers, kind="stable")
    try:
        ascending = Outputs.of_numbers(numbers[order]).to_numpy()
    except DomainError:
        raise InputError("Expected outputs that are distinct doubles; add the columns of those that are not.") from None
    return lambda used: Outputs.of_numbers(ascending[used]), order


def _labels(domain: Domain, listed: list[Any]) -> Kept:
    problems = Problems()
    names = check_labels(listed, None, problems)
    if domain.parts:
        problems.add("Expected outputs of a product as its values; pass the domain, or a list of tuples.")
    elif problems:
        or_numbers = "all as numbers, or " if domain.has_ends else ""
        problems = Problems()
        problems.add(f"Expected outputs all as values of {domain!r}, {or_numbers}all as labels; convert them with str.")
    problems.raise_if_any(InputError)
    return lambda used: Outputs.of_labels(np.array(names, dtype=object)[used].tolist())
