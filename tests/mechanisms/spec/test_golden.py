"""Golden specs: whatever was published loads forever and says the same, and a design of today gives it again."""

import hashlib
import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import rfc8785

import bipartite as bp
from bipartite.mechanisms.spec import canonical_json, load_spec, spec_sha256
from tests.catalogue import GENRES
from tests.mechanisms.contract import SCHEMA, rows_of, tickets_of

FOLDER = Path(__file__).parents[2] / "golden"
# A name ends with the first digits of the SHA-256 of its canonical JSON. That no file is lost, tests/fence sees.
NAMES = sorted(path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.glob("*/*.json"))
# Not ε-LDP: reproduction/tests/places/test_weaker.py reads it.
WITHIN = "v4/within_region-f298f84ef661"


def golden(start):
    """A published spec, by the beginning of its name."""
    (name,) = (name for name in NAMES if name.partition("/")[2].rpartition("-")[0] == start)
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [name for name in NAMES if name != WITHIN])
def test_golden_specs_load_forever(name):
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    spec, mechanism = json.loads(text), load_spec(text)
    sha256 = hashlib.sha256(rfc8785.dumps(spec)).hexdigest()
    assert sha256.startswith(name.rpartition("-")[2])
    assert spec_sha256(mechanism) == bp.verify(mechanism).spec_sha256 == sha256
    assert mechanism.to_spec() == spec and load_spec(canonical_json(spec)) == mechanism
    assert bp.verify(mechanism).holds
    SCHEMA.validate(spec)
    if not mechanism.flat and len(mechanism.domain) < 200:
        # Its law, read from the text without the package.
        assert rows_of(mechanism) == tickets_of(mechanism)


def test_there_are_golden_specs_of_every_kind():
    specs = [json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("v1/*.json")]
    kinds = {"integers", "interval", "cyclic", "points", "items", "product"}
    assert {next(iter(spec["domain"])) for spec in specs} == kinds
    assert {spec.get("draw") for spec in specs} == {None, "tries", "list"}
    assert {spec["edges"] for spec in specs} == {"clamped", "padded"}
    assert {spec["domain"].get("rounding") for spec in specs} == {None, "nearest", "random"}
    others = {json.loads(path.read_text(encoding="utf-8"))["mechanism"] for path in FOLDER.glob("v[245]/*.json")}
    assert others == {
        *("grr", "anchored", "constant", "geometric", "exponential", "optimal", "lsrr", "custom"),
        *("two-level", "within-region", "region-weighted", "minimax", "anchored-means"),
    }


OWN = [[0.4, 0.3, 0.2, 0.1], [0.3, 0.4, 0.2, 0.1], [0.2, 0.3, 0.3, 0.2], [0.2, 0.2, 0.3, 0.3]]
CUPS = bp.Items(["tea", "coffee"], loss=[[0, 1], [1, 0]])
DIGITS = bp.Product(bp.Integers(0, 9), bp.Integers(0, 9))
PEOPLE = bp.Product(bp.Integers(18, 24), GENRES)
TRIPLES = bp.Product(bp.Integers(0, 2), GENRES, bp.Interval(0, 1, points=3), weights=(1, 0.5, 2))
TODAY = {
    "ages": lambda: bp.BRR(bp.Integers(18, 90), 1),
    "billion": lambda: bp.BRR(bp.Integers(1, 10**9), "0.25"),
    "even": lambda: bp.BRR(bp.Integers(-5, 5), "0.5", m=4),
    "income_padded": lambda: bp.BRR(bp.Interval(0, 200_000, points=401), "0.5", edges="padded"),
    "gradient_random": lambda: bp.BRR(bp.Interval(-1, 1, points=21, rounding="random"), 5),
    "best": lambda: bp.BRR(bp.Interval(0.1, 0.7, points=7), "1.3862943611198906", m="best"),
    "plane": lambda: bp.BRR(bp.Points([[0, 0], [3, 4], [6, 8], [1, 1]], labels=["a", "b", "c", "d"]), 1),
    "items": lambda: bp.BRR(bp.Items.tanimoto(range(1, 31)), 8, m=1),
    "pairs": lambda: bp.BRR(DIGITS, 1),
    "pairs_of_two_kinds": lambda: bp.BRR(PEOPLE, "0.5"),
    "triples": lambda: bp.BRR(TRIPLES, 6, m=1),
    "hours": lambda: bp.BRR(bp.Cyclic(24), 1),
    "months_histogram": lambda: bp.BRR(bp.Cyclic(12, start=1), "0.5", m="histogram"),
    "weekdays": lambda: bp.BRR(bp.Cyclic(7, labels=["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]), 2, m=4),
    "grr": lambda: bp.GRR(bp.Integers(18, 90), 1),
    "rr": lambda: bp.GRR(bp.Integers(0, 1), "1.0986122886681098"),
    "constant": lambda: bp.Constant(bp.Integers(1, 10**9)),
    "anchored": lambda: bp.Anchored(bp.Integers(1, 100), 2),
    "anchored_one": lambda: bp.Anchored(bp.Integers(0, 9), "0.5", anchors=[5]),
    "anchored_pairs": lambda: bp.Anchored(DIGITS, 1),
    "grr_pairs": lambda: bp.GRR(PEOPLE, 1),
    "custom": lambda: bp.Custom(bp.Integers(1, 4), bp.Integers(1, 4), OWN, "1.4"),
    "custom_words": lambda: bp.Custom(CUPS, ["yes", "no", "no answer"], [[0.55, 0.25, 0.2], [0.25, 0.55, 0.2]], 1),
    "subset_selection_pairs": lambda: bp.SubsetSelection(PEOPLE, 1),
    "olh_pairs": lambda: bp.OLH(DIGITS, 2),
}


@pytest.mark.parametrize("name", TODAY)
def test_a_design_of_today_gives_the_golden_spec(name):
    # Tickets and m are part of the promise that machines agree: a change of either would show here.
    assert TODAY[name]().to_spec() == golden(name)


def test_what_is_not_ldp_is_refused_and_its_reader_named():
    planar = golden("lsrr") | {"mechanism": "planar-laplace"}
    del planar["variant"]
    for weaker in (golden("within_region"), planar, golden("lsrr") | {"variant": "published"}):
        with pytest.raises(bp.errors.SpecError, match="promises less than ε-LDP.*reproduction.places.from_spec"):
            bp.from_spec(weaker)
    for forged in (golden("within_region"), planar, golden("two_level") | {"publishes": "region"}):
        with pytest.raises(jsonschema.ValidationError):
            SCHEMA.validate(forged)
    with pytest.raises(bp.errors.SpecError, match="Expected a spec without publishes"):
        bp.from_spec(golden("two_level") | {"publishes": "region"})


def test_the_spec_of_a_product_says_what_a_wrong_report_costs():
    product = bp.BRR(PEOPLE, 1).to_spec()["domain"]["product"]
    assert product["weights"] == list(PEOPLE.weights)
    assert product["losses"][0] == round(PEOPLE.weights[0] * 2 ** product["bits"])
    assert product["losses"][1][0][2] == round(5 * PEOPLE.weights[1] * 2 ** product["bits"])
    # In whole numbers, so that what was read back is as good as what was written.
    for domain in (DIGITS, PEOPLE, TRIPLES):
        again = bp.from_spec(bp.BRR(domain, 1).to_spec()).domain
        assert np.array_equal(again.loss_matrix(), domain.loss_matrix()) and again.weights == domain.weights
