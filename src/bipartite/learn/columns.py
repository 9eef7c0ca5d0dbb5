"""A table's columns made private, as a step of a scikit-learn pipeline."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from bipartite.domains.base import is_label
from bipartite.errors import InputError, Problems, is_one_of, missing_library, shown
from bipartite.learn.column_choices import plan_of
from bipartite.learn.fitting import as_it_was
from bipartite.learn.guarantee import Guarantee, from_known_words
from bipartite.lottery import Source, is_secure, source_of
from bipartite.lottery.budgets import float_at_least
from bipartite.tables.drawing import Release
from bipartite.tables.extras import pa
from bipartite.tables.frames import release_table, selected

try:
    from sklearn.base import OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils._set_output import _get_output_config
    from sklearn.utils.validation import check_is_fitted

    from bipartite.learn.column_tables import checked, frame_kind, from_arrow, to_arrow
    from bipartite.learn.scikit import CountedFits
except ImportError:
    raise missing_library(what="PrivateColumns needs", library="scikit-learn", extra="boosting") from None

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from decimal import Decimal

    from sklearn.utils import Tags

    from bipartite.domains import Domain, Outside
    from bipartite.learn.column_tables import Given, Table
    from bipartite.mechanisms import Mechanism
    from bipartite.tables.cells import Opened
    from bipartite.tables.columns import Column

    Maker = str | Callable[[Domain, Decimal], Mechanism]


@dataclass(eq=False, repr=False)
class PrivateColumns(OneToOneFeatureMixin, TransformerMixin, CountedFits):  # type: ignore[misc]  # scikit-learn has no types
    r"""Replaces every value of a table by a report: one row is one person, and all of a row together spends ε.

    Each column has a mechanism of its own, made of a **public** range or list of categories and a part of ε. Nothing is
    learned from the table: ``fit`` looks at the names and the number of columns only.

    Parameters
    ----------
    domains
        What is public about each column: a dict by name (by position for arrays), a list with one a column, or one for
        all columns. Each is a pair ``(low, high)``: a range, on ``points`` equidistant nodes; a *list* of categories;
        a domain such as ``bp.Integers(18, 90)`` or ``bp.Items(labels, loss=…)``; or a ready mechanism, which keeps its
        own ε: it is taken off before the rest is split. A :class:`~bipartite.tables.Column` is such a mechanism with
        its own answer to missing values and values outside the domain: ``Column(mechanism, nulls_as="no answer")``.
    epsilon
        ε of one whole row.
    numeric
        The mechanism of columns on a line: "brr" (clamped), "padded-brr", "anchored", "geometric", "laplace",
        "clamped-laplace", "staircase", "piecewise", "hybrid", "duchi", "square-wave", "grr", "exponential", "optimal",
        or a class or function of (domain, epsilon).
    categorical
        The mechanism of columns of categories: "grr", or "brr", "anchored", "exponential", "optimal", which use the
        loss of ``bp.Items``; or a class or function.
    points
        The number of nodes of ranges given as pairs.
    split
        "equal", or a dict of public weights: a column's part of ε is ε·w/Σw, rounded down in the 20th digit.
    sample
        None: every column of every row is reported. k: for every row k columns are drawn, each set with the same
        probability whatever the values are, and each is reported with a k-th of ε; the others become null (NaN, None).
    outside
        "error" refuses numbers outside their range, "clip" moves them to the nearest end first. A refusal reveals that
        such a number is there.
    other
        The category that stands for categories nobody listed, in every column that has it; None refuses them.
    at_predict
        What ``transform`` does, as a pipeline calls it for ``predict``; ``fit_transform``, as a pipeline calls it for
        ``fit``, always privatizes. "privatize": new reports. "pass": the checked values themselves, **without
        privacy**: for people who apply a model to their own values where nobody else sees them, and for public rows.
    rng
        None for the secure source; ``bp.insecure_seed(…)`` for experiments that must be repeated.

    Attributes
    ----------
    epsilon_per_column\_ : dict
        ε of each column, as exact decimals. Without ``sample`` they add up to at most ε; with it, any k of them do, and
        a row spends those of its k columns.
    mechanisms\_ : dict
        The mechanism of each column, for :func:`bipartite.verify` and :func:`bipartite.estimate`.
    plan\_ : Plan
        All of it as a :class:`~bipartite.Plan`, which draws the reports.
    guarantee\_ : Guarantee
        What one release of the table promises.

    Guarantee
    ---------
    ε-LDP of each row for one call: that of :class:`~bipartite.Plan`. **Every call draws again**: n
    releases about the same people spend n·ε. So privatize once, and cross-validate, tune and train on the reports,
    which costs nothing more.

    Examples
    --------
    >>> import bipartite as bp
    >>> table = [[34, "clerk"], [61, "retired"]]
    >>> private = PrivateColumns({0: bp.Integers(18, 90), 1: ["clerk", "retired", "other"]}, epsilon=1)
    >>> private.fit_transform(table).shape
    (2, 2)
    >>> [str(part) for part in private.epsilon_per_column_.values()]
    ['0.5', '0.5']
    """

    domains: Mapping[Any, Any] | Sequence[Any] | Domain | Mechanism | None = None
    epsilon: object = 1.0
    _: KW_ONLY
    numeric: Maker = "brr"
    categorical: Maker = "grr"
    points: int = 101
    split: Literal["equal"] | Mapping[Any, Any] = "equal"
    sample: int | None = None
    outside: Outside = "error"
    other: str | int | None = None
    at_predict: Literal["privatize", "pass"] = "privatize"
    rng: Source | None = None

    def fit(self, X: Given, y: object = None) -> Self:  # noqa: N803, ARG002 (scikit-learn's names)
        """Make the plan; of the table only the names and the number of columns are looked at."""
        with as_it_was(self):
            self._check_options()
            checked(self, X, reset=True)
            names = [str(name) for name in self.get_feature_names_out()]
            self.plan_ = plan_of(self, names, named=hasattr(self, "feature_names_in_"))
            self.mechanisms_ = self.plan_.mechanisms()
            self.epsilon_per_column_ = {name: each.epsilon_decimal for name, each in self.mechanisms_.items()}
            self._seeded = not is_secure(self.rng)
        return self

    @property
    def guarantee_(self) -> Guarantee:
        """What one release with the current parameters promises."""
        check_is_fitted(self)
        promised = Guarantee(
            model="local",
            add_remove=float("inf"),
            replace=float_at_least(self.plan_.epsilon_decimal),
            not_covered=self._not_covered(),
        )
        # Of the release that came with fit, or of the next.
        return from_known_words(promised) if self._seeded or not is_secure(self.rng) else promised

    def fit_transform(self, X: Given, y: object = None, **fit_params: object) -> Table:  # noqa: N803, ARG002
        """Fit, and report every row once, whatever ``at_predict`` says; a warning counts repeated calls."""
        self.fit(X)
        reports = self._rebuilt(X, self._reports)
        if self.guarantee_.is_private:
            self._count_fit()
        return reports

    def transform(self, X: Given) -> Table:  # noqa: N803
        """Report every row anew, or pass it through where ``at_predict="pass"``."""
        check_is_fitted(self)
        self._check_options()
        return self._rebuilt(X, self._reports if self.at_predict == "privatize" else self._values)

    def _rebuilt(self, X: Given, change: Callable[[pa.Table], pa.Table]) -> Table:  # noqa: N803
        """A changed table in a container of the same kind, with types that depend on the plan alone."""
        given = checked(self, X, reset=False)
        columns = change(to_arrow(given, self.plan_))
        for at, column in enumerate(self.plan_.private().values()):
            nullable = self.plan_.sample is not None or column.may_be_null
            if nullable and pa.types.is_integer(columns.field(at).type):
                numbers = columns.column(at).cast(pa.float64())
                columns = columns.set_column(at, columns.field(at).with_type(pa.float64()), numbers)
        wanted = _get_output_config("transform", self)["dense"]
        return from_arrow(columns, frame_kind(given) if wanted == "default" else wanted, given)

    def _reports(self, table: pa.Table) -> pa.Table:
        source = source_of(self.rng)
        drawn: list[str | None] = [] if self.plan_.sample is None else [None]
        return release_table(table, self.plan_, dict.fromkeys([*drawn, *self.mechanisms_], source))

    def _values(self, table: pa.Table) -> pa.Table:
        """The checked values, without privacy."""
        (batch,) = selected(table, self.plan_).unify_dictionaries().combine_chunks().to_batches()
        schema = self.plan_.schema(batch.schema).remove_metadata()
        opened = Release(self.plan_).values(batch)
        columns = self.plan_.private().items()
        arrays = [_as_read(column, opened[name], schema.field(name).type) for name, column in columns]
        return pa.table(arrays, names=list(opened))

    def _check_options(self) -> None:
        source_of(self.rng)
        problems = Problems()
        if not is_one_of(self.outside, ("error", "clip")):
            problems.add(f"Expected outside='error' or 'clip', got {shown(self.outside)}.")
        if not is_one_of(self.at_predict, ("privatize", "pass")):
            problems.add(f"Expected at_predict='privatize' or 'pass', got {shown(self.at_predict)}.")
        if self.other is not None and not is_label(self.other):
            problems.add(f"Expected other as None or one of the categories, got {shown(self.other)}.")
        problems.raise_if_any(InputError)

    def _not_covered(self) -> tuple[str, ...]:
        sentences = [
            (
                "a second release of the same people's rows, which adds its own ε: every call of fit_transform or of a "
                "transform that privatizes, and so every fit in a cross-validation or a search"
            ),
            "who takes part, and the index and names of the table, which pass through",
            "a refusal, which reveals that some value is missing, outside its range or not listed",
        ]
        kept = [name for name, column in self.plan_.private().items() if column.may_be_null]
        if kept:
            sentences.append(f"which values of {', '.join(map(repr, kept))} are missing, because nulls='keep' says so")
        if self.at_predict == "pass":
            sentences.append(
                "rows given to transform (predict and score in a pipeline), which pass through as they are"
            )
        return tuple(sentences)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _as_read(column: Column, opened: Opened, kind: pa.DataType) -> pa.Array:
    """Values that were read: numbers at the nearest end of their range, or labels, which keep their dictionary."""
    domain = column.mechanism.domain
    if domain.labels is None:
        numbers = domain.numbers
        inside = np.clip(opened.values, numbers.low, numbers.high)
        return pa.array(inside.astype(np.int64 if numbers.whole else np.float64), mask=opened.missing)
    codes = pa.array(opened.values.astype(np.int32), mask=opened.missing)
    labels = pa.DictionaryArray.from_arrays(codes, pa.array(domain.labels))
    return labels if pa.types.is_dictionary(kind) else labels.dictionary_decode()
