"""What a stolen disk, two backups, or PostgreSQL's own columns tell of a collector: which key came with which report.

    python -m bench.collect_disk

People send one report at a time, as from phones. The attacker knows all keys and looks for the report of each. It is a
simple one: what it does not find another may. JSON, one line for each case; PostgreSQL where it is installed.
"""

# ruff: noqa: PLR2004 (numbers of a file format)

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import rfc8785

import bipartite as bp
from bipartite.collect.store import Arrival, Store, begin
from bipartite.collect.study import Part, Question, Study
from bipartite.mechanisms.categories.cells import to_cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NAMES = bp.Items([f"name {at}" for at in range(200)])
MECHANISMS = {
    "BRR, ages": bp.BRR(bp.Integers(18, 90), 1, edges="padded", m="cdf"),
    "OLH, 200 names": bp.OLH(NAMES, 1),
    "OUE, 200 names": bp.OUE(NAMES, 1),
}
DAY, PAGE = date(2026, 11, 19), 4096


def study_of(name: str) -> Study:
    """A study of one question."""
    question = Question("asked", "Asked", (Part("asked", "Asked", MECHANISMS[name]),))
    return Study("bench", "Bench", "", date(2030, 1, 1), None, public=False, questions=(question,))


def people(name: str, count: int, seed: int = 1) -> list[Arrival]:
    """Reports of so many people, in the order in which they come."""
    mechanism, rng = MECHANISMS[name], np.random.default_rng(seed)
    at = (len(mechanism.domain) * rng.beta(2, 4, count)).astype(int)
    reports = mechanism.privatize([mechanism.domain[int(each)] for each in at])
    held = to_cells(np.asarray(reports)).tolist() if mechanism.flat else reports
    held = [each.decode() if isinstance(each, bytes) else each for each in np.asarray(held, dtype=object).tolist()]
    return [Arrival(1, os.urandom(16), rfc8785.dumps(each).decode()) for each in held]


def counted(store: Store, arrivals: Sequence[Arrival]) -> None:
    """Count these, a transaction each."""
    for each in arrivals:
        store.count([[each]], DAY)


# --- SQLite's file, byte by byte: https://sqlite.org/fileformat.html


def varint(held: bytes, at: int) -> tuple[int, int]:
    """A number of up to eight bytes, and where it ends."""
    value = 0
    while True:
        value, at = value << 7 | held[at] & 127, at + 1
        if held[at - 1] < 128:
            return value, at


def rows(page: bytes) -> list[tuple[object, ...]]:
    """Rows of a page of a table WITHOUT ROWID, in the order in which they were put into it, if none was moved since."""
    if page[0] not in {2, 10}:
        return []
    first, skipped = (12, 4) if page[0] == 2 else (8, 0)
    count = int.from_bytes(page[3:5], "big")
    places = sorted((int.from_bytes(page[first + 2 * at :][:2], "big") for at in range(count)), reverse=True)
    found = []
    for place in places:
        _, at = varint(page, place + skipped)
        length, types_at = varint(page, at)
        at, row, end = at + length, [], at + length
        while types_at < end:
            kind, types_at = varint(page, types_at)
            size = (kind - 12) // 2 if kind >= 12 else (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind]
            held = page[at : at + size]
            row.append(
                kind - 8 if kind in {8, 9}
                else int.from_bytes(held, "big") if kind < 12
                else held if kind % 2 == 0
                else held.decode()
            )  # fmt: skip
            at += size
        found.append(tuple(row))
    return found


def keys_in(page: bytes) -> list[bytes]:
    """The keys of a page of the table seen."""
    return [row[1] for row in rows(page) if len(row) == 2 and isinstance(row[1], bytes)]


def reports_in(page: bytes) -> list[tuple[str, int]]:
    """The reports of a page of the bag, and how often each came."""
    found = [row for row in rows(page) if list(map(type, row)) == [int, str, int]]
    return [(report, n) for _, report, n in found if report != DAY.isoformat()]


def pages(held: bytes) -> list[bytes]:
    """The pages of a file."""
    return [held[at : at + PAGE] for at in range(0, len(held), PAGE)]


