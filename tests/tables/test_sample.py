"""Plans that ask each row a few of its private columns: who is asked what tells nothing, and ε is that of a row."""

import hashlib
import itertools
import json
import pickle
from fractions import Fraction
from math import prod

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from scipy import stats

import bipartite as bp
from bipartite.errors import DataFileError, InputError, NullError, SpecError
from bipartite.lottery import Epsilon
from bipartite.lottery.uniform import whole_numbers_below
from bipartite.tables import Column, Release, estimate_file, privatize_file
from bipartite.tables.keyed import KeyedRelease
from bipartite.tables.metadata import Described

JOBS = bp.Items(["clerk", "baker", "other"])
COLUMNS = {
    "age": bp.BRR(bp.Integers(18, 90), "0.5", edges="padded", m="mean"),
    "job": bp.GRR(JOBS, 1),
    "income": Column(bp.BRR(bp.Interval(0, 100, points=101), 2), outside="clip"),
    "food": bp.OUE(bp.Items(list("uvwxyz")), 1),
    "country": "public",
}
PLAN = bp.Plan(COLUMNS, sample=2)
PRIVATE = list(PLAN.private())
TOML = """
sample = 1
[columns.age]
domain = { integers = [18, 90] }
edges = "padded"
m = "mean"
epsilon = 0.5
[columns.job]
domain = { categories = ["clerk", "baker", "other"] }
epsilon = 1
[columns.country]
public = true
"""


def people(count, seed=0):
    words = np.random.default_rng(seed)
    return pa.table(
        {
            "age": words.integers(18, 91, count),
            "job": words.choice(["clerk", "baker", "other"], count),
            "income": words.uniform(-5, 105, count),
            "food": words.choice(list("uvwxyz"), count),
            "country": words.choice(["DE", "FR"], count),
        }
    )


def asked(reports):
    """Which private columns each row reports."""
    return np.column_stack([reports.column(name).is_valid().to_pylist() for name in PRIVATE])


# --- what a row spends ---


def test_a_row_spends_the_largest_of_what_it_may_be_asked():
    assert PLAN.epsilon_decimal == 3  # 2 + 1, not 4.5
    assert bp.Plan(COLUMNS, sample=3).epsilon_decimal == 4
    assert bp.Plan(COLUMNS).epsilon_decimal == bp.Plan(COLUMNS, sample=None).epsilon_decimal == Fraction("4.5")
    assert PLAN.guarantee == (
        "ε-LDP of the private columns of each row with ε = 3: it reports 2 of 4, drawn independently of the values"
    )
    assert repr(PLAN) == "<Plan of 5 columns, sample=2, ε = 3 per row>"
    assert PLAN == bp.Plan(COLUMNS, np.int64(2)) == pickle.loads(pickle.dumps(PLAN)) and type(PLAN.sample) is int
    assert bp.Plan(COLUMNS) != PLAN and hash(PLAN) != hash(bp.Plan(COLUMNS))
    assert PLAN.publishes == bp.Plan(COLUMNS).publishes


@pytest.mark.parametrize("sample", [1, 2])
def test_a_whole_row_keeps_its_epsilon_by_enumeration(sample):
    # Pr[S, y|x] = 1/C(d, k) · ∏ over S: every set S, every pair of rows and every report, in exact fractions.
    plan = bp.Plan({"a": bp.GRR(bp.Integers(0, 2), "0.4"), "b": bp.GRR(JOBS, "0.3"), "c": bp.GRR(JOBS, "0.2")}, sample)
    ratios = []
    for mechanism in plan.mechanisms().values():
        rows = mechanism.lottery.rows(0, len(mechanism.domain)).tolist()
        ratios.append(
            max(Fraction(a, b) for one, two in itertools.product(rows, repeat=2) for a, b in zip(one, two, strict=True))
        )
    worst = max(prod(chosen) for chosen in itertools.combinations(ratios, sample))
    assert Epsilon.of(plan.epsilon_decimal).allows(worst.numerator, worst.denominator)
    assert not Epsilon.of(float(plan.epsilon) - 0.01).allows(worst.numerator, worst.denominator)  # nothing is wasted


# --- who is asked what ---


