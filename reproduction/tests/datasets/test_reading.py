"""Every layout in small: each trap of each file, and what is said of wrong ones."""

import io
import struct
import time
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite.errors import DataFileError, InputError
from reproduction import datasets
from reproduction.datasets import SOURCES, Found
from reproduction.datasets.reading import read
from reproduction.datasets.tables import read_idx

ABALONE = b"M,0.455,0.365,0,0.514,0.2245,0.101,0.15,15\nI,0.35,0.265,0.09,0.2255,0.0995,0.0485,0.07,7\n"
TRAIN = b"""39, State-gov, 77516, Bachelors, 13, a, b, c, d, e, 2174, 0, 40, f, <=50K
54, ?, 180211, Some-college, 10, a, b, c, d, e, 0, 0, 60, f, >50K

"""
TEST = b"|1x3 Cross validator\n25, Private, 226802, 11th, 7, a, b, c, d, e, 0, 0, 40, f, <=50K.\n\n"
BANK = ";".join(f'"{name}"' for name in SOURCES["bank"].columns).encode() + (
    b'\r\n56;"housemaid";"married";"basic.4y";"no";"no";"no";"telephone";"may";"mon";261;1;999;0;"nonexistent";'
    b'1.1;93.994;-36.4;4.857;5191;"no"\r\n'
)
DAYS = ["1,2013-06-30,@,21.2", "2,2013-06-30,@,NaN", "3,2013-07-01,@,", ",,@,0", ",,@,9"]
BIAS = "\r\n".join([",".join(SOURCES["bias"].columns), *DAYS]).replace("@", ",".join(["1.5"] * 22)).encode()
SUPERCONDUCT = ",".join(["number_of_elements", *[f"feature {at}" for at in range(80)], "critical_temp"]).encode()
SNAP = (
    b"0\t2010-10-12T00:21:28Z\t40.6438845363\t-73.78280639649999\t23261\n"
    b"7\t2010-10-11T20:20:42Z\t-0.5\t3\t16907\n"
    b"0\t2010-10-12T00:21:28Z\t40.6438845363\t-73.78280639649999\t23261\n"
)
TSMC = (
    '470\t49bbd6c0f964a520f4531fe3\t4bf58dd8d48988d127951735\t"Arts" & Crafts Store\t40.719810375488535\t'
    "-74.00258103213994\t-240\tTue Apr 03 18:00:09 +0000 2012\r\n"
    "979\t4a43c0aef964a520c6a61fe3\t4bf58dd8d48988d1df941735\tCafé\t40.60679958140643\t"
    "-74.04416981025437\t-240\tSat Feb 16 02:35:36 +0000 2013\r\n"
).encode("latin-1")


def given_as(monkeypatch, *contents):
    """Let these be the contents of the files that are looked for, one after the other."""
    files = iter(contents)

    def find(source, part="data"):
        return Found(None, f"{source.name}.{part}", next(files), "", "unchecked")

    for module in ("tables", "places"):
        monkeypatch.setattr(f"reproduction.datasets.{module}.find", find)


def test_abalone_has_no_header(monkeypatch):
    given_as(monkeypatch, ABALONE)
    table = datasets.abalone()
    assert table["Sex"].tolist() == ["M", "I"] and table["Rings"].tolist() == [15, 7]
    assert table["Height"].tolist() == [0, 0.09] and table["Rings"].dtype == np.int64


def test_adult_loses_its_comment_blanks_and_dots_and_keeps_its_question_marks(monkeypatch):
    given_as(monkeypatch, TRAIN, b"\xef\xbb\xbf" + TEST)  # a byte order mark is no part of the text
    table = datasets.adult("all")
    assert table["income"].tolist() == ["<=50K", ">50K", "<=50K"]
    assert table["workclass"].tolist() == ["State-gov", "?", "Private"]
    assert table["age"].tolist() == [39, 54, 25] and table.index.tolist() == [0, 1, 2]


def test_bank_loses_its_quotes_and_line_ends(monkeypatch):
    given_as(monkeypatch, BANK)
    (row,) = datasets.bank().to_dict("records")
    assert (row["age"], row["job"], row["pdays"], row["nr.employed"], row["y"]) == (56, "housemaid", 999, 5191, "no")


def test_bias_leaves_out_its_minima_and_maxima_at_the_end_alone(monkeypatch):
    given_as(monkeypatch, BIAS, BIAS.replace(b"\r\n2,2013-06-30", b"\r\n,"))
    table = datasets.bias()
    assert table["station"].tolist() == [1, 2, 3] and str(table["Date"][2]) == "2013-07-01 00:00:00"
    assert table["Next_Tmin"].isna().tolist() == [False, True, True]
    with pytest.raises(DataFileError, match=r"bias.data, line 3: expected a whole number as station, got ''"):
        datasets.bias()


