"""Which texts are one name."""

import enum
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite.errors import BudgetSpentError, InputError
from bipartite.ledger.names import canonical
from tests.ledger.conftest import AGE, change

KEY = b"a key of 16 byte"
# Composed, decomposed, and in between, as Vietnamese is often typed.
NGUYEN = ["Nguy\u1ec5n", "Nguye\u0302\u0303n", "Nguy\u00ea\u0303n"]


class Person(str, enum.Enum):  # noqa: UP042 (whose str() is not its text)
    ADA = "ada"


class Word(str):  # noqa: SLOT000 (a kind of str)
    def __str__(self):
        return "something else"


@pytest.mark.parametrize("options", [{}, {"person_key": KEY}])
@pytest.mark.parametrize("forms", [NGUYEN, ["ada", Person.ADA, Word("ada")]])
def test_all_forms_of_a_name_are_one_person_with_one_report_and_one_budget(make, options, forms):
    ledger = make(budget=1, **options)
    first = ledger.report(forms[0], "age", AGE, 37)
    for form in forms:
        assert ledger.report(form, "age", AGE, 80) == first
        assert (ledger.spent(form), ledger.spent_ever(form), ledger.remaining(form)) == (1, 1, 0)
        with pytest.raises(BudgetSpentError):
            ledger.report(form, "other", AGE, 37)
    assert ledger.report_many(forms, "age", AGE, [20] * 3) == [first] * 3
    assert ledger.summary()["people"] == 1


def test_all_forms_of_a_question_and_of_a_request_are_one(make):
    ledger = make(budget=9)
    first = ledger.report("ada", NGUYEN[0], AGE, 37)
    assert [ledger.report("ada", form, AGE, 80) for form in NGUYEN] == [first] * 3
    assert ledger.certificate(NGUYEN[1]) == ledger.certificate(NGUYEN[0])
    answer = ledger.report("ada", "often", AGE, 37, on_change="fresh", request=NGUYEN[2])
    assert [ledger.report("ada", "often", AGE, 80, on_change="fresh", request=form) for form in NGUYEN] == [answer] * 3
    assert ledger.spent("ada") == 2


def test_names_that_only_look_alike_are_different_people(make):
    ledger = make(budget=1)
    names = ["ada", "Ada", "ada ", "k2", "k²", "ﬁ", "fi", "A", "\u0391"]
    ledger.report_many(names, "age", AGE, [37] * len(names))
    assert ledger.summary()["people"] == len(names)


@given(st.text(min_size=1))
def test_a_name_has_one_form(text):
    assert canonical(text) == canonical(unicodedata.normalize("NFD", text)) == canonical(canonical(text))


class Odd(str):  # noqa: SLOT000 (a kind of str)
    """Lies about everything that can be asked of a text."""

    def __len__(self):
        return 1

    def __contains__(self, part):
        return False

    def __eq__(self, other):
        return False

    def __hash__(self):
        return id(self)

    def encode(self, *_):
        return b"x"

    def __str__(self):
        return self


def test_a_text_is_what_it_holds_whatever_it_says_of_itself(make):
    ledger = make(budget=1)
    first = ledger.report("ada", "age", AGE, 37, request="r")
    assert ledger.report(Odd("ada"), Odd("age"), AGE, 37, request=Odd("r")) == first and ledger.spent(Odd("ada")) == 1
    for text in ("", "a\0b", "half a pair \ud800", "x" * 1001):
        with pytest.raises(InputError, match="Expected person as text of 1 to 1000 characters"):
            ledger.report(Odd(text), "age", AGE, 37)


@pytest.mark.parametrize(("kind", "tables"), [("person", ("reports",)), ("question", ("questions", "reports"))])
def test_the_check_finds_names_whose_debits_nobody_would_find(make, path, kind, tables):
    # As an older Python, whose Unicode does not know some character, may have stored them.
    make(budget=1).report("ada", "age", AGE, 37)
    change(path, "".join(f"UPDATE {table} SET {kind} = 'e\u0301';" for table in tables))  # noqa: S608
    found = [f"1 names of a {kind} that are not in canonical form, so that debits under them are not counted"]
    assert make().check() == make(read_only=True).check() == found


@pytest.mark.parametrize("what", ["person", "question", "request"])
def test_a_name_of_characters_that_unicode_does_not_define_yet_is_refused(make, what):
    # Once it is defined it may have another form, and its bearer would be another person for the next Python: Unicode
    # 15 swaps U+10EFD and an accent, which 14 left as they were. U+0378 is as yet defined in none.
    ledger = make(budget=1)
    names = {"person": "ada", "question": "age", "request": None}
    with pytest.raises(
        InputError, match=f"Expected {what} of characters assigned in Unicode [0-9.]+, the version of this Pyth"
    ):
        ledger.report(**(names | {what: "ada\u0378"}), mech=AGE, value=37)
    for text in ("ἀδά", "👩\u200d🚀", "\ue000"):  # the last is for private use, and keeps its form for good
        ledger.report(**({"person": text, "question": "age", "request": None} | {what: text}), mech=AGE, value=37)
    assert ledger.summary()["reports"] == 3
