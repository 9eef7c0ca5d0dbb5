"""Whatever is sent is refused without repeating it and changes nothing, or is counted as it should be."""

import asyncio
import logging

import pytest

from bipartite.collect.store import begin
from tests.collect import kinds
from tests.collect.attack import attack, check, check_estimates
from tests.collect.hostile import MARK


@pytest.mark.slow
def test_bodies_are_refused_without_a_word_of_them_or_counted_as_they_should(tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    study, where = kinds.study(), tmp_path / "kinds.db"
    begin(where, study).close()
    told, taken = asyncio.run(attack(where, study, 4_000))
    assert MARK not in caplog.text
    assert [each for each in caplog.records if each.levelno > logging.DEBUG] == []
    check(where, study, taken)
    check_estimates(where, study, taken, tmp_path)
    statuses = {status for _, status in told}
    assert statuses >= {200, 400, 404, 409, 422}
    assert 400 < sum(n for (_, status), n in told.items() if status == 200) < 2_000
