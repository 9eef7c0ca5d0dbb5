"""Reports of flat categories in tables: written as text, in every format and frame, and estimated from there."""

import hashlib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bipartite as bp
from bipartite.errors import DataError, DataFileError, InputError
from bipartite.mechanisms.categories import cells
from bipartite.tables import Column
from bipartite.tables.keyed import KeyedRelease, column_key
from bipartite.tables.reports import reports_of
from tests.mechanisms.categories import laws

WAYS = bp.Items(
    ["walk", "bicycle", "bus", "train", "car", "other", "tram", "boat", "plane", "none"], loss=1 - np.eye(10)
)
MECHANISMS = {
    "oue": bp.OUE(WAYS, 2),
    "sue": bp.SUE(WAYS, 2),
    "subset-selection": bp.SubsetSelection(WAYS, 1),
    "olh": bp.OLH(WAYS, 2),
    "hadamard-response": bp.HadamardResponse(WAYS, 2),
    "rappor": bp.RAPPOR(WAYS, epsilon_permanent=4),
}
NAMES = list(MECHANISMS)
PEOPLE = 3_000


def to_cells(mechanism, reports, missing=None):
    held = reports_of(mechanism)
    return held.write(reports, missing, held.type())


def from_cells(mechanism, column):
    return reports_of(mechanism).read(column)


@pytest.fixture(scope="module")
def people():
    generator = np.random.default_rng(3)
    ways = np.array(WAYS.labels)[
        generator.choice(10, PEOPLE, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.02, 0.02, 0.02, 0.02, 0.02])
    ]
    return pa.table({"way": ways, "country": generator.choice(["DE", "FR"], PEOPLE)})


def plan(name, **options):
    return bp.Plan({"way": Column(MECHANISMS[name], **options), "country": "public"})


@pytest.mark.parametrize("name", NAMES)
def test_cells_are_read_back_as_the_reports_that_they_were(name):
    mechanism = MECHANISMS[name]
    reports = mechanism.privatize(list(WAYS.labels) * 30, rng=bp.insecure_seed(1))
    column = to_cells(mechanism, reports)
    assert np.array_equal(from_cells(mechanism, column), reports)
    assert from_cells(mechanism, column).dtype == reports.dtype
    if reports.ndim > 1:
        # An oracle: digits as Python writes them.
        size = reports.dtype.itemsize
        assert column.to_pylist()[7] == "x" + "".join(int(each).to_bytes(size, "big").hex() for each in reports[7])
        assert {len(each) for each in column.to_pylist()} == {cells.cell_bytes(mechanism)}
    else:
        assert column.to_pylist() == reports.tolist()
    missing = np.arange(len(reports) + 1) == 4
    held = to_cells(mechanism, reports, missing)
    assert held.null_count == 1 and held.to_pylist()[4] is None and held.drop_null().equals(column)
    assert len(to_cells(mechanism, reports[:0])) == len(from_cells(mechanism, column[:0])) == 0


@pytest.mark.parametrize(
    "cell", ["", "x", "x00", "x0", "0ff03", "x f03", "xzz00", "xff04", "xff03 ", "yff03", "-1", "1.5"]
)
def test_what_is_no_report_is_refused(cell):
    assert len(cells.from_cells(MECHANISMS["oue"], ["xff03"])) == 1
    for name in ("oue", "olh", "hadamard-response"):
        for wrong in ([cell], ["xff03", cell], [None], [1.5], [True]):
            with pytest.raises(DataError):
                cells.from_cells(MECHANISMS[name], wrong)


@pytest.mark.grid(2)
@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "arrow"])
def test_a_file_of_reports_is_estimated_as_the_reports_themselves_are(tmp_path, people, ending):
    all_of_them = {name: Column(mechanism, inputs=("way",)) for name, mechanism in MECHANISMS.items()}
    every = bp.Plan(all_of_them | {"country": "public"})
    pq.write_table(people, tmp_path / "in.parquet")
    out = tmp_path / f"out.{ending}"
    done = bp.tables.privatize_file(tmp_path / "in.parquet", out, every, rng=bp.insecure_seed(5))
    assert done.rows == PEOPLE
    whole, grouped = bp.tables.estimate_file(out).columns, bp.tables.estimate_file(out, by="country").columns
    frame = bp.privatize_frame(people, every, bp.insecure_seed(5))
    german = people.filter(pa.compute.equal(people["country"], "DE")).num_rows
    for name, mechanism in MECHANISMS.items():
        same = bp.estimate(mechanism, from_cells(mechanism, frame[name].combine_chunks()))
        assert np.array_equal(whole[name][None].shares, same.shares) and whole[name][None].nobs == PEOPLE
        assert {label: each.nobs for label, each in grouped[name].items()} == {"DE": german, "FR": PEOPLE - german}


@pytest.mark.parametrize("name", NAMES)
def test_reports_in_a_table_follow_the_law_of_the_mechanism(people, name):
    """Shares lie within 6 standard errors of the truth: by chance less often than once in 10^7 of these 60."""
    mechanism = MECHANISMS[name]
    frame = bp.privatize_frame(people, plan(name), bp.insecure_seed(11))
    counted = bp.Counts(mechanism).add(from_cells(mechanism, frame["way"].combine_chunks()))
    shares, errors = laws.shares(mechanism, counts=counted.values, people=counted.n)
    truth = np.array([np.mean(people["way"].to_numpy() == each) for each in WAYS.labels])
    off = np.abs(shares - truth) / errors
    assert (off < 6).all()
    # The test sees a law that is off: people who all hold the first value.
    assert (np.abs(shares - np.eye(10)[0]) / errors > 6).any()


