"""What every mechanism of the catalogue promises: ε, its law, its spec, copies, containers and secrets.

The oracle is ``tests/rows_by_spec.py``: the tickets of every value, read from the text of a spec by docs/draw.md alone.
"""

import copy
import json
import math
import pickle
import random
from collections import Counter
from fractions import Fraction
from itertools import accumulate, chain, product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bipartite as bp
from bipartite.errors import (
    BipartiteError,
    BrokenPromiseError,
    DataError,
    DesignError,
    InputError,
    NullError,
    OutsideDomainError,
    SpecError,
    WordsExhaustedError,
)
from bipartite.lottery.words import CHUNK
from bipartite.mechanisms.catalogue import by_spec, entries, entry_of, written_as
from bipartite.mechanisms.categories.cells import to_cells
from bipartite.mechanisms.spec import canonical_json, load_spec, spec_sha256
from tests.catalogue import (
    BY_ONE_TICKET,
    BY_SEVERAL_TICKETS,
    LINES,
    NAMES,
    OF_VALUES,
    ROWS_OF_BITS,
    cases,
    made,
    values_of,
)
from tests.mechanisms.contract import SCHEMA, assert_keeps, exact_exp, rows_of, tickets_of
from tests.rows_by_spec import row_of, words_before
from tests.strategies import brr, epsilons, small_lines
from tests.strategies_sets import sets
from tests.vectors.draw_by_the_page import WIDE, Words, numbers, redraws, size_of, word_for

EPSILONS = ["1e-12", "0.000001", "0.01", "0.5", "1.2345678901234567891", "3.3", "8", "30", "50"]
# Less than ε by design.
SPENDS_OTHERWISE = ("constant", "one anchor", "exponential as published")
SENTINEL = 918_273_645
NEEDLES = ("918273645", "9182736", "9.18273645")

every = cases(NAMES)
of_values = cases(OF_VALUES)
of_bits = cases(ROWS_OF_BITS)
on_lines = cases([name for name in NAMES if name.endswith(tuple(f" on {x}" for x in LINES))])


def test_every_mechanism_of_the_package_is_held_to_this_and_none_twice():
    assert {entry_of(type(made(name))).name for name in NAMES} == {entry.name for entry in entries()}
    assert len({spec_sha256(made(name)) for name in NAMES}) == len(NAMES)


# --- ε, in exact arithmetic


@every
def test_its_tickets_keep_epsilon_and_spend_it(name):
    mechanism = made(name)
    spent = assert_keeps(mechanism)
    assert bp.verify(mechanism).holds
    assert mechanism.epsilon == (0 if name.startswith("constant") else 1)
    if not name.startswith(SPENDS_OTHERWISE):
        assert 1 - 2e-6 < spent <= 1
    if mechanism.epsilon:
        assert mechanism.guarantee.startswith("ε-LDP of ") and mechanism.guarantee.endswith("ε = 1")


@pytest.mark.grid(120)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("constant")])
def test_any_epsilon_is_kept_or_refused_with_advice(name, epsilon):
    try:
        mechanism = made(name, epsilon)
    except DesignError as error:
        assert any(advice in str(error) for advice in ("; use ", "; give ", "2^52"))  # noqa: PT017
        return
    spent = assert_keeps(mechanism)
    assert bp.verify(mechanism).holds
    if spent and not name.startswith(SPENDS_OTHERWISE):
        # A ticket or two of the rarest report is what rounding may cost: it holds some 2^52/e^ε of them.
        rounding = 1e-12 + 8 * len(mechanism.domain) * math.exp(float(epsilon)) / 2**52
        assert float(epsilon) * (1 - 1e-5) - rounding < spent <= float(epsilon)


ON_ANY_LINE = [bp.GRR, bp.Exponential, bp.Geometric, bp.SquareWave, bp.Anchored, bp.BRR]
ON_ANY_SET = [bp.GRR, bp.Exponential, bp.Anchored, bp.BRR, bp.Optimal, bp.OUE, bp.SubsetSelection]
ON_ANY_INTERVAL = [bp.Laplace, bp.Staircase, bp.Duchi, bp.Piecewise, bp.Hybrid]


