"""Which file is read: the folder before the cache before the publisher; checksums; what is said when there is none."""

import gzip
import hashlib
import io
import sys
import zipfile
from pathlib import Path

import pytest

from bipartite.errors import DataFileError, InputError, MissingDataError
from reproduction import datasets
from reproduction.datasets.fetching import _Bar
from reproduction.datasets.finding import cache_folder, data_folder, find
from reproduction.datasets.opening import opened
from reproduction.datasets.sources import SOURCES, File, Source

GOOD = b"the publisher's bytes\n"


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def source(*files):
    return Source("toy", "toy()", 1, "CC0", "Somebody, 2026", {"data": files})


def content_of(found):
    with opened(found) as stream:
        return stream.read()


@pytest.fixture
def no_fetching(monkeypatch):
    """Whoever tries to fetch is told that there is no connection."""
    tried = []

    def refuse(url, path, checksum, _):
        tried.append((url, path.name, checksum))
        return "no connection"

    monkeypatch.setattr("reproduction.datasets.finding.fetch", refuse)
    return tried


def test_the_folder_comes_before_the_cache_and_both_before_the_publisher(folder, cache, no_fetching):
    toy = source(File("toy.txt", ("http://publisher.example/toy.txt",), sha256(GOOD)))
    cache.mkdir()
    (cache / "toy.txt").write_bytes(GOOD)
    assert find(toy, "data").path == cache / "toy.txt"
    (folder / "toy.txt").write_bytes(GOOD)
    found = find(toy, "data")
    assert (found.path, found.standing, found.sha256) == (folder / "toy.txt", "official", sha256(GOOD))
    assert no_fetching == []


def test_a_wrong_checksum_is_an_error_and_the_file_stays(folder, no_fetching):
    toy = source(File("toy.txt", ("http://publisher.example/toy.txt",), sha256(GOOD)))
    (folder / "toy.txt").write_bytes(b"other")
    expected = (
        f"Expected {folder / 'toy.txt'} to have sha256 {sha256(GOOD)}, got {sha256(b'other')}: the file is damaged"
    )
    with pytest.raises(DataFileError) as caught:
        find(toy, "data")
    assert str(caught.value).startswith(expected)
    assert str(caught.value).endswith("delete it, and it is fetched again from http://publisher.example/toy.txt.")
    assert no_fetching == []


def test_where_no_checksum_is_known_a_file_is_accepted_and_said_to_be_unchecked(folder):
    toy = source(File("toy.txt", ("http://publisher.example/toy.txt",), copy_sha256=sha256(b"a copy")))
    (folder / "toy.txt").write_bytes(GOOD)
    assert find(toy, "data").standing == "unchecked"
    (folder / "toy.txt").write_bytes(b"a copy")
    assert find(toy, "data").standing == "copy"


def test_a_copy_is_checked_and_called_a_copy(folder):
    toy = source(File("toy.txt", sha256=sha256(GOOD), is_copy=True, note="by others"))
    (folder / "toy.txt").write_bytes(GOOD)
    assert find(toy, "data").standing == "copy"
    (folder / "toy.txt").write_bytes(b"other")
    with pytest.raises(DataFileError, match=r"is damaged or another one; delete it\.$"):
        find(toy, "data")


def nested(path, content):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("__MACOSX/inner/._toy.txt", "a trap")
        archive.writestr("inner/toy.txt", content)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.zip", "no archive")
        archive.writestr("inner.zip", inner.getvalue())


def test_an_archive_in_an_archive_is_opened_and_what_it_holds_is_checked(folder):
    toy = source(File("toy.zip", members=("inner.zip", "toy.txt"), content_sha256=sha256(GOOD)))
    nested(folder / "toy.zip", GOOD)
    found = find(toy, "data")
    assert (content_of(found), found.standing) == (GOOD, "official")
    nested(folder / "toy.zip", b"other")
    with pytest.raises(DataFileError, match=f"Expected toy.txt in .*toy.zip to have sha256 {sha256(GOOD)}, got"):
        content_of(find(toy, "data"))


