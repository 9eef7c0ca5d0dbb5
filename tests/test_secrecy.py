"""A private value shows in the message of a scalar call and nowhere else.

Sentinel values go through every way in that can fail, and are looked for in messages, reprs, pickles, exceptions that
travel along, logs and warnings.
"""

import io
import json
import logging
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

from bipartite import BRR, Integers, Interval, fixed_words
from bipartite.cli import main
from bipartite.errors import BipartiteError, DataError

SENTINEL = 918_273_645
SENTINEL_FLOAT = 918273645.546372819
NEEDLES = ("918273645", "9182736", "9.18273645", "546372819")

AGES = BRR(Integers(18, 90), epsilon=1)
INCOME = BRR(Interval(0, 200_000, points=401), epsilon=1)
ROUNDED = BRR(Interval(0, 200_000, points=401, rounding="random"), epsilon=1)

# Beside what tests/mechanisms/test_conformance.py tries on every mechanism.
scalars = {
    "outside": (AGES, SENTINEL, {}),
    "outside float": (AGES, SENTINEL_FLOAT, {}),
    "fractional": (BRR(Integers(0, 2**30), 1), SENTINEL_FLOAT, {}),
    "numpy scalar": (AGES, np.int64(SENTINEL), {}),
    "text": (AGES, str(SENTINEL), {}),
    "bytes": (AGES, str(SENTINEL).encode(), {}),
}
arrays = {
    "outside narrow": (AGES, np.array([40, SENTINEL], dtype=np.int32), {}),
    "outside unsigned": (AGES, np.array([40, SENTINEL], dtype=np.uint64), {}),
    "threads": (AGES, np.full(2**20 + 5, SENTINEL), {"threads": 2}),
    "fractional": (BRR(Integers(0, 2**30), 1), np.array([SENTINEL_FLOAT]), {}),
    "nan beside": (INCOME, np.array([np.nan, SENTINEL_FLOAT]), {}),
    "nan while clipping": (INCOME, np.array([np.nan, SENTINEL_FLOAT]), {"outside": "clip"}),
    "random rounding": (ROUNDED, np.array([SENTINEL_FLOAT]), {}),
    "list kept null": (AGES, [None, SENTINEL], {"nulls": "keep"}),
    "list of floats beyond": (AGES, [1.0, SENTINEL * 10**400], {}),
    "masked array": (AGES, np.ma.masked_array([SENTINEL], mask=[True]), {}),
    "words run out": (BRR(Integers(SENTINEL - 1, SENTINEL + 1), 1), [SENTINEL] * 3, {"rng": "short"}),
    "bad option": (AGES, [SENTINEL], {"outside": "wrap"}),
    "bad rng": (AGES, [SENTINEL], {"rng": 7}),
}


def found_in(text):
    return [needle for needle in NEEDLES if needle in text]


def chain(error):
    """The error and everything that travels with it."""
    while error is not None:
        yield error
        assert error.__cause__ is None or error.__suppress_context__
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def provoke(mechanism, values, options, caplog):
    if options.get("rng") == "short":
        options = {"rng": fixed_words([1 << 63])}
    with caplog.at_level(logging.DEBUG), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises((BipartiteError, RuntimeError)) as caught:
            mechanism.privatize(values, **options)
    assert not caplog.records
    assert not warned
    return caught.value


@pytest.mark.parametrize("case", scalars)
def test_a_scalar_error_shows_the_value_in_its_message_only(case, caplog):
    error = provoke(*scalars[case], caplog)
    assert found_in(str(error))
    for each in chain(error):
        assert not found_in(repr(each))
        assert not found_in(repr(each.args))
    assert not found_in(pickle.dumps(error).decode("latin-1"))
    assert isinstance(error, DataError)
    assert not found_in(str(pickle.loads(pickle.dumps(error))))


@pytest.mark.parametrize("case", arrays)
def test_an_array_error_shows_no_value_anywhere(case, caplog):
    error = provoke(*arrays[case], caplog)
    for each in chain(error):
        assert not found_in(str(each))
        assert not found_in(repr(each))
        assert not found_in(pickle.dumps(each).decode("latin-1"))


@pytest.fixture
def ages(tmp_path):
    (tmp_path / "age.json").write_text(json.dumps(BRR(Integers(18, 90), 1).to_spec()), encoding="utf-8")
    return tmp_path / "age.json"


@pytest.mark.parametrize("lines", [f"40\n{SENTINEL}\n", f"40\nx{SENTINEL}\n", f"{SENTINEL}.5\n\n", f"{SENTINEL} 40\n"])
def test_the_command_line_shows_no_value(lines, ages, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    assert main(["privatize", "-", "-", "--spec", str(ages)]) == 3
    shown = capsys.readouterr()
    assert "line" in shown.err
    assert not found_in(shown.err + shown.out)


@pytest.mark.slow
def test_a_process_of_its_own_shows_no_value(ages):
    command = [sys.executable, "-m", "bipartite", "privatize", "-", "-", "--spec", str(ages)]
    result = subprocess.run(command, input=f"40\n{SENTINEL}\n", capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 3
    assert "line" in result.stderr and not found_in(result.stderr + result.stdout)
