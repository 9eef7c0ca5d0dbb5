"""Every layout in small: each trap of each file, and what is said of wrong ones."""

import struct

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
VISITS = (
    b"user_idx,poi_idx,cat,lat,lon,unix_s,hour,dow,traj_id,block\n"
    b"0,23261,Bar,40.6438845363,-73.78280639649999,1333447208,6,1,0_1,train\n"
    b"7,16907,Bar,-0.5,3,1286836842,22,0,7_1,train\n"
    b"0,23261,Bar,40.6438845363,-73.78280639649999,1333447208,6,1,0_1,train\n"
)


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
    table = datasets.adult()
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


def test_check_ins_have_names_of_their_own_and_nothing_is_changed(monkeypatch):
    given_as(monkeypatch, VISITS)
    found = datasets.check_ins("foursquare-nyc-filtered")
    assert list(found.columns)[:6] == ["user", "place", "cat", "latitude", "longitude", "time"]
    assert found["user"].tolist() == [0, 7, 0] and found["place"].tolist() == [23261, 16907, 23261]
    assert [str(when) for when in found["time"][:2]] == ["2012-04-03 10:00:08", "2010-10-11 22:40:42"]
    assert datasets.coordinates(found)[:2].tolist() == [[40.6438845363, -73.78280639649999], [-0.5, 3.0]]


NUMBERS = st.one_of(
    st.floats(-90, 90).map(repr),
    st.floats(-90, 90).map(lambda value: f"{value:.10f}"),
    st.tuples(st.integers(0, 89), st.integers(0, 10**20)).map(lambda parts: f"{parts[0]}.{parts[1]}"),
    st.sampled_from(["-0.0", ".5", "5.", "+4.25", "1e-5", "-00.5", "007.5"]),
)


@given(st.lists(st.tuples(NUMBERS, NUMBERS, st.integers(0, 10**18 - 1)), min_size=1, max_size=6))
def test_every_number_becomes_the_one_that_python_reads(rows):
    text = "".join(["user,poi,lat,lon,count\n", *(f"{i},1,{a},{o},1\n" for a, o, i in rows)]).encode()
    found = read(Found(None, "some", text, "", "unchecked"), SOURCES["gowalla-stacp"]).typed()
    assert found[["lat", "lon"]].to_numpy().tolist() == [[float(a), float(o)] for a, o, _ in rows]
    assert found["user"].tolist() == [i for *_, i in rows]


FILES = {"abalone": ABALONE, "bank": BANK, "bias": BIAS, "check_ins": VISITS}
GIVEN = {"check_ins": ("foursquare-nyc-filtered",)}


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
        ("check_ins", "1286836842", "now", "line 3: expected seconds since 1970 as unix_s, got 'now'"),
        (
            "check_ins",
            ",-0.5,",
            ",405.185,",
            "latitude from −90 to 90 and a longitude from −180 to 180, got 405.185 and 3",
        ),
        ("check_ins", ",3,1286", ",-180.1,1286", "line 3: expected a latitude from −90 to 90 and a longitude from "),
    ],
)
def test_a_wrong_line_is_named(monkeypatch, name, old, new, message):
    given_as(monkeypatch, FILES[name].replace(old.encode("latin-1"), new.encode("latin-1"), 1))
    with pytest.raises(DataFileError) as caught:
        getattr(datasets, name)(*GIVEN.get(name, ()))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.mnist("all"), "Expected part 'train' or 'test', got 'all'."),
        (lambda: datasets.check_ins("gowalla-rome"), "Expected one of gowalla-authors-1000, gowalla-stacp, "),
    ],
)
def test_options_that_do_not_exist_are_named_with_those_that_do(call, message):
    with pytest.raises(InputError) as caught:
        call()
    assert message in str(caught.value)
