"""``bipartite audit``: bound the real ε of a mechanism, or of an untrusted command, from its reports."""

from __future__ import annotations

import json
import math
import shlex
import subprocess
import threading
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, TypedDict

from bipartite.cli.output import FINDING, NUMBER, OK, Progress, announce, print_json, printed
from bipartite.cli.program import refuse_given
from bipartite.errors import DataError, DataFileError, InputError
from bipartite.mechanisms.spec import load_spec
from bipartite.tables.domain_files import read_text
from bipartite.verification import audit
from bipartite.verification.audit import EventCounts

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism
    from bipartite.verification import Audit

_LINES: Final = 2**12  # written to a command at a time
# Seconds per report, roughly: of a mechanism, and of a command that is started for each.
_DRAWN: Final = 1e-6
_STARTED: Final = 0.01
_ABOUT = """The command reads one value per line and answers each with one line: a number, a word, or a
vector as JSON, [0, 1, 1]. It runs once per input, with all trials; with --each once per trial.
The bound is one-sided: with the stated confidence, ε is at least that large. A small bound proves
nothing. The exit code is 1 if the claimed ε is refuted.
"""
EXAMPLES: Final = """examples:
  bipartite audit --command "python client.py" --epsilon 1 --inputs 18 90 --trials 100000
  bipartite audit age.json --inputs 18 90 --trials 1000000
"""


class PrintedAudit(TypedDict):
    """The verdict on a claim; without a claim, epsilon and holds are null."""

    verdict: str
    holds: bool | None
    epsilon: float | None
    epsilon_lower: float
    confidence: float
    inputs: list[int | float | str]
    event: str
    counts: EventCounts
    trials: int
    searched: int


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.usage = "%(prog)s (SPEC.json | --command 'PROGRAM …' [--epsilon E]) --inputs X Y [options]"
    parser.description = _ABOUT
    add = parser.add_argument
    add("spec", metavar="SPEC.json", type=Path, nargs="?", help="the spec of a mechanism, audited against its tickets")
    add("--command", metavar="'PROGRAM …'", help="a program that reads values and writes reports")
    add("--epsilon", metavar="E", help="the ε that the program claims")
    add("--inputs", metavar="X", nargs="+", required=True, help="two or more values to tell apart")
    add("--trials", metavar="N", type=int, default=100_000, help="reports per input (default: 100000)")
    add("--confidence", metavar="C", type=float, default=0.99, help="confidence of the bound (default: 0.99)")
    add("--bins", metavar="N", type=int, help="sort numbers into this many ranges")
    add("--each", action="store_true", help="start the command again for every report")
    add("--json", action="store_true", help="print one JSON object (schemas/audit.json)")


def run(options: argparse.Namespace) -> int:
    """Audit a command or a mechanism."""
    if (options.spec is None) == (options.command is None):
        raise InputError("Expected one of SPEC.json and --command; for example audit age.json --inputs 18 90.")
    settings = {"trials": options.trials, "confidence": options.confidence, "bins": options.bins}
    reports = options.trials * len(options.inputs)
    announce("this audit", reports * (_STARTED if options.each else _DRAWN))
    with Progress("reports", reports) as progress:
        audited = _audit_mechanism if options.command is None else _audit_command
        found = audited(options, settings, progress)
    if options.json:
        inputs = [each if isinstance(each, int | float) else str(each) for each in found.inputs]
        print_json(printed(PrintedAudit, found, inputs=inputs, event=found.event.description))
    else:
        print(found)
    return FINDING if found.holds is False else OK


def _audit_mechanism(options: argparse.Namespace, settings: dict[str, Any], progress: Progress) -> Audit:
    refuse_given(options, ("each", "epsilon"), "--each and --epsilon are for --command")
    mechanism = load_spec(read_text(options.spec))
    inputs = [_value_of(mechanism, text) for text in options.inputs]
    return audit(mechanism, inputs, progress=progress.advance, **settings)


