"""``bipartite sample-size``: how many people are needed for an answer that is close enough."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bipartite.answers.advise import sample_size
from bipartite.cli.arguments import (
    add_mechanism,
    domain_of,
    mechanism_of,
    need_epsilon,
    probabilities_in,
)
from bipartite.cli.output import OK, print_json
from bipartite.cli.waiting import announce_search

if TYPE_CHECKING:
    import argparse

_EXAMPLES = """examples:
  bipartite sample-size --integers 18..90 --epsilon 1 --mean-within 0.5 --confidence 0.95
  bipartite sample-size --integers 18..90 --epsilon 1 --share-within 0.01
  bipartite sample-size --integers 18..90 --epsilon 1 --edges padded --mean-within 0.5
  bipartite sample-size --spec age.json --mean-within 0.5

Without --mechanism, --m or --edges, the mechanism that needs the fewest people is used, and named.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.epilog = _EXAMPLES
    add_mechanism(parser, default="the one that needs the fewest people")
    asked = parser.add_argument_group("the answer wanted (one of --mean-within, --share-within)")
    which = asked.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--mean-within", metavar="D", type=float, help="how far the estimated mean may be from the population's"
    )
    which.add_argument(
        "--share-within",
        metavar="D",
        type=float,
        help="how far each estimated share, on its own, may be from the population's",
    )
    asked.add_argument(
        "--confidence", metavar="C", type=float, default=0.95, help="the probability of this (default: 0.95)"
    )
    asked.add_argument(
        "--population",
        metavar="FILE",
        type=Path,
        help="the assumed shares of the values, one per line; public (default: uniform)",
    )
    asked.add_argument("--json", action="store_true", help="print one JSON object (schemas/sample-size.json)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print how many people are needed."""
    asked = {
        "mean_within": options.mean_within,
        "share_within": options.share_within,
        "confidence": options.confidence,
        "prior": None if options.population is None else probabilities_in(options.population),
    }
    if any(getattr(options, name) is not None for name in ("spec", "mechanism", "m", "edges", "prior")):
        found = sample_size(mechanism_of(options), **asked)
    else:
        need_epsilon(options)
        domain = domain_of(options)
        announce_search(domain)
        found = sample_size(domain, options.epsilon, **asked)
    if options.json:
        print_json(found.to_dict())
    else:
        print(found)
    return OK
