"""The type of reports follows from the outputs and the options, never from values or from the type that gaps gave.

Libraries turn a column of whole numbers into floats or objects as soon as one of them is missing or infinite. Were that
type passed on, it would tell for certain that somebody's value was, which no ε covers.
"""

import math

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bipartite as bp
from bipartite.learn import PrivateColumns
from bipartite.tables import Column, privatize_file

AGES = bp.Integers(18, 90)
MECHANISMS = {
    "whole": bp.BRR(AGES, epsilon=1),
    "padded": bp.BRR(AGES, epsilon=1, edges="padded"),
    "anchored": bp.Anchored(AGES, epsilon=1),
    "interval": bp.BRR(bp.Interval(18, 90, points=73), epsilon=1),
    "random rounding": bp.BRR(bp.Interval(18, 90, points=73, rounding="random"), epsilon=1),
    "two values": bp.Duchi(bp.Interval(18, 90, points=73), epsilon=1),
    "rows": bp.BRR(bp.Points([[0.0], [1.0], [2.0], [5.0]]), epsilon=1),
    "texts": bp.GRR(bp.Items(["a", "bb", "ccc"], loss=1 - np.eye(3)), epsilon=1),
    "numbers": bp.GRR(bp.Items([3, 5, 1000], loss=1 - np.eye(3)), epsilon=1),
}
VALUES = {"rows": [0, 1, 2], "texts": ["a", "bb", "ccc"], "numbers": [3, 5, 1000]}
LINES = [name for name in MECHANISMS if name not in VALUES]


def plain_values(name):
    return VALUES.get(name, [20, 30, 40])


def companies(name, *, nulls, clip, floats=True):
    """What may stand where an ordinary value stood, under options that let it pass without a refusal."""
    rest = plain_values(name)[1:]
    if nulls:
        yield [None, *rest]
        if name != "texts":
            yield [math.nan, *rest]
        yield [None] * 3
    if clip and name in LINES:
        yield from (
            [math.inf, *rest],
            [-math.inf, *rest],
            [10**6, *rest],
            [-5.0, *rest],
            [2**63, *rest],
            [-(10**30), *rest],
        )
    if floats and name not in {"texts", "numbers"}:
        yield list(map(float, plain_values(name)))
        yield [float(plain_values(name)[0]), *rest]


def arrow(values):
    try:
        return pa.array(values, from_pandas=False)
    except (pa.ArrowInvalid, OverflowError):
        return pa.array([None if each is None else float(each) for each in values])


CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "numpy": lambda values: (
        np.array([math.nan if each is None else each for each in values])
        if not any(isinstance(each, str) for each in values)
        else np.array(values, dtype=object if None in values else None)
    ),
    "numpy int8": lambda values: np.array(values, dtype=np.int8),
    "numpy float32": lambda values: np.array([math.nan if each is None else each for each in values], dtype=np.float32),
    "pandas": pd.Series,
    "pandas named": lambda values: pd.Series(values, name="n", index=[7, 7, 8]),
    "pandas object": lambda values: pd.Series(values, dtype=object),
    "pandas Int64": lambda values: pd.Series(values, dtype="Int64"),
    "pandas Float64": lambda values: pd.Series(values, dtype="Float64"),
    "pandas string": lambda values: pd.Series(values, dtype="string"),
    "pandas Arrow": lambda values: pd.Series(pd.arrays.ArrowExtensionArray(arrow(values))),
    "polars": lambda values: pl.Series("n", values, strict=False),
    "polars Int8": lambda values: pl.Series("n", values, dtype=pl.Int8),
    "Arrow": arrow,
    "Arrow int8": lambda values: pa.array(values, type=pa.int8()),
    "Arrow chunked": lambda values: pa.chunked_array([arrow(values)[:1], arrow(values)[1:]]),
}
# The families among which libraries choose by what the values happen to be.
FAMILIES = [
    ["list"],
    ["tuple"],
    ["numpy", "numpy int8", "numpy float32"],
    ["pandas", "pandas object"],
    ["pandas named"],
    ["pandas Int64", "pandas Float64"],
    ["pandas string"],
    ["pandas Arrow"],
    ["polars", "polars Int8"],
    ["Arrow", "Arrow int8"],
    ["Arrow chunked"],
]


def shape(reports):
    """Everything about a container of reports but the reports themselves, and where a null stands."""
    if isinstance(reports, (list, tuple)):
        return type(reports), {type(each) for each in reports if each is not None}
    if isinstance(reports, np.ndarray):
        return type(reports), reports.dtype, reports.shape
    if isinstance(reports, pd.Series):
        return str(reports.dtype), reports.name, reports.index.tolist()
    if isinstance(reports, pl.Series):
        return reports.dtype, reports.name, reports.n_chunks()
    if isinstance(reports, pa.ChunkedArray):
        return reports.type, reports.num_chunks
    return type(reports), reports.type