def by_place(found: list[list[object]]) -> list[object]:
    """What stands on several pages, by how deep it lies in its own: the deepest came first."""
    return [
        each for _, each in sorted(((at + 0.5) / len(page), each) for page in found for at, each in enumerate(page))
    ]


def in_order(times: list[int]) -> float:
    """The share of pairs that stand in the order in which they came; a half is what chance gives."""
    after = np.subtract.outer(times, times)[np.tril_indices(len(times), -1)] > 0
    return round(float(np.mean(after)), 2)


def from_file(path: Path, arrivals: list[Arrival]) -> dict[str, object]:
    """Keys and reports of a file at rest, matched by the places where they lie."""
    held = pages(path.read_bytes())
    keys = by_place([keys_in(page) for page in held[1:]])
    reports = [report for report, n in by_place([reports_in(page) for page in held[1:]]) for _ in range(n)]
    truth = {each.key: each.report for each in arrivals}
    came = {each.key: at for at, each in enumerate(arrivals)}
    right = [truth[key] == report for key, report in zip(keys, reports, strict=True)]
    return {"keys in order": in_order([came[key] for key in keys]), "right": round(float(np.mean(right)), 3)}


def commits(log: bytes) -> Iterator[list[tuple[int, bytes]]]:
    """The pages that each transaction wrote, since the log was last begun anew."""
    mark, frames = log[16:24], []
    for at in range(32, len(log), 24 + PAGE):
        head = log[at : at + 24]
        if head[8:16] != mark:
            return
        frames.append((int.from_bytes(head[:4], "big"), log[at + 24 : at + 24 + PAGE]))
        if head[4:8] != bytes(4):
            yield frames
            frames = []


def from_log(path: Path, arrivals: list[Arrival]) -> dict[str, object]:
    """Keys and reports that one transaction of the log wrote."""
    old = dict(enumerate(pages(path.read_bytes()), 1))
    truth, linked, number = {each.key: each.report for each in arrivals}, 0, 0
    known = {key for page in list(old.values())[1:] for key in keys_in(page)}
    bag = dict(each for page in list(old.values())[1:] for each in reports_in(page))
    for frames in commits(path.with_name(path.name + "-wal").read_bytes()):
        new = {key for at, page in frames if at > 1 for key in keys_in(page)} - known
        changed = [each for at, page in frames if at > 1 for each in reports_in(page) if bag.get(each[0]) != each[1]]
        known |= new
        bag.update(changed)
        number += len(new)
        linked += len(new) == 1 and {truth[key] for key in new} == {report for report, _ in changed}
    return {"reports in the log": number, "linked": linked}


def sqlite(name: str, count: int, folder: Path) -> Iterator[dict[str, object]]:
    """The file while reports come, its log, and the file once it was written anew."""
    arrivals, path = people(name, count), folder / f"{count}.db"
    case: dict[str, object] = {"engine": "SQLite", "mechanism": name, "people": count}
    chance = sum(n * n for n in Counter(each.report for each in arrivals).values()) / count**2
    with begin(path, study_of(name)) as store:
        counted(store, arrivals)
        yield case | {"where": "log"} | from_log(path, arrivals)
        for where, act in (("file, while reports come", store.tidy), ("file, written anew", store.settle)):
            act()
            yield case | {"where": where} | from_file(path, arrivals) | {"chance": round(chance, 3)}
    path.unlink()


def long_reports(folder: Path, count: int = 300) -> Iterator[dict[str, object]]:
    """Reports of 1,500 bytes, which no mechanism above gives: the end of each lies on a page of its own."""
    arrivals, path = [Arrival(1, os.urandom(16), os.urandom(750).hex()) for _ in range(count)], folder / "long.db"
    with begin(path, study_of("OLH, 200 names")) as store:
        counted(store, arrivals)
        for where, act in (("file, while reports come", store.tidy), ("file, written anew", store.settle)):
            act()
            held = path.read_bytes()
            times = sorted(range(count), key=lambda at: held.find(arrivals[at].report[-400:].encode()))
            yield {"engine": "SQLite", "where": where, "long reports in order": in_order(times)}
    path.unlink()


