"""A bag gives the answers that the list of its reports gives, to the last digit, for every kind of mechanism."""

import json
import random

import numpy as np
import pytest

import bipartite as bp
from bipartite.collect import answers
from bipartite.collect.answers import Bag, across
from bipartite.collect.study import Study
from bipartite.errors import DataFileError, InputError
from bipartite.mechanisms.categories.cells import from_cells
from tests.catalogue import NAMES, cases, made
from tests.collect.bags import bag, bag_of, drawn, one, record, text, values

AGES = bp.Integers(18, 90)
MORE = {
    "brr for a histogram": lambda: bp.BRR(AGES, 1, m="histogram", edges="padded"),
    "piecewise": lambda: bp.Piecewise(bp.Interval(0, 100, points=101), 1),
    "oue of 20": lambda: bp.OUE(bp.Items(range(20)), 1),
    "subsets of 40": lambda: bp.SubsetSelection(bp.Items([f"label {at}" for at in range(40)]), 1),
    "olh of 200": lambda: bp.OLH(bp.Items(range(200)), 1),
    "hadamard of 20": lambda: bp.HadamardResponse(bp.Items(range(20)), 1),
    "many numbers": lambda: bp.GRR(bp.Integers(0, 2000), 8),
}


def expanded(mechanism, rows):
    """The list of reports of a bag, for ``bp.estimate``."""
    held = [json.loads(each) for each, n in rows for _ in range(n)]
    if mechanism.flat:
        return from_cells(mechanism, held)
    return [tuple(each) if isinstance(each, list) else each for each in held]


def same(found, oracle):
    """Whether two estimates agree to the last digit."""
    assert found.nobs == oracle.nobs
    assert found.method == oracle.method
    np.testing.assert_array_equal(found.shares, oracle.shares)
    domain = oracle.domain
    asked = [("bin", domain.decode(0))]
    asked += ["mean", "std", "median"] * domain.has_ends + ["circular_mean"] * domain.wraps
    for of in asked:
        one_answer, other = found.ask(of), oracle.ask(of)
        np.testing.assert_array_equal([one_answer.value, one_answer.se], [other.value, other.se])
        np.testing.assert_array_equal(one_answer.ci(), other.ci())
        if other.forge is not None:
            assert one_answer.forged(7) == other.forged(7)
    assert found.check.doubt == oracle.check.doubt
    assert found.check.p_value == oracle.check.p_value


def check(mechanism, count=600):
    rows, question = bag_of(mechanism, count), one(mechanism)
    found = Bag.read(question, rows)
    assert found.n == found.reported(question.parts[0]) == count
    same(found.estimate(question.parts[0]), bp.estimate(mechanism, expanded(mechanism, rows)))


@cases(NAMES)
def test_a_bag_gives_the_answers_of_its_list(name):
    check(made(name))


@pytest.mark.parametrize("name", MORE)
def test_so_do_mechanisms_of_more_values(name):
    check(MORE[name](), 2_000)


@pytest.mark.parametrize("sample", [None, 1, 2])
def test_a_record_is_estimated_part_by_part(sample, monkeypatch):
    monkeypatch.setattr(answers, "_BLOCK", 97)
    parts = {"age": bp.BRR(AGES, 1, edges="padded"), "pet": bp.GRR(bp.Items(["cat", "dog"]), 1),
             "way": made("olh on items"), "pair": made("grr on pairs")}  # fmt: skip
    question, people = record(parts, sample), bp.Record(parts, sample)
    rng = np.random.default_rng(3)
    reports = []
    for seed in range(400):
        person = {name: each.domain[int(rng.integers(len(each.domain)))] for name, each in parts.items()}
        reports.append(people.privatize(person, rng=bp.insecure_seed(seed)))
    held = [{name: values(parts[name], [each])[0] if not parts[name].flat else values(parts[name], np.array([each]))[0]
             for name, each in report.items()} for report in reports]  # fmt: skip
    rows = bag(map(text, held))
    found = Bag.read(question, rows)
    order = sorted(range(len(held)), key=lambda at: text(held[at]))
    oracle = bp.estimate(people, [reports[at] for at in order])
    assert found.n == len(reports)
    for part in question.parts:
        assert found.reported(part) == oracle[part.name].nobs
        same(found.estimate(part), oracle[part.name])
    first, second = question.parts[:2]
    if sample == 1:
        assert found.both(first, second) == 0
        return
    joint, told = found.joint(first, second), oracle.joint("age", "pet")
    assert found.both(first, second) == joint.nobs == told.nobs
    np.testing.assert_array_equal(joint.shares, told.shares)
    asked = ("where", {"age": ("range", 18, 40), "pet": "dog"})
    np.testing.assert_array_equal(joint.ask(asked).ci(), told.ask(asked).ci())


