"""Folders of the test's own: no test sees the user's cache or the network."""

import pytest

from reproduction.datasets.sources import File, Source


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


def toy(*files, **fields):
    """A data set of one file, or of one of several."""
    return Source("toy", 1, "CC0", "Somebody, 2026", {"data": files or (File("toy.txt", **fields),)})
