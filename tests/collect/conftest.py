"""A study of three questions, and an empty database for it on each engine."""

from pathlib import Path

import pytest

from bipartite.collect.store import begin
from bipartite.collect.study import read_study
from tests.collect.asking import Asked

STUDY = """
title = "Readers of the Courier"
ends = 2026-12-31
public = true

[questions.age]
ask = "How old are you?"
domain = { integers = [18, 90] }
epsilon = 1

[questions.section]
ask = "Which section do you read first?"
domain = { categories = ["news", "sport", "science"] }
epsilon = 1

[questions.person]
ask = "About you"
[questions.person.record.pets]
ask = "How many pets do you have?"
domain = { integers = [0, 9] }
epsilon = 0.5
[questions.person.record.home]
ask = "Where do you live?"
domain = { categories = ["town", "country"] }
epsilon = 0.5
"""


@pytest.fixture
def study_file(tmp_path):
    """readers.toml."""
    path = tmp_path / "readers.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture
def study(study_file):
    """What the file says."""
    return read_study(study_file)


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def where(request, tmp_path):
    """Where a database can be made: a path, or the URL of an empty database."""
    if request.param == "SQLite":
        return tmp_path / "readers.db"
    return request.getfixturevalue("postgresql_url")


@pytest.fixture
def store(where, study):
    """The store of the study, just begun."""
    with begin(where, study) as opened:
        yield opened


def is_file(where):
    """Whether this is a file."""
    return isinstance(where, Path)


@pytest.fixture
def asked(tmp_path, study, monkeypatch):
    """A collector of three questions in this process; its store stays open between requests."""
    found = Asked(tmp_path, study)
    monkeypatch.setattr(type(found.collector._store), "close", lambda _: None)
    yield found
    monkeypatch.undo()
    found.collector._store.close()