def test_superconduct_has_81_features_under_the_publishers_names(monkeypatch):
    row = ",".join(["4", *["0.5"] * 80, "29"]).encode()
    given_as(monkeypatch, SUPERCONDUCT + b"\n" + row, SUPERCONDUCT.replace(b"critical_temp", b"temperature"), b"")
    assert datasets.superconduct().to_numpy().tolist() == [[4, *[0.5] * 80, 29]]
    for _ in range(2):
        with pytest.raises(DataFileError, match="expected 82 names from number_of_elements to critical_temp in the fi"):
            datasets.superconduct()


def test_idx_files_are_big_endian_and_exactly_as_long_as_they_say(monkeypatch):
    pictures = struct.pack(">4I", 2051, 2, 2, 3) + bytes(range(12))
    labels = struct.pack(">2I", 2049, 3) + bytes([7, 2, 1])
    given_as(monkeypatch, pictures, labels[:7] + b"\x02" + labels[8:10], pictures, labels)
    found = datasets.mnist("test")
    assert found.images[1].tolist() == [[6, 7, 8], [9, 10, 11]] and found.labels.tolist() == [7, 2]
    with pytest.raises(DataFileError, match="Expected a label for each picture, got 2 pictures and 3 labels"):
        datasets.mnist("test")
    for content, magic, message in [
        (labels, 2051, "labels: expected the idx format's number 2051 at the beginning, got None"),
        (pictures, 2049, "expected the idx format's number 2049 at the beginning, got 2051"),
        (pictures[:-1], 2051, "expected 12 bytes after the header, got 11"),
        (pictures + b"x", 2051, "expected 12 bytes after the header, got 13"),
        (labels[:-1] + b"\x0a", 2049, "expected labels from 0 to 9, got 10"),
    ]:
        with pytest.raises(DataFileError, match=message):
            read_idx(Found(None, "labels", content, "", "unchecked"), magic)


def test_snap_lines_are_in_the_order_of_the_file_and_nothing_is_changed(monkeypatch):
    given_as(monkeypatch, SNAP)
    found = datasets.gowalla()
    assert list(found.columns) == ["user", "time", "latitude", "longitude", "place"]
    assert found["user"].tolist() == [0, 7, 0] and found["place"].tolist() == [23261, 16907, 23261]
    assert [str(when) for when in found["time"][:2]] == ["2010-10-12 00:21:28", "2010-10-11 20:20:42"]
    assert datasets.coordinates(found)[:2].tolist() == [[40.6438845363, -73.78280639649999], [-0.5, 3.0]]


def test_tsmc_is_latin_1_with_times_in_words_in_an_archive_or_not(folder):
    def archive(content):
        with zipfile.ZipFile(folder / "dataset_tsmc2014.zip", "w") as packed:
            packed.writestr("dataset_tsmc2014/dataset_TSMC2014_NYC.txt", content)

    archive(TSMC)
    found = datasets.foursquare("nyc")
    assert found["place"].tolist() == ["49bbd6c0f964a520f4531fe3", "4a43c0aef964a520c6a61fe3"]
    assert [str(when) for when in found["time"]] == ["2012-04-03 18:00:09", "2013-02-16 02:35:36"]
    assert found["category"].tolist() == ['"Arts" & Crafts Store', "Café"]
    assert found["timezone offset"].tolist() == [-240, -240]
    assert datasets.coordinates(found)[0].tolist() == [40.719810375488535, -74.00258103213994]
    (folder / "dataset_TSMC2014_TKY.txt").write_bytes(TSMC)
    with pytest.raises(DataFileError, match="Expected dataset_TSMC2014_TKY.txt in the archive .*dataset_tsmc2014.zip"):
        datasets.foursquare("tokyo")
    (folder / "dataset_tsmc2014.zip").unlink()
    assert len(datasets.foursquare("tokyo")) == 2


def test_columns_of_others_are_called_alike(monkeypatch):
    rows = b"user,unix_time,lat,lon,poi\n1,1333447208,40.5,-73.5,9\n"
    given_as(monkeypatch, rows, rows.replace(b"40.5", b"91.5"))
    (row,) = datasets.gowalla("lbsn3").to_dict("records")
    assert str(row.pop("time")) == "2012-04-03 10:00:08"
    assert row == {"user": 1, "latitude": 40.5, "longitude": -73.5, "place": 9}
    with pytest.raises(DataFileError, match=r"lbsn3.data, line 2: expected a latitude .* got 91.5 and -73.5"):
        datasets.gowalla("lbsn3")


NUMBERS = st.one_of(
    st.floats(-90, 90).map(repr),
    st.floats(-90, 90).map(lambda value: f"{value:.10f}"),
    st.tuples(st.integers(0, 89), st.integers(0, 10**20)).map(lambda parts: f"{parts[0]}.{parts[1]}"),
    st.sampled_from(["-0.0", ".5", "5.", "+4.25", "1e-5", "-00.5", "007.5"]),
)


