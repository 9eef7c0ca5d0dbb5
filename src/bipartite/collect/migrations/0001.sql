-- What a collector keeps. No table joins a key to a report, or holds a time finer than a day.
-- In SQLite rows are ordered by content. PostgreSQL gets the same text, with BYTEA for BLOB and without WITHOUT ROWID.
CREATE TABLE collector (version INTEGER NOT NULL PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE studies (
  name TEXT NOT NULL PRIMARY KEY,
  study TEXT NOT NULL,
  secret TEXT NOT NULL,
  closed INTEGER NOT NULL CHECK (closed IN (0, 1, 2))
) WITHOUT ROWID;
CREATE TABLE questions (
  question INTEGER NOT NULL PRIMARY KEY,
  study TEXT NOT NULL REFERENCES studies,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  spec TEXT NOT NULL,
  UNIQUE (study, name)
) WITHOUT ROWID;
CREATE TABLE seen (
  question INTEGER NOT NULL,
  key BLOB NOT NULL,
  PRIMARY KEY (question, key)
) WITHOUT ROWID;
CREATE TABLE bag (
  question INTEGER NOT NULL,
  report TEXT NOT NULL,
  n BIGINT NOT NULL CHECK (n > 0),
  PRIMARY KEY (question, report)
) WITHOUT ROWID;
CREATE TABLE arrivals (
  question INTEGER NOT NULL,
  day TEXT NOT NULL,
  n BIGINT NOT NULL CHECK (n > 0),
  PRIMARY KEY (question, day)
) WITHOUT ROWID;
CREATE TABLE published (
  question INTEGER NOT NULL PRIMARY KEY,
  n BIGINT NOT NULL,
  answers TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE links (
  hash TEXT NOT NULL PRIMARY KEY
) WITHOUT ROWID;
