"""Every claim: its verdict on the committed tables, and that a stated change of them leads to another one."""

from collections import Counter

import pytest

from reproduction.claim import Claim, Edit, Verdict
from reproduction.judging import CLAIMS
from reproduction.tests.committed import table

MOST_WORDS = 60
NEW = [claim for claim in CLAIMS if isinstance(claim, Claim)]
MEASURED = [claim for claim in NEW if claim.find]


def tables(claim):
    return {name: table(name) for name in claim.needs}


def keys(claims):
    return pytest.mark.parametrize("claim", claims, ids=lambda claim: claim.key)


def test_no_two_claims_have_one_key():
    assert [key for key, count in Counter(claim.key for claim in CLAIMS).items() if count > 1] == []


@keys(NEW)
def test_the_full_run_gives_the_expected_verdict_in_few_words(claim):
    found = claim.judge(tables(claim))
    assert found.verdict == claim.expected, found
    for text in (claim.says, found.measured, found.why):
        assert 0 < len(text.split()) <= MOST_WORDS, text
    # What does not hold as it stands says in a few words what was found instead.
    whole = {Verdict.HOLDS, Verdict.UNCHECKABLE, Verdict.UNDECIDED}
    assert 0 < len(found.finding.split()) <= 20 or claim.expected in whole, found.finding


@keys([claim for claim in MEASURED if claim.expected != Verdict.UNCHECKABLE])
def test_a_stated_change_of_the_results_gives_another_verdict(claim):
    if isinstance(claim.flip, Edit):
        found = claim.judge(claim.flip.made(tables(claim)))
        assert found.verdict == claim.flip.gives != claim.expected, found
    else:
        assert claim.flip, "state a change that gives another verdict"
        assert not claim.needs, "rows can be changed: use an Edit"
        assert claim.judge({}, **claim.flip).verdict != claim.expected
