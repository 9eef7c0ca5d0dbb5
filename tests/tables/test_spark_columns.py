"""Columns on Spark: public ones of every type come out as they went in, and no name stands for another column."""

from contextlib import contextmanager

import pytest

import bipartite as bp
from bipartite.errors import InputError, SpecError
from bipartite.tables import Column, Plan, spark

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")

AGE = bp.BRR(bp.Integers(18, 90), epsilon=1)
# New York repeats 1:00 to 2:00 on 3 November 2024 (5:30 and 6:30 UTC are both 1:30) and leaves out 2:00 to 3:00 on 10
# March; Lord Howe moves by half an hour. Microseconds are the finest that Spark knows.
INSTANTS = (
    "2024-11-03 05:30:00Z",
    "2024-11-03 06:30:00.000001Z",
    "2024-03-10 07:30:00Z",
    "1883-11-18 17:00:00.999999Z",
)
PUBLIC = {
    "timestamp": f"element_at(array({', '.join(f'timestamp {each!r}' for each in INSTANTS)}), cast(id % 4 + 1 as int))",
    "timestamp_ntz": "timestamp_ntz '2024-03-10 02:30:00.123456'",
    "last": "timestamp '9999-12-31 10:00:00.999999Z'",
    "date": "date '0001-01-01'",
    "decimal": "cast('12345678901234567890.123456789' as decimal(38, 9))",
    "binary": "unhex('00ff')",
    "array": "array(timestamp '2024-11-03 05:30:00Z', null)",
    "struct": "named_struct('a.b', timestamp '2024-11-03 06:30:00Z', 'B', cast(null as string))",
    "map": "map('k', map(1, named_struct('x', interval '1' second)))",
    "days": "interval '1 02:03:04.000005' day to second",
    "months": "interval '-1-2' year to month",
    "year": "interval '3' year",
    "boolean": "id % 2 = 0",
    "byte": "cast(1 as tinyint)",
    "float": "float('nan')",
    "hole": "nullif(timestamp '2024-11-03 05:30:00Z', timestamp '2024-11-03 05:30:00Z')",
}
NAMES = ("a.b", "c`d", "`", "``x``", "with space", "quote'\"", "ε", "semi;colon,{}()=", "new\nline", "id.*", "a", "*")


@contextmanager
def setting(session, name, value):
    before = session.conf.get(name)
    session.conf.set(name, value)
    try:
        yield
    finally:
        session.conf.set(name, before)


def texts(frame):
    """Every cell as Spark writes it out, in the order of ids."""
    quoted = [f"cast(`{name}` as string)" for name in frame.columns if name != "age"]
    return [tuple(row) for row in frame.orderBy("id").selectExpr(*quoted).collect()]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Australia/Lord_Howe"])
def test_public_columns_of_every_type_come_out_as_they_went_in(session, tmp_path, zone):
    made = [f"{value} AS `{name}`" for name, value in PUBLIC.items()]
    with setting(session, "spark.sql.session.timeZone", zone):
        people = session.range(8).selectExpr("id", "20 + id AS age", *made)
        people.write.parquet(str(tmp_path / "copy"))
        plan = Plan({"id": "public", "age": AGE, **dict.fromkeys(PUBLIC, "public")})
        released = spark.privatize(people, plan, tmp_path / "out")
        copy = session.read.parquet(str(tmp_path / "copy"))
        assert texts(released) == texts(copy) == texts(session.read.parquet(str(tmp_path / "out")))
        assert released.drop("age").dtypes == copy.drop("age").dtypes  # the type of reports follows from the domain


def test_a_private_timestamp_is_refused_as_in_any_other_table(session, tmp_path):
    people = session.range(3).selectExpr("timestamp '2024-11-03 05:30:00Z' AS age", "interval '3' year AS years")
    with pytest.raises(InputError, match="column 'age': Expected numbers or text, got timestamp; take a number"):
        spark.privatize(people, Plan({"age": AGE}), tmp_path / "out")
    with pytest.raises(InputError, match="column 'years': Expected numbers or text, got interval year"):
        spark.privatize(people, Plan({"years": AGE}), tmp_path / "out")


def test_a_type_that_cannot_travel_to_python_is_named(session, tmp_path):
    people = session.range(3).selectExpr("cast(20 + id as int) AS age", "array(interval '3' year) AS years")
    with pytest.raises(InputError, match="Spark cannot send one of these types .*array<interval year>; cast it"):
        spark.privatize(people, Plan({"age": AGE, "years": "public"}), tmp_path / "out")


@pytest.mark.parametrize("row_id", [None, "c`d"])
def test_any_name_is_a_name(session, tmp_path, row_id):
    numbers = [f"cast(id * 100 + {at} as int)" for at in range(len(NAMES))]
    people = (
        session.range(50).selectExpr(*numbers, "'private'", "cast(20 + id as int)").toDF(*NAMES, "secret", "the.age")
    )
    plan = Plan({**dict.fromkeys(NAMES, "public"), "the.age": AGE})
    people.write.parquet(str(tmp_path / "in"))
    released = spark.privatize(session.read.parquet(str(tmp_path / "in")), plan, tmp_path / "out", row_id=row_id)
    assert released.columns == [*NAMES, "the.age"]
    rows = sorted(tuple(row)[:-1] for row in released.collect())
    assert rows == [tuple(100 * row + at for at in range(len(NAMES))) for row in range(50)]
    assert spark.count(released, "the.age").people == 50 and spark.mechanism_of(released, "the.age") == AGE


