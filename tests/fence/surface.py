"""What the fence asks of the public functions: JSON in, JSON out.

The one file of the fence that may be edited when a public name moves. It holds no expectation of its own: a function
here builds what the case describes, calls public names and returns what they give. A function that is gone for good
takes its cases with it, and the commit says so.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import decimal
import fractions
import functools
import hashlib
import io
import json
import math
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

import bipartite as bp
from bipartite.locations.areas import Box, in_circle
from bipartite.mechanisms.spec import canonical_json
from reproduction import places as laboratory
from reproduction import quality as laboratory_quality
from tests.locations.worlds import in_regions

HERE = Path(__file__).parent
MECHANISMS = {
    "anchored": bp.Anchored,
    "anchored-means": bp.AnchoredMeans,
    "brr": bp.BRR,
    "constant": bp.Constant,
    "custom": bp.Custom,
    "duchi": bp.Duchi,
    "exponential": bp.Exponential,
    "geometric": bp.Geometric,
    "grr": bp.GRR,
    "hadamard-response": bp.HadamardResponse,
    "hybrid": bp.Hybrid,
    "laplace": bp.Laplace,
    "lsrr": laboratory.lsrr,
    "minimax": bp.Minimax,
    "olh": bp.OLH,
    "optimal": bp.Optimal,
    "oue": bp.OUE,
    "piecewise": bp.Piecewise,
    "planar-laplace": laboratory.PlanarLaplace,
    "rappor": bp.RAPPOR,
    "region-weighted": laboratory.region_weighted,
    "rr": bp.GRR,
    "square-wave": bp.SquareWave,
    "staircase": bp.Staircase,
    "subset-selection": bp.SubsetSelection,
    "sue": bp.SUE,
    "two-level": laboratory.two_level,
    "within-region": laboratory.WithinRegion,
}
MANY = 30
ASKED = {}


def asked(function):
    """Enter a function under its name, by which cases ask for it."""
    ASKED[function.__name__] = function
    return function


def answer(case):
    """What the public functions give for a case now: JSON, or the refusal of a public error."""
    try:
        return plain(ASKED[case["of"]](**case["given"]))
    except bp.errors.BipartiteError as error:
        return {"refused": type(error).__name__, "message": str(error)}


def plain(value):
    """A result as JSON: no NaN, and numbers that no float holds exactly as text."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, (decimal.Decimal, fractions.Fraction, dt.datetime)):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    message = f"{type(value).__name__} has no form in JSON; return its parts."
    raise TypeError(message)


def parts(value, names):
    """Some attributes of a result."""
    return {name: getattr(value, name) for name in names.split()}


def words_of(given):
    """64-bit words: a list of them, or the name of a stream: SHA-256 of "name:0", "name:1" …, eight bytes of each."""
    if isinstance(given, list):
        return [int(word) for word in given]
    name, _, count = given.rpartition(" × ")
    digests = (hashlib.sha256(f"{name}:{at}".encode()).digest() for at in range(int(count)))
    return [int.from_bytes(digest[:8], "little") for digest in digests]


def source(given):
    return bp.fixed_words(words_of(given))


DOMAINS = {
    "integers": lambda ends: bp.Integers(*ends),
    "interval": lambda ends, **options: bp.Interval(*ends, **options),
    "cyclic": bp.Cyclic,
    "points": bp.Points,
    "items": bp.Items,
    "product": lambda parts, **options: bp.Product(*map(a_domain, parts), **options),
}


def a_domain(given):
    """A domain from its description: the kind comes first, then its options."""
    (kind, what), *options = given.items()
    return DOMAINS[kind](what, **dict(options))


def a_mechanism(given):
    """A mechanism by the name of a kept spec, from a spec, or from a description as in a plan; each is built once."""
    return _mechanism(json.dumps(given))


