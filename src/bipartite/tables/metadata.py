"""The description that accompanies released reports, where files carry it, and why they are not released again."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Final, Literal, NotRequired, TypedDict

from bipartite.errors import DataFileError, InputError, SpecError
from bipartite.lottery.budgets import most_spent
from bipartite.mechanisms.record import composition_problem, sample_problem
from bipartite.mechanisms.spec import from_spec, spec_json, spec_sha256
from bipartite.tables.extras import need
from bipartite.tables.formats import SIDE, side_file
from bipartite.texts import read_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from bipartite.mechanisms import Mechanism
    from bipartite.tables.plan import Plan

METADATA_KEY: Final = b"bipartite"
"""The key in the metadata of Arrow schemas and Parquet files."""
_VERSION: Final = 1
DO_NOT_AVERAGE: Final = "do not average these reports"
"""The first thing a user of reports must know: their average is biased, and only an estimate corrects it."""
NOT_PRIVATE: Final = "NOT PRIVATE: drawn from words that someone may know (an insecure seed or fixed words)"


class WrittenColumn(TypedDict):
    """A private column in the description of a release."""

    guarantee: str
    spec_sha256: str
    spec: dict[str, Any]
    clipped: NotRequired[Literal[True]]
    """Present where the plan moves values outside the range to its nearer end."""


class WrittenRelease(TypedDict):
    """What text has beside it as OUT.bipartite.json, and Parquet and Arrow carry under the key bipartite."""

    bipartite_release: Literal[1]
    guarantee: str
    epsilon: Decimal | None
    """What each row spent; null where the words are known to someone, so that nothing is promised."""
    insecure: bool
    publishes: list[str]
    public: list[str]
    sample: NotRequired[int]
    """How many of the columns each row reports, where the plan draws them; the others are null."""
    columns: dict[str, WrittenColumn]


@dataclass(frozen=True, slots=True)
class Described:
    """The description of a release, without any data.

    Its guarantee follows from its mechanisms and random words alone, and is never read from elsewhere.
    """

    mechanisms: dict[str, Mechanism]
    public: tuple[str, ...]
    publishes: tuple[str, ...]
    insecure: bool = False
    """Whether it was drawn from random words that someone may know."""
    clipped: frozenset[str] = frozenset()
    """The columns of numbers whose plan moves values outside the range to its nearer end."""
    sample: int | None = None
    """How many of the columns each row reports; None for all."""

    @property
    def epsilon(self) -> Decimal | None:
        """The ε that each row spent, the most that the columns it reports add up to; None if there is no guarantee."""
        if self.insecure:
            return None
        return most_spent([mechanism.epsilon_decimal for mechanism in self.mechanisms.values()], self.sample)

    @property
    def epsilon_text(self) -> str | None:
        """:attr:`epsilon` as text."""
        return None if self.epsilon is None else f"{self.epsilon:f}"

    @property
    def guarantee(self) -> str:
        """The guarantee of the release of one row, as text."""
        if self.insecure:
            return NOT_PRIVATE
        drawn = f": it reports {self.sample} of {len(self.mechanisms)}, drawn independently of the values"
        whole = f"ε-LDP of the private columns of each row with ε = {self.epsilon_text}"
        return whole + ("" if self.sample is None else drawn)

    def guarantee_of(self, name: str) -> str:
        """The guarantee of the report of one column, as text."""
        return NOT_PRIVATE if self.insecure else self.mechanisms[name].guarantee

    def drawn_from(self, *, insecure: bool, rejecting: bool = False) -> Described:
        """The same description with how the reports were drawn."""
        publishes = self.publishes
        if rejecting:
            publishes = (*publishes, "the number of rejected rows, and that all others could be reported")
        return replace(self, publishes=publishes, insecure=insecure)

    def to_dict(self) -> dict[str, Any]:
        """The description as JSON values."""
        found: dict[str, Any] = json.loads(self.to_json())
        return found

    def to_json(self) -> str:
        """The description as JSON text; specs are cached with their mechanisms, since they may be long."""
        head = {
            "bipartite_release": _VERSION,
            "guarantee": self.guarantee,
            "epsilon": self.epsilon_text,
            "insecure": self.insecure,
            "publishes": list(self.publishes),
            "public": list(self.public),
        } | ({} if self.sample is None else {"sample": self.sample})
        columns = ", ".join(
            f'{_json(name)}: {{"guarantee": {_json(self.guarantee_of(name))}, '
            f'"spec_sha256": {_json(spec_sha256(mechanism))}, "spec": {spec_json(mechanism)}'
            + (', "clipped": true}' if name in self.clipped else "}")
            for name, mechanism in self.mechanisms.items()
        )
        return f'{_json(head)[:-1]}, "columns": {{{columns}}}}}'

    @classmethod
    def from_json(cls, text: str | bytes) -> Described:
        """Read :meth:`to_json`, and check the hash of every spec, that it keeps its ε, and the sum of ε."""
        try:
            held = read_json(text if isinstance(text, str) else text.decode())
        except (ValueError, RecursionError):
            raise SpecError(
                "Expected the description of a release as JSON; the file may be truncated or edited: request it again."
            ) from None
        if not isinstance(held, dict) or held.get("bipartite_release") != _VERSION:
            raise SpecError("Expected the description of a release, got something else or a later version.")
        wrong = "missing or invalid parts"
        try:
            mechanisms = {name: _mechanism(name, column) for name, column in held["columns"].items()}
            # Older releases do not say whether they clip.
            clipped = frozenset(name for name, column in held["columns"].items() if column.get("clipped") is True)
            sample = held.get("sample")
            found = cls(mechanisms, tuple(held["public"]), tuple(held["publishes"]), held["insecure"], clipped, sample)
            stated = None if held["epsilon"] is None else Decimal(held["epsilon"])
            lists = isinstance(held["public"], list) and isinstance(held["publishes"], list)
            texts = all(isinstance(each, str) for each in (held["guarantee"], *found.public, *found.publishes))
            # They are printed, and contain names as Python's repr writes them.
            texts = texts and all(line.isprintable() for line in found.publishes)
            drawn = sample_problem(sample, len(mechanisms)) is None
            if drawn and lists and texts and type(held["insecure"]) is bool and mechanisms and found.publishes:
                wrong = _contradiction(found, stated, held["guarantee"])
        except (KeyError, TypeError, ValueError, AttributeError, InvalidOperation) as error:
            if isinstance(error, SpecError):
                raise
        else:
            if not wrong:
                return found
        raise SpecError(
            f"Expected the description of a release, got one with {wrong}; it was edited: request the file again."
        )


def _mechanism(name: str, column: dict[str, Any]) -> Mechanism:
    mechanism = from_spec(column["spec"])
    if spec_sha256(mechanism) != column["spec_sha256"]:
        raise SpecError(f"column {name!r}: the spec does not match its SHA-256; request the file again.")
    problem = composition_problem(f"column {name!r}", mechanism, flat=True)
    if problem is not None:
        raise SpecError(problem)
    return mechanism


def _contradiction(found: Described, stated: Decimal | None, guarantee: str) -> str:
    """A contradiction within a description, or empty."""
    if set(found.public) & set(found.mechanisms):
        return "columns that are both public and private"
    # Older releases from known words state an ε that they do not keep.
    if not found.insecure and stated != found.epsilon:
        claim = "no ε" if stated is None else f"ε = {stated:.20g}"
        return f"{claim} over specs that spend ε = {found.epsilon_text}"
    if not found.insecure and guarantee.startswith(NOT_PRIVATE.partition(":")[0]):
        return "an ε over reports that it calls not private"
    return ""


def described(plan: Plan) -> Described:
    """The description of the releases of a plan."""
    clipped = frozenset(
        name for name, column in plan.private().items() if column.outside == "clip" and column.mechanism.domain.has_ends
    )
    return Described(plan.mechanisms(), tuple(plan.public()), plan.publishes, clipped=clipped, sample=plan.sample)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# --- The folder of a release in parts, written by Spark or by us: its files, and the description they carry.


COMPLETE: Final = "_SUCCESS"
"""An empty file that marks a folder of parts as complete."""
RELEASE_KEY: Final = "bipartite_release"
"""The key of the release's description in the metadata of the first private column, as Spark stores it."""
SPARK_SCHEMA: Final = b"org.apache.spark.sql.parquet.row.metadata"
"""The key of Spark's schema, with the metadata of its columns, in Parquet files."""


