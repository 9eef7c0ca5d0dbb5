"""Spark: a release happens once, whatever fails, is slow or is asked for twice; only counts travel.

And columns: public ones of every type come out as they went in, and no name stands for another column. All in one file,
because every file may start a Spark of its own.
"""

import base64
import json
import runpy
import shutil
from collections import Counter
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import Window
from pyspark.sql.functions import max_by, row_number, udf

import bipartite as bp
from bipartite.errors import DataFileError, InputError, NullError, OutsideDomainError, SpecError
from bipartite.tables import Column, Plan, estimate_file, privatize_file, spark
from bipartite.tables.answering import carried_by
from bipartite.tables.spark import check_repeatable
from tests.tables.keyed_oracle import report
from tests.tables.spark_functions import fail_once
from tests.tables.spark_session import ROOT

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")

AGE = bp.BRR(bp.Integers(18, 90), epsilon=1)
INCOME = bp.BRR(bp.Interval(0, 200_000, points=401), "0.5", edges="padded")
COLOUR = bp.GRR(bp.Items(["red", "green", "blue"], loss=1 - np.eye(3)), 1)
PLAN = Plan({"id": "public", "age": AGE, "income": INCOME, "colour": COLOUR})
ROWS = 400
KEY = bytes(range(32))


@pytest.fixture(scope="module")
def people(session, tmp_path_factory):
    """A stored table: 400 rows in 2 files."""
    path = str(tmp_path_factory.mktemp("people") / "people.parquet")
    session.range(ROWS, numPartitions=2).selectExpr(
        "id",
        "cast(18 + id % 73 as int) AS age",
        "cast(id * 199 as double) AS income",
        "element_at(array('red', 'green', 'blue'), cast(id % 3 + 1 as int)) AS colour",
        "'unnamed' AS secret",
    ).write.parquet(path)
    return session.read.parquet(path)


@pytest.fixture(scope="module")
def out(people, tmp_path_factory):
    """A release of all of them, for tests that only read it."""
    path = tmp_path_factory.mktemp("released") / "out"
    spark.privatize(people, PLAN, path)
    return path


@pytest.fixture
def released(session, out):
    return session.read.parquet(str(out))


@pytest.fixture
def known_key(monkeypatch):
    monkeypatch.setattr("bipartite.tables.spark.os.urandom", lambda size: KEY[:size])


def oracle(row):
    return (
        report(KEY, AGE, "age", row, 18 + row % 73)[0],
        report(KEY, INCOME, "income", row, row * 199.0)[0],
        report(KEY, COLOUR, "colour", row, ["red", "green", "blue"][row % 3])[0],
    )


def reports_of(frame):
    """{id: (age, income, colour)}, and that there is one report a row."""
    rows = frame.collect()
    assert Counter(row["id"] for row in rows) == dict.fromkeys(range(ROWS), 1)
    return {row["id"]: (row["age"], row["income"], row["colour"]) for row in rows}


def test_two_actions_on_a_release_give_one_report_a_row(people, tmp_path):
    released = spark.privatize(people, PLAN, tmp_path / "out")
    first = reports_of(released)
    assert reports_of(released) == first == reports_of(people.sparkSession.read.parquet(str(tmp_path / "out")))
    # Reports they are: with ε = 1 most ages are not the true ones, and colours are of the set.
    assert sum(first[row][0] == 18 + row % 73 for row in range(ROWS)) < 80
    assert {colour for _, _, colour in first.values()} == {"red", "green", "blue"}
    assert released.columns == ["id", "age", "income", "colour"]


