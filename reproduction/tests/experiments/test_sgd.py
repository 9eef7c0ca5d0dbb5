"""The SGD experiment on scikit-learn's small digits: cells, rows, pictures, and the machine apart."""

import json
import math
import os
import subprocess
import sys
from dataclasses import asdict, replace
from itertools import product

import pytest

from bipartite.errors import InputError
from bipartite.learn import Steps
from reproduction.claims import training
from reproduction.experiments import sgd, sgd_apart
from reproduction.runner import running
from reproduction.runner.contract import select
from reproduction.runner.files import CELLS
from reproduction.runner.registry import named
from reproduction.tests.reading import words

TINY = sgd.Settings(
    data="digits",
    people=1000,
    held_out=200,
    batch=100,
    steps=12,
    seeds=2,
    learning_rates=(0.1,),
    protocols=(0.3, 1.0),
    gaussian=(3.0,),
    laplace=(100.0,),
    local=(100.0,),
    networks=("softmax",),
)

NOISE = 1.25


@pytest.fixture(scope="module", autouse=True)
def asked():
    """The accountant takes seconds and has tests of its own; here it answers at once, and what it is asked is kept."""
    calls = []

    def answer(*question):
        calls.append(question)
        return NOISE

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bipartite.learn.gaussian_multiplier", answer)
        yield calls


@pytest.fixture(scope="module")
def rows():
    return [row for cell in sgd.cells(TINY) for row in sgd.measure(cell)]


def test_cells_are_plain_values_and_seeds_come_last():
    found = sgd.cells(TINY)
    assert len(found) == len(set(found)) == 2 * (1 + 1 + 1 + 4 + 6)
    assert [cell.seed for cell in found] == sorted(cell.seed for cell in found)
    json.dumps([asdict(cell) for cell in found], allow_nan=False)


def test_only_gaussian_cells_have_noise_of_the_accountant_for_their_budget_and_schedule(asked):
    asked.clear()
    for cell in sgd.cells(TINY):
        assert cell.noise_multiplier == (NOISE if cell.mechanism == "central-gaussian" else 0)
    assert set(asked) == {(3.0, 1e-5, Steps(12, 0.1))}


def test_the_full_run_has_the_papers_network_batch_and_budgets():
    full = sgd.Settings()
    assert (full.batch, full.points, full.protocols) == (2048, 21, (0.1, 0.3, 0.5, 0.7, 0.9, 1.0))
    assert "paper-cnn" in full.networks
    assert 0.001 in full.learning_rates


def test_rows_hold_curves_and_what_they_amount_to(rows):
    assert all(isinstance(value, (str, int, float)) for row in rows for value in row.values())
    json.dumps(rows, allow_nan=False)
    own = [row for row in rows if (row["mechanism"], row["seed"]) == ("none", 0)]
    curve = [row["value"] for row in own if row["measure"] == "accuracy"]
    assert len(curve) == 12
    by_name = {row["measure"]: row["value"] for row in own if row["measure"] != "accuracy"}
    last = curve[-2:]
    assert by_name["final"] == pytest.approx(sum(last) / 2)
    assert by_name["stability"] == pytest.approx(abs(last[0] - last[1]) / 2)
    arrived = next(step for step, value in enumerate(curve, 1) if value >= 0.9 * by_name["final"])
    assert by_name["convergence"] == arrived


def test_learning_happens_where_it_should(rows):
    finals = {name: sgd.summary(rows, "softmax", name, epsilon, "final").mean
              for name, epsilon in (("none", 0.0), ("central-gaussian", 3.0), ("paper-brr", 0.3))}  # fmt: skip
    assert finals["none"] > 0.5  # guessing is right for one in ten
    assert finals["central-gaussian"] > 0.4
    # It publishes signs, so that it learns at any claimed ε.
    assert finals["paper-brr"] > 0.4


def test_no_row_shows_the_papers_protocols_as_private(rows):
    for row in rows:
        described = str(row["mechanism"]).startswith("paper") or row["mechanism"] == "none"
        assert (row["spent"] == "∞") == described == (row["model"] == "none")
    assert {row["spent"] for row in rows if row["mechanism"] == "central-gaussian"} == {"3"}


def test_measuring_twice_gives_the_same_rows():
    for mechanism in ("central-laplace", "local-brr", "paper-laplace"):
        cell = next(each for each in sgd.cells(TINY) if each.mechanism == mechanism)
        assert sgd.measure(cell) == sgd.measure(cell)