def backups(name: str, between: int, folder: Path, rounds: int = 10) -> dict[str, object]:
    """Two backups with so many reports between them: a key's report is guessed as the most common of the difference."""
    right = []
    for seed in range(rounds):
        arrivals, copies = people(name, 200 + between, seed), []
        with begin(folder / "asked.db", study_of(name)) as store:
            for part in (arrivals[:200], arrivals[200:]):
                store.count([part], DAY)
                copies.append(folder / f"copy-{len(copies)}.db")
                store.backup(copies[-1])
        bags = [
            Counter(dict(each for page in pages(copy.read_bytes())[1:] for each in reports_in(page))) for copy in copies
        ]
        right.append(max((bags[1] - bags[0]).values()) / between)
        for path in (*copies, folder / "asked.db"):
            path.unlink()
    return {"where": "two backups", "mechanism": name, "between": between, "right": round(float(np.mean(right)), 3)}


# --- PostgreSQL


def postgresql(name: str, count: int, folder: Path) -> Iterator[dict[str, object]]:
    """What its own columns, its order, its files and its log tell, before and after the study is closed."""
    from tests.postgresql import PASSWORD, Server, binaries

    programs = binaries()
    if programs is None:
        return
    folder.chmod(0o755)
    server = Server(folder, programs)
    try:
        url, arrivals = server.make_database(), people(name, count)
        database = url.rpartition("/")[2]
        truth = {each.key: each.report for each in arrivals}
        with begin(url, study_of(name)) as store, closing(server.connect(database)) as session:
            counted(store, arrivals)
            session.execute("SET search_path = bipartite_collect; CREATE EXTENSION pageinspect")
            for where in ("open", "closed"):
                joined = session.execute("SELECT key, report FROM seen JOIN bag ON seen.xmin = bag.xmin").fetchall()
                raw = session.execute(
                    "SELECT count(DISTINCT seen.xmin::text) FROM seen JOIN (SELECT t_xmin FROM generate_series(0, "
                    "pg_relation_size('bag') / 8192 - 1) AS at, heap_page_items(get_raw_page('bag', at::integer)) "
                    "WHERE t_data IS NOT NULL) AS old ON old.t_xmin = seen.xmin"
                ).fetchone()
                environment = {**os.environ, "PGPASSWORD": PASSWORD}
                address = ["-h", "127.0.0.1", "-p", str(server.port), "-U", "owner", database]
                dump = subprocess.run(  # noqa: S603 (our own)
                    [programs / "pg_dump", "--data-only", "--table=*.seen", *address],
                    env=environment, capture_output=True, check=True,
                ).stdout  # fmt: skip
                places = [dump.find(each.key.hex().encode()) for each in arrivals]
                session.execute("CHECKPOINT")
                files = {
                    part: b"".join(path.read_bytes() for path in (folder / "data" / part).rglob("*") if path.is_file())
                    for part in ("base", "pg_wal")
                }
                yield {
                    "engine": "PostgreSQL", "mechanism": name, "people": count, "where": where,
                    "linked by xmin": sum(truth[bytes(key)] == report for key, report in joined),
                    "linked by xmin, old versions too": raw[0],
                    "pg_dump in order of arrival": -1 not in places and places == sorted(places),
                } | {f"keys in {part}": sum(key in held for key in truth) for part, held in files.items()}  # fmt: skip
                store.close_study()
    finally:
        server.stop("immediate")


def main() -> None:
    """Print a line for each case."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name in MECHANISMS:
            for count in (15, 100, 1000, 10_000):
                for case in sqlite(name, count, folder):
                    print(json.dumps(case, ensure_ascii=False), flush=True)
        for case in long_reports(folder):
            print(json.dumps(case, ensure_ascii=False), flush=True)
        for name in MECHANISMS:
            for between in (1, 2, 5, 20, 100):
                print(json.dumps(backups(name, between, folder), ensure_ascii=False), flush=True)
    for name in MECHANISMS:
        with tempfile.TemporaryDirectory() as temporary:
            for case in postgresql(name, 1000, Path(temporary)):
                print(json.dumps(case, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    sys.exit(main())
