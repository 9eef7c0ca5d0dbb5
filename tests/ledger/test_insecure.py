"""Reports drawn from words that someone may know are not private, and every entry says so."""

import pytest

import bipartite as bp
from tests.ledger.conftest import AGE, ENGINES  # noqa: F401 (ENGINES: on both)

INSECURE = [bp.insecure_seed(1), bp.fixed_words([2**63] * 8)]


@pytest.mark.parametrize("rng", INSECURE)
@pytest.mark.parametrize("on_change", ["repeat", "fresh", "when-changed"])
def test_a_seeded_report_is_marked_and_its_question_claims_nothing(make, rng, on_change):
    ledger = make(budget=4)
    ledger.report("ada", "age", AGE, 37, on_change=on_change)
    assert ledger.certificate("age").insecure is False
    ledger.report("bob", "age", AGE, 37, on_change=on_change, rng=rng)
    assert [(debit.person, debit.insecure) for debit in ledger.export()] == [("ada", False), ("bob", True)]
    certificate = ledger.certificate("age")
    assert ledger.questions() == [certificate]
    assert (certificate.insecure, certificate.ldp_for_sequences) == (True, False)
    assert "NOT PRIVATE" in str(certificate) and "no ε is claimed" in str(certificate)
    assert "ε-LDP" not in str(certificate) and "ε =" not in str(certificate)
    assert ledger.summary()["insecure_reports"] == 1 and ledger.check() == []


def test_many_seeded_reports_are_marked_and_those_that_were_stored_are_not(make):
    ledger = make(budget=4)
    ledger.report("ada", "age", AGE, 37)
    ledger.report_many(["ada", "bob", "eve"], "age", AGE, [37] * 3, rng=bp.insecure_seed(1))
    assert [debit.insecure for debit in ledger.export()] == [False, True, True]


def test_a_stored_report_that_is_asked_for_with_a_seed_stays_what_it_was(make):
    ledger = make(budget=4)
    first = ledger.report("ada", "age", AGE, 37)
    assert ledger.report("ada", "age", AGE, 37, rng=bp.insecure_seed(1)) == first
    assert ledger.certificate("age").insecure is False and not next(ledger.export()).insecure
    seeded = ledger.report("ada", "other", AGE, 37, rng=bp.insecure_seed(1))
    assert ledger.report("ada", "other", AGE, 37) == seeded and ledger.certificate("other").insecure
