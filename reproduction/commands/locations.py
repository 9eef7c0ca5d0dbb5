"""``python -m reproduction locations``: the paper's experiment on places, on any list of them."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bipartite.cli import OK, Progress, credit_of, domain_of, print_table
from bipartite.domains import Points
from bipartite.errors import InputError
from bipartite.files import write_atomically
from bipartite.locations import from_checkins
from bipartite.texts import as_csv
from reproduction.datasets import SOURCES, CheckIns, foursquare, gowalla
from reproduction.places import Regions, compare, draw, improvements
from reproduction.places.releases import PER_KM, planar

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from reproduction.places import PlaceRelease

_EXAMPLES = """examples:
  python -m reproduction locations compare gowalla-authors --epsilon 0.5 1 2 --csv rows.csv
  python -m reproduction locations compare shops.csv --epsilon 1
  python -m reproduction locations map gowalla-authors --output regions.svg
"""
_MOST_OF_A_DATASET: Final = 3_000


def configure(parser: argparse.ArgumentParser) -> None:
    """Say what this command takes."""
    parser.epilog = _EXAMPLES
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION", parser_class=type(parser))
    shown = actions.add_parser("map", help="a picture of the regions of places", epilog=_EXAMPLES)
    shown.add_argument("--output", metavar="FILE.svg", type=Path, required=True, help="where to write the picture")
    shown.set_defaults(run=run_map)
    compared = actions.add_parser("compare", help="every release side by side, for each ε", epilog=_EXAMPLES)
    compared.add_argument("--epsilon", metavar="E", nargs="+", required=True, help="the privacy budgets of one report")
    compared.add_argument("--per-km", metavar="E", help="planar Laplace too, with this ε per km: not ε-LDP")
    compared.add_argument("--csv", metavar="FILE", type=Path, help="write the rows to this file as CSV")
    compared.set_defaults(run=run)
    taken = f"FILE.csv (columns lat, lon, name), grid:S,W,N,E/METRES, or {', '.join(_known())}"
    for each in (shown, compared):
        each.add_argument("listed", metavar="PLACES", help=f"{taken}; of a name, the beginning is enough")
        each.add_argument("--places-are-public", action="store_true", help="a file that repeats places or names people")
        each.add_argument("--sample", metavar="N", type=int, help="so many of the distinct places of a data set")
        each.add_argument("--seed", metavar="S", type=int, default=0, help="which of them (default: 0)")


def run(options: argparse.Namespace) -> int:
    """The paper's experiment, for every ε."""
    places, source, _ = _places(options)
    regions = Regions.by_prefix(places)
    with Progress("values of ε", len(options.epsilon)) as progress:
        rows = compare(places, options.epsilon, regions=regions, progress=lambda _: progress.advance(1))
    gains = improvements(rows)
    if options.per_km is not None:
        rows.append(planar(places, options.per_km, None))
    if options.csv is not None:
        write_atomically(options.csv, as_csv(list(asdict(rows[0])), (asdict(row).values() for row in rows)))
    print(f"{source}: {len(places):,} places, {regions!r}")
    _print_releases(rows)
    for gain in gains:
        print(f"{gain.name} lies {gain.mean:.1%} below {gain.rival} on average, {gain.scope}.")
    print("Within regions: the region of everybody is published, and ε holds within it only; this is not ε-LDP.")
    return OK


def run_map(options: argparse.Namespace) -> int:
    """A map of the regions by the paper's rule."""
    places, source, credit = _places(options)
    regions = Regions.by_prefix(places)
    write_atomically(options.output, draw(regions, credit=credit) + "\n")
    print(f"{source}: {len(places):,} places, {regions!r}\nWrote {options.output}.")
    return OK


