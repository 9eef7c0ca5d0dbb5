"""A plan says what each column may become; what is wrong with it is said all at once."""

import json
import sys
from decimal import Decimal

import pyarrow as pa
import pytest

import bipartite as bp
from bipartite.errors import DataFileError, InputError, MissingExtraError, SpecError
from bipartite.tables import Column, extras
from bipartite.tables.metadata import Described, described
from reproduction.places import PlanarLaplace
from tests.mechanisms.test_catalogue import Liar
from tests.tables.conftest import AGE, CITIES, HOME, INCOME, JOB

TEXT = """
[columns.age]
domain = { integers = [18, 90] }
mechanism = "brr"
epsilon = 1.0

[columns.income]
domain = { interval = [0, 200000], points = 401 }
mechanism = "brr"
edges = "padded"
epsilon = 0.1
outside = "clip"

[columns.job]
domain = { categories = ["nurse", "teacher", "other"] }
epsilon = "0.20"
outside = { as = "other" }

[columns.home]
from = ["lat", "lon"]
domain = { coordinates = [[52.52, 13.4], [48.86, 2.35], [51.51, -0.13]], metric = "haversine" }
epsilon = 1
max_distance = 500.5
nulls = "keep"

[columns.country]
public = true
"""


@pytest.fixture
def write(tmp_path):
    def writer(text, name="plan.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return writer


def problems(described):
    with pytest.raises(InputError) as caught:
        bp.Plan.from_dict(described)
    return str(caught.value)


def test_a_plan_of_the_issue_is_read_and_its_epsilon_is_the_exact_sum(write):
    plan = bp.Plan.read(write(TEXT))
    assert plan.epsilon_decimal == Decimal("2.3") and plan.epsilon == 2.3
    assert plan.mechanisms()["age"] == AGE
    assert plan.mechanisms()["income"] == bp.BRR(bp.Interval(0, 200_000, points=401), "0.1", edges="padded")
    assert plan.mechanisms()["job"].to_spec()["mechanism"] == "grr"
    assert plan.private()["home"].max_distance == 500.5 and plan.inputs_of("home") == ("lat", "lon")
    assert plan.public() == ["country"] and plan.inputs() == ["age", "income", "job", "lat", "lon", "country"]
    assert plan == bp.Plan.read(write(TEXT)) and hash(plan) == hash(bp.Plan.read(write(TEXT)))
    assert repr(plan) == "<Plan of 5 columns, ε = 2.3 per row>"
    assert "ε = 2.3" in plan.guarantee
    with pytest.raises(AttributeError):
        plan.columns = {}


def test_a_plan_says_what_no_epsilon_covers(write):
    told = "\n".join(bp.Plan.read(write(TEXT)).publishes)
    for each in (
        "the number of rows",
        "'country'",
        "'home': which values are missing",
        "farther than 500.5",
        "'age': that no value is outside 18..90",
        "whole number",
    ):
        assert each in told
    assert "'income': that no value is outside" not in told and "'job': that no value is outside" not in told
    silent = Column(JOB, outside_as="other", nulls_as="no answer")
    assert silent.publishes == ()
    # What is not a number, or no position, stops a release whatever else is said about it.
    assert Column(INCOME, outside="clip", nulls_as=0.0).publishes == ("that every value is a number",)
    there = Column(HOME, inputs=("lat", "lon"), outside="clip", nulls_as="Paris")
    assert there.publishes == ("that every value is a position",)


def test_domains_in_files_stand_beside_the_plan(write):
    write("name,latitude,longitude\nBerlin,52.52,13.4\nParis,48.86,2.35\nLondon,51.51,-0.13\n", "cities.csv")
    write('{"labels": ["a", "b"], "loss": [[0, 1], [1, 0]]}', "items.json")
    write(bp.Plan({"x": AGE}).mechanisms()["x"].to_spec().__repr__().replace("'", '"'), "age.json")
    plan = bp.Plan.read(
        write(
            '[columns.home]\nfrom = ["lat", "lon"]\ndomain = { places = "cities.csv" }\nepsilon = 1\n'
            '[columns.kind]\ndomain = { items = "items.json" }\nepsilon = 1\n'
            '[columns.age]\nfrom = "years"\nspec = "age.json"\n'
        )
    )
    assert plan.mechanisms()["home"].domain.labels == ("Berlin", "Paris", "London")
    assert plan.mechanisms()["kind"].domain.labels == ("a", "b")
    assert plan.mechanisms()["age"] == AGE and plan.inputs_of("age") == ("years",)


def test_places_of_a_plan_that_look_like_visits_are_refused_until_they_are_called_public(write):
    write("lat,lon,time\n52.52,13.4,9\n48.86,2.35,10\n", "visits.csv")

    def written(more):
        return write(f'[columns.home]\nfrom = ["y", "x"]\ndomain = {{ places = "visits.csv"{more} }}\nepsilon = 1\n')

    with pytest.raises(InputError, match="next to the places: 'time'.*is public: places_are_public = true"):
        bp.Plan.read(written(""))
    with pytest.raises(InputError, match=r"Expected places_are_public = true or false, got 'yes'"):
        bp.Plan.read(written(', places_are_public = "yes"'))
    assert len(bp.Plan.read(written(", places_are_public = true")).mechanisms()["home"].domain) == 2


def test_every_problem_is_listed_and_near_names_are_suggested():
    told = problems(
        {
            "colums": {},
            "columns": {
                "a": {"domian": {"integers": [1, 5]}},
                "b": {"domain": {"integers": [1, 5]}, "epsilon": 1, "mechanism": "bbr"},
                "c": {"domain": {"interval": [0, 1]}, "epsilon": 1},
                "d": {"domain": {"integers": [5, 1]}, "epsilon": 1},
                "e": {"domain": {"integers": [1, 5]}, "epsilon": -1},
                "f": {"public": True, "epsilon": 1},
                "g": {"domain": {"integers": [1, 5], "points": 3}, "epsilon": 1},
                "h": {"domain": {"integers": [1, 5]}, "epsilon": 1, "nulls": "drop"},
                "i": {"domain": {"integers": [1, 5]}, "epsilon": 1, "outside": {"as": 9}},
                "j": {"domain": {"integers": ["TODO", 5]}, "epsilon": "TODO"},
                "k": {"mechanism": "grr", "m": 3, "prior": [1]},
                "l": 7,
                "m": {"public": "yes"},
                "n": {"from": [], "domain": {"integers": [1, 5]}, "epsilon": 1},
                "o": {"domain": {"categories": ["one"]}, "epsilon": 1},
                "p": {"domain": {"places": "nowhere.csv"}, "epsilon": 1},
                "q": {"spec": "nowhere.json", "epsilon": 1},
                "r": {"domain": {"places": 7}, "epsilon": 1},
                "s": {"domain": {"integers": [1]}, "epsilon": 1},
                "t": {"domain": {}, "epsilon": 1},
                "u": {"domain": {"integers": [1, 5]}, "epsilon": 1, "max_distance": 3},
                "v": {"domain": {"integers": [1, 5]}, "epsilon": 1, "from": ["x", "y"]},
                "w": {"domain": {"categories": ["x", "y"]}, "epsilon": 1, "outside": "clip"},
            },
        }
    )
    for each in (
        "the plan: unknown key 'colums' (did you mean 'columns'?).",
        "columns.a: unknown key 'domian' (did you mean 'domain'?).",
        "columns.b: Expected the name of a mechanism, got 'bbr'; did you mean 'brr'?",
        "columns.c: Expected points with interval",
        "columns.d: Expected low < high",
        "columns.e: Expected epsilon",
        "columns.f: A public column is copied unchanged, and takes no 'epsilon'",
        "columns.g: A domain of integers takes no points",
        "columns.h: Expected nulls = 'error', 'keep' or { as =",
        "columns.i: Expected outside_as (in a plan file, outside = { as = … }) as a value of the domain, got 9",
        "columns.j: domain still says TODO",
        "columns.j: epsilon still says TODO",
        "columns.k: Expected domain",
        "columns.k: Expected epsilon",
        "columns.k: m applies to brr",
        "columns.k: grr does not depend on a prior",
        "columns.l: Expected keys such as domain",
        "columns.m: Expected public = true or false",
        "columns.n: Expected from",
        "columns.o: Expected categories",
        "columns.p: not found: nowhere.csv",
        "columns.q: A spec says everything",
        "columns.r: Expected the name of a file",
        "columns.s: Expected integers = [low, high]",
        "columns.t: Expected a domain of one kind",
        "columns.u: max_distance applies only to",
        "columns.v: Expected bp.Points of 2 coordinates",
        "which has no ends; name a value with outside_as (in a plan file, outside = { as = … }).",
    ):
        assert each in told, each


def test_all_that_is_wrong_with_one_column_is_told_at_once():
    wrong = {"mechanism": "bbr", "edges": "padded", "domain": {"integers": [5, 1]}, "epsilon": 0, "from": 3}
    told = problems({"columns": {"a": wrong | {"nulls": "drop", "outside": "maybe"}}})
    for each in ("'bbr'; did you mean 'brr'?", "low < high", "epsilon", "from as", "nulls = ", "outside = "):
        assert f"columns.a: Expected {each}" in told or each in told, each
    assert told.startswith("6 problems") and "leave it out" not in told
    told = problems({"columns": {"a": {"mechanism": "bbr", "domain": {"integers": ["TODO", 5]}, "epsilon": -1}}})
    assert told.startswith("3 problems") and "domain still says TODO" in told


def test_mechanisms_whose_epsilon_does_not_add_up_are_refused():
    with pytest.raises(InputError, match="Expected .*, got PlanarLaplace"):
        bp.Plan({"home": PlanarLaplace(CITIES, epsilon=0.1)})
    with pytest.raises(InputError, match="that keeps its ε"):
        bp.Plan({"home": Liar(bp.Integers(0, 9), 1)})


def test_what_is_no_plan_is_refused(write):
    for wrong, told in (
        ([], "Expected columns as a dict"),
        ({"a": 3}, "Expected a mechanism, a Column or 'public'"),
        ({"": AGE}, "Expected names of columns as text"),
        ({"a": "public"}, "at least one private column"),
        ({"a": "public", "b": Column(AGE, inputs=("a",))}, "both public and private"),
    ):
        with pytest.raises(InputError, match=told):
            bp.Plan(wrong)
    assert "as a dict" in problems([])
    assert "[columns.NAME]" in problems({})
    with pytest.raises(DataFileError, match="is not TOML"):
        bp.Plan.read(write("columns = ["))
    path = write("")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DataFileError, match="not UTF-8"):
        bp.Plan.read(path)
    for options, told in (
        ({"outside": "no"}, "outside='error'"),
        ({"nulls": 3}, "nulls='error'"),
        ({"max_distance": -1}, "max_distance ≥ 0"),
    ):
        with pytest.raises(InputError, match=told):
            Column(AGE, **options)


