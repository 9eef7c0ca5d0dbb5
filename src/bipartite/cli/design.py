"""``bipartite design``: build a mechanism and show what a report will be worth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bipartite.answers.quality import expected_loss, worst_loss
from bipartite.cli.arguments import add_mechanism, mechanism_of, prior_of
from bipartite.cli.output import OK, print_json, print_table
from bipartite.errors import InputError
from bipartite.files import write_whole
from bipartite.mechanisms import BRR, GRR, Anchored, Constant
from bipartite.verification import verify

if TYPE_CHECKING:
    import argparse

    from bipartite.mechanisms import Mechanism
    from bipartite.verification import Certificate

_EXAMPLES = """examples:
  bipartite design --integers 18..90 --epsilon 1
  bipartite design --interval 0..200000 --points 401 --epsilon 0.5 --edges padded
  bipartite design --integers 18..90 --epsilon 1 --mechanism anchored
  bipartite design --integers 18..90 --epsilon 1 --output age.json    writes the spec that clients need
"""
_SHOWN: Final = (
    ("near outputs m", "m", ","),
    ("chance of each near output", "near_probability", ".6g"),
    ("chance of each other output", "far_probability", ".6g"),
    ("expected error", "expected_loss", ".6g"),
    ("  above the best report of a value by at most", "gap", ".2%"),
    ("  of the value that fares worst", "worst_loss", ".6g"),
    ("  of GRR with this ε", "expected_loss_grr", ".6g"),
    ("  of always giving the best single answer", "expected_loss_constant", ".6g"),
)
"""What is shown, its key in JSON, and how it is written."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Say what this command takes."""
    parser.epilog = _EXAMPLES
    add_mechanism(parser)
    parser.add_argument("--output", metavar="FILE", type=Path, help="write the spec, what clients need, to this file")
    parser.add_argument("--json", action="store_true", help="print one JSON object (schemas/design.json)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Design a mechanism and describe it."""
    mechanism = mechanism_of(options)
    certificate = verify(mechanism)
    described = _described(mechanism, certificate, prior_of(options), options.epsilon)
    if options.output is not None:
        write_whole(options.output, json.dumps(described["spec"], indent=2) + "\n")
    if options.json:
        print_json(described)
    else:
        print_table(("", repr(mechanism)), _rows(described))
        print(certificate)
    return OK


def _described(
    mechanism: Mechanism, certificate: Certificate, prior: list[float] | None, epsilon: str | None
) -> dict[str, Any]:
    """What a report is worth, and next to what."""
    # A window has two chances; other mechanisms have many.
    window = mechanism.tickets if isinstance(mechanism, BRR) else None
    total = mechanism.lottery.total
    return {
        "spec": mechanism.to_spec(),
        "spec_sha256": certificate.spec_sha256,
        "values": len(mechanism.domain),
        "outputs": len(mechanism.outputs),
        "m": mechanism.m if isinstance(mechanism, BRR) else None,
        "near_probability": None if window is None else window.near / total,
        "far_probability": None if window is None else window.far / total,
        "epsilon_upper": str(certificate.epsilon_upper),
        "holds": certificate.holds,
        "guarantee": certificate.guarantee,
        "expected_loss": expected_loss(mechanism, prior),
        "worst_loss": worst_loss(mechanism),
        "gap": mechanism.gap if isinstance(mechanism, Anchored) else None,
        "expected_loss_grr": _loss_of_grr(mechanism, prior, epsilon),
        "expected_loss_constant": expected_loss(Constant(mechanism.domain, prior=prior), prior),
    }


def _loss_of_grr(mechanism: Mechanism, prior: list[float] | None, epsilon: str | None) -> float | None:
    """What GRR would lose; None where it cannot have this ε: one per unit of distance, or beside what is published."""
    if mechanism.distance_unit is not None or mechanism.publishes is not None:
        return None
    try:
        return expected_loss(GRR(mechanism.domain, epsilon or mechanism.epsilon_decimal), prior)
    except InputError:
        return None


def _rows(described: dict[str, Any]) -> list[tuple[str, str]]:
    """The same for people; what a mechanism does not have is left out."""
    rows = [("values, outputs", f"{described['values']:,}, {described['outputs']:,}")]
    for words, key, how in _SHOWN:
        value = described[key]
        if value is not None or key == "expected_loss_grr":
            rows.append((words, "not available" if value is None else format(value, how)))
    return rows
