"""The parts that all portable descriptions share: fields, ε, tickets, domains."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from bipartite.domains import Integers, Interval
from bipartite.errors import EpsilonError, Problems, SpecError, shown
from bipartite.lottery import Epsilon
from bipartite.mechanisms.spec.sets import read_set

if TYPE_CHECKING:
    from bipartite.domains import Domain

SET_FIELDS: Final = ({"points"}, {"items"})
_DOMAIN_FIELDS: Final = ({"integers"}, {"interval", "points", "rounding"})
_MAX_TICKET_DIGITS: Final = 16  # 2^52 has 16 digits


def check_fields(what: str, found: set[str], expected: set[str], problems: Problems) -> None:
    """Note the fields that a spec should have and those that it should not."""
    missing, unknown = sorted(expected - found), sorted(map(str, found - expected))
    if missing:
        problems.add(f"Expected {what} with {', '.join(missing)}; ask for a complete one.")
    if unknown:
        problems.add(f"Expected {what} without {', '.join(unknown)}; update bipartite to read newer ones.")


def is_whole(value: object) -> bool:
    """Whether a value is a JSON whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def check_epsilon(epsilon: object, problems: Problems) -> None:
    """Note what is wrong with ε."""
    if not isinstance(epsilon, str):
        problems.add("Expected epsilon as a decimal string such as '1'.")
        return
    try:
        canonical = Epsilon.of(epsilon).text
    except EpsilonError as error:
        problems.add(str(error))
    else:
        if canonical != epsilon:
            problems.add(f"Expected epsilon in its canonical form {canonical!r}, got {epsilon!r}.")


def read_tickets(tickets: object, problems: Problems) -> tuple[int, int]:
    """(near, far), or zeros with the problem noted."""
    if isinstance(tickets, Mapping) and set(tickets) == {"near", "far"}:
        near, far = tickets["near"], tickets["far"]
        if is_ticket_count(near) and is_ticket_count(far):
            return int(near), int(far)
    problems.add("Expected tickets as {'near': '…', 'far': '…'}, whole numbers of at most 16 digits as strings.")
    return 0, 0


def is_ticket_count(text: object) -> bool:
    """Whether a text is a ticket count."""
    return isinstance(text, str) and re.fullmatch(f"[1-9][0-9]{{0,{_MAX_TICKET_DIGITS - 1}}}", text) is not None


def read_two_tickets(spec: Mapping[str, Any]) -> tuple[int, int]:
    """(near, far) of a spec, or the problem raised."""
    problems = Problems()
    found = read_tickets(spec["tickets"], problems)
    problems.raise_if_any(SpecError)
    return found


def read_counts(name: str, given: object, length: int) -> list[int]:
    """Ticket counts, as strings."""
    if not isinstance(given, list) or len(given) != length or not all(is_ticket_count(each) for each in given):
        msg = f"Expected {name} as {length} whole numbers of at most 16 digits as strings; ask for another spec."
        raise SpecError(msg)
    return [int(each) for each in given]


def is_chance(text: object) -> bool:
    """Whether a text is a chance in units of 2^−64."""
    return isinstance(text, str) and re.fullmatch("[1-9][0-9]{0,19}", text) is not None and int(text) < 2**64


def read_domain(domain: object, problems: Problems) -> Domain | None:
    """The domain, or None with the problems noted."""
    if isinstance(domain, Mapping) and set(domain) in SET_FIELDS:
        return read_set(domain, problems)
    if not isinstance(domain, Mapping) or set(domain) not in _DOMAIN_FIELDS:
        problems.add(
            "Expected domain as {'integers': [low, high]}, {'interval': [low, high], 'points': …, 'rounding': …}, "
            "{'points': {…}} or {'items': {…}}."
        )
        return None
    ends = domain["integers"] if "integers" in domain else domain["interval"]
    numbers = (int,) if "integers" in domain else (int, float)
    if not _is_pair_of(ends, numbers):
        problems.add("Expected the ends of a domain as a list of two numbers, whole ones for integers.")
        return None
    if "points" in domain and not is_whole(domain["points"]):
        problems.add(f"Expected points as a whole number, got {shown(domain['points'])}.")
        return None
    try:
        return (
            Integers(*ends)
            if "integers" in domain
            else Interval(ends[0], ends[1], points=domain["points"], rounding=domain["rounding"])
        )
    except ValueError as error:
        problems.add(str(error))
        return None


def _is_pair_of(ends: object, kinds: tuple[type, ...]) -> bool:
    return isinstance(ends, list) and len(ends) == 2 and all(type(end) in kinds for end in ends)  # noqa: PLR2004
