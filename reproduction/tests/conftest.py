"""The fixture of every command of the laboratory."""

import io

import pytest

from bipartite.cli import main
from reproduction.__main__ import LABORATORY


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command; return (exit code, stdout, stderr)."""

    def runner(*arguments, stdin=""):
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        try:
            code = main([str(argument) for argument in arguments], LABORATORY)
        except SystemExit as stop:
            code = stop.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return runner