@pytest.mark.usefixtures("known_key")
@pytest.mark.parametrize("row_id", [None, "id"])
def test_flat_categories_are_released_counted_and_estimated(people, tmp_path, row_id):
    oue = bp.OUE(COLOUR.domain, 3)
    plan = Plan({"id": "public", "colour": oue})
    released = spark.privatize(people, plan, tmp_path / "out", row_id=row_id)
    counts = spark.count(released, "colour")
    cells = pa.array([row["colour"] for row in released.collect()])
    assert counts == bp.Counts(oue).add(Column(oue).reports.read(cells)) and counts.n == ROWS
    found = estimate_file(tmp_path / "out").columns["colour"][None]
    assert np.array_equal(found.shares, bp.estimate(oue, counts=counts).shares)
    if row_id is not None:
        again = spark.privatize(people.repartition(3), plan, tmp_path / "again", row_id=row_id)
        by_id = [{row["id"]: row["colour"] for row in frame.collect()} for frame in (released, again)]
        assert by_id[0] == by_id[1]
    with pytest.raises(NullError, match="reports are missing"):
        spark.count(released.selectExpr("nullif(colour, colour) AS colour"), "colour", oue)


def test_no_lazy_plan_that_draws_reports_is_returned(people, tmp_path):
    released = spark.privatize(people, Plan({"age": AGE}), tmp_path / "out")
    assert "MapInArrow" not in released._jdf.queryExecution().toString()
    drawing = people.mapInArrow(partial(fail_once, folder=str(tmp_path)), people.schema)
    assert "MapInArrow" in drawing._jdf.queryExecution().toString()  # what the check would find


def test_tasks_that_fail_after_drawing_are_drawn_again_and_one_attempt_is_released(people, tmp_path):
    failing = people.mapInArrow(partial(fail_once, folder=str(tmp_path)), people.schema)
    reports_of(spark.privatize(failing, PLAN, tmp_path / "out"))
    assert len(list(tmp_path.glob("failed-*"))) >= 2
    assert (tmp_path / "out" / "_SUCCESS").exists() and not (tmp_path / "out" / "_temporary").exists()


@pytest.mark.usefixtures("known_key")
@pytest.mark.parametrize("how", ["failing", "reshuffled", "sorted"])
def test_with_row_ids_every_attempt_and_order_gives_the_same_report(people, tmp_path, monkeypatch, how):
    frame = people
    if how == "failing":
        monkeypatch.setattr(spark, "check_ids", lambda *_: None)  # refuses functions in Python
        frame = people.mapInArrow(partial(fail_once, folder=str(tmp_path)), people.schema)
    if how == "reshuffled":
        frame = people.repartition(3, "colour")
    if how == "sorted":
        frame = people.orderBy(people["income"].desc()).coalesce(1)
    found = reports_of(spark.privatize(frame, PLAN, tmp_path / "out", row_id="id"))
    assert found == {row: oracle(row) for row in range(ROWS)}
    # The key travels to the executors in the task, and stands in nothing that Spark keeps or shows.
    kept = events_of(people.sparkSession)
    assert "MapInArrow" in kept
    for form in (KEY.hex(), base64.b64encode(KEY).decode()[:40], repr(KEY)[2:40], json.dumps(list(KEY))[1:60]):
        assert form not in kept


def test_every_release_has_a_fresh_key(people, tmp_path):
    first = reports_of(spark.privatize(people, PLAN, tmp_path / "a", row_id="id"))
    second = reports_of(spark.privatize(people, PLAN, tmp_path / "b", row_id="id"))
    # Two independent ages agree with probability below 0.03: 60 of 400 by accident, below 1e-20.
    assert sum(first[row][0] == second[row][0] for row in first) < 60


def test_rows_that_share_an_id_or_have_none_are_refused(people, tmp_path):
    for frame, row_id, why in (
        (people.selectExpr("*", "id % 200 AS twice"), "twice", "one that is missing or occurs twice"),
        (people.selectExpr("*", "nullif(id, 7) AS hole"), "hole", "one that is missing or occurs twice"),
        (people, "income", "Expected row_id as a column of whole numbers, text or bytes, got double"),
        (people, "nobody", "Expected a column of the frame, got 'nobody'; it has 'id', 'age'"),
    ):
        with pytest.raises(InputError, match=why):
            spark.privatize(frame, PLAN, tmp_path / "out", row_id=row_id)
    assert not (tmp_path / "out").exists()