def test_a_table_of_another_kind_is_refused_before_any_row_is_read(plan):
    wrong = pa.schema(
        [
            ("agee", pa.int64()),
            ("income", pa.string()),
            ("job", pa.date32()),
            ("lat", pa.float64()),
            ("lon", pa.timestamp("s")),
            ("country", pa.string()),
            ("country", pa.string()),
        ]
    )
    with pytest.raises(InputError) as caught:
        plan.schema(wrong)
    for each in (
        "no column 'age'; did you mean 'agee'?",
        "column 'income': Expected numbers, got string",
        "column 'job': Expected text",
        "column 'lon': Expected numbers, got timestamp[s]; take a number",
        "several columns named 'country'",
    ):
        assert each in str(caught.value)
    numbered = bp.Plan({"n": bp.GRR(bp.Items([1, 2], loss=[[0, 1], [1, 0]]), 1)})
    with pytest.raises(InputError, match="Expected whole numbers, the labels"):
        numbered.schema(pa.schema([("n", pa.float64())]))


def test_what_travels_describes_the_release_and_is_checked(plan):
    told = described(plan)
    assert json.loads(told.to_json()) == told.to_dict()
    again = Described.from_json(told.to_json())
    assert again == told and again.epsilon == Decimal("2.75") and again.mechanisms["income"] == INCOME
    assert plan.metadata()["columns"]["age"]["spec"] == AGE.to_spec()
    assert "NOT PRIVATE" in told.drawn_from(insecure=True, rejecting=False).guarantee
    assert "rejected" in told.drawn_from(insecure=False, rejecting=True).publishes[-1]
    held = told.to_dict()
    held["columns"]["age"]["spec_sha256"] = "0" * 64
    for wrong, message in (
        (json.dumps(held), "does not match its SHA-256"),
        ("{", "as JSON"),
        ("[]", "something else"),
        ('{"bipartite_release": 1}', "missing or invalid parts"),
    ):
        with pytest.raises(SpecError, match=message):
            Described.from_json(wrong)


