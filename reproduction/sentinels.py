"""Sentinels: a few cheap cells of every experiment, whose rows are written down and measured again by a test.

A row that changed is either a mistake, or wanted: then the version of its experiment is raised by hand in
:mod:`~reproduction.registry`, and ``python -m reproduction.sentinels`` writes the new rows. It writes those of raised
versions only. Running times have no sentinels.
"""

import contextlib
import json
import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from unittest import mock

from bipartite.files import write_atomically
from reproduction.form import Row, Value, plain
from reproduction.registry import EXPERIMENTS, named

FILE: Final = Path(__file__).with_suffix(".json")
TOLERANCES: Final[Mapping[str, float]] = dict.fromkeys(("sgd", "sgd_readings", "sgd_mlp", "dnn", "dnn_readings"), 1e-6)
"""How far a number of a trained network may lie from the one written down, relatively: its sums have no one order."""
_TOLERANCE: Final = 1e-9
"""The same for all others."""


def held() -> dict[str, Any]:
    """By experiment: the version that measured, and its cells with their rows."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def write(found: Mapping[str, Any]) -> None:
    """Write the file, a line for each cell."""
    lines = []
    for name, sentinels in found.items():
        cells = ",\n".join(json.dumps(each, ensure_ascii=False) for each in sentinels["cells"])
        lines.append(f'"{name}": {{"version": {sentinels["version"]}, "cells": [\n{cells}\n]}}')
    write_atomically(FILE, "{\n" + ",\n".join(lines) + "\n}\n")


def measured_again(name: str, plain_point: Mapping[str, Any]) -> list[Row]:
    """The rows of a cell as they are now; networks are trained in float64, where the order of sums hardly matters."""
    module = named([name])[0].load()
    point = {axis: tuple(each) if isinstance(each, list) else each for axis, each in plain_point.items()}
    with _in_float64() if name in TOLERANCES else contextlib.nullcontext():
        return plain(module.measure(**point))


def is_same(name: str, one: Mapping[str, Value], other: Mapping[str, Value]) -> bool:
    """Whether two rows are equal, but for the last digits of numbers."""
    return one.keys() == other.keys() and all(
        math.isclose(value, seen, rel_tol=TOLERANCES.get(name, _TOLERANCE)) or (math.isnan(value) and math.isnan(seen))
        if isinstance(value, float) and isinstance(seen, float)
        else value == seen
        for value, seen in zip(one.values(), (other[column] for column in one), strict=True)
    )


@contextlib.contextmanager
def _in_float64() -> Iterator[None]:
    import torch  # noqa: PLC0415 (for those that need it)

    from reproduction.experiments import dnn_readings, sgd_training  # noqa: PLC0415
    from reproduction.learning.network_training import network_inputs  # noqa: PLC0415

    def inputs(*given: Any) -> Any:  # noqa: ANN401
        return network_inputs(*given).astype("float64")

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    kept = (sgd_training.load, dnn_readings.loaded)
    for each in kept:
        each.cache_clear()
    try:
        with (
            mock.patch("reproduction.experiments.dnn.network_inputs", inputs),
            mock.patch("reproduction.experiments.dnn_readings.network_inputs", inputs),
        ):
            yield
    finally:
        torch.set_default_dtype(before)
        for each in kept:
            each.cache_clear()


def main() -> int:
    """Write the rows of experiments whose version was raised, and say which they are."""
    found = held()
    for entry in EXPERIMENTS:
        sentinels = found.get(entry.name)
        if sentinels is not None and sentinels["version"] != entry.version:
            sentinels["version"] = entry.version
            for each in sentinels["cells"]:
                each["rows"] = measured_again(entry.name, each["cell"])
            sys.stderr.write(f"{entry.name}: version {entry.version}\n")
    write(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
