"""People who answer the study of these tests, and the bodies that their devices send."""

import json
import os

POSSIBLE = {
    "age": list(range(18, 91)),
    "section": ["news", "sport", "science"],
    "pets": list(range(10)),
    "home": ["town", "country"],
}
"""Some of what the mechanisms of these tests can give; the counters of reports are tested, not the draw."""


def drawn(question, rng):
    """A report to a question."""
    found = {part.name: rng.choice(POSSIBLE[part.name]) for part in question.parts}
    return found if question.is_record else found[question.name]


def envelope(study, question, report, key=None):
    """An envelope as an object."""
    return {
        "v": 1,
        "study": study.name,
        "question": question.name,
        "spec": question.sha256,
        "report": report,
        "key": key or os.urandom(16).hex(),
    }


def written(held):
    """A body as clients write it."""
    return json.dumps(held, ensure_ascii=False, separators=(",", ":")).encode()
