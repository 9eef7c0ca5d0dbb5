"""Places in ``bipartite design``: lists are read or refused by line, releases designed, maps drawn."""

import json
import sys

import pytest

import bipartite as bp
from bipartite.mechanisms.spec import load_spec
from tests.cli.schemas import conforms
from tests.locations.worlds import six_cities


@pytest.fixture
def file(tmp_path):
    return six_cities(tmp_path)


@pytest.fixture
def listed(tmp_path, run):
    """What the command makes of a text: its exit code, the number of places, and what it complains of."""

    def listing(text, *options):
        path = tmp_path / "list.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        code, out, err = run("design", path, "--epsilon", "1", "--mechanism", "grr", "--json", *options)
        return code, json.loads(out)["values"] if out else None, err

    return listing


def test_design_takes_what_is_recommended_and_writes_its_spec(run, file, tmp_path):
    spec = tmp_path / "spec.json"
    code, out, err = run("design", file, "--epsilon", "1", "--for", "release", "--output", spec)
    assert code == 0 and err.startswith("bipartite: next: a plan ") and "ε-LDP of each report with ε = 1: holds" in out
    mechanism = load_spec(spec.read_text(encoding="utf-8"))
    assert mechanism.domain.labels[1] == "Paris"
    assert mechanism == bp.recommend(mechanism.domain, 1, "release").mechanism
    code, out, _ = run("design", file, "--epsilon", "1", "--for", "release", "--json")
    found = conforms(out, "design")
    assert (found["values"], found["holds"]) == (6, True)
    assert found["expected_loss"] == pytest.approx(bp.loss(mechanism).mean)
    assert found["worst_loss"] == pytest.approx(bp.loss(mechanism).worst)
    code, out, _ = run("design", "grid:50,0,51,1/40000", "--epsilon", "1", "--for", "map", "--json")
    cells = bp.locations.grid((50, 0, 51, 1), metres=40_000)
    assert code == 0 and bp.from_spec(json.loads(out)["spec"]) == bp.recommend(cells, 1, "map").mechanism


@pytest.mark.parametrize("name", ["anchored", "brr", "exponential", "grr"])
def test_design_builds_each_release_by_name(run, file, name):
    code, out, _ = run("design", file, "--epsilon", "1", "--mechanism", name, "--json")
    found = conforms(out, "design")
    assert code == 0 and found["holds"] and found["spec"]["mechanism"] == name