def test_each_set_of_columns_is_drawn_equally_often():
    # Chi-squared over 60,000 rows and 6 sets, seeded; a right draw fails with chance 10^-6.
    found = asked(bp.privatize_frame(people(60_000), PLAN, bp.insecure_seed(5)))
    assert (found.sum(axis=1) == 2).all()
    counts = np.bincount(found @ [1, 2, 4, 8], minlength=16)
    assert set(np.flatnonzero(counts)) == {3, 5, 6, 9, 10, 12}
    assert stats.chisquare(counts[counts > 0]).pvalue > 1e-6
    # The test has power: sets whose chances differ by a tenth are noticed.
    skewed = counts[counts > 0] + np.array([1000, -1000, 0, 0, 0, 0])
    assert stats.chisquare(skewed).pvalue < 1e-6


def test_who_is_asked_what_does_not_depend_on_the_values():
    # With the same words every table has the same sets: they are a function of the words alone.
    one, two = (people(3000, seed) for seed in (1, 2))
    first, second = (asked(bp.privatize_frame(each, PLAN, bp.insecure_seed(9))) for each in (one, two))
    np.testing.assert_array_equal(first, second)
    # Nor from the secure source: values and sets in a table, with chance 10^-6 of a false alarm.
    reports = bp.privatize_frame(one, PLAN)
    table = pd.crosstab(one["job"].to_numpy(), asked(reports) @ [1, 2, 4, 8])
    assert stats.chi2_contingency(table).pvalue > 1e-6
    assert (asked(bp.privatize_frame(one, PLAN)) != asked(reports)).any()


def test_what_is_asked_is_reported_with_the_whole_epsilon_of_its_column():
    # Chi-squared over the asked half of 40,000 rows, seeded; a right law fails with chance 10^-6.
    rows = pa.table({**{name: people(40_000)[name] for name in COLUMNS}, "job": ["baker"] * 40_000})
    found = bp.privatize_frame(rows, PLAN, bp.insecure_seed(3))["job"].drop_null().to_pylist()
    counts = [found.count(label) for label in JOBS]
    assert stats.chisquare(counts, bp.GRR(JOBS, 1).matrix()[1] * len(found)).pvalue > 1e-6
    assert stats.chisquare(counts, bp.GRR(JOBS, "0.5").matrix()[1] * len(found)).pvalue < 1e-6


def test_the_reports_are_those_of_the_same_plan_without_a_sample():
    rows = people(500)
    whole = bp.privatize_frame(rows, bp.Plan(COLUMNS), bp.insecure_seed(4))
    some = bp.privatize_frame(rows, PLAN, bp.insecure_seed(4))
    for name in COLUMNS:
        for one, other in zip(some[name].to_pylist(), whole[name].to_pylist(), strict=True):
            assert one in {None, other}
    assert some["country"].null_count == 0


def test_the_same_words_ask_the_same_in_every_frame_and_file(tmp_path):
    rows = people(400)
    expected = bp.privatize_frame(rows, PLAN, bp.insecure_seed(6))
    for frame in (rows.to_pandas(), pl.from_arrow(rows)):
        found = bp.privatize_frame(frame, PLAN, bp.insecure_seed(6))
        found = pa.Table.from_pandas(found) if isinstance(frame, pd.DataFrame) else found.to_arrow()
        for name in COLUMNS:
            assert found[name].to_pylist() == expected[name].to_pylist()
    release = Release(PLAN, bp.insecure_seed(6))
    parts = [release.privatize(each) for each in rows.combine_chunks().to_batches(max_chunksize=7)]
    in_parts = pa.Table.from_batches(parts)
    np.testing.assert_array_equal(asked(in_parts), asked(expected))
    assert in_parts["age"].to_pylist() == expected["age"].to_pylist()  # reports of food depend on batches
    pa_csv.write_csv(rows, tmp_path / "rows.csv")
    done = privatize_file(tmp_path / "rows.csv", tmp_path / "out.arrow", PLAN, rng=bp.insecure_seed(6))
    assert done.epsilon is None
    assert pa.ipc.open_file(tmp_path / "out.arrow").read_all().to_pylist() == expected.to_pylist()


