"""The laboratory as others get it: its container, and what an install brings."""

import ast
import json
import re
import shlex
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from reproduction.__main__ import LABORATORY

ROOT = Path(__file__).parents[2]
CONTAINER = (ROOT / "reproduction" / "Containerfile").read_text(encoding="utf-8")
STEPS = [line.split(maxsplit=1) for line in CONTAINER.splitlines() if line and not line.startswith("#")]


def accepted(words):
    return LABORATORY.parser(words[0]).parse_args(words)


def test_what_the_container_copies_is_in_the_repository():
    copied = [shlex.split(rest)[1:-1] for step, rest in STEPS if step == "COPY"]
    assert len(copied) == 3
    assert [path for paths in copied for path in paths if not (ROOT / path).exists()] == []


def test_the_container_runs_a_stamp_of_the_makefile_and_ends_with_commands_that_there_are():
    said = dict(STEPS)  # the last of each kind
    (stamp,) = re.findall(r"make \.venv/stamps/(\w+)$", said["RUN"])
    assert f"$(STAMPS)/{stamp}:" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert json.loads(said["ENTRYPOINT"])[1:] == ["-m", "reproduction"]
    assert json.loads(said["ENTRYPOINT"])[0] == f"{said['WORKDIR']}/.venv/bin/python"
    assert accepted(json.loads(said["CMD"])).quick
    assert said["ENV"] == f"BIPARTITE_DATA={said['VOLUME']}"
    shown = [shlex.split(line) for line in re.findall(r" laboratory (.+?); docker cp", CONTAINER)]
    assert [words[0] for words in shown] == ["render", "run"]
    for words in shown:
        accepted(words)
    assert (
        accepted(shown[0]).folder == Path("reproduction/results") and (ROOT / "reproduction/results/run.json").exists()
    )
    with pytest.raises(SystemExit):
        accepted(["render"])


def test_the_container_is_nobodys_root_and_names_no_registry():
    users = [step for step, rest in STEPS].index("USER")
    assert all("--chown=reviewer" in rest for step, rest in STEPS[users:] if step == "COPY")
    assert dict(STEPS)["USER"] == "reviewer"
    assert re.fullmatch(r"python:3\.\d+-slim", dict(STEPS)["FROM"])


def needs(file):
    return tomllib.loads((ROOT / file).read_text(encoding="utf-8"))["project"]


def closure(requirements, extras):
    """Names of what these need, through bipartite's extras."""
    for each in requirements:
        name, inner = re.match(r"([\w-]+)(?:\[([\w,]+)\])?", each).groups()
        yield name
        for extra in (inner or "").split(",") if name == "bipartite" else ():
            yield from closure(extras[extra], extras) if extra else ()


def test_every_library_that_the_laboratory_imports_is_one_of_its_dependencies():
    library = needs("pyproject.toml")
    stated = {*closure(needs("reproduction/pyproject.toml")["dependencies"], library["optional-dependencies"])}
    stated |= {*closure(library["dependencies"], {})}
    files = [path for path in (ROOT / "reproduction").rglob("*.py") if "tests" not in path.parts]
    imported = set()
    for node in (node for path in files for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))):
        names = [node.module] if isinstance(node, ast.ImportFrom) else []
        names += [each.name for each in node.names] if isinstance(node, ast.Import) else []
        imported |= {name.partition(".")[0] for name in names}
    imported -= {*sys.stdlib_module_names, "reproduction", "bipartite"}
    assert {"numpy", "torch", "sklearn"} <= imported
    home = packages_distributions()
    # requests comes with pooch, and raises what pooch raises.
    assert {name for name in imported if not stated & {each.lower() for each in home[name]}} == {"requests"}