@pytest.mark.parametrize("name", ["within-region", "two-level", "region-weighted", "lsrr", "planar-laplace"])
def test_the_releases_of_the_paper_are_in_the_laboratory(run, file, name):
    code, _, err = run("design", file, "--epsilon", "1", "--mechanism", name)
    assert code == 2 and "anchored-means, brr, " in err.replace("'", "")


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_a_map_is_written_in_each_format(run, file, tmp_path, ending):
    target = tmp_path / f"map.{ending}"
    code, _, err = run("design", file, "--epsilon", "1", "--plot", target)
    assert (code, err) == (0, "")
    assert target.read_bytes().startswith({"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}[ending])
    assert ending != "svg" or "A map: 6 places." in target.read_text(encoding="utf-8")


def test_without_the_extra_a_map_is_missing_before_anything_is_read(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = run("design", tmp_path / "nowhere.csv", "--epsilon", "1", "--plot", tmp_path / "map.png")
    assert (code, out) == (4, "") and 'run: pip install "bipartite[plots]"' in err
    assert not (tmp_path / "map.png").exists()


@pytest.mark.parametrize("name", ["map.gif", "m.html"])
def test_a_map_of_another_kind_is_refused(run, file, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("design", file, "--epsilon", "1", "--plot", name, "--output", "spec.json")
    assert (code, out) == (2, "") and f"ending in .svg, .png, .pdf, got '{name}'; rename it" in err
    assert {path.name for path in tmp_path.iterdir()} == {"places.csv"}


def test_points_that_are_not_on_the_globe_have_no_map(run, spec, tmp_path):
    plane = spec(bp.GRR(bp.Points([[0, 0], [1, 1]]), 1))
    code, _, err = run("design", plane, "--plot", tmp_path / "map.svg", "--output", tmp_path / "out.json")
    assert code == 2 and "Expected places as bp.Points(…, metric='haversine')" in err
    assert not (tmp_path / "out.json").exists()


READABLE = {
    "bare": "52.5,13.4\n48.9,2.4\n",
    "bare with labels": "52.5,13.4,Berlin\n48.9,2.4,Paris\n",
    "header": "lat,lon\n52.5,13.4\n48.9,2.4\n",
    "Excel with semicolons, any order": "\ufeffLongitude;Name;Latitude\r\n13.4;Berlin;52.5\r\n2.4;Paris;48.9\r\n",
    "tabs, quotes, empty lines": 'id\tlng\tlat\n"a\nb"\t13.4\t52.5\n\nc\t2.4\t48.9',
    "empty cells at the end, lines of blanks": "lat,lon\n52.5,13.4,\n  \n48.9,2.4,\n,\n",
}


@pytest.mark.parametrize("text", READABLE.values(), ids=READABLE)
def test_files_with_and_without_a_header_are_read(listed, text):
    assert listed(text) == (0, 2, "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; add a line with latitude and longitude"),
        ("a,b\n1,2\n3,4\n", "expected columns lat and lon (or latitude, longitude) in the first line, got 'a', 'b'"),
        (
            "lat,lon\n1,2\nx,4\n5,\n",
            "line 3 has a latitude that is not a number; line 4 has a longitude that is not a number",
        ),
        ("lat,lon,label\n1,2,a\n3,4\n", "line 3 has 2 cells instead of 3"),
        ("lat,lon\n" + "x,1\n" * 8, "and 3 more; repair or remove them"),
        ("lat,lon\n113.4,52.5\n102.4,48.9\n", "list.csv: Expected latitudes in ±90 and longitudes in ±180 degrees"),
        ("1,2\n1.000001,2\n", "list.csv: Expected points at least"),
        ("lat,lon\nnan,2\n1,2\n3,4\n", "list.csv: Expected finite coordinates, got NaN or infinity"),
        ("1,2\n", "at least 2 rows"),
        ("lat,lon\n", "at least 2 rows"),
        ("lat,lon,label\n1,2,a\n3,4,a\n", "distinct"),
        ('1,2\n3,"4', "cannot be read as CSV"),
        ("lat,lon\n52,5,13,4\n48,9,2,4\n", "line 2 has 4 cells instead of 2; line 3 has 4 cells"),
        ("52,5,13,4\n48,9,2,4\n", "without a header, got 4 columns; name the columns in a header line"),
        ("1,2\n3,4,Rome\n", "line 2 has 3 cells instead of 2"),
        ("lat,lon,LAT\n1,2,3\n4,5,6\n", "the first line names 'lat' more than once"),
        (b"\xff\xfe1,2\n", "is not UTF-8 text"),
    ],
)
def test_files_that_cannot_be_used_are_refused_with_the_reason(listed, text, message):
    code, found, err = listed(text)
    assert (code, found) == (3, None) and message in err


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("lat,lon\n1,2\n3,4\n1,2\n1,2\n", "repeats coordinates in 2 rows, the first on line 4."),
        ("lat,lon,user_id\n1,2,7\n3,4,8\n", "has a column of people or times next to the places: 'user_id'."),
        ("lat,lon,visitTime,label\n1,2,9,a\n3,4,9,b\n", "next to the places: 'visitTime'."),
        (
            "Person;lat;lon;CHECKED IN UTC\n5;1;2;x\n5;1;2;y\n",
            "has columns of people or times next to the places: 'Person', 'CHECKED IN UTC'; it repeats",
        ),
    ],
)
def test_a_list_that_looks_like_the_positions_of_people_is_refused_until_it_is_called_public(listed, text, reason):
    code, found, err = listed(text)
    assert (code, found) == (3, None) and reason in err
    assert "places taken from those reveal where someone was, whatever ε is" in err
    assert "confirm that the list is public: --places-are-public." in err
    code, found, err = listed(text, "--places-are-public")
    repeats = "repeats" in reason
    assert (code, found) == ((3, None) if repeats else (0, 2)) and ("Expected distinct points" in err) == repeats


def test_columns_that_are_only_about_places_are_not_taken_for_people(listed):
    text = "lat,lon,label,owner,phone,candidate,usertype,daylight\n1,2,a,,,,,\n3,4,b,,,,,\n"
    assert listed(text)[0] == 0


def test_a_missing_folder_is_named(run, file, tmp_path):
    code, _, err = run("design", file, "--epsilon", "1", "--plot", tmp_path / "none" / "map.svg")
    assert code == 4 and "not found: " in err and "none" in err and "map.svg" not in err


def test_a_missing_file_is_missing(run, tmp_path):
    code, _, err = run("design", tmp_path / "none.csv", "--epsilon", "1")
    assert code == 4 and "none.csv" in err


def test_the_map_of_the_cities_names_their_source(run, tmp_path):
    code, out, _ = run("design", "cities", "--epsilon", "1", "--plot", tmp_path / "map.svg", "--json")
    assert code == 0 and json.loads(out)["values"] == 100
    assert "Places: GeoNames, CC BY 4.0, a selection." in (tmp_path / "map.svg").read_text(encoding="utf-8")
