"""Every mechanism of the catalogue keeps its promise, comes back from its spec and from pickles, and has its law."""

import ast
import inspect
import json
from pathlib import Path

import pytest

import bipartite as bp
import bipartite.mechanisms.categories
from bipartite.errors import BrokenPromiseError, InputError
from bipartite.mechanisms.catalogue import Entry, by_column, by_spec, entries, register, unregister
from bipartite.mechanisms.spec.fields import Field
from bipartite.mechanisms.spec.read import VERSIONS
from bipartite.plots.looks import LOOKS


def static_imports(path):
    """The public names that type checkers see."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    return {each.asname for node in block.body if isinstance(node, ast.ImportFrom) for each in node.names}


@pytest.mark.parametrize(
    ("room", "families"),
    [
        (bp, {"neighbours", "rival", "number", "given", "flat"}),
        (bp.mechanisms, {"neighbours", "rival", "number", "given"}),
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
            assert set(entry.load().schema) <= set(properties), entry.name


def test_names_are_unique_and_each_form_has_one_look():
    labels = [form.label for entry in entries() for form in entry.forms]
    assert len(set(labels)) == len(labels) and len({entry.name for entry in entries()}) == len(entries())
    looks = [LOOKS[label] for label in labels if label in LOOKS]
    assert len(looks) > len(labels) / 2 and len(set(looks)) == len(looks)


class Liar(bp.GRR):
    """Says ε = 1, and holds the tickets of ε = 8."""

    def __init__(self, domain, epsilon):
        super().__init__(domain, epsilon)
        self._hold(domain, self._budget, bp.GRR(domain, 8).facts)

    @classmethod
    def check(cls, domain, budget, facts):
        """Nothing."""


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
    assert liar.breaks_promise() and not bp.GRR(bp.Integers(0, 9), 1).breaks_promise()
    with pytest.raises(InputError, match="Expected a mechanism for 'age' that keeps its ε"):
        bp.Record({"age": liar})
    with pytest.raises(InputError, match="Expected a mechanism for a column that keeps its ε"):
        bp.tables.Column(liar)


class Bold(bp.GRR):
    """Has a fact that is named like a field of the head."""

    schema = {**bp.GRR.schema, "mechanism": Field(lambda fields, name: fields[name])}  # noqa: RUF012

    def __init__(self, domain, epsilon):
        super().__init__(domain, epsilon)
        self._hold(domain, self._budget, {**self.facts, "mechanism": "brr"})


def test_facts_never_override_the_head_of_a_spec():
    register(Entry("bold", Bold, "a toy", "rival", 2))
    try:
        assert Bold(bp.Integers(0, 9), 1).to_spec()["mechanism"] == "bold"
    finally:
        unregister("bold")


def test_a_registered_mechanism_that_breaks_its_promise_is_not_read():
    register(Entry("liar", Liar, "lies", "rival", 2))
    try:
        spec = Liar(bp.Integers(0, 9), 1).to_spec()
        assert (spec["bipartite"], spec["mechanism"]) == (2, "liar")
        with pytest.raises(BrokenPromiseError, match="The tickets exceed e\\^ε for ε=1; do not report with this spec"):
            bp.from_spec(spec)
    finally:
        unregister("liar")


def test_what_only_other_kinds_have_is_not_there_for_whoever_looks():
    one, flat = bp.GRR(bp.Integers(1, 3), epsilon=1), bp.OUE(bp.Integers(1, 3), epsilon=1)
    for mechanism in (one, flat):
        assert hasattr(mechanism, "lottery") is not hasattr(mechanism, "support")
        assert "privatize" in dict(inspect.getmembers(mechanism))
    with pytest.raises(InputError, match="too many to list; count says which values"):
        _ = flat.lottery
    with pytest.raises(InputError, match="Expected a mechanism for flat categories, such as bp.OUE, got GRR"):
        _ = one.support


def test_an_error_within_a_property_is_told():
    kind = type("Odd", (bp.GRR,), {"odd": property(lambda self: self.facts.nothing)})
    with pytest.raises(AttributeError, match="'mappingproxy' object has no attribute 'nothing'"):
        _ = kind(bp.Integers(1, 3), epsilon=1).odd


def test_a_class_outside_the_catalogue_is_named():
    class Alone(bp.mechanisms.Mechanism):
        @classmethod
        def law(cls, domain, facts):  # noqa: ARG003
            return bp.GRR.law(domain, {"tickets": bp.GRR(domain, 1).facts["tickets"]})

        def __init__(self, domain):
            self._hold(domain, None, {})

    for ask in (bp.verify, Alone.to_spec):
        with pytest.raises(
            InputError, match="Expected a mechanism of the catalogue, got Alone, which is not in it; call"
        ):
            ask(Alone(bp.Integers(1, 3)))
