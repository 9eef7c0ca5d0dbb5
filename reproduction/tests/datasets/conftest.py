"""Folders of the test's own: no test sees the user's cache or, without a server of its own, a network."""

import pytest

from reproduction.datasets.sources import File, Source


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache."""
    folder = tmp_path / "cache"
    monkeypatch.setattr("pooch.os_cache", lambda _: folder)
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
def no_fetching(monkeypatch):
    """Whoever tries to fetch is told that there is no connection."""
    tried = []
    monkeypatch.setattr(
        "reproduction.datasets.finding.fetch", lambda _, file: tried.append(file.name) or "no connection"
    )
    return tried


def toy(*files, **fields):
    """A data set of one file, or of one of several."""
    return Source("toy", 1, "CC0", "Somebody, 2026", {"data": files or (File("toy.txt", **fields),)})
