"""Add to what is kept: ``python -m tests.fence.keep``.

New published files get a line in ``published.sha256``, new cases what the public functions give for them today. Nothing
that is kept is ever changed: a case that exists is left alone, whatever the functions give now. To say that a change
is wanted, delete the case by hand, give the reason in the commit, and keep it again under the same name.
"""

from __future__ import annotations

import itertools
import json
import sys

import numpy as np

from tests.fence import surface
from tests.fence.comparing import rounded
from tests.fence.published import add_files

KEPT = surface.HERE / "kept"
EXACTLY = 0
ALGEBRA = 1e-9
FITTED = 1e-5
PROGRAMME = 1e-6

CITIES = [[52.52, 13.405], [48.857, 2.352], [51.507, -0.128], [-33.869, 151.209], [-37.81, 144.96], [40.71, -74.01]]
NAMES = ["Berlin", "Paris", "London", "Sydney", "Melbourne", "New York"]
SIMILAR = [[9, 7, 2, 0], [7, 9, 3, 1], [2, 3, 9, 5], [0, 1, 5, 9]]
LOSS = [[0, 1, 5, 2], [1, 0, 4, 2], [5, 4, 0, 3], [2, 2, 2, 0]]
COUNTRIES = ["EU", "EU", "EU", "AU", "AU", "US"]
DOMAINS = {
    "stars": {"integers": [1, 5]},
    "small": {"integers": [-3, 8]},
    "ages": {"integers": [18, 90]},
    "thousand": {"integers": [0, 999]},
    "billions": {"integers": [0, 2**31 - 1]},
    "coin": {"integers": [0, 1]},
    "income": {"interval": [0, 200_000], "points": 21},
    "unit": {"interval": [-1, 1], "points": 9, "rounding": "random"},
    "nodes": {"interval": [-3, 8], "points": 12},
    "hours": {"cyclic": 24},
    "winds": {"cyclic": 8, "labels": ["N", "NE", "E", "SE", "S", "SW", "W", "NW"]},
    "cities": {"points": CITIES, "metric": "haversine", "labels": NAMES},
    "plane": {"points": [[0, 0], [1, 0.5], [3, 3], [4, -1], [0.25, 2]]},
    "streets": {"points": [[0, 0], [1, 5], [3, 3], [4, 1], [2, 2]], "metric": "manhattan"},
    "genres": {"items": ["jazz", "blues", "metal", "pop"], "loss": LOSS},
    "numbered": {"items": [30, 10, 20, 40], "similarity": SIMILAR},
    "jobs": {"items": [f"job {at}" for at in range(12)], "loss": (1 - np.eye(12, dtype=int)).tolist()},
    "pairs": {"product": [{"integers": [0, 4]}, {"integers": [0, 1]}]},
    "mixed": {"product": [{"integers": [1, 3]}, {"cyclic": 4}], "weights": [1, 2]},
}
HUMP = [1, 2, 3, 4, 6, 4, 3, 2, 1, 1, 1, 1]
PRIORS = {"stars": [0.1, 0.2, 0.4, 0.2, 0.1], "small": [each / sum(HUMP) for each in HUMP]}


def built(kind, on, epsilon="1", **options):
    """The description of a mechanism."""
    given = {"mechanism": kind, "domain": DOMAINS[on], "epsilon": epsilon} | options
    return {name: each for name, each in given.items() if each is not None}


# Tickets of these follow from whole numbers alone.
WHOLE = {
    **{f"brr on {on}": built("brr", on) for on in DOMAINS if on not in {"coin", "nodes"}},
    **{
        f"brr on {on} at {eps}": built("brr", on, eps) for on in ("small", "hours", "cities") for eps in ("0.25", "3.5")
    },
    "brr of 5 on small": built("brr", "small", m=5),
    "brr of an even m on ages": built("brr", "ages", m=30),
    "brr best on ages": built("brr", "ages", m="best"),
    "brr best for a prior on small": built("brr", "small", m="best", prior=PRIORS["small"]),
    "brr padded on small": built("brr", "small", edges="padded"),
    "brr padded on unit": built("brr", "unit", edges="padded"),
    **{f"brr padded for {m} on ages": built("brr", "ages", m=m, edges="padded") for m in ("mean", "cdf", "histogram")},
    "brr padded for mean on income": built("brr", "income", "2", m="mean", edges="padded"),
    "brr for cdf on hours": built("brr", "hours", "2", m="cdf"),
    "brr for histogram on hours": built("brr", "hours", m="histogram"),
    **{
        f"grr on {on}": built("grr", on)
        for on in ("small", "ages", "unit", "hours", "cities", "genres", "pairs", "jobs")
    },
    "grr on stars at 0.1": built("grr", "stars", "0.1"),
    "grr on stars at 6": built("grr", "stars", "6"),
    "rr on coin": built("rr", "coin"),
    **{f"square wave on {on}": built("square-wave", on) for on in ("small", "ages", "income")},
    **{f"constant on {on}": built("constant", on, None) for on in ("small", "cities", "genres")},
    **{f"anchored on {on}": built("anchored", on) for on in ("small", "ages", "hours", "cities", "genres", "pairs")},
    "anchored for a prior on small": built("anchored", "small", prior=PRIORS["small"]),
    "anchored at given values on small": built("anchored", "small", anchors=[-1, 5]),
}
FLAT = {
    f"{kind} on {on}": built(kind, on)
    for kind in ("oue", "sue", "olh", "subset-selection", "hadamard-response")
    for on in ("jobs", "ages", "pairs")
    if not (on == "pairs" and kind in {"sue", "hadamard-response"})
} | {
    "subset-selection of 3 on jobs": built("subset-selection", "jobs", k=3),
    "olh in 5 on jobs": built("olh", "jobs", buckets=5),
}
RAPPOR = {
    "rappor on jobs": built("rappor", "jobs", None, epsilon_permanent="2"),
    "rappor with chances on stars": built("rappor", "stars", None, f="0.5", p="0.25", q="0.75"),
}
# Tickets of these follow from floats, such as e^(−ε·loss): the last bits are the machine's.
FLOATS = {
    **{f"exponential on {on}": built("exponential", on) for on in ("stars", "winds", "cities", "genres", "pairs")},
    "exponential as published on stars": built("exponential", "stars", variant="published"),
    **{f"geometric on {on}": built("geometric", on) for on in ("small", "ages", "income")},
    **{f"laplace clamped on {on}": built("laplace", on, clamped=True) for on in ("nodes", "income")},
    "staircase clamped on nodes": built("staircase", "nodes", clamped=True),
    **{f"{kind} on {on}": built(kind, on) for kind in ("duchi", "piecewise", "hybrid") for on in ("nodes", "unit")},
    "piecewise on income at 4": built("piecewise", "income", "4"),
    "custom on stars": built(
        "custom",
        "stars",
        outputs=["bad", "good"],
        matrix=[[0.7, 0.3], [0.6, 0.4], [0.5, 0.5], [0.4, 0.6], [0.3, 0.7]],
    ),
    "anchored means on small": built("anchored-means", "small"),
    "lsrr on cities": built("lsrr", "cities"),
    "planar laplace on cities": built("planar-laplace", "cities", "0.001"),
    "two levels on cities": built("two-level", "cities", regions=COUNTRIES),
    "region weighted on cities": built("region-weighted", "cities", regions=COUNTRIES),
}
RAW = {"laplace on nodes": built("laplace", "nodes"), "staircase on income": built("staircase", "income", "2")}
# Of these several are best.
PROGRAMMES = {
    **{f"optimal on {on}": built("optimal", on) for on in ("stars", "small", "cities", "genres")},
    "optimal for a prior on small": built("optimal", "small", prior=PRIORS["small"]),
    "optimal unbiased on stars": built("optimal", "stars", unbiased=True),
    **{f"minimax on {on}": built("minimax", on) for on in ("stars", "small", "genres")},
}
BUILT = WHOLE | FLAT | RAPPOR | FLOATS | RAW | PROGRAMMES