@functools.cache
def _mechanism(text):
    given = json.loads(text)
    if isinstance(given, str):
        return _of_spec(kept_specs()[given])
    if "bipartite" in given:
        return _of_spec(given)
    given = dict(given)
    kind = MECHANISMS[given.pop("mechanism")]
    where = a_domain(given.pop("domain"))
    if "regions" in given:
        where = in_regions(where, given.pop("regions"))
    if "outputs" in given and given["outputs"] is not None:
        outputs = given.pop("outputs")
        given["outputs"] = a_domain(outputs) if isinstance(outputs, dict) else outputs
    return kind(where, **given)


def _of_spec(spec):
    """What the library refuses because it promises less than ε-LDP, the laboratory reads."""
    weaker = spec["mechanism"] in {"planar-laplace", "within-region"}
    return (laboratory if weaker else bp).from_spec(spec)


@functools.cache
def kept_specs():
    """The specs of all kept designs, by name."""
    cases = json.loads((HERE / "kept" / "designs.json").read_text(encoding="utf-8"))
    return {case["name"]: case.get("spec") or case["gives"] for case in cases}


def a_value(given):
    """A value: of a product, one of each part."""
    return tuple(given) if isinstance(given, list) else given


# Mechanisms.


@asked
def design(**given):
    """The spec that travels."""
    return a_mechanism(given).to_spec()


@asked
def designed_law(**given):
    """The law of a design whose tickets follow from floats, whose last bits are the machine's."""
    made = a_mechanism(given)
    return _law(made, range(len(made.domain))) | {"holds": proved(made)["holds"]}


def _law(made, rows):
    """Rows of the matrix; of wide ones, enough to tell two laws apart."""
    matrix, outputs = made.matrix(), made.outputs.to_numpy()
    if len(outputs) <= MANY:
        return {"outputs": outputs, "rows": [matrix[row] for row in rows]}
    at = np.linspace(-1, 1, len(outputs))
    moments = [[row @ at, row @ at**2, row.min(), row.max()] for row in matrix[list(rows)]]
    return {"outputs": [len(outputs), outputs[0], outputs[-1]], "moments": moments}


@asked
def designed_loss(prior=None, **given):
    """What a design by a linear programme achieves: several may be best, and all have the same loss."""
    made = a_mechanism(given)
    return {
        "expected_loss": bp.loss(made, prior).mean,
        "epsilon": str(made.epsilon),
        "holds": bp.verify(made).holds,
    }


def proved(made):
    """What is proved of a mechanism, or of what the laboratory has that promises less."""
    if not isinstance(made, laboratory.Weaker):
        return parts(bp.verify(made), "ratio epsilon_upper holds guarantee spec_sha256")
    sha256 = hashlib.sha256(canonical_json(made.to_spec()).encode()).hexdigest()
    return {"ratio": made.largest_ratio(), "epsilon_upper": made.ldp_epsilon, "holds": made.holds(),
            "guarantee": made.guarantee, "spec_sha256": sha256}  # fmt: skip


@asked
def mechanism(spec, values, words, rows=(), at_once=True):
    """A kept spec: what is proved of it, some rows of its law, and its reports from fixed words."""
    made = a_mechanism(spec)
    got = {"certificate": proved(made), "name": repr(made)}
    got["same spec"] = made.to_spec() == kept_specs()[spec]
    got["reports"] = reports(spec, values, words)
    if at_once:
        got["at once"] = reports_at_once(spec, values, words)
    return got | ({"law": _law(made, rows)} if rows else {})


@asked
def reports(spec, values, words, **options):
    """Reports of one value after another: all take their words from one stream."""
    made, stream = a_mechanism(spec), source(words)
    return [made.privatize(a_value(each), rng=stream, **options) for each in values]


@asked
def reports_at_once(spec, values, words, dtype=None, **options):
    """Reports of many values in one call: of a list, or of an array of this type."""
    many = [a_value(each) for each in values] if dtype is None else np.array(values, dtype=dtype)
    return a_mechanism(spec).privatize(many, rng=source(words), **options)


@asked
def kept_reports(spec, value, words, days):
    """RAPPOR: the response that is kept, and those of some days."""
    made, stream = a_mechanism(spec), source(words)
    kept = made.permanent(value, rng=stream)
    return [kept] + [made.instantaneous(kept, rng=stream) for _ in range(days)]


