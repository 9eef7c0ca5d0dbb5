"""A plan: what each column of a table becomes, and the ε that a row spends."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import InputError, Problems, of_attribute, shown
from bipartite.frozen import Frozen
from bipartite.lottery.budgets import most_spent
from bipartite.mechanisms import Mechanism
from bipartite.mechanisms.record import sample_problem
from bipartite.tables.columns import PUBLIC, Column, released
from bipartite.tables.drawing import Release
from bipartite.tables.extras import pa
from bipartite.tables.metadata import METADATA_KEY, described
from bipartite.tables.reading import columns_in, read_toml, suggest
from bipartite.texts import Table, notebook_html

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

    from bipartite.tables.cells import Reader
    from bipartite.tables.reports import Style

_ROWS_ARE_PUBLIC: Final = "the number of rows, and their order"


class Plan(Frozen):
    r"""What each column of a table becomes: privatized by a mechanism, copied as public, or dropped.

    Parameters
    ----------
    columns
        For the name of each output column, in order: a mechanism, a :class:`~bipartite.tables.Column` with its options,
        or ``"public"``, which copies the column unchanged. Every column that is not named is dropped.
    sample
        None reports every private column of every row. k reports k of them: for each row a set of k is drawn, every
        set with the same probability whatever the values are, as by :class:`~bipartite.Record`; each of its columns is
        reported with the whole ε of its mechanism, and the others, which are not asked, are null.

    Guarantee
    ---------
    ε-LDP for the private columns of one row, with ε = :attr:`epsilon_decimal`, the exact sum of the columns' ε, with
    ``sample=k`` of the k largest (the set that is drawn tells nothing: its probability does not depend on the values):
    however two people differ there, no output is more than e\ :sup:`ε` times as likely for one as for the other. No ε
    covers public columns, and :attr:`publishes` lists what else the output reveals. A person in n rows, or a table
    released n times, spends n·ε.

    Examples
    --------
    >>> from bipartite import BRR, Integers
    >>> plan = Plan({"age": BRR(Integers(18, 90), epsilon=1), "stars": BRR(Integers(1, 5), "0.5"), "country": "public"})
    >>> plan.epsilon_decimal
    Decimal('1.5')
    >>> list(plan.mechanisms())
    ['age', 'stars']
    >>> Plan(plan.columns, sample=1).epsilon_decimal
    Decimal('1')
    """

    __slots__ = ("_columns", "sample")

    sample: int | None
    """The number of private columns that each row reports; None if it reports all."""
    _columns: tuple[tuple[str, Any], ...]

    def __init__(self, columns: Mapping[str, Any], sample: int | None = None) -> None:
        given: object = columns
        if not isinstance(given, Mapping):
            raise InputError(f"Expected columns as a dict, got {type(given).__name__}; pass {{'age': bp.BRR(…)}}.")
        problems = Problems()
        found: dict[str, Any] = {}
        for name, what in given.items():
            if not isinstance(name, str) or not name:
                problems.add(f"Expected names of columns as text, got {shown(name)}; use 'age'.")
                continue
            try:
                found[name] = _column(what)
            except InputError as error:
                problems.add(str(of_attribute(error, f"column {name!r}")))
        if not problems and all(what == PUBLIC for what in found.values()):
            problems.add("Expected at least one private column; name its domain, mechanism and epsilon.")
        _check_apart(found, problems)
        if sample is not None and not problems:
            _check_sample(sample, {name: what for name, what in found.items() if what != PUBLIC}, problems)
        problems.raise_if_any(InputError)
        self._set(_columns=tuple(found.items()), sample=None if sample is None else int(sample))

    @classmethod
    def read(cls, path: str | Path) -> Plan:
        """Read a plan from a TOML file, reporting every problem at once; file names are relative to its folder."""
        return cls.from_dict(read_toml(Path(path)), folder=Path(path).parent)

    @classmethod
    def from_dict(cls, described: Mapping[str, Any], *, folder: Path | None = None) -> Plan:
        """Build the plan that a dict describes, like ``plan.toml``; ``folder`` holds the files that it names."""
        return cls(columns_in(described, folder), described.get("sample"))

    @property
    def columns(self) -> Mapping[str, Any]:
        """For each output column, in order: a :class:`Column` or ``"public"``."""
        return MappingProxyType(dict(self._columns))

    def private(self) -> dict[str, Column]:
        """The private output columns, in order."""
        return {name: what for name, what in self._columns if what != PUBLIC}

    def public(self) -> list[str]:
        """The columns that are copied unchanged."""
        return [name for name, what in self._columns if what == PUBLIC]

    def mechanisms(self) -> dict[str, Mechanism]:
        """The mechanism of each private column, in order."""
        return {name: column.mechanism for name, column in self.private().items()}

    def inputs_of(self, name: str) -> tuple[str, ...]:
        """The input columns of an output column."""
        what = dict(self._columns)[name]
        return (name,) if what == PUBLIC or not what.inputs else what.inputs

    def inputs(self) -> list[str]:
        """All input columns that are read, in order."""
        return list(dict.fromkeys(each for name, _ in self._columns for each in self.inputs_of(name)))

    def readers(self) -> list[tuple[str, Reader]]:
        """Each private input column, as often as it is read, and how."""
        columns = self.private().items()
        return [pair for name, each in columns for pair in zip(self.inputs_of(name), each.readers, strict=True)]

    @property
    def epsilon_decimal(self) -> Decimal:
        """The ε of one row as an exact decimal: the sum over the private columns, or over the ``sample`` largest."""
        return most_spent([mechanism.epsilon_decimal for mechanism in self.mechanisms().values()], self.sample)

    @property
    def epsilon(self) -> float:
        """The ε of one row."""
        return float(self.epsilon_decimal)

    def asked(self, people: int) -> int:
        """How many of so many people report a private column, as expected and rounded down: all, or k of d."""
        return people if self.sample is None else max(1, people * self.sample // len(self.private()))

    @property
    def guarantee(self) -> str:
        """The guarantee of the release of one row, as text."""
        return described(self).guarantee

    @property
    def publishes(self) -> tuple[str, ...]:
        """What a release reveals that no ε covers, as text."""
        found = [_ROWS_ARE_PUBLIC]
        if self.public():
            found.append("the public columns, unchanged: " + ", ".join(map(repr, self.public())))
        for name, column in self.private().items():
            found += [f"column {name!r}: {what}" for what in column.publishes]
        return tuple(found)

    def schema(self, given: pa.Schema, style: Style = "values", *, insecure: bool = False) -> pa.Schema:
        """The Arrow schema of the reports of a table with this schema, with the specs in its metadata.

        ``insecure`` says that the reports are drawn from words that someone may know, so that there is no guarantee.
        """
        self.check_inputs(given)
        fields = []
        for name, what in self._columns:
            kind = given.field(self.inputs_of(name)[0]).type
            fields.append(pa.field(name, released(name, kind) if what == PUBLIC else what.reports.type(style, kind)))
        return pa.schema(fields, metadata={METADATA_KEY: described(self).drawn_from(insecure=insecure).to_json()})

    def check_names(self, names: Iterable[str]) -> None:
        """Refuse a table that lacks a column or has it twice, given the names of its columns."""
        self.check_inputs(pa.schema([pa.field(each, pa.null()) for each in names]))

    def check_inputs(self, given: pa.Schema) -> None:
        """Refuse a table that lacks a column, or has one of the wrong type."""
        problems = Problems()
        for each in self.inputs():
            count = given.names.count(each)
            if count > 1:
                problems.add(f"The table has several columns named {each!r}; rename all but one.")
            elif not count:
                hint = suggest(each, given.names, "name an existing one, or leave it out of the plan.")
                problems.add(f"The table has no column {each!r}; {hint}")
        for each, wrong in self.wrong_types(given).items():
            problems.add(f"column {each!r}: {wrong}")
        problems.raise_if_any(InputError)

    def wrong_types(self, given: pa.Schema) -> dict[str, str]:
        """For each private column of the wrong type, why it cannot be read."""
        found = {}
        for each, reader in self.readers():
            wrong = reader.type_problem(given.field(each).type) if given.names.count(each) == 1 else None
            if wrong is not None:
                found[each] = wrong
        return found

    def privatize_batch(self, batch: pa.RecordBatch, rng: object = None) -> pa.RecordBatch:
        """Draw the reports of a table that is one Arrow record batch; ε is spent once for each row.

        For a table in several batches, draw all of them with one :class:`~bipartite.tables.Release`.
        """
        return Release(self, rng).privatize(batch)

    def metadata(self) -> dict[str, Any]:
        """The description that accompanies the reports, all that estimates need: specs, ε, and what is published."""
        return described(self).to_dict()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and (self._columns, self.sample) == (other._columns, other.sample)

    def __hash__(self) -> int:
        return hash((self.sample, *(name for name, _ in self._columns)))

    def _repr_html_(self) -> str:
        held = [(name, repr(what.mechanism if isinstance(what, Column) else what)) for name, what in self._columns]
        return notebook_html([repr(self), Table([("column", "mechanism"), *held])])

    def __repr__(self) -> str:
        drawn = "" if self.sample is None else f", sample={self.sample}"
        return f"<Plan of {len(self._columns)} columns{drawn}, ε = {self.epsilon_decimal:f} per row>"


def _column(what: object) -> Column | str:
    if isinstance(what, Mechanism):
        return Column(what)
    if isinstance(what, Column) or (isinstance(what, str) and what == PUBLIC):
        return what
    raise InputError(f"Expected a mechanism, a Column or 'public', got {type(what).__name__}; pass bp.BRR(…).")


def _check_sample(sample: object, private: Mapping[str, Column], problems: Problems) -> None:
    """Refuse a sample that cannot be drawn, or in which a null would not say whether its column was asked."""
    problem = sample_problem(sample, len(private), "private columns")
    if problem is not None:
        problems.add(problem)
    for name, column in private.items():
        if column.may_be_null:
            problems.add(
                f"column {name!r}: nulls='keep' does not go with sample, where a null means that the column was not "
                "asked; give a value for what is missing with nulls_as (in a plan file, nulls = { as = … })."
            )


def _check_apart(columns: Mapping[str, Any], problems: Problems) -> None:
    """Refuse an input that is private in one column and public in another."""
    readers: dict[str, list[str]] = {}
    for name, what in columns.items():
        for each in (name,) if what == PUBLIC or not what.inputs else what.inputs:
            readers.setdefault(each, []).append(name)
    for each, names in readers.items():
        if len(names) > 1 and any(columns[name] == PUBLIC for name in names):
            problems.add(
                f"Column {each!r} is both public and private; a private value must not be published with its report."
            )
