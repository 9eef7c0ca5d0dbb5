"""Bags of reports as the database holds them, and questions without a file."""

from collections import Counter

import numpy as np
import rfc8785

import bipartite as bp
from bipartite.collect.study import Part, Question
from bipartite.mechanisms.categories.cells import to_cells


def one(mechanism, name="age", ask="How old are you?"):
    """A question of one part."""
    return Question(name, ask, (Part(name, ask, mechanism),))


def record(mechanisms, sample=None, name="person"):
    """A Record question."""
    parts = tuple(Part(part, f"Your {part}?", mechanism) for part, mechanism in mechanisms.items())
    return Question(name, "About you", parts, sample, is_record=True)


def values(mechanism, reports):
    """Reports as JSON values."""
    if not mechanism.flat:
        return [each.item() if isinstance(each, np.generic) else each for each in reports]
    return [each.decode() if isinstance(each, bytes) else each for each in to_cells(np.asarray(reports)).tolist()]


def text(value):
    """A report as the database holds it."""
    return rfc8785.dumps(value).decode()


def bag(texts):
    """The rows of a bag, ordered by content."""
    return sorted(Counter(texts).items())


def drawn(mechanism, count=600, seed=1, shares=None):
    """Reports of made-up people, as ``privatize`` returns them."""
    at = np.random.default_rng(seed).choice(len(mechanism.domain), count, p=shares)
    domain = mechanism.domain
    held = [domain[int(each)] for each in at]
    if mechanism.flat and not mechanism.domain.parts:
        held = np.array(held, dtype=object) if domain.labels else np.array(held)
    return mechanism.privatize(held, rng=bp.insecure_seed(seed))


def bag_of(mechanism, count=600, seed=1, shares=None):
    """A bag of such reports."""
    return bag(map(text, values(mechanism, drawn(mechanism, count, seed, shares))))