CHANGING = {
    "uuid": (lambda people: people.selectExpr("uuid() AS id", "age"), "not deterministic, such as uuid"),
    "rand": (lambda people: people.selectExpr("cast(rand(7) * 1e18 as bigint) AS id", "age"), "not deterministic"),
    "counted": (lambda people: people.selectExpr("monotonically_increasing_id() AS id", "age"), "not deterministic"),
    "file": (lambda people: people.selectExpr("concat(id, input_file_name()) AS id", "age"), "not deterministic"),
    "reflected": (lambda people: people.selectExpr("reflect('java.util.UUID', 'randomUUID') AS id", "age"), "not det"),
    "below": (lambda people: people.where("rand() < 0.5").orderBy("id"), "not deterministic"),
    "now": (lambda people: people.selectExpr("concat(id, current_timestamp()) AS id", "age"), "the time, the user"),
    "user": (lambda people: people.selectExpr("concat(id, current_user()) AS id", "age"), "the time, the user"),
    "python": (lambda people: people.withColumn("id", udf(lambda: "x")()), "written in Python"),
    "marked": (lambda people: people.withColumn("id", udf(lambda: 1).asNondeterministic()()), "written in Python"),
    "mapped": (
        lambda people: people.mapInArrow(partial(fail_once, folder=""), people.schema),
        "a function written in Python",
    ),
    "numbered": (lambda people: people.withColumn("id", row_number().over(Window.orderBy("age"))), "the step Window"),
    "limited": (lambda people: people.limit(10), "the step GlobalLimit"),
    "sampled": (lambda people: people.sample(0.5, seed=1), "the step Sample"),
    "once": (lambda people: people.dropDuplicates(["age"]), "the step Deduplicate"),
    "grouped": (lambda people: people.groupBy("age").agg(max_by("id", "income").alias("id")), "the step Aggregate"),
    "rdd": (lambda people: people.rdd.zipWithIndex().map(lambda row: (row[1], 20)).toDF(["id", "age"]), "LogicalRDD"),
}


@pytest.mark.parametrize("how", CHANGING)
def test_ids_that_may_be_others_the_second_time_are_refused(people, tmp_path, how):
    frame, why = CHANGING[how]
    with pytest.raises(InputError, match=f"with row_id, a frame of stored files .*{why}.* Write the frame to files"):
        spark.privatize(frame(people), Plan({"age": AGE}), tmp_path / "out", row_id="id")
    assert not (tmp_path / "out").exists()


def test_a_subquery_and_a_frame_of_another_process_are_refused_with_row_ids(session, people):
    people.createOrReplaceTempView("people")
    with pytest.raises(InputError, match="got one with a subquery"):
        check_repeatable(session.sql("SELECT * FROM people WHERE id IN (SELECT id FROM people LIMIT 3)"))
    with pytest.raises(InputError, match="got one of Spark Connect; leave it out"):
        check_repeatable(object())


def test_stored_rows_selected_filtered_joined_and_sorted_keep_their_ids(session, people):
    people.createOrReplaceTempView("people")
    people.selectExpr("id", "age").write.saveAsTable("stored")
    for frame in (
        people.selectExpr("concat('p', id) AS id", "age + 1 AS age").where("age > 20").cache(),
        people.join(session.table("stored"), "id").union(people.join(session.table("stored"), "id")),
        people.repartition(3).repartition(2, "age").orderBy("age").coalesce(1).hint("broadcast").hint("rebalance"),
        session.sql("WITH adults AS (SELECT * FROM people WHERE age > 20) SELECT explode(array(id, -id)) FROM adults"),
        session.range(3),
        session.sql("SELECT 1 AS id"),
    ):
        check_repeatable(frame)


