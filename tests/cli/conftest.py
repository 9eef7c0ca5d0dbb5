"""The fixture of every command."""

import io

import pytest


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command; return (exit code, stdout, stderr)."""

    # Not at the top: a submodule that is imported before the public name `verify` takes its place in the package.
    from bipartite.cli import main

    def runner(*arguments, stdin=""):
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return runner
