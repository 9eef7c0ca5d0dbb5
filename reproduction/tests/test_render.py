"""python -m reproduction render: the same report without measuring, and tables taken from another run."""

import json
from dataclasses import replace

import pytest

from reproduction.runner import reading
from reproduction.runner.registry import EXPERIMENTS


@pytest.fixture
def results(run, tmp_path):
    folder = tmp_path / "results"
    assert run("run", "pmf", "worked_example", "--out", folder)[0] == 0
    return folder


def _without_times(text):
    found = json.loads(text)
    return {**found, "seconds": 0, "experiments": [{**each, "kept": 0} for each in found["experiments"]]}


def test_a_rendered_run_is_the_run(run, results):
    names = ("pmf.csv", "worked_example.csv", "verdicts.csv", "report.html")
    before = {name: (results / name).read_text(encoding="utf-8") for name in names}
    said = (results / "run.json").read_text(encoding="utf-8")
    for name in ("verdicts.csv", "report.html"):
        (results / name).unlink()
    code, out, err = run("render", results)
    assert (code, err) == (0, "") and out == f"Wrote {results / 'report.html'}.\n"
    assert {name: (results / name).read_text(encoding="utf-8") for name in names} == before
    assert _without_times((results / "run.json").read_text(encoding="utf-8")) == _without_times(said)


def test_tables_of_another_run_replace_those_that_were_there(run, results, tmp_path):
    other = tmp_path / "other"
    run("run", "monotonicity", "pmf", "--out", other)
    table = other / "pmf.csv"
    table.write_text("".join(table.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]), encoding="utf-8")
    assert run("render", results, "--take", other)[0] == 0
    assert (results / "pmf.csv").read_text(encoding="utf-8") == table.read_text(encoding="utf-8")
    found = json.loads((results / "run.json").read_text(encoding="utf-8"))
    assert [each["name"] for each in found["experiments"]] == ["pmf", "worked_example", "monotonicity"]
    text = (results / "report.html").read_text(encoding="utf-8")
    assert 'id="monotonicity"' in text and 'id="worked_example"' in text


def test_what_another_machine_measured_is_said(run, results, monkeypatch):
    monkeypatch.setattr(reading, "this_machine", lambda: "another machine")
    run("render", results)
    found = json.loads((results / "run.json").read_text(encoding="utf-8"))
    assert [sum(each["elsewhere"].values()) for each in found["experiments"]] == [2, 1]
    assert "2 measured elsewhere" in (results / "report.html").read_text(encoding="utf-8")


def test_a_folder_without_a_run_is_refused(run, tmp_path):
    code, out, err = run("render", tmp_path)
    assert (code, out) == (2, "")
    assert f"Expected a folder with the run.json of a run, got {str(tmp_path)!r} (FileNotFoundError); run it" in err


def test_a_run_of_another_mode_is_refused(run, results, tmp_path):
    other = tmp_path / "other"
    run("run", "pmf", "--full", "--out", other)
    before = (results / "report.html").read_bytes()
    code, _, err = run("render", results, "--take", other)
    assert code == 2
    assert f"Expected a quick run in {str(other)!r}, got a full one; run it that way." in err
    assert (results / "report.html").read_bytes() == before


def test_an_experiment_that_changed_since_is_refused(run, results, monkeypatch):
    monkeypatch.setattr(reading, "EXPERIMENTS", [replace(each, version=each.version + 1) for each in EXPERIMENTS])
    code, _, err = run("render", results)
    assert code == 2
    assert "Expected pmf measured by version 2, got version 1 in" in err
    assert "measure it again with python -m reproduction run pmf." in err


def test_an_experiment_that_changed_is_taken_from_the_run_that_measured_it_again(run, results, tmp_path, monkeypatch):
    other = tmp_path / "other"
    run("run", "pmf", "--out", other)
    said = json.loads((other / "run.json").read_text(encoding="utf-8"))
    said["experiments"][0]["version"] = 2
    (other / "run.json").write_text(json.dumps(said), encoding="utf-8")
    raised = [replace(each, version=2) if each.name == "pmf" else each for each in EXPERIMENTS]
    monkeypatch.setattr(reading, "EXPERIMENTS", raised)
    monkeypatch.setattr("reproduction.commands.render.EXPERIMENTS", raised)
    assert run("render", results)[0] == 2
    assert run("render", results, "--take", other)[0] == 0
    found = json.loads((results / "run.json").read_text(encoding="utf-8"))
    assert [(each["name"], each["version"]) for each in found["experiments"]] == [("pmf", 2), ("worked_example", 1)]


def test_a_file_that_cannot_be_written_is_said(run, results, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("reproduction.commands.render.write_tables", full)
    code, _, err = run("render", results)
    assert code == 2 and "No space left on device" in err
