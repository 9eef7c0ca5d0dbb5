"""One report a person, question and period; debited once; refused when spent."""

import pickle
import re
import threading
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bipartite as bp
from bipartite.errors import BudgetSpentError, InputError, NullError, OutsideDomainError
from bipartite.ledger import statements
from bipartite.ledger.offer import Offer
from reproduction.places import PlanarLaplace
from tests.ledger.conftest import AGE, ENGINES, held_at, other_program  # noqa: F401 (ENGINES: on both)
from tests.mechanisms.test_catalogue import Liar

AGE_2 = bp.BRR(bp.Integers(18, 90), epsilon=2)
CITIES = bp.Points([[52.5, 13.4], [48.9, 2.35], [51.5, -0.13], [40.4, -3.7], [41.9, 12.5]], metric="haversine")
RATING = bp.GRR(bp.Integers(1, 5), epsilon="0.3")


class Unreadable:
    """A value that fails the test when anything looks at it."""

    def __getattribute__(self, name):
        pytest.fail(f"the ledger looked at a value: {name}")


def test_within_a_period_a_question_has_one_report_whatever_the_value_becomes(make, clock):
    ledger = make(budget=4, period="month")
    # With ε = 1 on 73 values two fresh reports agree with probability below 0.03: 40 of them by accident, 1e-60.
    first = ledger.report("ada", "age", AGE, 37)
    for value in range(18, 58):
        clock.go_on(minutes=1)
        assert ledger.report("ada", "age", AGE, value) == first
    assert ledger.spent("ada") == 1 and ledger.remaining("ada") == 3


def test_a_stored_report_is_returned_without_looking_at_the_value(make):
    ledger = make(budget=1)
    first = ledger.report("ada", "age", AGE, 37, request="a")
    assert ledger.report("ada", "age", AGE, Unreadable()) == first
    assert ledger.report("ada", "age", AGE, Unreadable(), request="a") == first
    # Nor does an error tell that the value left the domain meanwhile.
    assert ledger.report("ada", "age", AGE, 1_000_000) == first


def test_the_next_period_has_its_own_report_and_budget_and_the_sum_is_kept(make, clock):
    ledger = make(budget=1, period="month")
    for _ in range(5):
        ledger.report("ada", "age", AGE, 37)
        with pytest.raises(BudgetSpentError):
            ledger.report("ada", "rating", RATING, 3)
        clock.go_on(days=31)
    assert ledger.spent("ada") == 0 and ledger.spent_ever("ada") == 5
    assert ledger.spent("ada", now=datetime(2026, 11, 30, tzinfo=UTC)) == 1
    assert len({debit.period for debit in ledger.export()}) == 5


def test_fresh_draws_and_debits_at_every_request_and_follows_the_law_of_the_mechanism(make):
    mech = bp.GRR(bp.Integers(1, 2), epsilon=1)
    ledger = make(budget=2000)
    reports = [ledger.report("ada", "coin", mech, 1, on_change="fresh", rng=SEED) for _ in range(500)]
    assert ledger.spent("ada") == 500
    # Binomial(500, 0.731): a count outside mean ± 5.3 standard deviations (9.9) has probability below 1e-6.
    truth = Counter(reports)[1]
    assert abs(truth - 500 * mech.matrix()[0, 0]) < 53
    assert abs(truth - 500 * 0.5) > 53  # the power: a fair coin would be noticed


SEED = bp.insecure_seed(7)


def test_a_retry_with_the_same_request_key_is_the_same_report_and_not_debited(make, clock):
    ledger = make(budget=3, period="day")
    first = ledger.report("ada", "age", AGE, 37, request="r1", on_change="fresh")
    again = [ledger.report("ada", "age", AGE, 60, request="r1", on_change="fresh") for _ in range(20)]
    assert set(again) == {first} and ledger.spent("ada") == 1
    clock.go_on(days=40)
    assert ledger.report("ada", "age", AGE, 60, request="r1", on_change="fresh") == first
    assert ledger.spent("ada") == 0  # the retry came in another day, and cost nothing there
    assert ledger.report("bob", "age", AGE, 60, request="r1", on_change="fresh") is not None
    assert ledger.spent("bob") == 1  # keys belong to a person
    with pytest.raises(InputError, match="this one was used for the question 'age'; use one key per request"):
        ledger.report("ada", "rating", RATING, 3, request="r1")


