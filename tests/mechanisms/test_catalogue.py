"""Every mechanism of the catalogue keeps its promise, comes back from its spec and from pickles, and has its law."""

import ast
import copy
import json
import pickle
from pathlib import Path

import pytest

import bipartite as bp
from bipartite.errors import BrokenPromiseError, InputError
from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.catalogue import Entry, by_column, by_spec, entries, look_of, register, unregister, written_as
from bipartite.mechanisms.spec.read import VERSIONS

NEAR = [[52.50, 13.40], [52.51, 13.41], [52.52, 13.38], [52.55, 13.45], [52.56, 13.44], [52.53, 13.47]]
PLACES = bp.Points(NEAR, metric="haversine")
REGIONS = bp.locations.Regions.of(PLACES, ["N", "N", "N", "S", "S", "S"])
DOMAINS = {
    "any": bp.Integers(1, 6),
    "line": bp.Integers(1, 6),
    "interval": bp.Interval(0, 1, points=6),
    "places": PLACES,
    "regions": REGIONS,
}
# What some cannot do without.
NEEDED = {
    "rappor": {"epsilon_permanent": 1},
    "within-region": {"publishes": "region"},
    "custom": {"outputs": ["yes", "no"], "matrix": [[0.3 + 0.08 * x, 0.7 - 0.08 * x] for x in range(6)], "epsilon": 1},
}


def build():
    for entry in entries():
        for options in {repr(form.options): form.options for form in entry.forms}.values() or [{}]:
            budget = [1] if entry.epsilon and entry.name not in {"rappor", "custom"} else []
            made = entry.load()(DOMAINS[entry.where], *budget, **options, **NEEDED.get(entry.name, {}))
            yield pytest.param(entry, made, id=" ".join([entry.name, *map(str, options.values())]))


MADE = list(build())
every_entry = pytest.mark.parametrize(("entry", "mechanism"), MADE)


@every_entry
def test_it_keeps_its_promise_unless_it_is_known_not_to(entry, mechanism):
    assert bp.verify(mechanism).holds or getattr(mechanism, "variant", None) == "published"
    assert mechanism.epsilon == (1 if entry.epsilon else 0)


@every_entry
def test_its_spec_says_all_and_comes_back(entry, mechanism):
    spec = mechanism.to_spec()
    if entry.version is not None:
        assert (spec["bipartite"], spec["mechanism"]) == (entry.version, entry.name)
        assert by_spec(entry.version)[entry.name] is entry
        assert written_as(type(mechanism)) is entry
    always = {"bipartite", "mechanism", "domain"} | ({"epsilon"} if entry.epsilon else set())
    assert set(spec) == always | type(mechanism).fields_beside(spec["domain"])
    if bp.verify(mechanism).holds:
        assert bp.from_spec(spec) == mechanism


@pytest.mark.parametrize("mechanism", [each.values[1] for each in MADE], ids=repr)
def test_pickles_and_copies_are_the_same(mechanism):
    for twin in (pickle.loads(pickle.dumps(mechanism)), copy.copy(mechanism), copy.deepcopy(mechanism)):
        assert twin == mechanism
        assert (type(twin), repr(twin)) == (type(mechanism), repr(mechanism))
        assert twin.domain is mechanism.domain or twin.domain == mechanism.domain


OF_VALUES = [each.values[1] for each in MADE if isinstance(each.values[1], Mechanism)]


@pytest.mark.parametrize("mechanism", OF_VALUES, ids=repr)
def test_its_reports_have_its_law(mechanism):
    # Seeded; a false alarm has probability 1e-9.
    how = {"trials": 5000, "confidence": 1 - 1e-9}
    assert bp.law_test(mechanism, rng=bp.insecure_seed(5), **how).holds
    if len(mechanism.outputs) > 1:  # and the law of the values backwards is told from it
        law = {"matrix": mechanism.matrix()[::-1], "inputs": list(mechanism.domain), "outputs": list(mechanism.outputs)}
        rng = bp.insecure_seed(5)
        assert not bp.law_test(lambda values: mechanism.privatize(values, rng=rng), **law, **how).holds


