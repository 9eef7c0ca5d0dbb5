"""``bipartite collect``: ask the questions of a study, and count reports; show, export, close, check or back up."""

from __future__ import annotations

import importlib.util
import json
import socket
import unicodedata
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bipartite.cli.collect_output import (
    Answered,
    PrintedCheck,
    print_answers,
    show_across,
    show_answers,
    show_study,
)
from bipartite.cli.output import BAD_DATA, FINDING, OK, note, print_json
from bipartite.cli.program import Command
from bipartite.errors import DatabaseError, InputError, how_many, missing_library, shown
from bipartite.files import naming, part_of
from bipartite.postgres import is_url
from bipartite.tables.metadata import Described
from bipartite.texts import escaped

if TYPE_CHECKING:
    import argparse

    from bipartite.collect.store import Store
    from bipartite.collect.study import Question

EXAMPLES: Final = """A study file says what is asked: title, ends, and [questions.NAME] with ask, domain and epsilon.
Reports are counted in readers.db beside it, or in --database: another file, or PostgreSQL for several machines.
The password of a URL belongs in PGPASSWORD or ~/.pgpass: a command line is seen by all users of a machine.

examples:
  bipartite collect readers.toml
  bipartite collect show readers.toml
"""
_LIBRARIES: Final = (
    "starlette", "uvicorn", "httptools", "msgspec", "jinja2", "itsdangerous", "prometheus_client", "pyarrow",
)  # fmt: skip
_RATE: Final = 3600  # a mobile network, or an office, may share one address


def configure(parser: Command) -> None:
    """Add the options of this command."""
    both = "FILE.toml | ACTION"  # refusals show it, too
    actions = parser.add_subparsers(title="actions", required=True, metavar=both, parser_class=Command)
    parser.implicit = ("serve", ".toml")
    for name, run, help_text in (
        ("serve", run_serve, "ask, and count reports, until Ctrl-C; the word may be left out"),
        ("show", run_show, "the answers so far, with error bars"),
        ("export", run_export, "the reports of each question and its spec, as files for bipartite estimate"),
        ("close", run_close, "end a study now: no more reports, keys forgotten, database written anew"),
        ("check", run_check, "whether every report has its key and its day"),
        ("backup", run_backup, "a consistent copy, also while reports come"),
    ):
        action = actions.add_parser(name, help=help_text, epilog=EXAMPLES)
        add = action.add_argument
        file = "the study, such as readers.toml" + ("" if name == "serve" else ", or its database, readers.db")
        add("file", metavar="FILE", type=Path, help=file)
        if name == "serve":
            add("--host", metavar="ADDRESS", default="127.0.0.1", help="where to listen (default: this machine alone)")
            add("--port", metavar="N", type=int, default=8000, help="the port (default: 8000; 0 takes a free one)")
            add("--workers", metavar="N", type=int, default=1, help="processes (default: 1)")
            rate = f"posts an hour from one address (default: {_RATE}; 0: any number)"
            add("--rate", metavar="N", type=int, default=_RATE, help=rate)
            add("--proxies", metavar="ADDRESSES", help="whose X-Forwarded-For is believed, such as 127.0.0.1")
        elif name == "export":
            add("folder", metavar="FOLDER", type=Path, help="a new folder")
        elif name == "backup":
            add("copy", metavar="COPY", type=Path, help="the new file")
        elif name == "show":
            other = action.add_mutually_exclusive_group()
            other.add_argument("--link", action="store_true", help="also a new one-time link for the operator")
            across = "two parts of a record together, instead of each alone"
            other.add_argument("--across", nargs=2, metavar=("A", "B"), help=across)
        if name in {"show", "check"}:
            schemas = f"schemas/collect-{name}.json" + (", with --across collect-across.json" if name == "show" else "")
            add("--json", action="store_true", help=f"print one JSON object ({schemas})")
        add("--database", metavar="WHERE", help="another file than readers.db, or postgresql://user@host/database")
        action.set_defaults(run=run)


