"""What a ledger refuses says what would help."""

import copy
import pickle

import pytest

import bipartite as bp
from bipartite.errors import BudgetSpentError, InputError, LedgerFileError
from tests.ledger.conftest import ENGINES  # noqa: F401 (on both)


def rating(epsilon):
    return bp.GRR(bp.Integers(1, 5), epsilon=epsilon)


def test_a_budget_for_all_time_is_not_waited_for(make):
    ledger = make(budget=3)
    ledger.report("ada", "a", rating(2), 4)
    with pytest.raises(BudgetSpentError) as caught:
        ledger.report("ada", "b", rating(2), 4)
    assert "wait" not in str(caught.value)
    assert str(caught.value).endswith("debited; the budget is for all time, with ε = 1 left.")
    with pytest.raises(BudgetSpentError) as caught:
        ledger.report_many(["bob", "ada"], "b", rating(2), [4, 4])
    assert str(caught.value).endswith("with ε = 1 left; or pass when_spent='skip'.")


@pytest.mark.parametrize("period", ["forever", "day"])
def test_a_report_above_the_whole_budget_is_not_waited_for(make, period):
    ledger = make(budget=3, period=period)
    with pytest.raises(BudgetSpentError) as caught:
        ledger.report("ada", "a", rating(5), 4)
    assert "wait" not in str(caught.value) and "exceeds the whole budget; use a smaller ε" in str(caught.value)


def test_a_question_for_all_time_does_not_change_when_one_waits(make):
    ledger = make(budget=9)
    ledger.report("ada", "a", rating(1), 4)
    with pytest.raises(InputError, match=r"got another .*; ask under another name\.$"):
        ledger.report("bob", "a", rating(2), 4)
    with pytest.raises(InputError, match=r"got 'fresh'; ask under another name\.$"):
        ledger.report("bob", "a", rating(1), 4, on_change="fresh")


def test_a_ledger_is_not_sent_to_another_process(make):
    ledger = make(budget=3)
    for send in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"cannot be pickled or copied.*open it by its path in each process"):
            send(ledger)
    assert ledger.report("ada", "a", rating(1), 4) in range(1, 6)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(LedgerFileError, match="cannot be opened; check the folder and its permissions"):
        bp.Ledger(tmp_path, budget=1)
    for folder in ("nodir", "file"):
        with pytest.raises(
            LedgerFileError, match=f"x.db cannot be created: the folder .*{folder} does not exist; create it first"
        ):
            bp.Ledger(tmp_path / folder / "x.db", budget=1)


def test_a_spent_period_is_waited_for(make):
    ledger = make(budget=1, period="day")
    ledger.report("ada", "a", rating(1), 4)
    with pytest.raises(BudgetSpentError, match=r"spent 1, asked 1\. Nothing was drawn or debited; wait for the next"):
        ledger.report("ada", "b", rating(1), 4)
