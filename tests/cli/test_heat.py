"""``bipartite estimate --map``: reports of places to a map, with what they promise."""

import functools
import json
import sys

import pytest

from bipartite import BRR, GRR, insecure_seed
from bipartite.cli.estimate_pages import map_page
from bipartite.locations import grid, heat_map
from bipartite.mechanisms.spec import load_spec, spec_sha256
from tests.cli.schemas import conforms
from tests.locations.test_heat import SQUARE, heated
from tests.locations.worlds import six_cities

CELLS = GRR(grid((50, 0, 51, 1), metres=40_000), 3)  # three rows of two cells


@pytest.fixture
def spec(write):
    return write("cells.json", json.dumps(CELLS.to_spec()))


@pytest.fixture
def reports(write):
    drawn = CELLS.privatize([0] * 3000 + [5] * 1000, rng=insecure_seed(1))
    return write("reports.csv", "".join(f"{each}\n" for each in drawn))


@pytest.mark.parametrize("ending", ["html", "svg", "png", "geojson"])
def test_a_heat_map_is_written_in_each_format(run, spec, reports, tmp_path, ending):
    target = tmp_path / f"heat.{ending}"
    code, out, err = run("estimate", reports, "--spec", spec, "--map", target)
    assert (code, err) == (0, "") and out == run("estimate", reports, "--spec", spec)[1]
    starts = {"svg": b"<svg", "png": b"\x89PNG", "html": b"<!DOCTYPE html>", "geojson": b'{"type": "FeatureCollection"'}
    assert target.read_bytes().startswith(starts[ending])
    if ending == "geojson":  # the spec rounds where the cells are, and they are drawn all the same
        found = json.loads(target.read_bytes())
        assert found["bipartite"]["guarantee"] == "ε-LDP of each report with ε = 3"
        assert {each["geometry"]["type"] for each in found["features"]} == {"Polygon"}
        assert [each["properties"]["name"] for each in found["features"]] == ["A3", "B3", "A2", "B2", "A1", "B1"]


@pytest.mark.parametrize("ending", ["html", "svg", "png"])
def test_without_the_extra_a_picture_is_missing_before_anything_is_read(run, tmp_path, monkeypatch, ending):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    asked = ("estimate", tmp_path / "nowhere.csv", "--spec", tmp_path / "nowhere.json")
    code, out, err = run(*asked, "--map", tmp_path / f"heat.{ending}")
    assert (code, out) == (4, "") and 'run: pip install "bipartite[plots]"' in err
    assert not list(tmp_path.iterdir())


