"""``bipartite locations heat``: a box to a grid, reports to a map, with what they promise."""

import functools
import json
import sys

import pytest
from bipartite.cli.heat_page import page

from bipartite import BRR, GRR
from bipartite.locations import heat_map
from bipartite.mechanisms.spec import load_spec, spec_sha256
from tests.cli.schemas import conforms
from tests.locations.test_heat import SQUARE, heated
from tests.locations.worlds import six_cities

BOX = ("--box", "50,0,51,1", "--metres", "40000")  # three rows of two cells


@pytest.fixture
def spec(run, tmp_path):
    path = tmp_path / "cells.json"
    asked = ("locations", "design", *BOX, "--epsilon", "3", "--mechanism", "grr", "--output", path)
    code, out, err = run(*asked)
    assert (code, err) == (0, "") and "grid of at most 40000 m: 6 places" in out
    return path


@pytest.fixture
def reports(run, spec, tmp_path):
    path = tmp_path / "reports.csv"
    _, out, _ = run("report", "--spec", spec, "--insecure-seed", "1", stdin="0\n" * 3000 + "5\n" * 1000)
    path.write_text(out, encoding="utf-8")
    return path


@pytest.mark.parametrize("ending", ["html", "svg", "png", "geojson"])
def test_a_heat_map_is_written_in_each_format(run, spec, reports, tmp_path, ending):
    target = tmp_path / f"heat.{ending}"
    code, out, _ = run("locations", "heat", reports, "--spec", spec, "--output", target, "--json")
    found = conforms(out, "locations-heat")
    assert code == 0 and (found["format"], found["places"], found["reports"]) == (ending, 6, 4000)
    assert found["guarantee"] == "ε-LDP of each report with ε = 3" and found["note"] == ""
    largest = found["largest"]
    assert len(largest) == 5 and largest[0]["place"] == "A3 (50.17, 0.25)"
    assert largest[0]["low"] < 0.75 < largest[0]["high"] and largest[1]["low"] < 0.25 < largest[1]["high"]
    starts = {"svg": b"<svg", "png": b"\x89PNG", "html": b"<!DOCTYPE html>", "geojson": b'{"type": "FeatureCollection"'}
    assert target.read_bytes().startswith(starts[ending])
    if ending == "geojson":  # the spec rounds where the cells are, and they are drawn all the same
        features = json.loads(target.read_bytes())["features"]
        assert {each["geometry"]["type"] for each in features} == {"Polygon"}
        assert [each["properties"]["name"] for each in features] == ["A3", "B3", "A2", "B2", "A1", "B1"]


@pytest.mark.parametrize("ending", ["html", "svg", "png"])
def test_without_the_extra_a_picture_is_missing_before_anything_is_read(run, tmp_path, monkeypatch, ending):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    asked = ("locations", "heat", tmp_path / "nowhere.csv", "--spec", tmp_path / "nowhere.json")
    code, out, err = run(*asked, "--output", tmp_path / f"heat.{ending}")
    assert (code, out) == (4, "") and 'run: pip install "bipartite[plots]"' in err
    assert not list(tmp_path.iterdir())


