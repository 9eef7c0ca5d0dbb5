"""``bipartite verify``: prove the ε of a mechanism, or show that it does not hold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NotRequired, TypedDict

from bipartite.cli.output import FINDING, OK, print_json
from bipartite.cli.waiting import announce_proof
from bipartite.errors import BrokenPromiseError
from bipartite.mechanisms.spec import load_spec
from bipartite.tables.domain_files import read_text
from bipartite.verification import verify

if TYPE_CHECKING:
    import argparse

EXAMPLES: Final = """The exit code is 1 if the tickets of the spec break the ε that it states.

examples:
  bipartite verify age.json
  bipartite verify age.json --json
"""


class PrintedVerify(TypedDict):
    """The proof; of a spec that breaks its ε, only that and why."""

    holds: bool
    problem: NotRequired[str]
    guarantee: NotRequired[str]
    ratio: NotRequired[tuple[str, str]]
    epsilon_upper: NotRequired[str]
    spec_sha256: NotRequired[str]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("spec", metavar="SPEC.json", type=Path, help="the spec of a mechanism, as design writes it")
    parser.add_argument("--json", action="store_true", help="print one JSON object (schemas/verify.json)")


def run(options: argparse.Namespace) -> int:
    """Certify a mechanism."""
    try:
        mechanism = load_spec(read_text(options.spec))
        announce_proof(mechanism)
        certificate = verify(mechanism)
    except BrokenPromiseError as error:
        if options.json:
            print_json(PrintedVerify(holds=False, problem=str(error)))
        raise
    if options.json:
        print_json(
            PrintedVerify(
                holds=certificate.holds,
                guarantee=certificate.guarantee,
                ratio=(str(certificate.ratio.numerator), str(certificate.ratio.denominator)),
                epsilon_upper=str(certificate.epsilon_upper),
                spec_sha256=certificate.spec_sha256,
            )
        )
    else:
        print(certificate)
    return OK if certificate.holds else FINDING
