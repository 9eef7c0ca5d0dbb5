"""``python -m reproduction locations``: all releases side by side, on any list of places."""

import json

import pytest

from reproduction.tests.published import conforms
from tests.locations.worlds import six_cities


@pytest.fixture
def file(tmp_path):
    return six_cities(tmp_path)


def test_compare_has_a_row_for_each_release_and_says_what_is_not_ldp(run, file, tmp_path):
    table = tmp_path / "rows.csv"
    asked = ("locations", "compare", file, "--epsilon", "1", "2")
    code, out, err = run(*asked, "--csv", table)
    assert (code, err) == (0, "") and "this is not ε-LDP" in out and "BRR safe lies" in out
    code, out, _ = run(*asked, "--json")
    found = conforms(json.loads(out), "locations-compare")
    assert {row["epsilon"] for row in found["rows"]} == {"1", "2"}
    assert all(row["realised_epsilon"] is None for row in found["rows"] if row["scope"] == "within regions")
    assert len(table.read_text(encoding="utf-8").splitlines()) == 1 + len(found["rows"])


def test_compare_marks_what_spends_more_than_its_epsilon(run):
    code, out, _ = run("locations", "compare", "cities", "--epsilon", "2")
    assert code == 0 and "3.0808 (!)" in out and "(!) spends more than its stated ε" in out


def test_an_epsilon_that_few_releases_keep_is_compared_without_them(run, file):
    code, out, err = run("locations", "compare", file, "--epsilon", "45", "--json")
    assert (code, err) == (0, "")
    found = conforms(json.loads(out, parse_constant=pytest.fail), "locations-compare")
    assert found["improvements"] == []
    code, out, _ = run("locations", "compare", file, "--epsilon", "1", "45")
    assert code == 0 and "nan" not in out and "on average, whole domain" in out


@pytest.mark.data
def test_data_sets_are_found_by_the_beginning_of_their_names(run, tmp_path):
    target = tmp_path / "map.svg"
    code, out, _ = run("locations", "map", "gowalla-authors", "--output", target, "--json")
    assert code == 0 and json.loads(out)["regions"]["count"] == 14
    code, _, err = run("locations", "map", "gowalla-paris", "--output", target)
    assert code == 2 and "distinct places; take some of them, for example --sample 1000" in err
    asked = ("locations", "map", "foursquare-nyc-ufsc", "--sample", "50", "--output", target, "--json")
    code, out, _ = run(*asked)
    assert code == 0 and json.loads(out)["places"] == 50


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("atlantis",), "got 'atlantis', none of them"),
        (("gowalla-l",), "got 'gowalla-l', the beginning of 3"),
        (("gowalla-histogram",), "none of them"),
        (("cities", "--sample", "5"), "--sample belongs to a data set of check-ins; leave it out."),
        (("cyclic:24",), "Expected places, such as shops.csv, cities or grid:S,W,N,E/METRES, got 'cyclic:24'."),
    ],
)
def test_data_sets_that_do_not_fit_are_refused(run, tmp_path, options, message):
    code, _, err = run("locations", "map", *options, "--output", tmp_path / "map.svg")
    assert code == 2 and message in err


def test_the_beginning_of_a_name_is_enough(run, tmp_path):
    code, out, _ = run("locations", "map", "cit", "--output", tmp_path / "map.svg", "--json")
    assert code == 0 and json.loads(out)["places"] == 100


def test_planar_laplace_stands_beside_the_others_and_says_that_it_is_not_ldp(run, file):
    asked = ("locations", "compare", file, "--epsilon", "1", "--per-km", "0.01")
    code, out, _ = run(*asked)
    assert code == 0 and "0.01 per km" in out
    assert (
        "(*) Planar Laplace promises geo-indistinguishability, not ε-LDP: the odds between two places d km apart" in out
    )
    assert "For places closer than 100 km this is stronger than ε-LDP with ε = 1, for more distant ones weaker" in out
    assert "neither implies the other, and their errors are not comparable" in out
    found = conforms(json.loads(run(*asked, "--json")[1]), "locations-compare")
    (row,) = [each for each in found["rows"] if each["name"] == "Planar Laplace"]
    assert not row["eligible"] and "not ε-LDP" in row["guarantee"]
