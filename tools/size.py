"""How large the project is: files, lines, public names, flags and type switches, for each room and beside them.

``python tools/size.py`` prints the table; ``--write`` puts it on ``docs/architecture.md`` (``make size``); a folder
names another checkout: ``python tools/size.py ../old``. A line is code, documentation (docstrings and the text of
pages), a comment of its own, or empty; ``lines`` is the sum. A public name counts for the room that defines it: as one
of ``bp``, or as one that only a module such as ``bp.learn`` gives out. A flag counts once for every command that takes
it.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "architecture.md"
LIBRARY: Final = "src/bipartite/"
HEAD: Final = (
    "| part | files | lines | code | docs | comments | `isinstance` | names of `bp` | of its modules | flags |"
)
RULE: Final = "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"

# Parts beside the library, by the beginnings of paths; the longest that fits counts.
_BESIDE: Final = {
    "reproduction/": "laboratory",
    "tests/": "tests",
    "reproduction/tests/": "tests of the laboratory",
    "docs/": "docs",
    "client/": "client",
    "client/test/": "tests of the client",
    "client/browsers/": "tests of the client",
    "tools/": "tools",
    "bench/": "benchmarks",
}
_LANGUAGES: Final = {".py": "python", ".ts": "script", ".mjs": "script", ".md": "text", ".json": "data", ".sql": "data"}


@dataclass
class Size:
    """The size of one part."""

    files: int = 0
    lines: int = 0
    code: int = 0
    docs: int = 0
    comments: int = 0
    isinstance: int = 0
    names: int = 0
    of_modules: int = 0
    flags: int = 0

    def __add__(self, other: Size) -> Size:
        """The size of both."""
        return Size(*(mine + theirs for mine, theirs in zip(vars(self).values(), vars(other).values(), strict=True)))


def of_python(source: str) -> Size:
    r'''Count a Python file.

    >>> of_python('"""What it is."""\n\n# Why.\nx = isinstance(1, int)  # here\n')
    Size(files=1, lines=4, code=1, docs=1, comments=1, isinstance=1, names=0, of_modules=0, flags=0)
    '''
    lines = source.splitlines()
    docs: set[int] = set()
    strings: set[int] = set()
    calls = 0
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                docs |= _lines_of(node)
            case ast.Constant(value=str() | bytes()) | ast.JoinedStr():
                strings |= _lines_of(node)
            case ast.Call(func=ast.Name(id="isinstance")):
                calls += 1
    comments = sum(
        line.lstrip().startswith("#")
        for number, line in enumerate(lines, 1)
        if number not in strings and number not in docs
    )
    empty = sum(not line.strip() for number, line in enumerate(lines, 1) if number not in docs)
    return Size(1, len(lines), len(lines) - len(docs) - comments - empty, len(docs), comments, calls)


def _lines_of(node: ast.expr | ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def of_script(source: str) -> Size:
    r"""Count a file of TypeScript or JavaScript, in which documentation stands in ``/** */`` at the beginning of lines.

    >>> of_script("/** What it is. */\n// Why.\nlet x = 1; // here\n")
    Size(files=1, lines=3, code=1, docs=1, comments=1, isinstance=0, names=0, of_modules=0, flags=0)
    """
    size = Size(1, len(source.splitlines()))
    for block in re.findall(r"^[ \t]*/\*.*?\*/", source, re.MULTILINE | re.DOTALL):
        if block.lstrip().startswith("/**"):
            size.docs += len(block.splitlines())
        else:
            size.comments += len(block.splitlines())
    rest = re.sub(r"^[ \t]*/\*.*?\*/", "", source, flags=re.MULTILINE | re.DOTALL)
    size.comments += len(re.findall(r"^[ \t]*//", rest, re.MULTILINE))
    size.code = len(re.findall(r"^[ \t]*(?!//)\S", rest, re.MULTILINE))
    size.isinstance = len(re.findall(r"\binstanceof\b", rest))
    return size


def of_file(path: Path) -> Size:
    """Count a file by its language."""
    source = path.read_text(encoding="utf-8")
    match _LANGUAGES[path.suffix]:
        case "python":
            return of_python(source)
        case "script":
            return of_script(source)
        case "text":
            return Size(1, len(source.splitlines()), docs=sum(bool(line.strip()) for line in source.splitlines()))
        case _:
            return Size(1, len(source.splitlines()), code=sum(bool(line.strip()) for line in source.splitlines()))


def part_of(path: str) -> str | None:
    """The part of the project that a file belongs to: a room, or what is beside the library.

    >>> part_of("src/bipartite/lottery/deal.py"), part_of("src/bipartite/errors.py"), part_of("reproduction/theory.py")
    ('lottery', 'beside the rooms', 'laboratory')
    >>> part_of("src/bipartite/cli/schemas/plan.json"), part_of("LICENSE")
    ('schemas', None)
    """
    if Path(path).suffix not in _LANGUAGES or "-lock." in path:
        return None
    if path.startswith(LIBRARY):
        if _LANGUAGES[Path(path).suffix] == "data":
            return "schemas"
        room, _, inside = path.removeprefix(LIBRARY).partition("/")
        return room if inside else "beside the rooms"
    if _LANGUAGES[Path(path).suffix] == "data":
        return None  # kept results, vectors, golden files: nobody reads them as a program
    return _BESIDE.get(max((each for each in _BESIDE if path.startswith(each)), key=len, default=""))


def sizes(root: Path) -> dict[str, Size]:
    """Every part of a checkout, by the files that git knows."""
    git = ["git", "-C", str(root), "ls-files"]
    listed = subprocess.run(git, check=True, capture_output=True, text=True)  # noqa: S603 (git, and a folder)
    found: dict[str, Size] = {}
    for path in listed.stdout.splitlines():
        if (part := part_of(path)) and (root / path).is_file():
            found[part] = found.get(part, Size()) + of_file(root / path)
    for room, only_in_a_module in _rooms_of_names():
        found[room] += Size(names=not only_in_a_module, of_modules=only_in_a_module)
    found["cli"].flags = sum(1 for _ in _flags())
    return found


def _rooms_of_names() -> Iterator[tuple[str, bool]]:
    """For every public name the room that defines it, and whether only a module of ``bp`` gives it out."""
    import bipartite as bp  # noqa: PLC0415 (of the checkout that is measured)

    rooms = {path.parent.name for path in Path(bp.__path__[0]).glob("*/__init__.py")}
    modules = [value for name in bp.__all__ if inspect.ismodule(value := getattr(bp, name))]
    seen: set[str] = set()
    for module in [bp, *modules]:
        names = getattr(module, "__all__", [name for name in vars(module) if name.endswith("Error")])
        for name in sorted(set(names) - seen):
            home = getattr(getattr(module, name), "__module__", module.__name__)
            room = f"{home}.".split(".")[1]
            yield room if room in rooms else "beside the rooms", module is not bp
        seen |= set(names)


def _flags() -> Iterator[str]:
    from bipartite.cli.program import BIPARTITE  # noqa: PLC0415 (of the checkout that is measured)

    parsers = [BIPARTITE.parser()]
    for parser in parsers:
        for action in parser._actions:  # noqa: SLF001 (argparse has no public way)
            if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
                parsers += action.choices.values()
            elif action.option_strings and not isinstance(action, argparse._HelpAction):  # noqa: SLF001
                yield action.option_strings[0]


def table(found: dict[str, Size]) -> str:
    """The parts as a table in Markdown: rooms and their sum, then what is beside the library."""
    beside = list(dict.fromkeys(["schemas", *_BESIDE.values()]))
    rooms = {part: size for part, size in found.items() if part not in beside}
    rows = dict(sorted(rooms.items(), key=lambda each: -each[1].lines))
    rows["**the library**"] = sum(rooms.values(), Size())
    rows |= {part: found[part] for part in beside if part in found}
    lines = [
        f"| {part} | {' | '.join(f'{n:,}' if n else '' for n in vars(size).values())} |" for part, size in rows.items()
    ]
    return "\n".join([HEAD, RULE, *lines]) + "\n"


def on_page(page: str) -> str:
    """The table that a page shows."""
    return page[page.index(HEAD) :].partition("\n\n")[0] + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Print the table, or put it on its page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("root", type=Path, nargs="?", default=ROOT, help="another checkout")
    parser.add_argument("--write", action="store_true", help="put the table on docs/architecture.md")
    given = parser.parse_args(arguments)
    sys.path.insert(0, str(given.root.resolve() / "src"))
    found = table(sizes(given.root))
    if given.write:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(page.replace(on_page(page), found), encoding="utf-8")
    else:
        print(found, end="")


if __name__ == "__main__":
    main()