def test_the_order_and_the_splits_of_a_bag_do_not_matter():
    mechanism = bp.BRR(AGES, 1, edges="padded")
    rows, question = bag_of(mechanism), one(mechanism)
    apart = [(each, 1) for each, n in rows for _ in range(n)]
    random.Random(1).shuffle(apart)
    same(*(Bag.read(question, each).estimate(question.parts[0]) for each in (rows, apart)))


def test_a_bag_may_be_any_iterable_and_longer_than_a_block(monkeypatch):
    mechanism = bp.OUE(bp.Items(range(20)), 1)
    rows, question = bag_of(mechanism), one(mechanism)
    whole = Bag.read(question, rows)
    monkeypatch.setattr(answers, "_BLOCK", 7)
    same(Bag.read(question, iter(rows)).estimate(question.parts[0]), whole.estimate(question.parts[0]))


def test_an_empty_bag_has_no_reports():
    question = one(bp.OUE(bp.Items(range(20)), 1))
    found = Bag.read(question, [])
    assert (found.n, found.reported(question.parts[0])) == (0, 0)


@pytest.mark.parametrize(
    "row",
    [
        "1000",
        "9" * 40,
        "1.5",
        "true",
        "[[]]",
        '"old"',
        "null",
        "[20]",
        '{"age":20}',
        "20,21",
        "",
        "20]",
        "NaN",
        "1e400",
        "\udc80",
        '"x00"',
    ],
)
@pytest.mark.parametrize("mechanism", [bp.BRR(AGES, 1), bp.OUE(bp.Items(range(20)), 1)])
def test_a_report_that_cannot_be_is_damage_and_is_not_shown(row, mechanism):
    question = one(mechanism)
    good = bag_of(mechanism, 3)
    with pytest.raises(DataFileError) as refused:
        Bag.read(question, [*good, (row, 1)])
    assert str(refused.value) == (
        "The database holds reports of the question 'age' that its mechanism cannot give, so something else has "
        "written to it; run bipartite collect check, and restore a backup."
    )
    assert refused.value.__context__ is None


@pytest.mark.parametrize("row", ['{"age":20}', '{"age":20,"pet":"cat","more":1}', '{"age":20,"cat":"cat"}', "20", "{}"])
def test_a_record_has_its_parts_and_no_others(row):
    question = record({"age": bp.BRR(AGES, 1), "pet": bp.GRR(bp.Items(["cat", "dog"]), 1)})
    with pytest.raises(DataFileError, match="'person'"):
        Bag.read(question, [(row, 1)])


def study(*questions):
    return Study("readers", "Readers", "", None, None, public=True, questions=questions)


def test_answers_across_parts_of_a_record_exist():
    question = record({"age": bp.BRR(AGES, 1), "pet": bp.GRR(bp.Items(["cat", "dog"]), 1)})
    assert across(study(one(bp.BRR(AGES, 1), "other"), question), "pet", "age") == (question, *question.parts[::-1])


def test_answers_across_questions_need_a_record():
    held = study(one(bp.BRR(AGES, 1), "age"), one(bp.BRR(AGES, 1), "section"))
    with pytest.raises(InputError) as refused:
        across(held, "age", "section")
    assert str(refused.value) == (
        "'age' and 'section' are questions of their own: nobody knows which of their reports belong to one person, so "
        "there is no answer across them. Answers across questions need a Record question: ask both in a new study as "
        "[questions.NAME.record.age] and [questions.NAME.record.section]."
    )


def test_a_record_of_one_drawn_part_has_no_answers_across():
    question = record({"age": bp.BRR(AGES, 1), "pet": bp.GRR(bp.Items(["cat", "dog"]), 1)}, 1)
    with pytest.raises(InputError, match="Each person reports one part of 'person', so nobody reported both 'age' and"):
        across(study(question), "age", "pet")


@pytest.mark.parametrize(("names", "got"), [(("age", "x\n"), "no 'x\\n'"), (("age", "age"), "'age' twice")])
def test_answers_across_unknown_questions_are_refused(names, got):
    held = study(one(bp.BRR(AGES, 1), "age"), one(bp.BRR(AGES, 1), "section"))
    with pytest.raises(InputError) as refused:
        across(held, *names)
    assert str(refused.value) == f"Expected two of age, section, got {got}; name two questions."


def test_who_is_drawn_helps_nobody_to_tell_an_oracle_from_the_code():
    """The oracle can fail: with one report more, the answers differ."""
    mechanism = bp.BRR(AGES, 1, edges="padded")
    rows, question = bag_of(mechanism), one(mechanism)
    with pytest.raises(AssertionError):
        same(
            Bag.read(question, [*rows, rows[0]]).estimate(question.parts[0]),
            bp.estimate(mechanism, drawn(mechanism)),
        )
