"""The page about the house is true: its rooms, what they import, and every step of its five walks."""

import ast
import asyncio
import itertools
import os
import re
import runpy
import sys
import threading
import tomllib
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bipartite as bp
import bipartite.cli
import reproduction.__main__
from bipartite.collect.store import begin, resume
from bipartite.collect.study import read_study
from tests.collect.asking import ask, collector, post
from tests.collect.conftest import STUDY
from tests.collect.reports import envelope, written

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "src" / "bipartite"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
FLOORS = runpy.run_path(str(ROOT / "docs" / "architecture_picture.py"))["FLOORS"]
ROOMS = [room for floor in reversed(FLOORS) for room in floor]


def told_by(room):
    """The lines of a room's docstring that are not empty."""
    tree = ast.parse((LIBRARY / room / "__init__.py").read_text(encoding="utf-8"))
    return [line for line in ast.get_docstring(tree).splitlines() if line]


def said_after(words, room):
    (line,) = [line for line in told_by(room) if line.startswith(words)]
    return line.removeprefix(words).removesuffix(".").split(", ")


def may_import(room):
    named = said_after("May import: ", room)
    return {"no room": set(), "every other room": set(ROOMS) - {room}}.get(named[0], set(named))


def imported_by(room):
    """Other rooms that the modules of a room import, wherever in a module it is."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in (LIBRARY / room).rglob("*.py"))
    return set(re.findall(r"^\s*(?:from|import) bipartite\.(\w+)", text, re.MULTILINE)) & set(ROOMS) - {room}


def test_the_plan_shows_every_room_in_the_order_of_the_contract():
    folders = {path.parent.name for path in LIBRARY.glob("*/__init__.py")}
    assert set(ROOMS) == folders
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    assert [layer for layer in reversed(contracts[0]["layers"]) if layer in folders] == ROOMS


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_what_it_says_and_only_from_floors_below(room):
    below = itertools.takewhile(lambda floor: room not in floor, reversed(FLOORS))
    assert imported_by(room) <= may_import(room) <= {each for floor in below for each in floor}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_in_five_lines_what_the_page_says(room):
    told = told_by(room)
    assert len(told) <= 5
    begin = said_after("Begin reading: ", room)
    assert [name for name in begin if not (LIBRARY / room / name).is_file()] == []
    row = f"| `{room}` | {told[0].replace('``', '`')} | {', '.join(f'`{name}`' for name in begin)} |"
    assert row in PAGE, f"write in docs/architecture.md: {row}"


def a_value(_):
    bp.BRR(bp.Integers(18, 90), epsilon=1).privatize(40)


def reports(_):
    mechanism = bp.BRR(bp.Integers(18, 90), epsilon=1, edges="padded")
    bp.estimate(mechanism, np.arange(18, 90).repeat(50)).ask("mean").ci()


def a_parquet_file(folder):
    pq.write_table(pa.table({"age": [23, 40, 71]}), folder / "people.parquet")
    (folder / "plan.toml").write_text(
        "[columns.age]\ndomain = { integers = [18, 90] }\nepsilon = 1\n", encoding="utf-8"
    )
    files = [str(folder / name) for name in ("people.parquet", "reports.parquet")]
    assert bipartite.cli.main(["privatize", *files, "--plan", str(folder / "plan.toml")]) == 0


def a_claim(folder):
    arguments = ["run", "worked_example", "--out", str(folder)]
    assert bipartite.cli.main(arguments, program=reproduction.__main__.LABORATORY) == 0


def a_post(folder):
    path = folder / "readers.toml"
    path.write_text(STUDY, encoding="utf-8")
    study, where = read_study(path), folder / "readers.db"
    begin(where, study).close()

    async def walk():
        async with collector(lambda: resume(where, "readers"), today=lambda: date(2026, 11, 19)) as made:
            reports = [envelope(study, study.questions[0], 18 + at % 73) for at in range(2_000)]
            assert await post(made.app, written(reports)) == (200, {"counted": 2_000, "known": 0})
            assert (await ask(made.app, "GET", "/answers"))[0] == 200

    asyncio.run(walk())


WALKS = {
    "A value to its report": (a_value, 9),
    "Reports to an interval": (reports, 8),
    "A Parquet file to its release": (a_parquet_file, 10),
    "A post to the page of the answers": (a_post, 8),
    "A claim to its verdict": (a_claim, 8),
}


def steps_of(title):
    walk = PAGE.split(f"### {title}\n")[1].split("\n#")[0]
    return re.findall(r"^[0-9]+\. `([\w/]+\.py)`, `(\w+)`: ", walk, re.MULTILINE)


def called_in(walk, folder):
    """Files and functions of ours in the order of their first calls, in all threads."""
    found = {}

    def note(frame, event, _):
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(ROOT)):
            near = path.removeprefix(str(LIBRARY) + os.sep).removeprefix(str(ROOT) + os.sep)
            found.setdefault((near.replace(os.sep, "/"), frame.f_code.co_name))

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        walk(folder)
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return list(found)


@pytest.mark.parametrize("title", WALKS)
def test_every_step_of_a_walk_is_on_the_way(title, tmp_path):
    walk, most = WALKS[title]
    steps, called = steps_of(title), called_in(walk, tmp_path)
    assert 1 < len(steps) <= most
    assert [step for step in steps if step not in called] == []
    assert steps == sorted(steps, key=called.index)


def test_the_page_has_these_walks_and_no_other():
    assert re.findall(r"^### (.*)$", PAGE.split("## Five walks")[1].split("\n## ")[0], re.MULTILINE) == list(WALKS)
