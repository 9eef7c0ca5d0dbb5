"""``bipartite verify``: prove the ε of a mechanism, or show that it does not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bipartite.cli.arguments import add_mechanism, announce_proof, mechanism_of
from bipartite.cli.output import FINDING, OK, print_json
from bipartite.errors import BrokenPromiseError
from bipartite.verification import verify

if TYPE_CHECKING:
    import argparse

_EXAMPLES = """examples:
  bipartite verify --spec age.json
  bipartite verify --integers 18..90 --epsilon 1 --json

The exit code is 1 if the tickets of a spec break the ε that it states.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.epilog = _EXAMPLES
    add_mechanism(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object (schemas/verify.json)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Certify a mechanism."""
    try:
        mechanism = mechanism_of(options)
        announce_proof(mechanism)
        certificate = verify(mechanism)
    except BrokenPromiseError as error:
        if options.json:
            print_json({"holds": False, "problem": str(error)})
        raise
    if options.json:
        print_json(
            {
                "holds": certificate.holds,
                "guarantee": certificate.guarantee,
                "ratio": [str(certificate.ratio.numerator), str(certificate.ratio.denominator)],
                "epsilon_upper": str(certificate.epsilon_upper),
                "spec_sha256": certificate.spec_sha256,
            }
        )
    else:
        print(certificate)
    return OK if certificate.holds else FINDING
