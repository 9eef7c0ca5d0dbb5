"""A program with commands, each in its own module, which is imported when it is used."""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NoReturn

from bipartite._version import __version__
from bipartite.cli import former
from bipartite.errors import InputError
from bipartite.names import nearest_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Parameters that do not correspond to a single option.
_SPOKEN: Final = {"release": "--spec", "reject": "--reject", "seed": "--insecure-seed"}


class _Once(argparse.Action):
    """Stores a value and refuses a second one; argparse would silently keep the last."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Store the value of a positional argument, or of an option given for the first time."""
        given: frozenset[str] = getattr(namespace, "given", frozenset())
        if option_string is not None and self.dest in given:
            parser.error(f"{self.option_strings[0]} is given twice; give it once.")
        namespace.given = given | {self.dest}
        setattr(namespace, self.dest, values)


class Command(argparse.ArgumentParser):
    """A parser that keeps the line breaks of its examples, and refuses an option that is given twice or is gone.

    The parsed options hold it as ``parsed_by``: the innermost parser, if a command has actions.
    """

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 (argparse's own)
        # Abbreviations would change their meaning whenever an option is added.
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **settings)
        self.register("action", None, _Once)  # the default action
        self.set_defaults(parsed_by=self)
        # A domain may begin with a minus sign: -5..5 is no option.
        self._negative_number_matcher = re.compile(r"-[0-9]")
        self.implicit: tuple[str, str] | None = None
        """The action that may be left out, before an option or a file with this ending."""

    @property
    def flags(self) -> dict[str, str]:
        """The option of each destination."""
        return {each.dest: each.option_strings[0] for each in self._actions if each.option_strings}

    def parse_known_args(  # type: ignore[override]  # argparse's own has overloads
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse as argparse does, after an option of before has named its successor; refuse what this command lacks."""
        args = sys.argv[1:] if args is None else list(args)
        if self.implicit is not None and args:
            action, ending = self.implicit
            if args[0].endswith(ending) or (args[0].startswith("--") and args[0] != "--help"):
                args = [action, *args]
        program, *words = self.prog.split()
        gone = former.FLAGS.get(words[0], {}) if program == "bipartite" and words else {}
        for word in args or () if self._subparsers is None else ():
            flag = word.partition("=")[0]
            if flag in gone and flag not in self._option_string_actions:
                self.error(f"{flag} is gone: {gone[flag]}.")
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:  # the outer parser would show its own usage, not that of the command
            name = unknown[0].partition("=")[0].lstrip("-")
            near = nearest_name(name, (flag.removeprefix("--") for flag in self._option_string_actions))
            meant = f" (did you mean --{near}?)" if near else f"; its options: {self.prog} --help"
            self.error(f"unrecognized arguments: {' '.join(unknown)}{meant}")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        """Refuse the arguments; the password of a URL among them is not repeated."""
        super().error(re.sub(r"(://[^:/@\s]*):[^@\s]*@", r"\1:…@", message))

    def in_flags(self, message: str) -> str:
        """Reword a message of the library for the command line, where parameters are options.

        >>> command = Command()
        >>> _ = command.add_argument("--to", dest="output_format")
        >>> command.in_flags("use output_format='csv', or reject=.")
        "use --to 'csv', or --reject."
        >>> command.in_flags("Expected output_format as a word.")
        'Expected --to as a word.'
        """
        flags = _SPOKEN | self.flags
        names = "|".join(map(re.escape, flags))
        # Calls are Python code and stay as they are; so does anything that looks like a parameter inside a path.
        call, given = r"\w\((?:[^()]|\([^()]*\))*\)", rf"(?<![\w/.-])({names})=(True\b)?(?=(\w|'|-)?)"
        pattern = rf"{call}|{given}|(?<=Expected )({names})(?= as )"

        def flag(found: re.Match[str]) -> str:
            if found[4] is not None:
                return flags[found[4]]
            return found[0] if found[1] is None else flags[found[1]] + (" " if found[3] else "")

        return re.sub(pattern, flag, message)


def refuse_given(options: argparse.Namespace, names: Sequence[str], why: str) -> None:
    """Refuse options that make no sense here, by their destinations."""
    flags: dict[str, str] = options.parsed_by.flags
    given = [flags[name] for name in names if not any(getattr(options, name) is absent for absent in (None, False))]
    if given:
        raise InputError(f"{why}; leave out {', '.join(given)}.")


@dataclass(frozen=True)
class Program:
    """A program: its name and its commands."""

    name: str
    description: str
    home: str
    """The package of the commands: modules with ``configure(parser)``, ``run(options)`` and ``EXAMPLES``, if any."""
    commands: Mapping[str, str]
    """One line about each command."""
    former: Mapping[str, str] = field(default_factory=dict)
    """Commands of before, and what to run in their place."""

    def parser(self, command: str | None = None) -> argparse.ArgumentParser:
        """The parser of the whole program; if one command is named, the others are only listed."""
        parser = argparse.ArgumentParser(
            prog=self.name,
            description=self.description,
            epilog="Exit codes: 0 ok, 1 a finding (a promise that does not hold), 2 usage, 3 bad data, "
            "4 missing data or library, 5 a full disk, 70 a bug in bipartite, 128 + n stopped by signal n (130: "
            "interrupted).",
        )
        parser.add_argument("--version", action="version", version=f"bipartite {__version__}")
        named = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=Command)
        for name, what in self.commands.items():
            added = named.add_parser(name, help=what)
            if command in {None, name}:
                module = importlib.import_module(f"{self.home}.{name}")
                added.epilog = getattr(module, "EXAMPLES", None)
                added.set_defaults(run=getattr(module, "run", None))
                module.configure(added)
        return parser


BIPARTITE: Final = Program(
    "bipartite",
    "Local differential privacy for values with neighbours. To begin: bipartite demo; for a table: bipartite plan "
    "--help; for devices: bipartite design --help.",
    "bipartite.cli",
    {
        "design": "choose or build a mechanism, compare all, or ask how many people are needed",
        "plan": "write, check or show how each column of a table is released",
        "privatize": "turn a table, or values one a line, into reports",
        "estimate": "estimate means, medians and shares from reports",
        "verify": "prove the ε of a mechanism exactly",
        "audit": "bound the real ε of any command or mechanism from its reports",
        "explain": "what ε means, in words and odds",
        "collect": "ask people a study's questions on their own devices; show, export, close, check, back up",
        "ledger": "show, export, check or back up who has spent what",
        "demo": "the whole workflow on made-up people",
        "completion": "print the completion script of your shell",
    },
    former.COMMANDS,
)
