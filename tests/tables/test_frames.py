"""One plan, the same words, every kind of frame: the same reports; and every kind of column."""

import decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bipartite as bp
from bipartite.errors import DataError, InputError, NotAValueError, NullError, OutsideDomainError
from bipartite.tables import Column, Release, reports
from bipartite.tables.drawing import column_sources
from tests.tables.conftest import AGE, CITIES, HOME, JOB, JOBS, column_words, expected, people


def frames(rows):
    connection = duckdb.connect()
    connection.register("people", pa.table(rows))
    return {
        "pandas": pd.DataFrame(rows),
        "polars": pl.DataFrame(rows),
        "arrow": pa.table(rows),
        "batch": pa.RecordBatch.from_pydict(rows),
        "duckdb": connection.sql("SELECT * FROM people"),
    }


def without_rows():
    """No people at all, in columns that still have types."""
    kinds = {"age": int, "income": float, "lat": float, "lon": float, "secret": int}
    return {
        name: np.empty(0, dtype=kinds[name]) if name in kinds else pa.array([], type=pa.string()) for name in people(0)
    }


def as_dict(frame):
    if isinstance(frame, pd.DataFrame):
        return frame.to_dict("list")
    return frame.to_dict(as_series=False) if isinstance(frame, pl.DataFrame) else frame.to_pydict()


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "batch", "duckdb"])
@pytest.mark.parametrize("count", [0, 1, 700])
def test_the_same_words_give_the_reports_of_each_mechanism_alone_in_every_frame(plan, kind, count):
    rows = people(count)
    frame = frames(rows if count else without_rows())[kind]
    reports = bp.privatize_frame(frame, plan, bp.insecure_seed(7))
    assert type(reports) is (pa.Table if kind == "duckdb" else type(frame))
    want = expected(people(count), 7) if count else {name: [] for name in plan.columns}
    assert as_dict(reports) == want


def test_batches_of_any_size_give_the_same_reports(plan, monkeypatch):
    rows = people(3000)
    table = pa.table(rows)
    monkeypatch.setattr(reports, "CHUNK", 257)
    cut = pa.concat_tables([table.slice(0, 1), table.slice(1, 1000), table.slice(1001, 0), table.slice(1001)])
    assert bp.privatize_frame(cut, plan, bp.insecure_seed(3)).to_pydict() == expected(rows, 3)


def test_a_seed_continues_and_fixed_words_are_given_by_column(plan):
    rng = bp.insecure_seed(1)
    first, second = (bp.privatize_frame(pa.table(people(50)), plan, rng).to_pydict() for _ in range(2))
    assert first != second and first == expected(people(50), 1)
    one = bp.Plan({"age": AGE})
    words = list(range(0, 2**64, 2**60))
    wanted = AGE.privatize([40] * 10, rng=bp.fixed_words(words))
    for given_words in (bp.fixed_words(words), {"age": bp.fixed_words(words)}):
        assert bp.privatize_frame(pa.table({"age": [40] * 10}), one, given_words)["age"].to_pylist() == wanted
    with pytest.raises(InputError, match="pass a dict"):
        bp.privatize_frame(pa.table(people(5)), plan, bp.fixed_words([1]))
    with pytest.raises(InputError, match="no others"):
        column_sources({"age": bp.insecure_seed(1)}, ["age", "income"])
    with pytest.raises(InputError, match="statistical generators"):
        bp.privatize_frame(pa.table(people(5)), plan, np.random.default_rng(1))
    seeds = {name: column_words(1, name) for name in plan.mechanisms()}
    assert bp.privatize_frame(pa.table(people(50)), plan, seeds).to_pydict() == first


def test_the_secure_source_never_repeats(plan):
    table = pa.table(people(200))
    assert bp.privatize_frame(table, plan) != bp.privatize_frame(table, plan)


