"""What a release states in several places is the same in all of them, and what is installed to test it has a hash."""

import re
import tomllib
from pathlib import Path

import pytest

import bipartite
import environments

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def canonical(name):
    return re.sub("[-_.]+", "-", name).lower()


def pinned():
    """Name and hashes of every pin in constraints.txt."""
    entries = re.findall(
        r"^([A-Za-z0-9._-]+)==\S+((?: \\\n    --hash=sha256:[0-9a-f]{64})*)$", read("constraints.txt"), re.MULTILINE
    )
    return {canonical(name): hashes.count("--hash") for name, hashes in entries}


@pytest.mark.parametrize(
    ("place", "pattern"),
    [
        ("CHANGELOG.md", r"^## (\S+)"),
        ("CITATION.cff", r"^version: (\S+)$"),
        ("docs/install.md", r"^bipartite (\d+\.\d+\.\d+)$"),
        ("SECURITY.md", r"current version is (\d+\.\d+\.\d+)"),
    ],
)
def test_the_version_is_the_same_everywhere(place, pattern):
    found = re.search(pattern, read(place), re.MULTILINE)
    assert found
    assert found[1] == bipartite.__version__


def test_the_package_takes_its_version_from_where_it_is_written():
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/bipartite/_version.py"
    assert "release = version = __version__" in read("docs/conf.py")


def test_everything_that_is_pinned_has_hashes_but_torch():
    text = read("constraints.txt")
    pins = pinned()
    assert len(pins) == text.count("==")  # no line was overlooked
    assert [name for name, hashes in pins.items() if not hashes] == ["torch"]
    assert "://" not in text
    assert "--index" not in text


def test_everything_that_may_be_installed_is_pinned():
    groups = [item for group in PROJECT["dependency-groups"].values() for item in group]
    extras = [item for extra in PROJECT["project"]["optional-dependencies"].values() for item in extra]
    named = groups + extras + PROJECT["project"]["dependencies"] + PROJECT["build-system"]["requires"] + ["pip"]
    names = {canonical(re.split(r"[\[<>=~! ;]", item)[0]) for item in named} - {"bipartite"}
    assert names - set(pinned()) == set()


def test_every_python_that_is_claimed_has_a_row_of_results():
    rows = [line.split(" | ") for line in read("bench/results/versions.md").splitlines() if line.startswith("| `")]
    assert {row[0].strip("|` ") for row in rows} <= set(environments.COMBINATIONS)
    tested = {re.match(r"\d+\.\d+", row[1])[0] for row in rows}
    claimed = {item.rpartition(" ")[2] for item in PROJECT["project"]["classifiers"] if ":: Python :: 3." in item}
    assert claimed <= tested
    assert [test for test in environments.TESTS if not (ROOT / test).exists()] == []
    assert set(environments.PROMISES) == {"", *PROJECT["project"]["optional-dependencies"]}


def test_the_laboratory_is_in_the_source_distribution_and_not_in_the_wheel():
    targets = PROJECT["tool"]["hatch"]["build"]["targets"]
    assert "reproduction" in targets["sdist"]["include"]
    assert targets["wheel"] == {"packages": ["src/bipartite"]}
