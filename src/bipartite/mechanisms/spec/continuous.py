"""Mechanisms for numbers in a range in a portable description of version 2: Laplace, Staircase, Duchi and others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from bipartite.domains import Interval
from bipartite.errors import SpecError, shown
from bipartite.lottery import Tickets
from bipartite.mechanisms import Duchi, Hybrid, Laplace, Piecewise, Staircase
from bipartite.mechanisms.added_noise import MOST_SHIFTS
from bipartite.mechanisms.spec.parts import is_ticket_count, is_whole, read_counts, read_two_tickets
from bipartite.mechanisms.unbiased import MOST_OUTPUTS, Sliding, TwoEnds

if TYPE_CHECKING:
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

Reader = Callable[[Mapping[str, Any], Any], Any]


def _read_laplace(spec: Mapping[str, Any], domain: Domain) -> Mechanism:
    return Laplace.restore(_interval(domain), spec["epsilon"], *_noise(spec, domain))


def _read_staircase(spec: Mapping[str, Any], domain: Domain) -> Mechanism:
    gamma = spec["gamma"]
    if type(gamma) not in {int, float} or not 0 <= gamma <= 1:
        msg = f"Expected gamma as a number from 0 to 1, got {shown(gamma)}; ask for another spec."
        raise SpecError(msg)
    return Staircase.restore(_interval(domain), spec["epsilon"], *_noise(spec, domain), gamma=gamma)


def _read_duchi(spec: Mapping[str, Any], domain: Domain) -> Mechanism:
    ends = _ends(spec["ends"])
    return Duchi.restore(_interval(domain), spec["epsilon"], ends.least, ends.step)


def _read_piecewise(spec: Mapping[str, Any], domain: Domain) -> Mechanism:
    window = (_whole("m", spec["m"], 1), _whole("stride", spec["stride"], 1))
    return Piecewise.restore(_interval(domain), spec["epsilon"], window, *read_two_tickets(spec))


def _read_hybrid(spec: Mapping[str, Any], domain: Domain) -> Mechanism:
    parts = spec["parts"]
    if not isinstance(parts, Mapping) or set(parts) not in ({"ends"}, {"ends", "window"}):
        msg = "Expected parts as {'ends': …} or {'ends': …, 'window': …}; ask for another spec."
        raise SpecError(msg)
    sliding = tickets = None
    if "window" in parts:
        window = parts["window"]
        if not isinstance(window, Mapping) or set(window) != {"m", "stride", "near", "far"}:
            msg = "Expected window with m, stride, near and far; ask for another spec."
            raise SpecError(msg)
        sliding = Sliding(_whole("m", window["m"], 1), _whole("stride", window["stride"], 1))
        tickets = Tickets(*read_two_tickets({"tickets": {"near": window["near"], "far": window["far"]}}))
    return Hybrid.restore(_interval(domain), spec["epsilon"], _ends(parts["ends"]), sliding, tickets)


def _interval(domain: Domain) -> Interval:
    if not isinstance(domain, Interval):
        msg = "Expected domain as {'interval': [low, high], 'points': …, 'rounding': …}; ask for another spec."
        raise SpecError(msg)
    return domain


def _noise(spec: Mapping[str, Any], domain: Domain) -> tuple[int, list[int]]:
    padding = _whole("padding", spec["padding"], 0)
    if len(domain) + padding > MOST_SHIFTS + 1:
        msg = "Expected noise of at most 2^22 steps; ask for another spec."
        raise SpecError(msg)
    return padding, read_counts("noise", spec["noise"], len(domain) + padding)


def _ends(given: object) -> TwoEnds:
    if isinstance(given, Mapping) and set(given) == {"least", "step"}:
        least, step = given["least"], given["step"]
        if is_ticket_count(least) and is_ticket_count(step):
            return TwoEnds(int(least), int(step))
    msg = "Expected ends as {'least': '…', 'step': '…'}, whole numbers of at most 16 digits as strings."
    raise SpecError(msg)


def _whole(name: str, given: object, least: int) -> int:
    if not is_whole(given) or not least <= given <= MOST_OUTPUTS:  # type: ignore[operator]  # whole, so a number
        msg = f"Expected {name} as a whole number from {least} to 2^22, got {shown(given)}; ask for another spec."
        raise SpecError(msg)
    return given  # type: ignore[return-value]


CONTINUOUS: Final[dict[str, tuple[set[str], Reader]]] = {
    "laplace": ({"padding", "noise"}, _read_laplace),
    "staircase": ({"padding", "noise", "gamma"}, _read_staircase),
    "duchi": ({"ends"}, _read_duchi),
    "piecewise": ({"m", "stride", "tickets"}, _read_piecewise),
    "hybrid": ({"parts"}, _read_hybrid),
}
"""The fields of each mechanism besides those that all have, and its reader."""
