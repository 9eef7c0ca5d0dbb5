"""From what a caller says about columns, all of it public, to a plan."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeGuard

import numpy as np

from bipartite.domains import Domain, Interval, Items
from bipartite.errors import InputError, Problems, shown
from bipartite.lottery import Epsilon
from bipartite.lottery.budgets import exact_sum, split_epsilon
from bipartite.lottery.checks import is_whole
from bipartite.mechanisms import Mechanism
from bipartite.mechanisms.catalogue import by_column
from bipartite.tables.columns import Column
from bipartite.tables.plan import Plan

if TYPE_CHECKING:
    from bipartite.learn.columns import PrivateColumns

_ENDS: Final = 2


def plan_of(asked: PrivateColumns, names: Sequence[str], *, named: bool) -> Plan:
    """The plan of a table with these columns, whose rows spend at most ε; errors name every problem of a column."""
    budget = Epsilon.of(asked.epsilon)
    given = _of_each(asked.domains, names, named=named)
    weights = _weights(asked.split, names, named=named)
    numeric, categorical = _maker("numeric", asked.numeric), _maker("categorical", asked.categorical)
    problems = Problems()
    columns: dict[str, Any] = {}
    for name, each in given.items():
        with problems.noting(f"column {name}: "):
            columns[name] = _column_or_domain(each, asked)
    problems.raise_if_any(InputError)
    # Drawing all of them is not a sample.
    sample = None if is_whole(asked.sample) and asked.sample == len(names) else asked.sample
    ready = [each.mechanism.epsilon_decimal for each in columns.values() if isinstance(each, Column)]
    free = {name: domain for name, domain in columns.items() if isinstance(domain, Domain)}
    parts = _parts(budget.value, ready, [weights[name] for name in free], sample)
    for (name, domain), part in zip(free.items(), parts, strict=True):
        with problems.noting(f"column {name}: "):
            columns[name] = _column((numeric if domain.has_ends else categorical)(domain, part), asked)
    problems.raise_if_any(InputError)
    plan = Plan(columns, sample=sample)
    if plan.epsilon_decimal > budget.value:
        raise InputError(
            f"Expected mechanisms within ε = {budget.text}, got {plan.epsilon_decimal} for what one person reports; "
            "use a larger epsilon, or mechanisms with a smaller one."
        )
    return plan


def makers(*, categorical: bool = False) -> dict[str, Callable[[Any, Any], Mechanism]]:
    """Mechanisms of the catalogue by name, each made of a domain and an ε, for columns of numbers or of categories."""
    serve = {"any"} if categorical else {"any", "line", "interval"}
    known = {name: each.load() for name, each in by_column().items() if each.epsilon and each.where in serve}
    if not categorical:
        known["padded-brr"] = partial(known["brr"], edges="padded")
        known["clamped-laplace"] = partial(known["laplace"], clamped=True)
    return known


def _of_each(domains: object, names: Sequence[str], *, named: bool) -> dict[str, Any]:
    """What was given for each column, by its name, in the order of the table."""
    if domains is None:
        raise InputError(
            "Expected domains with the public range or the categories of every column, got None; pass "
            "{'age': (18, 90), 'job': ['student', 'other']}. They are never learned from the table."
        )
    if isinstance(domains, (Domain, Mechanism, Column)) or _is_range(domains):
        return dict.fromkeys(names, domains)
    if isinstance(domains, Mapping):
        return _by_key(domains, names, "domains", named=named)
    if not isinstance(domains, (list, tuple)):
        raise InputError(
            f"Expected domains as a dict of columns, a list with one a column, or one for all, got "
            f"{type(domains).__name__}; pass {{'age': (18, 90)}}."
        )
    if len(domains) != len(names):
        raise InputError(f"Expected domains for {len(names)} columns, got {len(domains)}; give one a column, in order.")
    return dict(zip(names, domains, strict=True))


def _by_key(given: Mapping[Any, Any], names: Sequence[str], what: str, *, named: bool) -> dict[str, Any]:
    """A dict by names, or by positions where the table has no names, in the order of the table."""
    keys: dict[Any, str] = {name: name for name in names} | ({} if named else dict(enumerate(names)))
    problems = Problems()
    found: dict[str, Any] = {}
    for key, value in given.items():
        if isinstance(key, bool) or key not in keys:
            problems.add(f"Expected {what} of columns of the table only, got {shown(key)}; remove it.")
        else:
            found[keys[key]] = value
    for name in names:
        if name not in found:
            how = "add it, or leave the column out of the table" if what == "domains" else "add it"
            problems.add(f"Expected {what} to name the column {name!r}, got none; {how}.")
    problems.raise_if_any(InputError)
    return {name: found[name] for name in names}


def _is_range(given: object) -> TypeGuard[tuple[float, float]]:
    """Whether this is a pair of numbers: (low, high)."""
    return (
        isinstance(given, tuple)
        and len(given) == _ENDS
        and all(isinstance(end, (int, float, np.number)) and not isinstance(end, bool) for end in given)
    )


def _column_or_domain(given: object, asked: PrivateColumns) -> Column | Domain:
    """A column whose mechanism is ready, or the domain of one that is still to be made."""
    mechanism = given.mechanism if isinstance(given, Column) else given
    domain = mechanism.domain if isinstance(mechanism, Mechanism) else mechanism
    if isinstance(domain, Domain) and (domain.parts or (isinstance(given, Column) and given.inputs)):
        raise InputError("Expected the domain of one column, got a product; give each column a domain of its own.")
    if isinstance(mechanism, Mechanism):
        column = _column(mechanism, asked)
        return given if isinstance(given, Column) else column
    if isinstance(given, Domain):
        return given
    if _is_range(given):
        return Interval(*given, points=asked.points)
    if not isinstance(given, list):
        raise InputError(
            "Expected a range (low, high), a list of categories, a domain such as bp.Integers(18, 90), a mechanism, or "
            f"a bp.tables.Column, got {type(given).__name__}."
        )
    if len(given) < _ENDS:
        raise InputError(f"Expected at least two categories, got {len(given)}; a column of one needs no report.")
    return Items(given)


def _column(mechanism: object, asked: PrivateColumns) -> Column:
    if not isinstance(mechanism, Mechanism) or mechanism.flat:
        kind = type(mechanism).__name__
        raise InputError(f"Expected a mechanism whose report is one value, got {kind}; pass one such as bp.BRR.")
    domain = mechanism.domain
    other = asked.other if asked.other in (domain.labels or ()) else None
    return Column(mechanism, outside=asked.outside if domain.has_ends else "error", outside_as=other)


def _weights(split: object, names: Sequence[str], *, named: bool) -> dict[str, Fraction]:
    if isinstance(split, str) and split == "equal":
        return dict.fromkeys(names, Fraction(1))
    if not isinstance(split, Mapping):
        raise InputError(
            f"Expected split='equal' or a dict of public weights, got {shown(split)}; pass {{'age': 2, 'job': 1}}."
        )
    problems = Problems()
    weights = {}
    for name, weight in _by_key(split, names, "split", named=named).items():
        is_number = isinstance(weight, (int, float, Decimal, Fraction, np.number)) and not isinstance(weight, bool)
        if not is_number or not math.isfinite(weight) or not weight > 0:
            problems.add(f"Expected a positive weight for {name!r}, got {shown(weight)}; leave out columns instead.")
        else:
            weights[name] = Fraction(weight.item() if isinstance(weight, np.number) else weight)
    problems.raise_if_any(InputError)
    return weights


def _parts(
    epsilon: Decimal, ready: Sequence[Decimal], weights: Sequence[Fraction], sample: object
) -> tuple[Decimal, ...]:
    """ε of the columns that have no mechanism yet; those that have one keep theirs, and it is taken off first."""
    if is_whole(sample):
        # Whatever is drawn, the k largest of all parts must fit; the plan is checked for that with the ready ones.
        return split_epsilon(epsilon, weights, max(1, min(int(sample), len(weights)))) if weights else ()
    left = exact_sum([epsilon, *(-each for each in ready)])
    if weights and left <= 0:
        raise InputError(
            f"Expected ready mechanisms that leave something of ε = {epsilon} to the other columns, got "
            f"{exact_sum(ready)}; use a larger epsilon, or mechanisms with a smaller one."
        )
    return split_epsilon(left, weights) if weights else ()


def _maker(option: str, given: object) -> Callable[[Any, Any], Any]:
    known = makers(categorical=option == "categorical")
    if isinstance(given, str):
        if given in known:
            return known[given]
    elif callable(given):
        return given
    raise InputError(
        f"Expected {option} as one of {', '.join(known)}, or a class or function of (domain, epsilon), "
        f"got {shown(given)}."
    )