def test_a_certificate_claims_nothing_about_reports_that_a_retry_repeats_from_an_earlier_period(make, clock):
    ledger = make(budget=3, period="day")
    known = ledger.report("ada", "age", AGE, 37, request="r1", rng=SEED)
    clock.go_on(days=1)
    # The second day publishes two reports: this one, which is not even private, and one of its own.
    assert ledger.report("ada", "age", AGE, 37, request="r1") == known
    ledger.report("ada", "age", AGE, 37)
    guarantee = ledger.certificate("age").guarantee
    assert "ε = 1 for all reports drawn in the period: one per person" in guarantee
    assert "retrying a request of an earlier period repeats that period's report: see its certificate" in guarantee


def test_every_key_under_which_a_repeated_report_was_asked_for_is_remembered(make, clock):
    ledger = make(budget=3, period="day")
    first = ledger.report("ada", "age", AGE, 37)
    assert ledger.report("ada", "age", AGE, 37, request="later") == first
    clock.go_on(days=1)
    assert ledger.report("ada", "age", AGE, 80, request="later") == first
    assert ledger.spent("ada") == 0


def test_a_spent_budget_is_refused_with_all_three_amounts_and_nothing_is_drawn(make):
    ledger = make(budget="2.3")
    ledger.report("ada", "age", AGE_2, 37)
    ledger.report("ada", "rating", RATING, 3)
    with pytest.raises(BudgetSpentError) as caught:
        ledger.report("ada", "more", AGE, Unreadable())
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.budget, error.spent, error.asked) == (Decimal("2.3"), Decimal("2.3"), 1)
    assert "budget 2.3, spent 2.3, asked 1. Nothing was drawn or debited; the budget is for all time" in str(error)
    assert not ledger.check() and len(list(ledger.export())) == 2


def test_tenths_add_up_exactly(make):
    ledger = make(budget=1)
    tenth = bp.GRR(bp.Integers(1, 5), epsilon=0.1)
    for i in range(10):
        ledger.report("ada", f"q{i}", tenth, 3)
    assert ledger.spent("ada") == 1 and ledger.remaining("ada") == 0  # as floats, ten tenths are 0.9999999999999999
    with pytest.raises(BudgetSpentError):
        ledger.report("ada", "q10", tenth, 3)


def test_when_changed_draws_where_the_caller_says_so_and_its_certificate_names_what_is_published(make):
    ledger = make(budget=3)
    ask = {"person": "ada", "question": "age", "mech": AGE, "on_change": "when-changed"}
    first = ledger.report(**ask, value=37)
    with pytest.raises(InputError, match="Expected changed=True or False .* the ledger keeps no value"):
        ledger.report(**ask, value=37)
    assert ledger.report(**ask, value=Unreadable(), changed=False) == first
    ledger.report(**ask, value=38, changed=True)
    assert ledger.spent("ada") == 2
    certificate = ledger.certificate("age")
    assert not certificate.ldp_for_sequences and certificate.epsilon_period == Decimal("Infinity")
    assert "this is not LDP for sequences of values" in str(certificate) and "time of each change" in str(certificate)
    assert [debit.number for debit in ledger.export()] == [1, 2]


def test_certificates_say_what_all_reports_of_a_period_promise(make, clock):
    ledger = make(budget=4, period="30 days")
    ledger.report("ada", "age", AGE, 37)
    ledger.report("ada", "rating", RATING, 3, on_change="fresh")
    once, often = ledger.certificate("age"), ledger.certificate("rating")
    assert (once.epsilon_report, once.epsilon_period, once.ldp_for_sequences) == (1, 1, True)
    assert once.spec_sha256 == bp.verify(AGE).spec_sha256
    assert "repeated even if the value changes" in once.guarantee
    # 13 reports of 0.3 fit into a budget of 4.
    assert often.epsilon_period == Decimal("3.9") and "at most ε = 3.9" in often.guarantee
    assert ledger.questions() == [once, often]
    clock.go_on(days=30)
    with pytest.raises(InputError, match="Expected a question that was asked in the period 20.*got 'age'"):
        ledger.certificate("age")


