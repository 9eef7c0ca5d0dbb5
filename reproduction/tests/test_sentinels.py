"""No row changes without a new version of its experiment (reproduction.sentinels.py)."""

import json

import pandas as pd
import pytest

from reproduction import sentinels
from reproduction.form import frame
from reproduction.registry import EXPERIMENTS, named
from reproduction.tests.committed import table

HELD = sentinels.held()
CELLS = [
    pytest.param(name, each, id=f"{name}-{at}", marks=[pytest.mark.data] if named([name])[0].data else [])
    for name in HELD
    for at, each in enumerate(HELD[name]["cells"])
]
WHAT_TO_DO = (
    "If that is wanted, raise the version of {0} in reproduction.registry.py, run "
    "python -m reproduction.sentinels, and measure its table in reproduction/results again."
)


@pytest.mark.parametrize(("name", "sentinel"), CELLS)
def test_a_row_changes_only_with_the_version_of_its_experiment(name, sentinel):
    assert HELD[name]["version"] == named([name])[0].version, "Run python -m reproduction.sentinels."
    found = sentinels.measured_again(name, sentinel["cell"])
    changed = [
        (was, now) for was, now in zip(sentinel["rows"], found, strict=True) if not sentinels.is_same(name, was, now)
    ]
    assert not changed, WHAT_TO_DO.format(name)


def test_every_experiment_has_sentinels_but_running_times():
    assert list(HELD) == [entry.name for entry in EXPERIMENTS if entry.name != "runtime"]


# Boosting is exact; networks and large sets of places take too long for a cell of the full run.
@pytest.mark.parametrize(
    "name",
    [
        name
        for name in HELD
        if name not in {"sgd", "sgd_readings", "sgd_mlp", "dnn", "dnn_readings", "location_errors", "location_maps"}
    ],
)
def test_sentinels_are_rows_of_the_committed_tables(name):
    there = table(name).to_dict("records")
    for cell in HELD[name]["cells"]:
        for whole in frame(cell["rows"]).to_dict("records"):
            row = {column: value for column, value in whole.items() if not pd.isna(value)}
            assert any(sentinels.is_same(name, row, {column: other[column] for column in row}) for other in there), row


def test_the_file_is_written_as_it_stands(tmp_path, monkeypatch):
    monkeypatch.setattr(sentinels, "FILE", tmp_path / "sentinels.json")
    sentinels.write(HELD)
    assert json.loads(sentinels.FILE.read_text(encoding="utf-8")) == HELD
    assert sentinels.main() == 0
    assert sentinels.held() == HELD


def test_rows_are_measured_again_for_a_raised_version_only(tmp_path, monkeypatch, capsys):
    cell = HELD["pmf"]["cells"][0]
    old = {"version": 0, "cells": [cell | {"rows": []}]}
    monkeypatch.setattr(sentinels, "FILE", tmp_path / "sentinels.json")
    sentinels.write({"pmf": old, "jaccard": {"version": 1, "cells": []}})
    assert sentinels.main() == 0
    assert sentinels.held()["pmf"] == {"version": 1, "cells": [cell]}
    assert capsys.readouterr().err == "pmf: version 1\n"


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        ({"a": "x", "b": 1.0 + 1e-10, "c": 3}, True),
        ({"a": "x", "b": 1.0 + 1e-8, "c": 3}, False),
        ({"a": "y", "b": 1.0, "c": 3}, False),
        ({"a": "x", "b": 1.0, "c": 4}, False),
        ({"a": "x", "b": 1.0}, False),
    ],
)
def test_a_change_beyond_the_last_digits_is_seen(other, is_same):
    assert sentinels.is_same("pmf", {"a": "x", "b": 1.0, "c": 3}, other) is is_same
