"""``python -m reproduction datasets``: lists, fetches, and says what is missing."""

import json

import pytest

from reproduction.datasets import SOURCES
from reproduction.tests.datasets.conftest import toy
from reproduction.tests.published import conforms

pytestmark = pytest.mark.usefixtures("no_fetching")


def test_the_list_says_where_each_is_or_would_come_from(run, folder, cache):
    cache.mkdir()
    for where, name in (
        (folder, "gowalla_stacp_user_poi_counts.csv.gz"), (cache, "abalone.data"), (folder, "adult.data"),  # one of two
    ):  # fmt: skip
        (where / name).write_bytes(b"")
    code, out, err = run("datasets")
    assert (code, err) == (0, "")
    where = {line.split()[0]: line for line in out.splitlines()}
    assert set(where) == {"name", *SOURCES}
    assert where["gowalla-stacp"].split()[1:3] == ["378,968", "BIPARTITE_DATA"]
    assert where["abalone"].split()[1:] == ["4,177", "cache", "CC", "BY", "4.0"]
    assert "fetch from archive.ics.uci.edu" in where["adult"]
    assert "not here, and no address" in where["gowalla-authors-1000"]
    assert max(map(len, out.splitlines())) <= 120


def test_the_list_for_programs_conforms_to_its_schema(run, folder):
    (folder / "abalone.zip").write_bytes(b"")
    code, out, err = run("datasets", "list", "--json")
    assert (code, err) == (0, "")
    listed = conforms(json.loads(out), "datasets")
    assert listed["folder"] == str(folder)
    by_name = {each["name"]: each for each in listed["datasets"]}
    assert list(by_name) == list(SOURCES)
    found = by_name["abalone"]
    assert (found["call"], by_name["gowalla-stacp"]["call"]) == ("abalone()", 'check_ins("gowalla-stacp")')
    assert found["present"]
    assert found["files"] == [{"part": "data", "name": "abalone.zip", "path": str(folder / "abalone.zip")}]
    assert by_name["mnist"]["url"].startswith("http://yann.lecun.com/") and not by_name["mnist"]["present"]
    assert by_name["gowalla-stacp"]["url"] is None


def test_fetching_what_is_here_checks_it_and_says_on_which_terms(run, folder, monkeypatch):
    monkeypatch.setattr("reproduction.commands.datasets.SOURCES", {"toy": toy(urls=("http://toy.example/",))})
    (folder / "toy.txt").write_bytes(b"toy")
    code, out, err = run("datasets", "fetch", "toy")
    assert (code, err) == (0, "")
    assert str(folder / "toy.txt") in out
    assert "not checked: no checksum of the publisher's file is known" in out
    assert "Licence: CC0. Cite: Somebody, 2026" in out
    code, out, err = run("datasets", "fetch", "toy", "--json")
    fetched = conforms(json.loads(out), "datasets")
    assert (fetched["name"], fetched["files"][0]["standing"]) == ("toy", "unchecked")


def test_missing_data_exit_with_4_and_wrong_data_with_3(run, folder):
    code, out, err = run("datasets", "fetch", "abalone")
    assert (code, out) == (4, "")
    assert "https://archive.ics.uci.edu/ml/machine-learning-databases/abalone/abalone.data: no connection" in err
    assert f"put it, named abalone.data, into {folder}" in err
    (folder / "abalone.data").write_bytes(b"other")
    code, out, err = run("datasets", "fetch", "abalone")
    assert (code, out) == (3, "")
    assert "to have sha256 de37cdcd" in err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["fetch"], 2, "Expected the name of a data set, got None; one of abalone, adult"),
        (["fetch", "rome"], 2, "Expected the name of a data set, got 'rome'"),
        (["list", "rome"], 2, "Expected no name after list, got 'rome'; use fetch to fetch one."),
        (["rome"], 2, "invalid choice: 'rome'"),
        (["--help"], 0, "examples:\n  python -m reproduction datasets  "),
    ],
)
@pytest.mark.usefixtures("folder")
def test_mistakes_are_explained_and_help_has_examples(run, arguments, code, message):
    got, *streams = run("datasets", *arguments)
    assert got == code and message in streams[code > 0] and not streams[code == 0]
