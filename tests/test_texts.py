"""Text for people: tables, and names that must not forge a line."""

import csv
import io
import json
from datetime import UTC, datetime
from functools import cache

import pandas as pd
import pytest

import bipartite as bp
from bipartite.errors import BipartiteError
from bipartite.learn import PrivateColumns
from bipartite.plots.figure import as_svg
from bipartite.texts import align_columns, as_csv, escaped, in_digits

# A line of its own, a code that clears a terminal, and a mark that reorders what follows.
EVIL = "age\nFORGED: ε-LDP with ε = 0.1\x1b[2J\u202e\u2028"
LABELS = [EVIL, "b", "c", "d"]
SEED = bp.insecure_seed(1)
FLAT, CIRCLE = bp.GRR(bp.Items(LABELS), 1), bp.GRR(bp.Cyclic(4, labels=LABELS), 1)
RECORD = bp.Record({EVIL: bp.BRR(bp.Integers(0, 9), 1, edges="padded"), "b": FLAT})
PLAN = bp.Plan({EVIL: bp.BRR(bp.Integers(0, 9), 1), "b": FLAT, f"public {EVIL}": "public"})


@cache
def reports():
    return RECORD.privatize({EVIL: [1] * 40, "b": LABELS * 10}, rng=SEED)


def estimates(mechanism, **options):
    return bp.estimate(mechanism, mechanism.privatize(LABELS * 10, rng=SEED), **options)


def certificate(folder):
    with bp.Ledger(folder / "spent.db", budget=4, clock=lambda: datetime(2026, 1, 1, tzinfo=UTC)) as ledger:
        ledger.report("ada", EVIL, FLAT, "b")
        return str(ledger.certificate(EVIL))


def refused(act):
    with pytest.raises(BipartiteError) as caught:
        act()
    return str(caught.value)


PRINTED = {
    "a certificate of a ledger": certificate,
    "a summary": lambda _: estimates(FLAT).summary(),
    "a summary of a circle": lambda _: estimates(CIRCLE).summary(),
    "a summary of groups": lambda _: estimates(FLAT, by=[EVIL, "y"] * 20).summary(),
    "a summary of attributes": lambda _: bp.estimate(RECORD, reports()).summary(),
    "a summary of pairs": lambda _: bp.estimate(RECORD, reports()).joint(EVIL, "b").summary(),
    "a picture": lambda _: as_svg(estimates(FLAT, by=[EVIL, "y"] * 20).plot),
    "a picture in words": lambda _: estimates(FLAT, by=[EVIL, "y"] * 20).plot().get_label(),
    "a mechanism": lambda _: repr(CIRCLE),
    "a comparison": lambda _: str(bp.compare(bp.Items(LABELS), 1)),
    "advice": lambda _: str(bp.split_or_sample({EVIL: bp.Integers(0, 9), "b": bp.Integers(0, 9)}, 1, n=100)),
    "what cannot be told apart": lambda _: str(bp.identifiability(bp.BRR(bp.Cyclic(4, labels=LABELS), 1, m=2))),
    "a plan": lambda _: f"{PLAN.guarantee}{PLAN.publishes}{PLAN!r}{PLAN._repr_html_()}",
    "two kinds of values": lambda _: refused(lambda: RECORD.privatize({EVIL: 1, "b": ["b"]})),
    "two numbers of people": lambda _: refused(lambda: RECORD.privatize({EVIL: [1, 2], "b": ["b"]})),
    "a value outside": lambda _: refused(lambda: RECORD.privatize({EVIL: [99], "b": ["b"]})),
    "reports of no mechanism": lambda _: refused(lambda: bp.estimate(RECORD, {EVIL: [99], "b": ["b"]})),
    "two names": lambda _: refused(lambda: bp.estimate(RECORD, reports()).joint("x", "y")),
    "a spec": lambda _: refused(lambda: bp.from_spec(FLAT.to_spec() | {EVIL: 1})),
    "a column of a plan": lambda _: refused(lambda: bp.Plan.from_dict({"columns": {EVIL: {"epsilon": 1}}})),
    "a column to learn from": lambda _: refused(lambda: PrivateColumns({EVIL: (9, 0)}).fit(pd.DataFrame({EVIL: [1]}))),
}


