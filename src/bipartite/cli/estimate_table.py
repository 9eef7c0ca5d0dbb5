"""``bipartite estimate`` of a released table, which says itself what its reports were made with."""

from __future__ import annotations

import csv
import io
import re
import sys
from html import escape
from typing import TYPE_CHECKING, Any, Final

from bipartite import __version__
from bipartite.cli.arguments import describes_mechanism
from bipartite.cli.columns import SPOKEN, STDIN
from bipartite.cli.estimate_output import as_csv, as_json, show, warn
from bipartite.cli.output import OK, Progress, print_json
from bipartite.cli.pages import whole_page
from bipartite.domains import LineDomain
from bipartite.errors import DataFileError, InputError
from bipartite.files import write_whole
from bipartite.mechanisms.spec import spec_sha256
from bipartite.tables.answering import carried_by_all, estimate_file
from bipartite.tables.domain_files import read_text
from bipartite.tables.metadata import Described

if TYPE_CHECKING:
    import argparse

    from bipartite.answers.estimation import Counts, Estimate
    from bipartite.tables.answering import Answers

_RELEASE: Final = re.compile(r'"bipartite_release"\s*:')
"""A key that no spec has; within a label its quotes would be escaped."""


def release_of(options: argparse.Namespace) -> Described | None:
    """The release that the reports belong to, where --spec names its description or the files carry it."""
    if options.spec is not None:
        held = read_text(options.spec)
        return Described.from_json(held) if _RELEASE.search(held) else None
    if not options.files or STDIN in options.files or options.counts or describes_mechanism(options):
        return None
    return carried_by_all(options.files)


def run(options: argparse.Namespace, release: Described, confidence: float) -> int:
    """Estimate every private column of a released table, or the one that is asked for."""
    if options.plot is not None and options.column is None:
        msg = "--plot draws one column; name it with --column, or use --html for all of them."
        raise InputError(msg)
    with Progress("steps", None, patience=2.0) as progress:
        answers = estimate_file(
            options.files,
            release=release,
            by=options.by,
            columns=None if options.column is None else [options.column],
            method=options.method,
            of_sample=options.of_sample,
            progress=lambda _: progress.advance(1),
        )
    _mention(answers, options.nulls)
    return write(answers, options, confidence)


def write(answers: Answers, options: argparse.Namespace, confidence: float, counts: Counts | None = None) -> int:
    """Write and print the answers; everything is computed before anything is written."""
    first = options.files[0]
    page = None if options.html is None else _page(answers, confidence, SPOKEN if first == STDIN else first.name)
    table = None if options.csv is None else _table(answers, confidence)
    picture = None if options.plot is None else answers.estimates(options.column).plot(confidence=confidence)
    described = _described(answers, confidence) if options.json else None
    saved = None if counts is None else counts.to_json() + "\n"
    for path, content in ((options.save_counts, saved), (options.html, page), (options.csv, table)):
        if path is not None and content is not None:
            write_whole(path, content)
    if picture is not None:
        write_whole(options.plot, picture + "\n")
    if described is not None:
        for name, groups in answers.columns.items():
            warn(groups, f"column {name!r}")
        print_json(described)
    else:
        _show(answers, confidence)
    return OK


def _mention(answers: Answers, nulls: str) -> None:
    for name, count in answers.unreported.items():
        if count and nulls == "error":
            msg = f"column {name!r}: {count:,} rows have no report; use --nulls drop to leave them out."
            raise DataFileError(msg)
        if count:
            print(f"bipartite: column {name!r}: {count:,} rows without a report were left out.", file=sys.stderr)


def _doubted(groups: dict[str | None, Estimate]) -> bool:
    return any(each.doubt for each in groups.values())


def _guarantee(answers: Answers) -> str:
    """What the release promises; nothing where its reports cannot be what it says."""
    doubted = [repr(name) for name, groups in answers.columns.items() if _doubted(groups)]
    if not doubted:
        return answers.about.guarantee
    return f"no ε is claimed: the reports of {', '.join(doubted)} cannot have come from the mechanism of the release"


def _described(answers: Answers, confidence: float) -> dict[str, Any]:
    about = answers.about
    return {
        "guarantee": _guarantee(answers),
        "epsilon": None if any(map(_doubted, answers.columns.values())) else about.epsilon_text,
        "insecure": about.insecure,
        "publishes": list(about.publishes),
        "confidence": confidence,
        "by": answers.by,
        "columns": [
            {
                "name": name,
                "spec_sha256": spec_sha256(about.mechanisms[name]),
                "unreported": answers.unreported[name],
                "estimates": [{"group": label, **as_json(each, confidence)} for label, each in groups.items()],
            }
            for name, groups in answers.columns.items()
        ],
    }


def _table(answers: Answers, confidence: float) -> str:
    """The CSV of every column below each other, with its name in front."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    for number, (name, groups) in enumerate(answers.columns.items()):
        rows = list(csv.reader(io.StringIO(as_csv(groups, confidence, grouped=answers.by is not None))))
        if not number:
            writer.writerow(["column", *rows[0]])
        writer.writerows([name, *row] for row in rows[1:])
    return written.getvalue()


def _show(answers: Answers, confidence: float) -> None:
    print(f"{_guarantee(answers)}.")
    for name, groups in answers.columns.items():
        print(f"\n{name}")
        show(groups, confidence)


def _page(answers: Answers, confidence: float, title: str) -> str:
    about = answers.about
    parts = [
        f"<h1>{escape(title)}</h1>",
        "<p class='lead'>What the people in this table are like, from their reports alone.</p>",
        f"<p>{escape(_guarantee(answers))}. Each interval has a confidence of {100 * confidence:g}&nbsp;%.</p>",
    ]
    for name, groups in answers.columns.items():
        parts.append(f"<h2>{escape(name)}</h2>")
        promised = "" if _doubted(groups) else f"{escape(about.guarantee_of(name))}."
        parts.append(f"<p>{promised}{_left_out(answers, name)}</p>")
        parts += [f"<p><strong>{escape(each.doubt)}</strong></p>" for each in groups.values() if each.doubt]
        parts.append(str(answers.estimates(name).plot(confidence=confidence)))
        parts.append(_numbers(groups, confidence))
    parts += [
        "<h2>Published beside it</h2>",
        "<p>No ε covers the following:</p>",
        "<ul>" + "".join(f"<li>{escape(each)}</li>" for each in about.publishes) + "</ul>",
        f"<footer>Written by bipartite {__version__} from counts of the reports.</footer>",
    ]
    return whole_page(title, parts)


def _left_out(answers: Answers, name: str) -> str:
    count = answers.unreported[name]
    return f" {count:,} rows without a report were left out." if count else ""


def _numbers(groups: dict[str | None, Estimate], confidence: float) -> str:
    """A table of means and medians where values lie on a line."""
    if not isinstance(next(iter(groups.values())).mechanism.domain, LineDomain):
        return ""
    rows = []
    for label, each in groups.items():
        cells = ["all" if label is None else label, f"{each.people:,}"]
        for of, value in (("mean", each.mean), ("median", each.median)):
            ends = each.interval(confidence, of=of)
            cells += [f"{value:,.6g}", f"{ends.low:,.6g} to {ends.high:,.6g}"]
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{each}</th>" for each in ("group", "people", "mean", "interval", "median", "interval"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