@asked
def records(specs, values, words, sample=None):
    record = bp.Record({name: a_mechanism(spec) for name, spec in specs.items()}, sample=sample)
    stream = source(words)
    drawn = [record.privatize({n: a_value(v) for n, v in each.items()}, rng=stream) for each in values]
    return {"epsilon": str(record.epsilon_decimal), "reports": drawn}


@asked
def quality(spec, prior=None, distance=1, quantile=0.5):
    made = a_mechanism(spec)
    return {
        "expected": bp.loss(made, prior).mean,
        "local": bp.loss(made).by_value,
        "worst": bp.loss(made).worst,
        "qloss": laboratory_quality.qloss(made, prior),
        "within": bp.loss(made, prior).within(distance),
        "quantile": bp.loss(made, prior).quantile(quantile),
    }


@asked
def inference(spec, prior=None):
    return laboratory_quality.inference_error(a_mechanism(spec), prior)


@asked
def bound(domain, epsilon):
    return laboratory_quality.local_bound(a_domain(domain), epsilon)


# Verification.


@asked
def audited(inputs, share, trials, epsilon, words, **options):
    """An audit of a client that keeps its bit with this share, and else gives the other."""
    drawn = iter(words_of(words))

    def client(bits):
        return np.array([bit if next(drawn) < share * 2**64 else 1 - bit for bit in bits])

    found = bp.audit(client, inputs=inputs, trials=trials, epsilon=epsilon, **options)
    return parts(found, "epsilon_lower holds verdict confidence trials")


@asked
def trials(**given):
    return bp.trials_needed(**given)


@asked
def law_held_to(spec, trials, words, other):
    """A test of the reports of one mechanism against the law of another, or of its own."""
    sampler, stream = a_mechanism(spec), source(words)
    found = bp.law_test(
        lambda values: np.array(sampler.privatize(values, rng=stream)),
        trials=trials,
        matrix=a_mechanism(other).matrix(),
        inputs=sampler.domain.to_numpy(),
        outputs=sampler.outputs.to_numpy(),
    )
    return {"holds": found.holds, "p_value": found.p_value}


# Answers.


@asked
def estimate(spec, asks, reports=None, counts=None, **options):
    """Answers to some questions: each a method of an estimate and its arguments, or an attribute."""
    if isinstance(spec, dict) and "record" in spec:
        what = bp.Record({name: a_mechanism(each) for name, each in spec["record"].items()}, sample=spec.get("sample"))
    else:
        what = a_mechanism(spec)
    counted = None if counts is None else np.array(counts)
    found = bp.estimate(what, _reports(reports), counts=counted, **options)
    if hasattr(found, "items"):
        return {name: _answers(each, asks) for name, each in found.items()}
    return _answers(found, asks)


@asked
def joint(specs, reports, asks, of=None, **options):
    """Answers about two attributes of a record, or of a mechanism whose values are pairs."""
    if isinstance(specs, dict) and "bipartite" not in specs:
        made = bp.Record({name: a_mechanism(each) for name, each in specs.items()})
        found = bp.estimate(made, reports).joint(*(specs if of is None else of), **options)
    else:
        found = bp.estimate(a_mechanism(specs), _reports(reports)).joint(names=tuple(of))
    return _answers(found, asks)


def _reports(given):
    if isinstance(given, dict) and "array" in given:
        return np.array(given["array"], dtype=given["dtype"])
    return given


def _question(of):
    """A question as Python writes it: ("bin", 3) is a tuple, a list of weights is a list."""
    if isinstance(of, list) and of and isinstance(of[0], str):
        return tuple(tuple(each) if isinstance(each, list) else each for each in of)
    return of


