"""``bipartite locations``: design releases of places, and draw maps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from bipartite.answers.quality import loss
from bipartite.cli.arguments import announce_proof, need_epsilon
from bipartite.cli.output import OK, print_json
from bipartite.cli.place_lists import add_places
from bipartite.cli.place_mechanisms import add_mechanism, made
from bipartite.cli.program import Command
from bipartite.errors import InputError
from bipartite.files import write_atomically
from bipartite.locations import plot
from bipartite.locations.grids import squares_of
from bipartite.plots.figure import as_file, check_ending, need_matplotlib
from bipartite.verification import verify

if TYPE_CHECKING:
    import argparse

    from bipartite.cli.place_lists import Listed

_EXAMPLES = """examples:
  bipartite locations design shops.csv --epsilon 1 --output shops.json    the best ε-LDP release, as a spec
  bipartite locations design --box 52.3,13,52.7,13.8 --metres 10000 --epsilon 2 --for map --output cells.json
  bipartite locations heat reports.csv --spec cells.json --output heat.html    where people are, from their reports
  bipartite locations map shops.csv --output shops.svg                    a map of the places
  bipartite locations map --dataset cities --epsilon 2 --mechanism brr --at Paris --output paris.svg

For data sets of check-ins, regions, and the paper's releases side by side, run: python -m reproduction locations.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.epilog = _EXAMPLES
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION", parser_class=Command)
    design = actions.add_parser("design", help="choose or build a release of places", epilog=_EXAMPLES)
    add_places(design)
    add_mechanism(design, "auto, the one with the smallest error for what --for says")
    design.add_argument(
        "--for",
        dest="purpose",
        choices=["release", "map"],
        default="release",
        help="release: each report is used as it is (default); map: reports are counted, to see where people are",
    )
    design.add_argument("--output", metavar="FILE", type=Path, help="write the spec, which clients need, to this file")
    design.add_argument("--json", action="store_true", help="print one JSON object (schemas/locations-design.json)")
    design.set_defaults(run=run_design)
    shown = actions.add_parser("map", help="draw places, and what one person may report", epilog=_EXAMPLES)
    add_places(shown)
    add_mechanism(shown, "auto with --epsilon; without it only places")
    shown.add_argument(
        "--at", metavar="PLACE", help="the place (label, cell, row number) of a fictitious person, never of a real one"
    )
    shown.add_argument("--title", metavar="WORDS", default="", help="the title of the picture (default: none)")
    shown.add_argument("--output", metavar="FILE", type=Path, required=True, help="a picture, .svg, .png or .pdf")
    shown.add_argument("--json", action="store_true", help="print one JSON object (schemas/locations-map.json)")
    shown.set_defaults(run=run_map)


def run_design(options: argparse.Namespace) -> int:
    """Choose or build a release."""
    need_epsilon(options)
    listed = options.places_of(options)
    mechanism, reason = made(options, listed, options.purpose)
    announce_proof(mechanism)
    certificate = verify(mechanism)
    # Reports for a map are not used one by one, so that none has a loss.
    losses = loss(mechanism).by_value if options.purpose == "release" else None
    if options.output is not None:
        write_atomically(options.output, json.dumps(mechanism.to_spec(), indent=2) + "\n")
    if options.json:
        print_json(
            {
                "source": listed.source,
                "places": len(listed.places),
                "mechanism": repr(mechanism),
                "reason": reason,
                "guarantee": mechanism.guarantee,
                "holds": certificate.holds,
                "epsilon_upper": str(certificate.epsilon_upper),
                "spec_sha256": certificate.spec_sha256,
                "expected_loss": None if losses is None else float(losses.mean()),
                "worst_loss": None if losses is None else float(losses.max()),
            }
        )
        return OK
    print(f"{listed.source}: {len(listed.places):,} places")
    print(reason)
    print(certificate)
    return OK


def run_map(options: argparse.Namespace) -> int:
    """Draw a map."""
    check_ending(options.output)
    if options.epsilon is None and (options.mechanism or options.at):
        raise InputError("Expected --epsilon with --mechanism and --at; try --epsilon 1, or leave them out.")
    need_matplotlib("--output")
    listed = options.places_of(options)
    mechanism = None if options.epsilon is None else made(options, listed, "release")[0]
    at = None if mechanism is None else _place(options, listed)
    named = {"title": options.title, "credit": listed.credit}
    picture = as_file(lambda: plot(listed.places if mechanism is None else mechanism, at, **named), options.output)
    write_atomically(options.output, picture)
    promise = None if mechanism is None else mechanism.guarantee
    if options.json:
        print_json(
            {
                "source": listed.source,
                "places": len(listed.places),
                "output": str(options.output),
                "format": options.output.suffix[1:].lower(),
                "mechanism": None if mechanism is None else repr(mechanism),
                "guarantee": promise,
            }
        )
        return OK
    print(f"{listed.source}: {len(listed.places):,} places")
    if mechanism is not None:
        print(f"{mechanism!r}: {promise}.")
    print(f"Wrote {options.output}.")
    return OK


def _place(options: argparse.Namespace, listed: Listed) -> str | int:
    """The label, cell or row number of a place."""
    labels = listed.places.labels
    if options.at is None:
        example = "0" if labels is None else str(labels[0])
        raise InputError(
            f"Expected --at with a picture of a release: the place of a fictitious person; try --at {example!r}."
        )
    if labels is not None:
        if options.at not in labels:
            raise InputError(f"Expected --at as the label of a place, got {options.at!r}; the file lists the labels.")
        return str(options.at)
    squares = squares_of(listed.places)
    if squares is not None and options.at in squares.names:
        return str(options.at)
    if not options.at.isdecimal() or int(options.at) >= len(listed.places):
        known = "" if squares is None else f", or a cell such as {squares.names[0]!r}"
        last = len(listed.places) - 1
        raise InputError(f"Expected --at as a row number from 0 to {last}{known}, got {options.at!r}.")
    return int(options.at)