# Six values of each domain, in an order that is not that of the domain.
VALUES = {
    "stars": [3, 1, 5, 5, 2, 4],
    "small": [0, -3, 8, 7, -2, 3],
    "ages": [40, 18, 90, 89, 20, 65],
    "thousand": [500, 0, 999, 998, 13, 250],
    "billions": [2**30, 0, 2**31 - 1, 7, 2**31 - 9, 123_456_789],
    "coin": [0, 1, 1, 0, 0, 1],
    "income": [31_000, 0, 200_000, 104_999.5, 195_001, 5_000],
    "nodes": [0, -3.0, 8, 7.4, -2.5, 3],
    "unit": [0.1, -1.0, 1.0, 0.99, -0.975, 0.25],
    "hours": [12, 0, 23, 22, 1, 6],
    "winds": ["S", "N", "NW", "E", "SE", "W"],
    "cities": ["Paris", "Berlin", "New York", "Sydney", "London", "Melbourne"],
    "plane": [2, 0, 4, 3, 1, 2],
    "streets": [2, 0, 4, 3, 1, 2],
    "genres": ["metal", "jazz", "pop", "blues", "pop", "jazz"],
    "numbered": [20, 30, 40, 10, 40, 30],
    "jobs": ["job 5", "job 0", "job 11", "job 7", "job 2", "job 10"],
    "pairs": [[2, 1], [0, 0], [4, 1], [3, 0], [1, 1], [4, 0]],
    "mixed": [[2, 1], [1, 0], [3, 3], [3, 0], [1, 3], [2, 2]],
}


def on(name):
    """The domain of a mechanism by the name of the case."""
    return next(word for word in name.split() if word in DOMAINS)


def mechanisms():
    """Every mechanism on every kind of domain: what is designed, proved, its law, its reports, and what they are worth."""
    for name, given in BUILT.items():
        if name in PROGRAMMES:
            yield "designs", name, "designed_loss", given, PROGRAMME
        elif name in FLOATS or name in RAW:
            yield "designs", name, "designed_law", given, ALGEBRA
        else:
            yield "designs", name, "design", given, EXACTLY
        if name in RAPPOR:
            drawn = {"spec": name, "value": VALUES[on(name)][0], "words": f"{name} × 6000", "days": 3}
            yield "mechanisms", name, "kept_reports", drawn, EXACTLY
            continue
        # The order in which many flat reports at once take their words is not promised.
        flat, wide = name in FLAT, on(name) in {"billions", "thousand"}
        given = {"spec": name, "values": VALUES[on(name)][: 3 if flat else 6]}
        given |= {"words": f"{name} × 3000", "at_once": False} if flat else {"words": f"{name} × 40"}
        given |= {} if flat or wide else {"rows": [0, 1, -1]}
        yield "mechanisms", name, "mechanism", given, {"law": ALGEBRA}
    worth = [f"brr on {each}" for each in ("small", "ages", "thousand", "income", "hours", "cities", "genres", "pairs")]
    worth += [
        "brr best on ages",
        "grr on ages",
        "grr on cities",
        "anchored on ages",
        "anchored on hours",
        "anchored on pairs",
    ]
    worth += ["exponential on stars", "geometric on ages", "minimax on small", "optimal on small", "constant on cities"]
    for name in worth:
        # A spec of items carries their order alone, no losses.
        spec = BUILT[name] if "genres" in name else name
        given = {"spec": spec, "distance": 1000 if "cities" in name else 2, "quantile": 0.75}
        yield "quality", name, "quality", given, ALGEBRA
    for name in ("brr on small", "brr best for a prior on small", "anchored for a prior on small", "grr on small"):
        given = {"spec": name, "prior": PRIORS["small"], "distance": 2}
        yield "quality", f"{name}, by the prior", "quality", given, ALGEBRA
        given = {"spec": name, "prior": PRIORS["small"]}
        yield "quality", f"{name}, what a guess errs", "inference", given, ALGEBRA
    for each, epsilon in itertools.product(("small", "hours", "genres"), ("0.5", "2")):
        given = {"domain": DOMAINS[each], "epsilon": epsilon}
        yield "quality", f"bound on {each} at {epsilon}", "bound", given, ALGEBRA
    yield from odd_reports()


def odd_reports():
    """Chosen words, values beyond the range, gaps, arrays, records."""
    small, ends = {"spec": "brr on small"}, ["0", str(2**64 - 1)]
    rare = {"values": [0, 8], "words": [*ends, *ends, "1", "2", str(2**63), str(2**63 - 1)]}
    yield "reports", "first and last words", "reports", small | rare, EXACTLY
    short = {"values": [0, 1, 2], "words": [str(2**63)] * 2}
    yield "reports", "too few words", "reports", small | short, EXACTLY
    beyond = {"values": [-50, 9, 3, 4000], "words": "beyond × 20", "outside": "clip"}
    yield "reports", "beyond the ends, clipped", "reports", small | beyond, EXACTLY
    gaps = {"values": [3, None, 8, None], "words": "gaps × 20", "nulls": "keep"}
    yield "reports", "gaps, kept", "reports_at_once", small | gaps, EXACTLY
    for dtype in ("int8", "uint16", "int64", "float64"):
        given = {"spec": "brr on ages", "values": VALUES["ages"], "words": "types × 20", "dtype": dtype}
        yield "reports", f"an array of {dtype}", "reports_at_once", given, EXACTLY
    for sample in (None, 1, 2):
        who = {"age": "brr on ages", "job": "grr on jobs", "at": "brr on cities"}
        values = [{"age": 40, "job": "job 3", "at": "Paris"}, {"age": 90, "job": "job 0", "at": "Sydney"}] * 2
        given = {"specs": who, "values": values, "words": f"record {sample} × 200", "sample": sample}
        yield "reports", f"a record of three, {sample or 'all'} told", "records", given, EXACTLY


