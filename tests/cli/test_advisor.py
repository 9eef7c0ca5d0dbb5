"""``bipartite design`` compares mechanisms, and says how many people are needed."""

import csv
import json
from collections import defaultdict
from xml.etree import ElementTree as ET

import pytest

import bipartite as bp
from tests.cli.schemas import conforms

AGES = ["18..26"]


def test_compare_prints_the_table_and_the_recommendation(run):
    code, out, err = run("design", "--compare", *AGES, "--epsilon", 1, "--n", 1000)
    assert (code, err) == (0, "")
    compared = bp.compare(bp.Integers(18, 26), 1, n=1000)
    assert out == f"{compared}\n"
    assert "To release single values, take Anchored" in out


@pytest.mark.parametrize("options", [[], ["--n", "100"], ["--for", "mean"]])
def test_compare_writes_json_that_conforms(run, options):
    code, out, err = run("design", "--compare", "1..9", "--epsilon", "0.5,2", *options, "--json")
    assert (code, err) == (0, "")
    found = conforms(out, "design-compare")
    assert {row["epsilon"] for row in found["rows"]} == {"0.5", "2"}


def test_compare_on_places_and_items_conforms_too(run, write):
    places = write("places.csv", "name,latitude,longitude\nBerlin,52.5,13.4\nParis,48.9,2.35\nRome,41.9,12.5\n")
    code, out, _ = run("design", "--compare", places, "--epsilon", 1, "--json")
    found = conforms(out, "design-compare")
    assert code == 0
    assert all(row["holds"] is not False for row in found["rows"])
    items = write("items.json", '{"labels": ["a", "b", "c"], "loss": [[0, 1, 1], [1, 0, 1], [1, 1, 0]]}')
    code, out, _ = run("design", "--compare", items, "--epsilon", 1, "--json")
    found = conforms(out, "design-compare")
    assert [each["purpose"] for each in found["advice"]] == ["categories", "release"]


def test_compare_writes_csv_and_pictures(run, tmp_path):
    table, picture = tmp_path / "rows.csv", tmp_path / "loss.svg"
    code, _, err = run("design", "--compare", *AGES, "--epsilon", "0.5..3", "--output", table, "--plot", picture)
    assert (code, err) == (0, "")
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    epsilons = list(dict.fromkeys(row["epsilon"] for row in rows))
    assert len(epsilons) == 20 and (epsilons[0], epsilons[-1]) == ("0.5", "3")
    grr = [float(row["expected_loss"]) for row in rows if row["mechanism"] == "GRR"]
    assert grr[0] == bp.loss(bp.GRR(bp.Integers(18, 26), "0.5")).mean
    assert ET.fromstring(picture.read_text(encoding="utf-8")).tag.endswith("svg")
    for purpose, title in (
        ("mean", "standard error of the mean, 100 people, ε = 1"),
        ("distribution", "standard error of a cumulative share, 100 people, ε = 1"),
        ("categories", "standard error of a share, 100 people, ε = 1"),
        ("release", "expected error of one release, ε = 1"),
    ):
        asked = [*AGES, "--epsilon", 1, "--n", 100, "--for", purpose, "--plot", picture]
        assert run("design", "--compare", *asked)[0] == 0
        assert title in picture.read_text(encoding="utf-8")


def test_compare_writes_nothing_where_something_cannot_be_drawn(run, tmp_path, monkeypatch):
    def fail(*_):
        raise bp.errors.InputError

    monkeypatch.setattr("bipartite.cli.design.as_file", fail)
    table = tmp_path / "table.csv"
    arguments = ["--output", table, "--plot", tmp_path / "mean.svg", "--for", "mean"]
    assert run("design", "--compare", *AGES, "--epsilon", 1, *arguments)[0] == 2
    assert not table.exists()


def test_compare_takes_the_domain_and_the_epsilon_of_a_spec(run, spec):
    file = spec(bp.BRR(bp.Integers(18, 26), "0.5"))
    _, out, _ = run("design", file, "--compare", "--json")
    assert json.loads(out)["domain"] == "Integers(18, 26)"
    assert {row["epsilon"] for row in json.loads(out)["rows"]} == {"0.5"}
    _, out, _ = run("design", file, "--epsilon", 2, "--compare", "--json")
    assert {row["epsilon"] for row in json.loads(out)["rows"]} == {"2"}
    assert "Custom" not in out
    own = spec(bp.Custom(bp.Integers(1, 2), bp.Integers(1, 2), [[0.7, 0.3], [0.3, 0.7]], epsilon=1), "own.json")
    _, out, _ = run("design", own, "--compare", "--json")
    assert "Custom" in {row["mechanism"] for row in json.loads(out)["rows"]}


