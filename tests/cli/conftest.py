"""The fixtures of every command."""

import io
import json
import os

import pytest

from bipartite.cli import main


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command; return (exit code, stdout, stderr)."""

    def runner(*arguments, stdin=""):
        held = io.BytesIO(stdin if isinstance(stdin, bytes) else stdin.encode())
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(held, encoding="utf-8", newline="\n"))
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return runner


@pytest.fixture
def piped(monkeypatch, capsys):
    """Run a command between two pipes, which hold little; return (exit code, bytes of stdout, stderr)."""

    def runner(*arguments, stdin=b"", encoding=None):
        (read, give), (take, write) = os.pipe(), os.pipe()
        with os.fdopen(give, "wb") as giving:
            giving.write(stdin)
        streams = os.fdopen(read, encoding=encoding), os.fdopen(write, "w", encoding=encoding)
        with streams[0], streams[1], monkeypatch.context() as patch:
            patch.setattr("sys.stdin", streams[0])
            patch.setattr("sys.stdout", streams[1])
            code = main([str(argument) for argument in arguments])
        with os.fdopen(take, "rb") as taken:
            return code, taken.read(), capsys.readouterr().err

    return runner


@pytest.fixture
def write(tmp_path):
    """Write a file, as text or bytes; return its path."""

    def writer(name, content):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path / name

    return writer


@pytest.fixture
def spec(write):
    """Write the spec of a mechanism; return its path."""
    return lambda mechanism, name="spec.json": write(name, json.dumps(mechanism.to_spec()))