def domains():
    for name, given in DOMAINS.items():
        yield "domains", f"values of {name}", "encoded", {"domain": given, "values": VALUES[name]}, EXACTLY
    for name in ("hours", "winds", "cities", "plane", "streets", "genres", "numbered", "pairs", "mixed"):
        yield "domains", f"losses on {name}", "losses", {"domain": DOMAINS[name], "rows": [0, 3]}, ALGEBRA
    near = {"domain": DOMAINS["cities"], "to": [[48.8, 2.13], [0.0, -30.0], [-36, 150]]}
    yield "domains", "nearest city", "nearest", near, EXACTLY
    yield "domains", "nearest city, not too far", "nearest", near | {"max_distance": 500}, EXACTLY
    winds = {"domain": DOMAINS["winds"], "to": [3, 50, 340, 359.9], "period": 360}
    yield "domains", "nearest wind", "nearest", winds, EXACTLY


def people(name, many, share=0.6):
    """Made-up values of a domain, most of them among its first: from SHA-256, as all that is drawn here."""
    made = surface.a_domain(DOMAINS[name])
    numbers = [word / 2**64 for word in surface.words_of(f"people of {name} × {2 * many}")]
    at = [
        int(len(made) * (first**3 if second < share else first))
        for first, second in zip(numbers[::2], numbers[1::2], strict=True)
    ]
    return [made[each] for each in at]


def counts(name, many, salt=""):
    """How often each output was reported by many people."""
    made = surface.a_mechanism(name)
    stream = surface.source(f"counts of {name}{salt} × {60 * many if name in FLAT else 4 * many}")
    drawn = made.privatize(people(on(name), many), rng=stream)
    index = {each: at for at, each in enumerate(made.outputs.to_numpy().tolist())}
    found = [0] * len(index)
    for each in drawn:
        found[index[each]] += 1
    return found


def flat_reports(name, many):
    """Reports of flat categories, as the array that ``privatize`` gives."""
    drawn = surface.a_mechanism(name).privatize(people(on(name), many), rng=surface.source(f"{name} × {80 * many}"))
    return {"array": drawn.tolist(), "dtype": str(drawn.dtype)}


def mean_of(confidence, of):
    return ["interval", confidence, of]


LINE = [
    "people",
    "method",
    "mean",
    "variance",
    "median",
    ["quantile", 0.9],
    mean_of(0.95, "mean"),
    mean_of(0.9, "median"),
    mean_of(0.95, ["quantile", 0.9]),
    mean_of(0.95, "variance"),
    ["standard_error", "mean"],
    ["ranges", 3],
    ["total", "mean", 5000],
    "doubt",
]
SHARES = ["people", "method", "frequencies", "standard_errors", ["share_intervals", 0.9], "fits"]
CIRCLE = ["circular_mean", "resultant_length", "circular_spread", mean_of(0.95, "circular_mean"), ["ranges", 4]]


def answers():
    """What fixed reports say, and how surely."""
    windows = ["brr padded for mean on ages", "brr padded for cdf on ages", "brr padded for histogram on ages"]
    for name in [*windows, "brr padded on small", "brr padded for mean on income", "square wave on small"]:
        given = {"spec": name, "counts": counts(name, 3000), "asks": LINE}
        yield "answers", f"{name}, 3000 people", "estimate", given, FITTED
    for name in ("grr on small", "grr on ages", "geometric on small", "exponential on stars", "brr on stars"):
        given = {"spec": name, "counts": counts(name, 2000), "asks": LINE}
        yield "answers", f"{name}, 2000 people", "estimate", given, FITTED
    for name in ("duchi on unit", "piecewise on unit", "laplace on nodes", "anchored on small", "rr on coin"):
        given = {"spec": name, "reports": drawn(name, 300), "asks": ["mean", mean_of(0.95, "mean"), "people"]}
        yield "answers", f"{name}, 300 people", "estimate", given, FITTED
    for name in ("grr on small", "grr on cities", "grr on genres", "grr on jobs", "brr on cities", "grr on pairs"):
        given = {"spec": name, "counts": counts(name, 1500), "asks": SHARES}
        yield "answers", f"shares by {name}", "estimate", given, ALGEBRA
    for name in ("brr for cdf on hours", "brr for histogram on hours", "grr on hours"):
        given = {"spec": name, "counts": counts(name, 2000), "asks": CIRCLE}
        yield "answers", f"{name}, around", "estimate", given, FITTED
    for name in FLAT:
        if "ages" not in name and name != "olh in 5 on jobs":
            given = {"spec": name, "reports": flat_reports(name, 60), "asks": SHARES}
            yield "answers", f"{name}, 60 people", "estimate", given, ALGEBRA
    yield from methods()
    yield from odd_answers()
    yield from several()


def drawn(name, many):
    return surface.plain(
        surface.a_mechanism(name).privatize(people(on(name), many), rng=surface.source(f"drawn {name} × {5 * many}"))
    )


def methods():
    """Every method on the same reports."""
    for name, tried in {
        "brr padded on small": ("inverse", "projected", "em", "ems"),
        "grr on small": ("inverse", "projected", "em"),
        "brr on small": ("auto", "em"),
    }.items():
        for method in tried:
            asks = ["frequencies", "method", "reason", "mean", ["cdf", 3], "bins_note"]
            given = {"spec": name, "counts": counts(name, 1000), "asks": asks, "method": method}
            yield "answers", f"{name} by {method}", "estimate", given, FITTED


