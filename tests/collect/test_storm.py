"""Whoever was told "counted" was counted, once, although workers die: the short form of ``storm.py``."""

import pytest

from bipartite.collect.store import begin
from tests.collect.storm import check, storm, study_in


@pytest.mark.slow
def test_killed_workers_lose_nothing_and_count_nothing_twice(where, tmp_path):
    study = study_in(tmp_path)
    begin(where, study).close()
    killed, senders = storm(where, study, tmp_path, kills=8)
    assert killed == 8
    assert sum(each.statuses[200] for each in senders) > 100
    assert check(where, study, senders) > 100


def test_the_check_sees_one_report_too_many_and_one_too_few(tmp_path):
    from collections import Counter
    from datetime import UTC, datetime
    from types import SimpleNamespace

    from bipartite.collect.store import Arrival

    study, where = study_in(tmp_path), tmp_path / "readers.db"
    sent = SimpleNamespace(drawn=Counter({("age", "40"): 2}), keys={("age", "00" * 16): "40", ("age", "01" * 16): "40"})
    for n in range(4):
        with begin(where, study) as store:
            if n:
                store.count([[Arrival(store.numbers["age"], bytes([n - 1]) * 16, "40")]], datetime.now(UTC).date())
        if n == 2:
            assert check(where, study, [sent]) == 2
        else:
            with pytest.raises(AssertionError):
                check(where, study, [sent])
