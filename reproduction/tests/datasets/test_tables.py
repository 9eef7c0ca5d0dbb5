"""The tables of the paper in small: each trap of each file, and what is wrong with wrong ones."""

import struct
import sys

import numpy as np
import pytest

from bipartite.errors import DataFileError, InputError, MissingExtraError
from reproduction import datasets
from reproduction.datasets.mnist import read_idx
from reproduction.datasets.sources import SOURCES, File, Source
from reproduction.datasets.texts import read_rows
from reproduction.datasets.uci import read_abalone, read_adult, read_bank, read_bias, read_superconduct

BANK, BIAS = SOURCES["bank"].columns, SOURCES["bias"].columns
ABALONE = b"M,0.455,0.365,0,0.514,0.2245,0.101,0.15,15\nI,0.35,0.265,0.09,0.2255,0.0995,0.0485,0.07,7\n"
TRAIN = b"""39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, United-States, <=50K
54, ?, 180211, Some-college, 10, Married-civ-spouse, ?, Husband, Asian-Pac-Islander, Male, 0, 0, 60, South, >50K

"""  # noqa: E501
TEST = b"""|1x3 Cross validator
25, Private, 226802, 11th, 7, Never-married, Machine-op-inspct, Own-child, Black, Male, 0, 0, 40, United-States, <=50K.
25, Private, 226802, 11th, 7, Never-married, Machine-op-inspct, Own-child, Black, Male, 0, 0, 40, United-States, <=50K.

"""
BANK_HEADER = ";".join(f'"{name}"' for name in BANK)
BANK_ROW = (
    '56;"housemaid";"married";"basic.4y";"no";"no";"no";"telephone";"may";"mon";261;1;999;0;"nonexistent";'
    '1.1;93.994;-36.4;4.857;5191;"no"'
)


def bias_row(station, date, number="1.5", last="21.2"):
    return ",".join([station, date, *[number] * 22, last])


def superconduct_text(*rows):
    names = ["number_of_elements", *[f"feature {at}" for at in range(80)], "critical_temp"]
    return "\n".join([",".join(names), *rows, ""]).encode()


def test_abalone_has_no_header_and_two_animals_without_height(nowhere):
    table = read_abalone(ABALONE, "abalone.data", nowhere)
    assert (len(table), table.target, table.features[0], len(table.features)) == (2, "Rings", "Sex", 8)
    assert table["Sex"].tolist() == ["M", "I"]
    assert table["Rings"].tolist() == [15, 7]
    assert table.oddities["height 0"] == 1
    assert table.matrix().shape == (2, 7)
    assert table.matrix(["Rings", "Length"]).tolist() == [[15, 0.455], [7, 0.35]]


def test_adult_loses_its_comment_blanks_and_dots_and_keeps_its_question_marks(nowhere):
    table = read_adult([(TRAIN, "adult.data"), (TEST, "adult.test")], nowhere)
    assert table["income"].tolist() == ["<=50K", ">50K", "<=50K", "<=50K"]
    assert table["workclass"].tolist() == ["State-gov", "?", "Private", "Private"]
    assert table.complete.tolist() == [True, False, True, True]
    assert dict(table.oddities) == {
        "rows with ?": 1,
        "labels with a dot, taken away": 2,
        "comment lines, left out": 1,
        "repeated rows": 1,
    }
    assert table["age"].dtype == np.int64


