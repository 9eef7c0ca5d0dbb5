"""``bipartite locations``: lists of places are read or refused by line; maps, releases and tables are written."""

import csv
import json
import sys

import pytest

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


def test_design_chooses_a_release_and_writes_its_spec(run, file, tmp_path):
    spec, table = tmp_path / "spec.json", tmp_path / "rows.csv"
    code, out, err = run("locations", "design", file, "--epsilon", "1", "--output", spec, "--csv", table)
    assert (code, err) == (0, "")
    assert "6 places in one region" in out and "the least of all that are ε-LDP on all places with ε = 1" in out
    assert "ε-LDP of each report with ε = 1: holds" in out
    assert "none: region published" in out
    mechanism = load_spec(spec.read_text(encoding="utf-8"))
    assert mechanism.domain.labels[1] == "Paris"
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert {"GRR", "Anchored"} <= {row["name"] for row in rows}
    code, out, _ = run("locations", "design", file, "--epsilon", "1", "--json")
    found = conforms(out, "locations-design")
    assert (found["places"], found["publishes"], found["holds"]) == (6, None, True)
    assert found["expected_loss"] == min(row["expected_loss"] for row in found["rows"] if row["eligible"])


@pytest.mark.parametrize(
    "name", ["anchored", "brr", "brr-best", "exponential", "grr", "lsrr", "region-weighted", "two-level"]
)
def test_design_builds_each_release_by_name(run, file, name):
    code, out, _ = run(
        "locations", "design", file, "--epsilon", "1", "--mechanism", name, "--regions", "side", "--json"
    )
    found = conforms(out, "locations-design")
    assert code == 0 and found["holds"] and found["publishes"] is None and len(found["rows"]) == 1
    assert found["rows"][0]["eligible"] and found["regions"]["count"] == 2


def test_a_release_within_regions_needs_the_words(run, file):
    asked = ("locations", "design", file, "--epsilon", "1", "--mechanism", "within-region", "--regions", "side")
    code, out, err = run(*asked)
    assert (code, out) == (2, "") and "every report reveals the region" in err and "no ε covers" in err
    code, out, _ = run(*asked, "--publishes", "region", "--json")
    found = conforms(out, "locations-design")
    assert code == 0 and found["publishes"] == "region" and "this is not ε-LDP" in found["guarantee"]
    assert found["rows"][0]["realised_epsilon"] is None and not found["rows"][0]["eligible"]
    code, _, err = run("locations", "design", file, "--epsilon", "1", "--publishes", "region")
    assert code == 2 and "--publishes is for --mechanism within-region" in err
    assert run("locations", "design", file)[0] == 2


@pytest.mark.usefixtures("small_png")
@pytest.mark.parametrize("ending", ["svg", "png", "html"])
def test_a_map_is_written_in_each_format(run, file, tmp_path, ending):
    target = tmp_path / f"map.{ending}"
    code, out, _ = run("locations", "map", file, "--output", target, "--json")
    found = conforms(out, "locations-map")
    assert code == 0 and (found["format"], found["mechanism"]) == (ending, None)
    starts = {"svg": b"<svg", "png": b"\x89PNG", "html": b"<!DOCTYPE html>"}
    assert target.read_bytes().startswith(starts[ending])
    at = () if ending == "html" else ("--at", "Paris")
    code, out, _ = run("locations", "map", file, "--epsilon", "2", "--mechanism", "brr", *at, "--output", target)
    assert code == 0 and "ε-LDP of each report with ε = 2." in out and f"Wrote {target}." in out
    if ending != "png":
        assert "BRR: ε-LDP of each report with ε = 2." in target.read_text(encoding="utf-8")


def test_a_map_within_regions_says_what_is_published(run, file, tmp_path):
    words = ("--mechanism", "within-region", "--publishes", "region", "--regions", "side")
    target = tmp_path / "map.html"
    code, out, _ = run("locations", "map", file, "--epsilon", "2", *words, "--output", target, "--title", "<b>Us</b>")
    assert code == 0 and "this is not ε-LDP" in out
    text = target.read_text(encoding="utf-8")
    assert '<p class="promise not">' in text and "<h1>&lt;b&gt;Us&lt;/b&gt;</h1>" in text


