"""The catalogue of mechanisms: the name, class, purpose, spec version and plotting style of each.

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

    from bipartite.mechanisms.certified import Certified

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
BRR_BLUE: Final = "#1f5fa8"
BRR_FAR_BLUE: Final = "#9dbfe3"
GRR_GREY: Final = "#8a8a8a"
GRR_DASH: Final = "5 3"
LAPLACE_RED: Final = "#c2410c"
_BROWN: Final = "#b5651d"
_PINK: Final = "#be185d"


class Look(NamedTuple):
    """How a mechanism is plotted: by colour, and in grey by dash pattern, line width and marker."""

    colour: str
    width: float
    dash: str = ""
    mark: str = "dot"


class Form(NamedTuple):
    """One way to build a mechanism, which is one row of a comparison."""

    label: str
    look: Look | None = None
    """None for one of the spare line styles."""
    options: "Mapping[str, object]" = _NONE
    prior: bool = False
    """Whether it is built for the prior of the comparison."""
    reports: Reports = "release"
    work: Work = "closed"


class Entry(NamedTuple):
    """One mechanism."""

    name: str
    """The name in the command line, in plans and in specs."""
    home: "str | type[Certified]"
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
    looks: "Mapping[str, Look]" = _NONE
    """How it is plotted under names other than those of its forms."""

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
# In the order of a comparison.
_ENTRIES: Final = [
    Entry(
        "grr",
        f"{_HERE}.grr.GRR",
        "the true value with one probability, every other with another: for categories, and as a benchmark",
        "rival",
        2,
        forms=(Form("GRR", Look(GRR_GREY, 2, GRR_DASH, "hollow dot")),),
    ),
    Entry(
        "brr",
        f"{_HERE}.brr.BRR",
        "a near value: no value does worse than under GRR; padded, the choice for statistics",
        "neighbours",
        1,
        forms=(
            Form("BRR, safe m", Look(BRR_BLUE, 2.4)),
            Form("BRR, best m", Look(BRR_FAR_BLUE, 2.4, mark="hollow dot"), {"m": "best"}, prior=True),
            *(
                Form(f"BRR, padded{label}", look, {**m, "edges": "padded"}, reports="padded")
                for label, look, m in (
                    ("", Look(BRR_BLUE, 2, "7 3", "hollow dot"), {}),
                    (", mean", Look(BRR_BLUE, 2, "3 2"), {"m": "mean"}),
                    (", CDF", Look(BRR_BLUE, 2, "10 3 2 3"), {"m": "cdf"}),
                    (", shares", Look(BRR_FAR_BLUE, 2, "3 2"), {"m": "histogram"}),
                )
            ),
        ),
        looks={"BRR": Look(BRR_BLUE, 2.6)},
    ),
    Entry(
        "square-wave",
        f"{_HERE}.square_wave.SquareWave",
        "the distribution of numbers: a padded BRR with the authors' window",
        "rival",
        None,
        "line",
        forms=(Form("Square Wave", Look("#0e7490", 1.8), reports="padded"),),
    ),
    Entry(
        "geometric",
        f"{_HERE}.geometric.Geometric",
        "integers plus noise, clamped to the range",
        "rival",
        2,
        "line",
        forms=(Form("Geometric, clamped", Look(_PINK, 1.6, "9 3 2 3"), work="rows"),),
        looks={"Geometric": Look(_PINK, 1.6, "9 3 2 3", "down")},
    ),
    Entry(
        "exponential",
        f"{_HERE}.exponential.Exponential",
        "reports of smaller loss are likelier, for any loss",
        "rival",
        2,
        forms=(
            Form("Exponential, published", Look(_BROWN, 1.8), {"variant": "published"}, work="table"),
            Form("Exponential, tight", Look(_BROWN, 1.8, "8 3 2 3", "hollow triangle"), work="table"),
        ),
        looks={"Exponential": Look(_BROWN, 1.8, mark="triangle")},
    ),
    Entry(
        "laplace",
        f"{_HERE}.laplace.Laplace",
        "numbers plus Laplace noise, on a grid",
        "number",
        2,
        "interval",
        forms=(
            Form("Laplace, clamped", Look(LAPLACE_RED, 1.8, mark="hollow diamond"), {"clamped": True}, work="rows"),
            Form("Laplace, raw", Look(LAPLACE_RED, 1.8, "6 2"), reports="number", work="rows"),
        ),
        looks={"Laplace": Look(LAPLACE_RED, 1.8, "6 2", "diamond")},
    ),
    Entry(
        "staircase",
        f"{_HERE}.staircase.Staircase",
        "numbers plus the noise of least mean magnitude",
        "number",
        2,
        "interval",
        forms=(Form("Staircase, raw", Look("#475569", 1.5), reports="number", work="rows"),),
    ),
    Entry(
        "duchi",
        f"{_HERE}.duchi.Duchi",
        "means of numbers: one of two reports, unbiased; for small ε",
        "number",
        2,
        "interval",
        forms=(Form("Duchi", Look("#7f1d1d", 1.5, "2 2", "hollow down"), reports="number", work="rows"),),
    ),
    Entry(
        "piecewise",
        f"{_HERE}.piecewise.Piecewise",
        "means of numbers: a window that slides with the value, unbiased; for large ε",
        "number",
        2,
        "interval",
        forms=(Form("Piecewise", Look("#0f766e", 1.5, "9 2", "triangle"), reports="number", work="rows"),),
    ),
    Entry(
        "hybrid",
        f"{_HERE}.hybrid.Hybrid",
        "means of numbers: Piecewise or Duchi at random, unbiased",
        "number",
        2,
        "interval",
        forms=(Form("Hybrid", Look("#a16207", 1.5, "6 2 1 2", "hollow triangle"), reports="number", work="table"),),
    ),
    Entry(
        "anchored",
        f"{_HERE}.anchored.Anchored",
        "the least expected loss for a prior: GRR on a few chosen values, with a certified gap",
        "neighbours",
        2,
        prior=True,
        forms=(Form("Anchored", Look("#2e7d32", 2.4, mark="hollow square"), prior=True, work="anchors"),),
    ),
    Entry(
        "minimax",
        f"{_HERE}.minimax.Minimax",
        "the least worst-case loss: GRR on a set of chosen values, drawn for every report",
        "neighbours",
        5,
        forms=(Form("Minimax", Look("#2e7d32", 1.8, "3 2", "square"), work="program"),),
    ),
    Entry(
        "anchored-means",
        f"{_HERE}.anchored_means.AnchoredMeans",
        "the least expected squared loss for a prior: GRR on bins, each reported as its mean",
        "number",
        5,
        "line",
        prior=True,
    ),
    Entry(
        "optimal",
        f"{_HERE}.optimal.Optimal",
        "the least expected loss of all, by linear programming; for small domains",
        "neighbours",
        2,
        prior=True,
        forms=(
            Form("Optimal", prior=True, work="program"),
            Form(
                "Optimal, unbiased",
                Look("#1e293b", 1.8, "8 2 2 2", "hollow square"),
                {"unbiased": True},
                prior=True,
                reports="number",
                work="means",
            ),
        ),
    ),
    Entry(
        "constant",
        f"{_HERE}.constant.Constant",
        "always the same answer, which reveals nothing: the baseline that any report must beat",
        "rival",
        2,
        prior=True,
        epsilon=False,
    ),
    Entry(
        "custom",
        f"{_HERE}.custom.Custom",
        "a mechanism of your own: a matrix of probabilities, checked and drawn exactly",
        "given",
        2,
        looks={"Custom": Look("#334155", 2, "2 3", "square")},
    ),
    *(
        Entry(name, f"{_FLAT}.{home}", purpose, "flat", 3, forms=(Form(label, reports="flat"),) if label else ())
        for name, home, label, purpose in (
            ("oue", "oue.OUE", "OUE", "a bit for each category; the least error for rare ones"),
            ("sue", "sue.SUE", "SUE", "a bit for each category, each true with the same probability"),
            ("olh", "olh.OLH", "OLH", "a hash of the category: few bytes for very many categories"),
            ("subset-selection", "subset_selection.SubsetSelection", "Subset Selection", "a set of categories"),
            ("hadamard-response", "hadamard.HadamardResponse", "Hadamard Response", "one number; fast to count"),
            ("rappor", "rappor.RAPPOR", "", "a bit for each category, from a noisy answer that is kept and reused"),
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


def is_built_in(kind: "type[Certified]") -> bool:
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


def entry_of(kind: "type[Certified]") -> Entry:
    """The entry of this class or of its nearest base class."""
    return _nearest(kind, {each.home: each for each in _ENTRIES})


def written_as(kind: "type[Certified]") -> Entry:
    """The entry under which a spec describes mechanisms of this class: its own, or that of a base class."""
    return _nearest(kind, {each.home: each for each in _ENTRIES if each.version is not None})


def _nearest(kind: "type[Certified]", own: "Mapping[Any, Entry]") -> Entry:
    homes = (home for base in kind.__mro__ for home in (base, f"{base.__module__}.{base.__name__}"))
    return next(own[home] for home in homes if home in own)


def look_of(label: str) -> Look | None:
    """How the mechanism with this label is plotted; None if there is none."""
    looks = {name: look for each in _ENTRIES for name, look in each.looks.items()}
    looks |= {form.label: form.look for each in _ENTRIES for form in each.forms if form.look is not None}
    return looks.get(label)