def test_what_takes_long_is_said_beforehand(run, monkeypatch):
    monkeypatch.setattr("bipartite.cli.waiting.expected_seconds", lambda *_, **__: 75.0)
    asked = ["design", "--compare", "1..9", "--epsilon", 1]
    assert run(*asked)[2] == "bipartite: this takes about 75 s; fewer values take less.\n"
    monkeypatch.setattr("bipartite.cli.waiting.expected_seconds", lambda *_, **__: 600.0)
    assert "about 10 min" in run(*asked)[2]


def test_windows_over_many_places_are_announced(run, monkeypatch, write, tmp_path):
    places = write("places.csv", "lat,lon\n1,1\n2,2\n3,3\n")
    monkeypatch.setattr("bipartite.cli.waiting._BUILT", 60.0)
    monkeypatch.setattr("bipartite.cli.waiting._PROVED", 2.0)
    spec = tmp_path / "spec.json"
    _, _, err = run("design", places, "--epsilon", 1, "--output", spec)
    assert err.startswith(
        "bipartite: building this mechanism takes about 9 min.\nbipartite: proving ε takes about 18 s.\n"
    )
    assert run("verify", spec)[2] == "bipartite: proving ε takes about 18 s.\n"
    assert run("design", *AGES, "--epsilon", 1)[2] == ""


def test_other_long_commands_are_announced(run, monkeypatch, spec, write):
    monkeypatch.setattr("bipartite.cli.waiting._SOLVED", 1e3)
    monkeypatch.setattr("bipartite.cli.audit._DRAWN", 1e3)
    monkeypatch.setattr("bipartite.cli.estimate._SECONDS", defaultdict(lambda: 1e3))
    reports, file = write("reports.csv", "3\n4\n3\n"), spec(bp.GRR(bp.Integers(1, 5), 1))
    for said, *command in (
        ("solving the linear program", "design", "1..5", "--epsilon", 1, "--mechanism", "optimal"),
        ("this audit", "audit", file, "--inputs", 1, 5, "--trials", 100),
        ("reading these files", "estimate", reports, "--spec", file),
    ):
        code, _, err = run(*command)
        assert code == 0 and err.startswith(f"bipartite: {said} takes about ") and err.endswith(" min.\n")


def test_compare_for_a_statistic_has_the_default_number_of_people(run, tmp_path):
    picture = tmp_path / "errors.svg"
    code, out, _ = run("design", "--compare", "1..9", "--epsilon", "1,2", "--for", "mean", "--plot", picture, "--json")
    found = json.loads(out)
    assert code == 0 and picture.exists() and found["users"] == 100_000 and found["rows"][0]["mean_error"] > 0
    assert json.loads(run("design", "--compare", "1..9", "--epsilon", 1, "--json")[1])["users"] is None


def test_compare_uses_a_prior(run, write):
    prior = write("prior.txt", "0.7\n0.1\n0.1\n0.1")
    _, out, _ = run("design", "--compare", "1..4", "--epsilon", 1, "--prior", prior, "--for", "release", "--json")
    found = json.loads(out)
    assert found["prior"] == "given"
    assert found["advice"][0]["mechanism"] == "Anchored"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([*AGES], 2, "Expected --epsilon"),
        ([*AGES, "--epsilon", "x"], 2, "Expected --epsilon as a positive decimal"),
        ([*AGES, "--epsilon", "3..1"], 2, "Expected --epsilon as a decimal or LOW..HIGH, got '3..1'"),
        ([*AGES, "--epsilon", "a..b"], 2, "for example --epsilon 0.25..5"),
        ([*AGES, "--epsilon", "1", "--n", "0"], 2, "Expected --n"),
        ([*AGES, "--epsilon", "1", "--m", "3"], 2, "--compare takes every mechanism; leave out --m."),
        ([*AGES, "--epsilon", "1", "--confidence", "0.9"], 2, "takes every mechanism; leave out --confidence."),
        ([*AGES, "--epsilon", "1", "--output", "x.json"], 2, "a file ending in .csv with --compare, got 'x.json'."),
        ([*AGES, "--epsilon", "1", "--plot", "x.gif"], 2, "ending in .svg, .png, .pdf, got 'x.gif'"),
        ([*AGES, "--epsilon", "1", "--prior", "missing.txt"], 4, "missing.txt"),
    ],
)
def test_compare_refuses_what_it_cannot_use(run, arguments, code, message):
    found, out, err = run("design", "--compare", *arguments)
    assert (found, out) == (code, "")
    assert message in err