def test_without_the_extra_a_png_is_missing_and_nothing_is_written(run, file, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    code, out, err = run("locations", "map", file, "--output", tmp_path / "map.png")
    assert (code, out) == (4, "") and 'run: pip install "bipartite[png]"' in err
    assert not (tmp_path / "map.png").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--output", "map.gif"), "ends with .svg, .png, .html, got 'map.gif'"),
        (("--output", "m.svg", "--mechanism", "brr"), "Expected --epsilon with --mechanism"),
        (("--output", "m.svg", "--at", "Paris"), "Expected --epsilon with --mechanism"),
        (("--output", "m.html", "--epsilon", "1", "--at", "Paris"), "--at is for a picture"),
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


def test_merging_keeps_the_region_of_the_place_that_stands_for_all(listed):
    text = "lat,lon,side\n10,20,a\n10.00001,20,b\n11,20,a\n12,20,b\n13,20,b\n"
    code, found, _ = listed(text, "--merge", "5", "--regions", "side")
    assert code == 0 and found["places"] == 4 and found["regions"]["count"] == 2
    assert listed(text, "--regions", "land")[0] == 3
    assert listed("1,2\n3,4\n", "--regions", "land")[0] == 3
    assert listed("lat,lon\n1,2\n3,4\n", "--epsilon", "1", "--mechanism", "grr", "--at", "1")[0] == 0
    code, _, err = listed("lat,lon\n1,2\n3,4\n", "--epsilon", "1", "--mechanism", "grr", "--at", "2")
    assert code == 2 and "Expected --at as a row number from 0 to 1, got '2'" in err
    _, _, err = listed("lat,lon\n1,2\n3,4\n", "--epsilon", "1", "--mechanism", "grr")
    assert "try --at '0'" in err


def test_a_place_without_a_region_is_refused(listed):
    code, found, err = listed("lat,lon,side\n1,2,a\n3,4,\n5,6,a\n7,8, \n", "--regions", "side")
    assert (code, found) == (3, None)
    assert "list.csv: column 'side': Expected a region for every place" in err and "got 2 of 4 places" in err


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
        (("--dataset", "cities", "--regions", "x"), "--regions names a column of a FILE"),
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
    run("locations", "map", "--dataset", "cities", "--output", tmp_path / "map.html")
    assert "Places: GeoNames, CC BY 4.0, a selection." in (tmp_path / "map.html").read_text(encoding="utf-8")


def test_a_release_that_cannot_be_made_is_said_so(run, file):
    code, out, _ = run("locations", "design", file, "--epsilon", "45")
    assert code == 0 and "nan" not in out and "GRR cannot be made with this ε" in out


def test_planar_laplace_takes_its_epsilon_per_km_and_says_that_it_is_not_ldp(run, file, tmp_path):
    spec = tmp_path / "spec.json"
    asked = ("locations", "design", file, "--mechanism", "planar-laplace", "--output", spec)
    code, out, _ = run(*asked, "--per-km", "0.001")
    assert code == 0 and "km expected; this is not ε-LDP." in out
    assert "geo-indistinguishability of each report with ε = 0.001 per km of distance; this is not ε-LDP: holds" in out
    assert (
        "(*) Planar Laplace promises geo-indistinguishability, not ε-LDP: the odds between two places d km apart" in out
    )
    made = load_spec(spec.read_text(encoding="utf-8"))
    told = float(out.split("On these places it is ε-LDP with ε = ")[1].split(".\n")[0])
    assert made.distance_unit == "km" and float(made.ldp_epsilon) <= told < float(made.ldp_epsilon) + 2e-4
    for wrong in (("--epsilon", "1"), ("--epsilon", "1", "--per-km", "1"), ()):
        code, out, err = run(*asked, *wrong)
        assert (code, out) == (2, "") and "its ε is per km of distance (geo-indistinguishability), which is not" in err


@pytest.mark.parametrize("named", [(), ("--mechanism", "brr")])
def test_planar_laplace_stands_beside_the_others_and_is_never_chosen(run, file, named):
    asked = ("locations", "design", file, "--epsilon", "1", "--per-km", "0.01", *named)
    code, out, _ = run(*asked)
    assert code == 0 and "ε-LDP of each report with ε = 1: holds" in out and "0.01 per km" in out
    assert "For places closer than 100 km this is stronger than ε-LDP with ε = 1, for more distant ones weaker" in out
    assert "neither implies the other, and their errors are not comparable" in out
    found = conforms(run(*asked, "--json")[1], "locations-design")
    (row,) = [each for each in found["rows"] if each["name"] == "Planar Laplace"]
    # With 0.01 per km it is nearer to the truth than anything with ε = 1, and still not chosen.
    assert row["expected_loss"] < found["expected_loss"] and not row["eligible"] and "not ε-LDP" in row["guarantee"]


def test_a_map_of_planar_laplace_says_that_it_is_not_ldp(run, file, tmp_path):
    target = tmp_path / "map.html"
    asked = ("locations", "map", file, "--output", target)
    code, out, _ = run(*asked, "--mechanism", "planar-laplace", "--per-km", "0.01")
    assert code == 0 and "this is not ε-LDP" in out
    assert '<p class="promise not">PlanarLaplace: geo-indist' in target.read_text(encoding="utf-8")
    code, _, err = run(*asked, "--epsilon", "1", "--per-km", "0.01")
    assert code == 2 and "--per-km on a map is for --mechanism planar-laplace" in err
    code, _, err = run(*asked, "--per-km", "0.01")
    assert code == 2 and "Expected --epsilon with --mechanism" in err
