"""Every statement about the tables of a ledger; what SQLite is asked about the file itself is with its connection.

====  ====================================================================================================
2     a table of balances beside the reports, kept equal to their sums by the program
3     four tables: a balance *is* the sum of a person's debits in a period, and a trigger keeps it within the budget
====  ====================================================================================================

"""

# ruff: noqa: S608 (statements are put together from each other, never from what is given)

from typing import Final

# "bpld": marks the database as a ledger in the header of the file.
APPLICATION_ID: Final = 0x62706C64
VERSION: Final = 3
OLDEST: Final = 2
"""The oldest version that is upgraded."""

# Constants are the budget, the period, the check value of the person key, and each spec under its SHA-256. `report` has
# no type, so that SQLite stores it unchanged, and comes after `epsilon`, so that sums do not read long reports.
TABLES: Final = {
    "constants": "CREATE TABLE constants (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "questions": """CREATE TABLE questions (
  period TEXT NOT NULL, question TEXT NOT NULL, on_change TEXT NOT NULL,
  spec_sha256 TEXT NOT NULL REFERENCES constants,
  epsilon INTEGER NOT NULL CHECK (typeof(epsilon) = 'integer' AND epsilon >= 0),
  insecure INTEGER NOT NULL CHECK (insecure IN (0, 1)),
  PRIMARY KEY (period, question)) WITHOUT ROWID""",
    "reports": """CREATE TABLE reports (
  person TEXT NOT NULL, period TEXT NOT NULL, question TEXT NOT NULL,
  number INTEGER NOT NULL CHECK (typeof(number) = 'integer' AND number >= 1),
  epsilon INTEGER NOT NULL CHECK (typeof(epsilon) = 'integer' AND epsilon >= 0),
  time TEXT NOT NULL, report NOT NULL, insecure INTEGER NOT NULL CHECK (insecure IN (0, 1)),
  PRIMARY KEY (person, period, question, number)) WITHOUT ROWID""",
    "requests": """CREATE TABLE requests (
  person TEXT NOT NULL, request TEXT NOT NULL, period TEXT NOT NULL, question TEXT NOT NULL, number INTEGER NOT NULL,
  PRIMARY KEY (person, request)) WITHOUT ROWID""",
}
# No program, this one included, can debit beyond the budget, or change or remove a debit: for each trigger what it
# watches on `reports`, what it refuses, and what it says. INSERT OR REPLACE removes a row without a trigger for that,
# and would have to repeat its number.
_SPENT_BEFORE: Final = "SELECT coalesce(sum(epsilon), 0) FROM reports WHERE person = NEW.person AND period = NEW.period"
_NUMBER_BEFORE: Final = (
    "SELECT coalesce(max(number), 0) FROM reports\n"
    "  WHERE person = NEW.person AND period = NEW.period AND question = NEW.question"
)
REFUSALS: Final = {
    "debits_within_the_budget": (
        "INSERT",
        f"NEW.epsilon + ({_SPENT_BEFORE})\n  > {{budget}}",
        "the budget does not allow this debit",
    ),
    "debits_in_order": (
        "INSERT",
        f"NEW.number <> 1 + ({_NUMBER_BEFORE})",
        "debits are numbered from 1 without a gap",
    ),
    "debits_unchanged": ("UPDATE", "", "a debit is never changed"),
    "debits_kept": ("DELETE", "", "a debit is never removed"),
}


def triggers(budget: int) -> dict[str, str]:
    """The statements that make the triggers of a ledger with this budget, by name."""
    return {
        name: f"CREATE TRIGGER {name} BEFORE {event} ON reports\n"
        + (f"WHEN {refused.format(budget=budget)}\n" if refused else "")
        + f"BEGIN SELECT RAISE(ABORT, '{said}'); END"
        for name, (event, refused, said) in REFUSALS.items()
    }


MARKS: Final = (f"PRAGMA application_id = {APPLICATION_ID}", f"PRAGMA user_version = {VERSION}")
SCHEMA: Final = (
    "SELECT name, sql FROM main.sqlite_schema WHERE type IN ('table', 'trigger') "
    "AND tbl_name IN ('constants', 'questions', 'reports', 'requests')"
)

# Constants.
SETTINGS: Final = "SELECT name, value FROM constants WHERE name IN ('budget', 'period', 'person_key')"
SPECS: Final = "SELECT name, value FROM constants WHERE length(name) = 64 ORDER BY name"
ADD_CONSTANT: Final = "INSERT INTO constants VALUES (?, ?) ON CONFLICT DO NOTHING"

# A request: was it answered, what is asked, has the person a report, what has the person spent; then debit and store.
ANSWER: Final = (
    "SELECT requests.question, number, report FROM requests JOIN reports USING (person, period, question, number) "
    "WHERE requests.person = ? AND request = ?"
)
QUESTION: Final = "SELECT spec_sha256, on_change FROM questions WHERE period = ? AND question = ?"
ADD_QUESTION: Final = "INSERT INTO questions VALUES (?, ?, ?, ?, ?, 0)"
LAST_REPORT: Final = (
    "SELECT number, report FROM reports WHERE person = ? AND period = ? AND question = ? ORDER BY number DESC LIMIT 1"
)
SPENT: Final = "SELECT coalesce(sum(epsilon), 0) FROM reports WHERE person = ? AND period = ?"
ADD_REPORT: Final = "INSERT INTO reports VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
ADD_REQUEST: Final = "INSERT INTO requests VALUES (?, ?, ?, ?, ?)"
MARK_INSECURE: Final = "UPDATE questions SET insecure = 1 WHERE period = ? AND question = ?"

# What an auditor reads.
BALANCES: Final = "SELECT period, sum(epsilon) FROM reports WHERE person = ? GROUP BY period ORDER BY period"
QUESTIONS: Final = (
    "SELECT period, question, on_change, spec_sha256, epsilon, insecure FROM questions ORDER BY period, question"
)
DEBITS: Final = (
    "SELECT person, period, question, number, coalesce(on_change, ''), coalesce(spec_sha256, ''), reports.epsilon, "
    "time, reports.insecure FROM reports LEFT JOIN questions USING (period, question) "
    "ORDER BY person, period, question, number"
)
_PERSON: Final = "SELECT sum(epsilon) AS spent FROM reports GROUP BY person"
_SUMS: Final = "SELECT person, period, sum(epsilon) AS spent FROM reports GROUP BY person, period"
SUMMARY: Final = {
    "people": f"SELECT count(*) FROM ({_PERSON}) AS balance",
    "periods": "SELECT count(DISTINCT period) FROM questions",
    "questions": "SELECT count(DISTINCT question) FROM questions",
    "reports": "SELECT count(*) FROM reports",
    "insecure_reports": "SELECT count(*) FROM reports WHERE insecure = 1",
    "most_spent_in_a_period": f"SELECT coalesce(max(spent), 0) FROM ({_SUMS}) AS balance",
    "most_spent_ever": f"SELECT coalesce(max(spent), 0) FROM ({_PERSON}) AS balance",
}

# Each counts what a ledger written by bipartite never contains.
_BUDGET: Final = "(SELECT CAST(value AS BIGINT) FROM constants WHERE name = 'budget')"
_INSECURE_REPORT: Final = (
    "EXISTS (SELECT 1 FROM reports WHERE insecure = 1 AND reports.period = questions.period "
    "AND reports.question = questions.question)"
)
FINDINGS: Final = {
    "{} balances beyond the budget": f"SELECT count(*) FROM ({_SUMS}) AS balance WHERE spent > {_BUDGET}",
    "{} questions with an unknown on_change rule": (
        "SELECT count(*) FROM questions WHERE on_change NOT IN ('repeat', 'fresh', 'when-changed')"
    ),
    "{} reports to a question that the period does not have, or at another ε": (
        "SELECT count(*) FROM reports LEFT JOIN questions USING (period, question) "
        "WHERE questions.epsilon IS NULL OR reports.epsilon <> questions.epsilon"
    ),
    "{} questions whose spec is missing": (
        "SELECT count(*) FROM questions LEFT JOIN constants ON spec_sha256 = name WHERE name IS NULL"
    ),
    "{} second reports to a question that repeats its first": (
        "SELECT count(*) FROM reports JOIN questions USING (period, question) WHERE on_change = 'repeat' AND number > 1"
    ),
    "{} people and questions whose reports are not numbered from 1 without a gap": (
        "SELECT count(*) FROM (SELECT max(number) AS last, count(*) AS held FROM reports "
        "GROUP BY person, period, question) AS balance WHERE last <> held"
    ),
    "{} answered requests without their report": (
        "SELECT count(*) FROM requests LEFT JOIN reports USING (person, period, question, number) WHERE time IS NULL"
    ),
    "{} questions that are not marked insecure although reports to them are": (
        f"SELECT count(*) FROM questions WHERE insecure = 0 AND {_INSECURE_REPORT}"
    ),
    "{} questions that are marked insecure although no report to them is": (
        f"SELECT count(*) FROM questions WHERE insecure = 1 AND NOT {_INSECURE_REPORT}"
    ),
    "{} balances of people who are not stored under the key of the ledger": (
        f"SELECT count(*) FROM ({_SUMS}) AS balance WHERE EXISTS (SELECT 1 FROM constants WHERE name = 'person_key') "
        "AND (length(person) <> 64 OR trim(person, '0123456789abcdef') <> '')"
    ),
}
NAMES: Final = {
    "person": "SELECT DISTINCT person FROM reports",
    "question": "SELECT DISTINCT question FROM questions",
}
TIMES: Final = "SELECT period, min(time), max(time) FROM reports GROUP BY period"
PRICES: Final = "SELECT spec_sha256, epsilon FROM questions"

# Version 2: reports, questions and requests have the columns of today, and the constants are in two tables.
CONSTANTS_2: Final = (
    "SELECT 'budget' AS name, CAST(budget AS TEXT) AS value FROM settings UNION ALL "
    "SELECT 'period', period FROM settings UNION ALL "
    "SELECT 'person_key', person_key FROM settings WHERE person_key IS NOT NULL UNION ALL "
    "SELECT sha256, spec FROM specs"
)
READ_2: Final = f"CREATE TEMP VIEW constants AS {CONSTANTS_2}"
BEGUN_AS_1: Final = (
    "SELECT 1 FROM settings WHERE older_names <> 0 OR EXISTS (SELECT 1 FROM spellings) "
    "OR EXISTS (SELECT 1 FROM questions WHERE insecure IS NULL) "
    "OR EXISTS (SELECT 1 FROM reports WHERE insecure IS NULL)"
)
FINDINGS_2: Final = {
    "{} balances that are not the sum of their debits": (
        f"SELECT count(*) FROM (SELECT person, period, spent FROM ({_SUMS}) EXCEPT SELECT * FROM balances)"
    ),
    "{} balances without a debit": (
        "SELECT count(*) FROM balances LEFT JOIN reports USING (person, period) WHERE question IS NULL"
    ),
    "{} budgets that differ from the limit enforced on balances": (
        "SELECT count(*) FROM settings WHERE NOT EXISTS (SELECT 1 FROM main.sqlite_schema "
        "WHERE name = 'balances' AND sql LIKE '%BETWEEN 0 AND ' || budget || ')%')"
    ),
}
_KEPT: Final = ("questions", "reports", "requests")
SET_ASIDE: Final = tuple(f"ALTER TABLE {table} RENAME TO {table}_2" for table in _KEPT)
TAKE_OVER: Final = (
    f"INSERT INTO constants {CONSTANTS_2}",
    *(f"INSERT INTO {table} SELECT * FROM {table}_2" for table in _KEPT),
)
LOST: Final = {
    "{} questions, reports or requests that were not copied": "SELECT "
    + " + ".join(f"(SELECT count(*) FROM (SELECT * FROM {table}_2 EXCEPT SELECT * FROM {table}))" for table in _KEPT)
}
DROP_2: Final = tuple(
    f"DROP TABLE {table}" for table in (*(f"{each}_2" for each in _KEPT), "specs", "settings", "balances", "spellings")
)
