"""Kill -9 at any point of a release: never a partial output under the final name, never data without specs."""

import errno
import io
import json
import os
import stat
import subprocess
import sys
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bipartite as bp
from bipartite.tables import formats, sources, streams, writing
from bipartite.tables.metadata import Described
from tests.tables.conftest import AGE

# Releases again and again, each time in a process of its own that kills itself later, at one of the moments that matter
# (each batch of rows, each flush, each change of a name), until one gets through; after each the files there are told.
# The processes are forked before anything has threads: to start Python for each would take most of the time.
RUN = """
import json, os, sys
import pandas, pyarrow.csv, pyarrow.parquet  # which are imported when they are needed
from pathlib import Path
import bipartite as bp
from bipartite.tables import formats, privatize_file, sources, streams

source, target, every = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
sources.AT_ONCE = streams.MOST = 2048
plan = bp.Plan({"age": bp.BRR(bp.Integers(18, 90), 1)})
plan.mechanisms()["age"].privatize([40] * 4096)  # what is compiled is loaded once
moments, kill_at = 0, 0

def moment(*_):
    global moments
    moments += 1
    if moments == kill_at:
        os.kill(os.getpid(), 9)

def before(owner, name):
    real = getattr(owner, name)
    def call(*arguments, **named):
        moment()
        done = real(*arguments, **named)
        moment()
        return done
    setattr(owner, name, call)

def release():
    before(os, "fsync"), before(os, "link"), before(Path, "replace"), before(Path, "unlink")
    privatize_file(source, target, plan, overwrite=overwrite, progress=moment)
    os._exit(0)

for overwrite in (False, True):
    code, kill_at = -9, 1 - every
    while code == -9:
        kill_at += every
        for each in source.parent.iterdir():
            if each != source:
                each.unlink()
        if overwrite:
            target.write_text("old data")
            formats.side_file(target).write_text("old specs")
        number = os.fork() or release()
        code = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
        left = {each.name: each.read_text() for each in source.parent.iterdir() if each != source}
        print(json.dumps([overwrite, code, left]))
"""


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_whenever_it_is_killed_an_output_is_whole_or_not_there(tmp_path, every):
    source, target = tmp_path / "in.parquet", tmp_path / "out.csv"
    pq.write_table(pa.table({"age": pa.array([40] * 3 * 2048, type=pa.int8())}), source)
    command = [sys.executable, "-c", RUN, str(source), str(target), str(every)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    for overwrite in (False, True):
        *killed, whole = [left for replacing, _, left in runs if replacing is overwrite]
        assert set(whole) == {"out.csv", "out.csv.bipartite.json"} and len(killed) >= 20 // every
        assert Described.from_json(whole["out.csv.bipartite.json"]).mechanisms == {"age": AGE}
        seen = Counter()
        for left in killed:
            data, specs = left.get("out.csv"), left.get("out.csv.bipartite.json")
            if data == "old data":
                assert overwrite and specs == "old specs"
            elif data is not None:
                # Reports differ from run to run; a CSV of ages of two digits has always the same size.
                assert len(data) == len(whole["out.csv"]) and specs == whole["out.csv.bipartite.json"]
            seen["old" if data == "old data" else "none" if data is None else "new"] += 1
            seen["unfinished"] += any(name.endswith(".part") for name in left)
        # Kills came before, between and after the changes of names, and while something was being written.
        assert seen["none"] and seen["new"] and seen["unfinished"] and bool(seen["old"]) is overwrite
    assert {code for _, code, _ in runs} == {0, -9}


def test_an_interruption_leaves_nothing(tmp_path):
    source, target = tmp_path / "in.parquet", tmp_path / "out.csv"
    pq.write_table(pa.table({"age": [40] * 1000}), source)

    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bp.tables.privatize_file(source, target, bp.Plan({"age": AGE}), progress=interrupt)
    assert [each.name for each in tmp_path.iterdir()] == ["in.parquet"]


@pytest.mark.grid(4)
@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.jsonl", "out.arrow", "out.arrow.zst", "out.parquet"])
def test_while_reports_are_drawn_only_their_owner_can_read_them(tmp_path, monkeypatch, name):
    monkeypatch.setattr(streams, "MOST", 2048)
    source, target, rejected = tmp_path / "in.parquet", tmp_path / name, tmp_path / "rejected.csv"
    pq.write_table(pa.table({"age": [40, 7] * 5000, "at": [1] * 10_000}), source, row_group_size=1000)
    plain = tmp_path / "plain"
    plain.touch()
    seen = set()

    def look(*_):
        for each in tmp_path.iterdir():
            if each not in {source, plain}:
                seen.add((each.suffix, stat.S_IMODE(each.stat().st_mode)))

    plan = bp.Plan({"age": AGE, "at": "public"})
    bp.tables.privatize_file(source, target, plan, reject=rejected, progress=look)
    assert seen == {(".lock", 0o600), (".part", 0o600)}
    usual, side = stat.S_IMODE(plain.stat().st_mode), formats.side_file(target)
    for each in [side] if side.exists() else []:
        assert stat.S_IMODE(each.stat().st_mode) == usual
    assert stat.S_IMODE(target.stat().st_mode) == usual
    assert stat.S_IMODE(rejected.stat().st_mode) == 0o600


def test_the_command_says_what_a_killed_run_left_and_that_it_is_gone(tmp_path):
    (tmp_path / "in.csv").write_text("age\n40\n")
    (tmp_path / "plan.toml").write_text("[columns.age]\ndomain = { integers = [18, 90] }\nepsilon = 1\n")
    for suffix in ("lock", "part"):
        (tmp_path / f".out.csv.bipartite-0123abcd.{suffix}").touch()
    command = [sys.executable, "-m", "bipartite", "privatize", "in.csv", "out.csv", "--plan", "plan.toml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    wanted = "bipartite: removed .out.csv.bipartite-0123abcd.part: the unfinished output of a run that was killed.\n"
    assert done.returncode == 0 and wanted in done.stderr
    assert not list(tmp_path.glob(".*"))


class Full(io.RawIOBase):
    """A disk that takes a little."""

    def __init__(self, room):
        self.room = room

    def writable(self):
        return True

    def write(self, block):
        self.room -= len(block)
        if self.room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return len(block)


@pytest.mark.parametrize("kind", ["jsonl", "csv", "csv.gz", "parquet", "arrow"])
def test_a_full_disk_stops_a_release_and_leaves_nothing(tmp_path, monkeypatch, kind):
    def sink(_part, compression):
        full = pa.PythonFile(Full(20_000), mode="w")
        return full if compression is None else pa.CompressedOutputStream(full, compression)

    monkeypatch.setattr(writing, "_sink", sink)
    monkeypatch.setattr(sources, "AT_ONCE", 2048)
    monkeypatch.setattr(streams, "MOST", 2048)
    source = tmp_path / "in.parquet"
    pq.write_table(pa.table({"age": np.random.default_rng(1).integers(18, 91, 100_000)}), source)
    with pytest.raises(OSError, match="no space is left on the disk"):
        bp.tables.privatize_file(source, tmp_path / f"out.{kind}", bp.Plan({"age": AGE}))
    assert [each.name for each in tmp_path.iterdir()] == ["in.parquet"]
