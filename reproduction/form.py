"""The form of an experiment: a grid of settings, a function that measures one point of it, tidy rows, a figure.

A module of ``reproduction.experiments`` has four names: ``FULL`` and ``QUICK``, its grids; ``measure``, which takes one
point of a grid as keywords and gives rows; and ``draw``, which makes pictures of all rows. ``NOTE`` may say something
below them. :mod:`reproduction.registry` lists the modules, with what each needs.
"""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import pandas as pd

Block = Mapping[Any, tuple[Any, ...]]  # by the name of an axis, or by several names

Value = str | int | float | bool
Point = dict[str, Any]
"""The settings of one independent part of a run: keywords of ``measure``."""
Row = dict[str, Value]
"""One measured number with its settings: a column each."""
SEED: Final = "seed"


@dataclass(frozen=True)
class Grid:
    """Every combination of the values of its axes, the first axis slowest; ``a + b`` has the points of both.

    Several names share an axis whose values are then tuples.

    >>> list(Grid(points=(20, 40), epsilon=("1",)) + Grid(points=(100,), epsilon=("2",)))[1:]
    [{'points': 40, 'epsilon': '1'}, {'points': 100, 'epsilon': '2'}]
    >>> list(Grid({"seed": (0,), ("mechanism", "epsilon"): (("none", "0"), ("BRR", "5"))}))[1:]
    [{'seed': 0, 'mechanism': 'BRR', 'epsilon': '5'}]
    """

    blocks: tuple[Block, ...]

    def __init__(self, *blocks: Block, **axes: tuple[Any, ...]) -> None:
        object.__setattr__(self, "blocks", blocks or (axes,))

    def __add__(self, other: Grid) -> Grid:
        return Grid(*self.blocks, *other.blocks)

    def __iter__(self) -> Any:  # noqa: ANN401 (an iterator of points)
        for block in self.blocks:
            for values in itertools.product(*block.values()):
                yield dict(itertools.chain(*map(_each, block, values)))

    def but(self, **axes: tuple[Any, ...]) -> Grid:
        """The same grid with other values on these axes, where a block has them."""
        other: dict[Any, tuple[Any, ...]] = dict(axes)
        return Grid(*({name: other.get(name, values) for name, values in block.items()} for block in self.blocks))

    def seeds(self, count: int) -> Grid:
        """The same grid with so many seeds, from 0."""
        return self.but(**{SEED: tuple(range(count))})

    def axes(self) -> dict[str, list[Any]]:
        """The values of every axis, each once."""
        found: dict[str, dict[Any, None]] = {}
        for block in self.blocks:
            for names, values in block.items():
                for name, value in itertools.chain(*(_each(names, value) for value in values)):
                    found.setdefault(name, {})[value] = None
        return {name: list(values) for name, values in found.items()}


def _each(names: str | tuple[str, ...], value: Any) -> Iterable[tuple[str, Any]]:  # noqa: ANN401 (of any axis)
    return zip(names, value, strict=True) if isinstance(names, tuple) else [(names, value)]


class Experiment(Protocol):
    """A module of ``reproduction.experiments``."""

    FULL: Grid
    QUICK: Grid

    def measure(self, **point: Any) -> Iterable[Row]:  # noqa: ANN401 (its own settings)
        """Tidy rows of one point."""

    def draw(self, rows: pd.DataFrame, /) -> dict[str, str]:
        """Pictures by name, as SVG."""


def plain(rows: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Rows as they come back from a file, so that a first run and a continued one are equal."""
    found: list[Row] = json.loads(json.dumps(list(rows), default=lambda value: value.item()))
    return found


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Tidy rows as CSV: every column that some row has, in order of appearance."""
    held = io.StringIO()
    writer = csv.DictWriter(held, list(dict.fromkeys(itertools.chain(*rows))), lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(rows)
    return held.getvalue()


def frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a table. They pass through CSV, so that a run and the files that it leaves read alike."""
    return table_of(as_csv(rows))


def table_of(text: str) -> pd.DataFrame:
    """A table from CSV: an empty cell is none, numbers are numbers to the last bit, and all other words stay words."""
    return pd.DataFrame(
        [{name: _value(cell) for name, cell in row.items()} for row in csv.DictReader(io.StringIO(text, newline=""))]
    )


def _value(cell: str) -> Value | None:
    if cell in {"", "True", "False"}:
        return {"": None, "True": True, "False": False}[cell]
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(cell)
    return cell
