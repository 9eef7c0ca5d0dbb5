"""``python -m reproduction locations``: the paper's experiment on places, on any list of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from bipartite.cli import OK, Progress, credit_of, domain_of, print_json
from bipartite.domains import Points
from bipartite.errors import InputError
from bipartite.files import write_atomically
from bipartite.locations import from_checkins
from reproduction.commands.place_tables import Listed, as_csv, described, headline, plain, print_releases
from reproduction.datasets import SOURCES, CheckIns, foursquare, gowalla
from reproduction.places import WITHIN, Regions, compare, draw, improvements
from reproduction.places.releases import planar

if TYPE_CHECKING:
    import argparse

_EXAMPLES = """examples:
  python -m reproduction locations compare gowalla-authors --epsilon 0.5 1 2 --csv rows.csv
  python -m reproduction locations compare shops.csv --epsilon 1
  python -m reproduction locations map gowalla-authors --output regions.svg
"""
_CITIES: Final = "cities"
_NOT_A_LIST: Final = "gowalla-histogram"  # cells of which nobody knows where they lie
_MOST_OF_A_DATASET: Final = 3_000


def configure(parser: argparse.ArgumentParser) -> None:
    """Say what this command takes."""
    parser.epilog = _EXAMPLES
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION", parser_class=type(parser))
    shown = actions.add_parser("map", help="a picture of the regions of places", epilog=_EXAMPLES)
    _add_places(shown)
    shown.add_argument("--output", metavar="FILE.svg", type=Path, required=True, help="where to write the picture")
    shown.add_argument("--json", action="store_true", help="print the places and their regions as one JSON object")
    shown.set_defaults(run=run_map)
    compared = actions.add_parser("compare", help="every release side by side, for each ε", epilog=_EXAMPLES)
    _add_places(compared)
    compared.add_argument("--epsilon", metavar="E", nargs="+", required=True, help="the privacy budgets of one report")
    compared.add_argument("--per-km", metavar="E", help="planar Laplace too, with this ε per km: not ε-LDP")
    compared.add_argument("--csv", metavar="FILE", type=Path, help="write the rows to this file as CSV")
    compared.add_argument("--json", action="store_true", help="print one JSON object (schemas/locations-compare.json)")
    compared.set_defaults(run=run)


def _add_places(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a list of places, check-ins among them."""
    parser.add_argument(
        "listed",
        metavar="PLACES",
        help=f"FILE.csv (columns lat, lon, name), grid:S,W,N,E/METRES, or {', '.join(_known())}; of a name, the "
        "beginning is enough",
    )
    parser.add_argument("--places-are-public", action="store_true", help="a file that repeats places or names people")
    parser.add_argument("--sample", metavar="N", type=int, help="so many of the distinct places of a data set")
    parser.add_argument("--seed", metavar="S", type=int, default=0, help="which of them (default: 0)")


def run(options: argparse.Namespace) -> int:
    """The paper's experiment, for every ε."""
    listed = _places(options)
    regions = Regions.by_prefix(listed.places)
    with Progress("values of ε", len(options.epsilon)) as progress:
        rows = compare(listed.places, options.epsilon, regions=regions, progress=lambda _: progress.advance(1))
    gains = improvements(rows)
    if options.per_km is not None:
        rows.append(planar(listed.places, options.per_km, None))
    if options.csv is not None:
        write_atomically(options.csv, as_csv(rows))
    if options.json:
        means = [
            {
                "scope": gain.scope,
                "name": gain.name,
                "rival": gain.rival,
                "mean": gain.mean,
                "by_epsilon": gain.by_epsilon,
            }
            for gain in gains
        ]
        print_json({**described(listed, regions), "rows": [plain(row) for row in rows], "improvements": means})
        return OK
    print(headline(listed, regions))
    print_releases(rows)
    for gain in gains:
        print(f"{gain.name} lies {gain.mean:.1%} below {gain.rival} on average, {gain.scope}.")
    print(
        f"{WITHIN.capitalize()}: the region of everybody is published, and ε holds within it only; this is not ε-LDP."
    )
    return OK


def run_map(options: argparse.Namespace) -> int:
    """A map of the regions by the paper's rule."""
    listed = _places(options)
    regions = Regions.by_prefix(listed.places)
    write_atomically(options.output, draw(regions, credit=listed.credit) + "\n")
    if options.json:
        print_json(described(listed, regions))
        return OK
    print(headline(listed, regions))
    print(f"Wrote {options.output}.")
    return OK


def _places(options: argparse.Namespace) -> Listed:
    """The places that the options name: a file, a grid, cities, or a data set of check-ins."""
    given = options.listed
    name = given if Path(given).suffix or ":" in given else _full_name(given)
    if name not in SOURCES:
        if options.sample is not None:
            raise InputError("--sample belongs to a data set of check-ins; leave it out.")
        domain = domain_of(name, are_public=options.places_are_public)
        if not isinstance(domain, Points):
            raise InputError(f"Expected places, such as shops.csv, cities or grid:S,W,N,E/METRES, got {given!r}.")
        return Listed(domain, name, credit_of(name))
    found = from_checkins(_checkins(name).coordinates, source="public", places=options.sample, seed=options.seed)
    if options.sample is None and len(found) > _MOST_OF_A_DATASET:
        raise InputError(f"{name} has {len(found):,} distinct places; take some of them, for example --sample 1000.")
    return Listed(found, name, f"{name}, {SOURCES[name].citation.removesuffix('.')}")


def _checkins(name: str) -> CheckIns:
    """A data set of check-ins by its name: publisher, then city or subset."""
    kind, _, rest = name.partition("-")
    if kind == "gowalla":
        return gowalla(rest or None)  # type: ignore[arg-type]  # the names of the sources are those of the subsets
    city, _, subset = rest.partition("-")
    return foursquare(city, subset=subset or None)  # type: ignore[arg-type]


def _known() -> list[str]:
    return [_CITIES] + [name for name in SOURCES if name.startswith(("gowalla", "foursquare")) and name != _NOT_A_LIST]


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