def odd_answers():
    """Few people, groups, weights, forged reports, what cannot be told."""
    few = {"spec": "grr on small", "reports": drawn("grr on small", 12)}
    yield "answers", "twelve people", "estimate", few | {"asks": ["mean", mean_of(0.95, "mean")]}, FITTED
    many = {"spec": "grr on stars at 6", "reports": drawn("grr on stars at 6", 400)}
    groups = [["north", "south"][at % 2] for at in range(400)]
    by = {"by": groups, "asks": ["mean", "people", mean_of(0.95, "mean"), mean_of(0.95, ["bin", 2])]}
    yield "answers", "by group", "estimate", many | by, ALGEBRA
    weights = {"weights": [1 + at % 3 for at in range(400)]}
    asks = ["mean", "effective_people", mean_of(0.95, "mean"), "frequencies"]
    yield "answers", "weighted", "estimate", many | weights | {"asks": asks}, ALGEBRA
    asks = ["mean", mean_of(0.95, "mean"), ["standard_error", "mean"]]
    yield "answers", "of the sample itself", "estimate", many | {"of_sample": True, "asks": asks}, ALGEBRA
    prices = [10.0, 2.5, 0.0, -4.0, 8.0]
    asks = [["linear", prices], mean_of(0.99, prices), ["unbiased", prices], ["total", prices, 10_000]]
    yield "answers", "any number a value stands for", "estimate", many | {"asks": asks}, ALGEBRA
    asks = [["poisoning", 10, "mean"], ["tipping_point", 0.95], ["poisoning", 5, ["bin", 3]]]
    yield "answers", "forged reports", "estimate", many | {"asks": asks}, ALGEBRA
    asks = [["covariance", [[1, 0, 0, 0, 0], [0, 1, 2, 3, 4]]], "group_shares", ["to_frame", 0.95]]
    yield "answers", "several numbers at once", "estimate", many | {"asks": asks}, ALGEBRA
    asks = [mean_of(0.8, of) for of in (["cdf", 2], ["range", 2, 4], ["bin", 5], ["quantile", 0.25])]
    yield "answers", "cumulative shares and ranges", "estimate", many | {"asks": asks}, ALGEBRA
    yield (
        "answers",
        "gaps",
        "estimate",
        many | {"reports": [3, None, 4, 5] * 20, "nulls": "drop", "asks": ["people", "mean"]},
        ALGEBRA,
    )
    impossible = {"spec": "grr on stars at 6", "counts": [0, 0, 4000, 0, 0], "asks": ["doubt", "fits", "mean"]}
    yield "answers", "reports that cannot be", "estimate", impossible, FITTED
    for name in (
        "brr on hours",
        "brr on small",
        "brr padded on small",
        "anchored on ages",
        "grr on genres",
        "custom on stars",
    ):
        yield "answers", f"what {name} can tell", "identifiable", {"spec": name}, EXACTLY
    for name in (
        "brr padded for mean on ages",
        "grr on small",
        "square wave on ages",
        "oue on jobs",
        "subset-selection on jobs",
    ):
        given = {"spec": name, "people": 10_000}
        yield "answers", f"forecast of {name}", "foreseen", given, FITTED
    prior = {"spec": "brr padded on small", "people": 500, "prior": PRIORS["small"]}
    yield "answers", "forecast for a prior", "foreseen", prior, FITTED
    for name, of in (("grr on small", "mean"), ("brr padded for mean on ages", "mean"), ("grr on small", ["bin", 2])):
        given = {"spec": name, "counts": [counts(name, 2000), counts(name, 1500, ", again")], "of": of}
        yield "answers", f"difference of {of} by {name}", "differ", given, FITTED
    for name in ("brr on stars", "grr on genres"):
        yield "answers", f"counts of {name}", "counted", {"spec": name, "reports": drawn(name, 30)}, EXACTLY


def several():
    """Two attributes of one person."""
    stars, coin = "grr on stars at 6", "rr on coin"
    values = people("stars", 800)
    reports = {
        name: surface.plain(surface.a_mechanism(name).privatize(told, rng=surface.source(f"two {name} × 4000")))
        for name, told in ((stars, values), (coin, [int(each > 2) for each in values]))
    }
    reports = {"stars": reports[stars], "coin": reports[coin]}
    asks = [
        "covariance",
        "correlation",
        "frequencies",
        ["interval", 0.95, {"of": "correlation"}],
        ["means_by", "coin"],
        ["mean_where", "stars", {"where": {"coin": 1}}],
        ["marginal", "stars"],
        "method",
    ]
    given = {"specs": {"stars": stars, "coin": coin}, "reports": reports, "asks": asks}
    yield "answers", "a record of two", "joint", given, FITTED
    each = {"spec": {"record": given["specs"]}, "reports": reports, "asks": ["mean", "people", mean_of(0.95, "mean")]}
    yield "answers", "each of a record", "estimate", each, FITTED
    pairs = {"specs": "grr on pairs", "reports": drawn("grr on pairs", 500), "of": ["visits", "member"]}
    asks = ["frequencies", "covariance", ["interval", 0.9, {"of": "covariance"}], ["means_by", "member"]]
    yield "answers", "a pair as one value", "joint", pairs | {"asks": asks}, FITTED


def proofs():
    """Audits, trials and tests of a law."""
    for share, epsilon in ((0.75, 1), (0.7, 1), (0.9, 2), (0.999, 3)):
        given = {"inputs": [0, 1], "share": share, "trials": 4000, "epsilon": epsilon, "words": f"audit {share} × 8000"}
        yield "proofs", f"a client that keeps {share} and claims {epsilon}", "audited", given, ALGEBRA
    for real, claimed in ((1.05, 1.0), (0.525, 0.5), (2.2, 2.0)):
        yield "proofs", f"trials to tell {real} from {claimed}", "trials", {"real": real, "claimed": claimed}, EXACTLY
    law = {"spec": "brr on small", "trials": 300, "words": "law × 20000"}
    yield "proofs", "a law that holds", "tested_law", law, ALGEBRA
    yield "proofs", "the law of another", "tested_law", law | {"other": "grr on small"}, ALGEBRA
    for epsilon in ("0.1", "1", "5"):
        yield "proofs", f"what {epsilon} means", "explained", {"epsilon": epsilon}, ALGEBRA


def advice():
    wanted = itertools.product((("stars", 1), ("small", "0.5")), ("release", "mean", "distribution", "categories"))
    for (name, epsilon), purpose in [*wanted, *((("ages", 2), each) for each in ("release", "distribution"))]:
        given = {"domain": DOMAINS[name], "epsilon": epsilon, "purpose": purpose, "users": 5000}
        yield "advice", f"{purpose} of {name} at {epsilon}", "recommended", given, PROGRAMME
    for name, purpose in (
        ("cities", "map"),
        ("cities", "release"),
        ("jobs", "categories"),
        ("hours", "release"),
        ("winds", "categories"),
    ):
        given = {"domain": DOMAINS[name], "epsilon": 2, "purpose": purpose, "users": 20_000}
        yield "advice", f"{purpose} of {name}", "recommended", given, PROGRAMME
    columns = [
        "mechanism",
        "epsilon",
        "kind",
        "expected_loss",
        "worst_loss",
        "identifiable",
        "mean_error",
        "histogram_error",
    ]
    given = {"domain": DOMAINS["stars"], "epsilon": [1, 3], "users": 1000, "columns": columns}
    yield "advice", "all on stars", "compared", given, PROGRAMME
    given = {"domain": DOMAINS["small"], "epsilon": 1, "users": 500, "prior": PRIORS["small"], "columns": columns}
    yield "advice", "all on small for a prior", "compared", given, PROGRAMME
    for name, wanted in (
        ("stars", {"mean_within": 0.1}),
        ("small", {"mean_within": 0.5}),
        ("jobs", {"share_within": 0.02}),
    ):
        given = {"domain": DOMAINS[name], "epsilon": 1} | wanted
        yield "advice", f"people for {name}", "people_needed", given, PROGRAMME
    given = {"spec": "grr on small", "epsilon": None, "share_within": 0.05, "confidence": 0.9}
    yield "advice", "people for a spec", "people_needed", given, PROGRAMME
    two = {"visits": {"integers": [0, 4]}, "member": {"integers": [0, 1]}}
    for of in ("mean", "cells"):
        given = {"domains": two, "epsilon": 2, "users": 30_000, "of": of}
        yield "advice", f"two attributes, for {of}", "ways_to_report", given, PROGRAMME