def test_lazy_frames_and_other_things_are_refused(plan):
    for wrong, told in (
        (pl.DataFrame(people(3)).lazy(), "collect"),
        (pl.Series([1]), "Polars DataFrame"),
        (pd.Series([1]), "pandas DataFrame"),
        (pa.array([1]), "Arrow table"),
        ({"age": [1]}, "Expected a pandas or Polars data frame"),
        (duckdb.connect(), "DuckDB relation"),
        (duckdb.connect().execute("SELECT 1"), "DuckDB relation"),
    ):
        with pytest.raises(InputError, match=told):
            bp.privatize_frame(wrong, plan)


def test_a_pandas_index_is_dropped_and_its_own_types_come_back():
    plan = bp.Plan({"age": Column(AGE, nulls="keep"), "who": "public"})
    frame = pd.DataFrame({"age": pd.array([40, None, 50], dtype="Int64"), "who": list("abc")}, index=[7, 8, 7])
    reports = bp.privatize_frame(frame, plan)
    # The plan does not name the index, which may hold who a row is about.
    assert reports.index.tolist() == [0, 1, 2] and reports["who"].tolist() == list("abc")
    assert str(reports["age"].dtype) == "Int64"
    assert reports["age"].isna().tolist() == [False, True, False]
    plain = bp.privatize_frame(pd.DataFrame({"age": [40.0, np.nan], "who": ["a", "b"]}), plan)
    assert plain["age"].isna().tolist() == [False, True] and str(plain["age"].dtype) == "Int64"


WHOLE = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
NUMBER_TYPES = [*(getattr(pa, name)() for name in (*WHOLE, "float16", "float32", "float64")), pa.decimal128(9, 2)]


@pytest.mark.parametrize("kind", NUMBER_TYPES, ids=str)
def test_reports_beyond_the_type_of_the_values_widen_it(kind):
    wide = bp.BRR(bp.Integers(0, 100), epsilon=1, edges="padded", m=81)
    values = pa.array([decimal.Decimal(n) if pa.types.is_decimal(kind) else n for n in [0, 50, 100] * 300]).cast(kind)
    reports = bp.privatize_frame(pa.table({"n": values}), bp.Plan({"n": wide}), bp.insecure_seed(2))["n"]
    assert reports.to_pylist() == wide.privatize([0, 50, 100] * 300, rng=column_words(2, "n"))
    assert min(reports.to_pylist()) < 0 and max(reports.to_pylist()) > 127


def test_truth_values_dictionaries_and_labels_that_are_numbers():
    truth = bp.GRR(bp.Items(["false", "true"], loss=[[0, 1], [1, 0]]), epsilon=5)
    bit = bp.GRR(bp.Integers(0, 1), epsilon=5)
    codes = bp.GRR(bp.Items([10, -20, 30], loss=1 - np.eye(3)), epsilon=5)
    plan = bp.Plan({"t": truth, "b": Column(bit, inputs=("t",)), "c": codes, "d": JOB})
    rows = [True, False] * 200
    table = pa.table(
        {
            "t": rows,
            "c": pa.array([10, 30] * 200, type=pa.uint64()),
            "d": pa.array(["nurse", "other"] * 200).dictionary_encode(),
        }
    )
    found = bp.privatize_frame(table, plan, bp.insecure_seed(4))
    assert found["t"].to_pylist() == truth.privatize(["true", "false"] * 200, rng=column_words(4, "t"))
    assert found["b"].to_pylist() == bit.privatize([1, 0] * 200, rng=column_words(4, "b"))
    assert found["c"].to_pylist() == codes.privatize([10, 30] * 200, rng=column_words(4, "c"))
    assert pa.types.is_dictionary(found.schema.field("d").type)
    assert found["d"].to_pylist() == JOB.privatize(["nurse", "other"] * 200, rng=column_words(4, "d"))
    beyond = pa.table({"c": pa.array([2**64 - 20], type=pa.uint64())})
    with pytest.raises(OutsideDomainError):
        bp.privatize_frame(beyond, bp.Plan({"c": codes}))  # −20 modulo 2^64 is no −20


