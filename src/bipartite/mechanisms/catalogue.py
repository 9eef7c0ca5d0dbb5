"""The catalogue of mechanisms: the name, class, purpose and spec version of each, and the rows of a comparison.

``bp``, ``from_spec``, the command line, plans, ``compare``, pictures, docs and tests read this list, and load a class
on first use. A new mechanism needs one file, one entry here (or one call to `register`) and one test.
"""

# Annotations are evaluated here: as strings they would triple the import time of bipartite's list of names.
import importlib
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from bipartite.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bipartite.mechanisms.base import Mechanism

Family = Literal["neighbours", "rival", "number", "given", "flat", "regions"]
"""``neighbours``: for values of which some are closer than others. ``rival``: the same, for comparison. ``number``:
reports numbers, possibly outside the range. ``given``: a matrix given by the user. ``flat``: categories, all equally
far apart. ``regions``: rows on places that ``reproduction.places`` designs, and specs describe."""
Where = Literal["any", "line", "interval", "regions"]
"""The domains that a mechanism accepts; ``interval`` also accepts integers, as an interval with the same nodes."""
Reports = Literal["release", "padded", "number", "flat"]
"""``release``: values of the domain. ``padded``: a centred window, for statistics. ``number``: numbers that need not be
values. ``flat``: sets or hashes, from which only shares can be estimated."""
Work = Literal["closed", "rows", "table", "anchors", "means", "program"]
"""The work to build a mechanism: none, its rows, a table of N² entries, a search for anchors, a linear program for
means or for releases."""

_NONE: Final[MappingProxyType[str, Any]] = MappingProxyType({})


class Form(NamedTuple):
    """One way to build a mechanism, which is one row of a comparison."""

    label: str
    options: "Mapping[str, object]" = _NONE
    prior: bool = False
    """Whether it is built for the prior of the comparison."""
    reports: Reports = "release"
    work: Work = "closed"


class Entry(NamedTuple):
    """One mechanism."""

    name: str
    """The name in the command line, in plans and in specs."""
    home: "str | type[Mechanism]"
    """The class, or the module and name of a class in this package, loaded on first use."""
    purpose: str
    family: Family
    version: int | None
    """The version of its spec; None if it shares the spec of its base class."""
    where: Where = "any"
    prior: bool = False
    """Whether its design takes a prior (BRR's does with ``m="best"``)."""
    epsilon: bool = True
    """Whether it spends any ε."""
    forms: tuple[Form, ...] = ()

    @property
    def kind(self) -> str:
        """The name of its class."""
        return self.home.rpartition(".")[2] if isinstance(self.home, str) else self.home.__name__

    @property
    def module(self) -> str:
        """The module of its class."""
        return self.home.rpartition(".")[0] if isinstance(self.home, str) else self.home.__module__

    def load(self) -> Any:  # noqa: ANN401 (a class, whose parameters are its own)
        """Its class."""
        return getattr(importlib.import_module(self.module), self.kind) if isinstance(self.home, str) else self.home


