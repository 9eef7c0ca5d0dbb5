"""``bipartite locations``: lists of places are read or refused by line; maps, releases and tables are written."""

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
    """What the command makes of a text."""

    def listing(text, *options):
        path = tmp_path / "list.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        code, out, err = run("locations", "map", path, "--output", tmp_path / "map.svg", "--json", *options)
        return code, json.loads(out) if out else None, err

    return listing


def test_design_takes_what_is_recommended_and_writes_its_spec(run, file, tmp_path):
    spec = tmp_path / "spec.json"
    code, out, err = run("locations", "design", file, "--epsilon", "1", "--output", spec)
    assert (code, err) == (0, "")
    assert "6 places\n" in out and "ε-LDP of each report with ε = 1: holds" in out
    mechanism = load_spec(spec.read_text(encoding="utf-8"))
    assert mechanism.domain.labels[1] == "Paris"
    assert mechanism == bp.recommend(mechanism.domain, 1, "release").mechanism
    code, out, _ = run("locations", "design", file, "--epsilon", "1", "--json")
    found = conforms(out, "locations-design")
    assert (found["places"], found["holds"]) == (6, True)
    assert found["expected_loss"] == pytest.approx(bp.loss(mechanism).mean)
    assert found["worst_loss"] == pytest.approx(bp.loss(mechanism).worst)


@pytest.mark.parametrize("name", ["anchored", "brr", "brr-best", "exponential", "grr"])
def test_design_builds_each_release_by_name(run, file, name):
    code, out, _ = run("locations", "design", file, "--epsilon", "1", "--mechanism", name, "--json")
    found = conforms(out, "locations-design")
    assert code == 0 and found["holds"] and f"{name}, as asked for: {found['expected_loss']:.1f} km" in found["reason"]


