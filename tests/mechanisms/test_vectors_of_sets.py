"""The published vectors of points and items, for the scalar and the bulk draws."""

import json
from pathlib import Path

import numpy as np
import pytest

from bipartite import fixed_words, from_spec
from bipartite.lottery import draw_many
from bipartite.lottery.compiled_points import CompiledLists, CompiledTries
from bipartite.lottery.vectorised_points import ListedPoints, TriedPoints

GROUPS = json.loads((Path(__file__).parents[1] / "vectors" / "sets.json").read_text(encoding="utf-8"))


def name(group):
    return f"{next(iter(group['spec']['domain']))}-{group['spec']['draw']}-m{group['spec']['m']}"


@pytest.mark.parametrize("group", GROUPS, ids=name)
def test_the_scalar_draw_gives_the_published_reports(group):
    mechanism = from_spec(group["spec"])
    for vector in group["vectors"]:
        rng = fixed_words(map(int, vector["words"]))
        assert mechanism.privatize(vector["value"], rng=rng) == vector["report"]
        assert repr(rng).startswith("<fixed words, 0 of")


@pytest.mark.parametrize("group", GROUPS, ids=name)
def test_the_bulk_draws_give_the_published_reports(group):
    mechanism = from_spec(group["spec"])
    values = np.array([mechanism.domain.encode(vector["value"]) for vector in group["vectors"]])
    codec = mechanism.domain.codec(values.dtype, mechanism.outputs, "error")
    for kind in [ListedPoints, CompiledLists] if mechanism.lottery.by_list else [TriedPoints, CompiledTries]:
        words = fixed_words(int(word) for vector in group["vectors"] for word in vector["words"])
        reports = draw_many(mechanism.lottery, codec, values, words, kernel=kind(mechanism.lottery))
        assert [mechanism.outputs.decode(int(report)) for report in reports] == [
            each["report"] for each in group["vectors"]
        ]
        assert repr(words).startswith("<fixed words, 0 of")
