"""The archive of the draw: docs/draw.md, all vectors, the specs they name, in one file for people who write a client.

``python tools/draw_archive.py dist`` writes ``bipartite-draw-1.zip`` there, after the version that the page states. The
same files give the same bytes on every machine: names in order, one fixed time, and no compression, whose result
depends on the library that does it.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "draw.md"
VECTORS = ROOT / "tests" / "vectors"
GOLDEN = ROOT / "tests" / "golden" / "v2"
# The earliest time that a zip file can hold.
_TIME = (1980, 1, 1, 0, 0, 0)
_PLAIN_FILE = 0o100644 << 16
_README = """\
# bipartite: the draw, version {version}

How a value becomes a report on a person's own device, to the last bit.

- `draw.md` says how; it is normative, and enough to write a client in any language.
- `vectors/` holds {vectors} vectors (spec, value, words) -> report, section 22 of the page says in which form.
- `golden/v2/` holds the specs that `vectors/tables.json` names.

A client passes if it gives every report and takes exactly the words of its vector.
"""


def version() -> str:
    """The version that the page states."""
    found = re.search(r"^\*\*Version (\d+)\.\*\*", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise SystemExit("docs/draw.md states no version; begin it with **Version 1.**")
    return found[1]


def files() -> dict[str, bytes]:
    """What the archive holds, by name."""
    # Links to other pages of the docs lead nowhere here.
    page = re.sub(r"\[([^\]]+)\]\([\w-]+\.md\)", r"\1", PAGE.read_text(encoding="utf-8"))
    held = {"draw.md": page.encode(), "LICENSE": (ROOT / "LICENSE").read_bytes()}
    vectors, named = 0, set()
    for path in VECTORS.glob("*.json"):
        held[f"vectors/{path.name}"] = path.read_bytes()
        for group in json.loads(path.read_bytes()):
            vectors += len(group.get("vectors", [group]))
            named.add(str(group.get("spec")))
    held |= {f"golden/v2/{path.name}": path.read_bytes() for path in GOLDEN.glob("*.json") if path.name in named}
    held["README.md"] = _README.format(version=version(), vectors=f"{vectors:,}").encode()
    return held


def build(folder: Path) -> Path:
    """Write the archive into this folder."""
    name = f"bipartite-draw-{version()}"
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}.zip", "w", zipfile.ZIP_STORED) as archive:
        for path, content in sorted(files().items()):
            entry = zipfile.ZipInfo(f"{name}/{path}", _TIME)
            entry.create_system, entry.external_attr = 3, _PLAIN_FILE  # Unix, whoever builds it
            archive.writestr(entry, content)
    return folder / f"{name}.zip"


if __name__ == "__main__":
    print(build(Path(sys.argv[1])))
