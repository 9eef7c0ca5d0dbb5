"""The fixture of every command."""

import io

import pytest

from bipartite.cli import main


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command; return (exit code, stdout, stderr)."""

    def runner(*arguments, stdin=""):
        given = io.TextIOWrapper(io.BytesIO(stdin)) if isinstance(stdin, bytes) else io.StringIO(stdin)
        monkeypatch.setattr("sys.stdin", given)
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return runner
