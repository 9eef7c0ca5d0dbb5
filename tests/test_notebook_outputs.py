"""What a console and a notebook show of large objects: a short line, and the words and pictures that ``print`` has."""

import html
import re

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


def words_of(shown):
    """The words that a notebook shows, in their order."""
    without_pictures = re.sub(r"<svg.*</svg>", "", shown, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]*>", " ", without_pictures)).split()


LARGE = {
    "mechanism": (MANY, None),
    "estimate": (EST, EST.summary()),
    "groups": (GROUPS, GROUPS.summary()),
    "identifiability": (bp.identifiability(AGES), str(bp.identifiability(AGES))),
    "plan": (PLAN, None),
}


@pytest.mark.parametrize("what", LARGE)
def test_a_large_object_has_a_short_line_and_a_notebook_shows_its_words(what):
    value, words = LARGE[what]
    assert len(repr(value)) < 200 and "\n" not in repr(value)
    if words is not None:
        shown = value._repr_html_()
        assert words_of(shown) == words.split() and "<a>" not in shown
        assert shown.count("<svg") == shown.count("</svg>") == (what in {"estimate", "groups"})


def test_advice_is_short_in_a_console_and_whole_in_a_notebook():
    found = bp.recommend(bp.Integers(1, 5), 1, "categories")
    assert repr(found) == f"<Recommendation for 'categories': {found.mechanism!r}>"
    assert words_of(found._repr_html_()) == str(found).split()
    compared = bp.compare(bp.Integers(1, 5), epsilon=1)
    assert len(repr(compared)) < 100 and words_of(compared._repr_html_()) == str(compared).split()


PLACES = bp.locations.places(bp.locations.cities().coordinates[:20], bp.locations.cities().names[:20])
CELLS = bp.GRR(PLACES, epsilon=3)
SEEN = CELLS.privatize(list(PLACES.labels) * 20, rng=bp.insecure_seed(1))
PAIR = bp.Record({"age": bp.GRR(bp.Integers(1, 3), 1), "job": bp.GRR(bp.Integers(1, 4), 1)})
TOLD = {
    "certificate": bp.verify(AGES),
    "audit": bp.audit(AGES, [18, 90], trials=2000),
    "law": bp.law_test(AGES, trials=2000),
    "sample size": bp.sample_size(bp.BRR(bp.Integers(18, 90), 1, edges="padded"), mean_within=1),
    "advice": bp.recommend(bp.Integers(1, 5), 1, "categories"),
    "ways of reporting": bp.split_or_sample({"age": bp.Integers(1, 5), "visits": bp.Integers(1, 9)}, 1, n=1000),
    "place": bp.locations.top_places(CELLS, SEEN)[0],
    "circle": bp.locations.range_count(CELLS, SEEN, centre=(0, 0), radius_km=9_000),
    "pair": bp.estimate(PAIR, PAIR.privatize({"age": [1, 2] * 50, "job": [1, 2] * 50}, rng=bp.insecure_seed(2))).joint(
        "age", "job"
    ),
    "promise of a model": bp.learn.Guarantee("central", 1.0, 2.0, not_covered=("a long sentence. " * 9,) * 5),
}
SHORT = {
    "event of an audit": TOLD["audit"].event,
    "row of a comparison": bp.compare(bp.Integers(1, 9), 1)["GRR"],
    "cities": bp.locations.cities(),
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
        assert words_of(value._repr_html_()) == (value.summary() if what == "pair" else str(value)).split()
    if what == "certificate":
        assert repr(value) == "<Certificate: ε-LDP of each report with ε = 1: holds …>"


def test_attributes_share_no_axis_and_so_no_picture():
    record = bp.Record({"age": AGES, "job": bp.GRR(bp.Integers(1, 3), epsilon=1)})
    found = bp.estimate(record, record.privatize({"age": [20, 30] * 50, "job": [1, 2] * 50}, rng=bp.insecure_seed(2)))
    assert "<svg" not in found._repr_html_() and words_of(found._repr_html_()) == found.summary().split()
    assert found._repr_html_().count("<table>") == 2


TABLES = {
    "estimate": (EST, [["value", "share", "95 % interval"]]),
    "groups": (GROUPS, [["value", "&lt;a&gt;", "b"]]),
    "comparison": (bp.compare(bp.Integers(1, 5), epsilon=1), [["ε = 1", "ε spent", "expected", "median"]]),
    "comparison at several ε": (bp.compare(bp.Integers(1, 5), epsilon=[1, 2]), None),
    "plan": (PLAN, [["column", "mechanism"]]),
}


@pytest.mark.parametrize("what", TABLES)
def test_tables_are_tables_in_a_notebook(what):
    value, headers = TABLES[what]
    shown = value._repr_html_()
    tables = re.findall("<table>(.*?)</table>", shown)
    assert len(tables) > 1 if headers is None else len(tables) == len(headers)
    for table, header in zip(tables, headers or [[]] * len(tables), strict=True):
        head, *rows = [re.findall("<t[hd]>(.*?)</t[hd]>", row) for row in re.findall("<tr>(.*?)</tr>", table)]
        assert head[: len(header)] == header and rows and {len(row) for row in rows} == {len(head)}
        # Cells are no longer padded, and nothing of them is left in the text.
        assert all(cell == cell.strip() for row in [head, *rows] for cell in row)
    if what == "plan":
        assert "<td>column 49</td><td>BRR(Integers(18, 90), epsilon=1, m=27)</td>" in shown
        assert "<td>country</td><td>&#x27;public&#x27;</td>" in shown


def test_rows_of_a_frame_of_pairs_can_be_selected():
    pairs = bp.GRR(bp.Product(bp.Integers(0, 1), bp.Integers(0, 1)), epsilon=1)
    found = bp.estimate(pairs, [(0, 1), (1, 1)], by=["a", "b"])
    frame = found["a"].to_frame()
    assert frame[frame["share"] <= 10]["value"].tolist() == [(0, 0), (0, 1), (1, 0), (1, 1)]
    grouped = found.to_frame()
    assert grouped[grouped["group"] == "b"]["value"].tolist()[-1] == (1, 1)
