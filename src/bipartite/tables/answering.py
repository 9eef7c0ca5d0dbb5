"""Estimates from a released file, which carries the specs of its reports; only their counts are kept in memory."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bipartite.answers.estimation import Estimates
from bipartite.answers.estimation.estimating import from_tally
from bipartite.answers.estimation.methods import check_method
from bipartite.errors import DataFileError, InputError, SpecError, shown
from bipartite.tables.collecting import Asked
from bipartite.tables.counting import count_reports
from bipartite.tables.envelopes import Envelopes
from bipartite.tables.extras import need, pa, without_lines
from bipartite.tables.formats import Format, files_named, format_of, local, side_file
from bipartite.tables.metadata import METADATA_KEY, Described, carried_in, parts_in
from bipartite.tables.sources import open_arrow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.answers.estimation import Estimate
    from bipartite.answers.estimation.methods import Method
    from bipartite.tables.counting import Counted


@dataclass(frozen=True, slots=True)
class Answers:
    """The estimates from a released file."""

    about: Described
    by: str | None
    columns: dict[str, dict[str | None, Estimate]]
    """For each private column the estimate of each group, or of all rows under None."""
    unreported: dict[str, int]
    """For each private column the number of rows without a report, which are left out."""

    def estimates(self, column: str) -> Estimate | Estimates:
        """The estimate of a column, or one per group."""
        found = self.columns[column]
        return found[None] if self.by is None else Estimates(found)


# A command reads the same description more than once, and one with thousands of categories takes a second.
_described = functools.lru_cache(maxsize=1)(Described.from_json)


def carried_by(path: Path) -> Described | None:
    """The description that a file or Spark folder carries, or that its side file holds; None if there is none."""
    if path.is_dir():
        return carried_in(path)
    written = _format(path)
    if written is None or not path.is_file():
        return None
    if written.is_text:
        side = side_file(path)
        return _described(side.read_bytes()) if side.is_file() else None
    return _embedded(path, written)


def _embedded(path: Path, written: Format) -> Described | None:
    try:
        if written.kind == "parquet":
            metadata = need("pyarrow.parquet").read_metadata(path).metadata
        else:
            metadata = open_arrow(path, written).schema.metadata
    except (pa.ArrowInvalid, OSError):
        raise DataFileError(
            f"{path} cannot be read; it may be truncated, or not of the kind its name suggests."
        ) from None
    held = (metadata or {}).get(METADATA_KEY)
    return None if held is None else _described(held)


def carried_by_all(paths: Sequence[Path]) -> Described | None:
    """The release that all files carry; None if none carries any."""
    found = {path: carried_by(path) for path in paths}
    held = {path: each for path, each in found.items() if each is not None}
    if not held:
        return None
    without = [path for path in found if path not in held]
    first, about = next(iter(held.items()))
    if without:
        raise SpecError(f"{without[0]} carries no specs, but {first} does; pass those of all files with release=.")
    for path, each in held.items():
        if (each.mechanisms, each.sample) != (about.mechanisms, about.sample):
            raise SpecError(
                f"The reports in {first} and {path} were drawn with different specs; estimate each separately."
            )
    publishes = tuple(dict.fromkeys(line for each in held.values() for line in each.publishes))
    clipped = frozenset().union(*(each.clipped for each in held.values()))
    marked = next((each for each in held.values() if each.insecure), about)
    return replace(marked, publishes=publishes, clipped=clipped)


def insecure_by(paths: Sequence[Path]) -> bool | None:
    """Whether a file states that its reports were drawn from known words; None if some files do not say."""
    said = {None if each is None else each.insecure for each in map(carried_by, paths)}
    return True if True in said else False if said == {False} else None


@without_lines
def estimate_file(
    path: str | Path | Sequence[str | Path],
    *,
    release: Described | None = None,
    by: str | None = None,
    columns: list[str] | None = None,
    method: Method = "auto",
) -> Answers:
    """Estimate every private column of a released file, or the named ones, with error bars.

    Parameters
    ----------
    path
        A file that ``bipartite privatize`` wrote, with its specs inside or in a side file; or several files of one
        format with the same specs, which are counted together: a list, a folder, a pattern.
    release
        The description of the release, if the files do not carry it. A file that says it is not private is still
        believed.
    by
        A public column of groups: one estimate for each.
    columns
        The private columns to estimate; None for all.
    method
        As in :func:`bipartite.estimate`.
    """
    paths = files_at([path] if isinstance(path, (str, Path)) else path)
    about = carried_by_all(paths) if release is None else release
    if about is None:
        raise SpecError(no_specs(paths[0]))
    if release is not None and insecure_by(paths):
        about = replace(about, insecure=True)
    wanted = list(about.mechanisms) if columns is None else columns
    check_asked(about, wanted, by)
    check_method(method)
    files, written = files_of(paths)
    envelopes = Envelopes.of_record(about.mechanisms) if written.kind == "jsonl" else None
    asked = Asked({name: about.mechanisms[name] for name in wanted}, by, envelopes=envelopes, sample=about.sample)
    counted = count_reports(files, written, asked)
    found = {str(name): estimates_of(name, each, method) for name, each in counted.items()}
    return Answers(about, by, found, {str(name): each.unreported for name, each in counted.items()})


def estimates_of(name: str | None, counted: Counted, method: Method = "auto") -> dict[str | None, Estimate]:
    """The estimate of every group of a column; nothing is computed yet."""
    if all(sums.empty for sums in counted.groups.values()):
        what = "There are" if name is None else f"column {name!r} has"
        raise DataFileError(f"{what} no reports, so nothing can be estimated; pass at least one.")
    found: dict[str | None, Estimate] = {}
    for label, sums in counted.groups.items():
        if sums.empty:
            raise DataFileError(
                f"All weights of the group {label!r} are 0, so nothing can be estimated for it; leave it out."
            )
        found[label] = from_tally(sums.counts.mechanism, sums.tally, method)
    return found


def no_specs(path: Path) -> str:
    """Message for a file without specs."""
    side = "" if path.is_dir() else f" and has no side file {side_file(path).name}"
    return f"{path} carries no specs{side}; pass those that its reports were drawn with: release=."


def files_at(names: Sequence[str | Path]) -> list[Path]:
    """The files that names, folders and patterns refer to; a release in parts stays one folder."""
    found: list[Path] = []
    for name in map(str, names):
        path = Path(local(name))
        found += [path] if path.is_dir() and parts_in(path) else files_named(name)
    return found


def files_of(paths: Sequence[Path]) -> tuple[list[Path], Format]:
    """(all files, their common format); CSV if the name does not tell."""
    files = [file for path in paths for file in (parts_in(path) if path.is_dir() else [path])]
    formats = {_format(file) or Format("csv"): file for file in reversed(files)}
    if len(formats) > 1:
        one, other = list(formats.values())[-2:]
        raise InputError(
            f"Expected files of one format to count together, got {other} and {one}; estimate each separately."
        )
    return files, next(iter(formats))


def _format(path: Path) -> Format | None:
    """The format that a name indicates, if any."""
    try:
        return format_of(str(path), None, "input_format")
    except InputError:
        return None


def check_asked(about: Described, wanted: list[str], by: str | None, weights: str | None = None) -> None:
    """Refuse to estimate a column that is not private, or to group or weigh by one that is not public."""
    unknown = [name for name in wanted if name not in about.mechanisms]
    if unknown:
        there = ", ".join(map(repr, about.mechanisms))
        raise InputError(f"Expected a private column of the release, got {shown(unknown[0])}; it has {there}.")
    for what, name in (("groups", by), ("weights", weights)):
        if name is not None and name not in about.public:
            there = ", ".join(map(repr, about.public)) or "none"
            raise InputError(f"Expected a public column for the {what}, got {name!r}; the release has {there}.")
