"""From what a caller says about columns, all of it public, to one mechanism a column."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, Final, TypeGuard

import numpy as np

from bipartite.domains import Domain, Interval, Items
from bipartite.errors import InputError, Problems, of_attribute, shown
from bipartite.lottery import Epsilon
from bipartite.lottery.budgets import exact_sum, split_epsilon
from bipartite.lottery.checks import is_whole
from bipartite.mechanisms import Mechanism, Record
from bipartite.mechanisms.catalogue import by_column

_ENDS: Final = 2


@dataclass(frozen=True)
class Choices:
    """The parameters of ``PrivateColumns``, unchecked."""

    domains: Any
    epsilon: Any
    numeric: Any
    categorical: Any
    points: Any
    split: Any
    sample: Any


def choose(choices: Choices, names: Sequence[str], *, named: bool) -> Record:
    """One mechanism for each column of this table, together within ε.

    Raises
    ------
    InputError
        With every problem of these parameters.
    """
    budget = Epsilon.of(choices.epsilon)
    given = _of_each(choices.domains, names, named=named)
    sample = _checked_sample(choices.sample, len(names))
    weights = _weights(choices.split, names, named=named)
    domains = _domains(given, choices.points)
    ready = {name: each for name, each in domains.items() if isinstance(each, Mechanism)}
    free = [name for name in names if name not in ready]
    parts = dict(zip(free, _parts(budget.value, ready, [weights[name] for name in free], sample), strict=True))
    makers = {True: _maker("numeric", choices.numeric), False: _maker("categorical", choices.categorical)}
    made: dict[str, Mechanism] = {}
    problems = Problems()
    for name, domain in domains.items():
        if isinstance(domain, Mechanism):
            made[name] = domain
            continue
        try:
            made[name] = _made(makers[domain.has_ends], domain, parts[name])
        except InputError as error:
            problems.add(str(of_attribute(error, f"column {name}")))
    problems.raise_if_any(InputError)
    record = Record(made, sample=sample)
    if record.epsilon_decimal > budget.value:
        raise InputError(
            f"Expected ready mechanisms within ε = {budget.text}, got {record.epsilon_decimal} for what one person "
            "reports; use a larger epsilon, or mechanisms with a smaller one."
        )
    return record


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
    if isinstance(domains, (Domain, Mechanism)) or _is_range(domains):
        return dict.fromkeys(names, domains)
    if isinstance(domains, Mapping):
        return _by_key(domains, names, "domains", named=named)
    if isinstance(domains, (list, tuple)):
        if len(domains) != len(names):
            raise InputError(
                f"Expected domains for {len(names)} columns, got {len(domains)}; give one a column, in order."
            )
        return dict(zip(names, domains, strict=True))
    raise InputError(
        f"Expected domains as a dict of columns, a list with one a column, or one for all, got "
        f"{type(domains).__name__}; pass {{'age': (18, 90)}}."
    )


def _by_key(given: Mapping[Any, Any], names: Sequence[str], what: str, *, named: bool) -> dict[str, Any]:
    """A dict by names, or by positions where the table has no names, in the order of the table."""
    keys: dict[Any, str] = {name: name for name in names}
    if not named:
        keys |= dict(enumerate(names))
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


def _domains(given: Mapping[str, Any], points: int) -> dict[str, Domain | Mechanism]:
    problems = Problems()
    found: dict[str, Domain | Mechanism] = {}
    for name, each in given.items():
        try:
            found[name] = _domain(each, points)
        except InputError as error:
            problems.add(str(of_attribute(error, f"column {name}")))
    problems.raise_if_any(InputError)
    return found


def _domain(given: object, points: int) -> Domain | Mechanism:
    domain = given.domain if isinstance(given, Mechanism) else given
    if isinstance(domain, Domain) and domain.parts:
        raise InputError("Expected the domain of one column, got a product; give each column a domain of its own.")
    if isinstance(given, Domain) or (isinstance(given, Mechanism) and not given.flat):
        return given
    if _is_range(given):
        low, high = given
        return Interval(low, high, points=points)
    if isinstance(given, list):
        if len(given) < _ENDS:
            raise InputError(f"Expected at least two categories, got {len(given)}; a column of one needs no report.")
        return Items(given)
    raise InputError(
        "Expected a range (low, high), a list of categories, a domain such as bp.Integers(18, 90), or a mechanism, got "
        f"{type(given).__name__}."
    )


def _checked_sample(sample: object, columns: int) -> int | None:
    if sample is None:
        return None
    if not is_whole(sample) or not 1 <= sample <= columns:
        raise InputError(
            f"Expected sample as None or a whole number from 1 to {columns}, the columns, got {shown(sample)}."
        )
    # Drawing all of them is not a sample.
    return None if sample == columns else int(sample)


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
    epsilon: Decimal, ready: Mapping[str, Mechanism], weights: Sequence[Fraction], sample: int | None
) -> tuple[Decimal, ...]:
    """ε of the columns that have no mechanism yet; those that have one keep theirs, and it is taken off first."""
    if not weights:
        return ()
    if sample is not None:
        # Whatever is drawn, the k largest of all parts must fit; choose() checks that with the ready ones.
        return split_epsilon(epsilon, weights, min(sample, len(weights)))
    spent = exact_sum([mechanism.epsilon_decimal for mechanism in ready.values()])
    if spent >= epsilon:
        raise InputError(
            f"Expected ready mechanisms that leave something of ε = {epsilon} to the other columns, got {spent}; use a "
            "larger epsilon, or mechanisms with a smaller one."
        )
    return split_epsilon(exact_sum([epsilon, -spent]), weights)


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


def _made(maker: Callable[[Any, Any], Any], domain: Domain, part: Decimal) -> Mechanism:
    mechanism = maker(domain, part)
    if not isinstance(mechanism, Mechanism) or mechanism.flat:
        raise InputError(
            f"Expected a mechanism from {shown(maker)}, got {type(mechanism).__name__}; pass a class such as bp.BRR."
        )
    if mechanism.epsilon_decimal > part:
        raise InputError(
            f"Expected a mechanism with ε of at most {part}, got {mechanism.epsilon_decimal}; use the ε it is given."
        )
    return mechanism
