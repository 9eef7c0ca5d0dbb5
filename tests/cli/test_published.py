"""A release that publishes the region says so on the command line too, in words and in JSON."""

from pathlib import Path

import pytest

from tests.cli.schemas import conforms

GOLDEN = Path(__file__).parents[1] / "golden" / "v4"
WITHIN = next(GOLDEN.glob("within_region-*.json"))
TWO_LEVEL = next(GOLDEN.glob("two_level-*.json"))


def test_verify_names_what_is_published(run):
    code, out, _ = run("verify", "--spec", WITHIN, "--json")
    found = conforms(out, "verify")
    assert (code, found["publishes"], found["holds"]) == (0, "region", True)
    assert "this is not ε-LDP" in found["guarantee"] and found["epsilon_upper"] == "Infinity"
    _, out, _ = run("verify", "--spec", WITHIN)
    assert "for values of two regions: infinite, the region is published; not ε-LDP" in out
    _, out, _ = run("verify", "--spec", TWO_LEVEL, "--json")
    assert conforms(out, "verify")["publishes"] is None


@pytest.mark.parametrize("spec", [WITHIN, TWO_LEVEL], ids=["within", "two levels"])
def test_design_names_the_guarantee(run, spec):
    code, out, _ = run("design", "--spec", spec, "--json")
    found = conforms(out, "design")
    assert code == 0
    assert ("not ε-LDP" in found["guarantee"]) == (spec == WITHIN)
    # GRR has no ε that would compare with one of a region only.
    assert (found["expected_loss_grr"] is None) == (spec == WITHIN)


def test_reports_come_from_such_a_spec(run):
    code, out, _ = run("report", "--spec", WITHIN, stdin="Paris\nSydney\n")
    assert code == 0
    assert out.split("\n")[0] in {"Paris", "Versailles", "Reims"} and out.split("\n")[1] in {"Sydney", "Melbourne"}
