"""Adult and Bank as the paper's DNN experiment prepares them, with every range and category stated in public.

Ranges and categories stand in ``dnn_data.toml``.

Adult: rows with ``?`` are dropped, as in the paper; ``education`` has six levels, which the paper does not list. We
take those of the notebook that many copy: all that left school early, high school, college without a degree (associate
degrees too), bachelor, master (professional schools too), doctorate. Bank has no ``?``; its ``unknown`` is a category.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from reproduction.datasets import SOURCES, adult, bank

TEST_SHARE: Final = 0.33
SPLIT_SEED: Final = 42
PUBLIC_SHARE: Final = 0.1
"""This part of the training rows is taken for public, to choose a setting of the grid on."""

_PUBLIC: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
EDUCATION: Final[Mapping[str, str]] = {level: name for name, levels in _PUBLIC["education"].items() for level in levels}
"""Sixteen levels of education in six."""
DOMAINS: Final[Mapping[str, Mapping[str, Any]]] = {
    dataset: {name: each if isinstance(each[0], str) else tuple(each) for name, each in domains.items()}
    for dataset, domains in _PUBLIC["domains"].items()
}
"""What is public about every feature: a range or a list of categories."""
_YES: Final = {"adult": ">50K", "bank": "yes"}


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to train on, rows taken for public, and a clean test set; labels are 0 and 1."""

    private: tuple[NDArray[Any], NDArray[np.int64]]
    public: tuple[NDArray[Any], NDArray[np.int64]]
    test: tuple[NDArray[Any], NDArray[np.int64]]


def features(table: pd.DataFrame) -> NDArray[Any]:
    """A table of features as objects, numbers beside text; Adult's education in six levels."""
    rows = np.empty(table.shape, dtype=object)
    for at, name in enumerate(table):
        column = table[name].tolist()
        merged = name == "education" and EDUCATION.keys() >= set(column)
        rows[:, at] = [EDUCATION[level] for level in column] if merged else column
    return rows


@lru_cache(maxsize=2)
def prepared(dataset: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """All rows of a data set and their labels."""
    table = adult() if dataset == "adult" else bank()
    if dataset == "adult":
        table = table[(table != "?").all(axis=1)]
    (target,) = SOURCES[dataset].targets
    return features(table.drop(columns=target)), (table[target] == _YES[dataset]).to_numpy(np.int64)


def split(dataset: str, rows: int | None = None) -> Split:
    """The paper's 67/33 stratified split with seed 42; ``rows`` takes only so many rows first, stratified too."""
    table, labels = prepared(dataset)
    if rows is not None and rows < len(labels):
        table, _, labels, _ = train_test_split(table, labels, train_size=rows, stratify=labels, random_state=SPLIT_SEED)
    train, test, train_labels, test_labels = train_test_split(
        table, labels, test_size=TEST_SHARE, stratify=labels, random_state=SPLIT_SEED
    )
    private, public, private_labels, public_labels = train_test_split(
        train, train_labels, test_size=PUBLIC_SHARE, stratify=train_labels, random_state=SPLIT_SEED
    )
    return Split((private, private_labels), (public, public_labels), (test, test_labels))