def _answers(found, asks):
    answers = {}
    for ask in asks:
        name, *arguments = [ask] if isinstance(ask, str) else ask
        named = arguments.pop() if arguments and isinstance(arguments[-1], dict) else {}
        named = {key: _question(each) for key, each in named.items()}
        got = QUESTIONS.get(name, lambda found, *given, name=name, **more: _plainly(found, name, given, more))
        told = got(found, *map(_question, arguments), **named)
        answers[json.dumps(ask, ensure_ascii=False).replace('"', "'").strip("'")] = _told(told)
    return answers


def _plainly(found, name, given, named):
    got = getattr(found, name)
    return got(*given, **named) if callable(got) else got


def _ranges(found, bins=10, confidence=0.95):
    frame = found.to_frame(bins=bins, confidence=confidence)
    rows = frame[["first", "last", "share", "low", "high", "note"]].itertuples(index=False)
    return [[*map(float, row[:-1]), row[-1]] for row in rows]


def _reason(found):
    (line,) = [line for line in found.summary().splitlines() if line.startswith("  histogram by ")]
    return line.partition(": ")[2]


def _means_by(found, given):
    (other,) = [name for name in found.names if name != given]
    groups = found.marginal(given).domain.to_numpy().tolist()
    return {group: found.ask(("mean", other, {given: group})) for group in groups}


# What cases ask, in the words of the day when they were kept, and how it is asked now.
QUESTIONS = {
    "people": lambda found: found.nobs,
    "frequencies": lambda found: found.shares,
    "standard_errors": lambda found: found.to_frame()["se"].tolist(),
    "share_intervals": lambda found, sure=0.95: found.to_frame(confidence=sure)[["low", "high"]].to_numpy().T,
    "to_frame": lambda found, sure=0.95: found.to_frame(confidence=sure),
    "fits": lambda found: found.check,
    "doubt": lambda found: found.check.doubt,
    "reason": _reason,
    "bins_note": lambda found: found.to_frame()["note"][0],
    "interval": lambda found, confidence=0.95, of="mean": found.ask(of).ci(confidence),
    "standard_error": lambda found, of="mean": found.ask(of).se,
    "unbiased": lambda found, of="mean": [found.ask(of).value, found.ask(of).se],
    "linear": lambda found, weights: found.ask(weights).value,
    "total": lambda found, of="mean", population=None: (
        (found.ask(of) * (found.nobs if population is None else population)).value
    ),
    "poisoning": lambda found, k, of="mean": found.ask(of).forged(k),
    "ranges": _ranges,
    "means_by": _means_by,
    "mean_where": lambda found, name, where: found.ask(("mean", name, where)),
    **{
        name: lambda found, name=name: found.ask(name).value
        for name in ("variance", "circular_mean", "resultant_length", "circular_spread", "covariance", "correlation")
    },
}
# The parts of an answer, by its kind.
TOLD = {
    "Answer": lambda got: [got.value, got.se, *_told(got.ci())],
    "ConfidenceInterval": lambda got: [got.low, got.high, got.note],
    "DataFrame": lambda got: json.loads(got.to_json(orient="split", double_precision=15)),
    "Estimate": lambda got: got.shares,
    "GoodnessOfFit": lambda got: {"p_value": got.p_value, "doubt": got.doubt},
    "Forged": lambda got: parts(got, "low high note"),
}


def _told(got):
    if type(got).__name__ in TOLD:
        return TOLD[type(got).__name__](got)
    if isinstance(got, dict):
        return {str(key): _told(each) for key, each in got.items()}
    return [_told(each) for each in got] if isinstance(got, (list, tuple)) else got


@asked
def differ(spec, counts, of="mean"):
    first, second = (bp.estimate(a_mechanism(spec), counts=np.array(each)) for each in counts)
    found = bp.difference(first, second, _question(of))
    return {"value": found.value, "interval": _told(found.interval), "p_value": found.p_value}


@asked
def counted(spec, reports):
    """Counts of two halves, merged, and as the JSON that is kept."""
    made = a_mechanism(spec)
    half = len(reports) // 2
    first, second = bp.Counts(made).add(reports[:half]), bp.Counts(made).add(reports[half:])
    both = first.merge(second)
    return {"people": both.n, "values": both.values, "json": both.to_json()}