AGE = {"domain": {"integers": [18, 90]}, "epsilon": 1}
PLANS = {
    "a clamped window": {"age": AGE},
    "for statistics": {"age": AGE | {"for": "statistics"}, "country": {"public": True}},
    "clipped and filled": {
        "income": {"domain": {"interval": [0, 200_000], "points": 21}, "epsilon": "0.5", "outside": "clip"},
        "job": {
            "domain": {"categories": ["nurse", "teacher", "other", "no answer"]},
            "mechanism": "grr",
            "epsilon": "0.25",
            "outside": {"as": "other"},
            "nulls": {"as": "no answer"},
        },
    },
    "gaps kept": {"age": AGE | {"nulls": "keep", "edges": "padded", "m": 5}},
    "around and by subsets": {
        "hour": {"domain": {"cyclic": 24}, "epsilon": 2},
        "pets": {"domain": {"categories": ["cat", "dog", "none"]}, "mechanism": "subset-selection", "epsilon": 1},
    },
    "a pair": {
        "both": {"domain": {"product": [{"integers": [0, 4]}, {"integers": [0, 1]}]}, "from": ["a", "b"], "epsilon": 2}
    },
    "another name": {"years": AGE | {"from": "age", "mechanism": "anchored"}},
}
BAD_PLANS = {
    "no epsilon": {"age": {"domain": {"integers": [18, 90]}}},
    "an unknown key": {"age": AGE | {"epsilom": 2}},
    "an unknown mechanism": {"age": AGE | {"mechanism": "laplase"}},
    "an empty range": {"age": AGE | {"domain": {"integers": [90, 18]}}},
    "no columns": {},
    "a filling outside": {"age": AGE | {"nulls": {"as": 200}}},
    "nothing private": {"country": {"public": True}},
}
PEOPLE = {"name": ["Ada", "Bo", "Cy", "Di"], "age": [40, 52, 18, 90], "country": ["DE", "FR", "DE", "FR"]}
JOBS = {"income": [31_000.0, 250_000.0, 0.0, 99.5], "job": ["nurse", "pilot", None, "other"]}


def tables():
    for name, columns in PLANS.items():
        yield "tables", f"plan: {name}", "plan", {"columns": columns}, EXACTLY
    for name, columns in BAD_PLANS.items():
        yield "tables", f"no plan: {name}", "plan", {"columns": columns}, EXACTLY
    for library in ("pyarrow", "pandas"):
        for name, rows in {
            "a clamped window": PEOPLE,
            "for statistics": PEOPLE,
            "clipped and filled": JOBS,
            "gaps kept": {"age": [40, None, 18, 77]},
            "a pair": {"a": [0, 1, 4, 2], "b": [1, 1, 0, 0]},
            "another name": PEOPLE,
        }.items():
            private = [column for column, each in PLANS[name].items() if "public" not in each]
            given = {"columns": PLANS[name], "rows": rows, "words": {each: f"{each} × 60" for each in private}}
            yield "tables", f"{library}: {name}", "frame", given | {"library": library}, EXACTLY
    for name, rows in {
        "outside": {"age": [40, 17, 91]},
        "gaps": {"age": [40, None, 30]},
        "text": {"age": ["40", "x", "30"]},
        "another column": {"years": [40, 41]},
        "halves": {"age": [40.5, 41.0]},
    }.items():
        given = {"columns": {"age": AGE}, "rows": rows, "words": {"age": "age × 60"}}
        yield "tables", f"refused rows: {name}", "frame", given, EXACTLY
    lines = [f"{18 + 7 * at % 73},{['DE', 'FR'][at % 2]}" for at in range(200)]
    given = {"columns": PLANS["for statistics"], "text": "\n".join(["age,country", *lines]) + "\n"}
    given |= {"words": {"age": "file × 600"}, "asks": ["people", "mean", mean_of(0.95, "mean")], "by": "country"}
    yield "tables", "a file, by country", "file", given, {"answers": FITTED}
    given = {"columns": {"age": AGE}, "text": "age\n40\n17\n", "words": {"age": "age × 60"}}
    yield "tables", "a file with a row outside", "file", given, EXACTLY