def reported(mechanism, container, options):
    """The shape of what comes back, or None where these values cannot stand in this container, or are refused."""
    try:
        return shape(mechanism.privatize(container, **options))
    except (bp.errors.BipartiteError, NotImplementedError):
        return None


def made(kind, values):
    try:
        return CONTAINERS[kind](values)
    except (TypeError, ValueError, OverflowError, Warning, pa.ArrowException, pl.exceptions.PolarsError):
        return None


def shapes_of(kinds, name, nulls, outside):
    """The different shapes that come back, each with what gave it."""
    shapes = {}
    for kind in kinds:
        for values in (plain_values(name), *companies(name, nulls=nulls == "keep", clip=outside == "clip")):
            container = made(kind, values)
            found = (
                None
                if container is None
                else reported(MECHANISMS[name], container, {"nulls": nulls, "outside": outside})
            )
            # A list that holds nothing has no type to tell.
            if found is not None and not (found[-1] == set() and None in values):
                shapes.setdefault(str(found), []).append((kind, values))
    return shapes


@pytest.mark.grid(110)
@pytest.mark.parametrize("family", FAMILIES, ids="/".join)
@pytest.mark.parametrize("nulls", ["error", "keep"])
@pytest.mark.parametrize(
    ("name", "outside"),
    [(name, out) for name in MECHANISMS for out in ("error", "clip") if out == "error" or name in LINES],
)
def test_no_container_tells_by_its_type_what_stood_in_it(family, name, nulls, outside):
    shapes = shapes_of(family, name, nulls, outside)
    assert len(shapes) <= 1, shapes
    # (Of labels that are numbers a gap makes floats in pandas, which are refused.)
    inferred = {"list", "tuple", "Arrow", "polars"} | ({"pandas"} if name != "numbers" else set())
    if family[0] in inferred and (nulls == "keep" or name in LINES):
        assert sum(map(len, shapes.values())) > 1  # there was something to compare


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_report_of_one_value_has_one_type(name):
    mechanism = MECHANISMS[name]
    options = {"outside": "clip"} if name in LINES else {}
    plain = {type(mechanism.privatize(value, **options)) for value in plain_values(name)}
    assert plain == ({str} if name == "texts" else {int if mechanism.outputs.whole else float})
    if name in LINES:
        odd = (20.0, math.inf, -math.inf, 10**30, -5)
        assert {type(mechanism.privatize(value, outside="clip")) for value in odd} == plain
    if name not in {"texts", "numbers"}:
        wide = (np.int8(1), np.float32(2), np.int64(1), np.float64(2), np.uint16(2))
        options = {"outside": "clip"} if name in LINES else {}
        of_numpy = np.int64 if mechanism.outputs.whole else np.float64
        assert {type(mechanism.privatize(value, **options)) for value in wide} == {of_numpy}


FRAMES = {
    "pandas": lambda values: pd.DataFrame({"n": values}),
    "pandas Int64": lambda values: pd.DataFrame({"n": pd.array(values, dtype="Int64")}),
    "pandas Float64": lambda values: pd.DataFrame({"n": pd.array(values, dtype="Float64")}),
    "pandas Arrow": lambda values: pd.DataFrame({"n": pd.arrays.ArrowExtensionArray(arrow(values))}),
    "pandas converted": lambda values: pd.DataFrame({"n": values}).convert_dtypes(),
    "pandas category": lambda values: pd.DataFrame({"n": pd.Series(values, dtype="category")}),
    "polars": lambda values: pl.DataFrame({"n": pl.Series(values, strict=False)}),
    "polars Int8": lambda values: pl.DataFrame({"n": pl.Series(values, dtype=pl.Int8)}),
    "polars Categorical": lambda values: pl.DataFrame({"n": pl.Series(values, dtype=pl.Categorical)}),
    "Arrow": lambda values: pa.table({"n": arrow(values)}),
    "Arrow int8": lambda values: pa.table({"n": pa.array(values, type=pa.int8())}),
    "Arrow decimal": lambda values: pa.table({"n": arrow(values).cast(pa.decimal128(20, 2))}),
    "Arrow dictionary": lambda values: pa.table({"n": arrow(values).dictionary_encode()}),
    "Arrow batch": lambda values: pa.RecordBatch.from_arrays([arrow(values)], names=["n"]),
    "DuckDB": lambda values: duckdb.from_arrow(pa.table({"n": arrow(values)})),
}
FRAME_FAMILIES = [
    ["pandas", "pandas Int64", "pandas Float64", "pandas converted"],
    ["pandas Arrow"],
    ["pandas category"],
    ["polars", "polars Int8"],
    ["polars Categorical"],
    ["Arrow", "Arrow int8", "Arrow decimal"],
    ["Arrow dictionary"],
    ["Arrow batch"],
    ["DuckDB"],
]


