"""Tables as text."""

import csv
import io

from bipartite.texts import align_columns, as_csv


def test_columns_are_aligned_the_first_to_the_left():
    assert align_columns([("", "ε"), ("age", "1"), ("a job", "10")]) == ["        ε", "age     1", "a job  10"]


def test_csv_reads_back_as_it_was_and_what_is_missing_is_empty():
    written = as_csv(["name", "share"], [["a, b", 0.1 + 0.2], ['"', None]])
    assert written.startswith("name,share\n")
    assert list(csv.reader(io.StringIO(written))) == [["name", "share"], ["a, b", str(0.1 + 0.2)], ['"', ""]]
