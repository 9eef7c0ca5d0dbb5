"""``cyclic:N``: designs, reports, estimates and comparisons of values that go around."""

import pytest

import bipartite as bp
from tests.cli.schemas import conforms


@pytest.mark.parametrize(
    ("text", "domain"), [("24", bp.Cyclic(24)), ("1..12", bp.Cyclic(12, start=1)), ("-3..3", bp.Cyclic(7, start=-3))]
)
def test_a_design_for_a_circle(run, text, domain):
    code, out, err = run("design", f"cyclic:{text}", "--epsilon", "1", "--json")
    assert (code, err) == (0, "")
    described = conforms(out, "design")
    assert bp.from_spec(described["spec"]) == bp.BRR(domain, 1)


def test_reports_and_estimates_of_hours(run, write, tmp_path):
    mechanism = ["--spec", tmp_path / "hours.json"]
    assert run("design", "cyclic:24", "--epsilon", "2", "--m", "histogram", "--output", mechanism[1])[0] == 0
    values = "\n".join(["23"] * 1500 + ["1"] * 1500)
    code, out, _ = run("privatize", "-", "-", *mechanism, "--insecure-seed", "7", stdin=values)
    reports = write("reports.txt", out)
    assert code == 0
    code, out, _ = run("estimate", reports, *mechanism)
    assert code == 0 and "circular mean" in out and "resultant length" in out and "0 to 11 " in out
    code, out, _ = run("estimate", reports, *mechanism, "--json")
    (found,) = conforms(out, "estimate")["columns"][0]["estimates"]
    low, high = found["circular_mean"]["low"], found["circular_mean"]["high"]
    assert (high - low) % 24 < 4 and (0 - low) % 24 <= (high - low) % 24
    assert 0.7 < found["resultant_length"]["value"] <= 1 and found["mean"] is None
    assert len(found["ranges"]) == 10 and found["circular_spread"]["low"] >= 0


def test_a_comparison_on_a_circle_names_what_is_best_there(run):
    code, out, _ = run("design", "cyclic:24", "--compare", "--epsilon", "1", "--n", "20000")
    assert code == 0
    assert "BRR, arcs" in out and "padded" not in out
    assert "take BRR, safe m: around a circle no ε-LDP report of a value has a smaller error" in out


def test_labels_of_a_circle_are_ends_of_arcs(run, spec, write):
    days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    described = spec(bp.BRR(bp.Cyclic(7, labels=days), 1, m=4))
    code, out, _ = run("privatize", "-", "-", "--spec", described, "--insecure-seed", "7", stdin="Mon\nSun\n" * 300)
    assert code == 0 and set(out.split()) <= set(days)
    code, out, _ = run("estimate", write("reports.txt", out), "--spec", described, "--json")
    (found,) = conforms(out, "estimate")["columns"][0]["estimates"]
    assert [each["first"] for each in found["ranges"]] == days
