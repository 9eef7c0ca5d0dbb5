"""Kill -9 at any point of a release: never a partial output under the final name, never data without specs."""

import errno
import os
import stat
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bipartite as bp
from bipartite.tables import outputs, pieces, sources, streams
from bipartite.tables.answering import carried_by
from tests.tables.conftest import AGE

ROWS = 3 * sources.BATCH
# Kills its own process at the k-th of the moments that matter: each batch of rows, each flush, each change of a name.
RUN = """
import os, sys
from pathlib import Path
import bipartite as bp
from bipartite.tables import Settings, privatize_file

moments = 0

def moment(*_):
    global moments
    moments += 1
    if moments == int(sys.argv[3]):
        os.kill(os.getpid(), 9)

def before(owner, name):
    real = getattr(owner, name)
    def call(*arguments, **named):
        moment()
        done = real(*arguments, **named)
        moment()
        return done
    setattr(owner, name, call)

before(os, "fsync"), before(os, "link"), before(Path, "replace"), before(Path, "unlink")
plan = bp.Plan({"age": bp.BRR(bp.Integers(18, 90), 1)})
privatize_file(sys.argv[1], sys.argv[2], plan, settings=Settings(overwrite=sys.argv[4] == "yes"), progress=moment)
print(moments)
"""


def run(source, target, kill_at, overwrite):
    command = [sys.executable, "-c", RUN, str(source), str(target), str(kill_at), "yes" if overwrite else "no"]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))


@pytest.mark.parametrize("overwrite", [False, True])
def test_whenever_it_is_killed_an_output_is_whole_or_not_there(tmp_path, overwrite):
    source, target = tmp_path / "in.parquet", tmp_path / "out.csv"
    pq.write_table(pa.table({"age": pa.array([40] * ROWS, type=pa.int8())}), source)
    whole_run = run(source, target, 0, overwrite=False)
    assert whole_run.returncode == 0, whole_run.stderr
    moments = int(whole_run.stdout)
    whole = target.stat().st_size
    old = b"age\n18\n"
    seen_parts = 0
    # A handful of kills: while rows are written, and around the last changes of names.
    for kill_at in sorted({1, 3, moments // 2, moments - 5, moments - 2, moments - 1}):
        for each in tmp_path.iterdir():
            if each != source:
                each.unlink()
        if overwrite:
            target.write_bytes(old)
            outputs.side_file(target).write_text("old specs")
        assert run(source, target, kill_at, overwrite).returncode == -9
        seen_parts += any(each.name.endswith(".part") for each in tmp_path.iterdir())
        if not target.exists():
            continue
        if target.read_bytes() == old:
            assert outputs.side_file(target).read_text() == "old specs"
            continue
        # Reports differ from run to run; a CSV of ages of two digits has always the same size.
        assert target.stat().st_size == whole
        assert carried_by(target).mechanisms == {"age": AGE}
    assert seen_parts >= 2  # some kills came while something was being written


def test_an_interruption_leaves_nothing(tmp_path):
    source, target = tmp_path / "in.parquet", tmp_path / "out.csv"
    pq.write_table(pa.table({"age": [40] * 1000}), source)

    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bp.tables.privatize_file(source, target, bp.Plan({"age": AGE}), progress=interrupt)
    assert [each.name for each in tmp_path.iterdir()] == ["in.parquet"]


@pytest.mark.parametrize(
    "name", ["out.csv", "out.csv.gz", "out.jsonl", "out.arrow", "out.arrow.zst", "out.parquet", "out"]
)
def test_while_reports_are_drawn_only_their_owner_can_read_them(tmp_path, monkeypatch, name):
    monkeypatch.setattr(pieces, "MOST", 2048)
    source, target, rejected = tmp_path / "in.parquet", tmp_path / name, tmp_path / "rejected.csv"
    pq.write_table(pa.table({"age": [40, 7] * 5000, "at": [1] * 10_000}), source, row_group_size=1000)
    plain = tmp_path / "plain"
    plain.touch()
    seen = set()

    def look(*_):
        for each in tmp_path.iterdir():
            if each not in {source, plain}:
                seen.add((each.suffix, stat.S_IMODE(each.stat().st_mode)))

    parted = {"partition_by": ("at",), "output_format": "parquet"} if name == "out" else {}
    settings = bp.tables.Settings(reject=rejected, **parted)
    plan = bp.Plan({"age": AGE, "at": "public"})
    bp.tables.privatize_file(source, target, plan, settings=settings, progress=look)
    assert seen == {(".lock", 0o600), (".part", 0o600)} | ({(".part", 0o700)} if parted else set())
    usual, side = stat.S_IMODE(plain.stat().st_mode), outputs.side_file(target)
    for each in [side] if side.exists() else []:
        assert stat.S_IMODE(each.stat().st_mode) == usual
    assert stat.S_IMODE(target.stat().st_mode) == (usual | 0o111 if parted else usual)
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


class Full:
    """A disk that takes a little, as DuckDB is given it."""

    def __init__(self, room):
        self.room = room

    def write(self, block):
        self.room -= len(block)
        if self.room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return len(block)

    def flush(self):
        pass


@pytest.mark.parametrize("room", [0, 300_000])
def test_whoever_writes_never_waits_for_a_disk_that_takes_no_more(room):
    # DuckDB, told of a full disk in one thread, now and then waited for another one for good.
    output = streams.NamedOutput(Full(room))
    with pytest.raises(OSError, match="No space left"), output, output.path.open("wb", buffering=0) as file:
        written = [file.write(bytes(2**16)) for _ in range(40)]  # far more than a pipe holds
    assert output.refused and written == [2**16] * 40


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_a_full_disk_stops_a_release_and_leaves_nothing(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(streams, "unbuffered", lambda _: Full(100_000))
    source = tmp_path / "in.parquet"
    pq.write_table(pa.table({"age": np.random.default_rng(1).integers(18, 91, 40 * sources.BATCH // 8)}), source)
    monkeypatch.setattr(sources, "BATCH", sources.BATCH // 8)
    with pytest.raises(OSError, match="no space is left on the disk"):
        bp.tables.privatize_file(source, tmp_path / f"out.{kind}", bp.Plan({"age": AGE}))
    assert [each.name for each in tmp_path.iterdir()] == ["in.parquet"]