def frame_shape(frame):
    if isinstance(frame, pd.DataFrame):
        dtype = frame["n"].dtype
        held = (dtype.categories.tolist(), dtype.ordered) if isinstance(dtype, pd.CategoricalDtype) else str(dtype)
        return held, frame.index.tolist(), list(frame.columns), dict(frame.attrs)
    if isinstance(frame, pl.DataFrame):
        return frame.schema
    field = frame.schema.field("n")
    return type(frame), field.type, field.nullable, frame.schema.metadata


def columns_of(name):
    """The options of a plan, and which odd values they let pass."""
    mechanism = MECHANISMS[name]
    value = plain_values(name)[0]
    yield Column(mechanism), False, False
    yield Column(mechanism, nulls="keep"), True, False
    yield Column(mechanism, nulls_as=value), True, False
    yield Column(mechanism, outside_as=value), False, True
    yield Column(mechanism, outside_as=value, nulls_as=value), True, True
    if name in LINES:
        yield Column(mechanism, outside="clip"), False, True
        yield Column(mechanism, outside="clip", nulls="keep"), True, True
        yield Column(mechanism, outside="clip", nulls_as=value), True, True


@pytest.mark.grid(6)
@pytest.mark.parametrize("family", FRAME_FAMILIES, ids="/".join)
@pytest.mark.parametrize("name", ["whole", "interval", "two values", "rows", "texts", "numbers"])
def test_no_frame_tells_by_its_types_what_stood_in_it(family, name):
    compared = 0
    for column, nulls, clip in columns_of(name):
        shapes = {}
        for kind in family:
            for values in (plain_values(name), *companies(name, nulls=nulls, clip=clip)):
                try:
                    frame = FRAMES[kind](values)
                    found = bp.privatize_frame(frame, bp.Plan({"n": column}))
                except (TypeError, ValueError, OverflowError, Warning, pa.ArrowException, pl.exceptions.PolarsError):
                    continue
                shapes.setdefault(str(frame_shape(found)), []).append((kind, values))
        assert len(shapes) <= 1, (column, shapes)
        compared += sum(map(len, shapes.values())) - 1
    if family[0] in {"pandas", "polars", "Arrow", "DuckDB"}:
        assert compared > 0


@pytest.mark.grid(2)
@pytest.mark.parametrize("target", ["out.parquet", "out.csv", "out.arrow", "out.jsonl"])
@pytest.mark.parametrize("nulls", [{"nulls": "keep"}, {"nulls_as": 20}], ids=["keep", "as"])
def test_a_file_whose_column_became_doubles_by_a_gap_is_released_as_one_without(target, nulls, tmp_path):
    plan = bp.Plan({"n": Column(MECHANISMS["whole"], outside="clip", **nulls)})
    shapes = set()
    columns = ([20, 30], [20, None], [20.0, 30.0], [20.0, None], [20.0, math.inf], pa.array([20, 30], pa.int8()))
    for at, values in enumerate(columns):
        folder = tmp_path / str(at)
        folder.mkdir()
        pq.write_table(pa.table({"n": values}), folder / "in.parquet")
        privatize_file(folder / "in.parquet", folder / target, plan)
        if target.endswith("parquet"):
            shapes.add(str(pq.read_schema(folder / target).remove_metadata()))
        elif target.endswith("arrow"):
            shapes.add(str(pa.ipc.open_file(folder / target).schema.remove_metadata()))
        else:
            assert "." not in (folder / target).read_text()  # no 20.0
    assert len(shapes) == (0 if target.endswith(("csv", "jsonl")) else 1), shapes


def learn_shape(table):
    if isinstance(table, pd.DataFrame):
        return [str(each) for each in table.dtypes], table.columns.tolist()
    return table.schema if isinstance(table, pl.DataFrame) else (table.dtype, table.shape)


@pytest.mark.parametrize(
    "make",
    [
        pd.DataFrame,
        lambda table: pd.DataFrame(table).convert_dtypes(),
        lambda table: pl.DataFrame(table, strict=False),
    ],
    ids=["pandas", "pandas converted", "polars"],
)
@pytest.mark.filterwarnings("ignore:This was fit")
def test_learned_columns_tell_nothing_by_their_types(make):
    columns = PrivateColumns(
        {
            "n": MECHANISMS["whole"],
            "x": MECHANISMS["interval"],
            "t": MECHANISMS["texts"],
        },
        epsilon=3,
        outside="clip",
        other="a",
    )
    plain = {"n": [20, 30], "x": [20, 30], "t": ["a", "bb"]}
    shapes = set()
    for odd in (
        {},
        {"n": [20.0, math.inf]},
        {"n": [20.0, 30.0]},
        {"x": [20, -math.inf]},
        {"t": ["a", "zzz"]},
    ):
        table = make(plain | odd)
        shapes.add(str(learn_shape(columns.fit_transform(table))))
    assert len(shapes) == 1, shapes
