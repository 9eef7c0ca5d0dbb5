"""Products in specs: what is wrong is told, and golden files of flat categories load forever."""

import copy
import json
from pathlib import Path

import jsonschema
import pytest

import bipartite
from bipartite import BRR, OLH, Anchored, Integers, Interval, Items, Product, SubsetSelection, from_spec
from bipartite.errors import SpecError
from bipartite.mechanisms.spec import load_spec, spec_sha256

GOLDEN = Path(__file__).parents[2] / "golden" / "v3"
SCHEMA = json.loads((Path(bipartite.__file__).parent / "cli" / "schemas" / "spec.json").read_text(encoding="utf-8"))
GENRES = Items(["jazz", "blues", "metal"], loss=[[0, 1, 5], [1, 0, 4], [5, 4, 0]])
PEOPLE = Product(Integers(18, 24), GENRES)
GOOD = BRR(PEOPLE, 1).to_spec()
LINES = BRR(Product(Integers(0, 3), Interval(0, 1, points=3)), 1).to_spec()
FEW = Anchored(Product(Integers(0, 3), Integers(0, 3)), 1, anchors=[(0, 0), (3, 3)]).to_spec()


def changed(spec, **fields):
    spec = copy.deepcopy(spec)
    spec["domain"]["product"].update(fields)
    return spec


def test_golden_specs_of_flat_categories_are_those_of_today():
    today = {SubsetSelection(PEOPLE, 1), OLH(Product(Integers(0, 9), Integers(0, 9)), 2)}
    assert {spec_sha256(each)[:12] for each in today} == {path.stem.split("-")[-1] for path in GOLDEN.glob("*_pairs-*")}


@pytest.mark.parametrize("spec", [GOOD, LINES], ids=["a set", "lines"])
def test_a_spec_survives_json_and_fits_its_schema(spec):
    jsonschema.validate(spec, SCHEMA)
    assert load_spec(json.dumps(spec)).to_spec() == spec


def test_the_spec_says_what_a_wrong_report_costs():
    product = GOOD["domain"]["product"]
    assert product["weights"] == list(PEOPLE.weights)
    assert product["losses"][0] == round(PEOPLE.weights[0] * 2 ** product["bits"])
    assert product["losses"][1][0][2] == round(5 * PEOPLE.weights[1] * 2 ** product["bits"])


LOSSES = "Expected losses as a whole number of at least 1 for a line and a square matrix of whole numbers of at least 0"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({**GOOD, "domain": {"product": []}}, "Expected product as"),
        ({**GOOD, "domain": {"product": {1: 2}}}, "Expected product as"),
        (changed(GOOD, extra=1), "Expected product as"),
        (changed(GOOD, weights=[1]), "lists of one length"),
        (changed(GOOD, weights=[1, 0]), "Expected weights as positive numbers"),
        (changed(GOOD, weights=[1, True]), "Expected weights as positive numbers"),
        (changed(GOOD, weights=[1, "1"]), "Expected weights as positive numbers"),
        (changed(GOOD, weights=[1, 10**400]), "Expected weights as positive numbers"),
        (changed(FEW, parts=[{"integers": [0, 999]}] * 2), "Expected at most 131072 values of lines to compare all"),
        (changed(GOOD, bits=1.5), "Expected bits as a whole number"),
        (changed(GOOD, bits=10**6), "Expected bits as a whole number"),
        (changed(GOOD, parts=[{"integers": [18, 24]}, {"integers": "x"}]), "Expected the ends of a domain"),
        (
            changed(GOOD, parts=[{"integers": [18, 24]}, GOOD["domain"]]),
            "Expected parts that are not products themselves",
        ),
        (changed(GOOD, parts=[{"integers": [18, 24]}, 5]), "Expected domain as"),
        (
            changed(GOOD, parts=[{"integers": [1, 2]}], weights=[1], losses=[1]),
            "Expected at least two domains, got 1",
        ),
        (changed(GOOD, losses=[0, GOOD["domain"]["product"]["losses"][1]]), LOSSES),
        (changed(GOOD, losses=[1.0, GOOD["domain"]["product"]["losses"][1]]), LOSSES),
        (changed(GOOD, losses=[1, 1]), LOSSES),
        (changed(GOOD, losses=[1, [[0, 1], [1, 0]]]), LOSSES),
        (changed(GOOD, losses=[1, [[0, -1, 0]] * 3]), LOSSES),
        (changed(GOOD, losses=[1, [[0, 2**31, 0]] * 3]), "sums stay below 2\\^31"),
        (changed(LINES, losses=[2**52, 2**52]), "sums stay below 2\\^53"),
    ],
)
def test_what_cannot_be_a_product_is_refused(spec, message):
    with pytest.raises(SpecError, match=message):
        from_spec(spec)


def test_a_circle_of_products_is_refused_before_it_is_followed():
    endless = {"parts": [], "weights": [1, 1], "losses": [1, 1], "bits": 1}
    endless["parts"] = [{"product": endless}, {"product": endless}]
    with pytest.raises(SpecError, match="parts that are not products themselves"):
        from_spec({**GOOD, "domain": {"product": endless}})
