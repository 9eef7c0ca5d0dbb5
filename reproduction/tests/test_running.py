"""Running experiments: what is measured once is kept, what cannot run is said, and a killed run goes on."""

import json
import re
import signal
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import numpy as np
import pytest

from bipartite.errors import DataFileError, InputError, MissingDataError
from reproduction import origin, running
from reproduction.cells import Cells, Measured
from reproduction.datasets import SOURCES
from reproduction.form import Grid, as_csv, frame, table_of
from reproduction.registry import EXPERIMENTS, Entry, named


def toy(measure=lambda seed: [{"seed": seed, "value": seed / 3}]):
    """An experiment of three seeds that counts what it measures."""
    calls = []

    def counted(**point):
        calls.append(point["seed"])
        return measure(**point)

    return types.SimpleNamespace(
        FULL=Grid(seed=(0, 1, 2)),
        QUICK=Grid(seed=(0, 1)),
        measure=counted,
        draw=lambda rows: {"toy": f"<svg>{len(rows)}</svg>"},
        calls=calls,
    )


@pytest.fixture
def run(monkeypatch, tmp_path):
    def runner(module, version=1, **how):
        monkeypatch.setattr(Entry, "load", lambda _: module)
        (outcome,) = running.run([Entry("toy", "Fig. 0", "A toy", version=version)], tmp_path, **how)
        return outcome

    return runner


def test_a_grid_has_every_combination_and_the_seeds_that_are_asked_for():
    grid = Grid(seed=(0, 1), epsilon=("1", "2")) + Grid(points=(5,))
    assert list(grid.seeds(1)) == [{"seed": 0, "epsilon": "1"}, {"seed": 0, "epsilon": "2"}, {"points": 5}]
    assert grid.axes() == {"seed": [0, 1], "epsilon": ["1", "2"], "points": [5]}
    assert len(list(grid.but(epsilon=("3",)))) == 3


def test_rows_come_back_from_a_file_as_they_were():
    rows = [{"name": "none", "n": 3, "x": 0.1 + 0.2, "ok": True}, {"name": "a, “b”", "n": 4, "x": 1e-300, "more": 5}]
    table = table_of(as_csv(rows))
    assert table.equals(frame(rows))
    assert [list(table[name]) for name in ("name", "n", "x")] == [
        [row[name] for row in rows] for name in ("name", "n", "x")
    ]
    assert table["more"].isna().tolist() == [True, False] and table["ok"].tolist()[0] is True


def test_a_run_measures_every_point_and_a_larger_one_adds_to_it(run):
    first, second, third = toy(), toy(), toy()
    outcome = run(first)
    assert (outcome.state, len(outcome.parts), outcome.kept, first.calls) == ("done", 2, 0, [0, 1])
    assert outcome.rows == [{"seed": 0, "value": 0.0}, {"seed": 1, "value": 1 / 3}]
    assert outcome.pictures == {"toy": "<svg>2</svg>"}
    outcome = run(second, mode="full")
    assert (second.calls, outcome.kept, list(outcome.table["seed"])) == ([2], 2, [0, 1, 2])
    assert len(run(toy(), seeds=1).parts) == 1
    assert run(third, version=2).kept == 0 and third.calls == [0, 1]
    for wrong in (0, 1001):
        with pytest.raises(InputError, match="Expected seeds from 1 to 1000"):
            run(third, seeds=wrong)


def test_rows_are_the_same_when_kept_and_at_first(run):
    module = toy(lambda seed: [{"seed": seed, "value": np.float64(0.1), "whole": np.int64(7), "nan": float("nan")}])
    first, second = run(module), run(module)
    assert repr(first.rows) == repr(second.rows)
    assert type(first.rows[0]["whole"]) is int


def test_every_part_knows_its_machine_commit_and_versions(run, monkeypatch):
    first = run(toy())
    assert {tuple(part[name] for name in running.ORIGIN) for part in first.parts} == {
        (origin.this_machine(), origin.this_commit(), origin.these_versions())
    }
    monkeypatch.setattr(running, "Measured", lambda rows, seconds: Measured(rows, seconds, "B", "c0ffee", "numpy 9"))
    assert run(toy(), mode="full").origins() == {
        (origin.this_machine(), origin.this_commit(), origin.these_versions()): 2, ("B", "c0ffee", "numpy 9"): 1,
    }  # fmt: skip


def test_where_numbers_come_from_is_said_without_the_name_of_the_machine():
    import platform

    assert "cores" in origin.this_machine() and platform.node() not in origin.this_machine()
    assert re.fullmatch(r"([0-9a-f]{8}\+?)?", origin.this_commit())
    assert f"numpy {np.__version__}" in origin.these_versions()


