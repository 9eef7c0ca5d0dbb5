"""A program with commands, each in a module of its own that is loaded when it is used."""

from __future__ import annotations

import argparse
import importlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from bipartite._version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

# Parameters that no single option of a command stands for.
_SPOKEN: Final = {"release": "--spec, or a domain and --epsilon", "reject": "--reject", "seed": "--insecure-seed"}


class _Once(argparse.Action):
    """Stores a value; the last of several would win, and nobody would know."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Store the value of an argument, or of an option that is given for the first time."""
        given: frozenset[str] = getattr(namespace, "given", frozenset())
        if option_string is not None and self.dest in given:
            parser.error(f"{self.option_strings[0]} is given twice; give it once.")
        namespace.given = given | {self.dest}
        setattr(namespace, self.dest, values)


class Command(argparse.ArgumentParser):
    """A parser that keeps the line breaks of its examples, and refuses an option that is given twice.

    What it parses has it as ``parsed_by``: the innermost one, where a command has actions.
    """

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 (argparse's own)
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **settings)
        self.register("action", None, _Once)  # what is stored where nothing else is said
        self.set_defaults(parsed_by=self)

    def in_flags(self, message: str) -> str:
        """A message of the library as this command would say it: its parameters are options here.

        >>> command = Command()
        >>> _ = command.add_argument("--to", dest="output_format")
        >>> command.in_flags("use output_format='csv', or reject=.")
        "use --to 'csv', or --reject."
        >>> command.in_flags("Expected output_format as a word.")
        'Expected --to as a word.'
        """
        flags = _SPOKEN | {each.dest: each.option_strings[0] for each in self._actions if each.option_strings}
        names = "|".join(map(re.escape, flags))
        # A call is Python's, with its own arguments; and what looks alike within a path is none of ours.
        call, given = r"\w\((?:[^()]|\([^()]*\))*\)", rf"(?<![\w/.-])({names})=(True\b)?(?=(\w|'|-)?)"
        pattern = rf"{call}|{given}|(?<=Expected )({names})(?= as )"

        def flag(found: re.Match[str]) -> str:
            if found[4] is not None:
                return flags[found[4]]
            return found[0] if found[1] is None else flags[found[1]] + (" " if found[3] else "")

        return re.sub(pattern, flag, message)


@dataclass(frozen=True)
class Program:
    """What is called by one name."""

    name: str
    description: str
    home: str
    """The package that holds a module for each command, with ``configure(parser)``."""
    commands: Mapping[str, str]
    """What each command does, in a line."""
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """How commands are called that are another program's."""

    def parser(self, command: str | None = None) -> argparse.ArgumentParser:
        """The whole command line; or, where one command is named, what that needs, and of the others their names."""
        parser = argparse.ArgumentParser(
            prog=self.name,
            description=self.description,
            epilog="Exit codes: 0 ok, 1 a finding (a promise that does not hold), 2 usage, 3 bad data, "
            "4 missing data or extra, 70 a bug of bipartite, 128 + n stopped by signal n (130: interrupted).",
        )
        parser.add_argument("--version", action="version", version=f"bipartite {__version__}")
        named = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=Command)
        for name, what in self.commands.items():
            added = named.add_parser(name, help=what)
            if command in {None, name}:
                importlib.import_module(f"{self.home}.{name.replace('-', '_')}").configure(added)
        return parser


BIPARTITE: Final = Program(
    "bipartite",
    "Local differential privacy for values that have neighbours.",
    "bipartite.cli",
    {
        "compare": "every mechanism side by side, and which to take",
        "sample-size": "how many people are needed for an answer",
        "design": "build a mechanism and show what a report is worth",
        "report": "private values on stdin, reports on stdout",
        "plan": "what each column of a table may become",
        "privatize": "a table in, the reports of its rows out",
        "estimate": "what the people are like, from their reports",
        "verify": "prove ε exactly from the tickets",
        "audit": "bound the real ε of any command or mechanism from its reports",
        "explain": "what ε means, in words and odds",
        "locations": "places: a release, and maps",
        "ledger": "who has spent what: show, export, check, backup",
        "demo": "a million people answer three questions",
        "completion": "completion for your shell",
    },
    {"datasets": "python -m reproduction datasets", "reproduce": "python -m reproduction run"},
)