@pytest.mark.parametrize("what", PRINTED)
def test_a_name_or_a_label_never_forges_a_line_nor_reaches_a_terminal(what, tmp_path):
    text = PRINTED[what](tmp_path)
    assert "FORGED" in text
    assert "\nFORGED" not in text and not set("\x1b\u202e\u2028") & set(text)


def test_only_what_cannot_be_seen_is_escaped():
    assert escaped("Zoë, 東京 👩‍🔬 \\n 5") == "Zoë, 東京 👩‍🔬 \\n 5"
    assert escaped("a\tb\x00\x7f\x85\ud800") == "a\\tb\\u0000\\u007f\\u0085\\ud800"
    assert json.loads(f'"{escaped(EVIL)}"') == EVIL


def test_columns_are_aligned_the_first_to_the_left():
    assert align_columns([("", "ε"), ("age", "1"), ("a job", "10")]) == ["        ε", "age     1", "a job  10"]


def test_csv_reads_back_as_it_was_and_what_is_missing_is_empty():
    written = as_csv(["name", "share"], [["a, b", 0.1 + 0.2], ['"', None]])
    assert written.startswith("name,share\n")
    assert list(csv.reader(io.StringIO(written))) == [["name", "share"], ["a, b", str(0.1 + 0.2)], ['"', ""]]


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("numbers", "written"),
    [
        ((0.19342, 0.15104, 0.26888), "0.19, 0.15 to 0.27"),
        ((37.5123, 35.91, 39.1149), "37.5, 35.9 to 39.1"),
        ((30, 30, 30), "30, 30 to 30"),
        ((43.0, 41.0, 48.0), "43, 41 to 48"),
        ((37_250.0, 36_000.0, 39_000.0), "37,250, 36,000 to 39,000"),
        ((0.5, 0.5, 0.5), "0.5, 0.5 to 0.5"),
        ((0, 0, 0), "0, 0 to 0"),
        ((-0.0001, -0.02, 0.01), "0.000, -0.020 to 0.010"),
        ((99.96, 99.9, 100.05), "99.96, 99.90 to 100.05"),
        ((187_512_345.6, 179_000_000.1, 195_000_000.2), "188,000,000, 179,000,000 to 195,000,000"),
        ((1.9342e-10, 9.04e-11, 2.7e-10), "1.9e-10, 9e-11 to 2.7e-10"),
        ((1.2e-10, 0.0, 2.7e-10), "1.2e-10, 0 to 2.7e-10"),
        ((1e308, -1e308, 1e308), "1e+308, -1e+308 to 1e+308"),
        ((NAN, 1.234, 5.678), "nan, 1.2 to 5.7"),
        ((NAN, NAN, NAN), "nan, nan to nan"),
        ((0.19, -INF, INF), "0.19, -inf to inf"),
        ((0.193, 0.151, INF), "0.193, 0.151 to inf"),
        ((0.21, 22.31, 1.12), "0.2, 22.3 to 1.1"),  # an arc past the last value
    ],
)
def test_numbers_have_the_digits_that_their_interval_allows(numbers, written):
    value, low, high = in_digits(*numbers)
    assert f"{value}, {low} to {high}" == written


def test_an_answer_and_its_interval_are_written_alike():
    est = bp.estimate(bp.GRR(bp.Integers(0, 9), 2), [3, 4, 5] * 400)
    answer = est.ask("mean")
    value, low, high = in_digits(answer.value, *answer.ci())
    assert str(answer) == f"{value}, {low} to {high} (95 %)" and f"mean    {answer}" in str(est)
    assert str(answer.ci(0.9)).endswith("(90 %)") and repr(answer) == f"<Answer: {answer}>"
    assert str(est) == est.summary() and "\n" not in repr(est)