def test_the_words_of_the_sets_stand_under_none():
    plan = bp.Plan({"a": bp.GRR(JOBS, 1), "b": bp.GRR(JOBS, 1)}, sample=1)
    rows = pa.table({"a": ["clerk"] * 4, "b": ["clerk"] * 4})
    low, high = [0] * 4, [2**64 - 1] * 4
    words = {None: bp.fixed_words([0, 2**63, 0, 2**64 - 1]), "a": bp.fixed_words(high), "b": bp.fixed_words(high)}
    found = bp.privatize_frame(rows, plan, words)
    assert found["a"].is_valid().to_pylist() == [True, False, True, False]
    assert found["b"].is_valid().to_pylist() == [False, True, False, True]
    message = "Expected words for the columns 'a', 'b', and under None for who is asked what; pass a source for each"
    with pytest.raises(InputError, match=message):
        bp.privatize_frame(rows, plan, {"a": bp.fixed_words(low), "b": bp.fixed_words(low)})


def test_a_seed_draws_the_sets_from_a_stream_of_their_own():
    first = bp.insecure_seed(6).streams().stream(0, 1).word()
    seed = int.from_bytes(hashlib.sha256(f"bipartite sample {first}".encode()).digest()[:8], "big")
    sets = np.array(list(itertools.combinations(range(4), 2)))
    drawn = sets[whole_numbers_below(6, 300, bp.insecure_seed(seed))]
    found = asked(bp.privatize_frame(people(300), PLAN, bp.insecure_seed(6)))
    np.testing.assert_array_equal(np.argwhere(found)[:, 1].reshape(-1, 2), drawn)


def test_the_words_of_the_sets_are_those_of_no_column():
    # With the words of one of two columns, who is asked would tell its report.
    plan = bp.Plan({"age": bp.GRR(bp.Integers(0, 1), 1), "job": bp.GRR(bp.Integers(0, 1), 1)}, sample=1)
    rows = pa.table({"age": [0] * 4000, "job": [0] * 4000})
    seed = bp.insecure_seed(8)
    told = bp.privatize_frame(rows, bp.Plan(plan.columns), bp.insecure_seed(8))["age"].to_numpy()
    table = pd.crosstab(told, bp.privatize_frame(rows, plan, seed)["age"].is_valid().to_numpy())
    assert stats.chi2_contingency(table).pvalue > 1e-6  # the chance of a false alarm, seeded


# --- what stays as it was ---


def test_a_bad_value_is_refused_whether_its_column_is_asked_or_not():
    plan = bp.Plan({"a": bp.GRR(bp.Integers(0, 5), 1), "b": bp.GRR(bp.Integers(0, 5), 1)}, sample=1)
    for bad, kind in ((9, bp.errors.OutsideDomainError), (None, NullError)):
        for seed in range(8):  # among which a is asked about half of the time
            with pytest.raises(kind, match="column 'a': 1 of the 1 rows of this batch cannot be reported"):
                bp.privatize_frame(pa.table({"a": [bad], "b": [1]}), plan, bp.insecure_seed(seed))


def test_a_missing_value_may_be_replaced_but_not_kept():
    answers = bp.Items(["yes", "no", "no answer"])
    column = Column(bp.GRR(answers, 30), nulls_as="no answer")
    plan = bp.Plan({"a": column, "b": column}, sample=1)
    found = bp.privatize_frame(pa.table({"a": ["yes", None] * 50, "b": [None, None] * 50}), plan)
    assert set(found["b"].drop_null().to_pylist()) == {"no answer"}  # ε = 30: another one once in 10^13
    assert (np.array(asked_of(found, "a")) != np.array(asked_of(found, "b"))).all()
    with pytest.raises(InputError, match="column 'b': nulls='keep' does not go with sample, where a null means"):
        bp.Plan({"a": column, "b": Column(bp.GRR(answers, 1), nulls="keep")}, sample=1)


def asked_of(table, name):
    return table[name].is_valid().to_pylist()


def test_types_follow_from_the_plan_alone():
    table = people(1).to_pandas()
    kinds = {str(bp.privatize_frame(table, PLAN, bp.insecure_seed(seed)).dtypes.to_dict()) for seed in range(8)}
    assert len(kinds) == 1
    assert bp.privatize_frame(table, PLAN)["age"].dtype == pd.Int64Dtype()
    assert bp.privatize_frame(pl.from_arrow(people(1)), PLAN).schema["age"] == pl.Int64


def test_no_report_that_was_not_asked_stays_in_memory():
    column = bp.privatize_frame(people(200), PLAN)["age"].combine_chunks()
    under = np.frombuffer(column.buffers()[1], dtype=np.int64)[: len(column)]
    assert set(under[column.is_null().to_numpy(zero_copy_only=False)].tolist()) == {-13}  # the lowest output