def test_a_run_that_breaks_keeps_what_it_had(run):
    def breaks(seed):
        if seed == 1:
            raise ZeroDivisionError
        return [{"seed": seed}]

    outcome = run(toy(breaks))
    assert (outcome.state, outcome.rows) == ("failed", [])
    assert outcome.why.startswith("ZeroDivisionError (test_running.py, line ")
    module = toy()
    assert run(module).kept == 1 and module.calls == [1]


@pytest.mark.parametrize(
    ("error", "state", "said"),
    [
        (
            MissingDataError("put it there: https://example.org/file"),
            "missing data",
            "put it there: https://example.org",
        ),
        (DataFileError("sha256"), "damaged data", "sha256"),
        (ModuleNotFoundError("", name="torch"), "missing extra", "toy needs torch, which is not installed; run: pip"),
        (ModuleNotFoundError("No part", name="bipartite.part"), "failed", "No part"),
    ],
)
def test_what_is_missing_damaged_or_broken_is_reported(run, error, state, said):
    def fails(seed):  # noqa: ARG001 (every measuring function has it)
        raise error

    outcome = run(toy(fails))
    assert (outcome.state, outcome.rows) == (state, []) and said in outcome.why


def test_the_others_run_where_one_cannot(tmp_path):
    outcomes = running.run(
        [
            Entry("nowhere", "", ""),
            Entry("pmf", "", "", extra="learn", libraries=("no_such_library",)),
            named(["pmf"])[0],
        ],
        tmp_path,
    )
    assert [outcome.state for outcome in outcomes] == ["missing part", "missing extra", "done"]
    assert "no experiment nowhere" in outcomes[0].why
    assert 'needs no_such_library, which is not installed; run: pip install "bipartite[learn]"' in outcomes[1].why


def test_a_folder_that_cannot_keep_a_part_ends_the_run(run, tmp_path):
    (tmp_path / "toy").write_text("a file where a folder should be")
    with pytest.raises(InputError, match="Expected --out as a folder that can be written"):
        run(toy())


def test_a_damaged_file_counts_as_not_there(tmp_path):
    cells, measured = Cells(tmp_path, "toy", 1), Measured([{"value": 1}], 0.5, "here")
    cells.store({"seed": 1, "axes": (1, 2)}, measured)
    (file,) = (tmp_path / "toy").iterdir()
    assert cells.load({"seed": 1, "axes": (1, 2)}) == measured
    assert cells.load({"seed": 2, "axes": (1, 2)}) is None
    held = json.loads(file.read_text(encoding="utf-8"))
    point = held["point"]
    for content in (
        "",
        "{",
        "[]",
        "{}",
        json.dumps({"version": 1, "point": point}),
        json.dumps(held | {"version": 2}),
        json.dumps(held | {"point": {"seed": 2, "axes": [1, 2]}}),
    ):
        file.write_text(content)
        assert cells.load(point) is None


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    # A real process, ended by SIGKILL while it measures its second point.
    script = textwrap.dedent(
        """
        import sys, time
        sys.path.insert(0, sys.argv[2])
        from pathlib import Path
        from reproduction.tests.test_running import Entry, running, toy
        slow = sys.argv[3] == "slow"
        def measure(seed):
            if slow and seed == 1:
                print("measuring", flush=True)
                time.sleep(60)
            return [{"seed": seed}]
        module = toy(measure)
        Entry.load = lambda _: module
        (outcome,) = running.run([Entry("toy", "", "")], Path(sys.argv[1]))
        print(outcome.kept, module.calls)
        """
    )
    command = [sys.executable, "-c", script, str(tmp_path), str(Path(__file__).parents[2])]
    with subprocess.Popen([*command, "slow"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "measuring\n"
        process.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
    again = subprocess.run([*command, "fast"], capture_output=True, text=True, timeout=60, check=True)
    assert again.stdout == "1 [1]\n"


def test_names_are_listed_in_the_order_of_the_report_and_the_nearest_is_suggested():
    assert [entry.name for entry in named(["jaccard", "pmf"])] == ["pmf", "jaccard"]
    assert named([]) == EXPERIMENTS
    for wrong, said in (("jacard", "did you mean jaccard"), ("PMF", "did you mean pmf"), ("zzz", "Names: pmf, ")):
        with pytest.raises(InputError, match=f"got '{wrong}'; {said}"):
            named([wrong])


@pytest.mark.parametrize("entry", EXPERIMENTS, ids=lambda entry: entry.name)
def test_every_experiment_has_the_form(entry):
    assert set(entry.data) <= set(SOURCES)
    module = entry.load()
    few, every = ([repr(point) for point in grid] for grid in (module.QUICK, module.FULL))
    assert 0 < len(set(few)) == len(few) <= len(every) == len(set(every))


def test_figures_stand_in_the_order_of_the_paper():
    numbers = [int(found[1]) for entry in EXPERIMENTS if (found := re.match(r"Fig\. (\d+)", entry.figure))]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(1, 13))