def test_a_bad_row_stops_the_release_without_its_value_and_nothing_is_written(people, tmp_path):
    bad = people.selectExpr("id", "if(id = 301, 918273, age) AS age", "income", "colour").coalesce(1)
    with pytest.raises(OutsideDomainError) as caught:
        spark.privatize(bad, PLAN, tmp_path / "out")
    assert "column 'age'" in str(caught.value) and "(rows are counted within a task)" in str(caught.value)
    assert "918273" not in str(caught.value) and caught.value.__context__ is None
    # Nor does what it leaves stand in the way of the next one.
    assert not (tmp_path / "out").exists()
    assert spark.privatize(people, PLAN, tmp_path / "out").count() == ROWS


def test_only_an_empty_folder_of_a_failed_release_is_removed(people, tmp_path):
    bad = people.selectExpr("918273 AS age")
    plan = Plan({"age": AGE})
    (tmp_path / "file").write_text("precious")
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "file", tmp_path / "empty"):
        with pytest.raises(Exception, match="PATH_ALREADY_EXISTS"):
            spark.privatize(bad, plan, path)
        spark._remove_empty(people.sparkSession, str(tmp_path))
    assert (tmp_path / "file").read_text() == "precious" and (tmp_path / "empty").is_dir()
    spark._remove_empty(people.sparkSession, str(tmp_path / "file"))
    spark._remove_empty(people.sparkSession, str(tmp_path / "none"))
    spark._remove_empty(object(), str(tmp_path / "empty"))  # a session of Spark Connect
    assert (tmp_path / "file").exists() and (tmp_path / "empty").exists()


def test_a_release_is_not_privatized_again(released, out, tmp_path):
    again = "'age', 'income', 'colour' would be privatized a second time, and every answer would be wrong"
    with pytest.raises(InputError, match=f"a column of this frame carries the spec of a release: {again}.* drop its m"):
        spark.privatize(released.where("id < 5"), PLAN, tmp_path / "again")
    with pytest.raises(InputError, match="'years' would be privatized a second time"):
        spark.privatize(released.withColumnRenamed("age", "years"), Plan({"years": AGE}), tmp_path / "again")
    with pytest.raises(InputError, match=f"carries the specs of a release by Spark: {again}"):
        privatize_file(f"{out}/*.parquet", tmp_path / "again.csv", PLAN)
    # What was public may be, and so may what only looks like reports.
    by_row = Plan({"age": "public", "id": bp.BRR(bp.Integers(0, ROWS), 1)})
    assert spark.mechanism_of(spark.privatize(released, by_row, tmp_path / "more"), "age") == AGE
    plain = released.select(released["age"].alias("age", metadata={}))
    assert spark.privatize(plain, Plan({"age": AGE}), tmp_path / "plain").count() == ROWS


def test_one_task_and_a_public_order_give_a_layout_that_follows_no_private_byte(session, tmp_path):
    plan = Plan({"id": "public", "age": AGE})
    seen = {"as read": [], "in order": []}
    for at, sizes in enumerate([(1, 4000), (4000, 1)]):
        # The texts of a dropped column decide which of two files is the larger one.
        for file, size in enumerate(sizes):
            rows = range(100 * file, 100 * file + 100)
            (tmp_path / f"in-{at}").mkdir(exist_ok=True)
            secret = [f"{row}" * size for row in rows]
            table = pa.table({"id": rows, "age": [40] * 100, "secret": secret})
            pq.write_table(table, tmp_path / f"in-{at}" / f"{file}.parquet", compression="none", use_dictionary=False)
        frame = session.read.parquet(str(tmp_path / f"in-{at}"))
        for how, given in (("as read", frame), ("in order", frame.coalesce(1).sortWithinPartitions("id"))):
            spark.privatize(given, plan, tmp_path / f"{how}-{at}")
            parts = sorted((tmp_path / f"{how}-{at}").glob("part-*.parquet"))
            seen[how].append([pq.read_table(part)["id"].to_pylist() for part in parts])
    assert seen["as read"][0] != seen["as read"][1]
    assert seen["in order"] == [[list(range(200))], [list(range(200))]]


