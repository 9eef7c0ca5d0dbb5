"""What is wrong is said in the words of whoever asked, with the name that was probably meant."""

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
