"""``bipartite design``: choose m and show what a report will be worth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bipartite.cli.arguments import add_mechanism, mechanism_of
from bipartite.cli.output import OK, print_json, print_table, write_atomically
from bipartite.errors import DesignError
from bipartite.mechanisms import BRR
from bipartite.quality import constant_loss, expected_loss
from bipartite.verification import verify

if TYPE_CHECKING:
    import argparse

_EXAMPLES = """examples:
  bipartite design --integers 18..90 --epsilon 1
  bipartite design --interval 0..200000 --points 401 --epsilon 0.5 --edges padded
  bipartite design --integers 18..90 --epsilon 1 --output age.json    writes the spec that clients need
"""


def add_to(commands: Any) -> None:  # noqa: ANN401 (argparse does not name the type)
    """Add this command to the command line."""
    parser = commands.add_parser("design", help="choose m and show what a report is worth", epilog=_EXAMPLES)
    add_mechanism(parser)
    parser.add_argument("--output", metavar="FILE", type=Path, help="write the spec, what clients need, to this file")
    parser.add_argument("--json", action="store_true", help="print one JSON object (schemas/design.json)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Design a mechanism and describe it."""
    mechanism = mechanism_of(options)
    certificate = verify(mechanism)
    lottery = mechanism.lottery
    try:
        grr_loss = expected_loss(BRR(mechanism.domain, mechanism.epsilon_decimal, m=1))
    except DesignError:
        grr_loss = None
    described = {
        "spec": mechanism.to_spec(),
        "spec_sha256": certificate.spec_sha256,
        "values": len(mechanism.domain),
        "outputs": len(mechanism.outputs),
        "m": mechanism.m,
        "near_probability": lottery.tickets.near / lottery.total,
        "far_probability": lottery.tickets.far / lottery.total,
        "epsilon_upper": str(certificate.epsilon_upper),
        "expected_loss": expected_loss(mechanism),
        "expected_loss_grr": grr_loss,
        "expected_loss_constant": constant_loss(mechanism.domain),
    }
    if options.output is not None:
        write_atomically(options.output, json.dumps(described["spec"], indent=2) + "\n")
    if options.json:
        print_json(described)
        return OK
    print_table(
        ("", repr(mechanism)),
        [
            ("values, outputs", f"{described['values']:,}, {described['outputs']:,}"),
            ("near outputs m", f"{mechanism.m:,}"),
            ("chance of each near output", f"{described['near_probability']:.6g}"),
            ("chance of each other output", f"{described['far_probability']:.6g}"),
            ("expected error", f"{described['expected_loss']:.6g}"),
            ("  of GRR with this ε", "not available" if grr_loss is None else f"{grr_loss:.6g}"),
            ("  of always answering the middle", f"{described['expected_loss_constant']:.6g}"),
        ],
    )
    print(certificate)
    return OK