def test_the_path_of_a_field_is_no_name(session, tmp_path):
    people = session.range(3).selectExpr("named_struct('b', 'private') AS a", "cast(20 + id as int) AS age")
    with pytest.raises(InputError, match=r"The table has no column 'a\.b'"):
        spark.privatize(people, Plan({"a.b": "public", "age": AGE}), tmp_path / "out")


def test_a_name_in_another_case_is_another_column(session, tmp_path):
    people = session.range(30).selectExpr("id AS ID", "cast(20 + id as int) AS age")
    assert people.select("id").columns == ["id"]  # Spark itself takes them for one
    for frame, plan in (
        (people, Plan({"id": "public", "age": AGE})),
        (people.withColumnRenamed("age", "Age"), Plan({"age": AGE})),
    ):
        with pytest.raises(InputError, match="The table has no column"):
            spark.privatize(frame, plan, tmp_path / "out")
    with pytest.raises(InputError, match="Expected a column of the frame, got 'id'"):
        spark.privatize(people, Plan({"age": AGE}), tmp_path / "out", row_id="id")
    with pytest.raises(InputError, match="Expected a column of the frame, got 'AGE'"):
        spark.count(people, "AGE", AGE)


def test_names_that_spark_takes_for_one_are_refused(session, tmp_path):
    both = session.range(30).selectExpr("id", "id * 7 AS ID", "cast(20 + id as int) AS age")
    alone = session.range(30).selectExpr("id", "cast(20 + id as int) AS age", "cast(20 + id as int) AS years")
    for frame, plan in (
        (both, Plan({"id": "public", "age": AGE})),  # reading is ambiguous
        (alone, Plan({"age": AGE, "AGE": Column(AGE, inputs=("years",))})),  # and so would be what is written
    ):
        with pytest.raises(InputError, match="Expected names that differ in more than case, .*caseSensitive"):
            spark.privatize(frame, plan, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with setting(session, "spark.sql.caseSensitive", "true"):
        released = spark.privatize(both, Plan({"ID": "public", "id": "public", "age": AGE}), tmp_path / "out")
        assert sorted(tuple(row)[:2] for row in released.collect()) == [(7 * row, row) for row in range(30)]


def test_a_release_becomes_a_table_and_a_folder_for_each_value_and_is_still_read_by_spark(session, tmp_path):
    people = session.range(60).selectExpr("id", "cast(20 + id as int) AS age", "concat('c.', id % 3) AS `the country`")
    people.write.saveAsTable("people_of_columns")
    plan = Plan({"id": "public", "age": AGE, "the country": "public"})
    released = spark.privatize(session.table("people_of_columns"), plan, tmp_path / "out", row_id="id")
    released.write.saveAsTable("reports_of_columns")
    released.write.partitionBy("the country").parquet(str(tmp_path / "parts"))
    rows = sorted(tuple(row) for row in released.collect())
    for stored in (session.table("reports_of_columns"), session.read.parquet(str(tmp_path / "parts"))):
        assert sorted(tuple(row) for row in stored.select(*plan.columns).collect()) == rows
        assert spark.count(stored, "age") == spark.count(released, "age")
        assert spark.release_of(stored)["columns"] == plan.metadata()["columns"]
        one = stored.where("`the country` = 'c.1'")
        assert spark.count(one, "age").people == 20


def test_reports_of_an_earlier_release_may_be_public_and_the_new_release_speaks_for_itself(session, tmp_path):
    people = session.range(30).selectExpr("id", "cast(20 + id as int) AS age", "cast(id % 5 + 1 as int) AS stars")
    first = Plan({"age": AGE, "stars": "public"})
    second = Plan({"age": "public", "stars": bp.GRR(bp.Integers(1, 5), 1)})
    earlier = spark.privatize(people, first, tmp_path / "first")
    later = spark.privatize(earlier, second, tmp_path / "second")
    assert spark.release_of(later)["columns"] == second.metadata()["columns"] != first.metadata()["columns"]
    assert spark.mechanism_of(later, "age") == AGE


def test_a_release_whose_description_was_edited_is_refused(session, tmp_path):
    people = session.range(30).selectExpr("cast(20 + id as int) AS age")
    released = spark.privatize(people, Plan({"age": AGE}), tmp_path / "out")
    assert spark.release_of(released)["insecure"] is False and spark.release_of(released)["epsilon"] == "1"
    told = released.schema["age"].metadata["bipartite_release"]
    edited = {"bipartite_release": told.replace('"epsilon": "1"', '"epsilon": "0.01"')}
    assert edited["bipartite_release"] != told
    with pytest.raises(SpecError, match="ε"):
        spark.release_of(released.select(released["age"].alias("age", metadata=edited)))