def ledgers():
    stars, coin = "grr on stars at 6", "rr on coin"

    def report(who, what, spec, value, **more):
        return ["report", {"person": who, "question": what, "spec": spec, "value": value} | more]

    def ask(name, **given):
        return [name, given]

    asked = [
        report("ada", "likes", coin, 1, words="ledger 1 × 20"),
        report("ada", "likes", coin, 0, words="ledger 2 × 20"),
        report("bo", "likes", coin, 1, words="ledger 3 × 20"),
        ask("spent", person="ada"),
        ask("remaining", person="ada"),
        ask("remaining", person="nobody"),
    ]
    over = [report("ada", "stars", stars, 3, words="ledger 4 × 20"), ask("spent", person="ada"), ask("check")]
    yield "ledgers", "once a question", "ledger", {"budget": 4, "steps": asked}, EXACTLY
    yield "ledgers", "the budget is spent", "ledger", {"budget": 4, "steps": [*asked, *over]}, EXACTLY
    yield "ledgers", "the budget is just enough", "ledger", {"budget": 7, "steps": [*asked, *over]}, EXACTLY
    later = [["day", "2026-12-01"], *over, ask("spent_ever", person="ada"), ask("summary")]
    yield "ledgers", "a new month", "ledger", {"budget": 6, "period": "month", "steps": [*asked, *later]}, EXACTLY
    fresh = [report("ada", "likes", coin, 1, on_change="fresh", words=f"fresh {at} × 20") for at in range(4)]
    yield (
        "ledgers",
        "fresh reports",
        "ledger",
        {"budget": "2.5", "steps": [*fresh, ask("spent", person="ada")]},
        EXACTLY,
    )
    changed = [
        report("ada", "likes", coin, 1, on_change="when-changed", changed=each, words=f"changed {at} × 20")
        for at, each in enumerate((True, False, True, None))
    ]
    changed += [ask("spent", person="ada"), ask("certificate", question="likes")]
    yield "ledgers", "when a value changes", "ledger", {"budget": 3, "steps": changed}, EXACTLY
    again = [report("ada", "likes", coin, 1, request="9b1c", words=f"again {at} × 20") for at in range(2)]
    yield "ledgers", "a request again", "ledger", {"budget": 3, "steps": [*again, ask("spent", person="ada")]}, EXACTLY
    many = {
        "persons": ["ada", "bo", "cy"],
        "question": "stars",
        "spec": stars,
        "values": [1, 5, 3],
        "words": "many × 60",
    }
    both = [asked[0], ["report_many", many], ["report_many", many | {"when_spent": "skip"}], ask("spent", person="cy")]
    for budget in (6, 7):
        yield "ledgers", f"many people with {budget}", "ledger", {"budget": budget, "steps": both}, EXACTLY
    wrong = [
        asked[0],
        report("ada", "likes", stars, 3),
        report("ada", "other", "planar laplace on cities", "Paris"),
        report("", "likes", coin, 1),
        report("ada", "likes", coin, 2),
        report("ada", "new", coin, 2),
        ask("certificate", question="unknown"),
        ask("certificate", question="likes"),
        ask("spent", person="ada"),
    ]
    yield "ledgers", "what is refused", "ledger", {"budget": 3, "steps": wrong}, EXACTLY
    keyed = {"budget": 3, "person_key": "a secret of 16 bytes, or more", "steps": [*asked, ask("export")]}
    yield "ledgers", "names under a key", "ledger", keyed, EXACTLY
    for name, settings in {
        "no budget": {},
        "a budget of nothing": {"budget": 0},
        "an unknown period": {"budget": 1, "period": "week"},
        "a short key": {"budget": 1, "person_key": "short"},
    }.items():
        yield "ledgers", f"no ledger: {name}", "ledger", settings | {"steps": []}, EXACTLY


def locations():
    cells = {"box": [52.3, 13.0, 52.7, 13.8], "metres": 10_000}
    at = [[52.52, 13.40], [52.40, 13.07], [52.69, 13.79], [48.0, 2.0]]
    yield "places", "cells of a box", "cells", cells | {"positions": at}, ALGEBRA
    for epsilon in (0.5, 2):
        yield (
            "places",
            f"a release at {epsilon}",
            "chosen_release",
            {"domain": DOMAINS["cities"], "epsilon": epsilon},
            PROGRAMME,
        )
    yield "places", "regions by country", "regions", {"domain": DOMAINS["cities"], "labels": COUNTRIES}, ALGEBRA
    yield "places", "regions by prefix", "regions", {"domain": DOMAINS["cities"], "at_least": 2}, ALGEBRA
    for name in ("grr on cities", "brr on cities"):
        # No two places are equally frequent: which comes first would hang on last bits.
        given = {"spec": name, "counts": [900, 600, 500, 800, 700, 650], "k": 1 if name.startswith("brr") else 3}
        yield "places", f"a box by {name}", "places", given | {"box": [40, -10, 60, 20]}, FITTED
        given |= {"centre": [50, 5], "radius_km": 700, "smoothing_km": 300}
        yield "places", f"a circle by {name}", "places", given, FITTED


def rows_of(many, name="rows"):
    """Made-up rows (age, hours) and a target that depends on both."""
    numbers = [word / 2**64 for word in surface.words_of(f"{name} × {3 * many}")]
    found = []
    for at in range(many):
        age, hours, noise = 18 + int(73 * numbers[3 * at]), int(61 * numbers[3 * at + 1]), numbers[3 * at + 2]
        found.append(([age, hours], min(60, round(8 + (age - 18) / 4 + 3 * hours / 10 + 6 * noise - 3, 3))))
    return [each for each, _ in found], [target for _, target in found]


def learning():
    rows, targets = rows_of(80)
    at = rows_of(6, "at")[0]
    ranges = [[18, 90], [0, 60]]
    for name, options in {
        "two ranges": {},
        "one of two told": {"sample": 1},
        "grr": {"numeric": "grr", "points": 11},
    }.items():
        given = {"domains": ranges, "epsilon": 3, "rows": rows[:12], "words": f"columns {name} × 200"} | options
        yield "learning", f"columns: {name}", "columns_transformed", given, EXACTLY
    named = {"age": [34, 61, 25], "income": [41_000.0, 28_500.0, 12_000.0], "job": ["clerk", "retired", "student"]}
    domains = {"age": {"integers": [18, 90]}, "income": [0, 200_000], "job": ["clerk", "retired", "student", "other"]}
    given = {"domains": domains, "epsilon": 3, "rows": named, "words": "named × 200"}
    yield "learning", "columns: named", "columns_transformed", given, EXACTLY
    uneven = given | {"split": {"age": 1, "income": 1.5, "job": 0.5}}
    yield "learning", "columns: named, split unevenly", "columns_transformed", uneven, EXACTLY
    given = {"labels": [0, 60], "epsilon": 2, "rows": rows, "targets": targets, "words": "labels × 900", "at": at}
    yield "learning", "labels: numbers", "labels_fitted", given, FITTED
    classes = ["low" if each < 25 else "high" for each in targets]
    given |= {"labels": ["low", "high"], "targets": classes, "words": "classes × 900"}
    yield "learning", "labels: classes", "labels_fitted", given, FITTED
    boost = {
        "rows": rows,
        "words": "boost × 60000",
        "at": at,
        "feature_range": ranges,
        "epsilon": 2,
        "trees": 3,
        "bins": 8,
    }
    for leaf in ("sums", "brr", "laplace"):
        given = boost | {"targets": targets, "target_range": [0, 60], "leaf": leaf}
        yield "learning", f"boosting: {leaf}", "boosted", given, ALGEBRA
    given = boost | {"targets": classes, "classes": ["low", "high"]}
    yield "learning", "boosting: classes", "boosted", given, ALGEBRA
    promise = {"epsilon": 2, "rows": rows, "targets": targets}
    yield "learning", "promise: labels", "labels_promise", promise | {"labels": [0, 60]}, EXACTLY
    boosting = promise | {"target_range": [0, 60], "feature_range": ranges, "trees": 2}
    yield "learning", "promise: boosting", "boosting_promise", boosting, EXACTLY
    given = {"domains": ranges, "epsilon": 3, "rows": rows[:5]}
    yield "learning", "promise: columns", "columns_promise", given, EXACTLY


SPECS = {"age.json": "spec: brr on ages", "padded.json": "spec: brr padded for mean on ages"}