def test_settings_are_chosen_on_held_out_people():
    cell = next(each for each in sgd.cells(TINY) if each.mechanism == "none")
    held_out = {}
    for rate in (0.001, 0.1, 0.01):
        found = {row["measure"]: row for row in sgd.measure(replace(cell, learning_rates=(rate,)))}
        held_out[rate] = found["held_out"]["value"]
    chosen = {row["learning_rate"] for row in sgd.measure(replace(cell, learning_rates=tuple(held_out)))}
    assert chosen == {max(held_out, key=held_out.get)}
    assert len(set(held_out.values())) == 3


def test_advantages_pair_seeds(rows):
    for epsilon, rival in product((0.3, 1.0), ("paper-laplace", "paper-laplace-of-the-mean")):
        found = training.apart(rows, "final", epsilon, rival, network="softmax")
        assert found.repetitions == 2
        assert found.low <= found.mean <= found.high
    # Noise of the mean is a hundred times larger here and drowns everything.
    assert training.apart(rows, "final", 0.3, "paper-laplace-of-the-mean").mean > 0.3


def test_a_summary_of_nothing_says_what_to_measure():
    with pytest.raises(InputError, match="Expected rows of none on softmax at ε=7, got none; measure these cells"):
        sgd.summary([], "softmax", "none", 7.0, "final")


def test_pictures_say_that_the_protocols_are_not_private(rows):
    drawn = sgd.draw(rows)
    assert set(drawn) == {"sgd_budgets", "sgd_ahead", "sgd_protocols_softmax"}
    assert "softmax regression, claimed ε = 0.3, spent ε = ∞" in words(drawn["sgd_protocols_softmax"])
    assert "none is private" in drawn["sgd_ahead"] and "the paper: " not in drawn["sgd_ahead"]  # another network
    for name in ("Gaussian, central", "BRR, padded", "Duchi", "no privacy"):
        assert name in drawn["sgd_budgets"]
    assert "as described" not in drawn["sgd_budgets"]


def test_without_extra_lines_the_pictures_have_what_the_paper_draws(rows):
    picture = sgd.draw(rows, extra=False)["sgd_protocols_softmax"]
    assert "Gaussian" not in picture
    for name in ("BRR-SGD as described", "Laplace on the sum, as described", "no privacy"):
        assert f">{name}</text>" in picture


def curve(mechanism, values, epsilon=0.3):
    return [
        {"network": "softmax", "mechanism": mechanism, "epsilon": 0.0 if mechanism == "none" else epsilon, "seed": seed,
         "measure": "accuracy", "step": step, "value": value}
        for seed in (0, 1)
        for step, value in zip((10, 20), values, strict=True)
    ]  # fmt: skip


def test_the_axis_of_a_protocol_begins_at_zero_so_that_what_does_not_learn_is_seen():
    rows = [*curve("paper-brr", (0.7, 0.9)), *curve("none", (0.8, 0.95)),
            *curve("paper-laplace-of-the-mean", (0.1, 0.11))]  # fmt: skip
    told = words(sgd.draw(rows)["sgd_protocols_softmax"])
    assert "0.0 0.2 0.4 0.6 0.8 1.0" in told and "Laplace on the mean:" not in told  # nothing lies beyond


def test_too_many_people_are_refused():
    with pytest.raises(InputError, match="Expected at most 1200 people beside those held out, got 5000; use fewer."):
        sgd.measure(replace(sgd.cells(TINY)[0], people=5000))


