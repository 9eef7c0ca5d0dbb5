"""The runner: what is measured once is kept, what cannot run is said, and a killed run goes on."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import types
from dataclasses import dataclass, replace
from importlib.util import find_spec

import pytest

from bipartite.errors import DataFileError, InputError, MissingDataError
from reproduction.runner import running
from reproduction.runner.cache import Cache, Measured
from reproduction.runner.registry import EXPERIMENTS, Entry, named


@dataclass(frozen=True)
class Settings:
    seeds: int = 3


@dataclass(frozen=True)
class Cell:
    seed: int


def toy(measure=lambda cell: [{"seed": cell.seed, "value": cell.seed / 3}], **more):
    """An experiment of three cells that counts what it measures."""
    calls = []

    def counted(cell):
        calls.append(cell.seed)
        return measure(cell)

    module = types.SimpleNamespace(
        Settings=Settings,
        QUICK=Settings(2),
        cells=lambda settings: tuple(Cell(seed) for seed in range(settings.seeds)),
        measure=counted,
        draw=lambda rows: {"toy": f"<svg>{len(rows)}</svg>"},
        calls=calls,
    )
    for name, value in more.items():
        setattr(module, name, value)
    return module


@pytest.fixture
def run(monkeypatch, tmp_path):
    def runner(module, version=1, **how):
        monkeypatch.setattr(Entry, "load", lambda _: module)
        (outcome,) = running.run([Entry("toy", "Fig. 0", "A toy", version=version)], tmp_path, **how)
        return outcome

    return runner


def test_a_run_measures_every_cell_and_draws(run):
    module = toy()
    outcome = run(module)
    assert outcome.state == "done"
    assert (outcome.cells, outcome.kept, module.calls) == (2, 0, [0, 1])
    assert outcome.rows == [{"seed": 0, "value": 0.0}, {"seed": 1, "value": 1 / 3}]
    assert outcome.pictures == {"toy": "<svg>2</svg>"}


def test_what_was_measured_is_kept_and_a_larger_run_adds_to_it(run):
    first, second = toy(), toy()
    run(first)
    outcome = run(second, mode="full")
    assert second.calls == [2]
    assert (outcome.cells, outcome.kept) == (3, 2)
    assert [row["seed"] for row in outcome.rows] == [0, 1, 2]


def test_rows_are_the_same_from_the_cache_and_at_first(run):
    numpy = pytest.importorskip("numpy")
    module = toy(
        lambda cell: [{"seed": cell.seed, "value": numpy.float64(0.1), "whole": numpy.int64(7), "nan": float("nan")}]
    )
    first, second = run(module), run(module)
    assert repr(first.rows) == repr(second.rows)
    assert type(first.rows[0]["whole"]) is int


def test_a_run_that_breaks_keeps_what_it_had(run):
    def breaks(cell):
        if cell.seed == 1:
            raise ZeroDivisionError
        return [{"seed": cell.seed}]

    outcome = run(toy(breaks))
    assert (outcome.state, outcome.rows) == ("failed", [])
    assert outcome.why.startswith("ZeroDivisionError (test_running.py, line ")
    module = toy()
    assert run(module).kept == 1
    assert module.calls == [1]


def test_another_version_measures_again(run):
    run(toy())
    module = toy()
    assert run(module, version=2).kept == 0
    assert module.calls == [0, 1]


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (MissingDataError("put it there: https://example.org/file"), "missing data"),
        (DataFileError("sha256"), "damaged data"),
    ],
)
def test_data_that_is_missing_or_damaged_is_reported(run, error, state):
    def fails(_):
        raise error

    outcome = run(toy(fails))
    assert (outcome.state, outcome.why, outcome.rows) == (state, str(error), [])


def test_the_others_run_where_one_cannot(monkeypatch, tmp_path):
    def load(self):
        if self.name == "without":
            raise MissingDataError("https://example.org")
        return toy()

    monkeypatch.setattr(Entry, "load", load)
    outcomes = running.run([Entry("without", "", ""), Entry("toy", "", "")], tmp_path)
    assert [outcome.state for outcome in outcomes] == ["missing data", "done"]


def test_an_experiment_that_is_not_there_or_lacks_its_library_is_reported(tmp_path):
    outcomes = running.run(
        [Entry("nowhere", "", ""), Entry("pmf", "", "", extra="learn", libraries=("no_such_library",))], tmp_path
    )
    assert [outcome.state for outcome in outcomes] == ["missing part", "missing extra"]
    assert "no experiment nowhere" in outcomes[0].why
    assert 'needs no_such_library, which is not installed; run: pip install "bipartite[learn]"' in outcomes[1].why


def test_a_library_that_shows_to_be_missing_while_it_runs_is_reported_too(run):
    def needs(_):
        import no_such_library  # noqa: F401

    outcome = run(toy(needs))
    assert outcome.state == "missing extra"
    assert "toy needs no_such_library, which is not installed; run: pip install no_such_library" in outcome.why

    def breaks(_):
        import bipartite.no_such_part  # noqa: F401

    outcome = run(toy(breaks), mode="full")
    assert outcome.state == "failed" and "No module named 'bipartite.no_such_part'" in outcome.why


def test_the_machine_of_every_part_is_known(run, monkeypatch):
    monkeypatch.setattr(running, "this_machine", lambda: "machine A")
    first = run(toy())
    assert first.elsewhere == {}
    monkeypatch.setattr(running, "this_machine", lambda: "machine B")
    second = run(toy(), mode="full")
    assert (second.kept, second.elsewhere) == (2, {"machine A": 2})


def test_a_folder_that_cannot_keep_a_part_ends_the_run(run, tmp_path):
    (tmp_path / "toy").write_text("a file where a folder should be")
    with pytest.raises(InputError, match="Expected --out as a folder that can be written"):
        run(toy())


def test_seeds_replace_those_of_the_settings(run):
    module = toy()
    assert run(module, seeds=1).cells == 1
    assert running.settings_of(toy(QUICK=replace(Settings(), seeds=(5, 6))), "quick", 3).seeds == (0, 1, 2)
    assert running.settings_of(toy(QUICK=Cell(1)), "quick", 3) == Cell(1)
    for wrong in (0, 1001):
        with pytest.raises(InputError, match="Expected seeds from 1 to 1000"):
            run(module, seeds=wrong)


def test_extra_lines_are_left_out_where_an_experiment_has_any(run):
    module = toy(draw=lambda _, *, extra=True: {"toy": str(extra)})
    assert run(module).pictures == {"toy": "True"}
    assert run(module, extra=False).pictures == {"toy": "False"}


def test_names_are_listed_in_the_order_of_the_report_and_the_nearest_is_suggested():
    assert [entry.name for entry in named(["jaccard", "pmf"])] == ["pmf", "jaccard"]
    assert named([]) == EXPERIMENTS
    with pytest.raises(InputError, match="got 'jacard'; did you mean jaccard"):
        named(["jacard"])
    with pytest.raises(InputError, match="got 'PMF'; did you mean pmf"):
        named(["PMF"])
    with pytest.raises(InputError, match="got 'zzz'; Names: pmf, "):
        named(["zzz"])


def test_a_damaged_file_of_the_cache_counts_as_not_there(tmp_path):
    cache = Cache(tmp_path, "toy", 1)
    cache.store(Cell(1), Measured([{"value": 1}], 0.5, "here"))
    (file,) = (tmp_path / "toy").iterdir()
    assert cache.load(Cell(1)) == Measured([{"value": 1}], 0.5, "here")
    assert cache.load(Cell(2)) is None
    for content in ("", "{", json.dumps({"version": 1}), json.dumps({"version": 2, "cell": {"seed": 1}})):
        file.write_text(content)
        assert cache.load(Cell(1)) is None


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    # A real process, ended by SIGKILL while it measures its second cell.
    script = textwrap.dedent(
        """
        import sys, time
        sys.path.insert(0, sys.argv[2])
        from pathlib import Path
        from reproduction.tests.experiments.test_running import Entry, running, toy
        slow = sys.argv[3] == "slow"
        def measure(cell):
            if slow and cell.seed == 1:
                print("measuring", flush=True)
                time.sleep(60)
            return [{"seed": cell.seed}]
        module = toy(measure)
        Entry.load = lambda _: module
        (outcome,) = running.run([Entry("toy", "", "")], Path(sys.argv[1]))
        print(outcome.kept, module.calls)
        """
    )
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120
    command = [sys.executable, "-c", script, str(tmp_path), root]
    with subprocess.Popen([*command, "slow"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "measuring\n"
        process.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
    again = subprocess.run([*command, "fast"], capture_output=True, text=True, timeout=60, check=True)
    assert again.stdout == "1 [1]\n"


def test_every_registered_experiment_names_known_data_sets_and_keeps_the_contract(monkeypatch):
    from reproduction.datasets import SOURCES

    monkeypatch.setattr("bipartite.learn.gaussian_multiplier", lambda *_: 1.0)  # takes seconds

    for entry in EXPERIMENTS:
        assert set(entry.data) <= set(SOURCES), entry.name
        if find_spec(f"reproduction.experiments.{entry.name}") is None:  # a part of the package that comes later
            continue
        module = entry.load()
        few, all_of_them = (module.cells(settings) for settings in (module.QUICK, module.Settings()))
        for cells in (few, all_of_them):
            assert len(set(cells)) == len(cells) > 0, entry.name
        assert len(few) <= len(all_of_them)