def test_bank_loses_its_quotes_and_line_ends_and_keeps_what_is_unknown(nowhere):
    rows = [BANK_HEADER, BANK_ROW, BANK_ROW.replace("housemaid", "unknown"), BANK_ROW, ""]
    table = read_bank("\r\n".join(rows).encode(), "bank.csv", nowhere)
    assert table["job"].tolist() == ["housemaid", "unknown", "housemaid"]
    assert table["y"].tolist() == ["no"] * 3
    assert table["nr.employed"].tolist() == [5191.0] * 3
    assert table.complete.tolist() == [True, False, True]
    assert dict(table.oddities) == {"rows with unknown": 1, "pdays 999, never called before": 3, "repeated rows": 1}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_bias_leaves_out_its_minima_and_maxima_and_says_so(nowhere, end):
    rows = [",".join(BIAS), bias_row("1", "2013-06-30"), bias_row("2", "2013-06-30", last="NaN")]
    rows += [bias_row("3", "2013-07-01", last=""), bias_row("", "", "0"), bias_row("", "", "9"), ""]
    table = read_bias(end.join(rows).encode(), "Bias.csv", nowhere)
    assert table["station"].tolist() == [1, 2, 3]
    assert table["Date"].tolist()[2].isoformat() == "2013-07-01"
    assert np.isnan(table["Next_Tmin"]).tolist() == [False, True, True]
    assert (table.targets, table.target, len(table.features)) == (("Next_Tmax", "Next_Tmin"), "Next_Tmax", 23)
    assert dict(table.oddities) == {
        "rows of minima and maxima, left out": 2,
        "rows with a missing value": 2,
        "missing cells": 2,
    }
    complete = table.rows(table.complete)
    assert (len(complete), complete["Solar radiation"].tolist()) == (1, [1.5])


def test_bias_leaves_out_nothing_in_the_middle(nowhere):
    rows = [",".join(BIAS), bias_row("", ""), bias_row("1", "2013-06-30"), ""]
    with pytest.raises(DataFileError, match=r"Bias.csv, line 2: expected a whole number as station, got ''"):
        read_bias("\n".join(rows).encode(), "Bias.csv", nowhere)


def test_superconduct_has_81_features_under_the_publishers_names(nowhere):
    row = ",".join(["4", *["0.5"] * 80, "29"])
    table = read_superconduct(superconduct_text(row, row), "train.csv", nowhere)
    assert (table.target, len(table.features), table["critical_temp"].tolist()) == ("critical_temp", 81, [29.0, 29.0])
    assert table.oddities["repeated rows"] == 1
    with pytest.raises(DataFileError, match="expected 82 names from number_of_elements to critical_temp"):
        read_superconduct(superconduct_text().replace(b"critical_temp", b"temperature"), "train.csv", nowhere)
    with pytest.raises(DataFileError, match="expected 82 names from number_of_elements to critical_temp"):
        read_superconduct(b"", "train.csv", nowhere)


def test_idx_files_are_big_endian_and_exactly_as_long_as_they_say():
    pictures = struct.pack(">4I", 2051, 2, 2, 3) + bytes(range(12))
    assert read_idx(pictures, "images", 2051)[1].tolist() == [[6, 7, 8], [9, 10, 11]]
    labels = struct.pack(">2I", 2049, 3) + bytes([7, 2, 1])
    assert read_idx(labels, "labels", 2049).tolist() == [7, 2, 1]
    for content, magic, message in [
        (labels, 2051, "labels: expected the idx format's number 2051 at the beginning, got None"),
        (pictures, 2049, "expected the idx format's number 2049 at the beginning, got 2051"),
        (pictures[:-1], 2051, "expected 12 bytes after the header, got 11"),
        (pictures + b"x", 2051, "expected 12 bytes after the header, got 13"),
        (labels[:-1] + b"\x0a", 2049, "expected labels from 0 to 9, got 10"),
    ]:
        with pytest.raises(DataFileError, match=message):
            read_idx(content, "labels", magic)