def test_a_question_keeps_its_mechanism_and_its_rule_within_a_period(make, clock):
    ledger = make(budget=4, period="day")
    ledger.report("ada", "age", AGE, 37)
    with pytest.raises(InputError, match="Expected the mechanism that 'age' has in the period 2026-11-15"):
        ledger.report("bob", "age", AGE_2, 37)
    with pytest.raises(InputError, match="Expected on_change='repeat', as 'age' has it in the period"):
        ledger.report("bob", "age", AGE, 37, on_change="fresh")
    assert ledger.spent("bob") == 0
    clock.go_on(days=1)
    ledger.report("bob", "age", AGE_2, 37, on_change="fresh")
    assert ledger.spent("bob") == 2


@pytest.mark.parametrize(
    ("mech", "why"),
    [
        (PlanarLaplace(bp.Points([[0, 0], [0, 1], [1, 0], [1, 1], [2, 2]]), 1), "got PlanarLaplace; pass bp.BRR"),
        (Liar(bp.Integers(0, 9), 1), "spends more than the ε it states"),
        (bp.Record({"age": AGE}), "got Record; make each attribute a separate question"),
        ("brr", "got str; pass bp.BRR"),
    ],
)
def test_mechanisms_that_no_epsilon_covers_are_refused_before_anything_is_drawn(make, mech, why):
    ledger = make(budget=100)
    with pytest.raises(InputError, match=why):
        ledger.report("ada", "where", mech, Unreadable())
    assert ledger.questions() == []


@pytest.mark.parametrize("epsilon", ["0.0001", "0.3", "1.2345678901234567891", 2, "0.123456789012345"])
def test_what_is_debited_is_never_less_than_what_the_tickets_realise(epsilon):
    mech = bp.BRR(bp.Integers(18, 90), epsilon)
    debited = Fraction(Offer.of(mech).units, 10**12)
    assert Fraction(bp.verify(mech).epsilon_upper) <= debited + Fraction(1, 10**28)
    assert 0 <= debited - Fraction(mech.epsilon_decimal) < Fraction(1, 10**12)


def test_a_value_that_cannot_be_reported_is_not_debited(make):
    ledger = make(budget=1)
    for value, error in ((91, OutsideDomainError), (None, NullError)):
        with pytest.raises(error):
            ledger.report("ada", "age", AGE, value)
    assert ledger.spent("ada") == 0 and not ledger.questions()
    assert 18 <= ledger.report("ada", "age", AGE, 91, outside="clip") <= 90


