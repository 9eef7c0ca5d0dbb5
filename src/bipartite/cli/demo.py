"""``bipartite demo``: a million people report their age, and what such a report is worth."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.cli.output import OK, Progress, print_json, print_table
from bipartite.domains import Integers
from bipartite.errors import InputError
from bipartite.mechanisms import BRR
from bipartite.quality import constant_loss, constant_share_within, expected_loss, share_within
from bipartite.verify import verify

if TYPE_CHECKING:
    import argparse

    from numpy.typing import NDArray

_AGES: Final = Integers(18, 90)
_YEARS: Final = 5
_STEP: Final = 2**17
_MOST_PEOPLE: Final = 10**8


def add_to(commands: Any) -> None:  # noqa: ANN401
    """Add this command to the command line."""
    parser = commands.add_parser("demo", help="a million people report their age")
    parser.add_argument("--people", metavar="N", type=int, default=1_000_000, help="how many (default: a million)")
    parser.add_argument("--epsilon", metavar="E", default="1", help="the privacy budget of one report (default: 1)")
    parser.add_argument("--json", action="store_true", help="print one JSON object (schemas/demo.json)")
    parser.set_defaults(run=run)


@dataclass(frozen=True)
class _Row:
    """What one way of answering is worth."""

    name: str
    expected_error: float
    within: float
    measured_error: float
    measured_within: float


def run(options: argparse.Namespace) -> int:
    """Privatize made-up people and compare what their reports are worth."""
    if not 1 <= options.people <= _MOST_PEOPLE:
        msg = f"Expected --people from 1 to {_MOST_PEOPLE:,}, got {options.people}."
        raise InputError(msg)
    brr, grr = BRR(_AGES, options.epsilon), BRR(_AGES, options.epsilon, m=1)
    ages = _made_up_ages(options.people)
    began = time.perf_counter()
    reports = np.empty_like(ages)
    with Progress("reports", len(ages)) as progress:
        for at in range(0, len(ages), _STEP):
            part = slice(at, at + _STEP)
            reports[part] = brr.privatize(ages[part])
            progress.advance(len(ages[part]))
    seconds = time.perf_counter() - began
    middle = _AGES[len(_AGES) // 2]
    rows = [
        _row(f"BRR, m = {brr.m}", brr, ages, reports),
        _row("GRR", grr, ages, grr.privatize(ages)),
        _Row(
            f"always saying {middle}",
            constant_loss(_AGES),
            constant_share_within(_AGES, _YEARS),
            *_measure(ages, np.full_like(ages, middle)),
        ),
    ]
    certificate = verify(brr)
    if options.json:
        print_json(
            {
                "people": len(ages),
                "seconds": seconds,
                "answers": [vars(row) for row in rows],
                "certificate": {"holds": certificate.holds, "epsilon_upper": str(certificate.epsilon_upper)},
            }
        )
        return OK
    print(
        f"{len(ages):,} made-up people aged {_AGES} reported once each at ε = {options.epsilon}, in {seconds:.2f} s.\n"
    )
    print("What one report is worth (exact for an age picked at random | measured on these people):\n")
    print_table(
        ("", "error in years", f"within {_YEARS} years"),
        [
            (
                row.name,
                f"{row.expected_error:.2f} | {row.measured_error:.2f}",
                f"{row.within:.1%} | {row.measured_within:.1%}",
            )
            for row in rows
        ],
    )
    print(f"\n{certificate}")
    return OK


def _made_up_ages(people: int) -> NDArray[np.int64]:
    """A population for show, from a statistical generator: these are not private values."""
    shape = np.random.default_rng(2026).beta(1.4, 2.0, size=people)
    return _AGES.low + np.floor(shape * len(_AGES)).astype(np.int64)


def _row(name: str, mechanism: BRR, ages: NDArray[np.int64], reports: NDArray[np.int64]) -> _Row:
    return _Row(name, expected_loss(mechanism), share_within(mechanism, _YEARS), *_measure(ages, reports))


def _measure(ages: NDArray[np.int64], reports: NDArray[np.int64]) -> tuple[float, float]:
    error = np.abs(ages - reports)
    return float(error.mean()), float((error <= _YEARS).mean())
