"""Old and new answers to the same reports, on 200 random cases.

    OLD/.venv/bin/python bench/answers/side_by_side.py keep OLD.json [--cases 200] [--jobs 2] [--seconds 900]
    python bench/answers/side_by_side.py compare OLD.json NEW.json

``keep`` answers with whichever code runs it and writes the answers; ``compare`` answers anew and writes NEW.json and
NEW.md: for every kind of question how many values, standard errors and intervals are equal to 1e-9 of the range of the
answer, and all others with both numbers. Cases and reports are seeded, so that both see the same reports; a digest of
them is compared first. Every mechanism of the catalogue has six cases or more: five to 5,000 values, ε = 0.1 to 6, one
to 200,000 reports, by themselves, as counts, with weights or in groups.
"""

# ruff: noqa: ANN401 (classes of two versions)

from __future__ import annotations

import argparse
import hashlib
import json
import math
import multiprocessing
import os
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from asked import NEW, Told, ask, ask_joint, forged, joint_of, shares_of, subtract
from shapes import SHAPES, shape

import bipartite as bp
from bipartite.errors import BipartiteError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Kept = dict[str, Any]

CASES = 200
EQUAL = 1e-9
MOST_FITTED = 600  # values with which every method is asked for
LISTED = 40  # differing answers of a kind that the page lists; NEW.json has all
# Which answers are computed in the same way, and why others are not.
SAME = {
    "mean", "weights", "covariance", "where", "table of weights", "difference of means",
    "shares, inverse", "shares, projected", "shares, em", "joint shares, inverse", "joint shares, projected",
    "joint shares, em", "forged mean", "group mean",
}  # fmt: skip
HEAD = (
    "| question | answers | value equal | se equal | interval equal | median width new/old | refused: old, new, both | "
    "largest change / range | method |"
)
NOT_TOLD = ", not told apart"  # then the histogram answers
INTERVAL = "one bound for averages of scores, whatever n, in place of normal law, Wilson and Hoeffding"
OTHER = {
    "cdf, inverse": "cross-fitted scores for every finite mechanism",
    "range, inverse": "cross-fitted scores for every finite mechanism",
    "bin, inverse": "cross-fitted scores for every finite mechanism",
    "cdf": "the histogram answers; one degree of freedom for quantiles alone; spikes in long lines",
    "range": "the histogram answers; spikes in long lines",
    "bin": "the histogram answers; spikes in long lines",
    "two-valued weights": "are the share of these values, with its one interval",
    "quantile": "one degree of freedom; spikes in long lines",
    "median": "one degree of freedom; spikes in long lines",
    "shares, auto": "spikes in long lines; averages over amounts of smoothing",
    "shares, smooth": "spikes in long lines; averages over amounts of smoothing",
    "circular_mean": "widened for rare values",
    "resultant_length": "widened for rare values",
    "circular_spread": "widened for rare values",
    "cell": "the share of the table shown",
    "difference of ranges": "the difference of the shares shown",
    "difference of medians": "refused before",
}


def _custom(domain: Any, epsilon: float) -> Any:
    """Rows of three heights, one of them for the value itself and its next."""
    size = len(domain)
    rows = np.exp(-np.minimum((np.arange(size) - np.arange(size)[:, None]) % size, 2) * epsilon / 2.5)
    return bp.Custom(domain, list(domain), rows / rows.sum(axis=1, keepdims=True), epsilon)


