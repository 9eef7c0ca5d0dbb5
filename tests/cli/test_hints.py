"""What is wrong is said in the words of whoever asked, with the name that was probably meant."""

import json

import pytest

import bipartite as bp
from bipartite.errors import InputError, SpecError

WAYS = '{"labels": ["walk", "bus", "car"]}'


@pytest.fixture
def files(tmp_path):
    (tmp_path / "ways.json").write_text(WAYS, encoding="utf-8")
    (tmp_path / "towns.csv").write_text("lat,lon\n52.5,13.4\n48.9,2.4\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("options", "stdin", "code", "told"),
    [
        (["1..5"], "9\n", 3, "use --outside 'clip' to clamp"),
        (["1..5"], "\n", 3, "line 1 is empty"),
        (["1..5", "--insecure-seed", "-1"], "3\n", 2, "Expected --insecure-seed as a whole number"),
        (["ways.json"], "bus\ntram\n", 3, "not one of the labels (walk, bus, car)"),
        (["ways.json", "--outside", "clip"], "bus\n", 2, "--outside 'clip' has no meaning on a set, which has no ends"),
        (["towns.csv"], "7\n", 3, "row number"),
    ],
)
def test_privatize_names_its_own_options(run, files, monkeypatch, options, stdin, code, told):
    monkeypatch.chdir(files)
    domain, *others = options
    assert run("design", domain, "--epsilon", 1, "--output", "spec.json")[0] == 0
    found, out, err = run("privatize", "-", "-", "--spec", "spec.json", *others, stdin=stdin)
    assert (found, out) == (code, "") and told in err
    assert "domain." not in err and "outside=" not in err and "tram" not in err


def test_a_value_in_place_of_a_file_is_told_of_standard_input_and_not_repeated(run, files, monkeypatch):
    monkeypatch.chdir(files)
    run("design", "18..90", "--epsilon", 1, "--output", "age.json")
    code, out, err = run("privatize", "41", "-", "--spec", "age.json")
    assert (code, out) == (2, "") and "41" not in err
    assert err.endswith("values are no arguments; run: echo VALUE | bipartite privatize - - --spec age.json\n")
    (files / "41").write_text("30\n", encoding="utf-8")
    assert run("privatize", "41", "-", "--spec", "age.json")[0] == 0


def test_design_says_what_to_do_next(run, files, monkeypatch):
    monkeypatch.chdir(files)
    _, out, err = run("design", "18..90", "--epsilon", 1, "--output", "a b.json")
    assert err == "bipartite: next: bipartite privatize IN OUT --spec 'a b.json', with one value a line in IN\n"
    assert out.endswith("what the reports are for: add --for PURPOSE.\n")
    assert run("design", "a b.json")[1].endswith("add --epsilon 1 --for PURPOSE.\n")
    told = 'a plan with [columns.place], from = ["lat", "lon"], spec = "c.json"'
    assert run("design", "towns.csv", "--epsilon", 1, "--output", "c.json")[2] == f"bipartite: next: {told}\n"
    assert run("design", "18..90", "--epsilon", 1, "--output", "a.json", "--json")[2] == ""


def test_a_number_of_people_says_how_to_have_the_mechanism_that_it_is_for(run, files, monkeypatch):
    monkeypatch.chdir(files)
    (files / "prior.txt").write_text("0.5\n0.3\n0.2\n", encoding="utf-8")
    for asked, purpose in ((["--mean-within", "0.1"], "mean"), (["--share-within", "0.1"], "categories")):
        told = f"design 1..3 --epsilon 1 --for {purpose} --prior prior.txt --output spec.json"
        _, out, err = run("design", "1..3", "--epsilon", 1, "--prior", "prior.txt", *asked)
        assert err == f"bipartite: next: bipartite {told}\n"
        assert run(*told.split())[0] == 0
        made = bp.from_spec(json.loads((files / "spec.json").read_text(encoding="utf-8")))
        (files / "spec.json").unlink()
        assert f"reported with: {made!r} " in out
    assert run("design", "1..3", "--epsilon", 1, "--mechanism", "grr", "--mean-within", "0.1")[2] == ""


def test_a_file_that_is_missing_brings_the_nearest_name_beside_it(run, files, monkeypatch):
    monkeypatch.chdir(files)
    assert run("plan", "new", "town.csv")[::2] == (4, "bipartite: not found: town.csv (did you mean towns.csv?)\n")
    assert run("verify", "wys.json")[2] == "bipartite: not found: wys.json (did you mean ways.json?)\n"
    assert run("estimate", "towns.csv", "--spec", "x")[2] == "bipartite: not found: x\n"
    told = run("plan", "check", "no/such/plan.toml")[2]
    assert told == "bipartite: not found: no/such/plan.toml (there is no folder no/such)\n"
    (files / "plan.toml").write_text('[columns.a]\ndomain = { places = "town.csv" }\nepsilon = 1\n', encoding="utf-8")
    assert "columns.a: not found: town.csv (did you mean towns.csv?)" in run("plan", "check", "plan.toml")[2]


def test_labels_in_place_of_a_domain_are_told_of_items():
    for make in (
        lambda: bp.GRR(["a", "b", "c"]),  # before Python asks for ε
        lambda: bp.GRR(["a", "b", "c"], 1),
        lambda: bp.OUE(("a", "b"), 1),
        lambda: bp.BRR([1, 2, 3], 1),
    ):
        with pytest.raises(InputError, match=r"bp\.Items for labels.*pass bp\.Items\(labels\)"):
            make()
    with pytest.raises(TypeError, match="epsilon"):
        bp.GRR(bp.Integers(1, 5))


def test_a_key_that_is_not_known_brings_the_one_that_was_meant():
    column = {"domain": {"integers": [1, 5]}, "epsilom": 1}
    with pytest.raises(InputError) as caught:
        bp.Plan.from_dict({"columns": {"a": column}})
    assert str(caught.value) == "columns.a: unknown key 'epsilom' (did you mean 'epsilon'?)."
    with pytest.raises(InputError, match=r"columns.a: unknown key 'zzz'; its keys are public, for, from, "):
        bp.Plan.from_dict({"columns": {"a": column | {"epsilon": 1, "zzz": 1}}})
    with pytest.raises(InputError, match=r"columns.a: domain: unknown key 'integer' \(did you mean 'integers'\?\)"):
        bp.Plan.from_dict({"columns": {"a": {"domain": {"integer": [1, 5]}, "epsilon": 1}}})
    spec = bp.GRR(bp.Integers(1, 5), 1).to_spec()
    spec["epsilom"] = spec.pop("epsilon")
    with pytest.raises(SpecError, match="'epsilom': did you mean 'epsilon'"):
        bp.from_spec(spec)


def test_a_name_of_the_package_that_is_misspelt_brings_the_right_one():
    with pytest.raises(AttributeError, match=r"has no attribute 'BBR' \(did you mean 'BRR'\?\)"):
        bp.BBR  # noqa: B018
    assert not hasattr(bp, "__wrapped__") and not hasattr(bp, "nothing_like_it")