def run_serve(options: argparse.Namespace) -> int:
    """Ask the questions of a study until a signal says stop."""
    _need_libraries()
    from bipartite.collect.proxies import networks_in  # noqa: PLC0415 (loads what may be missing)
    from bipartite.collect.server import new_link  # noqa: PLC0415 (loads a server)
    from bipartite.collect.serving import Settings, serve  # noqa: PLC0415
    from bipartite.collect.store import begin  # noqa: PLC0415
    from bipartite.collect.study import read_study  # noqa: PLC0415
    from bipartite.collect.writer import utc_today  # noqa: PLC0415

    if options.file.suffix != ".toml":
        raise InputError(f"Expected a study file that ends with .toml, got {escaped(options.file.name)}.")
    for name, least in (("workers", 1), ("rate", 0)):
        if getattr(options, name) < least:
            raise InputError(f"Expected --{name} of at least {least}, got {getattr(options, name)}.")
    if not 0 <= options.port < 2**16:  # the system would take another one
        raise InputError(f"Expected --port of 0 to {2**16 - 1}, got {options.port}.")
    if options.proxies is not None:
        networks_in(options.proxies)  # refused here: each worker would fail, and be started again
    study, where = read_study(options.file), _where(options)
    with begin(where, study, today=utc_today()) as store:
        with suppress(DatabaseError):  # whoever was killed could not; those who serve will try again
            store.settle()
        study, link, closed = store.study, new_link(store), _is_closed(store)

    def listening(port: int) -> None:
        show_study(study, closed=closed)
        at = _address(options.host, port)
        print(f"\nparticipants  {at}/\nyou, once     {at}{link}")
        print(f"\nThe answers here: {_again(options, 'show')}; to stop: Ctrl-C.", flush=True)

    settings = Settings(str(where), isinstance(where, Path), study.name, options.rate, options.proxies)
    number = serve(settings, options.host, options.port, workers=options.workers, listening=listening)
    if number is None:
        note("the workers could not start; what they said stands above.")
        return BAD_DATA
    note("stopped; every report that was acknowledged is kept, and the same command goes on.")
    return 128 + number  # as a shell says it


def run_show(options: argparse.Namespace) -> int:
    """Print the answers so far."""
    with _opened(options) as store:
        from bipartite.collect.answers import Bag, across  # noqa: PLC0415 (loads what may be missing)
        from bipartite.collect.answers_page import interim_words  # noqa: PLC0415
        from bipartite.collect.server import new_link  # noqa: PLC0415
        from bipartite.collect.views import joint_view  # noqa: PLC0415

        study, closed = store.study, _is_closed(store)
        if options.across:
            question, *parts = across(study, *options.across)
            view = joint_view(Bag.read(question, store.bag(question.name)), *parts)
            if options.json:
                print_json(asdict(view))
            else:
                show_across(view)
            return FINDING if view.doubt else OK
        answered = [Answered(each, Bag.read(each, store.bag(each.name))) for each in study.questions]
        link = new_link(store) if options.link else None
    if options.json:
        print_answers(study, answered, closed=closed, link=link)
    else:
        show_answers(study, answered, closed=closed, link=link, interim=interim_words(study))
    return FINDING if any(each.doubted for each in answered) else OK


def run_export(options: argparse.Namespace) -> int:
    """Write the reports of each question, and what they were drawn by, into a new folder."""
    folder: Path = options.folder
    if folder.exists():
        raise InputError(f"{escaped(str(folder))} exists; name a new folder.")
    if not folder.absolute().parent.is_dir():
        raise InputError(f"There is no folder {escaped(str(folder.parent))}; make it, or name another.")
    commands = []
    with _opened(options) as store, part_of(folder, folder=True) as part:
        for at, question in enumerate(store.study.questions, 1):
            stem = question.name if question.name.isidentifier() else f"question-{at}"
            (part / f"{stem}.json").write_text(_spec(question) + "\n", encoding="utf-8")
            with (part / f"{stem}.jsonl").open("w", encoding="utf-8", newline="\n") as file:
                for report, n in store.bag(question.name):
                    file.writelines([_line(question, report)] * n)
            commands.append(f"bipartite estimate {folder / stem}.jsonl --spec {folder / stem}.json")
        with naming(part):
            part.rename(folder)
    print(*map(escaped, commands), sep="\n")
    return OK