@asked
def identifiable(spec):
    found = bp.identifiability(a_mechanism(spec))
    return {"identifiable": found.identifiable, "rank": found.rank, "text": str(found)}


@asked
def foreseen(spec, people, prior=None):
    made, found = a_mechanism(spec), {}
    for name, of in (("mean", "mean"), ("cdf", "distribution"), ("histogram", "share")):
        try:
            found[name] = bp.forecast(made, people, of, prior)
        except bp.errors.DesignError:
            found[name] = None
    known = None if made.flat else bp.identifiability(made)
    rank = len(made.domain) if known is None else known.rank
    return found | {"people": people, "identifiable": known is None or known.identifiable, "rank": rank}


# Advice.


@asked
def recommended(domain, epsilon, purpose, users=None, **options):
    found = bp.recommend(a_domain(domain), epsilon, purpose, n=users, **options)
    told = found.to_dict()
    del told["worst_shape"]  # of several that are equally bad
    return {"mechanism": repr(found.mechanism)} | told


@asked
def compared(domain, epsilon, columns, users=None, **options):
    rows = bp.compare(a_domain(domain), epsilon, n=users, **options).to_dict()["rows"]
    return [[row[name] for name in columns] for row in rows]


@asked
def people_needed(epsilon, domain=None, spec=None, **options):
    what = a_mechanism(spec) if domain is None else a_domain(domain)
    return bp.sample_size(what, epsilon, **options).to_dict()


@asked
def ways_to_report(domains, epsilon, users, of="mean"):
    found = bp.split_or_sample({name: a_domain(each) for name, each in domains.items()}, epsilon, users, of)
    return {"reason": found.reason, "best": found.best.way, "scores": {each.way: each.score for each in found.plans}}


# Domains.


@asked
def encoded(domain, values, **options):
    """Values to indices and back."""
    made = a_domain(domain)
    at = [made.encode(a_value(each), **options) for each in values]
    return {"size": len(made), "indices": at, "values": [made.decode(each) for each in at]}


@asked
def losses(domain, rows):
    made = a_domain(domain)
    return [made.losses(row) for row in rows]


@asked
def nearest(domain, to, **options):
    return a_domain(domain).nearest(to, **options)


# Tables.


@asked
def plan(columns):
    made = bp.Plan.from_dict({"columns": columns})
    return {
        "guarantee": made.guarantee,
        "epsilon": str(made.epsilon_decimal),
        "publishes": made.publishes,
        "metadata": made.metadata(),
    }


@asked
def frame(columns, rows, words, library):
    """The reports of a frame, from words for each private column."""
    made = bp.Plan.from_dict({"columns": columns})
    streams = {name: source(each) for name, each in words.items()}
    if library == "pandas":
        import pandas as pd

        given = pd.DataFrame(rows)
        got = bp.privatize_frame(given, made, rng=streams)
        # The type of text is a matter of pandas' version.
        types = [str(each) if each.kind in "iufb" else "text" for each in got.dtypes]
        return {"types": types, "columns": {n: [None if pd.isna(v) else v for v in got[n]] for n in got}}
    import pyarrow as pa

    got = bp.privatize_frame(pa.table(rows), made, rng=streams)
    return {"types": [str(each.type) for each in got.schema], "columns": got.to_pydict()}


@asked
def file(columns, text, words, asks=(), by=None):
    """The reports of a CSV file, and answers from the released file."""
    with tempfile.TemporaryDirectory() as folder:
        people, released = Path(folder, "people.csv"), Path(folder, "reports.csv")
        people.write_text(text, encoding="utf-8")
        made = bp.Plan.from_dict({"columns": columns})
        streams = {name: source(each) for name, each in words.items()}
        done = bp.tables.privatize_file(people, released, made, rng=streams)
        side = json.loads(Path(f"{released}.bipartite.json").read_text(encoding="utf-8"))
        found = {"done": parts(done, "rows rejected epsilon insecure"), "text": released.read_text(encoding="utf-8")}
        found["says"] = {name: side[name] for name in sorted(side) if name != "columns"}
        if asks:
            answers = bp.tables.estimate_file(released, by=by).columns
            found["answers"] = {
                column: {str(group): _answers(each, asks) for group, each in groups.items()}
                for column, groups in answers.items()
            }
        return found


