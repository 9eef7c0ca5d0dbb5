"""``bipartite collect``: ask people a study's questions and count their reports; show, export, close, check, back up."""

from __future__ import annotations

import importlib.util
import json
import socket
import unicodedata
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict

from bipartite.cli.estimate_json import PrintedColumn, described
from bipartite.cli.estimate_output import Found, compute
from bipartite.cli.output import BAD_DATA, FINDING, OK, note, print_json, print_table
from bipartite.cli.plan import half
from bipartite.cli.program import Command
from bipartite.errors import InputError, how_many, missing_library
from bipartite.files import naming, part_of
from bipartite.mechanisms.catalogue import entry_of
from bipartite.postgres import is_url
from bipartite.tables.metadata import Described
from bipartite.tables.purposes import CONFIDENCE, prospect
from bipartite.texts import escaped

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from bipartite.collect.answers import Bag
    from bipartite.collect.store import Store
    from bipartite.collect.study import Question, Study

EXAMPLES: Final = """A study file says what is asked: title, ends, and [questions.NAME] with ask, domain and epsilon.
Reports are counted in readers.db beside it, or in --database: another file, or PostgreSQL for several machines.

examples:
  bipartite collect readers.toml
  bipartite collect show readers.toml
  bipartite collect export readers.toml reports
"""
_LIBRARIES: Final = (
    "starlette", "uvicorn", "httptools", "msgspec", "jinja2", "itsdangerous", "prometheus_client", "pyarrow",
)  # fmt: skip
_FILE: Final = "the study, such as readers.toml, or its database readers.db"
_DATABASE: Final = "another file for what is counted, or a URL of PostgreSQL (its password: PGPASSWORD or ~/.pgpass)"
_RATE: Final = 3600  # a phone network or an office may share one address
_STOPPED: Final = 128


class PrintedQuestion(TypedDict):
    """What a question has received."""

    question: str
    ask: str
    epsilon: Decimal
    """What each report spends."""
    reports: int
    columns: list[PrintedColumn]
    """The answers: one of a plain question, one for each part of a record, none of a part that nobody reported."""


class PrintedStudy(TypedDict):
    """What ``collect show`` prints."""

    study: str
    title: str
    ends: str
    """The last day on which reports are taken, in UTC."""
    interim: bool
    """Whether reports are still taken, so that the answers will change."""
    epsilon: Decimal
    """What somebody who answers everything spends."""
    confidence: float
    questions: list[PrintedQuestion]
    link: str | None
    """With --link: a path that makes whoever opens it first at the collector's address an operator."""


class PrintedCheck(TypedDict):
    """What ``collect check`` prints."""

    sound: bool
    reports: int
    findings: list[str]
    """What does not add up, in words."""


def configure(parser: Command) -> None:
    """Add the options of this command."""
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION", parser_class=Command)
    parser.implicit = ("serve", ".toml")
    for name, run, help_text in (
        ("serve", run_serve, "ask, and count reports, until Ctrl-C; may be left out: bipartite collect readers.toml"),
        ("show", run_show, "the answers so far, with error bars"),
        ("export", run_export, "the reports of each question and its spec, as files for bipartite estimate"),
        ("close", run_close, "end the study now: no more reports, keys forgotten, database written anew"),
        ("check", run_check, "whether every report has its key and its day"),
        ("backup", run_backup, "a consistent copy, also while reports come"),
    ):
        action = actions.add_parser(name, help=help_text, epilog=EXAMPLES)
        add = action.add_argument
        add("file", metavar="FILE", type=Path, help="the study, such as readers.toml" if name == "serve" else _FILE)
        if name == "serve":
            add(
                "--host",
                metavar="ADDRESS",
                default="127.0.0.1",
                help="where to listen (default: 127.0.0.1, this machine alone)",
            )
            add("--port", metavar="N", type=int, default=8000, help="the port (default: 8000; 0: one that is free)")
            add("--workers", metavar="N", type=int, default=1, help="processes (default: 1)")
            add(
                "--rate",
                metavar="N",
                type=int,
                default=_RATE,
                help=f"posts an hour from one address (default: {_RATE}; 0: any number)",
            )
            add("--proxies", metavar="ADDRESSES", help="proxies whose X-Forwarded-For is believed, such as 127.0.0.1")
        if name == "export":
            add("folder", metavar="FOLDER", type=Path, help="a new folder")
        if name == "backup":
            add("copy", metavar="COPY", type=Path, help="the new file")
        if name == "show":
            add("--link", action="store_true", help="also make a new one-time link for the operator")
        if name in {"show", "check"}:
            add("--json", action="store_true", help=f"print one JSON object (schemas/collect-{name}.json)")
        add("--database", metavar="WHERE", help=_DATABASE)
        action.set_defaults(run=run)


