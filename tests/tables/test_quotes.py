"""Where a block of CSV may end: at the end of a line outside quotation marks, in whatever pieces the text comes."""

import csv
import gzip
import io
import itertools
import sys

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import bipartite as bp
from bipartite.errors import DataFileError
from bipartite.tables import blocks
from bipartite.tables.releasing import privatize_file

STARTS = frozenset(b"\r\n,")


def state_after(text):
    """The rule letter by letter, as Arrow reads CSV: RFC 4180, and marks within bare cells are letters."""
    state, at = "before", 0
    while at < len(text):
        letter = text[at]
        if state == "inside" and letter == '"':
            if text[at + 1 : at + 2] == '"':
                at += 1
            else:
                state = "within"
        elif state != "inside":
            state = "before" if letter in ",\n\r" else "inside" if letter == '"' and state == "before" else "within"
        at += 1
    return state


@given(st.text('",\n x', max_size=60))
@example('a, "b')
@example('"""')
@example('5" pipe,"a')
def test_what_is_open_at_the_end_is_what_the_rule_says(text):
    assert (blocks.opening(text.encode(), len(text), STARTS) >= 0) is (state_after(text) == "inside")


@given(st.text('",\n x', max_size=60), st.lists(st.integers(0, 60), max_size=5))
@example('a,"b\n\nc"\n"', [3, 6])
@example('a,"b\n\nc"\n', [5])
def test_blocks_are_whole_lines_however_the_text_is_cut(text, cuts):
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    chunks = (text[start:stop].encode() for start, stop in itertools.pairwise(edges))
    if state_after(text) == "inside":
        with pytest.raises(DataFileError, match="in has an unclosed quotation mark; close it"):
            list(blocks.whole_lines(chunks, ",", "in"))
        return
    found = list(blocks.whole_lines(chunks, ",", "in"))
    assert b"".join(found).decode() == text
    ends = itertools.accumulate(len(each) for each in found)
    assert all(text[end - 1] == "\n" and state_after(text[:end]) == "before" for end in list(ends)[:-1])


@given(st.lists(st.text('",\n x', max_size=8), min_size=1, max_size=12))
def test_cells_read_block_by_block_are_those_of_the_whole_text(cells):
    quoted = ['"' + cell.replace('"', '""') + '"' for cell in cells]
    text = "".join(f"{at},{cell}\n" for at, cell in enumerate(quoted)).encode()
    chunks = (text[start : start + 5] for start in range(0, len(text), 5))
    options = pa.csv.ReadOptions(column_names=["a", "b"])
    parsing = pa.csv.ParseOptions(newlines_in_values=True)
    types = pa.csv.ConvertOptions(column_types={"b": pa.string()})
    found = [
        cell
        for block in blocks.whole_lines(chunks, ",", "in")
        for cell in pa.csv.read_csv(pa.BufferReader(block), options, parsing, types)["b"].to_pylist()
    ]
    assert found == cells


def test_a_carriage_return_alone_ends_lines_if_the_first_line_ends_so():
    assert list(blocks.whole_lines(iter([b"age\r4", b"0\r41\r"]), ",", "in")) == [
        b"age\r",
        b"40\r",
        b"41\r",
    ]  # a line feed may follow
    assert list(blocks.whole_lines(iter([b"age\r", b"\n40\r\n4"]), ",", "in")) == [b"age\r\n40\r\n", b"4"]


@pytest.mark.parametrize("text", ["age\r40\r\n41\r\n", "age\r40\r41\r\n\r\n", "age\r40\r\r\n41\r"])
def test_a_line_feed_after_a_carriage_return_is_no_line_of_its_own(text):
    """With nulls = { as = … } it would be a person whom nobody asked."""
    expected = list(csv.reader(io.StringIO(text, newline="")))
    for size in range(1, len(text) + 1):
        pieces = (text[at : at + size].encode() for at in range(0, len(text), size))
        found = [
            list(csv.reader(io.StringIO(block.decode(), newline=""))) for block in blocks.whole_lines(pieces, ",", "it")
        ]
        assert [*itertools.chain(*found)] == expected


def test_rows_of_mixed_line_endings_are_counted_as_they_are(tmp_path):
    plan = bp.Plan({"age": bp.tables.Column(bp.GRR(bp.Integers(18, 90), epsilon=1), nulls_as=50)})
    (tmp_path / "in.csv").write_bytes(b"age\r" + b"40\r\n" * 3)
    assert privatize_file(tmp_path / "in.csv", tmp_path / "out.csv", plan).rows == 3


def test_a_byte_order_mark_is_dropped_at_the_start_of_a_file_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 16)
    plan = bp.Plan({"id": "public", "age": bp.GRR(bp.Integers(18, 90), epsilon=1)})
    ids = [f"\ufeff{at}" for at in range(30)]
    (tmp_path / "in.csv").write_text("\ufeffid,age\n" + "".join(f"{each},40\n" for each in ids), encoding="utf-8")
    privatize_file(tmp_path / "in.csv", tmp_path / "out.csv", plan)
    lines = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == ids