@pytest.mark.parametrize("name", ["within-region", "two-level", "region-weighted", "lsrr", "planar-laplace"])
def test_the_releases_of_the_paper_are_in_the_laboratory(run, file, name):
    code, _, err = run("locations", "design", file, "--epsilon", "1", "--mechanism", name)
    assert code == 2 and "anchored, brr, brr-best, exponential, grr" in err.replace("'", "")
    assert run("locations", "design", file)[0] == 2


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_a_map_is_written_in_each_format(run, file, tmp_path, ending):
    target = tmp_path / f"map.{ending}"
    code, out, _ = run("locations", "map", file, "--output", target, "--title", "Shops & co", "--json")
    found = conforms(out, "locations-map")
    assert code == 0 and (found["format"], found["mechanism"]) == (ending, None)
    assert target.read_bytes().startswith({"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}[ending])
    assert ending != "svg" or "Shops &amp; co" in target.read_text(encoding="utf-8")
    asked = ("--epsilon", "2", "--mechanism", "brr", "--at", "Paris", "--output", target)
    code, out, _ = run("locations", "map", file, *asked)
    assert code == 0 and "ε-LDP of each report with ε = 2." in out and f"Wrote {target}." in out
    if ending == "svg":
        assert "BRR: ε-LDP of each report with ε = 2." in target.read_text(encoding="utf-8")


def test_without_the_extra_a_map_is_missing_before_anything_is_read(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = run("locations", "map", tmp_path / "nowhere.csv", "--output", tmp_path / "map.png")
    assert (code, out) == (4, "") and 'run: pip install "bipartite[plots]"' in err
    assert not (tmp_path / "map.png").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--output", "map.gif"), "ending in .svg, .png, .pdf, got 'map.gif'; rename it"),
        (("--output", "m.svg", "--mechanism", "brr"), "Expected --epsilon with --mechanism"),
        (("--output", "m.svg", "--at", "Paris"), "Expected --epsilon with --mechanism"),
        (("--output", "m.html"), "ending in .svg, .png, .pdf, got 'm.html'; rename it"),
        (("--output", "m.svg", "--epsilon", "1"), "the place of a fictitious person; try --at 'Berlin'"),
        (("--output", "m.svg", "--epsilon", "1", "--at", "Rom"), "Expected --at as the label of a place, got 'Rom'"),
        (("--output", "m.svg", "--dataset", "cities"), "Expected exactly one of FILE.csv, --dataset NAME, or --box"),
    ],
)
def test_options_of_a_map_that_do_not_fit_are_refused(run, file, options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("locations", "map", file, *options)
    assert (code, out) == (2, "") and message in err
    assert {path.name for path in tmp_path.iterdir()} == {"places.csv"}


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
    code, found, err = listed(text)
    assert (code, err) == (0, "") and found["places"] == 2


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
        ("lat,lon\n113.4,52.5\n102.4,48.9\n", "this looks like (longitude, latitude); swap the columns"),
        ("1,2\n1.000001,2\n", "Expected distinct places, got 1 within about 0.2 m of another"),
        ("lat,lon\nnan,2\n1,2\n3,4\n", "got NaN or infinity in 1 of 3 rows"),
        ("1,2\n", "at least 2 rows"),
        ("lat,lon\n", "got none"),
        ("lat,lon,label\n1,2,a\n3,4,a\n", "distinct"),
        ('1,2\n3,"4', "cannot be read as CSV"),
        ("lat,lon\n52,5,13,4\n48,9,2,4\n", "line 2 has 4 cells instead of 2; line 3 has 4 cells"),
        ("52,5,13,4\n48,9,2,4\n", "without a header, got 4 columns; name the columns in a header line"),
        ("1,2\n3,4,Rome\n", "line 2 has 3 cells instead of 2"),
        ("lat,lon,LAT\n1,2,3\n4,5,6\n", "the first line names 'lat' more than once"),
        ("lat,lon\n1,2\n1.000001,2\n3,4\n", "pass --merge 1 (metres)"),
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
    code, found, err = listed(text, "--merge", "1")
    assert (code, found) == (3, None) and reason in err
    assert "places taken from those reveal where someone was, whatever ε is" in err
    assert "confirm that the list is public: --places-are-public." in err
    code, found, _ = listed(text + "5;6;7;8\n" if ";" in text else text, "--merge", "1", "--places-are-public")
    assert code == 0 and found["places"] == 2


def test_columns_that_are_only_about_places_are_not_taken_for_people(listed):
    text = "lat,lon,label,owner,phone,candidate,usertype,daylight\n1,2,a,,,,,\n3,4,b,,,,,\n"
    assert listed(text)[0] == 0


def test_a_person_on_a_map_stands_at_a_row_number_or_label(listed):
    assert listed("lat,lon\n1,2\n3,4\n", "--epsilon", "1", "--mechanism", "grr", "--at", "1")[0] == 0
    code, _, err = listed("lat,lon\n1,2\n3,4\n", "--epsilon", "1", "--mechanism", "grr", "--at", "2")
    assert code == 2 and "Expected --at as a row number from 0 to 1, got '2'" in err
    _, _, err = listed("lat,lon\n1,2\n3,4\n", "--epsilon", "1", "--mechanism", "grr")
    assert "try --at '0'" in err


def test_a_person_on_a_grid_stands_in_a_cell(run, tmp_path):
    asked = ("locations", "map", "--box", "50,0,51,1", "--metres", "40000", "--epsilon", "1", "--mechanism", "grr")
    target = tmp_path / "map.svg"
    assert run(*asked, "--at", "B1", "--output", target)[0] == 0
    assert "A map for a person at B1 (50.83, 0.75)" in target.read_text(encoding="utf-8")
    code, _, err = run(*asked, "--at", "C1", "--output", target)
    assert code == 2 and "Expected --at as a row number from 0 to 5, or a cell such as 'A3', got 'C1'." in err


def test_a_missing_folder_is_named(run, file, tmp_path):
    code, _, err = run("locations", "map", file, "--output", tmp_path / "none" / "map.svg")
    assert code == 4 and "not found: " in err and "none" in err and "map.svg" not in err


def test_a_missing_file_is_missing(run, tmp_path):
    code, _, err = run("locations", "map", tmp_path / "none.csv", "--output", tmp_path / "map.svg")
    assert code == 4 and "none.csv" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--dataset", "atlantis"), "Expected --dataset cities, got 'atlantis'; name a FILE.csv for other places;"),
        (("--dataset", "gowalla"), "the data sets of the paper are in: python -m reproduction locations."),
        ((), "Expected exactly one of FILE.csv, --dataset NAME, or --box with --metres"),
    ],
)
def test_data_sets_that_do_not_fit_are_refused(run, tmp_path, options, message):
    code, _, err = run("locations", "map", *options, "--output", tmp_path / "map.svg")
    assert code == 2 and message in err


def test_the_cities_are_a_data_set_of_their_own(run, tmp_path):
    code, out, _ = run("locations", "map", "--dataset", "cities", "--output", tmp_path / "map.svg", "--json")
    assert code == 0 and json.loads(out)["places"] == 100
    assert "Places: GeoNames, CC BY 4.0, a selection." in (tmp_path / "map.svg").read_text(encoding="utf-8")