def test_frames_of_every_kind_hold_the_same_reports(people):
    for name in ("oue", "hadamard-response"):
        own = plan(name)
        first = bp.privatize_frame(people, own, bp.insecure_seed(2))["way"].to_pylist()
        pandas = bp.privatize_frame(people.to_pandas(), own, bp.insecure_seed(2))
        polars = bp.privatize_frame(pl.from_arrow(people), own, bp.insecure_seed(2))
        assert pandas["way"].tolist() == polars["way"].to_list() == first
        assert isinstance(pandas, pd.DataFrame)
        known = bp.estimate(MECHANISMS[name], from_cells(MECHANISMS[name], pa.array(first))).shares
        for column in (pandas["way"], polars["way"], pa.array(first), first, np.array(first)):
            assert np.array_equal(bp.estimate(MECHANISMS[name], column).shares, known)
            assert bp.Counts(MECHANISMS[name]).add(column).n == PEOPLE


def test_missing_values_are_kept_or_taken_for_another(people):
    gaps = people.set_column(0, "way", pa.array([None, *people["way"].to_pylist()[1:]]))
    with pytest.raises(DataError, match="row 1 is missing"):
        bp.privatize_frame(gaps, plan("oue"))
    kept = bp.privatize_frame(gaps, plan("oue", nulls="keep"))["way"]
    assert kept.null_count == 1 and not kept[0].is_valid
    assert bp.privatize_frame(gaps, plan("oue", nulls_as="none"))["way"].null_count == 0
    wrong = people.set_column(0, "way", pa.array(["rocket", *people["way"].to_pylist()[1:]]))
    with pytest.raises(DataError) as caught:
        bp.privatize_frame(wrong, plan("oue"))
    assert "rocket" not in str(caught.value) and "row 1" in str(caught.value)
    assert bp.privatize_frame(wrong, plan("oue", outside_as="other")).num_rows == PEOPLE


def test_numbers_may_be_reported_by_flat_oracles_too():
    ages = bp.Plan({"age": Column(bp.OUE(bp.Integers(18, 30), 2), outside="clip")})
    frame = bp.privatize_frame(pa.table({"age": [5, 20, 99] * 500}), ages, bp.insecure_seed(1))
    shares = bp.estimate(ages.mechanisms()["age"], from_cells(ages.mechanisms()["age"], frame["age"].combine_chunks()))
    assert shares.shares[[0, 2, 12]].min() > 0.2
    with pytest.raises(DataError, match=r"outside 18\.\.30"):
        bp.privatize_frame(pa.table({"age": [5]}), bp.Plan({"age": bp.OUE(bp.Integers(18, 30), 2)}))


def test_an_edited_file_is_refused(tmp_path, people):
    pq.write_table(people, tmp_path / "in.parquet")
    bp.tables.privatize_file(tmp_path / "in.parquet", tmp_path / "out.csv", plan("oue"))
    lines = (tmp_path / "out.csv").read_text().splitlines()
    lines[3] = "xffff," + lines[3].split(",")[1]  # bits that stand for no value
    (tmp_path / "out.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(DataFileError, match="column 'way', cannot have come from"):
        bp.tables.estimate_file(tmp_path / "out.csv")


@pytest.mark.parametrize("name", NAMES)
def test_keyed_rows_have_one_report_however_they_are_cut(people, name):
    some, ids = people.slice(0, 40).to_batches()[0], pa.array(range(40))
    key = b"k" * 32
    whole = KeyedRelease(plan(name), key).privatize_rows(some, ids)["way"].to_pylist()
    last = KeyedRelease(plan(name), key).privatize_rows(some.slice(30), ids.slice(30))["way"].to_pylist()
    assert whole[30:] == last
    assert KeyedRelease(plan(name), b"l" * 32).privatize_rows(some, ids)["way"].to_pylist() != whole
    # A row of its own: the same value and another id have another report.
    alike = pa.RecordBatch.from_pydict({"way": ["bus"] * 40, "country": ["DE"] * 40})
    assert len(set(KeyedRelease(plan(name), key).privatize_rows(alike, ids)["way"].to_pylist())) > 1


def test_a_keyed_report_takes_the_words_of_its_row():
    """Hadamard's report is decided by one ticket, so that an oracle in plain Python can draw it."""
    mechanism = MECHANISMS["hadamard-response"]
    own = bp.Plan({"way": mechanism})
    key, row, index = b"k" * 32, b"i" + (7).to_bytes(8, "little"), 2
    batch = pa.RecordBatch.from_pydict({"way": [WAYS.labels[index]]})
    (found,) = KeyedRelease(own, key).privatize_rows(batch, pa.array([7]))["way"].to_pylist()
    base = hashlib.blake2b(key=column_key(key, mechanism, "way"), digest_size=64)
    base.update(index.to_bytes(8, "little") + (0).to_bytes(4, "little") + row)
    words = np.frombuffer(base.digest(), dtype="<u8").astype(np.uint64)
    assert found == int(mechanism.privatize([WAYS.labels[index]], rng=bp.fixed_words(words.tolist()))[0])


def test_a_record_batch_that_would_not_fit_is_refused(monkeypatch, people):
    monkeypatch.setattr("bipartite.tables.reports._Rows.most_rows", 1_000)
    with pytest.raises(InputError, match="at most 1,000 rows"):
        bp.privatize_frame(people.to_batches()[0], plan("oue"))
    assert bp.privatize_frame(people, plan("oue")).num_rows == PEOPLE