def test_packed_content_is_checked_too(folder):
    toy = source(File("toy.txt.gz", content_sha256=sha256(GOOD)))
    (folder / "toy.txt.gz").write_bytes(gzip.compress(GOOD))
    assert content_of(find(toy, "data")) == GOOD
    (folder / "toy.txt.gz").write_bytes(gzip.compress(b"other"))
    with pytest.raises(DataFileError, match="Expected the content in .*toy.txt.gz to have sha256"):
        content_of(find(toy, "data"))


def test_missing_and_offline_says_from_where_and_where_to_put_it(cache, no_fetching, monkeypatch, tmp_path):
    with pytest.raises(MissingDataError) as caught:
        datasets.abalone()
    message = str(caught.value)
    url = "https://archive.ics.uci.edu/ml/machine-learning-databases/abalone/abalone.data"
    assert f"  {url}: no connection" in message
    assert f"Download {url} with a browser and put it, named abalone.data, into {cache}, or into a folder" in message
    assert "abalone.zip will do as well." in message
    assert isinstance(caught.value, FileNotFoundError)
    assert [name for _, name, _ in no_fetching] == ["abalone.data", "abalone.zip"]
    monkeypatch.setenv("BIPARTITE_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match=f"into {tmp_path}. "):
        datasets.abalone()
    with pytest.raises(MissingDataError) as caught:
        datasets.gowalla("authors-1000")
    assert "has no address to be fetched from" in str(caught.value)
    assert "Put gowalla_authors_1000.txt (sha256 0e26e4f9" in str(caught.value)
    assert f"into {tmp_path}." in str(caught.value)


@pytest.mark.usefixtures("cache", "no_fetching")
def test_every_data_set_is_missed_with_its_address_or_file():
    for source in SOURCES.values():
        for part, files in source.parts.items():
            with pytest.raises(MissingDataError) as caught:
                find(source, part)
            for file in files:
                assert file.name in str(caught.value)
                assert all(url in str(caught.value) for url in file.urls)


@pytest.mark.usefixtures("cache")
def test_without_pooch_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingDataError, match=r"fetching needs pooch; install it with pip install pooch"):
        datasets.bias()


def test_a_folder_that_is_none_is_a_mistake(monkeypatch, tmp_path):
    monkeypatch.setenv("BIPARTITE_DATA", str(tmp_path / "none"))
    with pytest.raises(InputError, match="Expected BIPARTITE_DATA to name a folder, got .*; create it, or unset it."):
        data_folder()
    monkeypatch.setenv("BIPARTITE_DATA", "")
    assert data_folder() is None


def test_the_cache_is_where_each_system_has_it(monkeypatch, tmp_path):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for platform, parts in [
        ("linux", (".cache", "bipartite")),
        ("darwin", ("Library", "Caches", "bipartite")),
        ("win32", ("AppData", "Local", "bipartite", "Cache")),
    ]:
        monkeypatch.setattr(sys, "platform", platform)
        assert cache_folder() == tmp_path.joinpath(*parts)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert cache_folder() == tmp_path / "elsewhere" / "bipartite"


def test_the_sources_are_whole():
    names = {}
    for name, each in SOURCES.items():
        assert name == each.name
        assert each.licence and each.citation and each.rows > 0
        for file in (file for files in each.parts.values() for file in files):
            known = [file.sha256, file.content_sha256, file.copy_sha256]
            assert all(checksum is None or len(checksum) == 64 for checksum in known)
            assert file.urls or file.sha256 or file.content_sha256 or each.url, "neither an address nor a checksum"
            assert not file.is_copy or (file.sha256 and file.note and not file.urls)
            # One file name, one address and checksum: the cache knows files by their names alone.
            assert names.setdefault(file.name, (file.urls, file.sha256)) == (file.urls, file.sha256)


def test_progress_counts_each_byte_once():
    seen = []
    bar = _Bar(lambda by, total: seen.append((by, total)))
    bar.total = 100
    for step in (64, 64):
        bar.update(step)
    bar.reset()
    bar.update(100)
    bar.close()
    assert seen == [(64, 100), (36, 100)]