@given(small_lines, epsilons, st.sampled_from(ON_ANY_LINE))
def test_epsilon_is_kept_on_any_line(domain, epsilon, kind):
    assert_keeps_and_travels(kind, domain, epsilon)


@given(st.decimals("0.05", 8, places=6, allow_nan=False), st.integers(2, 40), st.sampled_from(ON_ANY_INTERVAL))
def test_epsilon_is_kept_on_any_grid_of_numbers(epsilon, points, kind):
    """By the rows of the lottery, which have thousands of outputs: the text of the spec says the same of small ones."""
    try:
        mechanism = kind(bp.Interval(-1, 2, points=points), epsilon)
    except DesignError as error:
        assert "use at least" in str(error)  # noqa: PT017
        return
    rows = mechanism.lottery.rows(0, points)
    assert set(rows.sum(axis=1).tolist()) == {mechanism.lottery.total}
    ratio = max(Fraction(*pair) for pair in set(zip(rows.max(axis=0).tolist(), rows.min(axis=0).tolist(), strict=True)))
    assert bp.verify(mechanism).holds and bp.verify(mechanism).ratio == ratio
    assert ratio.numerator <= exact_exp(str(epsilon)) * ratio.denominator
    assert 0 <= epsilon - bp.verify(mechanism).epsilon_upper < epsilon / 10**6


@given(sets, epsilons, st.sampled_from(ON_ANY_SET))
def test_epsilon_is_kept_on_any_set(domain, epsilon, kind):
    assert_keeps_and_travels(kind, domain, epsilon)


@given(brr(small_lines))
def test_epsilon_is_kept_by_any_window(mechanism):
    spent = assert_keeps(mechanism)
    exact = float(mechanism.epsilon_decimal)
    assert exact - min(1e-6, exact / 1000) - 1e-15 <= spent <= exact
    assert bp.from_spec(mechanism.to_spec()) == mechanism == pickle.loads(pickle.dumps(mechanism))


def assert_keeps_and_travels(kind, domain, epsilon):
    try:
        mechanism = kind(domain, epsilon)
    except DesignError as error:
        assert "; use " in str(error) or "2^52" in str(error) or "the same for all" in str(error)  # noqa: PT017
        return
    assert_keeps(mechanism)
    assert bp.verify(mechanism).holds
    twin = load_spec(json.dumps(mechanism.to_spec()))
    assert twin == mechanism == pickle.loads(pickle.dumps(mechanism))
    assert hash(twin) == hash(mechanism) and bp.verify(twin) == bp.verify(mechanism)


# --- Its law


@of_values
def test_its_rows_are_those_of_the_spec(name):
    mechanism = made(name)
    assert rows_of(mechanism) == tickets_of(mechanism)
    rows = mechanism.lottery.rows(0, len(mechanism.domain))
    assert (mechanism.matrix() == rows / mechanism.lottery.total).all()
    assert mechanism.matrix().sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert all(report in mechanism.outputs for report in mechanism.outputs)


