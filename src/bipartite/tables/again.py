"""Refusing to privatize reports a second time: estimates would correct for one draw of two, and be wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import InputError
from bipartite.tables.formats import SIDE
from bipartite.tables.metadata import METADATA_KEY
from bipartite.tables.outputs import side_file
from bipartite.tables.spark_files import RELEASE_KEY, SPARK_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from bipartite.tables.plan import Plan

_REWRITE: Final = "write it again without that metadata"


def check_metadata(plan: Plan, metadata: Mapping[bytes, bytes] | None, what: str, cure: str = _REWRITE) -> None:
    """Refuse a file or an Arrow table whose metadata say that it is a release, as Arrow, pandas or Spark keep them."""
    held = metadata or {}
    found = held.get(METADATA_KEY)
    if found is not None:
        check_description(plan, _json(found), f"{what} carries the specs of a release", cure)
    for attributes in (_part(_json(held.get(b"pandas")), "attributes"), _json(held.get(b"PANDAS_ATTRS"))):
        check_attributes(plan, attributes, f"{what} carries the attributes of a released pandas frame", cure)
    fields = _part(_json(held.get(SPARK_SCHEMA)), "fields")
    for field in fields if isinstance(fields, list) else ():
        spark = _part(_part(field, "metadata"), RELEASE_KEY)
        if spark is not None:
            check_description(plan, _json(spark), f"{what} carries the specs of a release by Spark", cure)


def check_attributes(plan: Plan, attributes: object, what: str, cure: str) -> None:
    """Refuse what has the attributes of a released pandas frame."""
    if _part(attributes, METADATA_KEY.decode()) is not None:
        check_description(plan, _part(attributes, METADATA_KEY.decode()), what, cure)


def check_side_files(plan: Plan, files: Sequence[Path]) -> None:
    """Refuse text files that have specs beside them, or beside what they link to."""
    for file in dict.fromkeys(place for each in files for place in (each, each.resolve())):
        if side_file(file).exists():
            what = f"{file} has the specs of a release beside it, in {file.name}{SIDE}"
            check_description(plan, _json(side_file(file).read_bytes()), what, "remove that file")


def check_description(plan: Plan, about: object, what: str, cure: str) -> None:
    """Refuse private columns of a plan, except those that a release describes as public."""
    public = _part(about, "public") or ()
    inputs = dict.fromkeys(each for name in plan.private() for each in plan.inputs_of(name))
    again = [each for each in inputs if each not in public]
    if again:
        raise InputError(
            f"{what}: {', '.join(map(repr, again))} would be privatized a second time, and every answer would be "
            f"wrong; privatize the original rows or, if these are not reports, {cure}."
        )


def _part(held: object, key: str) -> Any:  # noqa: ANN401 (JSON)
    return held.get(key) if isinstance(held, dict) else None


def _json(text: str | bytes | None) -> Any:  # noqa: ANN401
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return None
