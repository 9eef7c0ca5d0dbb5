"""Lists of places for the commands: a CSV file, large cities, or a grid over a box."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bipartite.cli.arguments import ARE_PUBLIC, add_are_public
from bipartite.errors import DataFileError, DomainError, InputError
from bipartite.locations import cities, grid, places
from bipartite.tables.place_files import PlaceFile
from bipartite.tables.public_places import check_public

if TYPE_CHECKING:
    import argparse

    from bipartite.domains import Points

_LABEL: Final = ("label", "name", "place", "id")
CITIES: Final = "cities"


@dataclass(frozen=True, slots=True)
class Listed:
    """Places, and their source in words."""

    places: Points
    source: str
    credit: str = ""
    """The source that every map of it must name."""


def add_places(parser: argparse.ArgumentParser, data_sets: str = "cities: a hundred large cities of the world") -> None:
    """Add the options that name a list of places."""
    listed = parser.add_argument_group(
        "the places (FILE, --dataset or --box): public, never the positions of the people who report"
    )
    listed.add_argument(
        "file",
        metavar="FILE.csv",
        nargs="?",
        type=Path,
        help="columns lat, lon and optionally label; with or without a header",
    )
    listed.add_argument("--dataset", metavar="NAME", help=data_sets)
    listed.add_argument(
        "--box",
        metavar="S,W,N,E",
        help="a grid over this box in degrees, with --metres; write --box=-5,… if south is negative",
    )
    listed.add_argument("--metres", metavar="M", type=float, help="the largest height and width of a cell of the grid")
    listed.add_argument(
        "--merge", dest="merge_within", metavar="METRES", type=float, help="merge places that are closer than this"
    )
    add_are_public(listed)
    parser.set_defaults(places_of=places_of)


def places_of(options: argparse.Namespace) -> Listed:
    """The places that the options name."""
    if sum(each is not None for each in (options.file, options.dataset, options.box)) != 1:
        raise InputError(
            "Expected exactly one of FILE.csv, --dataset NAME, or --box with --metres; try --dataset cities."
        )
    if (options.box is None) != (options.metres is None):
        raise InputError(
            "Expected --box and --metres together, for a grid; for example --box 52.3,13.0,52.7,13.8 --metres 5000."
        )
    if options.box is not None:
        return _of_box(options)
    if options.dataset not in {None, CITIES}:
        raise InputError(
            f"Expected --dataset cities, got {options.dataset!r}; name a FILE.csv for other places; the data "
            "sets of the paper are in: python -m reproduction locations."
        )
    return _of_cities(options) if options.file is None else _of_file(options)


def _of_file(options: argparse.Namespace) -> Listed:
    path: Path = options.file
    table = PlaceFile.read(path, _LABEL)
    coordinates = table.coordinates()
    if not options.places_are_public:
        check_public(path, table.names, table.lines, coordinates, ARE_PUBLIC)
    try:
        found = places(coordinates, table.labels(), merge_within=options.merge_within)
    except DomainError as error:
        raise DataFileError(f"{path}: {error}") from None
    return Listed(found, str(path))


def _of_cities(options: argparse.Namespace) -> Listed:
    table = cities()
    found = places(table.coordinates, table.names, merge_within=options.merge_within)
    return Listed(found, CITIES, "GeoNames, CC BY 4.0, a selection")


def _of_box(options: argparse.Namespace) -> Listed:
    if options.merge_within is not None:
        raise InputError("--merge is for a FILE; leave it out with --box.")
    try:
        box = [float(each) for each in options.box.split(",")]
    except ValueError:
        raise InputError(
            f"Expected --box as four numbers, south, west, north and east in degrees, got {options.box!r}."
        ) from None
    found = grid(box, metres=options.metres)
    return Listed(found, f"grid of at most {options.metres:g} m")
