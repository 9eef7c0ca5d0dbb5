"""``bipartite design``: build a mechanism and show what a report will be worth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from bipartite.answers.quality import expected_loss, worst_loss
from bipartite.cli.arguments import add_mechanism, mechanism_of, prior_of
from bipartite.cli.output import OK, print_json, print_table
from bipartite.errors import InputError
from bipartite.files import write_whole
from bipartite.mechanisms import BRR, GRR, Anchored, Constant
from bipartite.verification import verify

if TYPE_CHECKING:
    import argparse

_EXAMPLES = """examples:
  bipartite design --integers 18..90 --epsilon 1
  bipartite design --interval 0..200000 --points 401 --epsilon 0.5 --edges padded
  bipartite design --integers 18..90 --epsilon 1 --mechanism anchored
  bipartite design --integers 18..90 --epsilon 1 --output age.json    writes the spec that clients need
"""


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
    lottery = mechanism.lottery
    prior = prior_of(options)
    # A window has two chances; other mechanisms have many.
    near, far = (
        (mechanism.tickets.near / lottery.total, mechanism.tickets.far / lottery.total)
        if isinstance(mechanism, BRR)
        else (None, None)
    )
    try:
        # An ε per unit of distance, or of values that share what is published, is none that GRR could have.
        plain = mechanism.distance_unit is None and mechanism.publishes is None
        grr = GRR(mechanism.domain, options.epsilon or mechanism.epsilon_decimal) if plain else None
        grr_loss = None if grr is None else expected_loss(grr, prior)
    except InputError:
        grr_loss = None
    described = {
        "spec": mechanism.to_spec(),
        "spec_sha256": certificate.spec_sha256,
        "values": len(mechanism.domain),
        "outputs": len(mechanism.outputs),
        "m": mechanism.m if isinstance(mechanism, BRR) else None,
        "near_probability": near,
        "far_probability": far,
        "epsilon_upper": str(certificate.epsilon_upper),
        "holds": certificate.holds,
        "guarantee": certificate.guarantee,
        "expected_loss": expected_loss(mechanism, prior),
        "worst_loss": worst_loss(mechanism),
        "gap": mechanism.gap if isinstance(mechanism, Anchored) else None,
        "expected_loss_grr": grr_loss,
        "expected_loss_constant": expected_loss(Constant(mechanism.domain, prior=prior), prior),
    }
    if options.output is not None:
        write_whole(options.output, json.dumps(described["spec"], indent=2) + "\n")
    if options.json:
        print_json(described)
        return OK
    window = (
        []
        if near is None
        else [
            ("near outputs m", f"{described['m']:,}"),
            ("chance of each near output", f"{near:.6g}"),
            ("chance of each other output", f"{far:.6g}"),
        ]
    )
    gap = described["gap"]
    proved = [] if gap is None else [("  above the best report of a value by at most", f"{gap:.2%}")]
    print_table(
        ("", repr(mechanism)),
        [
            ("values, outputs", f"{described['values']:,}, {described['outputs']:,}"),
            *window,
            ("expected error", f"{described['expected_loss']:.6g}"),
            *proved,
            ("  of the value that fares worst", f"{described['worst_loss']:.6g}"),
            ("  of GRR with this ε", "not available" if grr_loss is None else f"{grr_loss:.6g}"),
            ("  of always giving the best single answer", f"{described['expected_loss_constant']:.6g}"),
        ],
    )
    print(certificate)
    return OK
