"""What a study file says, and what is wrong with one."""

import re
from datetime import date
from decimal import Decimal

import pytest

import bipartite as bp
from bipartite.collect.study import Study, read_study
from bipartite.errors import BipartiteError, SpecError
from bipartite.mechanisms.spec import spec_sha256
from bipartite.mechanisms.spec.canonical import record_sha256


def said(tmp_path, text, name="readers.toml"):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(BipartiteError) as caught:
        read_study(path)
    return str(caught.value)


def test_a_purpose_that_nobody_names_is_statistics(study):
    (age, section, person) = study.questions
    assert age.parts[0].mechanism == bp.BRR(bp.Integers(18, 90), 1, edges="padded", m="cdf")
    assert section.parts[0].mechanism == bp.GRR(bp.Items(["news", "sport", "science"]), 1)
    assert (study.name, study.ends, study.public, study.people) == ("readers", date(2026, 12, 31), True, None)
    assert not age.is_record
    assert person.is_record


def test_epsilon_is_the_exact_sum_over_the_questions(study):
    assert study.epsilon_decimal == Decimal(3)
    assert [each.epsilon_decimal for each in study.questions] == [1, 1, 1]


def test_hashes_are_those_that_clients_send(study):
    age, _, person = study.questions
    assert age.sha256 == spec_sha256(age.parts[0].mechanism)
    assert person.sha256 != person.parts[0].sha256


def test_a_study_survives_its_database(study):
    again = Study.from_json(study.to_json())
    assert again == study
    assert again.changes(study) == []


def test_a_record_that_samples_spends_the_larger_part_and_has_a_hash_of_its_own(study, study_file):
    text = study_file.read_text().replace('ask = "About you"', 'ask = "About you"\nsample = 1')
    study_file.write_text(text)
    person = read_study(study_file).questions[2]
    assert person.epsilon_decimal == Decimal("0.5")
    assert person.sha256 == record_sha256(person.mechanisms, 1) != study.questions[2].sha256


def test_all_problems_of_a_file_are_told_at_once(tmp_path):
    text = """
ends = 5
people = -1
public = "yes"
foo = 1
[questions.age]
domain = { integers = [18, 90] }
nulls = "keep"
[questions.s]
ask = "x"
domain = { categories = ["news"] }
epsilon = 1
[questions.r]
ask = "x"
[questions.r.record.one]
ask = "x"
"""
    found = said(tmp_path, text)
    assert found.startswith("9 problems:")
    for part in (
        "the study: unknown key 'foo'; its keys are title, text, ends, people, public, questions.",
        "Expected ends = the last day of the study, such as 2027-03-31, got 5.",
        "Expected people = how many are expected, such as 2000, got -1.",
        "Expected public = true or false, got 'yes'.",
        "questions.age: 'nulls' is about a table, and people on their own device have none; leave it out.",
        "questions.age: Expected ask = the words that people read, got nothing.",
        "questions.age: Expected epsilon",
        "questions.s: Expected categories as a list of 2 to 4096 labels",
        "questions.r: Expected record with at least two parts, [questions.NAME.record.PART]; add one.",
    ):
        assert part in found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ends = 2027-01-01", "Expected [questions.NAME] for every question, with ask, domain and epsilon; add one."),
        ("ends = 2027-01-01\nquestions = 3", "Expected [questions.NAME] for every question"),
        ("ends = 2027-01-01T10:00:00Z", "got a time"),
        ("", "got nothing"),
        ("ends = 2027-01-01\n[questions]\nage = 3", "Expected keys such as ask and domain, got 3"),
        ("ends = 2027-01-01\n[questions.r]\nask='x'\n[questions.r.record]\na = 1\nb = 2", "got 1."),
        ("ends =", "is not TOML"),
        (
            'ends = 2027-01-01\n[questions.a]\nask = "x"\nepsilon = 1\ndomain = { product = [] }',
            "questions.a: A product holds several answers; ask each as a part of a record, [questions.NAME.record.",
        ),
        (
            (
                'ends = 2027-01-01\n[questions.r]\nask="x"\nsample = 2\n[questions.r.record.a]\nask="x"\nepsilon=1\n'
                'domain={ integers = [0, 9] }\n[questions.r.record.b]\nask="x"\nepsilon=1\n'
                "domain={ integers = [0, 9] }"
            ),
            "parts of the record",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path, text, message):
    assert message in said(tmp_path, text)


ONE = 'ends = 2027-01-01\n[questions.{}]\nask = "x"\nepsilon = {}\ndomain = {{ integers = [0, 9] }}\n'


def test_a_study_that_devices_would_refuse_is_refused(tmp_path):
    assert "Expected at most ε = 20 over all questions, got 20.5" in said(tmp_path, ONE.format("a", 20.5))


def test_names_are_text_that_can_be_printed(tmp_path):
    found = said(tmp_path, ONE.format('"a\\u001b"', 1))
    assert "Expected the name of a question as printable text of at most 100 characters; rename it." in found


def test_canonically_equivalent_names_are_one(tmp_path):
    text = ONE.format('"\\u00e9"', 1) + ONE.format('"e\\u0301"', 1).partition("\n")[2]
    assert "Two questions have canonically equivalent names; rename one." in said(tmp_path, text)


@pytest.mark.parametrize(
    ("old", "new", "keys"),
    [
        ("2026-12-31", "2027-12-31", ["ends"]),
        ("How old", "Who old", ["questions.age.ask"]),
        ("18, 90", "18, 99", ["questions.age.domain"]),
        ("epsilon = 0.5\n[", "epsilon = 0.6\n[", ["questions.person.record.pets.epsilon"]),
        ("questions.age", "questions.years", ["questions"]),
        ("Courier", "Times", ["title"]),
        ('"About you"', '"About you"\nsample = 1', ["questions.person.sample"]),
        ("How many pets", "How few pets", ["questions.person.record.pets.ask"]),
    ],
)
def test_what_was_changed_is_named(study, study_file, old, new, keys):
    study_file.write_text(study_file.read_text().replace(old, new))
    assert study.changes(read_study(study_file)) == keys


def test_the_mechanism_that_a_purpose_chooses_may_change_with_the_package(study, study_file):
    text = study_file.read_text()
    study_file.write_text(text.replace("epsilon = 1\n\n[questions.s", 'epsilon = 1\nfor = "mean"\n\n[questions.s'))
    other = read_study(study_file)
    assert other.questions[0].sha256 != study.questions[0].sha256
    assert study.changes(other) == []


def test_a_study_of_a_later_version_is_refused(study):
    with pytest.raises(SpecError, match="of a later bipartite: update it"):
        Study.from_json(study.to_json().replace('"bipartite_study": 1', '"bipartite_study": 2'))


def test_a_spec_that_was_edited_is_refused(study):
    with pytest.raises(SpecError, match="does not match its SHA-256"):
        Study.from_json(study.to_json().replace(study.questions[0].sha256, "0" * 64))


def test_what_every_phone_would_have_to_load_is_bounded(tmp_path):
    long = ONE.format("long", 1).partition("\n")[2].replace("[0, 9]", "[0, 700]") + 'mechanism = "exponential"\n'
    found = said(tmp_path, ONE.format("a", 1) + long)
    assert re.search(r"at most 4 MiB, since every phone loads them, got \d\.\d MiB, most of it for 'long'; ask", found)
