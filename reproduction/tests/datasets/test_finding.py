"""Which file is read: the folder before the cache before the publisher; checksums; what is said when there is none."""

import gzip
import hashlib
import io
import zipfile

import pytest

from bipartite.errors import DataFileError, InputError, MissingDataError
from reproduction import datasets
from reproduction.datasets import SOURCES, File, data_folder, find
from reproduction.tests.datasets.conftest import toy

GOOD = b"the publisher's bytes\n"
SHA256 = hashlib.sha256(GOOD).hexdigest()
URLS = ("http://publisher.example/toy.txt",)


def test_the_folder_comes_before_the_cache_and_both_before_the_publisher(folder, cache, no_fetching):
    source = toy(urls=URLS, sha256=SHA256)
    cache.mkdir()
    for place in (cache, folder):
        (place / "toy.txt").write_bytes(GOOD)
        found = find(source)
        assert (found.path, found.content, found.sha256) == (place / "toy.txt", GOOD, SHA256)
    assert no_fetching == []


@pytest.mark.parametrize(
    ("fields", "content", "standing"),
    [
        ({"urls": URLS, "sha256": SHA256}, GOOD, "official"),
        ({"urls": URLS}, GOOD, "unchecked"),
        ({"sha256": SHA256, "copy": "by others"}, GOOD, "copy"),
        ({"urls": URLS, "sha256": SHA256, "copy": "a copy under the publisher's name"}, GOOD, "copy"),
        ({"urls": URLS, "sha256": SHA256, "copy": "a copy under the publisher's name"}, b"else", "unchecked"),
        ({"urls": URLS, "sha256": SHA256}, b"else", f"delete it and fetch it again from {URLS[0]}."),
        ({"sha256": SHA256, "copy": "by others"}, b"else", "it is damaged or another file; delete it."),
        ({"urls": URLS}, b"<html>", "is no toy.txt, perhaps a web page; delete it and fetch it again from"),
    ],
)
def test_a_file_is_official_or_unchecked_or_a_copy_or_refused_and_stays(folder, fields, content, standing, no_fetching):
    (folder / "toy.txt").write_bytes(content)
    if " " not in standing:
        assert find(toy(**fields)).standing == standing
    else:
        with pytest.raises(DataFileError) as caught:
            find(toy(**fields))
        assert str(folder / "toy.txt") in str(caught.value) and standing in str(caught.value)
        sums = f"to have sha256 {SHA256}, got {hashlib.sha256(content).hexdigest()}"
        assert content[:1] == b"<" or sums in str(caught.value)
    assert (folder / "toy.txt").read_bytes() == content and no_fetching == []


def nested(content):
    inner, outer = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("__MACOSX/inner/._toy.txt", "a trap")
        archive.writestr("inner/toy.txt", content)
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("inner.zip", inner.getvalue())
    return outer.getvalue()


@pytest.mark.parametrize(
    ("name", "members", "pack"), [("toy.zip", ("inner.zip", "toy.txt"), nested), ("toy.txt.gz", (), gzip.compress)]
)
def test_packed_content_is_opened_and_checked_and_damage_is_named(folder, name, members, pack):
    source = toy(File(name, URLS, SHA256, members))
    if not members:  # it may lie there unpacked
        (folder / "toy.txt").write_bytes(GOOD)
        assert find(source).content == GOOD
    (folder / name).write_bytes(pack(GOOD))
    found = find(source)
    assert (found.content, found.name, found.standing) == (GOOD, members[-1] if members else name, "official")
    (folder / name).write_bytes(pack(b"other"))
    with pytest.raises(DataFileError, match=f"Expected what .*{name} holds to have sha256 {SHA256}, got"):
        find(source)
    whole = bytearray(pack(GOOD))
    whole[whole.find(GOOD) if members else -6] ^= 1  # a byte of the content, or of its checksum
    for damaged in (pack(GOOD)[: len(whole) // 2], b"<html>", whole):
        (folder / name).write_bytes(damaged)
        with pytest.raises(DataFileError, match=f"{name} ends early, is damaged, .*fetch it again from {URLS[0]}"):
            find(source)
    if members:
        (folder / name).write_bytes(pack(GOOD))
        with pytest.raises(DataFileError, match="Expected other.txt in the archive .*toy.zip, which does not hold it"):
            find(toy(File(name, URLS, SHA256, ("inner.zip", "other.txt"))))


def test_missing_and_offline_says_from_where_and_where_to_put_it(cache, no_fetching, monkeypatch, tmp_path):
    with pytest.raises(MissingDataError) as caught:
        datasets.abalone()
    (plain, archive) = SOURCES["abalone"].parts["data"]
    assert f"({plain.urls[0]}: no connection" in str(caught.value)
    assert f"with a browser and put it, named abalone.data, into {cache}, or into a folder" in str(caught.value)
    assert f"{archive.name} will do as well." in str(caught.value)
    assert isinstance(caught.value, FileNotFoundError) and no_fetching == ["abalone.data", "abalone.zip"]
    monkeypatch.setenv("BIPARTITE_DATA", str(tmp_path))
    with pytest.raises(MissingDataError) as caught:
        datasets.check_ins("gowalla-authors-1000")
    assert "has no address to be fetched from" in str(caught.value)
    assert "Built by python -m reproduction.datasets.build_places. Put gowalla_authors_1000.txt" in str(caught.value)
    assert "(content: sha256 0e26e4f90eaa72d7" in str(caught.value) and f"into {tmp_path}." in str(caught.value)


@pytest.mark.usefixtures("cache", "no_fetching")
def test_the_sources_are_whole_and_each_is_missed_with_its_addresses_and_files():
    addresses = {}
    for name, source in SOURCES.items():
        assert name == source.name and source.licence and source.citation and source.rows > 0
        for part, files in source.parts.items():
            with pytest.raises(MissingDataError) as caught:
                find(source, part)
            for file in files:
                assert all(each in str(caught.value) for each in (file.name, *file.urls))
                assert file.sha256 is None or len(file.sha256) == 64
                assert file.urls or file.sha256 or source.url, "neither an address nor a checksum"
                assert not file.copy or file.sha256
                # One file name, one address: the cache knows files by their names alone.
                assert addresses.setdefault(file.name, file.urls) == file.urls
            # A publisher's archive serves as well as the file in it: with the same name and content.
            if name in {"abalone", "adult", "bank"}:
                assert len({file.sha256 for file in files}) == 1
                assert len({(file.members or (file.name,))[-1].removesuffix(".gz") for file in files}) == 1


def test_a_folder_that_is_none_is_a_mistake(cache, monkeypatch):
    monkeypatch.setenv("BIPARTITE_DATA", str(cache / "none"))
    with pytest.raises(InputError, match="Expected BIPARTITE_DATA to name a folder, got .*; create it, or unset it."):
        data_folder()
    monkeypatch.setenv("BIPARTITE_DATA", "")
    assert data_folder() is None