def ends_of(mechanism, spec):
    """(value, words, report) at both ends of outputs, by the spec; a word that is redrawn comes first now and then."""
    rng = random.Random(7)
    for x in sorted({0, 1, len(mechanism.domain) // 2, len(mechanism.domain) - 1}):
        row = [(report, held) for report, held in row_of(spec, x) if held]
        ends = [0, *accumulate(held for _, held in row)]
        for at in sorted({0, len(row) - 1, *rng.sample(range(len(row)), min(12, len(row)))}):
            for ticket in (ends[at], ends[at + 1] - 1):
                again = [0] if ticket % 3 == 1 and redraws(0, ends[-1]) else []
                coins = [rng.getrandbits(64) for _ in range(words_before(spec))]
                yield mechanism.domain[x], [*coins, *again, word_for(ticket, ends[-1])], row[at][0]


@cases(BY_ONE_TICKET)
def test_every_output_is_dealt_its_tickets_alone_and_among_many(name):
    mechanism = made(name)
    cases = list(ends_of(mechanism, json.loads(json.dumps(mechanism.to_spec()))))
    for value, words, report in cases:
        source = bp.fixed_words(words)
        assert mechanism.privatize(value, rng=source) == report
        assert repr(source).startswith("<fixed words, 0 of")
    source = bp.fixed_words([word for _, words, _ in cases for word in words])
    assert mechanism.privatize([value for value, _, _ in cases], rng=source) == [report for *_, report in cases]


FEW = {"near": "5", "far": "2"}


def with_few_tickets(spec):
    """A spec of the same mechanism and domain that deals a few tickets a report, and at most 2.5 times as many."""
    spec, size = copy.deepcopy(spec), size_of(spec["domain"])
    if "rows" in spec:
        width = len(spec["rows"][0])
        spec["rows"] = [[str(1 + (width > 1 and y == x % width)) for y in range(width)] for x in range(size)]
    elif "noise" in spec:
        spec["noise"] = ["2", *["1"] * (len(spec["noise"]) - 2), str(size)]
    elif "regions" in spec:
        labels = spec["regions"]["labels"]
        likely = spec.get("m") or [labels.count(region) for region in sorted(set(labels))]
        more = [str(2 + 3 * min(likely) // many) for many in likely]
        few = (
            {"near": each, "far": "2", "outside": "2"} if "m" in spec else {"own": each, "other": "2"} for each in more
        )
        spec |= {"tickets": list(few), "total": str(2 * size + 3 * min(likely))}
    elif "sets" in spec:
        spec["sets"] = [each | {"tickets": FEW} for each in spec["sets"]]
    elif "parts" in spec:
        spec["parts"] = {"ends": {"least": str(size), "step": "1"}, "window": {"m": 3, "stride": 2, **FEW}}
    elif "ends" in spec:
        spec["ends"] = {"least": str(size), "step": "1"}
    elif "tickets" in spec and len(spec.get("anchors", spec.get("bins", "several"))) > 1:
        spec |= {"tickets": FEW} | ({"m": 3, "stride": 2} if "stride" in spec else {})
    return spec


# Tables that are unbiased need many tickets.
@cases([name for name in OF_VALUES if not name.startswith("optimal, unbiased")])
def test_every_ticket_is_drawn_and_counted(name):
    """ε by fractions of what was drawn, one word for each ticket; on sets, a try that fails asks for another word."""
    spec = with_few_tickets(json.loads(json.dumps(made(name).to_spec())))
    mechanism, counted = bp.from_spec(spec), []
    for x, value in enumerate(mechanism.domain):
        row = row_of(spec, x)
        tries = spec.get("draw") == "tries"
        total = len(mechanism.domain) * int(spec["tickets"]["near"]) if tries else sum(held for _, held in row)
        words = [[0] * words_before(spec) + [word_for(ticket, total)] for ticket in range(total)]
        drawn = [report_or_none(mechanism, value, each) for each in words]
        law = Counter()
        for report, held in row:
            law[report] += held
        counted.append(Counter(report for report in drawn if report is not None))
        assert counted[-1] == +law
        if not tries:
            assert mechanism.privatize([value] * total, rng=bp.fixed_words(chain(*words))) == drawn
    ratio = max(Fraction(a[y], b[y]) for a in counted for b in counted for y in a)
    assert ratio == mechanism.largest_ratio() <= Fraction(5, 2)
    assert ratio > 1 or name.startswith(("constant", "one anchor"))


def report_or_none(mechanism, value, words):
    try:
        return mechanism.privatize(value, rng=bp.fixed_words(words))
    except WordsExhaustedError:
        return None


@cases(BY_SEVERAL_TICKETS)
def test_reports_that_take_several_tickets_have_its_law(name):
    mechanism = made(name)
    # Seeded; a false alarm has probability 1e-9.
    how = {"trials": 3000, "confidence": 1 - 1e-9}
    assert bp.law_test(mechanism, rng=bp.insecure_seed(5), **how).holds
    # Power: the law of the values backwards is told from it.
    law = {"matrix": mechanism.matrix()[::-1], "inputs": list(mechanism.domain), "outputs": list(mechanism.outputs)}
    rng = bp.insecure_seed(5)
    assert not bp.law_test(lambda values: mechanism.privatize(values, rng=rng), **law, **how).holds


def borders_of(spec, size):
    """First words that draw the first and the last ticket of each kind of report, and some that draw any."""
    if "tickets" not in spec:
        one = int((spec.get("chances") or spec["permanent"])["one"])
        return [[], [one - 1], [one]]
    near, far = numbers(spec["tickets"])
    if spec["mechanism"] == "hadamard-response":
        held = [held for _, held in row_of(spec, 0)]
    elif spec["mechanism"] == "olh":
        held = [near] + [far] * (spec["buckets"] - 1)
    else:
        held = [spec["k"] * near, (size - spec["k"]) * far]
    before = [2**63] if spec["mechanism"] == "olh" else []  # its seed
    tickets = [ticket for end, many in zip(accumulate(held), held, strict=True) for ticket in (end - many, end - 1)]
    return [[], *([*before, word_for(ticket, sum(held))] for ticket in tickets)]


@of_bits
def test_rows_of_bits_are_drawn_as_the_page_says(name):
    mechanism = made(name)
    spec, size = mechanism.to_spec(), len(mechanism.domain)
    for x, deciding in product((0, size // 2, size - 1), borders_of(spec, size)):
        rng = random.Random(x)
        words = Words(rng, *(rng.getrandbits(64) for _ in range(words_before(spec))), *deciding)
        words.take(words_before(spec))
        if spec["mechanism"] in WIDE:
            expected = WIDE[spec["mechanism"]](spec, size, x, words)["report"]
        else:
            row = row_of(spec, x)
            ends, ticket = list(accumulate(held for _, held in row)), words.ticket(sum(held for _, held in row))
            expected = next(report for (report, _), end in zip(row, ends, strict=True) if end > ticket)
        for values in (mechanism.domain[x], [mechanism.domain[x]]):
            source = bp.fixed_words(words.taken)
            drawn = mechanism.privatize(values, rng=source)
            (report,) = to_cells(drawn if isinstance(values, list) else np.asarray(drawn)[None])
            assert (report.decode() if isinstance(report, bytes) else int(report)) == expected
            assert repr(source).startswith("<fixed words, 0 of")


def some_words(count, seed=3):
    words = np.random.default_rng(seed).integers(0, 2**64, count, dtype=np.uint64)
    words[::7] = 0  # redrawn wherever anything is
    return words.tolist()


@of_values
def test_many_reports_are_those_of_one_by_one_and_take_the_same_words(name):
    mechanism = made(name)
    values, words = values_of(mechanism, 40), some_words(4000)
    one, many = bp.fixed_words(words), bp.fixed_words(words)
    expected = [mechanism.privatize(value, rng=one) for value in values]
    assert mechanism.privatize(values, rng=many) == expected
    assert repr(one) == repr(many)
    assert all(report in mechanism.outputs for report in expected)
    used = len(words) - int(repr(many).split(", ")[1].split()[0])
    with pytest.raises(WordsExhaustedError):
        mechanism.privatize(values, rng=bp.fixed_words(words[: used - 1]))


# One of every lottery, and each of both kernels.
THREADED = [
    "brr on integers",
    "exponential on integers",
    "geometric on integers",
    "anchored on random",
    "brr on points",
]


@pytest.mark.grid(1)
@pytest.mark.parametrize("name", THREADED)
def test_reports_depend_on_words_and_not_on_threads(name):
    mechanism = made(name)
    values = np.tile(values_of(mechanism, 999), CHUNK // 999 + 2)
    one = mechanism.privatize(values, rng=bp.insecure_seed(3))
    assert (mechanism.privatize(values, rng=bp.insecure_seed(3), threads=2) == one).all()
    assert (mechanism.privatize(values[:CHUNK], rng=bp.insecure_seed(3)) == one[:CHUNK]).all()
    source = bp.insecure_seed(3)
    assert one[:300].tolist() == [mechanism.privatize(value, rng=source) for value in values[:300].tolist()]
    for position in (CHUNK - 1, CHUNK, len(values) - 1):
        wrong = values.copy()
        wrong[position] = 99
        with pytest.raises(OutsideDomainError, match=f"1 of {len(values)} values cannot be .*: values\\[{position}"):
            mechanism.privatize(wrong, threads=2)


# --- Its spec


@every
def test_its_spec_says_all_and_comes_back(name):
    mechanism = made(name)
    spec = mechanism.to_spec()
    SCHEMA.validate(spec)
    entry = written_as(type(mechanism))
    assert (spec["bipartite"], spec["mechanism"]) == (entry.version, entry.name)
    assert by_spec(entry.version)[entry.name] is entry
    always = {"bipartite", "mechanism", "domain"} | ({"epsilon"} if entry.epsilon else set())
    assert set(spec) == always | type(mechanism).fields_on(spec["domain"])
    for twin in (bp.from_spec(spec), load_spec(json.dumps(spec)), load_spec(canonical_json(spec))):
        assert twin == mechanism and hash(twin) == hash(mechanism)
        assert twin.to_spec() == spec and spec_sha256(twin) == spec_sha256(mechanism)
        assert bp.verify(twin) == bp.verify(mechanism)
        assert twin.epsilon_decimal == mechanism.epsilon_decimal and twin.domain == mechanism.domain
    same_reports(twin, mechanism)


def same_reports(twin, mechanism):
    values = values_of(mechanism, 30)
    reports, again = (each.privatize(values, rng=bp.insecure_seed(2)) for each in (mechanism, twin))
    if mechanism.flat:
        assert np.array_equal(again, reports)
        return
    assert again == reports
    assert twin.outputs == mechanism.outputs
    assert np.array_equal(twin.matrix(), mechanism.matrix())


@every
def test_a_spec_that_lacks_or_adds_anything_is_refused(name):
    spec = made(name).to_spec()
    for field in spec:
        with pytest.raises(SpecError, match="Expected"):
            bp.from_spec({key: value for key, value in spec.items() if key != field})
    with pytest.raises(SpecError, match="Expected a spec without salt; update bipartite"):
        bp.from_spec({**spec, "salt": 1})
    for version in (0, 99, "1", True):
        with pytest.raises(SpecError, match="Expected a spec of version 1 to 5, got "):
            bp.from_spec(spec | {"bipartite": version})
    with pytest.raises(SpecError, match="Expected mechanism '.*', got 'other'"):
        bp.from_spec(spec | {"mechanism": "other"})


@cases([name for name in NAMES if not name.startswith(SPENDS_OTHERWISE)])
def test_a_spec_that_promises_more_than_its_tickets_keep_is_refused(name):
    spec = made(name).to_spec()
    with pytest.raises(BrokenPromiseError, match="do not report with this spec"):
        bp.from_spec(spec | {"epsilon": "0.999"})
    for odd, message in (("1.0", "in its canonical form '1', got '1.0'"), (1, "as a decimal string such as '1'")):
        with pytest.raises(SpecError, match=f"Expected epsilon {message}"):
            bp.from_spec(spec | {"epsilon": odd})


# --- Copies


def told_by(mechanism):
    """Every public attribute, as text where it has no equality of its own; a refusal to tell is one, too."""
    kind, told = type(mechanism), {}
    # The spec tells the facts, and the draw follows from them.
    for name in set(dir(kind)) - {"lottery", "draw", "facts"}:
        if not name.startswith("_") and not callable(getattr(kind, name)):
            try:
                told[name] = getattr(mechanism, name)
            except (AttributeError, InputError) as error:
                told[name] = str(error)
            if isinstance(told[name], np.ndarray):
                told[name] = told[name].tolist()
    return told


@every
def test_pickles_and_copies_are_the_same_mechanism(name):
    mechanism = made(name)
    told = told_by(mechanism)
    for twin in (pickle.loads(pickle.dumps(mechanism)), copy.copy(mechanism), copy.deepcopy(mechanism)):
        assert twin == mechanism and hash(twin) == hash(mechanism)
        assert (type(twin), repr(twin)) == (type(mechanism), repr(mechanism))
        assert told_by(twin) == told
        assert bp.verify(twin) == bp.verify(mechanism)
    same_reports(pickle.loads(pickle.dumps(mechanism)), mechanism)
    assert mechanism != "mechanism" and type(mechanism).__name__ in repr(mechanism)


@every
def test_it_never_changes(name):
    mechanism = made(name)
    for field in ("epsilon", "domain", "outputs", "draw", "facts", "known", "variant"):
        with pytest.raises(AttributeError):
            setattr(mechanism, field, None)
    held = [getattr(mechanism.draw, field, None) for field in ("tickets", "running", "groups")]
    for twin in (mechanism, pickle.loads(pickle.dumps(mechanism))):
        for array in arrays_in([*held, *twin.facts.values(), getattr(twin.outputs, "indices", None)]):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0


def arrays_in(held):
    if isinstance(held, np.ndarray):
        return [held]
    return [array for each in held for array in arrays_in(each)] if isinstance(held, (list, tuple)) else []


@every
def test_a_pickle_is_read_like_a_spec(name):
    make, (kind, domain, stated, *others) = made(name).__reduce__()
    if "rows" in made(name).facts:
        return  # a table, which is pickled as an array, and whose ε is computed
    assert make(kind, domain, stated, *others) == made(name)
    for each in set(stated) - {"epsilon"}:
        for forged in ("forged", -1, ["forged"], {"near": "1"}):
            with pytest.raises((SpecError, BrokenPromiseError)):
                make(kind, domain, {**stated, each: forged}, *others)


# --- Containers


CONTAINERS = {
    "tuple": (tuple, list),
    "array": (np.array, np.ndarray.tolist),
    "pandas": (lambda values: pd.Series(values, index=range(7, 7 + len(values)), name="n"), pd.Series.tolist),
    "polars": (lambda values: pl.Series("n", values), pl.Series.to_list),
    "arrow": (pa.array, pa.Array.to_pylist),
    "chunked": (lambda values: pa.chunked_array([values[:7], values[7:]]), pa.ChunkedArray.to_pylist),
}
# Tuples have containers of their own, in tests/domains/containers/test_tuples.py.
SINGLE = [name for name in OF_VALUES if "pairs" not in name]


@cases(SINGLE)
def test_every_container_gets_the_reports_of_a_list(name):
    mechanism = made(name)
    values, words = values_of(mechanism, 20), some_words(2000)
    expected = mechanism.privatize(values, rng=bp.fixed_words(words))
    assert mechanism.privatize([]) == []
    for make, back in CONTAINERS.values():
        given = make(values)
        reports = mechanism.privatize(given, rng=bp.fixed_words(words))
        assert isinstance(reports, pa.Array) if isinstance(given, pa.Array) else type(reports) is type(given)
        assert back(reports) == expected
        if isinstance(given, pd.Series):
            assert reports.index.equals(given.index) and reports.name == "n"
    labelled = mechanism.report_labels is not None
    kind = None if labelled else np.int64 if mechanism.outputs.whole else np.float64
    assert labelled or mechanism.privatize(np.array(values)).dtype == kind
    assert labelled or {type(each) for each in expected} == {int if mechanism.outputs.whole else float}


@pytest.mark.parametrize("name", [name for name in SINGLE if name.endswith("on integers")])
def test_every_type_of_number_gets_the_same_reports(name):
    mechanism, words = made(name), some_words(400)
    whole = [1, 2, 3, 1, 3, 2]
    expected = mechanism.privatize(whole, rng=bp.fixed_words(words))
    kind = np.int64 if mechanism.outputs.whole else np.float64
    for dtype in (*("int8", "int16", "int32", "int64", "uint8", "uint64"), *("float16", "float32", "float64")):
        values = np.array(whole, dtype=dtype)
        reports = mechanism.privatize(values, rng=bp.fixed_words(words))
        assert reports.tolist() == expected and reports.dtype == kind
        source = bp.fixed_words(words)
        scalars = [mechanism.privatize(value, rng=source) for value in values]
        assert scalars == expected and {type(each) for each in scalars} == {kind}


@of_bits
def test_rows_of_bits_are_the_same_from_every_container(name):
    mechanism = made(name)
    values = values_of(mechanism, 20)
    expected = mechanism.privatize(values, rng=bp.insecure_seed(1))
    makers = [tuple] if "pairs" in name else [make for make, _ in CONTAINERS.values()]
    for make in makers:
        if make is tuple and "pairs" in name:
            continue  # a tuple is one pair
        assert np.array_equal(mechanism.privatize(make(values), rng=bp.insecure_seed(1)), expected)
    assert len(mechanism.privatize([])) == 0
    with pytest.raises(NullError, match="add a 'no answer' value to the domain"):
        mechanism.privatize([values[0], None])
    with pytest.raises(InputError, match="Expected nulls='error', got 'keep'; remove it"):
        mechanism.privatize(values, nulls="keep")


@of_values
def test_nulls_are_kept_in_place_or_refused(name):
    mechanism = made(name)
    first, words = mechanism.domain[0], some_words(500)
    expected = mechanism.privatize([first, first], rng=bp.fixed_words(words))
    kept = mechanism.privatize([first, None, first], nulls="keep", rng=bp.fixed_words(words))
    assert kept == [expected[0], None, expected[1]]
    assert mechanism.privatize(None, nulls="keep") is None
    with pytest.raises(NullError, match="1 of 3 values are missing, the first at values\\[1\\]; remove it"):
        mechanism.privatize([first, None, first])
    with pytest.raises(NullError, match="The value is missing; remove it"):
        mechanism.privatize(None)
    if name in SINGLE:
        for make, back in (CONTAINERS["polars"], CONTAINERS["arrow"]):
            gaps = make([first, None, first])
            assert back(mechanism.privatize(gaps, nulls="keep", rng=bp.fixed_words(words))) == kept


@on_lines
def test_values_outside_a_line_are_clipped_alike_or_refused(name):
    mechanism = made(name)
    low, high = mechanism.domain[0], mechanism.domain[len(mechanism.domain) - 1]
    ends, values = [low, high, high], [low - 100, high + 1, 10**9]
    clipped = [np.asarray(mechanism.privatize(end, rng=bp.insecure_seed(at))) for at, end in enumerate(ends)]
    for wrong in (values, [*map(float, values)], [-math.inf, math.inf, math.inf]):
        found = [
            np.asarray(mechanism.privatize(value, outside="clip", rng=bp.insecure_seed(at)))
            for at, value in enumerate(wrong)
        ]
        assert np.array_equal(found, clipped)
        both = [mechanism.privatize(each, outside="clip", rng=bp.insecure_seed(1)) for each in (wrong, np.array(wrong))]
        whole = mechanism.privatize(ends, rng=bp.insecure_seed(1))
        assert np.array_equal(both[0], whole) and np.array_equal(both[1], whole)
        with pytest.raises(OutsideDomainError, match="3 of 3 values cannot be reported: values\\[0\\] is outside"):
            mechanism.privatize(wrong)


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(("labels", "items", "weekdays"))])
def test_there_is_nothing_to_clip_on_a_set_and_unknown_labels_are_refused(name):
    mechanism = made(name)
    if not name.endswith("weekdays"):
        with pytest.raises(InputError, match="outside='clip' has no meaning on a set"):
            mechanism.privatize(mechanism.domain[0], outside="clip")
    with pytest.raises(OutsideDomainError, match="1 of 2 values cannot be .*: values\\[1\\] is not one of the labels"):
        mechanism.privatize([mechanism.domain[0], "Atlantis"])


@every
def test_a_record_takes_every_mechanism_that_keeps_its_epsilon(name):
    mechanism = made(name)
    record = bp.Record({"it": mechanism, "age": made("grr on integers", "0.5")})
    assert record.epsilon_decimal == mechanism.epsilon_decimal + made("grr on integers", "0.5").epsilon_decimal
    values = values_of(mechanism, 5)
    reports = record.privatize({"it": values, "age": [0] * 5}, rng=bp.insecure_seed(1))
    assert np.array_equal(np.array(reports["it"]), np.array(mechanism.privatize(values, rng=bp.insecure_seed(1))))
    assert pickle.loads(pickle.dumps(record)) == record


# --- Secrets


def secrets_of(mechanism):
    """(a single value, containers) that cannot be reported and must not be shown."""
    good, domain = mechanism.domain[0], mechanism.domain
    if isinstance(domain, bp.Product):
        bad = (SENTINEL, *good[1:])
        return bad, [[good, bad], [good, (*good[:-1], str(SENTINEL))], [good, (SENTINEL,)], {SENTINEL}]
    if domain.labels is not None:
        bad = f"Sentinel-{SENTINEL}" if isinstance(good, str) else SENTINEL
        texts = [[good, bad], np.array([good, bad]), pd.Series([good, bad]), pl.Series([good, bad])]
        return bad, [*texts, pa.array([good, bad]), [good, [bad]], {bad}, [None, bad]]
    numbers = [make([good, type(good)(SENTINEL)]) for make, _ in CONTAINERS.values() if make is not tuple]
    odd = [
        np.array([good, SENTINEL + 0.546372819]),
        np.array([str(SENTINEL)]),
        np.array([SENTINEL, None], dtype=object),
    ]
    odd += [[good, str(SENTINEL)], [None, SENTINEL], [[SENTINEL]], [SENTINEL * 10**40], {SENTINEL}, {"age": SENTINEL}]
    return SENTINEL, [[good, SENTINEL], np.full(3000, SENTINEL), *numbers, *odd]


def shown(error):
    """All that an error and whatever travels with it show, but for the message of the error itself."""
    assert error.__cause__ is None and (error.__context__ is None or error.__suppress_context__)
    return repr(error) + repr(error.args) + pickle.dumps(error).decode("latin-1")


@every
def test_a_refusal_shows_a_value_in_the_message_of_a_single_call_and_nowhere_else(name, caplog, recwarn):
    mechanism = made(name)
    one, many = secrets_of(mechanism)
    for values in many:
        with pytest.raises(BipartiteError) as caught:
            mechanism.privatize(values)
        text = str(caught.value) + shown(caught.value)
        assert not [needle for needle in (*NEEDLES, "546372819") if needle in text], type(values)
    with pytest.raises(DataError) as caught:
        mechanism.privatize(one)
    text = shown(caught.value) + str(pickle.loads(pickle.dumps(caught.value)))
    assert not [needle for needle in NEEDLES if needle in text]
    assert str(SENTINEL) in str(caught.value)
    assert not caplog.records and not recwarn.list


@pytest.mark.parametrize("kind", [bp.GRR, bp.BRR, bp.SquareWave, bp.OLH, lambda domain, _: bp.Constant(domain)])
def test_a_mechanism_that_has_reported_holds_no_value(kind, caplog):
    mechanism = kind(bp.Integers(0, 2**30 - 1), 1)
    for values in (SENTINEL, [SENTINEL] * 3, np.full(10, SENTINEL)):
        mechanism.privatize(values)
    for text in (repr(mechanism), pickle.dumps(mechanism).decode("latin-1"), str(mechanism.to_spec())):
        assert not [needle for needle in NEEDLES if needle in text]
    assert not caplog.records