def test_a_release_writes_the_spec_of_a_column_once(tmp_path, monkeypatch):
    # Of 2,000 categories it holds four million ranks, and took most of half a minute.
    written = []
    described_as = bp.Items.to_spec

    def counted(domain):
        written.append(domain)
        return described_as(domain)

    monkeypatch.setattr(bp.Items, "to_spec", counted)
    plan = bp.Plan({"job": bp.GRR(bp.Items(["nurse", "other"], loss=[[0, 1], [1, 0]]), epsilon=1)})
    (tmp_path / "in.csv").write_text("job\nnurse\n")
    for kind in ("csv", "parquet"):
        bp.tables.privatize_file(tmp_path / "in.csv", tmp_path / f"out.{kind}", plan)
    assert len(written) == 1


def test_a_missing_library_is_named_with_the_way_to_get_it(monkeypatch):
    with pytest.raises(MissingExtraError, match="Tables need no_such_library, .*; run: pip install no_such_library"):
        extras.need("no_such_library.part")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r'pyarrow, .*; run: pip install "bipartite\[tables\]" \(in a'):
        extras.need("pyarrow")


@pytest.mark.parametrize("kind", [pa.float64(), pa.string(), pa.decimal128(20, 1)])
def test_a_batch_of_a_wrong_type_is_refused_before_a_value_is_looked_at(kind):
    """What Arrow says of a value that it cannot cast shows it."""
    plan = bp.Plan({"code": bp.GRR(bp.Items([20, 30], loss=[[0, 1], [1, 0]]), epsilon=1)})
    batch = pa.RecordBatch.from_arrays([pa.array(["987654321.5"]).cast(kind)], names=["code"])
    for draw in (plan.privatize_batch, lambda batch: bp.tables.Release(plan).privatize_or_reject(batch, {})):
        with pytest.raises(InputError, match="'code': Expected whole numbers, the labels of its set") as caught:
            draw(batch)
        assert "98765" not in str(caught.value) and caught.value.__context__ is None