def envelopes(name, reports):
    """Lines as browsers send them, the first one twice."""
    spec = surface.ASKED["mechanism"](name, [], [])["certificate"]["spec_sha256"]
    sent = [
        json.dumps({"report": int(each), "spec": spec, "question": "q", "key": f"{at:032x}"})
        for at, each in enumerate(reports)
    ]
    return "\n".join([*sent, sent[0]]) + "\n"


def commands():
    ages = ["--integers", "18..90", "--epsilon", "1"]
    reports = "age\n" + "\n".join(map(str, drawn("brr padded for mean on ages", 120))) + "\n"
    small = [str(each) for each in drawn("grr on small", 60)]
    plan = "[columns.age]\ndomain = { integers = [18, 90] }\nepsilon = 1\nm = 27\n\n[columns.country]\npublic = true\n"
    for name, (arguments, more) in {
        "design": (["design", *ages, "--json"], {}),
        "design, writes a spec": (["design", *ages, "--output", "new.json"], {"read": ["new.json"]}),
        "design, padded": (["design", *ages, "--m", "cdf", "--edges", "padded", "--json"], {}),
        "design, for the mean": (["design", "--integers", "1..5", "--epsilon", "1", "--for", "mean", "--json"], {}),
        "design, interval": (["design", "--interval", "0..1", "--points", "11", "--epsilon", "0.5", "--json"], {}),
        "design, a spec": (["design", "--spec", "age.json", "--json"], {"files": SPECS}),
        "design, no epsilon": (["design", "--integers", "18..90"], {}),
        "design, a bad epsilon": (["design", "--integers", "18..90", "--epsilon", "-1"], {}),
        "verify": (["verify", "--spec", "age.json", "--json"], {"files": SPECS}),
        "verify, in words": (["verify", "--spec", "age.json"], {"files": SPECS}),
        "verify, no file": (["verify", "--spec", "none.json", "--json"], {}),
        "report, a bad line": (["report", "--spec", "age.json", "--json"], {"files": SPECS, "stdin": "40\nx\n"}),
        "report, outside": (["report", "--spec", "age.json"], {"files": SPECS, "stdin": "40\n17\n"}),
        "estimate": (
            ["estimate", "reports.csv", "--spec", "padded.json", "--json"],
            {"files": SPECS | {"reports.csv": reports}},
        ),
        "estimate, ranges": (
            ["estimate", "reports.csv", "--spec", "padded.json", "--bins", "30,45,65", "--json"],
            {"files": SPECS | {"reports.csv": reports}},
        ),
        "estimate, from standard input": (
            ["estimate", "-", "--spec", "small.json", "--json"],
            {"files": {"small.json": "spec: grr on small"}, "stdin": "\n".join(small) + "\n"},
        ),
        "estimate, a bad report": (
            ["estimate", "-", "--spec", "small.json", "--json"],
            {"files": {"small.json": "spec: grr on small"}, "stdin": "3\n4\n99\n"},
        ),
        "estimate, envelopes": (
            ["estimate", "r.jsonl", "--spec", "small.json", "--json"],
            {"files": {"small.json": "spec: grr on small", "r.jsonl": envelopes("grr on small", small)}},
        ),
        "estimate, another spec": (
            ["estimate", "r.jsonl", "--spec", "age.json", "--json"],
            {"files": SPECS | {"r.jsonl": envelopes("grr on small", small[:2])}},
        ),
        "compare": (["compare", "--integers", "1..5", "--epsilon", "1", "--users", "1000", "--json"], {}),
        "sample-size": (["sample-size", "--integers", "1..5", "--epsilon", "1", "--mean-within", "0.2", "--json"], {}),
        "explain": (["explain", "0.5", "--reports", "30"], {}),
        "plan check": (["plan", "check", "plan.toml", "--people", "5000", "--json"], {"files": {"plan.toml": plan}}),
        "plan check, wrong": (
            ["plan", "check", "plan.toml"],
            {"files": {"plan.toml": plan.replace("epsilon", "epsilom")}},
        ),
        "privatize, no plan": (
            ["privatize", "people.csv", "out.csv", "--plan", "none.toml"],
            {"files": {"people.csv": "age\n40\n"}},
        ),
        "privatize, a bad row": (
            ["privatize", "people.csv", "out.csv", "--plan", "plan.toml", "--json"],
            {"files": {"people.csv": "age,country\n40,DE\n,FR\n", "plan.toml": plan}},
        ),
        "ledger, no file": (["ledger", "show", "none.db", "--json"], {}),
    }.items():
        yield "commands", name, "command", {"arguments": arguments} | more, FITTED


