"""The list of published files: read, checked, and only ever made longer.

``published.sha256`` holds one line ``hash  path`` for every file that others rely on, in blocks. Under each block is a
seal, the SHA-256 of all bytes above it: no line can be edited, moved or removed without breaking it. Where Git is
there, older lists are compared, too, as many as the clone has.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import tempfile
from pathlib import Path

from tools import draw_archive

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).parent / "published.sha256"
FOLDERS = ("tests/golden", "tests/vectors")
PAGE = "docs/draw.md"
ARCHIVE = "bipartite-draw-"
HEADER = """\
# Files that never change, by their SHA-256. Lines are only added, by `python -m tests.fence.keep`.
# A seal is the SHA-256 of all bytes above it. The page and the archive may be made clearer: their last line counts.
"""


def digest(content):
    return hashlib.sha256(content).hexdigest()


def may_be_made_clearer(path):
    """The page of the draw, and the archive that holds it; a text that changes a report is a new version of both."""
    return path == PAGE or path.startswith(ARCHIVE)


def published(root=ROOT):
    """What is published now: the hash of each file, and of the archive, which is built."""
    files = [path for folder in FOLDERS for path in (root / folder).rglob("*.json")]
    found = {path.relative_to(root).as_posix(): digest(path.read_bytes()) for path in sorted([*files, root / PAGE])}
    with tempfile.TemporaryDirectory() as folder:
        archive = draw_archive.build(Path(folder))
        return found | {archive.name: digest(archive.read_bytes())}


def lines(text):
    """(hash, path) of each line that is not a comment or a seal."""
    kept = [line for line in text.splitlines() if line and not line.startswith(("#", "seal"))]
    return [tuple(line.split("  ", 1)) for line in kept]


def wrong_files(text, found):
    """Where what is published differs from the list, in sentences that say what to do."""
    last = {path: expected for expected, path in lines(text)}
    wrong = []
    for path, expected in last.items():
        if path not in found:
            wrong.append(f"{path} is published and is gone; bring it back.")
        elif found[path] != expected and may_be_made_clearer(path):
            wrong.append(
                f"{path} has changed. If no report changes, run `python -m tests.fence.keep`, which adds its line; "
                "else it is a new version, beside this one."
            )
        elif found[path] != expected:
            wrong.append(f"{path} is published and never changes; put a new version beside it and add its line.")
    wrong += [f"{path} is not on the list; run `python -m tests.fence.keep`." for path in found.keys() - last.keys()]
    paths = [path for _, path in lines(text) if not may_be_made_clearer(path)]
    twice = sorted({path for path in paths if paths.count(path) > 1})
    return wrong + [f"{path} stands on the list twice; a published file has one line, for ever." for path in twice]


def wrong_seals(text):
    """Whether a line above a seal was edited, moved or removed, or the last block has no seal."""
    above, wrong = "", []
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        if line.startswith("seal") and line != f"seal {digest(above.encode())}\n":
            wrong.append(
                f"the seal in line {number} is broken: a line above it was edited; take it back, only add lines."
            )
        above += line
    if not text.splitlines()[-1].startswith("seal"):
        wrong.append("the last block has no seal; run `python -m tests.fence.keep`.")
    return wrong


def older_lists():
    """The list as it was in each commit that Git still has, all or only the last few; none outside of a checkout."""
    path = LIST.relative_to(ROOT).as_posix()
    try:
        told = subprocess.run(
            ["git", "log", "--format=%H", "--", path], cwd=ROOT, capture_output=True, text=True, check=True
        )
        commits = re.findall("[0-9a-f]{40}", told.stdout)
        shown = [["git", "show", f"{commit}:{path}"] for commit in commits]
        got = [subprocess.run(each, cwd=ROOT, capture_output=True, text=True, check=False) for each in shown]
    except (OSError, subprocess.CalledProcessError):
        return {}
    return {commit: each.stdout for commit, each in zip(commits, got, strict=True) if each.returncode == 0}


def lost_lines(text, older):
    """Lines of older lists that are gone."""
    held = set(lines(text))
    return [
        f"the line of {path} in commit {commit[:12]} is gone; bring it back, lines are only added."
        for commit, before in older.items()
        for line, path in lines(before)
        if (line, path) not in held
    ]


def with_new_lines(text, found):
    """The list with a line for each file that has none, or of the page that was made clearer, and a seal."""
    last = {path: expected for expected, path in lines(text)}
    new = [
        f"{each}  {path}\n"
        for path, each in found.items()
        if path not in last or (may_be_made_clearer(path) and last[path] != each)
    ]
    longer = text + "".join(new)
    sealed = longer.splitlines()[-1].startswith("seal")
    return longer if sealed else f"{longer}seal {digest(longer.encode())}\n"


def add_files():
    """Add what is not listed yet."""
    text = LIST.read_text(encoding="utf-8") if LIST.exists() else HEADER
    longer = with_new_lines(text, published())
    LIST.write_text(longer, encoding="utf-8")
    return len(lines(longer)) - len(lines(text))