# The ledger.


@asked
def ledger(steps, **settings):
    """A sequence of debits, questions and refusals; each step gives a result or says why it is refused."""
    now = [dt.datetime(2026, 11, 15, tzinfo=dt.UTC)]
    if "person_key" in settings:
        settings["person_key"] = settings["person_key"].encode()
    with tempfile.TemporaryDirectory() as folder:
        try:
            book = bp.Ledger(f"{folder}/spent.db", clock=lambda: now[0], **settings)
        except bp.errors.BipartiteError as error:
            return {"refused": type(error).__name__, "message": str(error).replace(folder, "FOLDER")}
        got = []
        for name, given in steps:
            if name == "day":
                now[0] = dt.datetime.fromisoformat(given).replace(tzinfo=dt.UTC)
                continue
            try:
                got.append(plain(_step(book, name, dict(given))))
            except bp.errors.BipartiteError as error:
                got.append({"refused": type(error).__name__, "message": str(error).replace(folder, "FOLDER")})
        book.close()
        return got


def _step(book, name, given):
    if "spec" in given:
        given["mech"] = a_mechanism(given.pop("spec"))
    if "words" in given:
        given["rng"] = source(given.pop("words"))
    got = getattr(book, name)(**given)
    if name == "certificate":
        return str(got)
    if name == "export":
        named = "person period question number on_change spec_sha256 epsilon time insecure"
        return [parts(debit, named) for debit in got]
    return got


# Places.


@asked
def cells(box, metres, positions):
    made = bp.locations.grid(box, metres=metres)
    return {"centres": made.coordinates, "cells": bp.locations.encode(made, positions)}


@asked
def regions(domain, **options):
    found = laboratory.Regions.by_prefix(a_domain(domain), **options)
    return {"labels": found.labels, "names": found.names, "bits": found.bits()}


@asked
def places(spec, counts, box=None, centre=None, radius_km=None, k=3, smoothing_km=0.0):
    """Counts in an area, the most frequent places, and a heat map."""
    found = bp.estimate(a_mechanism(spec), counts=np.array(counts))
    area = bp.locations.range_count(found, box=box, centre=centre, radius_km=radius_km)
    inside = in_circle(found.domain, centre, radius_km) if box is None else Box.of(box).holds(found.domain)
    share, (low, high), (share_low, share_high) = area * (1 / found.nobs), area.ci(), (area * (1 / found.nobs)).ci()
    heat = bp.locations.heat_map(found, smoothing_km=smoothing_km)
    return {
        "area": {
            "places": int(inside.sum()),
            "share": share.value,
            "share_low": share_low,
            "share_high": share_high,
            "people": area.value,
            "low": low,
            "high": high,
            "known": math.isfinite(area.se),
            "note": area.note,
        },
        "top": [parts(each, "place share low high known note") for each in bp.locations.top_places(found, k=k)],
        "heat": heat.shares,
    }


# Learning.


@asked
def columns_transformed(domains, epsilon, rows, words, **options):
    """The reports of private columns, and the ε of each."""
    made = bp.learn.PrivateColumns(_ranges(domains), epsilon, rng=source(words), **options)
    got = made.fit_transform(np.array(rows) if isinstance(rows, list) else _frame(rows))
    return {
        "reports": got.to_numpy().tolist() if hasattr(got, "to_numpy") else got,
        "each": {name: str(part) for name, part in made.epsilon_per_column_.items()},
        "not private": str(made.guarantee_).splitlines()[:2],
    }


@asked
def columns_promise(domains, epsilon, rows, **options):
    """What reports from secure words promise."""
    made = bp.learn.PrivateColumns(_ranges(domains), epsilon, **options).fit(np.array(rows))
    return str(made.guarantee_)