def parts_in(folder: Path) -> list[Path]:
    """The Parquet files of a complete release; an unfinished one is refused."""
    found = [part.relative_to(folder) for part in folder.rglob("part-*.parquet")]
    # Subfolders are named by values, country=DE; any other is not part of the release.
    parts = [folder / part for part in sorted(found) if all("=" in value for value in part.parts[:-1])]
    if parts and not (folder / COMPLETE).exists():
        raise DataFileError(
            f"{folder} has no _SUCCESS: the release is not complete, or failed; wait for it, or release again."
        )
    return parts


def carried_in(folder: Path) -> Described | None:
    """The description that the files of a folder carry; None if they carry none."""
    parts = parts_in(folder)
    if not parts:
        return None
    read = need("pyarrow.parquet").read_metadata
    found = [read(part).metadata or {} for part in parts]
    held = {(each.get(METADATA_KEY), each.get(SPARK_SCHEMA, b"{}")) for each in found}
    if len(held) > 1:
        raise DataFileError(
            f"{folder} holds parts of different releases; request it again, or remove what does not belong there."
        )
    ours, spark = held.pop()
    if ours is not None:
        return Described.from_json(ours)
    try:
        metadata = [field.get("metadata", {}) for field in json.loads(spark).get("fields", [])]
    except (ValueError, AttributeError):
        raise DataFileError(
            f"{folder} has unreadable column metadata; its files were edited: request it again."
        ) from None
    carried = [each[RELEASE_KEY] for each in metadata if RELEASE_KEY in each]
    return Described.from_json(carried[0]) if carried else None