def _print_releases(rows: Sequence[PlaceRelease]) -> None:
    header = ("release", "where", "ε", "expected km", "worst km", "ε-LDP spent")
    made = [row for row in rows if not row.note]
    cells = [(row.name, row.scope, row.epsilon, f"{row.expected_loss:,.1f}", f"{row.worst_loss:,.1f}") for row in made]
    print_table(header, [(*each, _spent(row)) for each, row in zip(cells, made, strict=True)])
    if any(_spent(row).endswith("(!)") for row in made):
        print("(!) spends more than its stated ε, and is never chosen.")
    for row in rows:
        if row.epsilon.endswith(PER_KM):
            print(_per_km_words(row, rows))
        if row.note:
            print(f"{row.name}, {row.scope}, ε = {row.epsilon}: {row.note}")


def _spent(row: PlaceRelease) -> str:
    """The ε of plain ε-LDP that a release actually spends."""
    if math.isinf(row.realised_epsilon):
        return "none: region published"
    mark = "" if row.eligible else " (*)" if row.epsilon.endswith(PER_KM) else " (!)"
    return f"{row.realised_epsilon:.4f}{mark}"


def _per_km_words(row: PlaceRelease, rows: Sequence[PlaceRelease]) -> str:
    """What the ε of planar Laplace means, compared with that of the other releases."""
    per_km = row.epsilon.removesuffix(PER_KM).strip()
    words = (
        f"(*) {row.name} promises geo-indistinguishability, not ε-LDP: the odds between two places d km apart change "
        f"by at most a factor e^({per_km}·d)."
    )
    others = {float(each.epsilon) for each in rows if each is not row}
    if len(others) == 1:
        (epsilon,) = others
        words += (
            f" For places closer than {epsilon / float(per_km):.3g} km this is stronger than ε-LDP with ε = "
            f"{epsilon:g}, for more distant ones weaker: neither implies the other, and their errors are not "
            "comparable."
        )
    if row.note:
        return words
    upward = math.ceil(row.realised_epsilon * 10**4) / 10**4  # a promise is never rounded down
    return f"{words} On these places it is ε-LDP with ε = {upward:.4f}."


def _places(options: argparse.Namespace) -> tuple[Points, str, str]:
    """The places that the options name (a file, a grid, cities, a data set of check-ins), their source and its credit."""
    given = options.listed
    name = given if Path(given).suffix or ":" in given else _full_name(given)
    if name not in SOURCES:
        if options.sample is not None:
            raise InputError("--sample belongs to a data set of check-ins; leave it out.")
        domain = domain_of(name, are_public=options.places_are_public)
        if not isinstance(domain, Points):
            raise InputError(f"Expected places, such as shops.csv, cities or grid:S,W,N,E/METRES, got {given!r}.")
        return domain, name, credit_of(name)
    found = from_checkins(_checkins(name).coordinates, source="public", places=options.sample, seed=options.seed)
    if options.sample is None and len(found) > _MOST_OF_A_DATASET:
        raise InputError(f"{name} has {len(found):,} distinct places; take some of them, for example --sample 1000.")
    return found, name, f"{name}, {SOURCES[name].citation.removesuffix('.')}"


def _checkins(name: str) -> CheckIns:
    """A data set of check-ins by its name: publisher, then city or subset."""
    kind, _, rest = name.partition("-")
    if kind == "gowalla":
        return gowalla(rest or None)  # type: ignore[arg-type]  # the names of the sources are those of the subsets
    city, _, subset = rest.partition("-")
    return foursquare(city, subset=subset or None)  # type: ignore[arg-type]


def _known() -> list[str]:
    """Of a histogram of Gowalla's nobody knows where its cells lie."""
    return ["cities"] + [
        name for name in SOURCES if name.startswith(("gowalla", "foursquare")) and name != "gowalla-histogram"
    ]


def _full_name(given: str) -> str:
    known = _known()
    fits = [name for name in known if name.startswith(given)]
    if given in known:
        return given
    if len(fits) != 1:
        problem = "none of them" if not fits else f"the beginning of {len(fits)}"
        raise InputError(
            f"Expected PLACES as FILE.csv, grid:…, or one of {', '.join(known)}, got {given!r}, {problem}."
        )
    return fits[0]