def _frame(rows):
    import pandas as pd

    return pd.DataFrame(rows)


def _ranges(given):
    """Ranges, which are pairs in Python, domains and lists of categories."""
    if isinstance(given, dict):
        return {name: _range(each) for name, each in given.items()}
    return [_range(each) for each in given]


def _range(given):
    if isinstance(given, dict):
        return a_domain(given)
    pair = isinstance(given, list) and len(given) == 2 and all(isinstance(each, (int, float)) for each in given)
    return tuple(given) if pair else given


def _of_labels(labels, epsilon, rng, options):
    """A linear model of numbers, or a naive one of classes, on private labels."""
    from sklearn.linear_model import LinearRegression
    from sklearn.naive_bayes import GaussianNB

    numbers = all(isinstance(each, (int, float)) for each in labels)
    model = LinearRegression() if numbers else GaussianNB()
    return bp.learn.PrivateLabels(model, tuple(labels) if numbers else labels, epsilon, rng=rng, **options)


@asked
def labels_fitted(labels, epsilon, rows, targets, words, at, **options):
    made = _of_labels(labels, epsilon, source(words), options).fit(np.array(rows), np.array(targets))
    return made.predict(np.array(at))


@asked
def labels_promise(labels, epsilon, rows, targets, **options):
    return str(_of_labels(labels, epsilon, None, options).fit(np.array(rows), np.array(targets)).guarantee_)


def _boosting(rows, targets, rng, classes, options):
    leaf = options.pop("leaf", "sums")  # all others are in the laboratory now, with other defaults
    if leaf != "sums":
        from reproduction.learning.boosting import PaperBoostingRegressor

        trees = {"depth": 2, "learning_rate": 1.0, "ensemble_trees": 1}
        before = trees | {"gradient_clip": 0.2, "large_gradients": "clip"}
        options["target_range"] = tuple(options["target_range"])
        model = PaperBoostingRegressor(rng=rng, leaf=leaf, **before | options)
    elif classes is None:
        options["target_range"] = tuple(options["target_range"])
        model = bp.learn.PrivateBoostingRegressor(rng=rng, **options)
    else:
        model = bp.learn.PrivateBoostingClassifier(rng=rng, classes=classes, **options)
    return model.fit(np.array(rows, dtype=float), np.array(targets))


@asked
def boosted(rows, targets, words, at, classes=None, **options):
    model, at = _boosting(rows, targets, source(words), classes, options), np.array(at, dtype=float)
    return [model.predict(at), None if classes is None else model.predict_proba(at)]


@asked
def boosting_promise(rows, targets, classes=None, **options):
    return str(_boosting(rows, targets, None, classes, options).guarantee_)


# The command line.


@asked
def command(arguments, stdin="", files=None, read=(), leave_out=()):
    """A command in a folder of its own: exit code, output (as JSON, less what ``leave_out`` names), written files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (files or {}).items():
            held = kept_specs()[text.removeprefix("spec: ")] if text.startswith("spec: ") else None
            Path(folder, name).write_text(text if held is None else json.dumps(held), encoding="utf-8")
        got = _run(arguments, Path(folder), stdin)
        for name in read:
            got[name] = Path(folder, name).read_text(encoding="utf-8")
        return _without(got, leave_out)


def _without(value, names):
    if isinstance(value, dict):
        return {name: _without(each, names) for name, each in value.items() if name not in names}
    return [_without(each, names) for each in value] if isinstance(value, list) else value


def _run(arguments, folder, stdin=""):
    from bipartite.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    before, given = Path.cwd(), sys.stdin
    try:
        os.chdir(folder)
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main([str(each) for each in arguments])
            except SystemExit as stop:
                code = stop.code
    finally:
        os.chdir(before)
        sys.stdin = given
    said = [stream.buffer.getvalue().decode() for stream in (out, err)]
    return {"code": code, "out": _read(said[0]), "err": _read(said[1])}


def _read(text):
    with contextlib.suppress(json.JSONDecodeError):
        return json.loads(text)
    return text
