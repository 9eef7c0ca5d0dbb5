"""``bipartite locations heat``: read reports of places, draw a heat map with intervals."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bipartite.answers.estimation.estimating import from_tally
from bipartite.answers.estimation.intervals import check_confidence
from bipartite.cli.columns import STDIN
from bipartite.cli.estimate import RELEASE
from bipartite.cli.estimate_reading import add_refusing, read
from bipartite.cli.heat_page import largest, page
from bipartite.cli.output import OK, print_json
from bipartite.errors import DataFileError, InputError
from bipartite.files import write_atomically
from bipartite.locations import heat_map
from bipartite.mechanisms.spec import load_spec
from bipartite.plots.figure import as_file, need_matplotlib
from bipartite.tables.answering import carried_by_all, check_asked, files_at, insecure_by
from bipartite.tables.domain_files import read_text
from bipartite.tables.metadata import NOT_PRIVATE, Described
from bipartite.texts import percent

if TYPE_CHECKING:
    import argparse

    from bipartite.locations import HeatMap
    from bipartite.mechanisms import Mechanism

_ENDINGS: Final = (".html", ".svg", ".png", ".geojson")
_EXAMPLES = """examples:
  bipartite locations heat reports.csv --spec cells.json --output heat.html
  bipartite locations heat reports.csv --spec cells.json --smoothing-km 2 --output heat.geojson
  bipartite locations heat released.parquet --column home --output heat.png

The map is computed from the reports alone, and is as private as they are. The cells of a grid are drawn as cells.
"""
_LISTED: Final = 5


def add_heat(actions: argparse._SubParsersAction[Any]) -> None:
    """Add the action."""
    parser = actions.add_parser("heat", help="draw where people are, from their reports", epilog=_EXAMPLES)
    parser.add_argument(
        "files", metavar="FILE", nargs="+", help="reports: files, folders, quoted patterns; - for standard input"
    )
    parser.add_argument("--spec", metavar="FILE.json", type=Path, help="the mechanism that made the reports")
    parser.add_argument("--column", metavar="NAME", help='the reports (default: the only column, or "report")')
    add_refusing(parser)
    parser.add_argument(
        "--smoothing-km", metavar="KM", type=float, default=0.0, help="smooth over this many km (default: 0)"
    )
    parser.add_argument(
        "--confidence", metavar="C", type=float, default=0.95, help="the confidence of the intervals (default: 0.95)"
    )
    parser.add_argument("--title", metavar="WORDS", default="Where people are", help="the heading of a page")
    parser.add_argument("--credit", metavar="WORDS", default="", help="the source of the list of places")
    parser.add_argument(
        "--output", metavar="FILE", type=Path, required=True, help="a page, .html; a picture, .svg or .png; or .geojson"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object (schemas/locations-heat.json)")
    parser.set_defaults(run=run_heat, by=None, weights=None)


def run_heat(options: argparse.Namespace) -> int:
    """Read reports and draw the map."""
    ending = options.output.suffix.lower()
    if ending not in _ENDINGS:
        raise InputError(
            f"Expected --output as a file that ends with {', '.join(_ENDINGS)}, got {options.output.name!r}."
        )
    if ending != ".geojson":
        need_matplotlib("--output")
    confidence = check_confidence(options.confidence)
    heat = _heated(options)
    write_atomically(options.output, _content(heat, ending, options, confidence))
    top = largest(heat, confidence, _LISTED)
    if options.json:
        print_json(
            {
                "places": len(heat.places),
                "reports": heat.people,
                "smoothing_km": heat.smoothing_km,
                "guarantee": heat.guarantee,
                "note": heat.note,
                "confidence": confidence,
                "largest": top,
                "output": str(options.output),
                "format": ending[1:],
            }
        )
        return OK
    print(f"{heat.people:,} reports of {len(heat.places):,} places. Guarantee: {heat.guarantee}.")
    if heat.note:
        print(f"{heat.note[0].upper()}{heat.note[1:]}.")
    for row in top:
        held = "" if row["low"] is None else f", {percent(row['low'])} to {percent(row['high'])}"
        print(f"  {row['place']}: {percent(row['share'])}{held}")
    if heat.has_intervals:
        print(f"The intervals hold simultaneously for all places with {100 * confidence:g} % confidence.")
    print(f"Wrote {options.output}.")
    return OK


def _heated(options: argparse.Namespace) -> HeatMap:
    """The heat map of the reports; its guarantee says so if they are not private."""
    options.files = [path for name in options.files for path in ([STDIN] if name == str(STDIN) else files_at([name]))]
    column, mechanism, release = _made_with(options)
    sums = read(options, {column: mechanism}, release).columns[column]
    if not sums.groups or sums.groups[None].empty:
        raise DataFileError("There are no reports, so nothing can be estimated; pass at least one.")
    heat = heat_map(from_tally(mechanism, sums.groups[None].tally), smoothing_km=options.smoothing_km)
    insecure = insecure_by([path for path in options.files if path != STDIN]) or (
        release is not None and release.insecure
    )
    return replace(heat, guarantee=NOT_PRIVATE) if insecure else heat


def _made_with(options: argparse.Namespace) -> tuple[str | None, Mechanism, Described | None]:
    """(the column of the reports, their mechanism, the release that they belong to)."""
    release = None
    if options.spec is not None:
        text = read_text(options.spec)
        if not RELEASE.search(text):
            return options.column, load_spec(text), None
        release = Described.from_json(text)
    elif STDIN not in options.files:
        release = carried_by_all(options.files)
    if release is None:
        raise InputError(
            "Expected --spec, the mechanism that made the reports; only files by bipartite privatize contain it."
        )
    column = options.column
    if column is None:
        positions = [name for name, each in release.mechanisms.items() if each.domain.coordinates is not None]
        if len(positions) != 1:
            there = ", ".join(map(repr, release.mechanisms))
            raise InputError(f"Expected --column, the private column of the release to draw, one of {there}.")
        (column,) = positions
    check_asked(release, [column], None)
    return column, release.mechanisms[column], release


def _content(heat: HeatMap, ending: str, options: argparse.Namespace, confidence: float) -> str | bytes:
    if ending == ".geojson":
        return json.dumps(heat.to_geojson(confidence), ensure_ascii=False, allow_nan=False) + "\n"
    if ending == ".html":
        return page(heat, options.title, options.credit, confidence)
    return as_file(lambda: heat.plot(credit=options.credit), options.output)