def test_missing_values_are_refused_or_kept_as_the_plan_says(people, tmp_path):
    holes = people.selectExpr("id", "nullif(age, 18) AS age").where("id < 100").coalesce(1)
    with pytest.raises(NullError, match="column 'age': 2 of the 100 rows of this batch cannot be reported: rows 1, 74"):
        spark.privatize(holes, Plan({"age": AGE}), tmp_path / "out")
    kept = spark.privatize(holes, Plan({"id": "public", "age": Column(AGE, nulls="keep")}), tmp_path / "kept")
    assert sorted(row["id"] for row in kept.where("age IS NULL").collect()) == [0, 73]
    assert spark.count(kept, "age", nulls="drop").n == 98
    with pytest.raises(NullError, match="2 of 100 reports are missing"):
        spark.count(kept, "age")


def test_an_existing_release_is_kept_unless_asked_and_a_second_one_warns(people, tmp_path):
    plan = Plan({"id": "public", "age": AGE})
    first = reports_by_id(spark.privatize(people, plan, tmp_path / "out"))
    with pytest.raises(Exception, match="PATH_ALREADY_EXISTS"):
        spark.privatize(people, plan, tmp_path / "out")
    assert reports_by_id(people.sparkSession.read.parquet(str(tmp_path / "out"))) == first
    with pytest.warns(UserWarning, match="A second release of the same rows adds its ε, 1 per row"):
        second = spark.privatize(people, plan, tmp_path / "out", overwrite=True)
    assert reports_by_id(second) != first


def reports_by_id(frame):
    return {row["id"]: row["age"] for row in frame.collect()}


def test_the_files_carry_their_specs(people, released):
    assert spark.mechanism_of(released.select("income"), "income") == INCOME
    about, planned = spark.release_of(released), PLAN.metadata()
    assert about["publishes"][:-1] == planned["publishes"] and about["publishes"][-1].startswith("how rows are spread")
    assert about | {"publishes": planned["publishes"]} == planned
    with pytest.raises(InputError, match="Column 'id' carries no spec; pass mech="):
        spark.count(released, "id")
    with pytest.raises(InputError, match="Expected a column of the frame, got 'nothing'"):
        spark.count(released, "nothing")
    with pytest.raises(InputError, match="This frame carries no release"):
        spark.release_of(people)


def test_a_release_on_spark_is_estimated_without_spark(people, released, out, tmp_path):
    answers = estimate_file(out)
    assert list(answers.columns) == ["age", "income", "colour"]
    counted = bp.estimate(AGE, counts=spark.count(released, "age"))
    assert answers.estimates("age").mean == pytest.approx(counted.mean)
    shutil.copytree(out, tmp_path / "out")
    (tmp_path / "out" / "_SUCCESS").unlink()
    with pytest.raises(DataFileError, match="has no _SUCCESS: the release is not complete, or failed"):
        estimate_file(tmp_path / "out")
    people.write.parquet(str(tmp_path / "plain"))
    assert carried_by(tmp_path / "plain") is None and carried_by(tmp_path) is None


def events_of(session):
    """What Spark wrote down about everything that happened, plans of queries among it."""
    folder = Path(session.sparkContext.getConf().get("spark.eventLog.dir").removeprefix("file://"))
    # The log is written by a thread of its own; a job's end is flushed to it before the next job's, so ask for one.
    [file] = [each for each in folder.iterdir() if each.is_file()]
    return file.read_text(encoding="utf-8", errors="replace")


def shuffled_bytes(session, since):
    """Bytes that tasks wrote for others to fetch, and how many tasks ended, from the log of events."""
    events = [json.loads(line) for line in events_of(session).splitlines() if line.endswith("}")]
    ended = [event for event in events if event["Event"] == "SparkListenerTaskEnd"][since:]
    return sum(event["Task Metrics"]["Shuffle Write Metrics"]["Shuffle Bytes Written"] for event in ended), len(ended)