def refusals():
    """What is refused, in the words that people read."""
    line, stars = DOMAINS["ages"], DOMAINS["stars"]
    for name, given in {
        "ε of 0": built("brr", "ages", 0),
        "a negative ε": built("grr", "ages", -1),
        "ε in words": built("brr", "ages", "one"),
        "ε too large": built("grr", "stars", 51),
        "ε too small": built("grr", "stars", "1e-16"),
        "ε of 21 digits": built("grr", "stars", "1.00000000000000000001"),
        "m of 0": built("brr", "ages", m=0),
        "m too large": built("brr", "ages", m=73),
        "m in words": built("brr", "ages", m="good"),
        "an even padded m": built("brr", "ages", m=4, edges="padded"),
        "unknown edges": built("brr", "ages", edges="round"),
        "padded places": built("brr", "cities", edges="padded"),
        "a short prior": built("brr", "stars", m="best", prior=[0.5, 0.5]),
        "a negative prior": built("anchored", "stars", prior=[1.5, -0.5, 0, 0, 0]),
        "a prior of 2": built("optimal", "stars", prior=[0.4] * 5),
        "rr on five values": built("rr", "stars"),
        "geometric on places": built("geometric", "cities"),
        "square wave on items": built("square-wave", "genres"),
        "lsrr on integers": built("lsrr", "stars"),
        "duchi on items": built("duchi", "genres"),
        "anchors outside": built("anchored", "stars", anchors=[1, 9]),
        "too many in a subset": built("subset-selection", "jobs", k=12),
        "one bucket": built("olh", "jobs", buckets=1),
        "optimal on too many": built("optimal", "thousand"),
        "a matrix that breaks its ε": built("custom", "coin", outputs=[0, 1], matrix=[[0.9, 0.1], [0.1, 0.9]]),
        "a matrix that does not add up": built("custom", "coin", outputs=[0, 1], matrix=[[0.6, 0.3], [0.5, 0.5]]),
    }.items():
        yield "refusals", f"design: {name}", "design", given, EXACTLY
    for name, given in {
        "no values": {"integers": [5, 5]},
        "halves": {"integers": [0.5, 3]},
        "too many": {"integers": [0, 2**31]},
        "one point": {"interval": [0, 1], "points": 1},
        "an endless interval": {"interval": [-1.7e308, 1.7e308], "points": 5},
        "unknown rounding": {"interval": [0, 1], "points": 5, "rounding": "up"},
        "a circle of one": {"cyclic": 1},
        "labels of another number": {"cyclic": 3, "labels": ["a", "b"]},
        "the same point twice": {"points": [[0, 0], [1, 1], [0, 0]]},
        "an unknown metric": {"points": [[0, 0], [1, 1]], "metric": "taxi"},
        "latitude of 91": {"points": [[91, 0], [1, 1]], "metric": "haversine"},
        "a loss that is not square": {"items": ["a", "b"], "loss": [[0, 1]]},
        "a loss of nothing elsewhere": {"items": ["a", "b"], "loss": [[1, 0], [0, 1]]},
        "the same label twice": {"items": ["a", "a"], "loss": [[0, 1], [1, 0]]},
        "no items": {"items": []},
    }.items():
        yield "refusals", f"domain: {name}", "encoded", {"domain": given, "values": []}, EXACTLY
    for name, given in {
        "outside": {"spec": "brr on ages", "values": [17]},
        "a half": {"spec": "brr on ages", "values": [40.5]},
        "text": {"spec": "brr on ages", "values": ["forty"]},
        "a gap": {"spec": "brr on ages", "values": [None]},
        "an unknown label": {"spec": "grr on genres", "values": ["folk"]},
        "coordinates": {"spec": "brr on cities", "values": [[48.8, 2.1]]},
        "a pair too short": {"spec": "brr on pairs", "values": [[1]]},
        "an unknown rule": {"spec": "brr on ages", "values": [17], "outside": "wrap"},
    }.items():
        yield "refusals", f"value: {name}", "reports", given | {"words": "refused × 20"}, EXACTLY
        yield "refusals", f"values: {name}", "reports_at_once", given | {"words": "refused × 20"}, EXACTLY
    ages = {"bipartite": 1, "mechanism": "brr", "domain": line, "epsilon": "1", "m": 27, "edges": "clamped"}
    fair = {"near": "95641039294813", "far": "35184372088832"}
    for name, spec in {
        "one ticket too many": ages | {"tickets": fair | {"near": "95641039294814"}},
        "another version": ages | {"tickets": fair, "bipartite": 9},
        "a missing field": ages,
        "a new field": ages | {"tickets": fair, "note": "x"},
        "an unknown mechanism": ages | {"tickets": fair, "mechanism": "brrr"},
        "tickets as numbers": ages | {"tickets": {"near": 95641039294813, "far": 35184372088832}},
        "ε as a number": ages | {"tickets": fair, "epsilon": 1},
        "ε not canonical": ages | {"tickets": fair, "epsilon": "1.0"},
        "m beyond": ages | {"tickets": fair, "m": 73},
        "near not above far": ages | {"tickets": {"near": "7", "far": "7"}},
        "an unknown domain": ages | {"tickets": fair, "domain": {"integer": [18, 90]}},
    }.items():
        yield "refusals", f"spec: {name}", "identifiable", {"spec": spec}, EXACTLY
    many = {"spec": "grr on small"}
    for name, given in {
        "none": many | {"reports": [], "asks": ["mean"]},
        "not a report": many | {"reports": [1, 2, 99], "asks": ["mean"]},
        "a gap": many | {"reports": [1, None], "asks": ["mean"]},
        "counts too short": many | {"counts": [1, 2], "asks": ["mean"]},
        "negative counts": many | {"counts": [-1] * 12, "asks": ["mean"]},
        "an unknown method": many | {"reports": [1, 2], "method": "magic", "asks": ["mean"]},
        "confidence of 95": many | {"reports": [1, 2], "asks": [["interval", 95, "mean"]]},
        "an unknown question": many | {"reports": [1, 2], "asks": [["interval", 0.95, "mode"]]},
        "the mean of places": {"spec": "grr on cities", "reports": ["Paris"] * 9, "asks": ["mean"]},
        "the mean around": {"spec": "grr on hours", "reports": [3] * 9, "asks": ["mean"]},
        "a quantile of 2": many | {"reports": [1, 2], "asks": [["quantile", 2]]},
        "weights of another number": many | {"reports": [1, 2], "weights": [1], "asks": ["mean"]},
    }.items():
        yield "refusals", f"estimate: {name}", "estimate", given, EXACTLY
    wanted = {"domain": stars, "epsilon": 1, "purpose": "mean"}
    yield "refusals", "advice: an unknown purpose", "recommended", wanted | {"purpose": "fun"}, EXACTLY
    yield "refusals", "advice: half a person", "recommended", wanted | {"users": 0.5}, EXACTLY
    yield "refusals", "advice: no precision", "people_needed", {"domain": stars, "epsilon": 1}, EXACTLY
    trained = {"rows": [[20, 3]], "targets": [5], "words": "boost × 99", "at": [[20, 3]], "target_range": [0, 60]}
    yield "refusals", "boosting: no ranges", "boosted", trained, EXACTLY
    yield "refusals", "boosting: outside", "boosted", trained | {"feature_range": [[30, 90], [0, 60]]}, EXACTLY


ALL = (mechanisms, domains, answers, proofs, advice, tables, ledgers, locations, learning, commands, refusals)


def files():
    return sorted(path for path in KEPT.glob("*.json") if path.name != "specs.json")


def read(file):
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else []


def add_specs():
    """Keep the specs that are not kept yet: other cases name them."""
    file = KEPT / "specs.json"
    held = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    new = {name: surface.a_mechanism(given).to_spec() for name, given in BUILT.items() if name not in held}
    every = [f"{json.dumps(name)}: {line_of(spec)}" for name, spec in (held | new).items()]
    file.write_text("{\n" + ",\n".join(every) + "\n}\n", encoding="utf-8")
    surface.kept_specs.cache_clear()


def line_of(value):
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))


def add_cases(cases):
    """Keep what is given today for cases that are not kept yet; the number of them by file."""
    added = {}
    for stem, name, of, given, within in cases:
        file = KEPT / f"{stem}.json"
        held = added.setdefault(file, [read(file), 0])
        if all(case["name"] != name for case in held[0]):
            case = json.loads(json.dumps({"name": name, "of": of, "given": given}))
            gives = json.loads(json.dumps(surface.answer(case), allow_nan=False))
            held[0].append(case | {"gives": rounded(gives, within), "within": within})
            held[1] += 1
    for file, (held, new) in added.items():
        if new:
            file.write_text("[\n" + ",\n".join(map(line_of, held)) + "\n]\n", encoding="utf-8")
    return {file.name: new for file, (_, new) in added.items() if new}


def main():
    KEPT.mkdir(exist_ok=True)
    add_specs()
    new = add_cases(case for part in ALL for case in part())
    print(f"new lines of published files: {add_files()}; new cases: {new or 'none'}", file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    main()
