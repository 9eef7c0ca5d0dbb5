"""Every claim: its verdict on the committed tables, and that a stated change of them leads to another one."""

from collections import Counter
from dataclasses import replace

import pytest

from reproduction import judging
from reproduction.claim import Edit, Verdict
from reproduction.claims import dnn, sgd, trees
from reproduction.judging import CLAIMS, judge_all
from reproduction.registry import EXPERIMENTS, named
from reproduction.running import Outcome
from reproduction.tests.committed import table

MOST_WORDS = 60
MEASURED = [claim for claim in CLAIMS if claim.find]


def tables(claim):
    return {name: table(name) for name in claim.needs}


def keys(claims):
    return pytest.mark.parametrize("claim", claims, ids=lambda claim: claim.key)


BY_KEY = {claim.key: claim for claim in CLAIMS}


def test_every_claim_has_its_own_key_and_place_and_is_judged_by_experiments_that_there_are():
    assert [key for key, count in Counter(claim.key for claim in CLAIMS).items() if count > 1] == []
    for claim in CLAIMS:
        assert claim.where, claim.key
        assert set(claim.needs) <= {entry.name for entry in EXPERIMENTS}, claim.key


def test_a_claim_whose_experiment_did_not_run_says_so():
    judged = {each.claim.key: each.judgement for each in judge_all([])}
    assert judged["theorem 3"].verdict == Verdict.NOT_RUN
    assert "python -m reproduction run theorems" in judged["theorem 3"].why
    assert judged["open science"].verdict == Verdict.UNCHECKABLE
    missing = Outcome(named(["theorems"])[0], "missing data", "fetch https://example.org")
    judged = {each.claim.key: each.judgement for each in judge_all([missing])}
    assert judged["theorem 3"].why == "fetch https://example.org"


def test_a_claim_whose_judging_breaks_leaves_the_others_their_verdicts(monkeypatch):
    broken = replace(BY_KEY["theorem 3"], find=lambda: {"apart": 1 / 0})
    monkeypatch.setattr(judging, "CLAIMS", (broken, BY_KEY["environment"]))
    first, second = judge_all([])
    assert (first.judgement.verdict, first.judgement.broken) == (Verdict.UNDECIDED, True)
    assert "Judging failed (ZeroDivisionError: division by zero): this is a bug in bipartite" in first.judgement.why
    assert (second.judgement.verdict, second.judgement.broken) == (Verdict.UNCHECKABLE, False)


@keys(CLAIMS)
def test_the_full_run_gives_the_expected_verdict_in_few_words(claim):
    found = claim.judge(tables(claim))
    assert found.verdict == claim.expected, found
    for text in (claim.says, found.measured, found.why):
        assert 0 < len(text.split()) <= MOST_WORDS, text
    # What does not hold as it stands says in a few words what was found instead.
    whole = {Verdict.HOLDS, Verdict.UNCHECKABLE, Verdict.UNDECIDED}
    assert 0 < len(found.finding.split()) <= 20 or claim.expected in whole, found.finding


# Rows of the learning experiments that are no longer enough for a verdict.
TOO_LITTLE = {
    "dnn": ("seed < 2", "dataset == 'adult'", "epsilon < 3"),
    **dict.fromkeys(("gbdt", "gbdt_readings"), ("seed < 2", "task != 'superconduct'", "epsilon in (0, 5)")),
    "sgd": ("seed < 2", "network != 'paper-cnn'", "epsilon != 0.5"),
    "sgd_readings": ("seed < 2", "epsilon != 0.5"),
}


LEARNING = [claim for claim in (*dnn.CLAIMS, *trees.CLAIMS, *sgd.CLAIMS) if set(claim.needs) & set(TOO_LITTLE)]


@keys([claim for claim in LEARNING if claim.key != "SGD is private"])
def test_few_seeds_data_sets_or_budgets_another_network_too_decide_nothing_about_learning(claim):
    for name in set(claim.needs) & set(TOO_LITTLE):
        for kept in TOO_LITTLE[name]:
            little = tables(claim) | {name: table(name).query(kept)}
            assert claim.judge(little).verdict == Verdict.UNDECIDED, (name, kept)


@keys([claim for claim in MEASURED if claim.expected != Verdict.UNCHECKABLE])
def test_a_stated_change_of_the_results_gives_another_verdict(claim):
    if isinstance(claim.flip, Edit):
        found = claim.judge(claim.flip.made(tables(claim)))
        assert found.verdict == claim.flip.gives != claim.expected, found
    else:
        assert claim.flip, "state a change that gives another verdict"
        assert not claim.needs, "rows can be changed: use an Edit"
        found = claim.judge({}, **claim.flip)
        assert found.verdict != claim.expected
    # Reasons are those of the expected verdict: another one does not borrow them.
    assert f"found: {claim.expected}." in found.why and found.finding == ""