def _audit_command(options: argparse.Namespace, settings: dict[str, Any], progress: Progress) -> Audit:
    claimed = None if options.epsilon is None else _claimed(options.epsilon)
    drawn: dict[str, Iterator[Any]] = {}

    def sampler(values: NDArray[Any]) -> list[Any]:  # all equal
        text = str(values[0])
        if text not in drawn:
            # One run for all trials: a command that seeds itself must not repeat its reports within a sample.
            reports = _reports_of(options.command, text, options.trials, progress.advance, each=options.each)
            drawn[text] = iter(reports)
        return list(islice(drawn[text], len(values)))

    return audit(sampler, options.inputs, epsilon=claimed, **settings)


def _claimed(text: str) -> float:
    if not NUMBER.fullmatch(text) or not 0 <= float(text) < math.inf:
        raise InputError(
            f"Expected --epsilon, the claimed ε, as a number of at least 0, got {text!r}; try --epsilon 1."
        )
    return float(text)


def _value_of(mechanism: Mechanism, text: str) -> object:
    """A value of the domain; the inputs of an audit are public, so errors may show them."""
    labels = mechanism.domain.labels
    if labels is not None:
        named = {str(label): label for label in labels}
        if text in named:
            return named[text]
    else:
        with suppress(ValueError, DataError):
            value = int(text) if mechanism.domain.whole else float(text)
            mechanism.domain.encode(value)
            return value
    raise DataFileError(f"Expected --inputs in the domain, got {text!r}; choose other values.")


def _reports_of(command: str, value: str, trials: int, progress: Callable[[int], None], *, each: bool) -> list[Any]:
    """Draw all reports of one value; with ``each``, the command is started for every one."""
    arguments = _split(command)
    runs, lines = (trials, 1) if each else (1, trials)
    return [report for _ in range(runs) for report in _run(arguments, value, lines, progress)]


def _split(command: str) -> list[str]:
    try:
        arguments = shlex.split(command)
    except ValueError:
        arguments = []
    if not arguments:
        raise InputError(
            f"Expected --command as a program with its arguments, got {command!r}; try 'python client.py'."
        )
    return arguments


def _run(arguments: list[str], value: str, lines: int, progress: Callable[[int], None]) -> list[Any]:
    """The reports of one run that reads this many equal lines."""
    reports: list[Any] = []
    # The auditor names the command; it runs with their rights and without a shell.
    with subprocess.Popen(  # noqa: S603
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", errors="replace"
    ) as process:
        writer = threading.Thread(target=_feed, args=(process.stdin, value, lines))
        writer.start()
        try:
            for line in process.stdout or ():
                reports.append(_report(line))
                if len(reports) > lines:
                    break
                if len(reports) % _LINES == 0 or len(reports) == lines:
                    progress((len(reports) - 1) % _LINES + 1)
        finally:
            if len(reports) > lines:
                process.kill()
            writer.join()
    if len(reports) > lines:
        raise DataFileError(
            f"the command wrote more than the {lines} lines that it read; it must answer each line with one line."
        )
    if process.returncode:
        raise DataFileError(
            f"the command failed with exit code {process.returncode}; run it by hand with one line to see why."
        )
    if len(reports) < lines:
        raise DataFileError(
            f"the command read {lines} lines and wrote {len(reports)}; it must answer each line with one line."
        )
    return reports


def _feed(pipe: IO[str], value: str, lines: int) -> None:
    try:
        with pipe:
            for start in range(0, lines, _LINES):
                pipe.write(f"{value}\n" * min(_LINES, lines - start))
    except OSError:
        """The command ended before it had read everything; what it wrote shows whether that matters."""


def _report(line: str) -> float | str | tuple[object, ...]:
    """A report as a number, a vector, or text."""
    text = line.strip()
    if text.startswith("["):
        with suppress(ValueError, RecursionError):
            return tuple(json.loads(text))
    for read in (int, float):
        with suppress(ValueError):
            return read(text)
    return text
