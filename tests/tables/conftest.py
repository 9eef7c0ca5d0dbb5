"""A plan with every kind of column, and people for it; one Spark for all the tests of a process."""

import hashlib
import shutil

import numpy as np
import pytest

import bipartite as bp
from bipartite.tables import Column
from tests.tables.spark_session import start

AGE = bp.BRR(bp.Integers(18, 90), epsilon=1)
INCOME = bp.BRR(bp.Interval(0, 200_000, points=401), epsilon="0.5", edges="padded")
JOBS = ("nurse", "teacher", "other", "no answer")
JOB = bp.GRR(bp.Items(JOBS, loss=1.0 - np.eye(4)), epsilon="0.25")
CITIES = bp.Points(
    [[52.52, 13.4], [48.86, 2.35], [51.51, -0.13]], metric="haversine", labels=["Berlin", "Paris", "London"]
)
HOME = bp.BRR(CITIES, epsilon=1)


@pytest.fixture(scope="session")
def session(tmp_path_factory):
    if shutil.which("java") is None:
        pytest.skip("no Java on this machine")
    made = start("local[2,2]", tmp_path_factory.mktemp("spark"))
    yield made
    made.stop()


@pytest.fixture
def plan():
    return bp.Plan(
        {
            "age": AGE,
            "income": Column(INCOME, outside="clip"),
            "job": Column(JOB, outside_as="other", nulls_as="no answer"),
            "home": Column(HOME, inputs=("lat", "lon")),
            "country": "public",
        }
    )


def people(count, seed=0):
    """Made-up people: a dict of columns."""
    draw = np.random.default_rng(seed)
    jobs = draw.choice(["nurse", "teacher", "astronaut"], count).tolist()
    return {
        "age": draw.integers(18, 91, count).tolist(),
        "income": draw.uniform(-1e4, 3e5, count).round(2).tolist(),
        "job": [None if at % 7 == 0 else job for at, job in enumerate(jobs)],
        "lat": draw.uniform(40, 55, count).round(4).tolist(),
        "lon": draw.uniform(0, 15, count).round(4).tolist(),
        "country": draw.choice(["DE", "FR", 'a "b", c'], count).tolist(),
        "secret": draw.integers(0, 10**9, count).tolist(),
    }


def column_words(seed, column):
    """The stream of one column, written down a second time from its definition in tables/drawing.py."""
    first = bp.insecure_seed(seed).streams().stream(0, 1).word()
    digest = hashlib.sha256(f"bipartite column {first} {column}".encode()).digest()
    return bp.insecure_seed(int.from_bytes(digest[:8], "big"))


def expected(rows, seed):
    """What the plan must report for these people, from each mechanism alone."""
    jobs = [{None: "no answer"}.get(job, job if job in JOBS else "other") for job in rows["job"]]
    nearest = CITIES.nearest(list(zip(rows["lat"], rows["lon"], strict=True))) if rows["lat"] else []
    return {
        "age": AGE.privatize(rows["age"], rng=column_words(seed, "age")),
        "income": INCOME.privatize(rows["income"], rng=column_words(seed, "income"), outside="clip"),
        "job": JOB.privatize(jobs, rng=column_words(seed, "job")),
        "home": HOME.privatize(nearest, rng=column_words(seed, "home")),
        "country": rows["country"],
    }