# --- Refusing to privatize reports a second time: estimates would correct for one draw of two, and be wrong.


_REWRITE: Final = "write it again without that metadata"


def check_metadata(plan: Plan, metadata: Mapping[bytes, bytes] | None, what: str, cure: str = _REWRITE) -> None:
    """Refuse a file or an Arrow table whose metadata say that it is a release, as Arrow, pandas or Spark keep them."""
    held = metadata or {}
    found = held.get(METADATA_KEY)
    if found is not None:
        check_description(plan, _read(found), f"{what} carries the specs of a release", cure)
    for attributes in (_part(_read(held.get(b"pandas")), "attributes"), _read(held.get(b"PANDAS_ATTRS"))):
        check_attributes(plan, attributes, f"{what} carries the attributes of a released pandas frame", cure)
    fields = _part(_read(held.get(SPARK_SCHEMA)), "fields")
    for field in fields if isinstance(fields, list) else ():
        spark = _part(_part(field, "metadata"), RELEASE_KEY)
        if spark is not None:
            check_description(plan, _read(spark), f"{what} carries the specs of a release by Spark", cure)


def check_attributes(plan: Plan, attributes: object, what: str, cure: str) -> None:
    """Refuse what has the attributes of a released pandas frame."""
    if _part(attributes, METADATA_KEY.decode()) is not None:
        check_description(plan, _part(attributes, METADATA_KEY.decode()), what, cure)


def check_side_files(plan: Plan, files: Sequence[Path]) -> None:
    """Refuse text files that have specs beside them, or beside what they link to."""
    for file in dict.fromkeys(place for each in files for place in (each, each.resolve())):
        if side_file(file).exists():
            what = f"{file} has the specs of a release beside it, in {file.name}{SIDE}"
            check_description(plan, _read(side_file(file).read_bytes()), what, "remove that file")


def check_description(plan: Plan, about: object, what: str, cure: str) -> None:
    """Refuse private columns of a plan, except those that a release describes as public."""
    public = _part(about, "public") or ()
    again = [each for each in dict.fromkeys(each for each, _ in plan.readers()) if each not in public]
    if again:
        raise InputError(
            f"{what}: {', '.join(map(repr, again))} would be privatized a second time, and every answer would be "
            f"wrong; privatize the original rows or, if these are not reports, {cure}."
        )


def _part(held: object, key: str) -> Any:  # noqa: ANN401 (JSON)
    return held.get(key) if isinstance(held, dict) else None


def _read(text: str | bytes | None) -> Any:  # noqa: ANN401
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return None