_HERE: Final = "bipartite.mechanisms"
_FLAT: Final = f"{_HERE}.categories"
# A table, in the order of a comparison.
# fmt: off
_ENTRIES: Final = [
    Entry("grr", f"{_HERE}.grr.GRR",
          "the true value with one probability, every other with another: for categories, and as a benchmark",
          "rival", 2, forms=(Form("GRR"),)),
    Entry("brr", f"{_HERE}.brr.BRR",
          "a near value: no value does worse than under GRR; padded, the choice for statistics",
          "neighbours", 1, forms=(
              Form("BRR, safe m"),
              Form("BRR, best m", {"m": "best"}, prior=True),
              Form("BRR, padded", {"edges": "padded"}, reports="padded"),
              Form("BRR, padded, mean", {"m": "mean", "edges": "padded"}, reports="padded"),
              Form("BRR, padded, CDF", {"m": "cdf", "edges": "padded"}, reports="padded"),
              Form("BRR, padded, shares", {"m": "histogram", "edges": "padded"}, reports="padded"))),
    Entry("square-wave", f"{_HERE}.brr.SquareWave",
          "the distribution of numbers: a padded BRR with the authors' window",
          "rival", None, "line", forms=(Form("Square Wave", reports="padded"),)),
    Entry("geometric", f"{_HERE}.noise.Geometric", "integers plus noise, clamped to the range",
          "rival", 2, "line", forms=(Form("Geometric, clamped", work="rows"),)),
    Entry("exponential", f"{_HERE}.exponential.Exponential", "reports of smaller loss are likelier, for any loss",
          "rival", 2, forms=(Form("Exponential, published", {"variant": "published"}, work="table"),
                             Form("Exponential, tight", work="table"))),
    Entry("laplace", f"{_HERE}.noise.Laplace", "numbers plus Laplace noise, on a grid",
          "number", 2, "interval", forms=(Form("Laplace, clamped", {"clamped": True}, work="rows"),
                                          Form("Laplace, raw", reports="number", work="rows"))),
    Entry("staircase", f"{_HERE}.noise.Staircase", "numbers plus the noise of least mean magnitude",
          "number", 2, "interval", forms=(Form("Staircase, raw", reports="number", work="rows"),)),
    Entry("duchi", f"{_HERE}.unbiased.Duchi", "means of numbers: one of two reports, unbiased; for small ε",
          "number", 2, "interval", forms=(Form("Duchi", reports="number", work="rows"),)),
    Entry("piecewise", f"{_HERE}.unbiased.Piecewise",
          "means of numbers: a window that slides with the value, unbiased; for large ε",
          "number", 2, "interval", forms=(Form("Piecewise", reports="number", work="rows"),)),
    Entry("hybrid", f"{_HERE}.unbiased.Hybrid", "means of numbers: Piecewise or Duchi at random, unbiased",
          "number", 2, "interval", forms=(Form("Hybrid", reports="number", work="table"),)),
    Entry("anchored", f"{_HERE}.anchored.Anchored",
          "the least expected loss for a prior: GRR on a few chosen values, with a certified gap",
          "neighbours", 2, prior=True, forms=(Form("Anchored", prior=True, work="anchors"),)),
    Entry("minimax", f"{_HERE}.anchored.Minimax",
          "the least worst-case loss: GRR on a set of chosen values, drawn for every report",
          "neighbours", 5, forms=(Form("Minimax", work="program"),)),
    Entry("anchored-means", f"{_HERE}.anchored.AnchoredMeans",
          "the least expected squared loss for a prior: GRR on bins, each reported as its mean",
          "number", 5, "line", prior=True),
    Entry("optimal", f"{_HERE}.optimal.Optimal",
          "the least expected loss of all, by linear programming; for small domains",
          "neighbours", 2, prior=True, forms=(
              Form("Optimal", prior=True, work="program"),
              Form("Optimal, unbiased", {"unbiased": True}, prior=True, reports="number", work="means"))),
    Entry("constant", f"{_HERE}.constant.Constant",
          "always the same answer, which reveals nothing: the baseline that any report must beat",
          "rival", 2, prior=True, epsilon=False),
    Entry("custom", f"{_HERE}.custom.Custom",
          "a mechanism of your own: a matrix of probabilities, checked and drawn exactly", "given", 2),
    *(
        Entry(name, f"{_FLAT}.{home}", purpose, "flat", 3, forms=(Form(label, reports="flat"),) if label else ())
        for name, home, label, purpose in (
            ("oue", "unary.OUE", "OUE", "a bit for each category; the least error for rare ones"),
            ("sue", "unary.SUE", "SUE", "a bit for each category, each true with the same probability"),
            ("olh", "olh.OLH", "OLH", "a hash of the category: few bytes for very many categories"),
            ("subset-selection", "subset_selection.SubsetSelection", "Subset Selection", "a set of categories"),
            ("hadamard-response", "hadamard.HadamardResponse", "Hadamard Response", "one number; fast to count"),
            ("rappor", "unary.RAPPOR", "", "a bit for each category, from a noisy answer that is kept and reused"),
        )
    ),
    *(
        Entry(name, f"{_HERE}.rows_of_places.{kind}", f"{purpose}; only read from specs", "regions", version, "regions")
        for name, kind, version, purpose in (
            ("lsrr", "LSRR", 2, "places: reports in the same map tile are likelier"),
            ("two-level", "TwoLevel", 4, "a region first, then a near place in it"),
            ("region-weighted", "RegionWeighted", 4, "a higher probability for every place of the true region"),
        )
    ),
]
# fmt: on
_BUILT_IN: Final = frozenset(each.name for each in _ENTRIES)


