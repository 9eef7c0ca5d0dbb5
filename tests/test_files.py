"""Files that are there whole or not at all."""

import os
import stat
import subprocess
import sys

import pytest

from bipartite import files
from bipartite.files import naming, part_of, write_atomically


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


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_part_is_its_owners_alone_until_it_has_its_name_and_then_as_any_new_file(tmp_path, mask):
    before = os.umask(mask)
    try:
        for folder in (False, True):
            path = tmp_path / "out"
            with part_of(path, folder=folder) as part:
                assert mode(part) == (0o700 if folder else 0o600)
                with naming(part):
                    part.rename(path)
                    assert mode(path) == (0o700 if folder else 0o600)
                assert mode(path) == (0o777 if folder else 0o666) & ~mask
            path.rename(tmp_path / f"kept-{folder}")
        # What takes its name without that stays its owner's alone.
        with part_of(path) as part:
            part.rename(path)
        assert mode(path) == 0o600
        assert os.umask(mask) == mask
    finally:
        os.umask(before)


def test_what_is_not_given_a_name_is_deleted(tmp_path):
    with part_of(tmp_path / "folder", folder=True) as part:
        (part / "inner").mkdir()
    with pytest.raises(KeyError), part_of(tmp_path / "file"):
        raise KeyError
    assert names(tmp_path) == []


# Starts to write, says so, and waits.
WRITE = """
import os, sys, time
from pathlib import Path
from bipartite.files import part_of
with part_of(Path(sys.argv[1]), folder=sys.argv[2] == "folder") as part:
    (part / "inner" if part.is_dir() else part).write_text("secret")
    print(part.name, flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_a_killed_run_left_is_named_and_removed_by_the_next_and_what_a_living_one_writes_is_not(tmp_path, kind):
    command = [sys.executable, "-c", WRITE, str(tmp_path / "a.csv"), kind]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as dies, subprocess.Popen(command, **pipes) as lives:
        left, written = dies.stdout.readline().strip(), lives.stdout.readline().strip()
        dies.kill()
        dies.wait()
        assert left in names(tmp_path)
        with pytest.warns(UserWarning, match=rf"removed .*/{left}: the unfinished output of a run that was kill"):
            write_atomically(tmp_path / "b.csv", "text")
        assert names(tmp_path) == sorted([written, written.replace(".part", ".lock"), "b.csv"])
        write_atomically(tmp_path / "b.csv", "text")  # and is silent about the other
        lives.communicate("")
    assert names(tmp_path) == ["b.csv"] and lives.returncode == 0


def left_behind(folder):
    for suffix in ("lock", "part"):
        (folder / f".x.bipartite-0123abcd.{suffix}").touch()


def test_what_cannot_be_known_to_be_dead_is_left_alone(tmp_path, monkeypatch):
    left_behind(tmp_path)
    # Of another user; where files cannot be locked; from a version that knew no locks; on Windows.
    with monkeypatch.context() as patch:
        patch.setattr(os, "getuid", lambda: 12345)
        write_atomically(tmp_path / "b", "")
    with monkeypatch.context() as patch:
        patch.setattr(files, "take_lock", lambda _: False)
        write_atomically(tmp_path / "b", "")
    with monkeypatch.context() as patch:
        patch.delattr(os, "O_NOFOLLOW")
        write_atomically(tmp_path / "b", "")
    assert len(names(tmp_path)) == 3
    (tmp_path / ".x.bipartite-0123abcd.lock").unlink()
    write_atomically(tmp_path / "b", "")
    assert names(tmp_path) == [".x.bipartite-0123abcd.part", "b"]


def test_a_link_in_place_of_a_part_is_removed_and_not_followed(tmp_path):
    left_behind(tmp_path)
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    (tmp_path / ".x.bipartite-0123abcd.part").unlink()
    (tmp_path / ".x.bipartite-0123abcd.part").symlink_to(tmp_path / "precious")
    with pytest.warns(UserWarning, match="removed .*/.x.bipartite-0123abcd.part: "):
        write_atomically(tmp_path / "b", "")
    assert names(tmp_path) == ["b", "precious"] and names(tmp_path / "precious") == ["file"]


def test_a_name_cannot_forge_a_line(tmp_path):
    for suffix in ("lock", "part"):
        (tmp_path / f".x\nbipartite: ok.bipartite-0123abcd.{suffix}").touch()
    with pytest.warns(UserWarning, match=r"\.x\\nbipartite: ok") as caught:
        write_atomically(tmp_path / "b", "")
    assert "\n" not in str(caught[0].message)


def test_a_lock_is_held_before_another_run_can_find_it(tmp_path, monkeypatch):
    real, taken = files.take_lock, []

    def late(opened):
        # Another run looks for locks of killed runs, and takes what it finds, just before the owner does.
        taken.extend(os.open(each, os.O_RDWR) for each in tmp_path.glob(".*.lock"))
        assert all(map(real, taken))
        return real(opened)

    monkeypatch.setattr(files, "take_lock", late)
    with part_of(tmp_path / "b") as part:
        assert taken == []
        assert names(tmp_path) == sorted([part.name, f"{part.stem}.lock"])
    assert names(tmp_path) == []


def test_a_file_system_without_permissions_does_not_fail_what_has_its_name(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "fchmod", refuse)
    write_atomically(tmp_path / "page", "text")
    assert (tmp_path / "page").read_text() == "text" and names(tmp_path) == ["page"]


def test_where_nothing_can_be_written_the_file_that_was_asked_for_is_named(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(OSError, match=r"cannot be written \(Read-only file system\); name another file") as told:
        write_atomically(tmp_path / "page", "text")
    assert told.value.filename == str(tmp_path / "page") and told.value.errno == 30