def test_geojson_needs_no_extra(run, spec, reports, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    target = tmp_path / "heat.geojson"
    assert run("locations", "heat", reports, "--spec", spec, "--output", target)[0] == 0 and target.exists()


def test_what_is_printed_names_the_promise_and_the_confidence(run, spec, reports, tmp_path):
    target = tmp_path / "heat.html"
    words = ("--title", "Us", "--credit", "me", "--smoothing-km", "20", "--confidence", "0.9")
    code, out, err = run("locations", "heat", reports, "--spec", spec, "--output", target, *words)
    assert (code, err) == (0, "")
    assert "4,000 reports of 6 places. Guarantee: ε-LDP of each report with ε = 3." in out
    assert "hold simultaneously for all places with 90 % confidence" in out and f"Wrote {target}." in out
    text = target.read_text(encoding="utf-8")
    assert "<h1>Us</h1>" in text and "Places: me." in text and "smoothed over 20 km" in text
    caveat = "hares and intervals are of people spread over 20 km around where they are. "
    assert f"S{caveat}The intervals hold for all" in text and caveat.strip() in out  # beside the table, too


def test_a_page_has_the_map_the_promise_and_a_table_and_loads_nothing():
    square = heated(SQUARE, [0] * 12_000 + [5] * 4_000)
    text = page(square, "<b>", "me & you", 0.9)
    assert "<h1>&lt;b&gt;</h1>" in text and "Places: me &amp; you." in text and "<script" not in text
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
    few = page(heated(SQUARE, [0] * 20), "", "", 0.95)
    assert "too few for intervals. There are no intervals.</p>" in few and "dark edge" not in few
    guessed = page(heat_map(BRR(SQUARE, 1, m=3), [0] * 60), "", "", 0.95)
    assert "These shares are guesses: there are no intervals." in guessed
    unfit = heat_map(GRR(SQUARE, 1), [0] * 5000)
    assert "<strong>Guarantee: no ε is claimed" in page(unfit, "", "", 0.95)


def test_collected_reports_count_once_and_what_is_none_is_set_aside(run, spec, reports, tmp_path):
    drawn = reports.read_text(encoding="utf-8").split()
    whose = {"spec": spec_sha256(load_spec(spec.read_text(encoding="utf-8"))), "study": "s", "question": "q"}
    lines = [json.dumps({**whose, "report": int(each), "key": str(at)}) + "\n" for at, each in enumerate(drawn)]
    file, aside = tmp_path / "reports.jsonl", tmp_path / "aside.jsonl"
    file.write_text("".join([*lines, *lines, "{\n"]), encoding="utf-8")
    arguments = ("locations", "heat", file, "--spec", spec, "--output", tmp_path / "heat.svg", "--json")
    code, out, err = run(*arguments)
    assert (code, out) == (3, "") and "line 8001 is not a JSON object" in json.loads(err)["error"]
    code, out, _ = run(*arguments, "--reject", aside)
    assert (code, json.loads(out)["reports"], aside.read_text(encoding="utf-8")) == (0, 4000, "{\n")


def test_check_ins_become_a_heat_map_with_the_mechanism_that_is_recommended_for_maps(run, tmp_path):
    """From a blank folder by the words of the commands alone."""
    rows = "".join(f"{each},50.1,{0.1 + each % 4 // 3 * 0.8}\n" for each in range(4000))
    (tmp_path / "people.csv").write_text("user,lat,lon\n" + rows, encoding="utf-8")
    out = run("plan", "new", tmp_path / "people.csv")[1]
    assert "# lat and lon look like a position." in out and '#   from = ["lat", "lon"]\n' in out
    spec, released, target = (tmp_path / name for name in ("cells.json", "out.parquet", "heat.geojson"))
    finer = ("--box", "50,0,51,1", "--metres", "20000")
    asked = ("locations", "design", *finer, "--epsilon", "2", "--for", "map", "--output", spec)
    code, out, _ = run(*asked)
    assert code == 0 and "To map how many people are at each place, take Subset Selection" in out
    found = conforms(run(*asked, "--json")[1], "locations-design")
    assert (found["expected_loss"], found["holds"]) == (None, True)
    code, _, err = run(*asked, "--mechanism", "grr")
    assert code == 2 and "--for map chooses the mechanism; leave out --mechanism." in err
    plan = '[columns.place]\nfrom = ["lat", "lon"]\nspec = "cells.json"\n'
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    err = run("privatize", tmp_path / "people.csv", released, "--plan", tmp_path / "plan.toml")[2]
    assert f"or for a map: bipartite locations heat {released} --output heat.html\n" in err
    # Not seeded: one run in 10,000 may fail.
    code, out, _ = run("locations", "heat", released, "--output", target, "--json", "--confidence", "0.9999")
    largest = conforms(out, "locations-heat")["largest"]
    assert code == 0 and largest[0]["low"] < 0.75 < largest[0]["high"] and largest[1]["low"] < 0.25 < largest[1]["high"]


def test_of_several_positions_the_next_step_names_one(run, tmp_path):
    (tmp_path / "people.csv").write_text("a,b\n50.1,0.1\n", encoding="utf-8")
    run("locations", "design", *BOX, "--epsilon", "2", "--for", "map", "--output", tmp_path / "cells.json")
    both = "".join(f'[columns."{name}"]\nfrom = ["a", "b"]\nspec = "cells.json"\n' for name in ("my home", "work"))
    (tmp_path / "plan.toml").write_text(both, encoding="utf-8")
    err = run("privatize", tmp_path / "people.csv", tmp_path / "out.csv", "--plan", tmp_path / "plan.toml")[2]
    assert "out.csv --column 'my home' --output heat.html" in err


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
    code, out, _ = run("locations", "heat", released, "--output", target, "--json")
    found = json.loads(out)
    assert code == 0 and (found["places"], found["reports"]) == (6, 200) and "ε = 2" in found["guarantee"]
    code, _, err = run("locations", "heat", released, "--column", "age", "--output", target)
    assert code == 2 and "Expected places as bp.Points" in err
    code, _, err = run("locations", "heat", released, "--column", "name", "--output", target)
    assert code == 2 and "Expected a private column of the release, got 'name'" in err
    known = tmp_path / "known.parquet"
    assert run("privatize", tmp_path / "people.csv", known, *plan, "--insecure-seed", "1")[0] == 0
    code, out, _ = run("locations", "heat", known, "--output", target)
    assert code == 0 and "Guarantee: NOT PRIVATE" in out
    assert json.loads(target.read_text(encoding="utf-8"))["bipartite"]["guarantee"].startswith("NOT PRIVATE")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--output", "heat.pdf"), 2, "ends with .html, .svg, .png, .geojson, got 'heat.pdf'"),
        (("--output", "heat.svg", "--confidence", "2"), 2, "confidence"),
        (("--output", "heat.svg", "--smoothing-km", "-1"), 2, "Expected --smoothing-km as a number of km ≥ 0"),
    ],
)
def test_options_that_do_not_fit_are_refused(run, spec, reports, options, code, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found, out, err = run("locations", "heat", reports, "--spec", spec, *options)
    assert (found, out) == (code, "") and message in err
    assert {path.name for path in tmp_path.iterdir()} == {"cells.json", "reports.csv"}


def test_reports_without_a_spec_and_files_without_reports_are_refused(run, spec, reports, tmp_path):
    target = tmp_path / "heat.svg"
    code, _, err = run("locations", "heat", reports, "--output", target)
    assert code == 2 and "Expected --spec, the mechanism that made the reports" in err
    code, _, err = run("locations", "heat", "-", "--spec", spec, "--output", target, stdin="report\n")
    assert code == 3 and "There are no reports" in err
    code, _, err = run("locations", "heat", "-", "--spec", spec, "--output", target, stdin="0\nx\n")
    assert code == 3 and "line 2" in err
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    assert run("locations", "heat", reports, "--spec", tmp_path / "bad.json", "--output", target)[0] == 3
    assert not target.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--box", "50,0,51"), "Expected --box and --metres together, for a grid"),
        (("--metres", "5"), "Expected exactly one of FILE.csv, --dataset NAME, or --box with --metres"),
        (("--box", "50,0,51", "--metres", "5"), "Expected --box as four numbers, got [50.0, 0.0, 51.0]"),
        (("--box", "50,0,51,x", "--metres", "5"), "south, west, north and east in degrees, got '50,0,51,x'"),
        (("--box", "51,0,50,1", "--metres", "5"), "−90 ≤ south ≤ north ≤ 90"),
        (("--box", "50,0,51,1", "--metres", "5"), "Expected at most 100,000 cells"),
        (("--box", "50,0,51,1", "--metres", "5e4", "--merge", "1"), "--merge is for a FILE; leave it out with --box"),
        (("--box", "50,0,51,1", "--metres", "5e4", "--dataset", "cities"), "exactly one of"),
    ],
)
def test_boxes_that_make_no_grid_are_refused(run, tmp_path, options, message):
    code, out, err = run("locations", "map", *options, "--output", tmp_path / "map.svg")
    assert (code, out) == (2, "") and message in err
