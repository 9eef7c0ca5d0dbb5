"""The canonical form of a spec (RFC 8785), and its SHA-256."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bipartite.errors import SpecError

if TYPE_CHECKING:
    from bipartite.mechanisms import Mechanism


def canonical_json(value: object) -> str:
    """JSON in the canonical form of RFC 8785, for the values that a spec holds (keys are ASCII)."""
    if isinstance(value, Mapping):
        members = (f"{json.dumps(key)}:{canonical_json(value[key])}" for key in sorted(value))
        return "{" + ",".join(members) + "}"
    if isinstance(value, (list, tuple)):
        if set(map(type, value)) == {int}:  # the long part of a large spec
            return json.dumps(value, separators=(",", ":"))
        return "[" + ",".join(map(canonical_json, value)) + "]"
    if isinstance(value, float):
        return _ecmascript_number(value)
    if isinstance(value, (str, int)):
        return json.dumps(value, ensure_ascii=False)
    raise SpecError(f"Expected strings, numbers, lists and mappings, got {type(value).__name__}.")


def _ecmascript_number(number: float) -> str:
    """A double as ECMAScript writes it: the shortest digits, plain from 1e-6 to 1e21."""
    if not math.isfinite(number):
        raise SpecError(f"Expected finite numbers in a spec, got {number!r}.")
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


def spec_json(mechanism: Mechanism) -> str:
    """The spec of a mechanism in canonical form; cached, because mechanisms are immutable."""
    found: str | None = getattr(mechanism, "_spec_json", None)
    if found is None:
        found = canonical_json(mechanism.to_spec())
        mechanism._set(_spec_json=found)
    return found


def spec_sha256(mechanism: Mechanism) -> str:
    """The SHA-256 of the canonical spec of a mechanism, which identifies it; cached."""
    found: str | None = getattr(mechanism, "_spec_sha256", None)
    if found is None:
        found = hashlib.sha256(spec_json(mechanism).encode()).hexdigest()
        mechanism._set(_spec_sha256=found)
    return found


def record_sha256(mechanisms: Mapping[str, Mechanism], sample: int | None = None) -> str:
    """The SHA-256 that identifies a record: its attributes in their order, and how many of them are reported."""
    attributes = canonical_json([[name, spec_sha256(each)] for name, each in mechanisms.items()])
    drawn = "null" if sample is None else sample
    return hashlib.sha256(f'{{"record":{attributes},"sample":{drawn}}}'.encode()).hexdigest()
