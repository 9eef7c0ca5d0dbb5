"""Estimates of several groups, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.answers.estimation.intervals import check_confidence
from bipartite.answers.estimation.pictures import UNNAMED, Naming, drawn_groups
from bipartite.answers.estimation.ranges import asked_again
from bipartite.answers.estimation.wording import answers_in_words, share_table
from bipartite.errors import InputError, MissingExtraError, shown
from bipartite.texts import in_notebooks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray
    from pandas import DataFrame

    from bipartite.answers.estimation.estimate import Estimate
    from bipartite.answers.estimation.ranges import Bins
    from bipartite.plots import Picture


class Estimates(Mapping[Any, "Estimate"]):
    """One :class:`~bipartite.Estimate` a group, by label; groups are public. Or one an attribute, by name."""

    def __init__(self, groups: Mapping[Any, Any], kind: str = "group") -> None:
        self._groups, self._kind = dict(groups), kind

    def __getitem__(self, label: object) -> Estimate:
        if label not in self._groups:
            msg = f"There is no {self._kind} {shown(label)}; there are {', '.join(map(shown, self._groups))}."
            raise KeyError(msg)
        found: Estimate = self._groups[label]
        return found

    def __iter__(self) -> Iterator[Any]:
        return iter(self._groups)

    def __len__(self) -> int:
        return len(self._groups)

    def to_frame(self, confidence: float = 0.95, bins: Bins | None = None) -> DataFrame:
        """A row for every value of every group or attribute, or of groups for every range (:meth:`Estimate.ranges`)."""
        try:
            import pandas as pd  # noqa: PLC0415 (only people who ask for a frame need it)
        except ImportError:
            msg = "to_frame needs pandas; install it, or use the frequencies of each group."
            raise MissingExtraError(msg) from None
        cut = None if bins is None else asked_again(bins)
        return pd.concat(
            {label: each.to_frame(confidence, cut) for label, each in self._groups.items()}, names=[self._kind, None]
        ).reset_index(level=0)

    def plot(
        self,
        file: str | Path | None = None,
        confidence: float = 0.95,
        bins: Bins | None = None,
        *,
        title: str = "",
        label: str = UNNAMED,
        unit: str = "",
    ) -> Picture:
        """A picture of the groups below each other, as SVG text, written to ``file`` (.svg, .png) if one is given.

        On a line the mean and the median of each group with their intervals; elsewhere the shares of the values that
        are most common over all groups. With ``bins``, as in :meth:`Estimate.ranges`, the shares of these ranges.
        Attributes are drawn one by one. ``title``, ``label`` and ``unit`` are those of :meth:`Estimate.plot`.
        """
        if self._kind != "group":
            msg = f"Expected groups to draw, got {self._kind}s, which share no axis; draw each: est[name].plot()."
            raise InputError(msg)
        return drawn_groups(self._groups, check_confidence(confidence), file, bins, Naming(title, label, unit))

    def summary(self, confidence: float = 0.95, bins: Bins | None = None) -> str:
        """The answers of every group in words, and the shares of all groups side by side, with intervals.

        ``bins`` are the ranges of the table, as in :meth:`Estimate.ranges`. Attributes have a table each.
        """
        sure = check_confidence(confidence)
        if self._kind != "group":
            return "\n".join(f"{label}: {each.summary(sure, bins)}" for label, each in self._groups.items())
        lines = [
            f"{label}: {line}" if not number else line
            for label, each in self._groups.items()
            for number, line in enumerate(answers_in_words(each, sure))
        ]
        return "\n".join([*lines, *share_table(self._groups, sure, bins)])

    def _repr_html_(self) -> str:
        return in_notebooks(self.summary(), self.plot() if self._kind == "group" else "")

    def __repr__(self) -> str:
        return (
            f"<Estimates of {len(self)} {self._kind}s: {', '.join(map(shown, list(self)[:5]))}{'…' * (len(self) > 5)}>"  # noqa: PLR2004
        )


def cut(by: object, size: int) -> dict[Any, NDArray[np.int64]]:  # any column of labels
    """For every label the positions of its reports, in the order in which labels first appear."""
    labels = np.asarray(by.to_numpy() if hasattr(by, "to_numpy") else by)
    if labels.shape != (size,):
        msg = f"Expected by as {size} labels, one a report, got shape {labels.shape}; pass a public column."
        raise InputError(msg)
    # A list of words and numbers becomes words in NumPy, and 1 could then not be told from "1".
    each = by if isinstance(by, (list, tuple)) and labels.dtype.kind == "U" else labels.tolist()
    codes: dict[Any, int] = {}
    where = np.fromiter((codes.setdefault(label, len(codes)) for label in each), dtype=np.int64, count=size)
    if any(label is None or label != label for label in codes):  # noqa: PLR0124 (NaN is not itself)
        msg = "Some labels of by are missing; name that group, or leave its reports out."
        raise InputError(msg)
    order = np.argsort(where, kind="stable")
    return dict(zip(codes, np.split(order, np.cumsum(np.bincount(where))[:-1]), strict=True))