def test_row_numbers_and_many_outputs_are_reported_too():
    rows = bp.BRR(bp.Points([[0.0], [1.0], [5.0]]), epsilon=1)
    wide = bp.BRR(bp.Integers(0, 10**6), epsilon=1)
    anchored = bp.Anchored(bp.Integers(1, 9), epsilon=1)
    fine = bp.BRR(bp.Interval(0, 1, points=100_001, rounding="random"), epsilon=1)
    plan = bp.Plan({"r": rows, "w": wide, "a": anchored, "f": fine})
    table = pa.table({"r": [0, 2, 1] * 100, "w": [5, 10**6, 7] * 100, "a": [1, 5, 9] * 100, "f": [0.1, 0.2, 1] * 100})
    found = bp.privatize_frame(table, plan, bp.insecure_seed(5))
    for name, mechanism in plan.mechanisms().items():
        assert found[name].to_pylist() == mechanism.privatize(table[name].to_pylist(), rng=column_words(5, name))


def test_nulls_are_refused_kept_or_taken_for_a_value():
    def release(rows, mechanism, *inputs, **options):
        """The reports of one column."""
        plan = bp.Plan({"n": Column(mechanism, inputs, **options)})
        return bp.privatize_frame(pa.table(rows), plan, bp.insecure_seed(6))["n"].to_pylist()

    values = {"n": [40.0, None, float("nan"), 60.0]}
    kept = release(values, AGE, nulls="keep")
    assert kept[1] is None and kept[2] is None
    assert [kept[0], kept[3]] == AGE.privatize([40.0, 60.0], rng=column_words(6, "n"))
    taken = release(values, AGE, nulls_as=18)
    assert taken == AGE.privatize([40.0, 18.0, 18.0, 60.0], rng=column_words(6, "n"))
    with pytest.raises(NotAValueError, match="row 2 is missing; row 3 is not a number"):
        release(values, AGE)
    missing = "column 'n': 1 of the 2 rows of this batch cannot be reported: row 2 is missing"
    with pytest.raises(NullError, match=missing):
        release({"n": [40, None]}, AGE)
    assert release({"n": pa.nulls(3)}, AGE, nulls="keep") == [None] * 3
    far = bp.BRR(bp.Integers(0, 1000), epsilon=1)
    assert None not in release({"n": pa.array([1, None], type=pa.int8())}, far, nulls_as=1000)
    places, jobs = {"lat": [1.0, None], "lon": [1.0, 2.0]}, {"n": ["nurse", None]}
    for rows, mechanism, inputs, other in ((places, HOME, ("lat", "lon"), "Paris"), (jobs, JOB, (), "no answer")):
        with pytest.raises(NullError, match=missing):
            release(rows, mechanism, *inputs)
        assert None not in release(rows, mechanism, *inputs, nulls_as=other)
        assert release(rows, mechanism, *inputs, nulls="keep")[1] is None


def test_a_column_of_nothing_but_gaps_fits_every_plan_whatever_type_they_gave_it():
    plan = bp.Plan({"j": Column(JOB, nulls_as="no answer"), "n": Column(AGE, nulls_as=18)})
    connection = duckdb.connect()
    for frame in (
        pd.DataFrame({"j": [np.nan] * 9, "n": pd.array([None] * 9, dtype="string")}),
        pd.DataFrame({"j": [None] * 9, "n": pd.Series([None] * 9, dtype="datetime64[ns]")}),
        pl.DataFrame({"j": [None] * 9, "n": [None] * 9}, schema={"j": pl.Int32, "n": pl.String}),
        pa.table({"j": pa.nulls(9, pa.int32()), "n": pa.nulls(9, pa.string())}),
        pa.record_batch({"j": pa.nulls(9, pa.int32()), "n": pa.nulls(9, pa.string())}),
        connection.sql("SELECT NULL AS j, NULL AS n FROM range(9)"),
        connection.sql("SELECT CAST(NULL AS INTEGER) AS j, CAST(NULL AS DATE) AS n FROM range(9)"),
    ):
        found = as_dict(bp.privatize_frame(frame, plan, bp.insecure_seed(6)))
        assert found["j"] == JOB.privatize(["no answer"] * 9, rng=column_words(6, "j"))
        assert found["n"] == AGE.privatize([18] * 9, rng=column_words(6, "n"))
    with pytest.raises(InputError, match="column 'j': Expected text, got int64"):
        bp.privatize_frame(pa.table({"j": [None, 1], "n": [40, 50]}), plan)


