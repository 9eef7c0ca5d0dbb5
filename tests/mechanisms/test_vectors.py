"""The published vectors: (spec, value, words) → report, one at a time, in bulk, and by every kernel of BRR."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from bipartite import BRR, Cyclic, Product, fixed_words
from bipartite.domains.product import in_fields
from bipartite.lottery import draw_many
from bipartite.lottery.compiled import line_kernel
from bipartite.lottery.compiled_points import point_kernel
from bipartite.mechanisms.catalogue import entries
from bipartite.mechanisms.categories.cells import to_cells
from bipartite.mechanisms.spec import load_spec, spec_json, spec_sha256

TESTS = Path(__file__).parents[1]


def read(file):
    """(text of a spec, its vectors) of one file; words are hexadecimal where the spec is a text, else decimal."""
    held = json.loads((TESTS / "vectors" / f"{file}.json").read_text(encoding="utf-8"))
    if "vectors" not in held[0]:  # a vector each
        held = [
            {"spec": spec, "vectors": list(some)} for spec, some in itertools.groupby(held, lambda one: one["spec"])
        ]
    for group in held:
        spec = group["spec"]
        if str(spec).endswith(".json"):
            spec = (TESTS / "golden" / "v2" / spec).read_text(encoding="utf-8")
        yield spec if isinstance(spec, str) else json.dumps(spec), group["vectors"], 16 if "sha256" in group else 10


FILES = ("line", "sets", "products", "circles", "chosen", "tables", "drawn", "corners")
# Not ε-LDP: reproduction/tests/places/test_weaker.py draws from them.
WEAKER = {"planar-laplace", "within-region"}
GROUPS = [(file, *group) for file in FILES for group in read(file) if json.loads(group[0])["mechanism"] not in WEAKER]


def name(group):
    file, text, *_ = group
    spec = json.loads(text)
    return f"{file}-{spec['mechanism']}-{next(iter(spec['domain']))}-{spec.get('epsilon')}-{spec.get('m', '')}"


every_group = pytest.mark.parametrize("group", GROUPS, ids=name)


def words_of(vectors, base):
    return fixed_words(int(word, base) for vector in vectors for word in vector["words"])


def given(vector):
    return tuple(vector["value"]) if isinstance(vector["value"], list) else vector["value"]


def as_json(report):
    """A report as a client writes it: rows of bits or numbers as the text of a cell."""
    if isinstance(report, np.ndarray):
        return to_cells(report[None])[0].decode()
    return list(report) if isinstance(report, tuple) else report


@every_group
def test_one_at_a_time_they_give_the_published_reports_and_take_the_published_words(group):
    _, text, vectors, base = group
    mechanism = load_spec(text)
    for vector in vectors:
        rng = words_of([vector], base)
        assert as_json(mechanism.privatize(given(vector), rng=rng)) == vector["report"]
        assert repr(rng).startswith(f"<fixed words, 0 of {vector.get('used', len(vector['words']))}")


@every_group
def test_in_bulk_they_give_the_published_reports(group):
    _, text, vectors, base = group
    mechanism = load_spec(text)
    if not mechanism.flat:
        rng = words_of(vectors, base)
        reports = mechanism.privatize([given(vector) for vector in vectors], rng=rng)
        assert [as_json(report) for report in reports] == [vector["report"] for vector in vectors]
        assert repr(rng).startswith("<fixed words, 0 of")
        return
    # Many people share the words of a slab (§16 is about one report), so that each is a call of its own.
    for vector in vectors:
        rng = words_of([vector], base)
        (report,) = to_cells(mechanism.privatize([given(vector)], rng=rng))
        assert (report.decode() if isinstance(report, bytes) else int(report)) == vector["report"]
        assert repr(rng).startswith("<fixed words, 0 of")


def kernels_of(lottery, domain):
    if isinstance(domain, Cyclic):
        return [lottery.draw_block, lottery.around(line_kernel(lottery.turn))]
    return [lottery.draw_block, point_kernel(lottery) if hasattr(lottery, "by_list") else line_kernel(lottery)]


def as_array(domain, values):
    """Values as a kernel takes them: labels and places as their numbers."""
    if isinstance(domain, Product):
        split = zip(domain.parts, domain.split(np.array([domain.encode(value) for value in values])), strict=True)
        return in_fields([at if part.labels is not None else part.decode_array(at) for part, at in split])
    if hasattr(domain, "whole") and domain.labels is None:
        return np.array(values, dtype=np.int64 if domain.whole else np.float64)
    return np.array([domain.encode(value) for value in values]) + getattr(domain, "start", 0)


def as_values(mechanism, reports):
    domain = mechanism.domain
    if isinstance(domain, Product):
        for row in reports.tolist():
            yield tuple(y if part.labels is None else part.labels[y] for part, y in zip(domain.parts, row, strict=True))
    elif domain.labels is not None:
        yield from (domain.labels[int(report) - getattr(domain, "start", 0)] for report in reports)
    else:
        yield from reports.tolist()


@pytest.mark.parametrize("group", [group for group in GROUPS if isinstance(load_spec(group[1]), BRR)], ids=name)
def test_every_kernel_gives_the_published_reports(group):
    _, text, vectors, base = group
    mechanism = load_spec(text)
    values = as_array(mechanism.domain, [given(vector) for vector in vectors])
    codec = mechanism.domain.codec(mechanism.outputs, "error")
    for kernel in kernels_of(mechanism.lottery, mechanism.domain):
        words = words_of(vectors, base)
        reports = draw_many(mechanism.lottery, codec, values, words, kernel=kernel)
        assert list(map(as_json, as_values(mechanism, reports))) == [vector["report"] for vector in vectors]
        assert repr(words).startswith("<fixed words, 0 of")


def test_specs_in_the_vectors_are_canonical_and_named_by_their_hash():
    for file in ("drawn", "corners"):
        for group in json.loads((TESTS / "vectors" / f"{file}.json").read_text(encoding="utf-8")):
            if json.loads(group["spec"])["mechanism"] in WEAKER:
                continue
            mechanism = load_spec(group["spec"])
            assert spec_json(mechanism) == group["spec"] and spec_sha256(mechanism) == group["sha256"]


def test_a_kept_permanent_response_gives_the_published_report():
    answered = 0
    for _, text, vectors, base in GROUPS:
        for vector in vectors:
            if "permanent" in vector:
                mechanism = load_spec(text)
                rng = words_of([vector], base)
                kept = mechanism.permanent(given(vector), rng=rng)
                assert as_json(kept) == vector["permanent"]
                left = vector["used"] - vector["permanent-used"]
                assert repr(rng).startswith(f"<fixed words, {left} of")
                assert as_json(mechanism.instantaneous(kept, rng=rng)) == vector["report"]
                answered += 1
    assert answered >= 8


def test_every_mechanism_that_travels_has_vectors():
    found = {json.loads(text)["mechanism"] for _, text, *_ in GROUPS}
    assert found == {entry.name for entry in entries() if entry.version is not None}


def test_the_vectors_hold_every_odd_case():
    drawn = [(file, json.loads(text), vector) for file, text, vectors, _ in GROUPS for vector in vectors]
    for file in ("line", "circles", "chosen"):
        redrawn = [
            vector for name, spec, vector in drawn if name == file and spec["domain"].get("rounding") != "random"
        ]
        assert any(len(vector["words"]) > 1 for vector in redrawn)
    windows = [spec for _, spec, _ in drawn if spec["mechanism"] == "brr"]
    for kind in ("integers", "cyclic"):
        assert any(spec["m"] % 2 == 0 for spec in windows if kind in spec["domain"])
    assert {spec["edges"] for spec in windows} == {"clamped", "padded"}
    assert any("labels" in spec["domain"].get("cyclic", {}) for spec in windows)
    assert any(spec["domain"].get("cyclic", {}).get("start") for spec in windows)
    assert {type(vector["report"]) for file, _, vector in drawn if file == "tables"} == {int, float, str}
    zero = "0" * 16
    assert {spec["mechanism"] for _, spec, vector in drawn if vector["words"][0] == zero} >= {"grr", "olh", "laplace"}
    assert sum(spec["domain"].get("rounding") == "random" for _, spec, _ in drawn) > 100
    coins = [vector["used"] for _, spec, vector in drawn if spec["mechanism"] == "oue"]
    # 158 words decide all but the ties of 2,048 coins; a tile has 32 times as many.
    assert min(coins) > 158
    assert max(coins) > 33 * 158
    rounds = [spec for _, spec, vector in drawn if spec["mechanism"] == "subset-selection" and zero in vector["words"]]
    assert len(rounds) > 10
