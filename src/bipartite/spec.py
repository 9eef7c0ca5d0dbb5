"""The portable description of a mechanism: what travels to a client, and what a reader refuses.

A spec is a JSON object, named by the SHA-256 of its canonical form (RFC 8785). A reader refuses every field that it
does not know and every promise that the tickets do not keep; the version grows with every new field, and specs of
every version load forever.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from bipartite.domains import Integers, Interval
from bipartite.domains.base import MAX_SPEC_INTEGER
from bipartite.errors import EpsilonError, Problems, SpecError, is_one_of, shown
from bipartite.lottery import Epsilon
from bipartite.mechanisms import BRR
from bipartite.spec_sets import read_set

if TYPE_CHECKING:
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

VERSION: Final = 1
_FIELDS: Final = {"bipartite", "mechanism", "domain", "epsilon", "m", "edges", "tickets"}
_SET_FIELDS: Final = ({"points"}, {"items"})
_DOMAIN_FIELDS: Final = ({"integers"}, {"interval", "points", "rounding"})
_MAX_TICKET_DIGITS: Final = 16  # 2^52 has 16 digits


def from_spec(spec: object) -> BRR:
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
    >>> mech = BRR(Integers(18, 90), epsilon=1)
    >>> from_spec(mech.to_spec()) == mech
    True
    """
    if not isinstance(spec, Mapping):
        msg = f"Expected a spec as a mapping, got {type(spec).__name__}; parse the JSON first."
        raise SpecError(msg)
    version = spec.get("bipartite", VERSION)
    if not _is_whole(version) or version != VERSION:
        msg = f"Expected a spec of version {VERSION}, got {shown(version)}; update bipartite to read newer ones."
        raise SpecError(msg)
    problems = Problems()
    on_set = isinstance(spec.get("domain"), Mapping) and set(spec["domain"]) in _SET_FIELDS
    _check_fields("a spec", set(spec), _FIELDS | {"draw"} if on_set else _FIELDS, problems)
    problems.raise_if_any(SpecError)

    if not is_one_of(spec["mechanism"], ("brr",)):
        problems.add(f"Expected mechanism 'brr', got {shown(spec['mechanism'])}; update bipartite to read others.")
    if not is_one_of(spec["edges"], ("clamped", "padded")):
        problems.add(f"Expected edges 'clamped' or 'padded', got {shown(spec['edges'])}.")
    _check_epsilon(spec["epsilon"], problems)
    if not _is_whole(spec["m"]) or not 1 <= spec["m"] <= MAX_SPEC_INTEGER:
        problems.add(f"Expected m as a whole number from 1, got {shown(spec['m'])}.")
    if on_set and not is_one_of(spec["draw"], ("tries", "list")):
        problems.add(f"Expected draw 'tries' or 'list', got {shown(spec['draw'])}.")
    if on_set and spec["edges"] == "padded":
        problems.add("Expected edges 'clamped' on points and items, which have no ends to pad.")
    near, far = _tickets(spec["tickets"], problems)
    domain = _domain(spec["domain"], problems)
    problems.raise_if_any(SpecError)
    parts = (cast("Domain", domain), spec["epsilon"], spec["m"], spec["edges"], near, far)
    return BRR.restore(*parts, by_list=spec.get("draw") == "list")


def _check_fields(what: str, found: set[str], expected: set[str], problems: Problems) -> None:
    missing, unknown = sorted(expected - found), sorted(map(str, found - expected))
    if missing:
        problems.add(f"Expected {what} with {', '.join(missing)}; ask for a complete one.")
    if unknown:
        problems.add(f"Expected {what} without {', '.join(unknown)}; update bipartite to read newer ones.")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_epsilon(epsilon: object, problems: Problems) -> None:
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


def _tickets(tickets: object, problems: Problems) -> tuple[int, int]:
    if isinstance(tickets, Mapping) and set(tickets) == {"near", "far"}:
        near, far = tickets["near"], tickets["far"]
        if _is_ticket_count(near) and _is_ticket_count(far):
            return int(near), int(far)
    problems.add("Expected tickets as {'near': '…', 'far': '…'}, whole numbers of at most 16 digits as strings.")
    return 0, 0


def _is_ticket_count(text: object) -> bool:
    return isinstance(text, str) and re.fullmatch(f"[1-9][0-9]{{0,{_MAX_TICKET_DIGITS - 1}}}", text) is not None


def _domain(domain: object, problems: Problems) -> Domain | None:
    if isinstance(domain, Mapping) and set(domain) in _SET_FIELDS:
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
    if "points" in domain and not _is_whole(domain["points"]):
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


def canonical_json(value: object) -> str:
    """JSON in the canonical form of RFC 8785, for the values that a spec holds (keys are ASCII)."""
    if isinstance(value, Mapping):
        members = (f"{json.dumps(key)}:{canonical_json(value[key])}" for key in sorted(value))
        return "{" + ",".join(members) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(canonical_json, value)) + "]"
    if isinstance(value, float):
        return _ecmascript_number(value)
    if isinstance(value, (str, int)):
        return json.dumps(value, ensure_ascii=False)
    msg = f"Expected strings, numbers, lists and mappings, got {type(value).__name__}."
    raise SpecError(msg)


def _ecmascript_number(number: float) -> str:
    """A double as ECMAScript writes it: the shortest digits, plain from 1e-6 to 1e21."""
    if not math.isfinite(number):
        msg = f"Expected finite numbers in a spec, got {number!r}."
        raise SpecError(msg)
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    mantissa, _, exponent = f"{abs(number)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    # The value is 0.digits × 10^point.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if 0 < point <= 21:  # noqa: PLR2004
        body = digits.ljust(point, "0") if len(digits) <= point else f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:  # noqa: PLR2004
        body = f"0.{'0' * -point}{digits}"
    else:
        body = f"{digits[0]}{'.' + digits[1:] if len(digits) > 1 else ''}e{point - 1:+d}"
    return sign + body


def spec_sha256(mechanism: Mechanism) -> str:
    """The name of a mechanism: the SHA-256 of its spec in canonical form."""
    return hashlib.sha256(canonical_json(mechanism.to_spec()).encode()).hexdigest()


def load_spec(text: str) -> BRR:
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
