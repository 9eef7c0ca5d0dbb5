"""The real files: counts as they were found when the files were collected, by other means."""

import doctest
import gzip
import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from reproduction import datasets

pytestmark = pytest.mark.data


def share(values):
    return dict(zip(*(each.tolist() for each in np.unique(values, return_counts=True)), strict=True))


def test_abalone():
    table = datasets.abalone()
    assert (len(table), len(table.columns)) == (4_177, 9)
    assert share(table["Sex"]) == {"M": 1_528, "I": 1_342, "F": 1_307}
    assert table.oddities["height 0"] == 2
    assert table.provenance.is_official and table.provenance.licence == "CC BY 4.0"


def test_adult():
    train, test = datasets.adult(), datasets.adult("test")
    assert share(train["income"]) == {"<=50K": 24_720, ">50K": 7_841}
    assert share(test["income"]) == {"<=50K": 12_435, ">50K": 3_846}
    assert (train.oddities["rows with ?"], test.oddities["rows with ?"]) == (2_399, 1_221)
    both = datasets.adult("all")
    assert len(both) == 48_842 and both["age"][len(train)] == test["age"][0]
    assert both.provenance.is_official and len(both.provenance.files) == 2


def test_bank():
    table = datasets.bank()
    assert (len(table), len(table.columns)) == (41_188, 21)
    assert share(table["y"]) == {"no": 36_548, "yes": 4_640}
    assert (table.oddities["rows with unknown"], table.oddities["repeated rows"]) == (10_700, 12)
    assert table.provenance.is_official


@pytest.mark.parametrize(
    ("read", "archive", "members"),
    [
        (datasets.abalone, "abalone.zip", {"abalone.data": "abalone.data"}),
        (lambda: datasets.adult("all"), "adult.zip", {"adult.data": "adult.data", "adult.test": "adult.test"}),
        (
            datasets.bank,
            "bank+marketing.zip",
            {"bank-additional/bank-additional-full.csv": "bank-additional-full.csv.gz"},
        ),
    ],
)
def test_the_publishers_archives_serve_as_well_as_what_they_hold(read, archive, members, tmp_path, monkeypatch):
    plain = read()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as inner:
        for member, name in members.items():
            content = (Path(os.environ["BIPARTITE_DATA"]) / name).read_bytes()
            inner.writestr(member, gzip.decompress(content) if name.endswith(".gz") else content)
    (tmp_path / archive).write_bytes(packed.getvalue())
    if archive.startswith("bank"):  # an archive in an archive
        with zipfile.ZipFile(tmp_path / archive, "w") as outer:
            outer.writestr("bank-additional.zip", packed.getvalue())
    monkeypatch.setenv("BIPARTITE_DATA", str(tmp_path))
    again = read()
    assert again.provenance.is_official and again.provenance.files[0].path.name == archive
    assert all(np.array_equal(again[name], column) for name, column in plain.columns.items())


def test_bias():
    table = datasets.bias()
    assert (len(table), len(table.columns), np.count_nonzero(table.complete)) == (7_750, 25, 7_588)
    assert table.oddities["missing cells"] == 1_244
    assert table.oddities["rows of minima and maxima, left out"] == 2
    # The two rows that were left out state these.
    assert (np.nanmin(table["Next_Tmax"]), np.nanmax(table["Next_Tmax"])) == (17.4, 38.9)
    assert str(table["Date"][0]) == "2013-06-30"


def test_superconduct():
    table = datasets.superconduct()
    assert (len(table), len(table.features), table.oddities["repeated rows"]) == (21_263, 81, 66)
    assert table["critical_temp"].mean() == pytest.approx(34.421219, abs=1e-6)
    assert np.count_nonzero(table["number_of_elements"] == 1) == 285


@pytest.mark.parametrize(("part", "rows"), [("train", 60_000), ("test", 10_000)])
def test_mnist(part, rows):
    digits = datasets.mnist(part)
    assert (digits.images.shape, digits.labels.shape) == ((rows, 28, 28), (rows,))
    assert sorted(share(digits.labels)) == list(range(10))
    assert digits.provenance.is_official
    assert digits.to_frame().shape == (rows, 785)


@pytest.mark.parametrize(
    ("subset", "rows", "users", "places", "counts"),
    [
        ("authors-1000", 1_000, None, None, None),
        ("nyc", 138_957, 7_115, 21_509, None),
        ("paris", 17_496, 1_366, 4_256, None),
        ("stacp", 378_968, 5_628, 31_803, 620_683),
        ("lbsn1", 255_140, 18_737, 32_077, 293_888),
        ("lbsn3", 157_251, 1_000, 24_209, None),
        ("ufsc", 98_158, 300, 24_374, None),
        ("locations-union", 66_797, None, None, None),
    ],
)
def test_gowalla(subset, rows, users, places, counts):
    check_ins = datasets.gowalla(subset)
    assert len(check_ins) == rows == datasets.SOURCES[f"gowalla-{subset}"].rows
    assert (users is None) == (check_ins.users is None) and (places is None) == (check_ins.places is None)
    assert users is None or len(np.unique(check_ins.users)) == users
    assert places is None or len(np.unique(check_ins.places)) == places
    assert counts is None or check_ins.counts.sum() == counts
    assert check_ins.provenance.files[0].standing == "copy"


def test_the_oddities_of_gowalla_are_counted_and_kept():
    odd = datasets.gowalla("nyc").oddities
    assert (odd["repeated rows"], odd["places with several coordinates"]) == (6, 127)
    # 19,983 latitudes and 19,931 longitudes, counted as text with awk.
    assert odd["more than ten decimals"] == 39_914
    assert datasets.gowalla("authors-1000").oddities["repeated rows"] == 0


def test_blocks_are_the_whole_file():
    users = np.concatenate([block.users for block in datasets.gowalla_blocks("nyc")])
    assert users.tolist() == datasets.gowalla("nyc").users.tolist()


def test_the_histogram_of_gowalla():
    counts = datasets.gowalla_histogram().counts
    assert (counts.shape, counts.sum(), np.count_nonzero(counts)) == ((256, 256), 6_442_863, 3_500)


@pytest.mark.parametrize(
    ("city", "subset", "rows", "users", "places"),
    [
        ("nyc", "filtered", 113_344, 1_082, 4_988),
        ("nyc", "ufsc", 66_962, 193, 13_848),
        ("us", "stacp", 277_405, 7_642, 28_483),
        ("us", "lbsn3", 185_984, 4_969, 8_000),
    ],
)
def test_foursquare(city, subset, rows, users, places):
    check_ins = datasets.foursquare(city, subset=subset)
    assert (len(check_ins), len(np.unique(check_ins.users)), len(np.unique(check_ins.places))) == (rows, users, places)
    assert subset != "stacp" or check_ins.counts.sum() == 512_532
    assert subset != "filtered" or len(np.unique(check_ins.coordinates, axis=0)) == 7_355


def test_the_page_about_data_sets_shows_what_comes_out():
    page = Path(__file__).parents[3] / "docs" / "datasets.md"
    outcome = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert (outcome.failed, outcome.attempted > 5) == (0, True)
