"""Folders of the test's own: no test sees the user's cache or the network."""

import pytest

from reproduction.datasets import Provenance


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache."""
    folder = tmp_path / "cache"
    monkeypatch.setattr("reproduction.datasets.finding.cache_folder", lambda: folder)
    monkeypatch.delenv("BIPARTITE_DATA", raising=False)
    return folder


@pytest.fixture
def folder(tmp_path, monkeypatch, cache):  # noqa: ARG001 (the cache must be empty too)
    """An empty folder of data sets, which BIPARTITE_DATA names."""
    named = tmp_path / "data"
    named.mkdir()
    monkeypatch.setenv("BIPARTITE_DATA", str(named))
    return named


@pytest.fixture
def nowhere():
    """A provenance for readers that are called with bytes."""
    return Provenance("test", (), None, "none", "nobody")
