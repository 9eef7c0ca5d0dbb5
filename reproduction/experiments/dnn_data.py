"""Adult and Bank as the paper's DNN experiment prepares them, with every range and category stated in public.

Ranges and categories are those that the publishers document (``adult.names``, ``bank-additional-names.txt``) or round
numbers around what a column can be; none is computed from the rows. Values outside are clipped.

Adult: rows with ``?`` are dropped, as in the paper; ``education`` has six levels, which the paper does not list. We
take those of the notebook that many copy: all that left school early, high school, college without a degree (associate
degrees too), bachelor, master (professional schools too), doctorate. Bank has no ``?``; its ``unknown`` is a category.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sklearn.model_selection import train_test_split

from reproduction.datasets import adult, bank

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from reproduction.datasets import Table

TEST_SHARE: Final = 0.33
SPLIT_SEED: Final = 42
PUBLIC_SHARE: Final = 0.1
"""This part of the training rows is taken for public, to choose a setting of the grid on."""

_DROPOUT: Final = ("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th")
EDUCATION: Final[Mapping[str, str]] = MappingProxyType(
    dict.fromkeys(_DROPOUT, "Dropout")
    | {
        "HS-grad": "High school",
        "Some-college": "College",
        "Assoc-acdm": "College",
        "Assoc-voc": "College",
        "Bachelors": "Bachelors",
        "Masters": "Masters",
        "Prof-school": "Masters",
        "Doctorate": "Doctorate",
    }
)
"""Sixteen levels of education in six."""

_COUNTRIES: Final = [
    "United-States",
    "Cambodia",
    "England",
    "Puerto-Rico",
    "Canada",
    "Germany",
    "Outlying-US(Guam-USVI-etc)",
    "India",
    "Japan",
    "Greece",
    "South",
    "China",
    "Cuba",
    "Iran",
    "Honduras",
    "Philippines",
    "Italy",
    "Poland",
    "Jamaica",
    "Vietnam",
    "Mexico",
    "Portugal",
    "Ireland",
    "France",
    "Dominican-Republic",
    "Laos",
    "Ecuador",
    "Taiwan",
    "Haiti",
    "Columbia",
    "Hungary",
    "Guatemala",
    "Nicaragua",
    "Scotland",
    "Thailand",
    "Yugoslavia",
    "El-Salvador",
    "Trinadad&Tobago",
    "Peru",
    "Hong",
    "Holand-Netherlands",
]

DOMAINS: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "adult": {
            "age": (17, 90),
            "workclass": (
                [
                    "Private",
                    "Self-emp-not-inc",
                    "Self-emp-inc",
                    "Federal-gov",
                    "Local-gov",
                    "State-gov",
                    "Without-pay",
                    "Never-worked",
                ]
            ),
            "fnlwgt": (0, 1_500_000),
            "education": list(dict.fromkeys(EDUCATION.values())),
            "education-num": (1, 16),
            "marital-status": [
                "Married-civ-spouse",
                "Divorced",
                "Never-married",
                "Separated",
                "Widowed",
                "Married-spouse-absent",
                "Married-AF-spouse",
            ],
            "occupation": [
                "Tech-support",
                "Craft-repair",
                "Other-service",
                "Sales",
                "Exec-managerial",
                "Prof-specialty",
                "Handlers-cleaners",
                "Machine-op-inspct",
                "Adm-clerical",
                "Farming-fishing",
                "Transport-moving",
                "Priv-house-serv",
                "Protective-serv",
                "Armed-Forces",
            ],
            "relationship": ["Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried"],
            "race": ["White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"],
            "sex": ["Female", "Male"],
            "capital-gain": (0, 100_000),
            "capital-loss": (0, 5_000),
            "hours-per-week": (1, 99),
            "native-country": _COUNTRIES,
        },
        "bank": {
            "age": (17, 100),
            "job": [
                "admin.",
                "blue-collar",
                "entrepreneur",
                "housemaid",
                "management",
                "retired",
                "self-employed",
                "services",
                "student",
                "technician",
                "unemployed",
                "unknown",
            ],
            "marital": ["divorced", "married", "single", "unknown"],
            "education": [
                "basic.4y",
                "basic.6y",
                "basic.9y",
                "high.school",
                "illiterate",
                "professional.course",
                "university.degree",
                "unknown",
            ],
            "default": ["no", "yes", "unknown"],
            "housing": ["no", "yes", "unknown"],
            "loan": ["no", "yes", "unknown"],
            "contact": ["cellular", "telephone"],
            "month": ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
            "day_of_week": ["mon", "tue", "wed", "thu", "fri"],
            "duration": (0, 5_000),
            "campaign": (1, 60),
            "pdays": (0, 999),
            "previous": (0, 10),
            "poutcome": ["failure", "nonexistent", "success"],
            "emp.var.rate": (-4, 2),
            "cons.price.idx": (92, 95),
            "cons.conf.idx": (-55, -25),
            "euribor3m": (0, 6),
            "nr.employed": (4_900, 5_300),
        },
    }
)
"""What is public about every feature: a range or a list of categories."""
_YES: Final = MappingProxyType({"adult": ">50K", "bank": "yes"})


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to train on, rows taken for public, and a clean test set; labels are 0 and 1."""

    private: tuple[NDArray[Any], NDArray[np.int64]]
    public: tuple[NDArray[Any], NDArray[np.int64]]
    test: tuple[NDArray[Any], NDArray[np.int64]]


def features(table: Table) -> NDArray[Any]:
    """The features of a table as objects, numbers beside text; Adult's education in six levels."""
    rows = np.empty((len(table), len(table.features)), dtype=object)
    for at, name in enumerate(table.features):
        column = table[name].tolist()
        merged = name == "education" and EDUCATION.keys() >= set(column)
        rows[:, at] = [EDUCATION[level] for level in column] if merged else column
    return rows


@lru_cache(maxsize=2)
def prepared(dataset: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """All rows of a data set and their labels."""
    table = adult("all") if dataset == "adult" else bank()
    if dataset == "adult":
        table = table.rows(table.complete)
    return features(table), (table[table.target] == _YES[dataset]).astype(np.int64)


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