CATEGORIES = bp.Items(["red", "green", "blue"], loss=1 - np.eye(3))
KINDS = {
    "integers": (AGE, 37, int),
    "integers as floats": (AGE, 37.0, int),
    "numpy": (AGE, np.int16(37), int),
    "padded": (bp.BRR(bp.Integers(18, 90), 1, edges="padded"), 37, int),
    "interval": (bp.BRR(bp.Interval(0, 1, points=11), 1), 0.3, float),
    "interval as whole": (bp.BRR(bp.Interval(0, 1, points=11), 1), 1, float),
    "duchi": (bp.Duchi(bp.Interval(-1, 1, points=11), 1), 0.2, float),
    "labels": (bp.GRR(CATEGORIES, 1), "red", str),
    "anchored": (bp.Anchored(bp.Integers(18, 90), 1), 37, int),
    "constant": (bp.Constant(bp.Integers(18, 90)), 37, int),
    "oue": (bp.OUE(CATEGORIES, 1), "red", np.ndarray),
    "olh": (bp.OLH(CATEGORIES, 1), "red", np.ndarray),
    "hadamard": (bp.HadamardResponse(CATEGORIES, 1), "red", np.uint32),
    "subset": (bp.SubsetSelection(CATEGORIES, 1), "red", np.ndarray),
    "rappor": (bp.RAPPOR(CATEGORIES, epsilon_permanent=2), "red", np.ndarray),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_mechanism_gets_its_report_back_in_the_same_type(make, kind):
    mech, value, expected = KINDS[kind]
    ledger = make(budget=3)
    first = ledger.report("ada", "q", mech, value)
    again = make().report("ada", "q", mech, value)
    many = ledger.report_many(["ada", "bob"], "q", mech, [value, value])
    assert type(first) is type(again) is type(many[0]) is type(many[1]) is expected
    assert np.array_equal(first, again) and np.array_equal(first, many[0])
    if expected is np.ndarray:
        assert first.dtype == again.dtype == many[1].dtype and first.shape == many[1].shape
    bp.Counts(mech).add(np.stack(many) if mech.flat else many)


def test_many_people_are_one_transaction(make):
    ledger = make(budget=1)
    people = [f"p{i}" for i in range(500)]
    values = np.arange(500) % 73 + 18
    before = ledger.report("p7", "age", AGE, 25)
    reports = ledger.report_many(people, "age", AGE, values, requests=[f"r{i}" for i in range(500)])
    assert reports[7] == before and len(reports) == 500
    assert ledger.report_many(people[::-1], "age", AGE, [Unreadable()] * 500) == reports[::-1]
    assert ledger.report("p3", "age", AGE, 0, request="r3") == reports[3]
    assert ledger.summary()["reports"] == 500 and not ledger.check()
    # One who cannot pay: all are refused, or that one is left out.
    more = [*people[:3], "new", "new"]
    with pytest.raises(BudgetSpentError, match=r"persons\[0\]: .* pass when_spent='skip'"):
        ledger.report_many(more, "rating", RATING, [3] * 5)
    assert ledger.summary()["reports"] == 500
    found = ledger.report_many(more, "rating", RATING, [3] * 5, when_spent="skip")
    assert found[:3] == [None] * 3 and found[3] == found[4] is not None


def test_a_bad_value_among_many_is_named_by_its_place_and_nobody_is_debited(make):
    ledger = make(budget=5)
    ledger.report_many(["a", "c"], "age", AGE, [37, 38])
    with pytest.raises(OutsideDomainError, match=r"values\[3\]") as caught:
        ledger.report_many(["a", "b", "c", "d"], "age", AGE, [Unreadable(), 30, Unreadable(), 918_273])
    assert "918" not in str(caught.value) and ledger.summary()["reports"] == 2


def test_one_person_several_times_in_one_call(make):
    ledger = make(budget=3)
    same = ledger.report_many(["a", "a", "a"], "age", AGE, [20, 50, 80])
    assert len(set(same)) == 1 and ledger.spent("a") == 1
    ledger.report_many(["b", "b", "b"], "often", AGE, [20, 50, 80], requests=["x", "y", "x"], on_change="fresh")
    assert ledger.spent("b") == 2
    changing = {"question": "when", "mech": AGE, "on_change": "when-changed"}
    found = ledger.report_many(["c"] * 4, values=[20, 20, 80, 80], changed=[None, False, True, False], **changing)
    assert found[0] == found[1] and found[2] == found[3] and ledger.spent("c") == 2
    # The first answer under a key is the answer, even where the same call asks again and says that the value changed.
    found = ledger.report_many(["c", "c"], values=[80, 20], changed=[False, True], requests=["k", "k"], **changing)
    assert found[0] == found[1] and ledger.spent("c") == 2


def test_people_can_be_stored_under_keyed_hashes_of_their_names(make, path):
    key = bytes(range(32))
    ledger = make(budget=2, person_key=key)
    report = ledger.report("ada lovelace", "age", AGE, 37)
    assert ledger.names_are_keyed and ledger.spent("ada lovelace") == 1
    stored = held_at(path)
    assert b"lovelace" not in stored and key not in stored and key.hex().encode() not in stored
    assert next(ledger.export()).person != "ada lovelace"
    assert make(person_key=key).report("ada lovelace", "age", AGE, 50) == report
    with pytest.raises(InputError, match="Expected the person_key that this ledger was created with, got another"):
        make(person_key=bytes(32))
    reader = make()  # an auditor needs no key to read what is stored
    assert len(list(reader.export())) == 1
    with pytest.raises(InputError, match="Expected person_key=, the secret under which this ledger stores people"):
        reader.spent("ada lovelace")


def test_no_value_is_stored(make, path):
    # Reports of a huge domain with a window of 5 are almost never the value: Pr ≈ 1e-8 here.
    wide = bp.BRR(bp.Integers(0, 2**30 - 1), epsilon=1, m=5)
    ledger = make(budget=50)
    ledger.report("ada", "wide", wide, 918_273_645, request="r")
    ledger.report_many(["bob", "eve"], "wide", wide, [918_273_645] * 2)
    ledger.report("ada", "when", wide, 918_273_645, on_change="when-changed")
    ledger.report("ada", "when", wide, 918_273_645, on_change="when-changed", changed=True)
    ledger.close()
    held = held_at(path)
    for needle in (b"918273645", (918_273_645).to_bytes(4, "big"), (918_273_645).to_bytes(4, "little")):
        assert needle not in held


def test_no_table_has_a_column_for_values(make, path):
    make(budget=1).close()
    with other_program(path) as database:
        columns = [
            column[0]
            for table in statements.TABLES
            for column in database.execute(f"SELECT * FROM {table}").description  # noqa: S608
        ]
    assert len(columns) > 20 and not [each for each in columns if "hash" in each]
    assert [name for name in columns if "value" in name] == ["value"]  # of constants, in which no person is


def test_threads_and_several_openings_share_one_budget(make):
    ledgers = [make(budget=20), make(budget=20)]
    refused = []

    def spend(which):
        for i in range(15):
            try:
                ledgers[which % 2].report("ada", f"q{which}-{i}", AGE, 37)
            except BudgetSpentError as error:
                refused.append(error)

    threads = [threading.Thread(target=spend, args=(which,)) for which in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert ledgers[0].spent("ada") == 20 and len(refused) == 40 and not ledgers[0].check()


WRONG = [
    ({"person": 7}, "Expected person as text of 1 to 1000 characters, got int"),
    ({"person": ""}, "Expected person as text"),
    ({"person": "\ud800"}, "Expected person as text"),
    ({"question": "a\0b"}, "Expected question as text"),
    ({"question": "q" * 1001}, "Expected question as text"),
    ({"request": 3}, "Expected request as text of 1 to 1000 characters, got int"),
    ({"on_change": "sometimes"}, "Expected on_change='repeat', 'fresh' or 'when-changed', got 'sometimes'"),
    ({"changed": True}, "Expected changed=True or False, and only with on_change='when-changed', got True"),
    ({"changed": 1, "on_change": "when-changed"}, "Expected changed=True or False"),
    ({"now": datetime(2026, 1, 1)}, "Expected now as a datetime with a time zone"),  # noqa: DTZ001
    ({"now": "today"}, "Expected now as a datetime with a time zone, got 'today'"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_wrong_arguments_are_named_and_nothing_is_debited(make, change, message):
    ledger = make(budget=2)
    with pytest.raises(InputError, match=message):
        ledger.report(**({"person": "ada", "question": "age", "mech": AGE, "value": 37} | change))
    assert ledger.summary()["reports"] == 0


def test_wrong_lengths_are_all_named(make):
    ledger = make(budget=2)
    with pytest.raises(InputError, match=r"4 problems:(.|\n)*values for 2 persons, got 1(.|\n)*requests(.|\n)*changed"):
        ledger.report_many(["a", "b"], "age", AGE, [1], requests=[], changed=[True], when_spent="pay")
    with pytest.raises(InputError, match="Expected persons and values as lists, arrays or columns, got dict"):
        ledger.report_many(["a"], "age", AGE, {"a": 1})


def test_columns_of_any_library_will_do(make):
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    ledger = make(budget=1)
    people = ["a", "b", "c"]
    first = ledger.report_many(people, "age", AGE, [20, 30, 40])
    for column in (pd.Series, pl.Series, pa.array, np.array):
        assert ledger.report_many(column(people), "age", AGE, column([20, 30, 40])) == first


def test_the_export_is_of_one_moment_and_can_be_read_while_others_are_debited(make, called):
    ledger = make(budget=5)
    ledger.report_many(["a", "b", "c"], "age", AGE, [20, 30, 40])
    seen = []
    for debit in ledger.export():
        seen.append(debit)
        ledger.report(f"new {debit.person}", "age", AGE, 20)
    assert [debit.person for debit in seen] == ["a", "b", "c"]
    assert seen[0].epsilon == 1 and seen[0].time == "2026-11-15T12:00:00.000000Z" and seen[0].on_change == "repeat"
    assert ledger.summary() == {
        "people": 6,
        "periods": 1,
        "questions": 1,
        "reports": 6,
        "insecure_reports": 0,
        "most_spent_in_a_period": 1,
        "most_spent_ever": 1,
    }
    assert re.fullmatch(f"<Ledger {called}: ε = 5 per person, period forever>", repr(ledger))
    assert set(ledger.specs()) == {bp.verify(AGE).spec_sha256}


class Model:
    """What a ledger must do, as plain dictionaries: the oracle."""

    def __init__(self, budget):
        self.budget, self.spent, self.last, self.keys = budget, Counter(), {}, {}

    def expects(self, person, question, epsilon, request, day, on_change, changed):
        """("same", report), ("new", None) or ("refused", None)."""
        if (person, request) in self.keys:
            return "same", self.keys[person, request]
        last = self.last.get((person, question, day))
        if last is not None and (on_change == "repeat" or (on_change == "when-changed" and not changed)):
            self.keys[person, request] = last
            return "same", last
        if self.spent[person, day] + epsilon > self.budget:
            return "refused", None
        return "new", None

    def note(self, person, question, epsilon, request, day, report):
        self.spent[person, day] += epsilon
        self.last[person, question, day] = report
        self.keys[person, request] = report


asking = st.tuples(
    st.sampled_from("ab"), st.sampled_from("qrs"), st.integers(1, 8), st.integers(0, 1), st.booleans(), st.booleans()
)
RULES = {"q": (AGE, 1, "repeat"), "r": (RATING, Decimal("0.3"), "fresh"), "s": (AGE_2, 2, "when-changed")}
VALUES = {"q": 40, "r": 3, "s": 60}


@given(st.lists(asking, max_size=30))
def test_any_sequence_of_requests_does_what_plain_dictionaries_do(tmp_path_factory, steps):
    start = datetime(2026, 1, 1, tzinfo=UTC)
    model = Model(Decimal("3.3"))
    with bp.Ledger(tmp_path_factory.mktemp("model") / "l.db", budget="3.3", period="day") as ledger:
        for person, question, key, day, changed, many in steps:
            mech, epsilon, rule = RULES[question]
            # A key belongs to a question here; another test asks what happens when it does not.
            request = f"{question}{key}"
            kind, expected = model.expects(person, question, epsilon, request, day, rule, changed)
            flag = changed if rule == "when-changed" else None
            now = start + timedelta(days=day)
            options = {"question": question, "mech": mech, "on_change": rule, "now": now, "changed": flag}
            try:
                if many:
                    [report] = ledger.report_many([person], values=[VALUES[question]], requests=[request], **options)
                else:
                    report = ledger.report(person, value=VALUES[question], request=request, **options)
            except BudgetSpentError:
                assert kind == "refused"
                continue
            assert kind != "refused"
            if kind == "same":
                assert report == expected
            else:
                model.note(person, question, epsilon, request, day, report)
            for (who, which), spent in model.spent.items():
                assert ledger.spent(who, now=start + timedelta(days=which)) == spent <= ledger.budget
        assert ledger.check() == []


def test_odd_names_and_instants_are_refused_in_words(make):
    ledger = make(budget=1)
    with pytest.raises(InputError, match="Expected question as text of 1 to 1000 characters"):
        ledger.certificate("half a pair \ud800")
    east = timezone(timedelta(hours=5))
    with pytest.raises(InputError, match="Expected now within the years 1 to 9999 of UTC"):
        ledger.spent("ada", now=datetime(1, 1, 1, tzinfo=east))


def test_a_tuple_is_kept_and_repeated(make):
    people = bp.Product(bp.Interval(0, 1, points=11), bp.Items(["jazz", 'métal; "x"'], loss=1 - np.eye(2)))
    ledger = make(budget=4)
    mechanism = bp.BRR(people, epsilon=1)
    first = ledger.report("ada", "who", mechanism, (0.3, "jazz"))
    assert first in people
    assert all(ledger.report("ada", "who", mechanism, (0.9, "jazz")) == first for _ in range(20))
    persons, values = [str(at) for at in range(50)], [(0.1, "jazz"), (0.7, 'métal; "x"')] * 25
    many = ledger.report_many(persons, "who", mechanism, values)
    assert set(many) <= set(people)
    assert ledger.report_many(persons, "who", mechanism, values[::-1]) == many
    with pytest.raises(OutsideDomainError, match=r"part 0 of values\[1\] is outside"):
        ledger.report_many(["x", "y"], "who", mechanism, [(0.1, "jazz"), (5.0, "jazz")])