def test_a_line_has_a_largest_size(monkeypatch):
    monkeypatch.setattr(blocks, "LONGEST", 10)
    told = "in has a line of more than 10 bytes; shorten it, or close a quotation mark"
    with pytest.raises(DataFileError, match=told):
        list(blocks.whole_lines(iter([b'a\n"', b"12345678901234\n"]), ",", "in"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1", "cp1252"])
@pytest.mark.parametrize("compression", [None, "gzip"])
def test_quotation_marks_are_followed_in_every_encoding_and_compression(tmp_path, encoding, compression):
    plan = bp.Plan({"id": "public", "age": bp.GRR(bp.Integers(18, 90), epsilon=1)})
    source = tmp_path / ("in.csv.gz" if compression else "in.csv")

    def released(text):
        data = text.encode(encoding)
        source.write_bytes(gzip.compress(data) if compression else data)
        return privatize_file(source, tmp_path / "out.csv", plan, overwrite=True, encoding=encoding)

    assert released('id,age\n"é\n8,1",40\n').rows == 1
    assert '"é\n8,1",' in (tmp_path / "out.csv").read_text()
    with pytest.raises(DataFileError, match=r"has an unclosed quotation mark; close it\."):
        released('id,age\n7,40\n"é,40\n')


MISPLACED = {
    '7,40\n"8,41\n9,"42"\n': 4,  # two rows would be one
    '7,40\n"8"x,41\n': 3,
    '7,40\n"8" ,41\n': 3,
    '7,40\n "8,a",41\n': 3,
    '7,40\n8,41\n"9\n"" """"x",42\n"9"9,43': 6,
}


@pytest.mark.parametrize("mark", [",", "\t", "^"])
@pytest.mark.parametrize("text", MISPLACED)
@pytest.mark.parametrize("reject", [False, True])
def test_a_mark_that_encloses_no_whole_cell_is_refused_before_it_swallows_rows(tmp_path, text, mark, reject):
    plan = bp.Plan({"id": "public", "age": bp.GRR(bp.Integers(18, 90), epsilon=1)})
    (tmp_path / "in.csv").write_text(f"id,age\n{text}".replace(",", mark), encoding="utf-8")
    rejected = tmp_path / "bad.csv" if reject else None
    told = rf"line {MISPLACED[text]} of .*in\.csv has a quotation mark that does not enclose a whole cell; remove what"
    with pytest.raises(DataFileError, match=told):
        privatize_file(tmp_path / "in.csv", tmp_path / "out.csv", plan, delimiter=mark, reject=rejected)
    assert [each.name for each in tmp_path.iterdir()] == ["in.csv"]


@given(st.text('",\n x', max_size=60))
@example('"a\n4,"b"\n')
def test_what_is_no_misplaced_mark_is_read_as_python_reads_it(text):
    """Python's own reader, if strict, refuses letters after a closing mark."""
    if blocks.misplaced_mark(text.encode(), ",") < 0 and state_after(text) != "inside":
        list(csv.reader(io.StringIO(text, newline=""), strict=True))


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
def test_an_unknown_letter_of_an_encoding_is_refused_with_its_line(tmp_path, encoding):
    plan = bp.Plan({"id": "public", "age": bp.GRR(bp.Integers(18, 90), epsilon=1)})
    text = {"utf-8": b"id,age\n7,40\n\xff,41\n", "utf-16": b"\xff\xfei\0d\0,\0a\0g\0e\0\n\0\x00\xd8\n\0"}
    if encoding == "latin-1":  # every byte is one of its letters; ASCII has fewer
        encoding, held = "ascii", b"id,age\n7,40\n\xff,41\n"
    else:
        held = text[encoding]
    (tmp_path / "in.csv").write_bytes(held)
    with pytest.raises(DataFileError, match=rf"of .*in\.csv is not {encoding.upper()} text; save it as UTF-8"):
        privatize_file(tmp_path / "in.csv", tmp_path / "out.csv", plan, encoding=encoding)


@pytest.mark.parametrize("reject", [False, True])
def test_standard_input_whose_last_mark_does_not_end_is_refused(tmp_path, monkeypatch, reject):
    plan = bp.Plan({"id": "public", "age": bp.GRR(bp.Integers(18, 90), epsilon=1)})
    given = io.TextIOWrapper(io.BytesIO(b'id,age\n7,40\n8,"41\n9,42\n'))
    monkeypatch.setattr(sys, "stdin", given)
    with pytest.raises(DataFileError, match="standard input has an unclosed quotation mark; close it"):
        privatize_file("-", tmp_path / "out.csv", plan, reject=tmp_path / "rejected.csv" if reject else None)
    assert not (tmp_path / "out.csv").exists()