def test_geojson_needs_no_extra(run, spec, reports, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    target = tmp_path / "heat.geojson"
    assert run("estimate", reports, "--spec", spec, "--map", target)[0] == 0 and target.exists()


def test_the_page_names_the_promise_and_the_confidence(run, spec, reports, tmp_path):
    target = tmp_path / "heat.html"
    assert run("estimate", reports, "--spec", spec, "--map", target, "--confidence", "0.9")[0] == 0
    text = target.read_text(encoding="utf-8")
    assert "<h1>Where people are</h1>" in text and "Guarantee: ε-LDP of each report with ε = 3." in text
    assert "hold for all 6 places together with 90 % confidence" in text and "A3 (50.17, 0.25)" in text


def test_a_page_has_the_map_the_promise_and_a_table_and_loads_nothing():
    square = heated(SQUARE, [0] * 12_000 + [5] * 4_000)
    text = map_page(square, 0.9)
    assert "<script" not in text
    allowed = ("http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink", "http-equiv")
    assert "http" not in functools.reduce(lambda left, each: left.replace(each, ""), allowed, text)
    assert (
        "<img" not in text
        and "<image" not in text
        and "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in text
    )
    assert "<strong>Guarantee: ε-LDP of each report with ε = 2.</strong>" in text
    assert "@media print" in text and 'content="width=device-width' in text
    assert "<td>A3 (50.17, 0.25)</td><td>75 %</td>" in text
    low, high = square.intervals(0.9, together=True)
    assert "hold for all 6 places together with 90 % confidence" in text
    assert f"Those of {(low <= 0).sum()} places include 0: perhaps nobody is there." in text
    assert f"{100 * low[0]:.0f} % to {100 * high[0]:.0f} %</td>" in text
    assert "A dark edge marks a cell whose interval excludes 0" in text
    few = map_page(heated(SQUARE, [0] * 20), 0.95)
    assert "too few for intervals. There are no intervals.</p>" in few and "dark edge" not in few
    guessed = map_page(heat_map(BRR(SQUARE, 1, m=3), [0] * 60), 0.95)
    assert "These shares are guesses: there are no intervals." in guessed
    unfit = heat_map(GRR(SQUARE, 1), [0] * 5000)
    assert "<strong>Guarantee: no ε is claimed" in map_page(unfit, 0.95)


def test_collected_reports_count_once_and_what_is_none_is_set_aside(run, spec, reports, tmp_path):
    drawn = reports.read_text(encoding="utf-8").split()
    whose = {"spec": spec_sha256(load_spec(spec.read_text(encoding="utf-8"))), "study": "s", "question": "q"}
    lines = [json.dumps({**whose, "report": int(each), "key": str(at)}) + "\n" for at, each in enumerate(drawn)]
    file, aside = tmp_path / "reports.jsonl", tmp_path / "aside.jsonl"
    file.write_text("".join([*lines, *lines, "{\n"]), encoding="utf-8")
    arguments = ("estimate", file, "--spec", spec, "--map", tmp_path / "heat.svg", "--json")
    code, out, err = run(*arguments)
    assert (code, out) == (3, "") and "line 8001 is not a JSON object" in json.loads(err)["error"]
    code, out, _ = run(*arguments, "--reject", aside)
    people = conforms(out, "estimate")["columns"][0]["estimates"][0]["people"]
    assert (code, people, aside.read_text(encoding="utf-8")) == (0, 4000, "{\n")


def test_check_ins_become_a_heat_map_with_the_mechanism_that_is_recommended_for_maps(run, tmp_path):
    """From a blank folder by the words of the commands alone."""
    rows = "".join(f"{each},50.1,{0.1 + each % 4 // 3 * 0.8}\n" for each in range(4000))
    (tmp_path / "people.csv").write_text("user,lat,lon\n" + rows, encoding="utf-8")
    out = run("plan", "new", tmp_path / "people.csv")[1]
    assert "# lat and lon look like a position." in out and '#   from = ["lat", "lon"]\n' in out
    spec, released, target = (tmp_path / name for name in ("cells.json", "out.parquet", "heat.geojson"))
    asked = ("design", "grid:50,0,51,1/20000", "--epsilon", "2", "--for", "map", "--output", spec)
    assert run(*asked)[0] == 0
    plan = '[columns.place]\nfrom = ["lat", "lon"]\nspec = "cells.json"\n'
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    err = run("privatize", tmp_path / "people.csv", released, "--plan", tmp_path / "plan.toml")[2]
    assert f"or for a map: bipartite estimate {released} --map heat.html\n" in err
    # Not seeded: one run in 10,000 may fail.
    code, out, _ = run("estimate", released, "--map", target, "--json", "--confidence", "0.9999")
    features = json.loads(target.read_text(encoding="utf-8"))["features"]
    largest = sorted(features, key=lambda each: -each["properties"]["share"])[:2]
    assert code == 0 and conforms(out, "estimate")["columns"][0]["estimates"][0]["people"] == 4000
    for each, share in zip(largest, (0.75, 0.25), strict=True):
        assert each["properties"]["low"] < share < each["properties"]["high"]


@pytest.mark.usefixtures("spec")
def test_of_several_positions_the_next_step_names_one(run, write, tmp_path):
    write("people.csv", "a,b\n50.1,0.1\n")
    both = "".join(f'[columns."{name}"]\nfrom = ["a", "b"]\nspec = "cells.json"\n' for name in ("my home", "work"))
    plan, out = write("plan.toml", both), tmp_path / "out.csv"
    err = run("privatize", tmp_path / "people.csv", out, "--plan", plan)[2]
    assert "out.csv --column 'my home' --map heat.html" in err
    code, _, err = run("estimate", out, "--map", tmp_path / "heat.svg")
    assert code == 2 and "--map draws one column of places, without groups; name it with --column" in err


def test_a_release_carries_what_it_was_made_with(run, tmp_path):
    cities = six_cities(tmp_path)
    (tmp_path / "plan.toml").write_text(
        '[columns.home]\nfrom = ["lat", "lon"]\ndomain = { places = "towns.csv" }\nmechanism = "grr"\nepsilon = 2\n'
        "[columns.age]\ndomain = { integers = [1, 9] }\nepsilon = 1\n",
        encoding="utf-8",
    )
    (tmp_path / "towns.csv").write_text(cities.read_text(encoding="utf-8").replace("label", "name"), encoding="utf-8")
    rows = "".join(f"48.9,2.3,{1 + each % 9}\n" for each in range(200))
    (tmp_path / "people.csv").write_text("lat,lon,age\n" + rows, encoding="utf-8")
    released, target = tmp_path / "out.parquet", tmp_path / "heat.geojson"
    plan = ("--plan", tmp_path / "plan.toml")
    assert run("privatize", tmp_path / "people.csv", released, *plan)[0] == 0
    assert run("estimate", released, "--map", target)[0] == 0  # the only column of places
    found = json.loads(target.read_text(encoding="utf-8"))
    assert len(found["features"]) == 6 and "ε = 2" in found["bipartite"]["guarantee"]
    code, _, err = run("estimate", released, "--column", "age", "--map", target)
    assert code == 2 and "--map draws places, and no column that is read has any; use --plot, or name another" in err
    code, _, err = run("estimate", released, "--column", "name", "--map", target)
    assert code == 2 and "Expected a private column of the release, got 'name'" in err
    known = tmp_path / "known.parquet"
    assert run("privatize", tmp_path / "people.csv", known, *plan, "--insecure-seed", "1")[0] == 0
    code, out, _ = run("estimate", known, "--map", target)
    assert code == 0 and out.startswith("NOT PRIVATE")
    assert json.loads(target.read_text(encoding="utf-8"))["bipartite"]["guarantee"].startswith("NOT PRIVATE")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--map", "heat.pdf"), "Expected --map as a file that ends with .html, .svg, .png, .geojson, got 'heat.pdf'"),
        (("--map", "heat.svg", "--confidence", "2"), "confidence"),
        (("--map", "heat.svg", "--by", "report"), "--map draws one column of places, without groups"),
        (("--map", "heat.svg", "--plot", "heat.svg"), "A file to be written is named twice"),
    ],
)
def test_options_that_do_not_fit_are_refused(run, spec, reports, options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found, out, err = run("estimate", reports, "--spec", spec, *options)
    assert (found, out) == (2, "") and message in err
    assert {path.name for path in tmp_path.iterdir()} == {"cells.json", "reports.csv"}


def test_no_map_is_drawn_of_files_without_reports(run, spec, tmp_path):
    target = tmp_path / "heat.svg"
    code, _, err = run("estimate", "-", "--spec", spec, "--map", target, stdin="report\n")
    assert code == 3 and "There are no reports" in err
    code, _, err = run("estimate", "-", "--spec", spec, "--map", target, stdin="0\nx\n")
    assert code == 3 and "line 2" in err and not target.exists()