@given(st.lists(st.tuples(NUMBERS, NUMBERS, st.integers(0, 10**18 - 1)), min_size=1, max_size=6))
def test_every_number_becomes_the_one_that_python_reads(rows):
    text = "".join(f"{i}\t2010-10-12T00:21:28Z\t{a}\t{o}\t{i}\n" for a, o, i in rows).encode()
    found = read(Found(None, "some", text, "", "unchecked"), SOURCES["gowalla"]).typed()
    assert found[["lat", "lon"]].to_numpy().tolist() == [[float(a), float(o)] for a, o, _ in rows]
    assert found["poi"].tolist() == [i for *_, i in rows]


FILES = {"abalone": ABALONE, "bank": BANK, "bias": BIAS, "gowalla": SNAP, "foursquare": TSMC}


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("abalone", "0.07,7", "0.07", "line 2: expected 9 columns (Sex, Length, Diameter, Height, "),
        ("abalone", "0.35", "long", "line 2: expected a number as Length, got 'long'; fetch the file again."),
        ("abalone", "0.35", "inf", "line 2: expected a number as Length, got 'inf'"),
        ("abalone", "0.35", "nan", "line 2: expected a number as Length, got 'nan'"),
        ("abalone", "0.35", "1e999", "line 2: expected a number as Length, got '1e999'"),
        ("abalone", ",7\n", ",1.5\n", "line 2: expected a whole number as Rings, got '1.5'"),
        ("abalone", ",7\n", f",{'9' * 30}\n", "line 2: expected a whole number as Rings, got '9999"),
        ("abalone", ",7\n", ",7\n\nM,1", "line 4: expected 9 columns"),
        ("abalone", "\nI", "\n\xff", "line 2: expected UTF-8 text, got the byte 0xff"),
        ("abalone", ABALONE.decode(), "\n", "abalone.data: expected rows of Sex, Length,"),
        ("bank", '"age"', '"years"', "line 1: expected the names age,job,marital,"),
        ("bank", '"mon"', '"m;n"', "line 2: expected 21 columns (age, job, "),
        ("bias", "07-01", "06-31", "line 4: expected a day such as 2013-06-30 as Date, got '2013-06-31'"),
        ("gowalla", "\n7", "\n-7", "line 2: expected a whole number that is not negative as user, got '-7'"),
        ("gowalla", "\t16907", "", "expected 5 columns (user, time, lat, lon, poi…), got 4; is this the right file?"),
        ("gowalla", "42Z", "42", "expected a time such as 2010-10-12T00:21:28Z as time, got '2010-10-11T20:20:42'"),
        ("gowalla", "2010-10-11T20:20:42Z", "NaT", "line 2: expected a time such as"),
        ("gowalla", "-0.5", "405.185", "latitude from −90 to 90 and a longitude from −180 to 180, got 405.185 and 3.0"),
        ("gowalla", "\t3\t", "\t-180.1\t", "line 2: expected a latitude from −90 to 90 and a longitude from "),
        ("foursquare", "Feb 16", "Feb 31", "line 2: expected a time such as Tue Apr 03 18:00:09 +0000 2012 as time,"),
        ("foursquare", "+0000 2013", "+0100 2013", "got 'Sat Feb 16 02:35:36 +0100 2013'"),
    ],
)
def test_a_wrong_line_is_named(monkeypatch, name, old, new, message):
    given_as(monkeypatch, FILES[name].replace(old.encode("latin-1"), new.encode("latin-1"), 1))
    with pytest.raises(DataFileError) as caught:
        getattr(datasets, name)()
    assert message in str(caught.value)


def test_what_lies_outside_the_world_is_kept_only_when_asked(monkeypatch):
    given_as(monkeypatch, SNAP.replace(b"-0.5", b"405.185"))
    assert datasets.gowalla(outside="keep")["latitude"].tolist()[1] == 405.185


def test_the_full_gowalla_file_is_read_within_two_minutes():
    rows, lines = 50_000, io.StringIO()
    draw = np.random.default_rng(1)
    for user, place, where in zip(*draw.integers(0, 10**6, (2, rows)), draw.uniform(-60, 70, (rows, 2)), strict=True):
        lines.write(f"{user}\t2010-10-12T00:21:28Z\t{where[0]:.10f}\t{where[1]:.10f}\t{place}\n")
    found = Found(None, "some", lines.getvalue().encode(), "", "unchecked")
    start = time.process_time()
    assert len(read(found, SOURCES["gowalla"]).typed()) == rows
    # For all its lines; 30 s of one core when this was written.
    assert (time.process_time() - start) * SOURCES["gowalla"].rows / rows < 120


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.adult("dev"), "Expected part 'train', 'test' or 'all', got 'dev'."),
        (lambda: datasets.mnist("all"), "Expected part 'train' or 'test', got 'all'."),
        (lambda: datasets.gowalla("rome"), "Expected one of gowalla, gowalla-authors-1000, "),
        (lambda: datasets.gowalla(outside="clip"), "Expected outside 'raise' or 'keep', got 'clip'."),
        (lambda: datasets.foursquare("us"), "foursquare-us-lbsn3, got 'foursquare-us'."),
    ],
)
def test_options_that_do_not_exist_are_named_with_those_that_do(call, message):
    with pytest.raises(InputError) as caught:
        call()
    assert message in str(caught.value)
