"""What a console and a notebook show of large objects: a short line, and the words and pictures that ``print`` has."""

import html

import numpy as np
import pytest

import bipartite as bp

NAMES = [f"category {at}" for at in range(200)]
MANY = bp.GRR(bp.Items(NAMES, loss=1 - np.eye(200)), epsilon=2)
AGES = bp.BRR(bp.Integers(18, 90), epsilon=1)
REPORTS = MANY.privatize(NAMES[:4] * 50, rng=bp.insecure_seed(1))
EST = bp.estimate(MANY, REPORTS)
GROUPS = bp.estimate(MANY, REPORTS, by=["<a>", "b"] * 100)
PLAN = bp.Plan({f"column {at}": AGES for at in range(50)} | {"country": "public"})

LARGE = {
    "mechanism": (MANY, None),
    "estimate": (EST, EST.summary()),
    "groups": (GROUPS, GROUPS.summary()),
    "identifiability": (bp.identifiability(AGES), str(bp.identifiability(AGES))),
    "plan": (PLAN, "\ncolumn 49: BRR(Integers(18, 90), epsilon=1, m=27)\ncountry: 'public'"),
    "picture": (EST.plot(title="Jobs & <trades>"), None),
}


@pytest.mark.parametrize("what", LARGE)
def test_a_large_object_has_a_short_line_and_a_notebook_shows_its_words(what):
    value, words = LARGE[what]
    assert len(repr(value)) < 200 and "\n" not in repr(value)
    if words is not None:
        shown = value._repr_html_()
        assert html.escape(words) in shown and "<a>" not in shown
        assert shown.count("<svg") == shown.count("</svg>") == (what in {"estimate", "groups"})


def test_a_picture_says_what_it_shows():
    assert repr(LARGE["picture"][0]).startswith("<Picture: Jobs & <trades>. Estimated shares: category ")
    assert repr(LARGE["picture"][0]).endswith("…>")


def test_advice_is_short_in_a_console_and_whole_in_a_notebook():
    found = bp.recommend(bp.Integers(1, 5), 1, "categories")
    assert repr(found) == f"<Recommendation for 'categories': {found.mechanism!r}>"
    assert html.escape(str(found)) in found._repr_html_()
    compared = bp.compare(bp.Integers(1, 5), epsilon=1)
    assert len(repr(compared)) < 100 and html.escape(str(compared)) in compared._repr_html_()


PLACES = bp.locations.places(bp.locations.cities().coordinates[:20], bp.locations.cities().names[:20])
CELLS = bp.GRR(PLACES, epsilon=3)
SEEN = CELLS.privatize(list(PLACES.labels) * 20, rng=bp.insecure_seed(1))
PAIR = bp.Record({"age": bp.GRR(bp.Integers(1, 3), 1), "job": bp.GRR(bp.Integers(1, 4), 1)})
CHOSEN = bp.locations.choose(PLACES, 1)
ROWS = bp.locations.compare(PLACES, epsilons=["1"])
TOLD = {
    "certificate": bp.verify(AGES),
    "certificate of a weaker promise": bp.verify(bp.PlanarLaplace(PLACES, "0.001")),
    "audit": bp.audit(AGES, [18, 90], trials=2000),
    "law": bp.law_test(AGES, trials=2000),
    "sample size": bp.sample_size(bp.BRR(bp.Integers(18, 90), 1, edges="padded"), mean_within=1),
    "advice": bp.recommend(bp.Integers(1, 5), 1, "categories").advice,
    "ways of reporting": bp.split_or_sample({"age": bp.Integers(1, 5), "visits": bp.Integers(1, 9)}, 1, users=1000),
    "choice of a release": CHOSEN,
    "place": bp.locations.top_places(CELLS, SEEN)[0],
    "circle": bp.locations.range_count(CELLS, SEEN, centre=(0, 0), radius_km=9_000),
    "pair": bp.estimate_joint(PAIR, PAIR.privatize({"age": [1, 2] * 50, "job": [1, 2] * 50}, rng=bp.insecure_seed(2))),
    "promise of a model": bp.learn.Guarantee("central", 1.0, 2.0, not_covered=("a long sentence. " * 9,) * 5),
}
SHORT = {
    "event of an audit": TOLD["audit"].event,
    "row of a comparison": bp.compare(bp.Integers(1, 9), 1)["GRR"],
    "row of releases": CHOSEN.table[0],
    "improvement": bp.locations.improvements(ROWS)[0],
    "cities": bp.locations.cities(),
    "shares of categories": bp.OUE(MANY.domain, 1).estimate(bp.OUE(MANY.domain, 1).privatize(NAMES)),
    "anchors": bp.design.best_anchors_on_line(500, 2.7, None, "absolute"),
    "lottery of anchors": bp.design.minimax_lottery_on_line(30, 2.7, "absolute"),
    "row of the paper": bp.design.algorithm_1(range(500), 1),
    "record": bp.Record({f"attribute {at}": MANY for at in range(30)}),
}


@pytest.mark.parametrize("what", [*TOLD, *SHORT])
def test_every_result_is_one_short_line_in_a_console_and_whole_in_a_notebook(what):
    value = (TOLD | SHORT)[what]
    assert len(repr(value)) < 200 and "\n" not in repr(value)
    if what in TOLD:
        assert html.escape(value.summary() if what == "pair" else str(value)) in value._repr_html_()
    if what == "certificate":
        assert repr(value) == "<Certificate: ε-LDP of each report with ε = 1: holds …>"


def test_attributes_share_no_axis_and_so_no_picture():
    record = bp.Record({"age": AGES, "job": bp.GRR(bp.Integers(1, 3), epsilon=1)})
    found = bp.estimate(record, record.privatize({"age": [20, 30] * 50, "job": [1, 2] * 50}, rng=bp.insecure_seed(2)))
    assert "<svg" not in found._repr_html_() and html.escape(found.summary()) in found._repr_html_()