# (name, kind of domain, most values, how it is built)
CATALOGUE: tuple[tuple[str, str, int, Callable[[Any, float], Any]], ...] = (
    ("GRR", "line", 5000, bp.GRR),
    ("BRR", "line", 5000, bp.BRR),
    ("BRR, padded", "line", 5000, lambda d, e: bp.BRR(d, e, edges="padded")),
    ("BRR, padded, mean", "line", 5000, lambda d, e: bp.BRR(d, e, edges="padded", m="mean")),
    ("BRR, padded, CDF", "line", 5000, lambda d, e: bp.BRR(d, e, edges="padded", m="cdf")),
    ("BRR, padded, shares", "line", 5000, lambda d, e: bp.BRR(d, e, edges="padded", m="histogram")),
    ("SquareWave", "line", 2000, bp.SquareWave),
    ("Geometric", "line", 500, bp.Geometric),
    ("Exponential", "line", 300, bp.Exponential),
    ("Laplace, clamped", "interval", 300, lambda d, e: bp.Laplace(d, e, clamped=True)),
    ("Laplace", "interval", 300, bp.Laplace),
    ("Staircase", "interval", 300, bp.Staircase),
    ("Duchi", "interval", 5000, bp.Duchi),
    ("Piecewise", "interval", 2000, bp.Piecewise),
    ("Hybrid", "interval", 300, bp.Hybrid),
    ("Anchored", "line", 300, bp.Anchored),
    ("Minimax", "line", 60, bp.Minimax),
    ("AnchoredMeans", "line", 60, bp.AnchoredMeans),
    ("Optimal", "line", 12, bp.Optimal),
    ("Custom", "line", 60, _custom),
    ("OUE", "flat", 2000, bp.OUE),
    ("SUE", "flat", 500, bp.SUE),
    ("OLH", "flat", 1000, bp.OLH),
    ("SubsetSelection", "flat", 500, bp.SubsetSelection),
    ("HadamardResponse", "flat", 5000, bp.HadamardResponse),
    ("RAPPOR", "flat", 300, lambda d, e: bp.RAPPOR(d, epsilon_permanent=2 * e)),
    ("BRR on a circle", "circle", 2000, bp.BRR),
    ("GRR on a circle", "circle", 500, bp.GRR),
    ("BRR of places", "points", 150, bp.BRR),
    ("GRR of items", "items", 150, bp.GRR),
    ("BRR of pairs", "product", 100, bp.BRR),
    ("Record", "record", 40, lambda d, e: bp.BRR(d, e, edges="padded")),
    ("Record with flat categories", "record", 40, bp.OUE),
)


def whole(rng: np.random.Generator, low: int, high: int) -> int:
    """A whole number whose logarithm is uniform."""
    return int(math.exp(rng.uniform(math.log(low), math.log(high + 1))))