def test_as_many_labels_as_pictures(folder, monkeypatch):
    contents = struct.pack(">4I", 2051, 1, 2, 3) + bytes(6), struct.pack(">2I", 2049, 2) + bytes(2)
    parts = {}
    for part, content in zip(("test_images", "test_labels"), contents, strict=True):
        (folder / part).write_bytes(content)
        parts[part] = (File(part),)
    toy = Source("mnist", "mnist()", 1, "CC0", "Somebody, 2026", parts)
    monkeypatch.setattr(sys.modules["reproduction.datasets.mnist"], "SOURCES", {"mnist": toy})
    with pytest.raises(DataFileError, match="Expected a label for each picture, got 1 pictures and 2 labels"):
        datasets.mnist("test")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (ABALONE + b"M,1\n", "line 3: expected 9 columns, got 2; is this the right file?"),
        (ABALONE.replace(b"0.35", b"long"), "line 2: expected a number as Length, got 'long'; fetch the file again."),
        (ABALONE.replace(b"0.35", b"inf"), "line 2: expected a number as Length, got 'inf'"),
        (ABALONE.replace(b"0.35", b"nan"), "line 2: expected a number as Length, got 'nan'"),
        (ABALONE.replace(b"15\n", b"1.5\n", 1), "line 1: expected a whole number as Rings, got '1.5'"),
        (ABALONE.replace(b"15\n", b"9" * 30 + b"\n", 1), "line 1: expected a whole number as Rings, got '9999"),
        (ABALONE + b"\xff", "line 3: expected UTF-8 text, got the byte 0xff"),
        (b"M" * 200_000, "line 1: expected separated text, got what Python's csv refuses"),
    ],
)
def test_a_wrong_line_is_named(nowhere, content, message):
    with pytest.raises(DataFileError) as caught:
        read_abalone(content, "abalone.data", nowhere)
    assert f"abalone.data, {message}" in str(caught.value)


def test_a_wrong_header_is_named(nowhere):
    with pytest.raises(DataFileError, match=r"bank.csv, line 1: expected the names age,job,.*, got 'years,job"):
        read_bank(f"{BANK_HEADER}\r\n".replace("age", "years", 1).encode(), "bank.csv", nowhere)
    with pytest.raises(DataFileError, match="expected the names age,job,.*, got ''"):
        read_bank(b"", "bank.csv", nowhere)


def test_a_byte_order_mark_is_no_part_of_the_first_cell():
    assert read_rows(b"\xef\xbb\xbfa,b\n", "some", 2).rows == [["a", "b"]]


def test_columns_cannot_be_changed_and_are_asked_for_by_name(nowhere):
    table = read_abalone(ABALONE, "abalone.data", nowhere)
    with pytest.raises(ValueError, match="read-only"):
        table["Rings"][0] = 1
    with pytest.raises(TypeError):
        table.columns["Rings"] = 1
    with pytest.raises(InputError, match="Expected one of the columns Sex, Length, .*, got 'Ring'"):
        table["Ring"]
    with pytest.raises(InputError, match="Expected columns of numbers, got 'Sex', which holds <U1; encode it first."):
        table.matrix(["Sex"])


def test_a_frame_is_made_where_pandas_is_there(nowhere, monkeypatch):
    table = read_abalone(ABALONE, "abalone.data", nowhere)
    frame = table.to_frame()
    assert list(frame.columns) == list(table.columns)
    assert frame["Rings"].tolist() == [15, 7]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="to_frame needs pandas; install it, or use the arrays as they are."):
        table.to_frame()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.adult("dev"), "Expected part 'train', 'test' or 'all', got 'dev'."),
        (lambda: datasets.mnist("all"), "Expected part 'train' or 'test', got 'all'."),
        (lambda: datasets.gowalla("rome"), "Expected subset None or one of authors-1000, stacp"),
        (lambda: datasets.gowalla(outside="clip"), "Expected outside 'raise', 'keep' or 'drop', got 'clip'."),
        (lambda: datasets.gowalla_blocks("stacp"), "Expected subset None, 'nyc' or 'paris', got 'stacp'"),
        (lambda: datasets.foursquare("rome"), 'Expected one of foursquare("nyc"), foursquare("tokyo")'),
        (lambda: datasets.foursquare("us"), "got city='us', subset=None."),
    ],
)
def test_options_that_do_not_exist_are_named_with_those_that_do(call, message):
    with pytest.raises(InputError) as caught:
        call()
    assert message in str(caught.value)
