import json

import pytest

from bipartite.answers.explain import explain
from tests.cli.schemas import conforms


def test_explain_speaks_to_people_and_to_programs(run):
    code, out, err = run("explain", "1", "--reports", 30)
    assert (code, err) == (0, "")
    flat = " ".join(out.split())
    explained = explain(1)
    for words in (
        explained.guess,
        explained.growth,
        explained.coin,
        "1 % 10 % 50 % 90 %",
        "2.7 % 23.2 % 73.2 % 96.1 %",
    ):
        assert words in flat
    assert "30 30 1,000,000 of 1,000,000" in flat
    assert max(map(len, out.splitlines())) <= 100
    code, out, err = run("explain", "1", "--json")
    assert (code, err) == (0, "")
    shown = conforms(out, "explain")
    assert (shown["epsilon"], shown["odds"], shown["certainty"]) == ("1", 2.72, 0.732)
    assert shown["crowd"] == {"people": 100, "by_coin": 50, "by_report": 74}
    assert shown["sentences"] == [explained.guess, explained.growth, explained.coin]


@pytest.mark.parametrize("epsilon", ["1e-15", "0.1", "7", "50"])
def test_every_epsilon_is_explained(run, epsilon):
    assert run("explain", epsilon)[0] == 0
    conforms(run("explain", epsilon, "--json")[1], "explain")


def test_a_large_epsilon_is_called_what_it_is(run):
    assert "This is little protection" in run("explain", "7")[1]
    assert "This is little protection" not in run("explain", "1")[1]
    assert len(json.loads(run("explain", "7", "--json")[1])["sentences"]) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["0"], "most uses lie between 0.5 and 2, and above 4 a report hides little."),
        (["one"], "Expected epsilon as a positive decimal of at most 20 digits"),
        (["1", "--reports", "0"], "Expected reports from 1 to 1,000,000, got 0; one report is explained without it."),
        ([], "the following arguments are required: EPSILON"),
    ],
)
def test_mistakes_are_explained_too(run, arguments, message):
    code, out, err = run("explain", *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_help_has_examples(run):
    assert "examples:\n  bipartite explain 1\n" in run("explain", "--help")[1]
