"""``python -m reproduction datasets``: lists, fetches, and says what is missing."""

import json

import pytest

from reproduction.datasets import SOURCES
from reproduction.datasets.sources import File, Source
from reproduction.tests.published import conforms


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """An empty folder of data sets, an empty cache, and no connection."""
    monkeypatch.setattr("reproduction.datasets.finding.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr("reproduction.commands.datasets.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr("reproduction.datasets.finding.fetch", lambda *_: "no connection")
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("BIPARTITE_DATA", str(folder))
    return folder


def test_the_list_says_where_each_is_or_would_come_from(run, empty):
    (empty / "loc-gowalla_NYC_subset.txt.gz").write_bytes(b"")
    (empty.parent / "cache").mkdir()
    (empty.parent / "cache" / "abalone.data").write_bytes(b"")
    (empty / "adult.data").write_bytes(b"")  # one of two files
    code, out, err = run("datasets")
    assert (code, err) == (0, "")
    where = {line.split()[0]: line for line in out.splitlines()}
    assert set(where) == {"name", *SOURCES}
    assert where["gowalla-nyc"].split()[1:3] == ["138,957", "BIPARTITE_DATA"]
    assert where["abalone"].split()[1:] == ["4,177", "cache", "CC", "BY", "4.0"]
    assert "fetch from archive.ics.uci.edu" in where["adult"]
    assert "not here, and no address" in where["gowalla-paris"]
    assert max(map(len, out.splitlines())) <= 120


def test_the_list_for_programs_conforms_to_its_schema(run, empty):
    (empty / "abalone.zip").write_bytes(b"")
    code, out, err = run("datasets", "list", "--json")
    assert (code, err) == (0, "")
    listed = conforms(json.loads(out), "datasets")
    assert listed["folder"] == str(empty)
    by_name = {each["name"]: each for each in listed["datasets"]}
    assert list(by_name) == list(SOURCES)
    assert by_name["abalone"]["present"]
    assert by_name["abalone"]["files"] == [{"part": "data", "name": "abalone.zip", "path": str(empty / "abalone.zip")}]
    assert by_name["mnist"]["url"].startswith("http://yann.lecun.com/") and not by_name["mnist"]["present"]
    assert by_name["gowalla-nyc"]["url"] is None


def test_fetching_what_is_here_checks_it_and_says_on_which_terms(run, empty, monkeypatch):
    toy = Source("toy", "toy()", 1, "CC0", "Somebody, 2026", {"data": (File("toy.txt", ("http://toy.example/",)),)})
    monkeypatch.setattr("reproduction.commands.datasets.SOURCES", {"toy": toy})
    (empty / "toy.txt").write_bytes(b"toy")
    code, out, err = run("datasets", "fetch", "toy")
    assert (code, err) == (0, "")
    assert str(empty / "toy.txt") in out
    assert "not checked: no checksum of the publisher's file is known" in out
    assert "Licence: CC0. Cite: Somebody, 2026" in out
    code, out, err = run("datasets", "fetch", "toy", "--json")
    fetched = conforms(json.loads(out), "datasets")
    assert (fetched["name"], fetched["files"][0]["standing"]) == ("toy", "unchecked")


@pytest.mark.usefixtures("empty")
def test_fetching_shows_how_much_came(run, monkeypatch):
    def fetch(_, path, _checksum, watch):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"toy")
        watch(3, 3)

    toy = Source("toy", "toy()", 1, "CC0", "Somebody, 2026", {"data": (File("toy.txt", ("http://toy.example/",)),)})
    monkeypatch.setattr("reproduction.commands.datasets.SOURCES", {"toy": toy})
    monkeypatch.setattr("reproduction.datasets.finding.fetch", fetch)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    code, _, err = run("datasets", "fetch", "toy")
    assert (code, err.strip()) == (0, "[##############################] 100 %  3 bytes")


def test_missing_data_exit_with_4_and_wrong_data_with_3(run, empty):
    code, out, err = run("datasets", "fetch", "gowalla")
    assert (code, out) == (4, "")
    assert "https://snap.stanford.edu/data/loc-gowalla_totalCheckins.txt.gz: no connection" in err
    assert f"put it, named loc-gowalla_totalCheckins.txt.gz, into {empty}" in err
    (empty / "abalone.data").write_bytes(b"other")
    code, out, err = run("datasets", "fetch", "abalone")
    assert (code, out) == (3, "")
    assert "to have sha256 de37cdcd" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fetch"], "Expected the name of a data set, got None; one of abalone, adult"),
        (["fetch", "rome"], "Expected the name of a data set, got 'rome'"),
        (["list", "rome"], "Expected no name after list, got 'rome'; use fetch to fetch one."),
        (["rome"], "invalid choice: 'rome'"),
    ],
)
@pytest.mark.usefixtures("empty")
def test_mistakes_are_explained(run, arguments, message):
    code, out, err = run("datasets", *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_help_has_examples(run):
    assert "examples:\n  python -m reproduction datasets  " in run("datasets", "--help")[1]