def run_serve(options: argparse.Namespace) -> int:
    """Ask the questions of a study until a signal says stop."""
    _need_libraries()
    from bipartite.collect.server import new_link  # noqa: PLC0415 (loads a server)
    from bipartite.collect.serving import Settings, serve  # noqa: PLC0415
    from bipartite.collect.store import begin  # noqa: PLC0415
    from bipartite.collect.study import read_study  # noqa: PLC0415

    if options.file.suffix != ".toml":
        raise InputError(f"Expected a study file that ends with .toml, got {escaped(options.file.name)}.")
    for name, least in (("workers", 1), ("rate", 0)):
        if getattr(options, name) < least:
            raise InputError(f"Expected --{name} of at least {least}, got {getattr(options, name)}.")
    study, where = read_study(options.file), _where(options)
    with begin(where, study) as store:
        study, link, closed = store.study, new_link(store), _closed(store)

    def listening(port: int) -> None:
        _tell(study, closed=closed)
        at = _address(options.host, port)
        print(f"\nparticipants    {at}/\nyou, once       {at}{link}")
        print(f"\nThe answers here: bipartite collect show {escaped(str(options.file))}; to stop: Ctrl-C.", flush=True)

    settings = Settings(str(where), isinstance(where, Path), study.name, options.rate)
    number = serve(
        settings, options.host, options.port, workers=options.workers, proxies=options.proxies, listening=listening
    )
    if number is None:
        note("the workers could not start; what they said stands above.")
        return BAD_DATA
    note("stopped; every report that was acknowledged is kept. The same command goes on.")
    return _STOPPED + number


def run_show(options: argparse.Namespace) -> int:
    """Print the answers so far."""
    _need_libraries()
    from bipartite.collect.answers_page import interim_words  # noqa: PLC0415 (loads what may be missing)

    with _opened(options) as store:
        link, interim = None, not _closed(store)
        if options.link:
            from bipartite.collect.server import new_link  # noqa: PLC0415 (loads a server)

            link = new_link(store)
        found = [(question, bag, _found(question, bag)) for question, bag in _bags(store)]
    study = store.study
    if options.json:
        print_json(_printed(study, found, interim=interim, link=link))
        return FINDING if any(each.doubted for _, _, each in found) else OK
    print(f"{escaped(study.title)}: {_when(study, closed=not interim)}, ε = {study.epsilon_decimal:f} for all answers.")
    for question, bag, each in found:
        held = f" ({how_many(bag.n, 'report')})" if question.is_record or not bag.n else ""
        print(f"\n{escaped(question.name)}: {escaped(question.ask)}{held}")
        for name in each.columns:
            if question.is_record:
                print(f"\n{escaped(str(name))}")
            print(each.answers(name).summary(each.confidence, each.carried(name)))
        for name in each.doubted:
            note(f"warning: {escaped(question.name)}: reports of {name} cannot have come from their mechanism.")
    if interim:
        print(f"\n{interim_words(study)}")
    if link:
        print(f"\nOnce, at the collector's address: {link}")
    return FINDING if any(each.doubted for _, _, each in found) else OK


def run_export(options: argparse.Namespace) -> int:
    """Write the reports of each question, and what they were drawn by, into a new folder."""
    if options.folder.exists():
        raise InputError(f"{escaped(str(options.folder))} exists; name a new folder.")
    told = []
    with _opened(options) as store, part_of(options.folder, folder=True) as part:
        for at, question in enumerate(store.study.questions, 1):
            stem = question.name if question.name.isidentifier() else f"question-{at}"
            (part / f"{stem}.json").write_text(_spec(question) + "\n", encoding="utf-8")
            with (part / f"{stem}.jsonl").open("w", encoding="utf-8", newline="\n") as file:
                for report, n in store.bag(question.name):
                    file.writelines([_line(question, report)] * n)
            lines = options.folder / f"{stem}.jsonl"
            told.append(f"bipartite estimate {lines} --spec {lines.with_suffix('.json')}")
        with naming(part):
            part.rename(options.folder)
    print(*map(escaped, told), sep="\n")
    return OK


def run_close(options: argparse.Namespace) -> int:
    """End a study."""
    with _opened(options) as store:
        store.close_study()
        held = how_many(sum(store.counted().values()), "report")
    print(
        f"{escaped(store.study.name)} is closed, with {held}: it takes no more, its keys are forgotten, and its database is "
        "written anew. Backups of before still hold the keys; delete them when you can."
    )
    return OK


def run_check(options: argparse.Namespace) -> int:
    """Check whether everything adds up."""
    with _opened(options) as store:
        found, reports = store.check(), sum(store.counted().values())
    if options.json:
        print_json(PrintedCheck(sound=not found, reports=reports, findings=found))
    else:
        sound = f"{escaped(store.study.name)} adds up: {how_many(reports, 'report')}."
        print("\n".join(map(escaped, found)) or sound)
    return FINDING if found else OK


def run_backup(options: argparse.Namespace) -> int:
    """Copy everything into a new SQLite file."""
    with _opened(options) as store:
        store.backup(options.copy)
    options.database = str(options.copy)
    with _opened(options) as copy:
        held, found = how_many(sum(copy.counted().values()), "report"), copy.check()
    name = escaped(options.copy.name)
    print(*found or [f"{name}: {held}, and everything adds up. What comes from now on is not in it."], sep="\n")
    return FINDING if found else OK