def test_a_machine_apart_needs_no_extra_and_goes_on_where_it_was(tmp_path, capsys):
    plan, out = tmp_path / "cells.json", tmp_path / "rows.jsonl"
    settings = replace(TINY, seeds=1)
    assert sgd_apart.write_plan(plan, settings) == 13
    assert sgd_apart.read_plan(plan) == list(sgd.cells(settings))
    code = (
        "import sys\n"
        "for name in ('numba', 'llvmlite', 'sklearn', 'dp_accounting', 'scipy', 'pandas'): sys.modules[name] = None\n"
        "import torch\n"
        "from reproduction.experiments import sgd_apart, sgd_training\n"
        "def made(*_):\n"
        "    parts = [sgd_training.Part(torch.rand(n, 1, 8, 8), torch.arange(n) % 10) for n in (1000, 50, 50)]\n"
        "    return sgd_training.Data(*parts)\n"
        "sgd_training.load = made  # the digits come with scikit-learn\n"
        "sys.exit(sgd_apart.main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "run", str(plan), str(out), "--cells", "0:4"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr
    with out.open("a", encoding="utf-8") as stream:
        stream.write('{"cell": 4, "rows": [{"cut o')  # killed while writing
    sgd_apart.main(["run", str(plan), str(out), "--cells", "3:6:1"])
    assert capsys.readouterr().err.count("cell") == 2
    assert sgd_apart.finished(out) == set(range(6))
    measured = [json.loads(line)["rows"][0] for line in out.read_text(encoding="utf-8").splitlines()]
    assert len({(row["mechanism"], row["epsilon"]) for row in measured}) == 6


def measured_apart(path, rows, settings, seconds=2.0):
    """A file as the machine apart writes it."""
    with path.open("w", encoding="utf-8") as stream:
        for number, cell in enumerate(sgd.cells(settings)):
            own = select(rows, mechanism=cell.mechanism, epsilon=cell.epsilon, seed=cell.seed)
            stream.write(json.dumps({"cell": number, "version": 1, "seconds": seconds, "rows": own}) + "\n")


def test_rows_measured_apart_are_drawn_without_measuring_and_said_to_be_from_elsewhere(tmp_path, rows, monkeypatch):
    measured_apart(tmp_path / "rows.jsonl", rows, TINY)
    assert sgd_apart.collect(tmp_path, [tmp_path / "rows.jsonl"], "one GPU", TINY) == 26
    monkeypatch.setattr(sgd, "QUICK", TINY)
    monkeypatch.setattr(sgd, "measure", lambda _: pytest.fail("nothing is left to measure"))
    (outcome,) = running.run(named(["sgd"]), tmp_path / CELLS)
    assert (outcome.state, outcome.cells, outcome.kept, outcome.seconds) == ("done", 26, 26, 52.0)
    assert outcome.rows == running.plain_rows(rows)
    assert outcome.elsewhere == {"one GPU": 26}
    assert set(outcome.pictures) == {"sgd_budgets", "sgd_ahead", "sgd_protocols_softmax"}


def test_rows_that_are_not_of_the_plan_are_refused_and_nothing_is_kept(tmp_path, rows, monkeypatch, capsys):
    path = tmp_path / "rows.jsonl"
    measured_apart(path, rows, TINY)
    good = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def refused(line, message):
        path.write_text(json.dumps(good[0]) + "\n" + line + "\n", encoding="utf-8")
        with pytest.raises(InputError, match=message):
            sgd_apart.collect(tmp_path, [path], "one GPU", TINY)
        assert not (tmp_path / CELLS).exists()

    other = "Expected line 2 of rows.jsonl to be of this plan, got cell .* with other rows; collect with the settings"
    for number in (26, -1, True, 2):
        refused(json.dumps(good[1] | {"cell": number}), other)
    for change in ({"learning_rate": 0.5}, {"seed": 7}, {"spent": "3"}, {"step": 3}, {"value": math.nan}):
        wrong = [row | change for row in good[0]["rows"]]
        refused(json.dumps(good[0] | {"rows": wrong}), other)
    refused(json.dumps(good[1] | {"rows": good[1]["rows"][:-1]}), other)
    refused(json.dumps(good[1] | {"rows": []}), other)
    refused(json.dumps(good[1] | {"version": 2}), "to be of version 1 of the experiment, got 2; measure it again.")
    for cut in ('{"cell": 1, "rows": [{"cut o', "7", '{"cell": 1}', '{"cell": 1, "rows": [3]}'):
        refused(cut, "Expected line 2 of rows.jsonl as a cell and its rows, got something else; cut it.")
    monkeypatch.setattr(sgd, "QUICK", TINY)
    with pytest.raises(SystemExit, match="2"):
        sgd_apart.main(["collect", str(tmp_path), str(path), "--where", "one GPU", "--quick"])
    assert "got something else" in capsys.readouterr().err
    path.write_text(json.dumps(good[3]) + "\n", encoding="utf-8")
    assert sgd_apart.main(["collect", str(tmp_path), str(path), "--where", "one GPU", "--quick"]) == 0
    assert capsys.readouterr().err == "1 cells\n"


def test_a_bad_range_of_cells_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        sgd_apart.main(["run", str(tmp_path / "a"), str(tmp_path / "b"), "--cells", "7"])
    assert "expected --cells as first:last, such as 0:120, got '7'" in capsys.readouterr().err
    sgd_apart.main(["plan", str(tmp_path / "quick.json"), "--quick"])
    assert len(sgd_apart.read_plan(tmp_path / "quick.json")) == len(sgd.cells(sgd.QUICK))


@pytest.mark.data
def test_the_papers_network_trains_on_mnist():
    cell = sgd.Cell(
        data="mnist", people=256, held_out=100, network="paper-cnn", mechanism="paper-brr", epsilon=0.3,
        noise_multiplier=0.0, delta=0.0, batch=32, steps=2, points=21, learning_rates=(0.001,), clips=(1.0,), seed=0,
    )  # fmt: skip
    found = {row["measure"]: row for row in sgd.measure(cell)}
    assert 0 <= found["final"]["value"] <= 1
    assert found["final"]["spent"] == "∞"