def test_only_counts_travel(session, people, released, tmp_path):
    many = people.crossJoin(session.range(40)).repartition(4)
    frames = {"few": released, "many": spark.privatize(many, Plan({"age": AGE}), tmp_path / "many")}
    seen = {}
    for name, frame in frames.items():
        _, before = shuffled_bytes(session, 0)
        counts = spark.count(frame, "age")
        session.range(1).count()  # flushes the log
        seen[name], tasks = shuffled_bytes(session, before)
        assert tasks > 0
        expected = bp.Counts(AGE).add([row[0] for row in frame.select("age").collect()])
        assert counts == expected and counts.n == (ROWS if name == "few" else 40 * ROWS)
    # At most 4 tasks, 73 outputs, and about 24 bytes for each of the two numbers, however many rows: 16,000 rows
    # themselves would be 64,000 bytes.
    assert 0 < seen["many"] <= 4 * 73 * 48 + 4096
    assert seen["many"] < 3 * seen["few"]
    assert bp.estimate(AGE, counts=counts).mean == pytest.approx(bp.estimate(AGE, counts=expected).mean)
    assert spark.count(released, "age", AGE).n == ROWS


def test_a_shuffle_of_rows_would_be_noticed(session, people):
    _, before = shuffled_bytes(session, 0)
    people.repartition(3).write.format("noop").mode("overwrite").save()
    session.range(1).count()
    assert shuffled_bytes(session, before)[0] > ROWS


def test_what_is_no_frame_or_no_plan_is_refused(people, tmp_path):
    with pytest.raises(InputError, match="Expected a Spark DataFrame, got list; use bp.privatize_frame"):
        spark.privatize([1], PLAN, tmp_path / "out")
    with pytest.raises(InputError, match="Expected plan as bp.Plan, got dict"):
        spark.privatize(people, {"age": AGE}, tmp_path / "out")
    rounded = Plan({"income": bp.BRR(bp.Interval(0, 200_000, points=401, rounding="random"), 1)})
    with pytest.raises(InputError, match="Expected rounding='nearest' with row_id"):
        spark.privatize(people, rounded, tmp_path / "out", row_id="id")
    reports = spark.privatize(people, rounded, tmp_path / "rounded")
    assert reports.count() == ROWS


def test_the_example_of_the_docs_runs(session, people, tmp_path, capsys):
    example = runpy.run_path(str(ROOT / "docs" / "spark_release.py"))
    people.write.parquet(str(tmp_path / "in"))
    example["release"](session, str(tmp_path / "in"), str(tmp_path / "out"))
    assert "the mean age is" in capsys.readouterr().out


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


@pytest.mark.parametrize("zone", ["America/New_York", "Australia/Lord_Howe"])
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
    assert spark.count(released, "the.age").n == 50 and spark.mechanism_of(released, "the.age") == AGE


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
        assert spark.count(one, "age").n == 20


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


@pytest.mark.parametrize("row_id", [None, "id"])
def test_a_plan_with_a_sample_asks_each_row_so_many_columns(people, tmp_path, row_id):
    plan = Plan({"id": "public", "age": AGE, "income": INCOME, "colour": COLOUR}, sample=2)
    found = spark.privatize(people, plan, tmp_path / "out", row_id=row_id)
    rows = found.collect()
    assert {sum(each is not None for each in row[1:]) for row in rows} == {2}
    assert len({tuple(each is None for each in row[1:]) for row in rows}) == 3
    assert spark.release_of(found)["sample"] == 2 and spark.release_of(found)["epsilon"] == "2"
    with pytest.raises(NullError, match="remove them, or use nulls='drop'"):
        spark.count(found, "age")
    there = sum(row.age is not None for row in rows)
    assert spark.count(found, "age", nulls="drop").n == there
    assert estimate_file(tmp_path / "out").estimates("age").nobs == there