def _need_libraries() -> None:
    """Refuse at once, and not in the middle, if a library of the extra is missing."""
    for library in _LIBRARIES:
        if importlib.util.find_spec(library) is None:
            raise missing_library(what="Collecting needs", library=library.replace("_", "-"), extra="collect")


def _where(options: argparse.Namespace) -> str | Path:
    """The database: the one that is named, or the file beside the study."""
    if options.database is None:
        found: Path = options.file.with_suffix(".db")
        return found
    return str(options.database) if is_url(options.database) else Path(options.database)


def _opened(options: argparse.Namespace) -> Store:
    """The store of a study that was begun."""
    _need_libraries()
    from bipartite.collect.store import resume  # noqa: PLC0415 (loads what may be missing)

    named = options.file.suffix == ".toml" or options.database is not None
    return resume(_where(options), unicodedata.normalize("NFC", options.file.stem) if named else None)


def _closed(store: Store) -> bool:
    from bipartite.collect.writer import utc_today  # noqa: PLC0415 (see _opened)

    return store.is_closed(utc_today())


def _address(host: str, port: int) -> str:
    """Where a browser finds it: for all addresses of this machine, the one by which others see it."""
    if host in {"0.0.0.0", "::"}:  # noqa: S104 (asked for)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked, suppress(OSError):
            asked.connect(("192.0.2.1", 9))  # an address of nobody; nothing is sent
            host = asked.getsockname()[0]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _when(study: Study, *, closed: bool) -> str:
    return "no more reports are taken" if closed else f"reports are taken until {study.ends.isoformat()} (UTC)"


def _tell(study: Study, *, closed: bool) -> None:
    """Print what is asked, what it costs, and what it can answer."""
    print(
        f"{escaped(study.title)}: {_when(study, closed=closed)}; answers for {'everybody' if study.public else 'you'}.\n"
    )
    rows = []
    for question in study.questions:
        share = 1.0 if question.sample is None else question.sample / len(question.parts)
        for part in question.parts:
            name = f"{question.name}.{part.name}" if question.is_record else part.name
            row = [name, f"{part.mechanism.epsilon_decimal:f}", entry_of(type(part.mechanism)).name]
            if study.people is not None:
                errors = prospect(part.mechanism, max(1, round(share * study.people))).errors()
                row += [half(error, points=points) for error, points in errors]
            rows.append(row)
    precise = [] if study.people is None else ["mean", "median", "a tenth of the range", "one value"]
    print_table(("question", "ε", "by", *precise), [[escaped(cell) for cell in row] for row in rows])
    if study.people is not None:
        print(
            f"\n± at {CONFIDENCE:.0%} confidence if {study.people:,} people answer, and all values are equally common."
        )
    print(f"\nWho answers everything spends ε = {study.epsilon_decimal:f}.")


def _bags(store: Store) -> Iterator[tuple[Question, Bag]]:
    from bipartite.collect.answers import Bag  # noqa: PLC0415 (see _opened)

    for question in store.study.questions:
        yield question, Bag.read(question, store.bag(question.name))


def _found(question: Question, bag: Bag) -> Found:
    """The estimates of a question, as ``bipartite estimate`` prints them."""
    parts = {part.name: part for part in question.parts if bag.reported(part)}
    found = Found(
        columns={name: {None: bag.estimate(part)} for name, part in parts.items()},
        unreported={name: bag.n - bag.reported(part) for name, part in parts.items()},
        by=None, confidence=CONFIDENCE, insecure=None, release=None, bins=None, repeated=0, rejected=0,
    )  # fmt: skip
    compute(found, as_json=False)
    return found


def _printed(
    study: Study, found: list[tuple[Question, Bag, Found]], *, interim: bool, link: str | None
) -> PrintedStudy:
    questions = [
        PrintedQuestion(
            question=question.name, ask=question.ask, epsilon=question.epsilon_decimal, reports=bag.n,
            columns=described(each)["columns"],
        )
        for question, bag, each in found
    ]  # fmt: skip
    return PrintedStudy(
        study=study.name, title=study.title, ends=study.ends.isoformat(), interim=interim,
        epsilon=study.epsilon_decimal, confidence=CONFIDENCE, questions=questions, link=link,
    )  # fmt: skip


def _line(question: Question, report: str) -> str:
    """A report as a line of JSON: a record by its parts, with null for those that were not drawn."""
    held = dict.fromkeys(question.mechanisms) | json.loads(report) if question.is_record else f'{{"report":{report}}}'
    return f"{held if isinstance(held, str) else json.dumps(held, ensure_ascii=False)}\n"


def _spec(question: Question) -> str:
    """What ``bipartite estimate`` takes as --spec: the spec, or of a record the description of its columns."""
    if not question.is_record:
        return question.parts[0].spec
    return Described(question.mechanisms, (), ("who took part, and how many",), sample=question.sample).to_json()
