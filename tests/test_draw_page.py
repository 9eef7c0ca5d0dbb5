"""What docs/draw.md says in numbers: its examples are those of the vectors they name, and so are spec and hash."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from bipartite import from_spec
from bipartite.lottery import Epsilon
from bipartite.mechanisms.catalogue import entries

TESTS = Path(__file__).parent
PAGE = (TESTS.parent / "docs" / "draw.md").read_text(encoding="utf-8")
EXAMPLES = [
    (named[1], int(named[2] or 0), int(named[3]), re.sub(r"\s+", " ", text))
    for text in re.split(r"\n\n", PAGE)
    if (named := re.match(r"\*Example\*\s+\(`(\w+)\.json`,\s+(?:group\s+(\d+),\s+)?vector\s+(\d+)", text))
]


def vector(name, group, number):
    """(spec text, vector)."""
    held = json.loads((TESTS / "vectors" / f"{name}.json").read_text(encoding="utf-8"))
    if "vectors" not in held[0]:
        return json.dumps(held[number]), held[number]
    spec = held[group]["spec"]
    if name == "tables":
        spec = (TESTS / "golden" / "v2" / spec).read_text(encoding="utf-8")
    return spec if isinstance(spec, str) else json.dumps(spec), held[group]["vectors"][number]


@pytest.mark.parametrize(("name", "group", "number", "text"), EXAMPLES, ids=lambda each: str(each)[:12])
def test_the_words_and_tickets_of_an_example_are_those_of_its_vector(name, group, number, text):
    spec, found = vector(name, group, number)
    words = [int(word, 16 if name == "drawn" else 10) for word in found["words"]]
    for long in re.findall(r"\b[0-9a-f]{16}\b", text):
        # Sixteen digits are a word in hexadecimal, or a number of tickets.
        if not long.isdigit():
            assert int(long, 16) in words
    for long in re.findall(r"\b[0-9]{18,}\b", text):
        assert int(long) in words or long in spec
    for letter, count in re.findall(r"(?<![·\w])(a|b|c|g|α|β|own|other) = ([0-9]{12,})", text):
        assert f'"{count}"' in spec, letter
    for ticket in map(int, re.findall(r"\bu = (?:[\w ·+−]+ = )?([0-9]{12,})", text)):
        assert any(word * total >> 64 == ticket for word in words for total in totals(json.loads(spec)))


def totals(spec):
    """What the tickets of a vector are drawn from; more than one in a record."""
    for each in spec.get("specs", {"": spec.get("spec", spec)}).values():
        mechanism = from_spec(each)
        if not mechanism.flat:
            yield mechanism.lottery.total
            continue
        size, near, far = len(mechanism.domain), *(int(each["tickets"][name]) for name in ("near", "far"))
        numbers = each.get("blocks", 1) * each.get("block-size", 0)
        likely, outputs = {
            "hadamard-response": (numbers // 2, numbers),
            "olh": (1, each.get("buckets")),
            "subset-selection": (each.get("k"), size),
        }[each["mechanism"]]
        yield likely * near + (outputs - likely) * far


def test_there_are_examples_from_every_file_but_products_and_corners():
    files = {path.stem for path in (TESTS / "vectors").glob("*.json")}
    assert {name for name, *_ in EXAMPLES} == files - {"products", "corners"}


def test_the_example_of_a_spec_has_its_hash_and_its_largest_ticket_count():
    text, digest = re.search(r"```text\n(.+)\n([0-9a-f]{64})\n```", PAGE).groups()
    assert hashlib.sha256(text.encode()).hexdigest() == digest
    assert Epsilon.of("1").most_near_tickets(2**45) == 95641039294813
    assert "b = 35184372088832 = 2⁴⁵ give the largest a = 95641039294813" in re.sub(r"\s+", " ", PAGE)


def test_the_table_of_mechanisms_has_all_that_travel_with_their_versions():
    rows = re.findall(r"^\| (`[^|]+) \| (\d) \| §(\d+) \|", PAGE, re.MULTILINE)
    told = {
        (name, int(version)) for names, version, _ in rows for name in re.findall(r"`([\w-]+)`", names.split(" on ")[0])
    }
    weaker = {("planar-laplace", 2), ("within-region", 4)}  # read by the laboratory
    assert told == weaker | {(entry.name, entry.version) for entry in entries() if entry.version is not None}
    assert all(f"\n## {section}. " in PAGE for _, _, section in rows)
