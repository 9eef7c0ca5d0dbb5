"""The published vectors of products, for the scalar and the bulk draws."""

import json
from pathlib import Path

import numpy as np
import pytest

from bipartite import fixed_words, from_spec
from bipartite.domains.product_codec import in_fields
from bipartite.lottery import draw_many
from bipartite.lottery.compiled_points import CompiledLists, CompiledTries
from bipartite.lottery.vectorised_points import ListedPoints, TriedPoints

GROUPS = json.loads((Path(__file__).parents[1] / "vectors" / "products.json").read_text(encoding="utf-8"))


def name(group):
    parts = group["spec"]["domain"]["product"]["parts"]
    return f"{'-'.join(next(iter(part)) for part in parts)}-{group['spec']['draw']}"


@pytest.mark.parametrize("group", GROUPS, ids=name)
def test_the_scalar_draw_gives_the_published_reports(group):
    mechanism = from_spec(group["spec"])
    for vector in group["vectors"]:
        rng = fixed_words(map(int, vector["words"]))
        assert mechanism.privatize(tuple(vector["value"]), rng=rng) == tuple(vector["report"])
        assert repr(rng).startswith("<fixed words, 0 of")


@pytest.mark.parametrize("group", GROUPS, ids=name)
def test_the_bulk_draws_give_the_published_reports(group):
    mechanism = from_spec(group["spec"])
    domain = mechanism.domain
    values = [tuple(vector["value"]) for vector in group["vectors"]]
    expected = [tuple(vector["report"]) for vector in group["vectors"]]
    assert (
        mechanism.privatize(values, rng=fixed_words(int(w) for each in group["vectors"] for w in each["words"]))
        == expected
    )
    # A part with labels travels as their numbers.
    indices = np.array([domain.encode(value) for value in values])
    columns = [
        at if part.labels is not None else part.decode_array(at)
        for part, at in zip(domain.parts, domain.split(indices), strict=True)
    ]
    arrays = in_fields(columns)
    codec = domain.codec(arrays.dtype, mechanism.outputs, "error")
    for kind in [ListedPoints, CompiledLists] if mechanism.lottery.by_list else [TriedPoints, CompiledTries]:
        words = fixed_words(int(word) for vector in group["vectors"] for word in vector["words"])
        reports = draw_many(mechanism.lottery, codec, arrays, words, kernel=kind(mechanism.lottery))
        found = [
            tuple(
                each if part.labels is None else part.labels[each] for part, each in zip(domain.parts, row, strict=True)
            )
            for row in reports.tolist()
        ]
        assert found == expected
        assert repr(words).startswith("<fixed words, 0 of")