def test_positions_far_away_are_refused_moved_or_taken_for_a_place():
    table = pa.table({"lat": [48.86, -40.0], "lon": [2.35, 170.0]})
    near = Column(HOME, ("lat", "lon"), max_distance=100)
    with pytest.raises(OutsideDomainError, match="row 2 is outside the distance of 100 from every point"):
        bp.privatize_frame(table, bp.Plan({"h": near}))
    for column in (
        Column(HOME, ("lat", "lon"), max_distance=100, outside="clip"),
        Column(HOME, ("lat", "lon"), max_distance=100, outside_as="London"),
    ):
        assert set(bp.privatize_frame(table, bp.Plan({"h": column}))["h"].to_pylist()) <= set(CITIES.labels)
    with pytest.raises(NotAValueError, match="row 1 is not a position"):
        bp.privatize_frame(pa.table({"lat": [91.0], "lon": [0.0]}), bp.Plan({"h": Column(HOME, ("lat", "lon"))}))


SECRET = 123456789


@given(
    st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.just(SECRET)), min_size=1, max_size=20),
    st.sampled_from(["error", "clip"]),
    st.sampled_from([pa.int64(), pa.float64()]),
)
def test_whatever_the_numbers_are_a_refusal_never_shows_one(values, outside, kind):
    plan = bp.Plan({"n": Column(AGE, outside=outside)})
    table = pa.table({"n": pa.array(values, type=pa.int64()).cast(kind, safe=False)})
    if all(value is not None and (outside == "clip" or 18 <= value <= 90) for value in values):
        assert all(18 <= report <= 90 for report in bp.privatize_frame(table, plan)["n"].to_pylist())
        return
    with pytest.raises(DataError, match="rows? [0-9]") as caught:
        bp.privatize_frame(table, plan)
    assert str(SECRET) not in repr(caught.value)


@given(st.lists(st.one_of(st.none(), st.text(max_size=5), st.sampled_from(JOBS)), max_size=20))
def test_labels_that_are_unknown_are_taken_for_another_or_refused_unseen(labels):
    table = pa.table({"j": pa.array(labels, type=pa.string())})
    sound = bp.Plan({"j": Column(JOB, outside_as="other", nulls_as="no answer")})
    clean = [JOBS[3] if each is None else each if each in JOBS else "other" for each in labels]
    found = bp.privatize_frame(table, sound, bp.insecure_seed(8))["j"].to_pylist()
    assert found == (JOB.privatize(clean, rng=column_words(8, "j")) if labels else [])
    if any(each not in JOBS for each in labels):
        with pytest.raises(DataError):
            bp.privatize_frame(table, bp.Plan({"j": JOB}))


def test_one_value_in_place_of_those_outside_a_line():
    plan = bp.Plan({"n": Column(AGE, outside_as=18, nulls="keep")})
    found = bp.privatize_frame(pa.table({"n": [17, 40, None, 1000]}), plan, bp.insecure_seed(9))["n"].to_pylist()
    wanted = AGE.privatize([18, 40, 18], rng=column_words(9, "n"))
    assert found == [*wanted[:2], None, wanted[2]]


def test_odd_names_of_columns_pass_through_every_frame():
    names = ['say "hi"', "ε, ü", "a b", "select", "'; DROP TABLE x; --"]
    plan = bp.Plan({name: AGE if at % 2 else "public" for at, name in enumerate(names)})
    rows = {name: [40, 50] for name in names}
    for frame in frames(rows).values():
        assert list(as_dict(bp.privatize_frame(frame, plan))) == names


