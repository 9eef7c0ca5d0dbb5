"""A domain on the command line is one literal; the oracle is the constructor, called by hand."""

import json

import pytest

import bipartite as bp
from bipartite.cli.literals import credit_of, domain_of, domain_or_mechanism
from bipartite.errors import BipartiteError, DataFileError, InputError

LITERALS = {
    "18..90": lambda: bp.Integers(18, 90),
    "-5..5": lambda: bp.Integers(-5, 5),
    "-9..-3": lambda: bp.Integers(-9, -3),
    "+1..+9": lambda: bp.Integers(1, 9),
    "0..200000/401": lambda: bp.Interval(0, 200_000, points=401),
    "-0.5..1e3/11": lambda: bp.Interval(-0.5, 1000, points=11),
    "cyclic:24": lambda: bp.Cyclic(24),
    "cyclic:1..12": lambda: bp.Cyclic(12, start=1),
    "cyclic:-3..3": lambda: bp.Cyclic(7, start=-3),
    "grid:50,0,51,1/40000": lambda: bp.locations.grid((50, 0, 51, 1), metres=40_000),
    "grid:-51,-1,-50,1e0/4e4": lambda: bp.locations.grid((-51, -1, -50, 1), metres=40_000),
    "cities": lambda: bp.locations.places(bp.locations.cities().coordinates, bp.locations.cities().names),
}


@pytest.mark.parametrize("text", LITERALS)
def test_a_literal_is_the_domain_that_its_constructor_makes(text):
    found = domain_of(text)
    assert type(found) is type(LITERALS[text]()) and found == LITERALS[text]()


@pytest.mark.parametrize("ending", ["csv", "tsv", "txt", "CSV"])
def test_a_table_is_a_list_of_places(write, ending):
    file = write(f"shops.{ending}", "name,lat,lon\nBerlin,52.5,13.4\nParis,48.9,2.4\n")
    expected = bp.Points([[52.5, 13.4], [48.9, 2.4]], metric="haversine", labels=["Berlin", "Paris"])
    assert domain_of(str(file)) == expected
    file.write_text("lat;lon;label\n52.5;13.4;Berlin\n48.9;2.4;Paris\n", encoding="utf-8")
    assert domain_of(str(file)) == expected


def test_json_is_items_or_a_spec(write, spec):
    labels = ["bipartite", '"bipartite":']  # no keys
    items = write("items.json", json.dumps({"labels": labels, "loss": [[0, 1], [1, 0]]}))
    assert domain_of(str(items)) == bp.Items(labels, loss=[[0, 1], [1, 0]])
    mechanism = bp.BRR(bp.Interval(0, 1, points=11, rounding="random"), 1)
    file = str(spec(mechanism))
    assert domain_of(file) == mechanism.domain and domain_or_mechanism(file) == mechanism
    assert domain_or_mechanism("1..5") == domain_of("1..5") == bp.Integers(1, 5)


def test_people_in_a_list_of_places_are_refused_until_it_is_called_public(write):
    file = str(write("visits.csv", "user,lat,lon\n7,1,2\n8,3,4\n"))
    with pytest.raises(
        DataFileError,
        match=r"next to the places: 'user'.*bipartite design grid:S,W,N,E/METRES\); .*public: --places-are-public\.$",
    ):
        domain_of(file)
    assert len(domain_of(file, are_public=True)) == 2


def test_maps_of_the_built_in_list_name_its_source():
    assert credit_of("cities") == "GeoNames, CC BY 4.0, a selection"
    assert credit_of("cities.csv") == credit_of("18..90") == ""


RANGE = r"Expected a domain: LOW\.\.HIGH, .* or \.json \(items, or a spec\), got "
CIRCLE = r"Expected cyclic:N or cyclic:FIRST\.\.LAST, got 'cyclic:.*'; for example cyclic:24 for hours"
GRID = r"Expected grid:S,W,N,E/METRES, a box of .* and the largest side of a cell, got 'grid:.*'; for example grid:52"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, RANGE) for text in ("", "18-90", "a..b", "1..", "..5", "1...5", "1..5/", "1..5/x", "1..5/-3", "²..5")),
        *(
            (text, RANGE)
            for text in ("18..90 ", "1_0..20", "nan..1/5", "Cities", "9" * 5000 + "..1", "shops", "x.json/y")
        ),
        ("0.5..1", r"Expected a continuous range with its number of points, .* got '0.5..1'; for example 0.5..1/101:"),
        ("90..18", "Expected low < high"),
        ("1..0/11", "Expected low < high"),
        ("0..1/1", "Expected points"),
        *((f"cyclic:{rest}", CIRCLE) for rest in ("", "x", "1..x", "-5", "24.0", "٢")),
        ("cyclic:1", "Expected size of at least 2"),
        *((f"grid:{rest}", GRID) for rest in ("", "50,0,51,1", "50,0,51,x/5", "50,0,51,1/", "50,0,51,1/x", "/5")),
        ("grid:50,0,51/5", r"Expected box as four numbers, got \[50.0, 0.0, 51.0\]"),
        ("grid:51,0,50,1/5", "−90 ≤ south ≤ north ≤ 90"),
        ("grid:50,0,51,1/5", "Expected at most 100,000 cells"),
        ("grid:50,0,51,1/nan", "Expected metres"),
    ],
)
def test_what_is_no_domain_is_refused_with_an_example(text, message):
    with pytest.raises(BipartiteError, match=message) as caught:
        domain_of(text)
    assert isinstance(caught.value, (InputError, bp.errors.DomainError))


def test_a_file_is_known_by_its_ending_and_named_if_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("none.csv", "none.json"):
        with pytest.raises(FileNotFoundError, match=name):
            domain_of(name)