def static_imports(path):
    """The public names that type checkers see."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    return {each.asname for node in block.body if isinstance(node, ast.ImportFrom) for each in node.names}


@pytest.mark.parametrize(
    ("room", "families"),
    [
        (bp, {"neighbours", "rival", "number", "given", "flat"}),
        (bp.mechanisms, {"neighbours", "rival", "number", "given", "regions"}),
        (bp.mechanisms.categories, {"flat"}),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_type_checkers_see_the_same_names(room, families):
    names = {entry.kind for entry in entries() if entry.family in families}
    assert names <= set(room.__all__) == static_imports(room.__file__) | ({"__version__"} if room is bp else set())


def test_the_page_of_mechanisms_says_what_each_is_for():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "mechanisms.md").read_text(encoding="utf-8")
    named = [each.kind for each in entries() if each.family != "regions"]
    assert [each for each in named if f"`{each}`" not in page] == []


def test_a_name_is_taken_once_and_given_back():
    toy = Entry("toy", type("Toy", (bp.GRR,), {}), "a toy", "rival", None)
    register(toy)
    try:
        assert by_column()["toy"] is toy
        with pytest.raises(InputError, match="Expected a new name, got 'toy', which another mechanism has"):
            register(toy)
    finally:
        unregister("toy")
    assert "toy" not in by_column() and entries()[-1].name == "region-weighted"


def test_the_published_schema_of_specs_knows_the_same_mechanisms():
    path = Path(bp.__file__).parent / "cli" / "schemas" / "spec.json"
    described = [each["properties"] for each in json.loads(path.read_text(encoding="utf-8"))["oneOf"]]
    assert [each["bipartite"]["const"] for each in described] == list(VERSIONS)
    for version, properties in zip(VERSIONS, described, strict=True):
        named = properties["mechanism"]
        assert set(named.get("enum") or [named["const"]]) == set(by_spec(version))
        for entry in by_spec(version).values():
            assert entry.load().fields <= set(properties), entry.name


def test_names_are_unique_and_each_form_has_one_look():
    labels = [form.label for entry in entries() for form in entry.forms]
    assert len(set(labels)) == len(labels) and len({entry.name for entry in entries()}) == len(entries())
    assert look_of("BRR, padded").dash == "7 3" and look_of("nothing") is None


class Liar(bp.GRR):
    """Says ε = 1, and holds the tickets of ε = 8."""

    def parts(self):
        return {"bipartite": 1, "mechanism": "brr"} | bp.GRR(self.domain, 8).parts()

    def keeps_promise(self, ratio):
        return False

    @classmethod
    def read(cls, fields):
        return cls(fields.domain, fields.spec["epsilon"])


def test_a_registered_mechanism_takes_the_place_of_no_other():
    brr = bp.BRR(bp.Integers(0, 9), 1)
    before = brr.to_spec()
    for entry, problem in (
        (Entry("brr2", "bipartite.mechanisms.brr.BRR", "x", "neighbours", 2), "Expected a class of its own"),
        (Entry("brr2", bp.BRR, "x", "neighbours", 2), "Expected a class of its own"),
        (Entry("brr", Liar, "x", "rival", 2), "which another mechanism has"),
        *((Entry(name, Liar, "x", "rival", 2), "Expected a name of small letters") for name in ("BRR", "a ", "", None)),
    ):
        with pytest.raises(InputError, match=problem):
            register(entry)
    with pytest.raises(InputError, match="got 'brr', which is built in; leave it"):
        unregister("brr")
    assert brr.to_spec() == before


@pytest.mark.parametrize("kind", [Liar, type("Quiet", (Liar,), {"__module__": "elsewhere"})])
def test_a_foreign_mechanism_that_breaks_its_promise_is_not_composed(kind):
    liar = kind(bp.Integers(0, 9), 1)
    assert not liar.keeps_epsilon and bp.GRR(bp.Integers(0, 9), 1).keeps_epsilon
    with pytest.raises(InputError, match="Expected a mechanism for 'age' that keeps its ε"):
        bp.Record({"age": liar})
    with pytest.raises(InputError, match="Expected a mechanism for a column that keeps its ε"):
        bp.tables.Column(liar)


def test_a_registered_mechanism_that_breaks_its_promise_is_not_read():
    register(Entry("liar", Liar, "lies", "rival", 2))
    try:
        spec = Liar(bp.Integers(0, 9), 1).to_spec()
        assert (spec["bipartite"], spec["mechanism"]) == (2, "liar")  # what its parts say does not change the head
        with pytest.raises(BrokenPromiseError, match="The tickets exceed e\\^ε for ε=1; do not report with this spec"):
            bp.from_spec(spec)
    finally:
        unregister("liar")