@pytest.mark.parametrize("kind", ["text", "bytes", "duckdb"])
def test_values_that_become_no_column_are_not_shown(kind):
    query = "SELECT CAST(x AS INTEGER) AS age FROM (VALUES ('40'), ('secret 99')) AS t(x)"
    second = {"text": "secret 99", "bytes": b"secret 99", "duckdb": 0}[kind]
    frame = duckdb.connect().sql(query) if kind == "duckdb" else pd.DataFrame({"age": [40, second]})
    told = "run it alone to see why" if kind == "duckdb" else "column 'age': Expected values of one type, got a mixture"
    with pytest.raises(InputError, match=told) as caught:
        bp.privatize_frame(frame, bp.Plan({"age": AGE}))
    assert "99" not in str(caught.value) and caught.value.__context__ is None


@pytest.mark.parametrize("huge", [2**63 + 5, -(2**70), 10**400], ids=["64 bits", "71 bits", "1,329 bits"])
def test_whole_numbers_of_more_than_64_bits_are_clipped_replaced_or_refused_like_any_other(huge):
    held = [huge, 40, None]
    clipped = bp.Plan({"n": Column(AGE, outside="clip", nulls="keep")})
    found = bp.privatize_frame(pd.DataFrame({"n": held}, dtype=object), clipped, bp.insecure_seed(9))["n"]
    same = pd.DataFrame({"n": [90 if huge > 0 else 18, 40, None]}, dtype=object)
    pd.testing.assert_series_equal(found, bp.privatize_frame(same, clipped, bp.insecure_seed(9))["n"])
    wide = bp.BRR(bp.Interval(0, 1e30, points=11), epsilon=20)  # one in which it may lie
    nearest = min(max(huge, 0), 10**30)
    for cells in (held, [nearest, 40.5, float("nan")]):
        frame = pd.DataFrame({"n": cells}, dtype=object)
        found = bp.privatize_frame(frame, bp.Plan({"n": Column(wide, outside="clip", nulls="keep")}))["n"]
        assert abs(found[0] - nearest) <= 1e29 and pd.isna(found[2])
    stars = bp.Plan({"n": Column(bp.GRR(bp.Items([1, 2, 3]), 1), outside_as=3, nulls_as=1)})
    assert set(bp.privatize_frame(pd.DataFrame({"n": held}, dtype=object), stars)["n"]) <= {1, 2, 3}
    with pytest.raises(OutsideDomainError, match="column 'n': 1 of .*: row 1 is outside 18..90") as caught:
        bp.privatize_frame(pd.DataFrame({"n": held[:2]}, dtype=object), bp.Plan({"n": AGE}))
    assert str(abs(huge))[:9] not in str(caught.value)


def test_rows_are_numbered_over_all_batches():
    release = Release(bp.Plan({"n": AGE}))
    release.privatize(pa.RecordBatch.from_pydict({"n": [40] * 10}))
    with pytest.raises(OutsideDomainError, match="rows 12, 13, 14, 15, 16 and 3 more are outside 18..90"):
        release.privatize(pa.RecordBatch.from_pydict({"n": [40] + [3] * 8}))


@pytest.mark.parametrize("what", ["private", "public"])
@pytest.mark.parametrize(
    ("values", "kind", "told"),
    [([20, 2**70], pl.Int128, "Int128"), ([20, object()], pl.Object, "Object")],
    ids=["128 bits", "objects"],
)
def test_a_polars_column_that_arrow_does_not_hold_is_refused_by_its_type(what, values, kind, told):
    """Polars' own error speaks of format strings, and of objects it gives the addresses in memory."""
    frame = pl.DataFrame({"n": pl.Series(values, dtype=kind), "age": [20, 30]})
    columns = {"n": Column(AGE, outside="clip")} if what == "private" else {"n": "public", "age": AGE}
    with pytest.raises(
        InputError, match=f"column 'n': Expected a type that Arrow supports, got {told}; cast"
    ) as caught:
        bp.privatize_frame(frame, bp.Plan(columns))
    assert caught.value.__context__ is None


def test_public_whole_numbers_of_more_than_64_bits_in_pandas_are_refused():
    plan = bp.Plan({"age": AGE, "n": "public"})
    with pytest.raises(InputError, match="'n': .* or whole numbers of more than 64 bits; convert it first"):
        bp.privatize_frame(pd.DataFrame({"age": 20, "n": [20, 2**70]}), plan)
