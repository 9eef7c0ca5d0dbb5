"""``python -m reproduction datasets``: which public data sets there are, which are here, and fetching one."""

import argparse
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from bipartite.cli import OK, print_json, print_table
from bipartite.errors import InputError
from reproduction.datasets import CHECK_INS, SOURCES, File, Source, cache_folder, data_folder, find, present

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
    here = {name: {part: present(files) for part, files in each.parts.items()} for name, each in SOURCES.items()}
    if options.json:
        folder = data_folder()
        listed = [_as_json(source, here[source.name]) for source in SOURCES.values()]
        print_json({"folder": folder and str(folder), "cache": str(cache_folder()), "datasets": listed})
    else:
        rows = [(name, f"{each.rows:,}", _where(each, here[name]), each.licence) for name, each in SOURCES.items()]
        print_table(("name", "rows", "where", "licence"), rows)
    return OK


def _as_json(source: Source, here: dict[str, tuple[Path, File] | None]) -> dict[str, Any]:
    files = [
        {"part": part, "name": found[1].name, "path": str(found[0])}
        if found
        else {"part": part, "name": source.parts[part][0].name, "path": None}
        for part, found in here.items()
    ]
    call = f'check_ins("{source.name}")' if source.name in CHECK_INS else f"{source.name}()"
    counts = {"rows": source.rows, "present": all(here.values())}
    return {"name": source.name, "call": call, **counts, **_terms(source), "files": files}


def _terms(source: Source) -> dict[str, Any]:
    return {"url": source.url, "licence": source.licence, "citation": source.citation}


def _where(source: Source, here: dict[str, tuple[Path, File] | None]) -> str:
    if all(here.values()):
        folders = [found[0].parent for found in here.values() if found]
        return "cache" if cache_folder() in folders else "BIPARTITE_DATA"
    return f"fetch from {urlsplit(source.url).hostname}" if source.url else "not here, and no address"


def _fetch(options: argparse.Namespace) -> int:
    if options.name not in SOURCES:
        raise InputError(f"Expected the name of a data set, got {options.name!r}; one of {', '.join(SOURCES)}.")
    source = SOURCES[options.name]
    found = {part: find(source, part) for part in source.parts}
    if options.json:
        files = [
            {"part": part, "path": str(each.path), "sha256": each.sha256, "standing": each.standing}
            for part, each in found.items()
        ]
        print_json({"name": source.name, **_terms(source), "files": files})
        return OK
    for each in found.values():
        print(f"{each.path}\n  content: sha256 {each.sha256}, {_STANDINGS[each.standing]}")
    print(f"Licence: {source.licence}. Cite: {source.citation}")
    return OK
