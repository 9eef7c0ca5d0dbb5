"""``python -m reproduction datasets``: which public data sets there are, which are here, and fetching one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from bipartite.cli import OK, print_json, print_table
from bipartite.errors import InputError
from reproduction.datasets import CHECK_INS, SOURCES, Source, cache_folder, data_folder, find, present

if TYPE_CHECKING:
    import argparse

_EXAMPLES = """examples:
  python -m reproduction datasets                  every data set: where it is, or where it would come from
  python -m reproduction datasets fetch abalone    into the cache, with its checksum
  BIPARTITE_DATA=folder python -m reproduction datasets --json

A file is looked for in the folder that BIPARTITE_DATA names, then in the cache, then fetched from its publisher.
Exit code 4 when it is not here and cannot be fetched: the message says where to put it.
"""
_STANDINGS: Final = {
    "official": "the publisher's own bytes",
    "unchecked": "not checked: no checksum of the publisher's file is known",
    "copy": "the copy by others that is known",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Say what this command takes."""
    parser.epilog = _EXAMPLES
    parser.add_argument("action", nargs="?", choices=["list", "fetch"], default="list", help="list (default) or fetch")
    parser.add_argument("name", nargs="?", metavar="NAME", help="which one to fetch")
    parser.add_argument("--json", action="store_true", help="print one JSON object (schemas/datasets.json)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List the data sets, or fetch one."""
    if options.action == "fetch":
        return _fetch(options)
    if options.name is not None:
        raise InputError(f"Expected no name after list, got {options.name!r}; use fetch to fetch one.")
    if options.json:
        folder = data_folder()
        print_json(
            {
                "folder": None if folder is None else str(folder),
                "cache": str(cache_folder()),
                "datasets": [_as_json(source) for source in SOURCES.values()],
            }
        )
    else:
        rows = [(source.name, f"{source.rows:,}", _where(source), source.licence) for source in SOURCES.values()]
        print_table(("name", "rows", "where", "licence"), rows)
    return OK


def _as_json(source: Source) -> dict[str, Any]:
    here = {part: present(files) for part, files in source.parts.items()}
    return {
        "name": source.name,
        "call": f'check_ins("{source.name}")' if source.name in CHECK_INS else f"{source.name}()",
        "rows": source.rows,
        "present": all(found is not None for found in here.values()),
        "url": source.url,
        "licence": source.licence,
        "citation": source.citation,
        "files": [
            {
                "part": part,
                "name": (source.parts[part][0] if found is None else found[1]).name,
                "path": None if found is None else str(found[0]),
            }
            for part, found in here.items()
        ],
    }


def _where(source: Source) -> str:
    here = [present(files) for files in source.parts.values()]
    folders = [found[0].parent for found in here if found is not None]
    if len(folders) == len(here):
        return "cache" if cache_folder() in folders else "BIPARTITE_DATA"
    return f"fetch from {urlsplit(source.url).hostname}" if source.url else "not here, and no address"


def _fetch(options: argparse.Namespace) -> int:
    if options.name not in SOURCES:
        raise InputError(f"Expected the name of a data set, got {options.name!r}; one of {', '.join(SOURCES)}.")
    source = SOURCES[options.name]
    found = {part: find(source, part) for part in source.parts}
    files = [
        {"part": part, "path": str(each.path), "sha256": each.sha256, "standing": each.standing}
        for part, each in found.items()
    ]
    if options.json:
        terms = {"url": source.url, "licence": source.licence, "citation": source.citation}
        print_json({"name": source.name, **terms, "files": files})
        return OK
    for file in files:
        print(f"{file['path']}\n  content: sha256 {file['sha256']}, {_STANDINGS[file['standing']]}")
    print(f"Licence: {source.licence}. Cite: {source.citation}")
    return OK
