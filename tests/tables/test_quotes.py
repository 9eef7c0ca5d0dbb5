"""Whether a CSV text ends between quotation marks, in whatever pieces it comes."""

import gzip
import io
import itertools
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import bipartite as bp
from bipartite.errors import DataFileError
from bipartite.tables.asking import Settings
from bipartite.tables.formats import Format
from bipartite.tables.quotes import Quotes, may_be_split
from bipartite.tables.releasing import privatize_file

CSV = Format("csv")


def ends_inside(text):
    """The rule letter by letter: RFC 4180, and DuckDB's for spaces before a mark and marks within bare cells."""
    state, at = "before", 0
    while at < len(text):
        letter = text[at]
        if state == "inside" and letter == '"':
            if text[at + 1 : at + 2] == '"':
                at += 1
            else:
                state = "within"
        elif state != "inside":
            if letter in ",\n\r":
                state = "before"
            elif letter == '"' and state == "before":
                state = "inside"
            elif letter != " ":
                state = "within"
        at += 1
    return state == "inside"


@given(st.text('",\n x', max_size=60), st.lists(st.integers(0, 60), max_size=5))
@example('a, "b', [])
@example('"""', [1, 2])
@example('5" pipe,"a', [])
def test_the_end_is_inside_where_the_rule_says_so_however_the_text_is_cut(text, cuts):
    quotes = Quotes(CSV)
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    for start, stop in itertools.pairwise(edges):
        quotes.take(text[start:stop].encode())
    assert quotes.is_open is ends_inside(text)
    assert quotes.any is ('"' in text)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
@pytest.mark.parametrize("compression", [None, "gzip"])
def test_files_are_looked_through_in_every_encoding_and_compression(tmp_path, encoding, compression):
    form = Format("csv", compression, encoding=encoding)
    for text, found in (("id,age\n7,40\n", False), ('id,age\n"é\n8,1",40\n', True)):
        data = text.encode(encoding)
        (tmp_path / "in").write_bytes(gzip.compress(data) if compression else data)
        assert may_be_split([tmp_path / "in"], form) is not found
    data = 'id,age\n7,40\n"é,40\n'.encode(encoding)
    (tmp_path / "in").write_bytes(gzip.compress(data) if compression else data)
    with pytest.raises(DataFileError, match=r"in has an unclosed quotation mark; close it\."):
        may_be_split([tmp_path / "in"], form)


@pytest.mark.parametrize("reject", [False, True])
def test_standard_input_whose_last_mark_does_not_end_is_refused(tmp_path, monkeypatch, reject):
    plan = bp.Plan({"id": "public", "age": bp.GRR(bp.Integers(18, 90), epsilon=1)})
    given = io.TextIOWrapper(io.BytesIO(b'id,age\n7,40\n8,"41\n9,42\n'))
    monkeypatch.setattr(sys, "stdin", given)
    settings = Settings(input_format="csv", reject=tmp_path / "rejected.csv" if reject else None)
    with pytest.raises(DataFileError, match="standard input has an unclosed quotation mark; close it"):
        privatize_file("-", tmp_path / "out.csv", plan, settings=settings)
    assert not (tmp_path / "out.csv").exists()
