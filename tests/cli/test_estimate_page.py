"""The page of ``bipartite estimate --html``: ranges that reports can carry, error bars, and what clipping means."""

import json
import re
import sys

import numpy as np
import pyarrow as pa
import pytest

import bipartite as bp
from bipartite.tables import Column
from bipartite.tables.metadata import Described
from tests.cli.schemas import conforms
from tests.cli.test_estimate_table import write_arrow

INCOME = bp.BRR(bp.Interval(0, 200_000, points=41), 1, m="cdf", edges="padded")
AGES = bp.BRR(bp.Integers(18, 90), 1, m="cdf", edges="padded")
PLAN = bp.Plan({"income": Column(INCOME, outside="clip"), "age": AGES, "side": "public"})


def table_of(count, seed, plan=PLAN):
    draw = np.random.default_rng(seed)
    people = {
        "income": draw.integers(0, 300_000 if seed == 1 else 20_000, count),
        "age": draw.integers(18, 91 if seed == 1 else 30, count),
        "side": draw.choice(["left", "right"], count),
    }
    return bp.privatize_frame(pa.table(people), plan, bp.insecure_seed(seed))


PAGES = {}


@pytest.fixture
def page(run, tmp_path):
    """The page of a table and what is printed beside it; of the tables above, each is estimated once."""

    def write(table, *options):
        if isinstance(table, tuple):
            if (table, *options) not in PAGES:
                PAGES[table, *options] = write(table_of(*table), *options)
            return PAGES[table, *options]
        file = write_arrow(tmp_path / "t.arrow", table)
        code, out, err = run("estimate", file, "--html", tmp_path / "p.html", *options)
        assert code == 0, err
        return (tmp_path / "p.html").read_text(encoding="utf-8"), out

    return write


def names(shown):
    """The ranges of each column."""
    return [re.findall(r"<tr><td>([^<]* to [^<]*)</td>", part) for part in shown.split("<h2>")[1:3]]


def test_a_page_has_as_many_round_ranges_as_its_reports_can_carry_whatever_they_say(page):
    shown = {seed: page((3000, seed))[0] for seed in (1, 2)}
    assert names(shown[1]) == names(shown[2])
    assert names(shown[1]) == [["0 to 100,000", "100,000 to 200,000"], ["18 to 49", "50 to 90"]]
    assert shown[1].count("As many ranges as so many reports can tell apart; --bins asks for others.") == 2
    # A smaller group decides for all.
    whole, halves = (names(page((12_000, 1), "--column", "age", *by)[0])[0] for by in ([], ["--by", "side"]))
    assert (len(whole), len(halves)) == (4, 3)
    asked, _ = page((3000, 1), "--bins", "4")
    assert [len(each) for each in names(asked)] == [4, 4] and "As many ranges as" not in asked


def test_shares_are_points_with_error_bars(page):
    shown, _ = page((3000, 1))
    bars = re.findall(r"<i style='left:([\d.]+)%;width:([\d.]+)%'></i><b style='left:([\d.]+)%'></b>", shown)
    assert len(bars) == 4
    for left, width, at in bars:
        assert float(left) <= float(at) + 0.1 and float(at) <= float(left) + float(width) + 0.1
        assert float(left) + float(width) <= 100.1
    assert shown.count("<figure><svg ") == shown.count("</svg></figure>") == shown.count("<svg") == 2
    assert re.search(r"\.whisker \{[^}]* width: \d+px;", shown)  # whatever its column: one scale for all
    assert "<small class='narrow'>" not in shown
    shown, _ = page((3000, 1), "--by", "side")
    assert "<small class='narrow'>left<br></small>" in shown and "<div class='groups'>" in shown


def test_what_clipping_means_is_said_where_the_plan_clips(page):
    said = "<p>Values above 200,000 count as 200,000, and values below 0 as 0.</p>"
    for seed in (1, 2):  # whether or not anybody is above
        shown, _ = page((400, seed))
        assert said in shown and shown.count("count as") == 1
    metadata = conforms(PLAN.metadata(), "release")
    assert metadata["columns"]["income"]["clipped"] is True and "clipped" not in metadata["columns"]["age"]
    assert Described.from_json(json.dumps(metadata)).clipped == {"income"}
    # Older releases do not say.
    del metadata["columns"]["income"]["clipped"]
    bare = table_of(400, 2).replace_schema_metadata({b"bipartite": json.dumps(metadata).encode()})
    assert "count as" not in page(bare)[0]


def test_lines_that_are_set_aside_are_told(page, tmp_path):
    table = table_of(50, 1)
    table = table.set_column(1, "age", pa.array([999, *table["age"].to_pylist()[1:]]))
    shown, _ = page(table, "--column", "age", "--reject", tmp_path / "aside")
    assert "<p>1 line set aside, and counted as not received.</p>" in shown
    assert "set aside" not in page((50, 1), "--column", "age")[0]


def test_labels_have_separators_in_words_and_pictures(page):
    shown, out = page((400, 1), "--bins", "5")
    assert "  40,000 to 80,000 " in out and "40,000 to 80,000: " in shown
    assert "40,000 to 80,000</td>" in shown and "165,000 to 200,000" in out


def test_a_circle_is_cut_into_equal_arcs(page):
    plan = bp.Plan({"hour": bp.BRR(bp.Cyclic(24), 1, m="histogram")})
    hours = pa.table({"hour": np.random.default_rng(1).integers(0, 24, 300)})
    shown, _ = page(bp.privatize_frame(hours, plan, bp.insecure_seed(1)))
    assert names(shown)[0] == ["0 to 11", "12 to 23"] and "As many ranges as" in shown


def test_intervals_may_wrap_on_a_narrow_screen(page):
    shown, _ = page((400, 1))
    assert re.search(r"@media \(max-width: 640px\).*td small \{ white-space: normal; \}", shown, re.DOTALL)


@pytest.mark.parametrize(
    "arguments",
    [
        ("estimate", "no.csv", "--spec", "no.json", "--plot", "x.svg"),
        ("estimate", "no.csv", "--spec", "no.json", "--html", "x.html"),
        ("estimate", "no.csv", "--spec", "no.json", "--map", "x.svg"),
        ("design", "no.json", "--epsilon", "1", "--compare", "--plot", "x.svg"),
    ],
)
def test_without_matplotlib_pictures_are_refused_before_anything_is_read(run, monkeypatch, arguments):
    assert run(*arguments)[0] in {3, 4} and "matplotlib" not in run(*arguments)[2]  # what is missing is a file
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = run(*arguments)
    needs = f'{arguments[-2]} needs matplotlib, which is not installed; run: pip install "bipartite[plots]"'
    assert (code, out) == (4, "") and err.startswith(f"bipartite: {needs}")
