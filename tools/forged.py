"""Thirty thousand forged specs, and what a reader makes of them: the same before and after a rewrite of the reader.

``python tools/forged.py make FORGED.jsonl.gz [COUNT]`` changes every golden spec and every spec that the constructors
of a checkout write; ``verdicts FORGED.jsonl.gz OUT.jsonl`` records what ``bp.from_spec`` of a checkout does with each;
``compare OLD.jsonl NEW.jsonl`` counts, lists what is refused only now, and fails if anything is accepted only now, is
accepted as something else, or was written by a constructor and is refused. Whose Python runs it decides the checkout.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import hashlib
import itertools
import json
import math
import random
import signal
import sys
import warnings
from collections import Counter
from decimal import Decimal, localcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COUNT: Final = 30_000
GOLDEN: Final = Path(__file__).parents[1] / "tests" / "golden"
SECONDS: Final = 5
"""The most that a spec may take."""
SMALL: Final = 64
"""Domains of at most so many values also show reports."""
LISTED: Final = 3
# Refused by design since the constructors moved to the laboratory: rows that are not ε-LDP.
GONE: Final = (("planar-laplace", None), ("within-region", None), ("lsrr", "published"))

_ODD: Final[dict[str, Any]] = {
    "null": None, "true": True, "text": "x", "empty text": "", "0": 0, "1": 1, "-1": -1, "1.5": 1.5, "empty list": [],
    "empty object": {}, "nan": math.nan, "inf": math.inf,
}  # fmt: skip
_WHOLE: Final[dict[str, Callable[[int], Any]]] = {
    "+1": lambda n: n + 1, "-1": lambda n: n - 1, "×2": lambda n: 2 * n, "negative": lambda n: -n, "float": float,
    "half more": lambda n: n + 0.5, "as text": str, "in a list": lambda n: [n],
    **{f"2^{k}{d:+}": lambda _, k=k, d=d: 2**k + d for k in (31, 52, 53, 63, 64) for d in (-1, 0, 1)},
    "30 digits": lambda _: 10**30, "400 digits": lambda _: 10**400,
}  # fmt: skip
_FLOAT: Final[dict[str, Callable[[float], Any]]] = {
    "negative": lambda n: -n, "×2": lambda n: 2 * n, "next": lambda n: math.nextafter(n, math.inf), "whole": round,
    "huge": lambda _: 1e308, "tiny": lambda _: 5e-324, "as text": str, "2^53+1": lambda _: 2**53 + 1,
}  # fmt: skip
_TICKETS: Final[dict[str, Callable[[str], Any]]] = {
    **{f"{by:+}": lambda t, by=by: str(int(t) + by) for by in (1, -1, 2, -2, 1000, -1000)},
    **{f"×{by}": lambda t, by=by: str(int(t) * by) for by in (2, 3)}, "÷2": lambda t: str(int(t) // 2),
    **{each: lambda _, each=each: each for each in ("0", "1", "2", str(2**52), str(2**64), "9" * 16)},
    "negative": lambda t: f"-{t}", "plus": lambda t: f"+{t}", "number": int, "underscore": lambda t: f"{t[0]}_{t[1:]}",
    "leading zero": lambda t: f"0{t}", "blank": lambda t: f" {t}", "newline": lambda t: f"{t}\n",
    "other digits": lambda t: t.replace("1", "１"), "17 digits": lambda t: t.ljust(17, "0")[:17],
    "float": lambda t: f"{t}.0",
}  # fmt: skip
_EPSILON: Final[dict[str, Callable[[str], Any]]] = {
    **{each: lambda _, each=each: each for each in (
        "1", "1.0", "1e0", "01", "+1", "-1", "0", "1_0", "nan", "inf", "1000", "1e999999", "0.1", "0.999", "20", "1e-9",
    )},
    "blank": lambda t: f" {t}", "number": float, "a bit less": lambda t: str(Decimal(t) * Decimal("0.9999999")),
    "a bit more": lambda t: str(Decimal(t) + Decimal("1e-7")), "×2": lambda t: str(2 * Decimal(t)),
    "a digit more": lambda t: t + ("1" if "." in t else ".00000000000000000001"),
}  # fmt: skip
_TEXT: Final[dict[str, Callable[[str], Any]]] = {
    "upper": str.upper, "longer": lambda t: f"{t}s", "blank": lambda t: f"{t} ", "in a list": lambda t: [t],
    **{each: lambda _, each=each: each for each in (
        "padded", "clamped", "random", "nearest", "tries", "list", "euclidean", "manhattan", "haversine", "published",
    )},
}  # fmt: skip
_LIST: Final[dict[str, Callable[[list[Any]], Any]]] = {
    "without the last": lambda a: a[:-1], "without the first": lambda a: a[1:], "the last twice": lambda a: [*a, a[-1]],
    "the first twice": lambda a: [a[0], *a], "reversed": lambda a: a[::-1], "rotated": lambda a: [*a[1:], a[0]],
    "first for all": lambda a: [a[0]] * len(a), "swapped": lambda a: [*a[1::-1], *a[2:]], "doubled": lambda a: a + a,
    "null after": lambda a: [*a, None], "only one": lambda a: a[:1], "mixed": lambda a: ["x", *a[1:-1], 7],
    "as object": lambda a: {str(at): each for at, each in enumerate(a)}, "first for last": lambda a: [*a[:-1], a[0]],
}  # fmt: skip


def bases() -> dict[str, Any]:
    """The specs to start from, none of them changed: golden ones, and what the constructors of this checkout write."""
    import bipartite as bp  # noqa: PLC0415 (of the checkout whose Python runs this)
    from tests.catalogue import NAMES, made  # noqa: PLC0415

    found = {f"golden {path.stem}": json.loads(path.read_text(encoding="utf-8")) for path in GOLDEN.glob("*/*.json")}
    wanted = [(name, "1") for name in NAMES] + [(name, ("0.5", "2.5", "6")[at % 3]) for at, name in enumerate(NAMES)]
    plane = [[0, 0], [3, 4], [6, 8], [1, 1], [-2, 5]]
    more: dict[str, Callable[[], Any]] = {
        **{f"brr on {metric}": lambda metric=metric: bp.BRR(bp.Points(plane, metric=metric), 2)
           for metric in ("euclidean", "manhattan", "haversine")},
        "brr of 5, padded": lambda: bp.BRR(bp.Integers(0, 30), 1, m=5, edges="padded"),
        "brr on 2^31": lambda: bp.BRR(bp.Integers(0, 2**31 - 1), 3),
        "grr on a million": lambda: bp.GRR(bp.Integers(1, 10**6), 8),
        "anchored on a billion": lambda: bp.Anchored(bp.Integers(1, 10**9), 1),
        "olh on a thousand": lambda: bp.OLH(bp.Integers(1, 1000), 2),
        "geometric on 300": lambda: bp.Geometric(bp.Integers(-150, 149), "0.25"),
        "exponential on 40": lambda: bp.Exponential(bp.Integers(1, 40), 2),
        "grr on months": lambda: bp.GRR(bp.Cyclic(12, labels=list(range(12, 0, -1))), 1),
        "rappor by f": lambda: bp.RAPPOR(bp.Integers(1, 20), f="0.5", p="0.5", q="0.75"),
        "rappor by f on items": lambda: bp.RAPPOR(bp.Items.tanimoto(range(1, 9)), f="0.25", p="0.2", q="0.7"),
    }  # fmt: skip
    for name, make in [(f"{n} at {e}", lambda n=n, e=e: made(n, e)) for n, e in wanted] + list(more.items()):
        try:
            found[name] = json.loads(json.dumps(make().to_spec()))
        except bp.errors.DesignError:  # no such design at this ε
            continue
    return dict(sorted(found.items()))


def inside(spec: Any, path: tuple[Any, ...]) -> Any:  # noqa: ANN401 (whatever JSON holds)
    """What stands at a path."""
    for key in path:
        spec = spec[key]
    return spec


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401
    """Every path of a spec."""
    yield path
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from paths_of(value[key], (*path, key))


def most_tickets(far: int, epsilon: str) -> int:
    """The most tickets beside ``far`` that keep ε, by decimals of sixty digits."""
    with localcontext() as context:
        context.prec = 60
        return int(Decimal(epsilon).exp() * far)


def changes_of(spec: Any, others: list[Any]) -> Iterator[tuple[str, tuple[Any, ...], Any]]:  # noqa: ANN401
    """(name, path, what stands there then) of every single change."""
    for path in paths_of(spec):
        value = inside(spec, path)
        if path:
            yield from ((f"is {name}", path, odd) for name, odd in _ODD.items())
        if isinstance(value, dict):
            yield from _changes_of_object(value, path, spec)
        for name, change in _changes_at(value, path).items():
            try:
                yield name, path, change(value)
            except (ArithmeticError, ValueError):
                continue
    for other in others:
        named = other["mechanism"]
        yield f"named {named}", (), spec | {key: other[key] for key in ("bipartite", "mechanism")}
        yield f"on the domain of another {named}", ("domain",), other["domain"]
        yield f"fields of {named} too", (), other | spec
        yield f"fields of {named} first", (), spec | {k: v for k, v in other.items() if k not in {"domain", "epsilon"}}
    yield from ((f"version {version}", ("bipartite",), version) for version in (0, 1, 2, 3, 4, 5, 6, 99, "1", 1.0))
    if isinstance(spec.get("rows"), list):
        yield from _changes_of_rows(spec)


def _changes_at(value: object, path: tuple[Any, ...]) -> dict[str, Callable[[Any], Any]]:
    if isinstance(value, str):
        return _EPSILON if path[-1] == "epsilon" else _TICKETS if value.isdecimal() else _TEXT
    if isinstance(value, list):
        return _LIST if value else {}
    return _FLOAT if isinstance(value, float) else _WHOLE if isinstance(value, int) else {}


def _changes_of_object(value: dict[str, Any], path: tuple[Any, ...], spec: Any) -> Iterator[tuple[str, Any, Any]]:  # noqa: ANN401
    for key, held in value.items():
        rest = {other: value[other] for other in value if other != key}
        yield f"without {key}", path, rest
        yield f"{key} renamed", path, rest | {f"{key}s": held}
        yield f"{key} in capitals", path, rest | {key.upper(): held}
    yield "salt", path, value | {"salt": 1}
    counts = [key for key, held in value.items() if isinstance(held, str) and held.isdecimal()]
    for one, two in itertools.permutations(counts, 2):
        yield f"{one} and {two} swapped", path, value | {one: value[two], two: value[one]}
        most = most_tickets(int(value[two]), spec["epsilon"])
        yield from ((f"{one} for {two} at e^ε{by:+}", path, value | {one: str(most + by)}) for by in (-1, 0, 1))
        yield f"{one} 5, {two} 2", path, value | {one: "5", two: "2"}


def _changes_of_rows(spec: Any) -> Iterator[tuple[str, Any, Any]]:  # noqa: ANN401
    """Tickets moved within a row, and one column driven to e^ε and a ticket beyond it."""
    rows = [[int(count) for count in row] for row in spec["rows"]]
    if len(rows[0]) == 1:
        return
    for y in range(len(rows[0])):
        column = [row[y] for row in rows]
        x, to = column.index(max(column)), (y + 1) % len(rows[0])
        room = most_tickets(min(column), spec["epsilon"]) - max(column)
        moves = {"at e^ε": room, "at e^ε+1": room + 1, "at e^ε-1": room - 1, "one more": 1, "one less": -1}
        for name, by in moves.items():
            row = list(rows[x])
            row[y], row[to] = row[y] + by, row[to] - by
            yield f"a column {name}", ("rows", x), [str(count) for count in row]


def changed(spec: Any, path: tuple[Any, ...], to: Any) -> Any:  # noqa: ANN401
    """A spec with something else at a path."""
    if not path:
        return copy.deepcopy(to)
    spec = copy.deepcopy(spec)
    holder = inside(spec, path[:-1])
    if isinstance(holder, dict) and path[-1] not in holder:
        raise KeyError(path)  # an earlier change took it away
    holder[path[-1]] = to
    return spec


def forged_of(base: str, spec: Any, others: list[Any]) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """(id, spec) of everything that is made of a base, in an order that a seed gives: first one change of each kind.

    Every third has a second change. Ids are stable as long as the base is.
    """
    rng = random.Random(f"forged {base}")  # noqa: S311 (no secret)
    single = list(changes_of(spec, rng.sample(others, min(6, len(others)))))
    rng.shuffle(single)
    turn: Counter[Any] = Counter()
    order = []
    for name, path, to in single:
        kind = (name, tuple("*" if isinstance(key, int) else key for key in path))
        # What any reader refuses at once comes more rarely than what needs a second look.
        dull = name.startswith(("is ", "2^")) or path in {("bipartite",), ("mechanism",)}
        order.append((turn[kind] + rng.random() * (5 if dull else 1), name, path, to))
        turn[kind] += 1
    for at, (_, name, path, to) in enumerate(sorted(order, key=lambda each: each[0])):
        forged, label = changed(spec, path, to), f"{base} | {'.'.join(map(str, path))} {name}"
        if at % 3 == 2:  # noqa: PLR2004
            again, where, then = rng.choice(single)
            try:
                forged, label = changed(forged, where, then), f"{label} | {'.'.join(map(str, where))} {again}"
            except (KeyError, IndexError, TypeError):  # no longer there
                continue
        yield label, forged


def make(count: int = COUNT, given: dict[str, Any] | None = None) -> Iterator[tuple[str, Any]]:
    """(id, spec): the bases, then forged specs of each in turn, none twice."""
    start = bases() if given is None else given
    yield from ((f"base {name}", spec) for name, spec in start.items())
    seen = {json.dumps(spec, sort_keys=True) for spec in start.values()}
    for at, odd in enumerate(_ODD.values()):
        yield f"no object {at}", odd
    left = count - len(start) - len(_ODD)
    streams = {name: forged_of(name, spec, list(start.values())) for name, spec in start.items()}
    while left and streams:
        for name in list(streams)[:left]:
            for label, forged in streams[name]:
                text = json.dumps(forged, sort_keys=True)
                if text not in seen:
                    seen.add(text)
                    left -= 1
                    yield label, forged
                    break
            else:
                del streams[name]


def canonical(spec: object) -> str:
    """JSON in which numbers are doubles, as for RFC 8785, and keys are sorted; without code of the package."""

    def number(text: str) -> float:
        return float(text) + 0.0  # −0 is 0

    return json.dumps(json.loads(json.dumps(spec), parse_int=number, parse_float=number), sort_keys=True)


def verdict(spec: Any) -> dict[str, Any]:  # noqa: ANN401
    """What ``bp.from_spec`` does with a spec: the error, or the mechanism by its spec, its ratio and some reports."""
    import bipartite as bp  # noqa: PLC0415

    try:
        mechanism = bp.from_spec(copy.deepcopy(spec))
    except Exception as error:  # noqa: BLE001 (also what should never come)
        return {"refused": type(error).__name__, "message": " ".join(str(error).split())[:400]}
    text, ratio = canonical(mechanism.to_spec()), mechanism.largest_ratio()
    found = {"accepted": hashlib.sha256(text.encode()).hexdigest(), "ratio": str(ratio)}
    if (size := len(mechanism.domain)) <= SMALL:
        source = bp.fixed_words(_WORDS)
        reports = [mechanism.privatize(mechanism.domain[at], rng=source) for at in (0, size // 2, size - 1)]
        found["reports"] = repr([each.tolist() if hasattr(each, "tolist") else each for each in reports])
    return found


_generator = random.Random(34)  # noqa: S311
_WORDS: Final = [_generator.getrandbits(64) for _ in range(4000)]


def record(forged: str, out: str) -> None:
    """Write the verdict on every spec of a file."""

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    warnings.simplefilter("ignore")
    with gzip.open(forged, "rt", encoding="utf-8") as lines, Path(out).open("w", encoding="utf-8") as file:
        for line in lines:
            name, spec = json.loads(line)
            signal.alarm(SECONDS)
            try:
                found = verdict(spec)
            except Exception as error:  # noqa: BLE001 (an accepted mechanism that fails is a finding)
                found = {"fails": f"{type(error).__name__}: {error}"}
            signal.alarm(0)
            about = {key: spec.get(key) for key in ("mechanism", "variant")} if isinstance(spec, dict) else {}
            file.write(json.dumps({"id": name, **about, **found}, ensure_ascii=False) + "\n")


def compare(old: str, new: str) -> bool:
    """Print how two files of verdicts differ; whether the new reader may take the place of the old."""
    before, after = (
        {each["id"]: each for each in map(json.loads, Path(name).read_text(encoding="utf-8").splitlines())}
        for name in (old, new)
    )
    listed: dict[str, list[str]] = {}
    for name, was in before.items():
        now = after.get(name, {"fails": "missing"})
        if "fails" in now:
            kind = "FAILS"
        elif "accepted" in was and "refused" in now:
            gone = (was["mechanism"], was["variant"]) in GONE
            kind = "refused by design" if gone else "BASE REFUSED" if name.startswith("base ") else "stricter"
        elif "refused" in was and "accepted" in now:
            kind = "LOOSER"
        elif "accepted" in was:
            kind = "accepted alike" if was == now else "ACCEPTED AS SOMETHING ELSE"
        elif was["refused"] != now["refused"]:
            kind = "other error class"
        else:
            kind = "refused alike" if was == now else "other message"
        listed.setdefault(kind, []).append(f"{name}: {now.get('message') or now.get('fails') or ''}")
    for kind, names in sorted(listed.items()):
        print(f"{len(names):6} {kind}")
        shown = names if kind == "stricter" else [] if kind.endswith("alike") else names[:LISTED]
        print(*(f"         {each[:300]}" for each in shown), sep="\n", end="\n" if shown else "")
    return not any(kind.isupper() for kind in listed)


def main() -> None:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["make", "verdicts", "compare"])
    parser.add_argument("files", nargs="+")
    given = parser.parse_args()
    if given.command == "make":
        with gzip.GzipFile(given.files[0], "wb", mtime=0) as file:
            for each in make(*map(int, given.files[1:])):
                file.write((json.dumps(each) + "\n").encode())
    elif given.command == "verdicts":
        record(*given.files)
    elif not compare(*given.files):
        sys.exit(1)


if __name__ == "__main__":
    main()
