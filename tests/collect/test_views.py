"""What is shown of a bag: the estimate's own numbers, in ranges that no answer chose, or a clear "not yet"."""

from itertools import combinations

import numpy as np
import pytest

import bipartite as bp
from bipartite.answers.estimation.carried import carried_edges
from bipartite.answers.estimation.question import Question
from bipartite.answers.estimation.rows import insides
from bipartite.answers.estimation.sample import Averages
from bipartite.collect import views
from bipartite.collect.answers import Bag
from bipartite.collect.views import View, from_json, joint_view, smallest_forging, to_json, view_of
from bipartite.errors import DataFileError
from tests.catalogue import NAMES, cases, made
from tests.collect.bags import bag, bag_of, drawn, one, record, text, values

AGES = bp.Integers(18, 90)
PADDED = bp.BRR(AGES, 1, edges="padded", m="cdf")
SECTIONS = bp.GRR(bp.Items(["news", "sport", "science"]), 1)
HOURS = bp.BRR(bp.Cyclic(24), 1, m=5)
YOUNG = np.linspace(2, 0, 73) / 73
SURE = "(95\N{NO-BREAK SPACE}%)"
MECHANISMS = {
    "ages": PADDED,
    "sections": SECTIONS,
    "stars": bp.GRR(bp.Integers(1, 5), 1),
    "income": bp.BRR(bp.Interval(0, 200_000, points=401), 2, edges="padded"),
    "hours": HOURS,
    "weekdays": bp.GRR(bp.Cyclic(7, labels=["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]), 1),
    "40 towns": bp.SubsetSelection(bp.Items([f"town {at}" for at in range(40)]), 1),
    "200 towns": bp.OLH(bp.Items([f"town {at}" for at in range(200)]), 1),
    "20 bits": bp.OUE(bp.Items(range(20)), 1),
    "pairs": bp.GRR(bp.Product(bp.Integers(0, 1), bp.Integers(0, 2)), 1),
    "points": bp.GRR(bp.Points([[0, 0], [1, 1], [2, 0]]), 1),
    "duchi": bp.Duchi(bp.Interval(0, 1, points=5), 1),
    "anchored": bp.Anchored(AGES, 3),
    "clamped": bp.BRR(AGES, 1),
}


def view(mechanism, count=2_000, seed=1, shares=None):
    question = one(mechanism)
    return view_of(Bag.read(question, bag_of(mechanism, count, seed, shares)), question.parts[0])


def peaked(size):
    """Shares that fall from the first value on."""
    shares = 0.6 ** np.arange(size)
    return shares / shares.sum()


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("count", [30, 60, 2_000])
def test_a_view_survives_json(name, count):
    found = view(MECHANISMS[name], count)
    assert from_json(to_json([found, found])) == (found, found)
    assert from_json(to_json([found]).decode()) == (found,)
    assert bool(found.not_yet) != bool(found.headline)
    assert not (found.not_yet and (found.rows or found.numbers or found.forged or found.more))


@cases(NAMES)
def test_every_mechanism_has_a_view(name):
    for count in (60, 500):
        found = view(made(name), count)
        assert bool(found.not_yet) != bool(found.headline)
        assert from_json(to_json([found])) == (found,)


@pytest.mark.parametrize("text_held", ["", "[{}]", "{}", '[{"question":1}]', b"\xff"])
def test_another_snapshot_is_refused(text_held):
    with pytest.raises(DataFileError, match="cannot read, or something else has written to it; run bipartite collect"):
        from_json(text_held)


def test_of_numbers_the_first_line_is_the_mean():
    found = view(PADDED, shares=YOUNG)
    estimate = bp.estimate(PADDED, drawn(PADDED, 2_000, 1, YOUNG))
    mean, median = (estimate.ask(of) for of in ("mean", "median"))
    assert found.headline == f"Mean {mean}".replace("(95 %)", SURE)
    assert [(each.name, each.value, each.low, each.high) for each in found.numbers] == [
        ("Mean", mean.value, *mean.ci()),
        ("Median", median.value, *median.ci()),
    ]
    assert found.more == "About 6,000 more people, 4 times as many in all, would halve the error."
    frame = estimate.to_frame(bins=carried_edges(PADDED, 2_000))
    assert [(each.share, each.low, each.high) for each in found.rows] == list(
        zip(frame["share"], frame["low"], frame["high"], strict=True)
    )
    assert found.what == ("range",)


def test_of_labels_it_is_the_largest_shares():
    found = view(SECTIONS, shares=[0.6, 0.3, 0.1])
    assert found.headline == f"news: 60%, 54% to 66%; sport: 29%, 23% to 35%; science: 11%, 5% to 16% {SURE}"
    assert [row.names for row in found.rows] == [("news",), ("sport",), ("science",)]
    assert [row.words for row in found.rows] == [("60%", "54% to 66%"), ("29%", "23% to 35%"), ("11%", "5% to 16%")]
    assert (found.what, found.numbers, found.heading) == (("value",), (), "")
    shares = bp.estimate(SECTIONS, drawn(SECTIONS, 2_000, 1, [0.6, 0.3, 0.1])).shares
    assert [row.share for row in found.rows] == shares.tolist()


def test_of_a_circle_it_is_the_direction():
    found = view(HOURS, 20_000, shares=peaked(24))
    assert found.headline.startswith("Mean around the circle ")
    assert len(found.rows) > 2


def test_that_no_direction_is_preferred_is_an_answer():
    found = view(HOURS, 20_000)
    assert found.headline == "No value around the circle is clearly preferred"
    assert found.numbers == ()
    assert len(found.rows) > 2


def test_weekdays_are_labels():
    found = view(MECHANISMS["weekdays"], 20_000, shares=peaked(7))
    assert found.headline.startswith("Mon: ")
    assert [row.names[0] for row in found.rows] == ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


def test_of_many_labels_the_largest_shares_stand_first():
    found = view(MECHANISMS["200 towns"], 20_000, shares=peaked(200))
    shares = [row.share for row in found.rows]
    assert (len(shares), found.heading) == (40, "the 40 largest of 200 shares")
    assert shares == sorted(shares, reverse=True)
    assert found.rows[0].names == ("town 0",)
    assert view(MECHANISMS["40 towns"], 5_000).heading == ""


def test_ranges_follow_from_the_number_of_reports_and_from_no_answer():
    old = [view(PADDED, seed=2, shares=shares) for shares in (None, YOUNG, YOUNG[::-1])]
    assert len({tuple(row.names for row in each.rows) for each in old}) == 1
    assert len(view(PADDED, 100_000).rows) > len(old[0].rows)


def test_few_reports_have_no_answer():
    assert view(PADDED, 49) == View(
        "age", ("age",), ("How old are you?",), 49, "Not yet: 49 of the 50 reports that a first answer needs have come."
    )


def test_a_wide_interval_is_no_answer():
    few = view(SECTIONS, 50)
    assert few.not_yet == (
        "Not yet: 50 reports leave open more than half of all that the answer could be. With about 120 there will be "
        "a first answer."
    )
    assert not view(SECTIONS, 125).not_yet


def test_shares_below_zero_are_explained_of_one_part_and_of_two():
    mechanisms = {"first": bp.GRR(bp.Items(["a", "b", "c"]), 1), "second": bp.GRR(bp.Items(["x", "y", "z"]), 1)}
    question = record(mechanisms)
    columns = [values(each, drawn(each, 2_000, 4, [1, 0, 0])) for each in mechanisms.values()]
    bag_held = bag(text(dict(zip(mechanisms, each, strict=True))) for each in zip(*columns, strict=True))
    read = Bag.read(question, bag_held)
    for found in (view_of(read, question.parts[0]), joint_view(read, *question.parts)):
        assert min(row.share for row in found.rows) < 0
        assert "unbiased shares may lie below 0 % or above 100 % by chance" in found.notes


def test_what_reports_cannot_tell_is_said():
    clamped = view(MECHANISMS["clamped"], 5_000)
    assert clamped.more == ""
    assert clamped.notes == ("the reports cannot tell all values apart, so no number of them would narrow this",)
    assert clamped.forged == "How far forged reports could move the mean is not known."


def test_one_range_of_everybody_is_not_shown():
    assert view(MECHANISMS["anchored"], 20_000).rows == ()


def test_doubt_is_said_and_hides_nothing():
    question = one(PADDED)
    found = view_of(Bag.read(question, [("20", 1_000)]), question.parts[0])
    assert found.doubt.startswith("these reports cannot have come from this mechanism")
    assert found.headline
    assert view(PADDED).doubt == ""


def _moved(estimate, k):
    """How far k forged reports move the first line at most."""
    domain = estimate.domain
    asked = Question.read("mean" if domain.has_ends else ("bin", domain.decode(0)), domain)
    down, up, _ = insides(estimate)[0].sample(asked.weights[None]).forged(0, k)
    return abs(asked.scale) * max(down, up)


@pytest.mark.parametrize("name", ["ages", "sections", "20 bits", "40 towns", "duchi", "stars", "pairs"])
def test_the_smallest_number_of_forged_reports_is_told(name):
    """One report fewer is not enough; what is moved is the unbiased average."""
    mechanism = MECHANISMS[name]
    reports = drawn(mechanism, 2_000, 3, peaked(len(mechanism.domain)))
    estimate = bp.estimate(mechanism, reports)
    line = mechanism.domain.has_ends
    low, high = estimate.ask("mean" if line else ("bin", mechanism.domain.decode(0))).ci()
    found = view(mechanism, 2_000, 3, peaked(len(mechanism.domain))).forged
    told = int(found.split()[0])
    assert found.split(" ", 1)[1].startswith("forged reports among these would move the ")
    assert _moved(estimate, told) > (high - low) / 2 >= _moved(estimate, told - 1)


def test_of_many_flat_reports_there_is_a_bound(monkeypatch):
    mechanism = MECHANISMS["20 bits"]
    exact = int(view(mechanism).forged.split()[0])
    monkeypatch.setattr(views, "_MOST_SEEN", 0)
    bound = view(mechanism).forged
    assert bound.startswith("At least ")
    assert int(bound.split()[2]) <= exact


class Straight(Averages):
    """k forged reports move it by k, at most by ten."""

    def __init__(self):
        """It has no reports."""

    def forged(self, at, k):
        return min(k, 10) * 0.5, float(min(k, 10)), ""


@pytest.mark.parametrize("far", [0.5, 1, 3, 9, 9.5])
def test_the_search_stops_at_the_first_number(far):
    assert smallest_forging(Straight(), far, 100) == (int(far) + 1, True)


def test_the_search_ends():
    assert smallest_forging(Straight(), 10, 100) is None
    assert smallest_forging(Straight(), 9, 5) is None


PEOPLE = {"age": bp.BRR(AGES, 2, edges="padded"), "pet": bp.GRR(bp.Items(["cat", "dog", "none"]), 2)}


def of_people(count, parts=PEOPLE, sample=None):
    """People who report so many of the parts, in turn, and the parts."""
    columns = {name: values(each, drawn(each, count, seed)) for seed, (name, each) in enumerate(parts.items())}
    people = [dict(zip(columns, each, strict=True)) for each in zip(*columns.values(), strict=True)]
    sets = list(combinations(parts, sample or len(parts)))
    rows = bag(text({name: each[name] for name in sets[at % len(sets)]}) for at, each in enumerate(people))
    question = record(parts, sample)
    return Bag.read(question, rows), question.parts


def test_of_a_record_that_samples_those_count_who_reported_the_part():
    found, (age, pet) = of_people(8_000, sample=1)
    told = view_of(found, age)
    assert (told.n, told.more.split()[1], view_of(found, pet).n) == (4_000, "12,000", 4_000)
    assert told.headline == f"Mean {found.estimate(age).ask('mean')}".replace("(95 %)", SURE)
    found, (age, pet, _) = of_people(30_000, PEOPLE | {"stars": bp.GRR(bp.Integers(1, 5), 2)}, sample=2)
    assert (view_of(found, age).n, joint_view(found, age, pet).n) == (20_000, 10_000)


def test_doubt_about_two_parts_is_said():
    question = record(PEOPLE)
    found = Bag.read(question, [('{"age":20,"pet":"cat"}', 5_000)])
    assert joint_view(found, *question.parts).doubt.startswith("these reports cannot have come from")


def test_a_joint_table_has_the_answers_of_the_joint_estimate():
    found, parts = of_people(20_000)
    told, joint = joint_view(found, *parts), found.joint(*parts)
    assert (told.parts, told.asks, told.n) == (("age", "pet"), ("Your age?", "Your pet?"), 20_000)
    assert [row.names for row in told.rows[:4]] == [
        ("18 to 35", "cat"), ("18 to 35", "dog"), ("18 to 35", "none"), ("36 to 53", "cat"),
    ]  # fmt: skip
    answer = joint.ask(("where", {"age": ("range", 36, 53), "pet": "cat"}))
    assert (told.rows[3].share, told.rows[3].low, told.rows[3].high) == (answer.value, *answer.ci())
    assert len(told.rows) == 12
    assert told.headline == ""
    assert from_json(to_json([told])) == (told,)


def test_of_many_labels_a_joint_table_has_the_commonest():
    parts = {"age": PEOPLE["age"], "town": bp.OUE(bp.Items([f"town {at}" for at in range(20)]), 2)}
    found, both = of_people(20_000, parts)
    told = joint_view(found, *both)
    assert told.heading == "the 6 commonest of 20 in town"
    assert len(told.rows) == 4 * 6
    assert joint_view(*_of_two()).heading == ""


def _of_two():
    found, parts = of_people(20_000)
    return found, *parts


UNTOLD = "No answer yet: the reports cannot tell all values apart, so no number of them would narrow this."


def test_no_number_of_reports_is_promised_where_none_is_enough():
    found, both = of_people(400, {"age": bp.BRR(AGES, "0.2"), "pet": PEOPLE["pet"]})
    assert joint_view(found, *both).not_yet == joint_view(found, *both[::-1]).not_yet == UNTOLD
    assert view(bp.BRR(AGES, "0.2"), 500).not_yet == UNTOLD
    assert view(bp.BRR(bp.Cyclic(24), 1, m=12), 500).not_yet == UNTOLD


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        (
            {"age": bp.BRR(AGES, 1), "town": bp.OUE(bp.Items(range(20)), 2)},
            "No answer: A table with flat categories needs",
        ),
        ({"age": PADDED, "sum": bp.GRR(bp.Integers(0, 40_000), 9)}, "No answer: Expected at most"),
    ],
)
def test_parts_that_say_nothing_together_are_told(parts, why):
    found, both = of_people(100, parts)
    assert joint_view(found, *both).not_yet.startswith(why)


def test_numbers_have_a_correlation():
    parts = {"age": PEOPLE["age"], "stars": bp.BRR(bp.Integers(1, 5), 2, edges="padded")}
    found, both = of_people(20_000, parts)
    told = joint_view(found, *both)
    answer = found.joint(*both).ask("correlation")
    assert told.headline == f"Correlation {answer}".replace("(95 %)", SURE)


def test_a_joint_table_of_few_is_no_answer():
    found, parts = of_people(40)
    assert joint_view(found, *parts).not_yet.startswith("Not yet: 40 of the 50 reports")
    found, parts = of_people(60)
    assert joint_view(found, *parts).not_yet.startswith("Not yet: 60 reports leave open more than half")


def test_nobody_knows_the_correlation_of_constant_answers():
    parts = {"age": PEOPLE["age"], "stars": bp.BRR(bp.Integers(1, 5), 2, edges="padded")}
    columns = {name: values(each, drawn(each, 4_000, 1, np.eye(len(each.domain))[0])) for name, each in parts.items()}
    question = record(parts)
    rows = bag(text(dict(zip(columns, each, strict=True))) for each in zip(*columns.values(), strict=True))
    told = joint_view(Bag.read(question, rows), *question.parts)
    assert told.headline == "Whether the two go together is not known yet"
