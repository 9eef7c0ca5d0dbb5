"""Estimates of several groups, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.answers.estimation.intervals import check_confidence
from bipartite.answers.estimation.joint import joint_of_record
from bipartite.answers.estimation.pictures import plot_groups
from bipartite.answers.estimation.ranges import reusable_bins
from bipartite.answers.estimation.showing import Shown, load_pandas
from bipartite.answers.estimation.wording import answers_of_groups, share_table
from bipartite.errors import InputError, shown
from bipartite.texts import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from numpy.typing import NDArray
    from pandas import DataFrame

    from bipartite.answers.estimation.estimate import Estimate
    from bipartite.answers.estimation.joint import JointEstimate
    from bipartite.answers.estimation.pictures import PictureOptions
    from bipartite.answers.estimation.ranges import Bins


class Estimates(Shown, Mapping[Any, "Estimate"]):
    """An `Estimate` for each group, by label (groups are public), or for each attribute, by name."""

    def __init__(
        self, groups: Mapping[Any, Any], kind: str = "group", there: Mapping[str, NDArray[np.bool_]] | None = None
    ) -> None:
        self._groups, self._kind, self._there = dict(groups), kind, there

    def __getitem__(self, label: object) -> Estimate:
        if label not in self._groups:
            raise KeyError(f"There is no {self._kind} {shown(label)}; there are {', '.join(map(shown, self._groups))}.")
        found: Estimate = self._groups[label]
        return found

    def __iter__(self) -> Iterator[Any]:
        return iter(self._groups)

    def __len__(self) -> int:
        return len(self._groups)

    def to_frame(self, bins: Bins | None = None, confidence: float = 0.95) -> DataFrame:
        """A row for every group: group, n, mean, se, low, high; with ``bins``, a row for every range of every group.

        Attributes, and groups whose values have no mean, have a row for every value, as :meth:`Estimate.to_frame`.
        """
        pd, sure = load_pandas("the shares of each group"), check_confidence(confidence)
        if bins is None and self._kind == "group" and next(iter(self._groups.values())).domain.has_ends:
            rows = []
            for label, each in self._groups.items():
                answer = each.ask("mean")
                rows.append((label, each.nobs, answer.value, answer.se, *answer.ci(sure)))
            means: DataFrame = pd.DataFrame(rows, columns=["group", "n", "mean", "se", "low", "high"])
            return means
        cut = None if bins is None else reusable_bins(bins)
        frames = {label: each.to_frame(cut, sure) for label, each in self._groups.items()}
        found: DataFrame = pd.concat(frames, names=[self._kind, None]).reset_index(level=0)
        return found

    def joint(self, first: str, second: str, method: str = "auto") -> JointEstimate:
        """The joint distribution of two attributes, from those who reported both; see :meth:`Estimate.joint`."""
        return joint_of_record(self._groups, self._there, first, second, method)

    def _lines(self, confidence: float, bins: Bins | None) -> list[str]:
        if not self._has_picture:
            parts = {label: each._lines(confidence, bins) for label, each in self._groups.items()}
            return [
                line for label, (first, *others) in parts.items() for line in (f"{escaped(label)}: {first}", *others)
            ]
        return [*answers_of_groups(self._groups, confidence), *share_table(self._groups, confidence, bins)]

    def _draw(self, asked: PictureOptions) -> Axes:
        if not self._has_picture:
            raise InputError(
                f"Expected groups to plot, got {self._kind}s, which share no axis; plot each: est[name].plot()."
            )
        return plot_groups(self._groups, asked)

    @property
    def _has_picture(self) -> bool:
        return self._kind == "group"

    def __repr__(self) -> str:
        return (
            f"<Estimates of {len(self)} {self._kind}s: {', '.join(map(shown, list(self)[:5]))}{'…' * (len(self) > 5)}>"  # noqa: PLR2004
        )


def cut(by: object, size: int) -> dict[Any, NDArray[np.int64]]:  # any column of labels
    """For every label, the positions of its reports; labels in the order of their first appearance."""
    labels = np.asarray(by.to_numpy() if hasattr(by, "to_numpy") else by)
    if labels.shape != (size,):
        raise InputError(
            f"Expected by as {size} labels, one per report, got shape {labels.shape}; pass a public column."
        )
    # NumPy turns a list of text and numbers into text, and 1 could then not be told from "1".
    each = by if isinstance(by, (list, tuple)) and labels.dtype.kind == "U" else labels.tolist()
    codes: dict[Any, int] = {}
    where = np.fromiter((codes.setdefault(label, len(codes)) for label in each), dtype=np.int64, count=size)
    if any(label is None or label != label for label in codes):  # noqa: PLR0124 (NaN is not itself)
        raise InputError("Some labels in by are missing; give that group a name, or leave its reports out.")
    order = np.argsort(where, kind="stable")
    return dict(zip(codes, np.split(order, np.cumsum(np.bincount(where))[:-1]), strict=True))
