"""Add to what is kept: ``python -m tests.fence.keep``.

Published files without a line in ``published.sha256`` get one. Cases in ``kept/*.json`` without ``gives`` get what the
public functions give today; nothing else is touched. A case is a line of JSON:

- ``name``, its own in the file; ``of``, a function in surface.py; ``given``, its arguments, in full: what a generator
  drew is written out, so that no case depends on one (streams of words are named, and defined in surface.py);
- ``within``: how far floats may be off, relative to their size and at least to 1, or that for each key of the result.
  Left out: not at all, as for reports from fixed words, tickets, specs, balances and messages; 1e-9 where floats are
  only added and multiplied; 1e-6 for what a linear programme finds, 1e-5 for what is fitted. Last bits differ between
  processors, so what hangs on them (which of two equally good designs) is no case.
- ``spec``, of a design that rests on floats: the spec that others name, so that their reports do not.
"""

import json
import sys

from tests.fence import surface
from tests.fence.comparing import rounded
from tests.fence.published import add_files

KEPT = surface.HERE / "kept"


def files():
    """All files of cases; designs first, which others name."""
    return sorted(KEPT.glob("*.json"), key=lambda path: (path.stem != "designs", path.stem))


def read(file):
    return json.loads(file.read_text(encoding="utf-8"))


def filled(case):
    """A case with what is given today, if it has nothing yet."""
    if "gives" in case:
        return case
    gives = json.loads(json.dumps(surface.answer(case), allow_nan=False))
    beside = {"spec": surface.a_mechanism(case["given"]).to_spec()} if case["of"].startswith("designed_") else {}
    return case | {"gives": rounded(gives, case.get("within", 0))} | beside


def fill(file):
    """Fill in a file, one line a case; the number of new ones."""
    cases = read(file)
    new = sum("gives" not in case for case in cases)
    if new:
        lines = [json.dumps(filled(case), ensure_ascii=False, allow_nan=False) for case in cases]
        file.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
        surface.kept_specs.cache_clear()
    return new


if __name__ == "__main__":
    print(f"new cases: {sum(map(fill, files()))}; new lines of published files: {add_files()}", file=sys.stderr)  # noqa: T201
