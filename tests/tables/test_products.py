"""Tuples in tables: several columns in, one column of JSON arrays out, estimated from there."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bipartite as bp
from bipartite.errors import DataError, DataFileError, InputError, NotAValueError, NullError, OutsideDomainError
from bipartite.tables import Column, estimate_file, privatize_file
from bipartite.tables.keyed import KEY_BYTES, KeyedRelease
from tests.tables.files import put, read

GENRES = bp.Items(["jazz", "blues", "metal, heavy"], loss=1 - np.eye(3))
PEOPLE = bp.Product(bp.Integers(18, 30), GENRES)
MECHANISM = bp.GRR(PEOPLE, 20)  # nearly always the truth
PLAN = bp.Plan({"who": Column(MECHANISM, ("age", "genre")), "country": "public"})
ROWS = [(18, "jazz", "DE"), (30, "metal, heavy", "FR"), (25, "blues", "DE")]
TEXTS = ['[18,"jazz"]', '[30,"metal, heavy"]', '[25,"blues"]']
DESCRIBED = {
    "from": ["age", "genre"],
    "domain": {"product": [{"integers": [18, 30]}, {"categories": list(GENRES.labels)}]},
    "epsilon": 20,
    "mechanism": "grr",
}


def table(rows=ROWS):
    return pa.table(dict(zip(("age", "genre", "country"), zip(*rows, strict=True), strict=True)))


def frames(rows=ROWS):
    arrow = table(rows)
    return [arrow, arrow.to_batches()[0], pl.from_arrow(arrow), pd.DataFrame(rows, columns=["age", "genre", "country"])]


@pytest.mark.parametrize("at", range(4), ids=["Arrow", "a batch", "Polars", "pandas"])
def test_a_frame_holds_each_tuple_as_one_text(at):
    frame = frames()[at]
    reports = bp.privatize_frame(frame, PLAN)
    assert type(reports) is type(frame)
    column = reports.column("who") if at < 2 else reports["who"]
    assert [str(each) for each in column] == TEXTS
    assert bp.estimate(MECHANISM, column).nobs == 3
    shares = bp.estimate(MECHANISM, column).shares
    assert shares[[PEOPLE.encode(row[:2]) for row in ROWS]] == pytest.approx([1 / 3] * 3, abs=1e-6)


@pytest.mark.parametrize(("kind", "into"), [("parquet", "csv"), ("csv", "jsonl"), ("jsonl", "parquet")])
def test_files_of_every_kind_hold_the_same_and_are_estimated_from_there(tmp_path, kind, into):
    out = tmp_path / f"reports.{into}"
    privatize_file(put(tmp_path / f"people.{kind}", table()), out, PLAN)
    assert read(out)["who"] == TEXTS
    answers = estimate_file(out, by="country")
    shares = answers.columns["who"]["DE"].shares
    assert shares[PEOPLE.encode((25, "blues"))] == pytest.approx(0.5, abs=1e-6)


def test_a_plan_file_names_the_parts():
    plan = bp.Plan.from_dict({"columns": {"who": DESCRIBED, "country": {"public": True}}})
    assert plan == PLAN
    weighted = DESCRIBED | {"domain": DESCRIBED["domain"] | {"weights": [1, 0.5]}, "mechanism": "brr", "epsilon": 1}
    mechanism = bp.Plan.from_dict({"columns": {"who": weighted}}).mechanisms()["who"]
    assert mechanism == bp.BRR(bp.Product(bp.Integers(18, 30), GENRES, weights=(1, 0.5)), 1)
    default = {key: value for key, value in DESCRIBED.items() if key != "mechanism"} | {"epsilon": 1}
    assert isinstance(bp.Plan.from_dict({"columns": {"who": default}}).mechanisms()["who"], bp.BRR)
    flat = default | {"domain": {"product": [{"categories": ["a", "b"]}, {"categories": ["c", "d"]}]}}
    assert isinstance(bp.Plan.from_dict({"columns": {"who": flat}}).mechanisms()["who"], bp.GRR)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"from": ["age"]}, "Expected 2 input columns for the tuples, one per part, got 1; name them"),
        ({"from": ["age", "genre", "sex"]}, "Expected 2 input columns .* got 3"),
        ({"domain": {"product": 5}}, r"Expected product = \[a domain, a domain\], got 5"),
        ({"domain": {"product": [{"integers": [1, 2]}, {"integers": 5}]}}, "part 1: Expected integers = .low, high."),
        ({"domain": {"product": [{"integers": [1, 2]}]}}, "Expected at least two domains, got 1"),
        ({"domain": DESCRIBED["domain"] | {"weights": [1, -1]}}, "Expected weights as 2 positive numbers"),
        ({"domain": DESCRIBED["domain"] | {"points": 3}}, "A domain of product takes no points"),
        (
            {"domain": {"product": [{"integers": [1, 2000]}, {"integers": [1, 1000]}]}},
            "at most 1048576 tuples in a col",
        ),
        ({"nulls": {"as": [18, "none"]}}, r"Expected nulls_as .* as a value of the domain, got \(18, 'none'\)"),
        ({"max_distance": 1}, "max_distance applies only to a column read from coordinates"),
        (
            {"outside": "clip", "domain": {"product": [{"categories": ["a", "b"]}] * 2}},
            "outside='clip' has no meaning on a set",
        ),
    ],
)
def test_what_no_plan_can_be_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        bp.Plan.from_dict({"columns": {"who": DESCRIBED | change}})


def test_a_plan_without_from_says_how_columns_are_named():
    with pytest.raises(InputError, match=r"got none; name them: inputs=\('age', 'genre'\) \(in a plan file, from = "):
        bp.Plan({"who": MECHANISM})
    with pytest.raises(InputError, match="bp.Points of 2 coordinates or bp.Product of 2 parts"):
        Column(bp.GRR(GENRES, 1), ("a", "b"))


@pytest.mark.parametrize(
    ("rows", "options", "expected"),
    [
        ([(None, "jazz"), (20, None)], {"nulls": "keep"}, [None, None]),
        ([(None, "jazz"), (20, None)], {"nulls_as": (18, "blues")}, ['[18,"jazz"]', '[20,"blues"]']),
        ([(99, "jazz"), (1, "blues")], {"outside": "clip"}, ['[30,"jazz"]', '[18,"blues"]']),
        ([(99, "rock"), (20, "rock")], {"outside_as": (18, "blues")}, ['[18,"blues"]', '[20,"blues"]']),
        ([(99, "rock"), (20, None)], {"nulls": "keep", "outside_as": (18, "jazz")}, ['[18,"jazz"]', None]),
    ],
)
def test_what_is_missing_or_outside_is_replaced_part_by_part(rows, options, expected):
    plan = bp.Plan({"who": Column(MECHANISM, ("age", "genre"), **options)})
    given = pa.table({"age": pa.array([r[0] for r in rows], pa.int64()), "genre": [r[1] for r in rows]})
    assert bp.privatize_frame(given, plan).column("who").to_pylist() == expected
    if any(expected):
        reports = bp.privatize_frame(given.to_pandas(), plan)["who"]
        assert bp.estimate(MECHANISM, reports, nulls="drop").nobs == len([each for each in expected if each])


@pytest.mark.parametrize(
    ("row", "kind", "message"),
    [
        (
            (None, "jazz"),
            NullError,
            "column 'who': 1 of the 2 rows of this batch .*: row 2 is missing; replace it by a 'no ans",
        ),
        (
            (20, "918273"),
            OutsideDomainError,
            "row 2 is outside Product.*; clamp numbers with outside = 'clip', or replace",
        ),
        ((918273, "jazz"), OutsideDomainError, "row 2 is outside"),
        ((18.5, "jazz"), NotAValueError, "row 2 is not a whole number"),
        ((918273, None), DataError, "row 2 is missing"),
    ],
)
def test_refusals_name_rows_and_no_values(row, kind, message):
    rows = [(18, "jazz"), row]
    given = pa.table({"age": [r[0] for r in rows], "genre": [r[1] for r in rows]})
    with pytest.raises(kind, match=message) as caught:
        bp.privatize_frame(given, bp.Plan({"who": PLAN.columns["who"]}))
    assert "918273" not in str(caught.value)


def test_what_a_release_publishes_of_each_part():
    clipped = Column(MECHANISM, ("age", "genre"), outside="clip", nulls_as=(18, "jazz"))
    assert clipped.publishes == (
        "that every value of 'age' is a whole number",
        "that no value of 'genre' is outside the set (outside = 'clip')",
    )
    assert (
        "that no value of 'age' is outside 18..30 (outside = 'error')" in Column(MECHANISM, ("age", "genre")).publishes
    )
    assert Column(MECHANISM, ("a", "b"), outside_as=(18, "jazz"), nulls_as=(18, "jazz")).publishes == (
        "that every value of 'a' is a whole number",
    )


def test_columns_of_the_wrong_type_are_told_before_a_value_is_read():
    given = pa.table({"age": ["x"], "genre": [5], "country": ["DE"]})
    with pytest.raises(InputError) as caught:
        bp.privatize_frame(given, PLAN)
    assert "column 'age': Expected numbers, got string" in str(caught.value)
    assert "column 'genre': Expected text, got int64" in str(caught.value)


def test_rows_of_a_csv_file_are_rejected_with_their_reason(tmp_path):
    source = tmp_path / "people.csv"
    source.write_text(
        "age,genre,country\n18,jazz,DE\nold,jazz,DE\n20,rock,FR\n,blues,FR\n25, blues ,FR\n", encoding="utf-8"
    )
    out, rejected = tmp_path / "out.csv", tmp_path / "rejected.csv"
    privatize_file(source, out, PLAN, reject=rejected)
    assert read(out)["who"] == ['[18,"jazz"]', '[25,"blues"]']
    text = rejected.read_text(encoding="utf-8")
    for reason in ("who: not of the type", "who: outside", "who: missing"):
        assert reason in text


def test_an_edited_report_is_refused(tmp_path):
    out = tmp_path / "out.csv"
    privatize_file(put(tmp_path / "people.csv", table()), out, PLAN)
    out.write_text(out.read_text(encoding="utf-8").replace("25", "31"), encoding="utf-8")
    with pytest.raises(DataFileError, match="line 4, column 'who', cannot have come from GRR"):
        estimate_file(out)


def test_rows_with_ids_have_the_same_tuples_again():
    people = [(age, genre, "DE") for age in range(18, 31) for genre in GENRES.labels] * 5
    given = table(people).to_batches()[0]
    ids = pa.array(range(len(people)))
    for mechanism in (bp.GRR(PEOPLE, 1), bp.BRR(PEOPLE, 1), bp.Anchored(PEOPLE, 1)):
        plan = bp.Plan({"who": Column(mechanism, ("age", "genre"))})
        one, two, other = (
            KeyedRelease(plan, bytes([key]) * KEY_BYTES).privatize_rows(given, ids).column("who").to_pylist()
            for key in (1, 1, 2)
        )
        assert one == two != other
        assert bp.estimate(mechanism, one).nobs == len(people)
