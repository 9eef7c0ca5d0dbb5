"""A room uses another by the names that it gives out."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
IMPORT = r"^\s*from ((?:bipartite|reproduction)\.[\w.]+) import (\([^)]*\)|.*)"
SOURCES = [*(ROOT / "src").rglob("*.py"), *(ROOT / "reproduction").rglob("*.py")]


def room_of(module: str) -> str:
    return ".".join(module.split(".")[: 2 if module.startswith("bipartite.") else 1])


def private_imports(source: str, room: str) -> list[str]:
    """What a file of a room imports of another that is private: a name or a module that begins with one underscore."""
    imports = re.findall(IMPORT, re.sub("#.*", "", source), re.MULTILINE)
    found = [(module, name) for module, names in imports for name in re.findall(r"(\w+)(?: as \w+)?", names)]
    return [
        f"{module}.{name}"
        for module, name in found
        if room_of(module) != room
        and any(part.startswith("_") and not part.startswith("__") for part in (*module.split("."), name))
    ]


def test_no_room_imports_a_private_name_of_another():
    found = {}
    for file in SOURCES:
        path = file.relative_to(ROOT / "src" if "src" in file.relative_to(ROOT).parts[:1] else ROOT)
        room = room_of(".".join(path.with_suffix("").parts))
        if names := private_imports(file.read_text(), room):
            found[str(path)] = [name for name in names if name != "bipartite._version.__version__"]
    assert len(SOURCES) > 300
    assert {file: names for file, names in found.items() if names} == {}


def test_a_private_name_would_be_seen():
    source = "from bipartite.lottery.words import _key, redraw_if_forked\nfrom bipartite.domains import Domain\n"
    within = "def f():\n    from bipartite.domains._old import (  # why (not)\n        a,\n        _b as b,\n    )\n"
    assert private_imports(source, "bipartite.mechanisms") == ["bipartite.lottery.words._key"]
    assert private_imports(within, "bipartite.mechanisms") == ["bipartite.domains._old.a", "bipartite.domains._old._b"]
    assert private_imports(source, "bipartite.lottery") == []