def test_sample_size_answers_for_people_and_for_programs(run):
    asked = ["--mean-within", 0.5, "--confidence", 0.9]
    code, out, err = run("design", *AGES, "--epsilon", 1, *asked)
    assert code == 0 and err.startswith("bipartite: next: bipartite design ")
    expected = bp.sample_size(bp.Integers(18, 26), 1, mean_within=0.5, confidence=0.9)
    assert out == f"{expected}\n"
    _, out, _ = run("design", *AGES, "--epsilon", 1, *asked, "--json")
    assert conforms(out, "design-people") == expected.to_dict()
    _, out, _ = run("design", *AGES, "--epsilon", 1, "--share-within", 0.01, "--json")
    assert conforms(out, "design-people")["of"] == "share"


def test_sample_size_takes_a_mechanism_a_spec_or_a_population(run, write):
    domain = bp.Integers(18, 26)
    padded = bp.BRR(domain, 1, edges="padded")
    expected = bp.sample_size(padded, mean_within=1)
    _, out, _ = run("design", *AGES, "--epsilon", 1, "--edges", "padded", "--mean-within", 1, "--json")
    assert json.loads(out) == expected.to_dict()
    spec = write("age.json", json.dumps(padded.to_spec()))
    _, out, _ = run("design", spec, "--mean-within", 1, "--json")
    assert json.loads(out) == expected.to_dict()
    spec.write_text(json.dumps(bp.OUE(domain, 1).to_spec()), encoding="utf-8")
    _, out, _ = run("design", spec, "--share-within", 0.1, "--json")
    assert json.loads(out)["people"] == bp.sample_size(bp.OUE(domain, 1), share_within=0.1).n
    shares = write("shares.txt", "\n".join(["0.5", *["0.0625"] * 8]))
    population = ["--prior", shares]
    _, out, _ = run("design", *AGES, "--epsilon", 1, "--mechanism", "grr", "--mean-within", 1, *population, "--json")
    weights = [0.5, *[0.0625] * 8]
    assert json.loads(out)["people"] == bp.sample_size(bp.GRR(domain, 1), mean_within=1, prior=weights).n
    assert json.loads(out)["population"] == "given"
    # A population is also assumed of a spec, and is the prior of a design that takes one.
    for asked, mechanism in (
        ([spec], bp.OUE(domain, 1)),
        ([*AGES, "--epsilon", 1, "--edges", "padded", "--m", "best"],
         bp.BRR(domain, 1, m="best", edges="padded", prior=weights)),
    ):  # fmt: skip
        _, out, _ = run("design", *asked, "--share-within", 0.1, *population, "--json")
        expected = bp.sample_size(mechanism, share_within=0.1, prior=weights)
        assert json.loads(out) == expected.to_dict()
    code, _, err = run("design", spec, "--share-within", 0.1, "--m", "3")
    assert code == 2 and "without --epsilon, the spec describes the whole mechanism; leave out --m." in err


def test_sample_size_says_beforehand_how_long_a_search_takes(run, monkeypatch):
    asked = ["design", *AGES, "--epsilon", 1, "--mean-within", 0.5]
    monkeypatch.setattr("bipartite.cli.waiting.expected_seconds", lambda *_, **__: 75.0)
    assert run(*asked)[2].startswith("bipartite: this takes about 75 s; fewer values take less.\n")
    assert run(*asked, "--edges", "padded")[2] == ""


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([*AGES, "--mean-within", "1"], 2, "Expected --epsilon"),
        ([*AGES, "--mean-within", "1", "--n", "9", "--for", "mean"], 2, "a number of people; leave out --for, --n."),
        ([*AGES, "--epsilon", "1", "--mean-within", "1", "--share-within", "1"], 2, "not allowed with argument"),
        ([*AGES, "--epsilon", "1,2", "--mean-within", "1"], 2, "Expected one ε as --epsilon, got '1,2'"),
        ([*AGES, "--epsilon", "1", "--mean-within", "0"], 2, "Expected --mean-within as a positive number"),
        ([*AGES, "--epsilon", "1", "--mean-within", "1", "--confidence", "2"], 2, "Expected confidence"),
        ([*AGES, "--epsilon", "1", "--mechanism", "brr", "--mean-within", "1"], 2, "cannot be estimated"),
        ([*AGES, "--epsilon", "1", "--mean-within", "1", "--prior", "no.txt"], 4, "no.txt"),
    ],
)
def test_sample_size_refuses_what_it_cannot_use(run, arguments, code, message):
    found, out, err = run("design", *arguments)
    assert (found, out) == (code, "")
    assert message in err
