"""The real files: counts as they were found when the files were collected, by other means."""

import doctest
from pathlib import Path

import pytest

from reproduction import datasets
from reproduction.datasets import CHECK_INS, SOURCES, find

pytestmark = pytest.mark.data

OFFICIAL = ("abalone", "adult", "bank", "mnist")


@pytest.mark.parametrize("name", SOURCES)
def test_every_file_is_the_one_whose_checksum_is_known(name):
    source = SOURCES[name]
    assert {find(source, part).standing for part in source.parts} == {"official" if name in OFFICIAL else "copy"}


def test_abalone():
    table = datasets.abalone()
    assert table.shape == (4_177, 9)
    assert table["Sex"].value_counts().to_dict() == {"M": 1_528, "I": 1_342, "F": 1_307}
    assert (table["Height"] == 0).sum() == 2


def test_adult():
    both = datasets.adult()
    train, test = both[:32_561], both[32_561:]
    assert train["income"].value_counts().to_dict() == {"<=50K": 24_720, ">50K": 7_841}
    assert test["income"].value_counts().to_dict() == {"<=50K": 12_435, ">50K": 3_846}
    assert [(each == "?").any(axis=1).sum() for each in (train, test)] == [2_399, 1_221]
    assert len(both) == 48_842


def test_bank():
    table = datasets.bank()
    assert table.shape == (41_188, 21)
    assert table["y"].value_counts().to_dict() == {"no": 36_548, "yes": 4_640}
    assert ((table == "unknown").any(axis=1).sum(), table.duplicated().sum()) == (10_700, 12)


def test_bias():
    table = datasets.bias()
    assert (table.shape, len(table.dropna())) == ((7_750, 25), 7_588)
    # The two rows that were left out state these.
    assert (table["Next_Tmax"].min(), table["Next_Tmax"].max()) == (17.4, 38.9)
    assert (table.isna().sum().sum(), str(table["Date"][0].date())) == (1_244, "2013-06-30")


def test_superconduct():
    table = datasets.superconduct()
    assert (table.shape, table.duplicated().sum()) == ((21_263, 82), 66)
    assert table["critical_temp"].mean() == pytest.approx(34.421219, abs=1e-6)
    assert (table["number_of_elements"] == 1).sum() == 285


@pytest.mark.parametrize(("part", "rows"), [("train", 60_000), ("test", 10_000)])
def test_mnist(part, rows):
    digits = datasets.mnist(part)
    assert (digits.images.shape, digits.labels.shape) == ((rows, 28, 28), (rows,))
    assert sorted(set(digits.labels.tolist())) == list(range(10))


# Users, places, and the sum of counts.
COUNTED = {
    "gowalla-authors-1000": (None, None, None),
    "gowalla-stacp": (5_628, 31_803, 620_683),
    "gowalla-locations-union": (None, None, None),
    "foursquare-nyc-filtered": (1_082, 4_988, None),
    "foursquare-us-stacp": (7_642, 28_483, 512_532),
}


@pytest.mark.parametrize("name", CHECK_INS)
def test_check_ins(name):
    table = datasets.check_ins(name)
    assert len(table) == SOURCES[name].rows
    distinct = (table[each].nunique() if each in table else None for each in ("user", "place"))
    assert (*distinct, table["count"].sum() if "count" in table else None) == COUNTED[name]


def test_the_places_of_the_paper():
    ours = datasets.check_ins("gowalla-authors-1000")
    assert len(ours.drop_duplicates()) == 1_000
    assert ours["latitude"].between(32.4, 79.9).all() and ours["longitude"].between(20.05, 79.96).all()
    table = datasets.check_ins("foursquare-nyc-filtered")
    assert len(table[["latitude", "longitude"]].drop_duplicates()) == 7_355


def test_the_page_about_data_sets_shows_what_comes_out():
    page = Path(__file__).parents[3] / "docs" / "datasets.md"
    outcome = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert (outcome.failed, outcome.attempted > 3) == (0, True)
