"""Every statement about the tables of a collector, for SQLite and PostgreSQL alike; migrations/ makes the tables."""

# ruff: noqa: S608 (statements are put together from each other, never from what is given)

from typing import Final

APPLICATION_ID: Final = 0x62706C63
"""\"bplc\": marks the database as a collector's in the header of the file."""

VERSION: Final = "SELECT max(version) FROM collector"
ADD_VERSION: Final = "INSERT INTO collector VALUES (?)"

STUDIES: Final = "SELECT name FROM studies ORDER BY name"
STUDY: Final = "SELECT study, secret FROM studies WHERE name = ?"
ADD_STUDY: Final = "INSERT INTO studies VALUES (?, ?, ?, 0)"
CLOSED: Final = "SELECT closed FROM studies WHERE name = ?"
CLOSE: Final = "UPDATE studies SET closed = ? WHERE name = ? AND closed <= ?"
NEXT_QUESTION: Final = "SELECT coalesce(max(question), 0) + 1 FROM questions"
ADD_QUESTION: Final = "INSERT INTO questions VALUES (?, ?, ?, ?, ?)"
QUESTIONS: Final = "SELECT name, question, hash, spec FROM questions WHERE study = ? ORDER BY question"

OPEN, ENDED, SEALED = range(3)
"""Whether reports are taken: yes; no; no, and the keys are forgotten."""

# A report is counted: its key, the report itself and the day, in one transaction. PostgreSQL gets all keys, and all
# reports, as arrays in one statement; SQLite is in this process, and takes them one by one at less cost.
ADD_KEY: Final = "INSERT INTO seen VALUES (?, ?) ON CONFLICT DO NOTHING"
ADD_KEYS: Final = "INSERT INTO seen SELECT ?::integer, unnest(?::bytea[]) ON CONFLICT DO NOTHING RETURNING key"
_ADD: Final = "ON CONFLICT (question, report) DO UPDATE SET n = bag.n + excluded.n"
ADD_REPORT: Final = f"INSERT INTO bag VALUES (?, ?, ?) {_ADD}"
ADD_REPORTS: Final = f"INSERT INTO bag SELECT ?::integer, unnest(?::text[]), unnest(?::bigint[]) {_ADD}"
ADD_ARRIVALS: Final = (
    "INSERT INTO arrivals VALUES (?, ?, ?) ON CONFLICT (question, day) DO UPDATE SET n = arrivals.n + excluded.n"
)

BAG: Final = "SELECT report, n FROM bag WHERE question = ? ORDER BY report"
COUNTED: Final = "SELECT coalesce(sum(n), 0) FROM arrivals WHERE question = ?"
ARRIVALS: Final = "SELECT day, n FROM arrivals WHERE question = ? ORDER BY day"
LAST_DAY: Final = "SELECT max(day) FROM arrivals JOIN questions USING (question) WHERE study = ?"

PUBLISHED: Final = "SELECT n, answers FROM published WHERE question = ?"
# Of two workers that publish at once, one wins; the other shows what the first published.
PUBLISH: Final = (
    "INSERT INTO published VALUES (?, ?, ?) ON CONFLICT (question) DO UPDATE SET n = excluded.n, "
    "answers = excluded.answers WHERE excluded.n >= published.n + ?"
)

FORGET_KEYS: Final = "DELETE FROM seen WHERE question = ?"

ADD_LINK: Final = "INSERT INTO links VALUES (?)"
USE_LINK: Final = "DELETE FROM links WHERE hash = ?"

# Each counts what a collector never leaves behind.
FINDINGS: Final = {
    "{} questions whose reports are not as many as their keys": (
        "SELECT count(*) FROM questions JOIN studies ON studies.name = questions.study WHERE closed < 2 AND "
        "(SELECT coalesce(sum(n), 0) FROM bag WHERE bag.question = questions.question) <> "
        "(SELECT count(*) FROM seen WHERE seen.question = questions.question)"
    ),
    "{} questions whose reports are not as many as their arrivals": (
        "SELECT count(*) FROM questions WHERE "
        "(SELECT coalesce(sum(n), 0) FROM bag WHERE bag.question = questions.question) <> "
        "(SELECT coalesce(sum(n), 0) FROM arrivals WHERE arrivals.question = questions.question)"
    ),
    "{} keys of no question": "SELECT count(*) FROM seen WHERE question NOT IN (SELECT question FROM questions)",
    "{} reports of no question": "SELECT count(*) FROM bag WHERE question NOT IN (SELECT question FROM questions)",
    "{} arrivals whose day is none": "SELECT count(*) FROM arrivals WHERE length(day) <> 10",
    "{} keys that are not of 16 bytes": "SELECT count(*) FROM seen WHERE length(key) <> 16",
}
TABLES: Final = ("studies", "questions", "seen", "bag", "arrivals", "published", "links")
"""In an order in which rows can be copied."""