def entries() -> tuple[Entry, ...]:
    """All mechanisms, in the order of a comparison."""
    return tuple(_ENTRIES)


def register(entry: Entry) -> None:
    """Add a mechanism to specs, commands, plans, comparisons and pictures.

    `verify`, specs, records and plans compute its ε from the tickets that its class states, and trust the class. Test
    it as ``tests/mechanisms/test_conformance.py`` does before anyone reports with it.
    """
    if re.fullmatch("[a-z][a-z0-9]*(-[a-z0-9]+)*", str(entry.name)) is None:
        raise InputError(
            f"Expected a name of small letters, digits and hyphens, got {entry.name!r}; such as 'square-wave'."
        )
    if any(entry.name == known.name for known in _ENTRIES):
        raise InputError(f"Expected a new name, got {entry.name!r}, which another mechanism has; choose another.")
    if any((entry.module, entry.kind) == (known.module, known.kind) for known in _ENTRIES):
        raise InputError(
            "Expected a class of its own, got that of another mechanism, whose specs would change; derive from it."
        )
    _ENTRIES.append(entry)


def unregister(name: str) -> None:
    """Take a registered mechanism out again: only what still holds its class can use it."""
    if name in _BUILT_IN:
        raise InputError(f"Expected a mechanism that was registered, got {name!r}, which is built in; leave it.")
    _ENTRIES[:] = [each for each in _ENTRIES if each.name != name]


def is_built_in(kind: "type[Mechanism]") -> bool:
    """Whether a class belongs to this package, whose classes check their own promise."""
    return kind.__module__.startswith(f"{_HERE}.")


def by_column() -> dict[str, Entry]:
    """The mechanisms whose reports fit one column, by name, in alphabetical order."""
    fit = {each.name: each for each in _ENTRIES if each.family not in {"given", "flat", "regions"}}
    return dict(sorted(fit.items()))


def by_table() -> dict[str, Entry]:
    """The mechanisms that a plan may name, in alphabetical order; not RAPPOR, which needs the memory of a device."""
    fit = {each.name: each for each in _ENTRIES if each.family != "regions" and each.name != "rappor"}
    return dict(sorted(fit.items()))


def by_spec(version: int) -> dict[str, Entry]:
    """The mechanisms with a spec of this version, by name."""
    return {each.name: each for each in _ENTRIES if each.version == version}


def entry_of(kind: "type[Mechanism]") -> Entry:
    """The entry of this class or of its nearest base class."""
    return _nearest(kind, {each.home: each for each in _ENTRIES})


def written_as(kind: "type[Mechanism]") -> Entry:
    """The entry under which a spec describes mechanisms of this class: its own, or that of a base class."""
    return _nearest(kind, {each.home: each for each in _ENTRIES if each.version is not None})


def _nearest(kind: "type[Mechanism]", own: "Mapping[Any, Entry]") -> Entry:
    homes = (home for base in kind.__mro__ for home in (base, f"{base.__module__}.{base.__name__}"))
    found = next((own[home] for home in homes if home in own), None)
    if found is None:
        raise InputError(
            f"Expected a mechanism of the catalogue, got {kind.__name__}, which is not in it; call "
            "bipartite.mechanisms.catalogue.register(Entry(…)) first."
        )
    return found
