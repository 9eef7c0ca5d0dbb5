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


def test_attributes_share_no_axis_and_so_no_picture():
    record = bp.Record({"age": AGES, "job": bp.GRR(bp.Integers(1, 3), epsilon=1)})
    found = bp.estimate(record, record.privatize({"age": [20, 30] * 50, "job": [1, 2] * 50}, rng=bp.insecure_seed(2)))
    assert "<svg" not in found._repr_html_() and html.escape(found.summary()) in found._repr_html_()
