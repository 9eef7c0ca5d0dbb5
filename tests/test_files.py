"""Files that are there whole or not at all."""

import os
import stat

import pytest

from bipartite.files import part_of, write_atomically


def names(folder):
    return sorted(each.name for each in folder.iterdir())


def test_a_whole_file_takes_the_place_of_an_older_one_with_the_rights_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    for content in ("ε\n", b"\x00\xff"):
        write_atomically(tmp_path / "page", content)
        assert (tmp_path / "page").read_bytes() == (content if isinstance(content, bytes) else content.encode())
    rights = [stat.S_IMODE((tmp_path / each).stat().st_mode) for each in ("plain", "page")]
    assert rights[0] == rights[1]
    assert names(tmp_path) == ["page", "plain"]


def test_a_failed_write_leaves_the_older_file_and_nothing_else(tmp_path, monkeypatch):
    (tmp_path / "page").write_text("older")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("bipartite.files.flush", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(tmp_path / "page", "newer")
    assert (tmp_path / "page").read_text() == "older"
    assert names(tmp_path) == ["page"]


def test_a_link_stays_a_link_and_a_missing_folder_is_named(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "page")
    write_atomically(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "page").read_text() == "text"
    with pytest.raises(FileNotFoundError, match="No such folder"):
        write_atomically(tmp_path / "none" / "page", "text")


def test_what_is_no_plain_file_is_written_to_as_it_is(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(tmp_path / "pipe", "text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)


def test_a_private_part_is_its_owners_alone_from_the_start(tmp_path):
    with part_of(tmp_path / "copy", private=True) as part:
        assert stat.S_IMODE(part.stat().st_mode) == 0o600
    with part_of(tmp_path / "folder") as part:
        (part / "inner").mkdir(parents=True)
    assert names(tmp_path) == []