def run_close(options: argparse.Namespace) -> int:
    """End a study."""
    with _opened(options) as store:
        store.close_study()
        name, held = escaped(store.study.name), how_many(sum(store.counted().values()), "report")
    print(f"{name} is closed with {held}: it takes no more, its keys are forgotten, and its database is written anew.")
    print("Backups of before still hold the keys; delete them when you need them no more.")
    return OK


def run_check(options: argparse.Namespace) -> int:
    """Check whether everything adds up."""
    with _opened(options) as store:
        found, reports = store.check(), sum(store.counted().values())
    if options.json:
        print_json(PrintedCheck(sound=not found, reports=reports, findings=found))
    elif found:
        print(*map(escaped, found), sep="\n")
    else:
        print(f"{escaped(store.study.name)} adds up: {how_many(reports, 'report')}.")
    return FINDING if found else OK


def run_backup(options: argparse.Namespace) -> int:
    """Copy everything into a new SQLite file."""
    with _opened(options) as store:
        store.backup(options.copy)
    options.database = str(options.copy)
    with _opened(options) as copy:
        held, found = how_many(sum(copy.counted().values()), "report"), copy.check()
    sound = f"{escaped(options.copy.name)}: {held}, and everything adds up. What comes from now on is not in it."
    print(*map(escaped, found) if found else [sound], sep="\n")
    return FINDING if found else OK


def _need_libraries() -> None:
    """Refuse at once, and not half-way, if a library of the extra is missing."""
    for library in _LIBRARIES:
        if importlib.util.find_spec(library) is None:
            raise missing_library(what="Collecting needs", library=library.replace("_", "-"), extra="collect")


def _where(options: argparse.Namespace) -> str | Path:
    """The database: the one that is named, or the file beside the study."""
    named: str | None = options.database
    if named is None:
        found: Path = options.file.with_suffix(".db")
        return found
    if not is_url(named) and Path(named).is_dir():
        raise InputError(f"Expected --database of a file or postgresql://…, got the folder {shown(str(Path(named)))}.")
    return named if is_url(named) else Path(named)


def _opened(options: argparse.Namespace) -> Store:
    """The store of a study that was begun; of a database that is named without its study, the only one there."""
    _need_libraries()
    from bipartite.collect.store import resume  # noqa: PLC0415 (loads what may be missing)

    if is_url(options.file):
        raise InputError("Expected the study's file; name a URL with --database.")
    study = unicodedata.normalize("NFC", options.file.stem) if options.file.suffix == ".toml" else None
    return resume(_where(options), study)


def _is_closed(store: Store) -> bool:
    from bipartite.collect.writer import utc_today  # noqa: PLC0415 (see _opened)

    return store.is_closed(utc_today())


def _again(options: argparse.Namespace, action: str) -> str:
    """The command for the same study; a URL is not repeated, since it may hold a password."""
    where = "" if options.database is None else f" --database {'…' if is_url(options.database) else options.database}"
    return escaped(f"bipartite collect {action} {options.file}{where}")


def _address(host: str, port: int) -> str:
    """Where a browser finds it: of all addresses of this machine, the one by which others see it."""
    if host in {"0.0.0.0", "::"}:  # noqa: S104 (it was asked for)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked, suppress(OSError):
            asked.connect(("192.0.2.1", 9))  # nobody's address; nothing is sent
            host = asked.getsockname()[0]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _line(question: Question, report: str) -> str:
    """A report as a line of JSON: of a record its parts, with null for those that were not drawn."""
    if not question.is_record:
        return f'{{"report":{report}}}\n'
    return json.dumps(dict.fromkeys(question.mechanisms) | json.loads(report), ensure_ascii=False) + "\n"


def _spec(question: Question) -> str:
    """What ``bipartite estimate`` takes as --spec: the spec, or of a record the description of its columns."""
    if not question.is_record:
        return question.parts[0].spec
    return Described(question.mechanisms, (), ("who took part, and how many",), sample=question.sample).to_json()