def test_without_a_sample_nothing_is_written_about_one():
    assert "sample" not in json.dumps(bp.Plan(COLUMNS).metadata())
    assert (
        "drawn" not in bp.Plan(COLUMNS).guarantee and repr(bp.Plan(COLUMNS)) == "<Plan of 5 columns, ε = 4.5 per row>"
    )


# --- plans as files, and what is refused ---


def test_a_plan_file_says_its_sample(tmp_path):
    (tmp_path / "plan.toml").write_text(TOML)
    plan = bp.Plan.read(tmp_path / "plan.toml")
    assert plan.sample == 1 and plan == bp.Plan({name: COLUMNS[name] for name in ("age", "job", "country")}, sample=1)
    with pytest.raises(InputError, match="the plan: unknown key 'sampel' \\(did you mean 'sample'\\?\\)"):
        bp.Plan.from_dict({"sampel": 1, "columns": {"c": {"public": True}}})
    (tmp_path / "below.toml").write_text("[columns.c]\npublic = true\nsample = 1\n")
    with pytest.raises(
        InputError, match="unknown key 'sample'; it belongs to the whole plan, above the first .columns"
    ):
        bp.Plan.read(tmp_path / "below.toml")


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (0, "Expected 1 ≤ sample < 4, the number of private columns, got 0; leave sample out to report all of them"),
        (4, "Expected 1 ≤ sample < 4, the number of private columns, got 4"),
        (True, "Expected sample as None or a whole number, got True; use sample=1"),
        ("two", "Expected sample as None or a whole number, got 'two'"),
    ],
)
def test_samples_that_cannot_be_drawn_are_refused(sample, message):
    with pytest.raises(InputError, match=message):
        bp.Plan(COLUMNS, sample=sample)
    columns = {f"c{at}": {"domain": {"cyclic": 4}, "epsilon": 1} for at in range(4)}
    with pytest.raises(InputError, match=message):
        bp.Plan.from_dict({"sample": sample, "columns": columns})


def test_too_many_sets_are_refused():
    many = {f"c{at}": bp.GRR(JOBS, 1) for at in range(20)}
    with pytest.raises(
        InputError, match="at most 2.16 sets of private columns .* got 184756; use a smaller sample, or"
    ):
        bp.Plan(many, sample=10)


# --- estimates ---


def test_each_column_is_estimated_from_those_who_were_asked(tmp_path):
    rows = people(6000)
    pa_csv.write_csv(rows, tmp_path / "rows.csv")
    for target in ("out.csv", "out.jsonl", "out.parquet", "out.arrow"):
        privatize_file(tmp_path / "rows.csv", tmp_path / target, PLAN)
        answers = estimate_file(tmp_path / target, by="country")
        for name, groups in answers.columns.items():
            n = sum(each.nobs for each in groups.values())
            assert n + answers.unreported[name] == 6000
            assert abs(n - 3000) < 6 * np.sqrt(6000 / 4)  # binomial: beyond with chance 10^-8
        assert answers.about.epsilon == 3 and answers.about.sample == 2


def test_intervals_cover_the_mean_of_all_and_are_as_wide_as_for_those_who_were_asked():
    # 200 seeded releases of people drawn anew: at 95 %, fewer than 176 or all 200 cover with chance 10^-4 together.
    width, covered = [], 0
    for seed in range(200):
        rows = people(800, seed)
        reports = bp.privatize_frame(rows, PLAN, bp.insecure_seed(seed))["age"].drop_null()
        low, high = bp.estimate(PLAN.mechanisms()["age"], reports).ask("mean").ci()
        covered += low <= 54 <= high
        width.append(high - low)
    assert 176 <= covered < 200
    # As wide as of the 400 who are expected to be asked: twice the variance of 800.
    foreseen = 2 * 1.96 * bp.forecast(PLAN.mechanisms()["age"], PLAN.asked(800), "mean")
    assert np.mean(width) == pytest.approx(foreseen, rel=0.15)


