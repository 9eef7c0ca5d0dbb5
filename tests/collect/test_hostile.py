"""Whatever is sent: a refusal that holds none of it and changes nothing, or reports that are counted as they should be."""

import argparse
import asyncio
import json
import logging
import tempfile
import time
from collections import Counter
from pathlib import Path

import pytest

from bipartite.cli import main as bipartite
from bipartite.collect.store import begin, resume
from bipartite.mechanisms.spec.canonical import canonical_json
from tests.collect import kinds
from tests.collect.asking import ask, collector, post
from tests.collect.hostile import MARK, Bodies

REFUSALS = {400, 404, 409, 413, 422}


async def attack(where, study, count, seed=1):
    """Send so many bodies; what was told, by kind, and the envelopes that were taken."""
    bodies, taken, told, words = Bodies(study, seed), [], Counter(), Counter()
    async with collector(lambda: resume(where, study.name)) as made:
        for _ in range(count):
            body, kind = bodies.next()
            expected = kinds.read(body, study)
            status, answer = await post(made.app, body)
            told[kind, status] += 1
            if status == 200:
                assert expected is not None, (kind, body)
                keys = {(each["question"], each["key"]) for each in expected}
                assert answer == {"counted": len(keys), "known": len(expected) - len(keys)}, (kind, body)
                taken += expected
                continue
            assert kind != "in_order", (status, body)
            assert status in REFUSALS, (status, kind, body)
            assert answer.keys() <= {"error", "positions"}
            listed = _listed(body)
            assert all(type(at) is int and 0 <= at < listed for at in answer.get("positions", [])), (kind, body)
            assert MARK not in json.dumps(answer)
            words[status, answer["error"]] += 1
    assert len(words) < 12, words  # few sentences, written before anything was sent
    return told, words, taken


def _listed(body):
    try:
        held = json.loads(body)
    except (ValueError, RecursionError):  # such as a number of thousands of digits
        return body.count(b"{")
    return len(held) if isinstance(held, list) else 1


def check(where, study, taken):
    """That the database holds what was taken, and nothing else."""
    first = {(each["question"], each["key"]): each["report"] for each in reversed(taken)}
    with resume(where, study.name) as store:
        assert store.check() == []
        for question in study.questions:
            expected = Counter(canonical_json(report) for (name, _), report in first.items() if name == question.name)
            assert dict(store.bag(question.name)) == expected


@pytest.mark.slow
def test_bodies_are_refused_without_a_word_of_them_or_counted_as_they_should(tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    study, where = kinds.study(), tmp_path / "kinds.db"
    begin(where, study).close()
    told, _, taken = asyncio.run(attack(where, study, 5_000))
    check(where, study, taken)
    assert sum(n for (_, status), n in told.items() if status == 200) > 500
    assert sum(n for (_, status), n in told.items() if status != 200) > 3000
    assert MARK not in caplog.text
    assert [each for each in caplog.records if each.levelno > logging.DEBUG] == []