def domain_of(kind: str, size: int, rng: np.random.Generator) -> Any:
    """A domain of this kind with about so many values."""
    start = int(rng.integers(-20, 100))
    if kind == "interval":
        return bp.Interval(start, start + float(rng.uniform(1, 1000)), points=size)
    if kind == "circle":
        return bp.Cyclic(size, start=int(rng.integers(0, 3)))
    if kind == "points":
        return bp.Points(rng.uniform([40, 0], [50, 10], (size, 2)), metric="haversine")
    if kind == "items":
        return bp.Items([f"item {at}" for at in range(size)])
    if kind == "product":
        first = max(2, round(math.sqrt(size)))
        return bp.Product(bp.Integers(1, first), bp.Integers(start, start + max(2, size // first) - 1))
    return bp.Integers(start, start + size - 1)


def case(at: int) -> Kept:
    """The answers to all questions of a case."""
    rng = np.random.default_rng([35, at])
    name, kind, most, build = CATALOGUE[at % len(CATALOGUE)]
    size, n = whole(rng, 5, most), whole(rng, 1, 200_000)
    epsilon = round(math.exp(rng.uniform(math.log(0.1), math.log(6))), 3)
    if kind in {"flat", "record"}:
        n = min(n, max(10**7 // size, 1))
    if kind == "product":
        n = min(n, 20_000)
    domain = domain_of(kind, size, rng)
    mechanism = build(domain, epsilon)
    f = shape(SHAPES[int(rng.integers(len(SHAPES)))], len(domain))
    index = rng.choice(len(domain), n, p=f)
    kept = _record if kind == "record" else _pairs if kind == "product" else _one
    began = time.perf_counter()
    words: Any = bp.insecure_seed(at)
    answers, digest = kept(rng, mechanism, index, words)
    about = {"case": at, "name": name, "mechanism": repr(mechanism), "values": len(domain), "n": n, "epsilon": epsilon}
    return about | {"digest": digest, "seconds": time.perf_counter() - began, "answers": answers}


def _digest(reports: Any) -> str:
    rows = np.asarray(reports)
    return hashlib.sha256(rows.tobytes() if rows.dtype != object else repr(rows.tolist()).encode()).hexdigest()


def _tried(kind: str, what: object, scale: float, answer: Callable[[], Any]) -> Kept:
    """An answer, or why there is none."""
    found: Kept = {"kind": kind, "what": str(what), "scale": scale}
    try:
        told = answer()
    except BipartiteError as error:
        return found | {"error": str(error)}
    if isinstance(told, Told):
        return found | {"told": list(told)}
    return found | {"shares": np.asarray(told).ravel().tolist()}


def _one(rng: np.random.Generator, mechanism: Any, index: Any, words: Any) -> tuple[list[Kept], str]:
    """One attribute: reports, counts, weights or groups."""
    domain, n = mechanism.domain, len(index)
    values = domain.to_numpy()[index] if domain.has_ranges else [domain[int(at)] for at in index]
    reports = mechanism.privatize(values, rng=words)
    mode = ("reports", "counts", "weights", "groups")[int(rng.integers(4))]
    questions = list(_questions(rng, domain))
    if mode == "groups":
        labels = np.array(["north", "south", "west"])[rng.integers(0, 3, n)]
        return list(_groups(mechanism, reports, labels, questions)), _digest(reports)
    given: Kept = {"reports": reports}
    if mode == "counts":
        given = {"counts": bp.Counts(mechanism).add(reports)}
    if mode == "weights":
        given["weights"] = rng.uniform(0.5, 3, n)
    est = bp.estimate(mechanism, **given)
    found = [
        _tried(kind, of if isinstance(of, str) else kind, scale, lambda of=of: ask(est, of))
        for kind, of, scale in questions
    ]
    ends = domain.to_numpy().astype(float) if domain.has_ends else np.zeros(2)
    if domain.has_ends:
        k = max(1, n // 100)
        found.append(_tried("forged mean", k, float(np.ptp(ends)), lambda: np.array(forged(est, k))))
    methods = ["auto", "inverse", "projected"] + ["em", "smooth"] * (len(domain) <= MOST_FITTED)
    by = {method: partial(bp.estimate, mechanism, **given, method=method) for method in methods}
    found += [_tried(f"shares, {each}", "", 1.0, lambda make=make: shares_of(make())) for each, make in by.items()]
    found += [
        _tried(f"{kind}, inverse", of, scale, lambda of=of: ask(by["inverse"](), of))
        for kind, of, scale in questions
        if kind in {"cdf", "range", "bin"}
    ]
    return found, _digest(reports)


def _questions(rng: np.random.Generator, domain: Any) -> Iterator[tuple[str, Any, float]]:
    """(kind, question, range of its answer)."""
    size = len(domain)
    first, last = sorted(rng.integers(0, size, 2).tolist())
    values = [domain[at].item() if hasattr(domain[at], "item") else domain[at] for at in (first, last)]
    weights = rng.normal(size=size)
    if domain.has_ends:
        span = float(np.ptp(domain.to_numpy().astype(float)))
        yield "mean", "mean", span
        yield "variance", "variance", span**2
        yield "median", "median", span
        yield "quantile", ("quantile", float(rng.uniform(0.02, 0.98))), span
        yield "cdf", ("cdf", values[0]), 1.0
        yield "range", ("range", *values), 1.0
        inside = np.zeros(size)
        inside[first : last + 1] = 1.0
        yield "two-valued weights", inside, 1.0
    elif domain.wraps:
        yield "circular_mean", "circular_mean", float(size)
        yield "resultant_length", "resultant_length", 1.0
        yield "circular_spread", "circular_spread", float(size)
        yield "quantile", ("quantile", float(rng.uniform(0.02, 0.98)), values[0]), float(size)
        yield "range", ("range", values[1], values[0]), 1.0
    yield "bin", ("bin", values[0]), 1.0
    yield "weights", weights, float(np.ptp(weights))


def _groups(mechanism: Any, reports: Any, labels: Any, questions: list[Any]) -> Iterator[Kept]:
    """The answers of three groups, and of their differences."""
    groups = bp.estimate(mechanism, reports, by=labels)
    for label, est in groups.items():
        for kind, of, scale in questions:
            yield _tried("group mean" if kind == "mean" else kind, label, scale, lambda of=of, est=est: ask(est, of))
    pair = list(groups.values())[:2]
    names = {"mean": "means", "range": "ranges", "median": "medians", "weights": "averages"}
    for kind, of, scale in questions:
        if kind in names and len(pair) > 1:
            yield _tried(f"difference of {names[kind]}", "", scale, lambda of=of: subtract(*pair, of))


def _pairs(rng: np.random.Generator, mechanism: Any, index: Any, words: Any) -> tuple[list[Kept], str]:
    """Both values in one report."""
    values = [mechanism.domain[int(at)] for at in index]
    reports = mechanism.privatize(values, rng=words)
    est = bp.estimate(mechanism, reports)
    joint = est.joint(names=("first", "second")) if NEW else est.joint(("first", "second"))
    found = list(_of_joint(rng, joint, mechanism.domain.parts, ("first", "second")))
    return [*found, _tried("joint shares, auto", "", 1.0, lambda: shares_of(joint))], _digest(reports)


def _record(rng: np.random.Generator, mechanism: Any, index: Any, words: Any) -> tuple[list[Kept], str]:
    """Two attributes, each with a report of its own."""
    other = domain_of("line", whole(rng, 3, 20), rng)
    record = bp.Record({"a": mechanism, "b": bp.GRR(other, 1.5)})
    moved = np.where(rng.random(len(index)) < 1 / 2, index * len(other) // len(mechanism.domain), 0)
    columns = {"a": mechanism.domain.to_numpy()[index], "b": other.to_numpy()[moved]}
    reports: Any = record.privatize(columns, rng=words)
    joint = joint_of(record, reports, ("a", "b"))
    found = list(_of_joint(rng, joint, (mechanism.domain, other), ("a", "b")))
    by = {each: partial(joint_of, record, reports, ("a", "b"), each) for each in ("auto", "inverse", "projected", "em")}
    found += [
        _tried(f"joint shares, {each}", "", 1.0, lambda make=make: shares_of(make())) for each, make in by.items()
    ]
    return found, _digest(reports["a"]) + _digest(reports["b"])


def _of_joint(
    rng: np.random.Generator,
    joint: Any,
    domains: Any,
    names: tuple[str, str],
) -> Iterator[Kept]:
    """Questions about two attributes."""
    numbers = [domain.to_numpy().astype(float) for domain in domains]
    values = [int(rng.choice(each)) for each in numbers]
    first = int(numbers[0][len(numbers[0]) // 3])
    where = {names[0]: ("range", int(numbers[0][0]), first), names[1]: values[1]}
    table = rng.normal(size=[len(each) for each in numbers])
    spans = [float(np.ptp(each)) for each in numbers]
    asked: list[tuple[str, Any, float]] = [
        ("covariance", "covariance", math.prod(spans)),
        ("correlation", "correlation", 1.0),
        ("cell", ("cell", *values), 1.0),
        ("where", ("where", where), 1.0),
        ("table of weights", table, float(np.ptp(table))),
        ("mean where", ("mean", names[0], {names[1]: values[1]}), spans[0]),
    ]
    for kind, of, scale in asked:
        yield _tried(kind, "", scale, lambda of=of: ask_joint(joint, of))
    for name in names:
        yield _tried(
            "mean", f"of {name}", spans[names.index(name)], lambda name=name: ask(joint.marginal(name), "mean")
        )


def answered(job: tuple[int, float]) -> Kept | None:
    """A case, unless the time is over."""
    at, end = job
    if time.time() > end:
        return None
    try:
        return case(at)
    except Exception as error:  # noqa: BLE001 (one broken case must not lose the others)
        return {"case": at, "name": CATALOGUE[at % len(CATALOGUE)][0], "broken": f"{type(error).__name__}: {error}"}


def near(one: float, other: float, scale: float) -> bool:
    """Whether two numbers are equal up to rounding, or both missing."""
    if math.isnan(one) or math.isnan(other) or math.isinf(one) or math.isinf(other):
        return repr(float(one)) == repr(float(other))
    return abs(one - other) <= EQUAL * max(scale, abs(one), abs(other))


def _kept(answer: Kept) -> Any:
    """What the page shows of an answer: its numbers, the two ends of a forged mean, the largest share, or an error."""
    if "shares" in answer:
        return answer["shares"] if answer["kind"] == "forged mean" else [max(answer["shares"])]
    return answer.get("told", answer.get("error"))


def compared(old: Kept, new: Kept) -> Iterator[tuple[str, Kept]]:
    """(kind, what is equal) of every answer of a case."""
    theirs = {(each["kind"], each["what"]): each for each in new["answers"]}
    for mine in old["answers"]:
        key = mine["kind"], mine["what"]
        other = theirs.get(key, {"error": "not asked"})
        found: Kept = {"case": old["case"], "mechanism": old["mechanism"], "n": old["n"], "what": mine["what"]}
        found |= {which: _kept(each) for which, each in (("old", mine), ("new", other))}
        scale = mine["scale"]
        if "error" in mine or "error" in other:
            which = [side for side, each in (("old", mine), ("new", other)) if "error" in each]
            yield mine["kind"], found | {"refused": " and ".join(which)}
        elif "shares" in mine:
            pair = np.array([mine["shares"], other["shares"]])
            far = float(np.abs(pair[0] - pair[1]).max())
            yield mine["kind"], found | {"value": near(far, 0.0, scale), "far": far / scale}
        else:
            ours, new_told = mine["told"], other["told"]
            each = [near(one, two, scale) for one, two in zip(ours, new_told, strict=True)]
            widths = [told[3] - told[2] for told in (ours, new_told)]
            found |= {"value": each[0], "se": each[1], "interval": each[2] and each[3]}
            found |= {
                "far": abs(ours[0] - new_told[0]) / scale,
                "width": widths[1] / widths[0] if widths[0] else math.nan,
            }
            found["inside"] = math.isnan(new_told[0]) or Told(*new_told).holds(new_told[0], scale, turn=scale)
            yield mine["kind"] + (NOT_TOLD if math.isinf(ours[1]) else ""), found


def page(found: dict[str, list[Kept]], broken: list[str], cases: int) -> str:
    """The table, and what differs."""
    lines = [f"# Old and new side by side: {cases} cases", "", *(f"- {each}" for each in broken)]
    lines += [HEAD, "|---|--:|--:|--:|--:|--:|---|--:|---|"]
    for kind, rows in sorted(found.items()):
        asked = [row for row in rows if "refused" not in row]
        refused = [sum(row.get("refused") == which for row in rows) for which in ("old", "new", "old and new")]
        told = [row for row in asked if "se" in row]
        widths = [row["width"] for row in told if math.isfinite(row["width"])]
        far = [row["far"] for row in asked if math.isfinite(row["far"])]
        equal = [f"{sum(row[part] for row in told)}" if told else "–" for part in ("se", "interval")]
        lines.append(
            f"| {kind} | {len(asked)} | {sum(row['value'] for row in asked)} | {equal[0]} | {equal[1]} | "
            f"{np.median(widths) if widths else math.nan:.3f} | {', '.join(map(str, refused))} | "
            f"{max(far, default=0.0):.2g} | {_method(kind, intervals=bool(told))} |"
        )
    outside = [(kind, row) for kind, rows in found.items() for row in rows if row.get("inside") is False]
    lines += ["", f"Points outside their own interval in the new code: {len(outside)}", ""]
    lines += [
        f"- case {row['case']}, {row['mechanism']}, n = {row['n']:,}, {kind}: {_short(row['new'])}"
        for kind, row in outside[:LISTED]
    ]
    for kind, rows in sorted(found.items()):
        others = [row for row in rows if not row.get("value") or not row.get("se", True)]
        others = [row for row in others if row.get("refused") != "old and new"]
        others.sort(key=lambda row: -row.get("far", math.inf))
        lines += ["", f"## {kind}: {len(others)} of {len(rows)} differ", ""] if others else []
        lines += [
            f"- case {row['case']}, {row['mechanism']}, n = {row['n']:,} {row['what'][:30]}: {_short(row['old'])} → "
            f"{_short(row['new'])}"
            for row in others[:LISTED]
        ]
    return "\n".join(lines) + "\n"


def _method(kind: str, *, intervals: bool) -> str:
    """Whether an answer is computed as before, or what is new."""
    if kind in SAME:
        return "same" if not intervals else f"same; {INTERVAL}"
    return OTHER.get(kind.removesuffix(NOT_TOLD), "see below")


def _short(told: Any) -> str:
    if isinstance(told, str):
        return f"refused ({told[:90]})"
    if len(told) <= 2:  # noqa: PLR2004
        return f"largest share {told[0]:.6g}" if len(told) == 1 else f"{told[0]:.8g} to {told[1]:.8g}"
    return f"{told[0]:.8g} ± {told[1]:.6g} [{told[2]:.6g}, {told[3]:.6g}]"


def main() -> None:
    """Keep or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=("keep", "compare"))
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path, nargs="?")
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3600)
    options = parser.parse_args()
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # read by the workers
    end = time.time() + options.seconds
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        jobs = [(at, end) for at in range(options.cases)]
        here = {kept["case"]: kept for kept in pool.imap_unordered(answered, jobs) if kept is not None}
    (options.old if options.what == "keep" else options.new or options.old.with_suffix(".new.json")).write_text(
        json.dumps({"new": NEW, "cases": [here[at] for at in sorted(here)]})
    )
    broken = [f"case {at} ({each['name']}): {each['broken']}" for at, each in sorted(here.items()) if "broken" in each]
    print("\n".join([f"{len(here)} cases, {len(broken)} broken", *broken]))
    if options.what == "keep":
        return
    kept = {each["case"]: each for each in json.loads(options.old.read_text())["cases"]}
    both = [at for at in sorted(here) if at in kept and "broken" not in here[at] and "broken" not in kept[at]]
    found: dict[str, list[Kept]] = {}
    for at in both:
        if kept[at]["digest"] != here[at]["digest"]:
            broken.append(f"case {at}: other reports")
            continue
        for kind, row in compared(kept[at], here[at]):
            found.setdefault(kind, []).append(row)
    text = page(found, broken, len(both))
    (options.new or options.old.with_suffix(".new.json")).with_suffix(".md").write_text(text)
    print(text[: text.find("## ")])


if __name__ == "__main__":
    main()