def test_a_row_with_more_columns_than_were_drawn_is_refused(tmp_path):
    pa_csv.write_csv(people(50), tmp_path / "rows.csv")
    privatize_file(tmp_path / "rows.csv", tmp_path / "out.csv", PLAN)
    with (tmp_path / "out.csv").open("a") as file:
        file.write("30,clerk,5.0,x01,DE\n")
    with pytest.raises(DataFileError, match="line 52 reports more columns than the 2 that the plan draws; request"):
        estimate_file(tmp_path / "out.csv")


def test_a_description_keeps_its_sample_and_an_edited_one_is_refused():
    text = json.dumps(PLAN.metadata())
    assert Described.from_json(text).sample == 2 and Described.from_json(text).to_dict() == PLAN.metadata()
    for edited in ('"sample": 1', '"sample": 4', '"sample": "2"', '"sample": true', '"sample": null'):
        with pytest.raises(SpecError, match="it was edited: request the file again"):
            Described.from_json(text.replace('"sample": 2', edited))


def test_files_of_different_samples_are_not_counted_together(tmp_path):
    pa_csv.write_csv(people(50), tmp_path / "rows.csv")
    for sample in (1, 2):
        privatize_file(tmp_path / "rows.csv", tmp_path / f"{sample}.csv", bp.Plan(COLUMNS, sample))
    with pytest.raises(SpecError, match="drawn with different specs"):
        estimate_file([tmp_path / "1.csv", tmp_path / "2.csv"])


def test_rejected_rows_are_asked_nothing(tmp_path):
    rows = people(50).set_column(0, "age", pa.array([7] * 5 + [30] * 45))
    pa_csv.write_csv(rows, tmp_path / "rows.csv")
    done = privatize_file(tmp_path / "rows.csv", tmp_path / "out.arrow", PLAN, reject=tmp_path / "rejects.csv")
    assert (done.rows, done.rejected, done.epsilon) == (50, 5, "3")
    assert (asked(pa.ipc.open_file(tmp_path / "out.arrow").read_all()).sum(axis=1) == 2).all()


# --- rows with ids ---


def test_a_row_with_an_id_is_always_asked_the_same_whatever_its_values():
    key, ids = bytes(range(32)), pa.array(range(5000))

    def sets(rows, key=key, ids=ids):
        (batch,) = rows.combine_chunks().to_batches()
        return asked(KeyedRelease(PLAN, key).privatize_rows(batch, ids)) @ [1, 2, 4, 8]

    first = sets(people(5000, 1))
    np.testing.assert_array_equal(first, sets(people(5000, 2)))
    np.testing.assert_array_equal(first[::-1], sets(people(5000, 1), ids=pa.array(range(4999, -1, -1))))
    assert (first != sets(people(5000, 1), key=bytes(32))).any()
    # Each set equally often: a right draw fails with chance 10^-6.
    assert stats.chisquare(np.unique(first, return_counts=True)[1]).pvalue > 1e-6


def test_frames_say_how_they_are_estimated_and_that_works_for_bits_too():
    plan = bp.Plan({"pick": bp.OUE(bp.Items(["x", "y", "z"]), 4), "age": bp.BRR(bp.Integers(18, 90), 4)}, sample=1)
    frame = pd.DataFrame({"pick": ["x", "y", "z", "z"] * 200, "age": [30, 40, 50, 60] * 200})
    for table in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        reports = bp.privatize_frame(table, plan)
        asked = [
            bp.estimate(mechanism, reports[name], nulls="drop").nobs for name, mechanism in plan.mechanisms().items()
        ]
        assert sum(asked) == 800 and min(asked) > 300
    assert bp.privatize_frame(frame, plan).attrs["bipartite"]["next"].endswith('frame[column], nulls="drop")')
    assert bp.privatize_frame(frame, bp.Plan(plan.columns)).attrs["bipartite"]["next"].endswith("frame[column])")


def test_a_type_is_told_without_the_keys_in_peoples_cells():
    with pytest.raises(InputError, match="column 'x': Expected numbers, got nested values; cast it first") as caught:
        bp.privatize_frame(pd.DataFrame({"x": [{"a diagnosis": 1}] * 3}), bp.Plan({"x": bp.BRR(bp.Integers(0, 9), 1)}))
    assert "diagnosis" not in str(caught.value)


def test_a_category_is_not_blank():
    with pytest.raises(
        InputError, match="Expected categories that are not blank, which files cannot tell from missing"
    ):
        bp.Plan({"x": bp.GRR(bp.Items(["a", " "]), 1)})
