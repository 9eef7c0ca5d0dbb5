"""What a release says about itself: nothing that its words do not keep, and nothing that its specs do not add up to."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bipartite as bp
from bipartite.cli import main
from bipartite.errors import DataFileError, SpecError
from bipartite.tables import Column, Release, estimate_file, privatize_file
from bipartite.tables.formats import side_file
from bipartite.tables.metadata import METADATA_KEY, RELEASE_KEY, Described, described
from tests.tables.files import put

AGE = bp.BRR(bp.Integers(18, 90), epsilon="2.5")
STARS = bp.GRR(bp.Integers(1, 5), epsilon="2.5")
PLAN = bp.Plan({"age": AGE, "stars": STARS, "country": "public"})
PEOPLE = {"age": [20, 30, 40] * 50, "stars": [1, 2, 5] * 50, "country": ["DE", "FR", "IT"] * 50}
KNOWN_WORDS = {
    "seed": lambda: bp.insecure_seed(1),
    "one column of two": lambda: {"age": None, "stars": bp.insecure_seed(1)},
    "fixed": lambda: {name: bp.fixed_words(range(0, 2**63, 2**53)) for name in ("age", "stars")},
}


def carried(schema):
    return json.loads(schema.metadata[METADATA_KEY])


def claims_nothing(held):
    """A description that claims no ε, whatever field one looks at (specs are about mechanisms)."""
    said = [held["guarantee"], *(column["guarantee"] for column in held["columns"].values())]
    assert held["insecure"] is True and held["epsilon"] is None
    assert all(each.startswith("NOT PRIVATE") and "ε" not in each for each in said)


@pytest.mark.parametrize("words", KNOWN_WORDS.values(), ids=KNOWN_WORDS)
def test_frames_and_batches_from_known_words_say_so_and_claim_nothing(words):
    table = pa.table(PEOPLE)
    batch = table.to_batches()[0]
    claims_nothing(carried(bp.privatize_frame(table, PLAN, words()).schema))
    claims_nothing(carried(bp.privatize_frame(batch, PLAN, words()).schema))
    claims_nothing(carried(PLAN.privatize_batch(batch, words()).schema))
    claims_nothing(carried(Release(PLAN, words()).privatize(batch).schema))
    secure = carried(bp.privatize_frame(table, PLAN).schema)
    assert secure == PLAN.metadata() and secure["epsilon"] == "5" and secure["insecure"] is False


@pytest.mark.grid(2)
@pytest.mark.parametrize("target", ["out.parquet", "out.csv", "out.arrow", "out.jsonl"])
def test_files_from_known_words_say_so_and_so_do_their_estimates(target, tmp_path):
    source, path = put(tmp_path / "in.parquet", PEOPLE), tmp_path / target
    done = privatize_file(source, path, PLAN, rng=KNOWN_WORDS["one column of two"]())
    assert done.insecure and done.epsilon is None and done.guarantee.startswith("NOT PRIVATE")
    about = estimate_file(path).about
    assert about.insecure and about.epsilon is None
    claims_nothing(about.to_dict())
    if target == "out.arrow":
        claims_nothing(carried(pa.ipc.open_file(path).schema))
    secure = privatize_file(source, tmp_path / f"secure-{target}", PLAN)
    assert not secure.insecure and secure.epsilon == "5"


def bipartite(capsys, *arguments):
    """(exit code, standard output, standard error) of a command."""
    code = main([str(each) for each in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_command_line_says_so_in_words_and_json(tmp_path, capsys):
    source, plan = tmp_path / "in.csv", tmp_path / "plan.toml"
    pd.DataFrame(PEOPLE).to_csv(source, index=False)
    plan.write_text('[columns.age]\ndomain = { integers = [18, 90] }\nmechanism = "brr"\nepsilon = 1\n')
    target = tmp_path / "out.csv"
    code, _, told = bipartite(capsys, "privatize", source, target, "--plan", plan, "--insecure-seed", "1")
    assert code == 0 and "NOT PRIVATE" in told and "ε =" not in told
    second = (source, tmp_path / "2.csv", "--plan", plan, "--insecure-seed", "1", "--json")
    held = json.loads(bipartite(capsys, "privatize", *second)[1])
    assert held["insecure"] is True and held["epsilon"] is None
    found = json.loads(bipartite(capsys, "estimate", target, "--json")[1])
    assert found["insecure"] is True and found["epsilon"] is None
    shown = bipartite(capsys, "estimate", target, "--html", tmp_path / "page.html")[1]
    assert shown.startswith("NOT PRIVATE") and "ε" not in shown
    assert "ε-LDP" not in (tmp_path / "page.html").read_text(encoding="utf-8")


SEEDED = described(PLAN).drawn_from(insecure=True)


def edited(**changes):
    return json.dumps(described(PLAN).to_dict() | changes, ensure_ascii=False)


def without(*names):
    return json.dumps({name: each for name, each in described(PLAN).to_dict().items() if name not in names})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (edited(epsilon="0.01"), "with ε = 0.01 over specs that spend ε = 5; it was edited: request the file again."),
        (edited(epsilon="NaN"), "with ε = NaN over specs that spend ε = 5"),
        (edited(epsilon=None), "with no ε over specs that spend ε = 5"),
        (edited(epsilon="many"), "missing or invalid parts"),
        (edited(epsilon="9" * 10**5), r"with ε = 1\.0*e\+100000 over specs"),
        (edited(guarantee=SEEDED.guarantee), "an ε over reports that it calls not private"),
        (edited(insecure="no"), "missing or invalid parts"),
        (edited(publishes="none"), "missing or invalid parts"),
        (edited(publishes=[1]), "missing or invalid parts"),
        (edited(publishes=[]), "missing or invalid parts"),
        (edited(publishes=["\x1b[2Jnothing at all"]), "missing or invalid parts"),
        (json.dumps(described(PLAN).to_dict() | {"publishes": ["\ud800"]}), "missing or invalid parts"),
        (edited(public=["age"]), "columns that are both public and private"),
        (edited(columns={}), "missing or invalid parts"),
        (edited(columns=[]), "missing or invalid parts"),
        (edited(guarantee=7), "missing or invalid parts"),
        (without("epsilon"), "missing or invalid parts"),
        (without("insecure"), "missing or invalid parts"),
        (edited()[:-1] + ', "epsilon": "0.01"}', "as JSON; the file may be truncated or edited"),
        (edited()[:-9], "as JSON; the file may be truncated or edited"),
        ("[" * 10**5, "as JSON; the file may be truncated or edited"),
    ],
)
def test_a_description_that_contradicts_itself_is_refused(text, message):
    with pytest.raises(SpecError, match=message):
        Described.from_json(text)


def test_what_a_description_promises_is_computed_and_not_read():
    assert Described.from_json(edited(epsilon="5.0")) == described(PLAN)
    told = Described.from_json(edited(guarantee="ε-LDP with ε = 0.01"))
    assert told.guarantee == PLAN.guarantee == "ε-LDP of the private columns of each row with ε = 5"
    older = Described.from_json(edited(insecure=True))  # once stated an ε all the same
    claims_nothing(older.to_dict())
    claims_nothing(json.loads(older.to_json()))


@pytest.mark.parametrize("target", ["out.parquet", "out.csv", "out.arrow"])
def test_an_edited_file_is_refused_by_estimates(target, tmp_path, capsys):
    path = tmp_path / target
    privatize_file(put(tmp_path / "in.parquet", PEOPLE), path, PLAN)
    low = edited(epsilon="0.01").encode()
    if target == "out.csv":
        side_file(path).write_bytes(low)
    elif target == "out.parquet":
        pq.write_table(pq.read_table(path).replace_schema_metadata({METADATA_KEY: low}), path)
    else:
        put(path, pa.ipc.open_file(path).read_all().replace_schema_metadata({METADATA_KEY: low}))
    with pytest.raises(SpecError, match="ε = 0.01 over specs that spend ε = 5"):
        estimate_file(path)
    code, _, told = bipartite(capsys, "estimate", path)
    assert code == 3 and "ε = 0.01 over specs" in told


def spark_part(folder, number, text):
    """A part as Spark writes it: its schema as JSON under a key of its own."""
    metadata = {RELEASE_KEY: text}
    held = text if text == "{" else json.dumps({"fields": [{"name": "age", "metadata": metadata}]})
    table = pa.table({"age": np.array([20, 30])})
    table = table.replace_schema_metadata({b"org.apache.spark.sql.parquet.row.metadata": held})
    pq.write_table(table, folder / f"part-{number}.parquet")


def test_a_folder_of_spark_whose_parts_disagree_is_refused(tmp_path):
    (tmp_path / "_SUCCESS").touch()
    text = described(bp.Plan({"age": AGE})).to_json()
    spark_part(tmp_path, 0, text)
    spark_part(tmp_path, 1, text)
    assert estimate_file(tmp_path).about.epsilon_text == "2.5"
    low = bp.Plan({"age": Column(bp.BRR(bp.Integers(18, 90), epsilon="0.1"))})
    spark_part(tmp_path, 1, described(low).to_json())
    with pytest.raises(DataFileError, match="holds parts of different releases; request it again"):
        estimate_file(tmp_path)
    for number in (0, 1):
        spark_part(tmp_path, number, "{")
    with pytest.raises(DataFileError, match="has unreadable column metadata"):
        estimate_file(tmp_path)


def test_what_a_release_publishes_can_be_printed_whatever_its_columns_are_called():
    name = "a\ud800\n\x1b\u202eb"
    plan = bp.Plan({name: AGE, f"{name}c": "public"})
    assert Described.from_json(json.dumps(described(plan).to_dict())).publishes == plan.publishes
