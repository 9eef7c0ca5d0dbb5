"""Run the tests under one combination of versions and print its row of bench/results/versions.md.

`python tools/environments.py 3.12-newest` wants a `python3.12`. A combination is a Python and a rule: `oldest` is the
lowest version of every dependency and extra that pyproject.toml allows, `pinned` is constraints.txt, `newest` what the
registry has today, `numpy-1.26` is the newest of everything else that goes with NumPy 1.26. torch is always the one in
constraints.txt.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMBINATIONS = [
    "3.11-oldest", "3.11-numpy-1.26", "3.11-newest", "3.12-numpy-1.26", "3.12-newest", "3.13-pinned",
    "3.13-newest",
]  # fmt: skip
# The Pythons for which a build of torch without a GPU's libraries is at hand.
WITH_TORCH = ["3.11"]
NEED_TORCH = [
    "tests/learn/gradients", "tests/learn/test_network.py",
    "tests/test_package.py::test_public_names_stay_themselves_whatever_is_imported_first",  # imports every module
]  # fmt: skip
# Spark brings a Java of its own choosing: docs/spark.md says what it was tested with.
EXTRAS = ["fast", "optimum", "completion", "png", "boosting", "learn", "tables"]
SPARK = "tests/tables/test_spark*"
# Containers that people bring are no extra; these are the oldest that are tested.
OLDEST_CONTAINERS = ["pandas==2.2", "polars==1.20"]
TOOLS = ["pytest", "pytest-xdist", "hypothesis", "sybil", "jsonschema", "mpmath", "rfc8785", "fsspec", "pooch"]
# What touches other people's code; the laws of mechanisms and the coverage of intervals do not depend on versions.
TESTS = [
    "tests/lottery", "tests/domains", "tests/mechanisms", "tests/answers/estimation/test_estimate.py",
    "tests/answers/estimation/test_em.py", "tests/plots", "tests/ledger/test_files.py", "tests/tables", "tests/learn",
    "tests/cli/test_commands.py", "tests/cli/test_tables.py", "tests/test_package.py",
    "reproduction/tests/datasets/test_fetching.py",
]  # fmt: skip
SHOWN = [
    "numpy", "cryptography", "numba", "scipy", "scikit-learn", "dp-accounting", "torch", "duckdb", "pyarrow", "pandas",
    "polars", "pooch", "resvg_py", "shtab",
]  # fmt: skip


def run(*command: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    """A command of our own making, in the root of the repository, with one thread for linear algebra."""
    threads = dict.fromkeys(["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"], "1")
    return subprocess.run(command, cwd=ROOT, env=os.environ | threads, stdout=subprocess.PIPE, text=True, check=check)  # noqa: S603


def requirements(rule: str) -> list[str]:
    """What is installed under a rule, without torch."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [item for extra in EXTRAS for item in project["optional-dependencies"][extra]]
    bounds = {item for item in project["dependencies"] + extras if not item.startswith(("bipartite[", "torch"))}
    if rule == "oldest":
        return [bound.replace(">=", "==") for bound in sorted(bounds)] + OLDEST_CONTAINERS
    names = [bound.split(">=")[0] for bound in sorted(bounds)] + ["pandas", "polars"]
    # pyarrow 26 refuses to load beside NumPy 1 but does not say so in its metadata.
    return [*names, "numpy==1.26.*", "pyarrow<26"] if rule == "numpy-1.26" else names


def main() -> None:
    """Make the environment where it is not there yet, run the tests, print the row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("combination", choices=COMBINATIONS)
    parser.add_argument("tests", nargs="*", default=TESTS, help="tests to run, instead of those that matter here")
    given = parser.parse_args()
    version, _, rule = given.combination.partition("-")
    venv = ROOT / f".venv-{given.combination}"
    python = venv / "bin" / "python"
    if not venv.exists():
        run(f"python{version}", "-m", "venv", venv)
    install = (python, "-m", "pip", "--quiet", "install", "--upgrade", "--only-binary", ":all:")
    pins = ["--no-require-hashes", "--constraint", "constraints.txt"]
    run(*install, *re.findall("^pip==[0-9.]+", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE))
    run(*install, *TOOLS, *pins)
    run(*install, *requirements(rule), *(pins if rule == "pinned" else []))
    if version in WITH_TORCH:
        run(*install, "torch", *pins)
    run(*install, "--no-deps", "--editable", ".")
    left_out = [SPARK] if version in WITH_TORCH else [SPARK, *NEED_TORCH]
    options = [f"{option}={test}" for option in ("--ignore-glob", "--deselect") for test in left_out]
    tested = run(python, "-m", "pytest", "-q", "-n", "0", *given.tests, *options, check=False)
    print(tested.stdout)
    result = re.findall(r"^=*\s*(\d+ (?:passed|failed|error|skipped).*) in [0-9.]+s", tested.stdout, re.MULTILINE)[-1]
    versions = dict(
        line.split("==") for line in run(python, "-m", "pip", "list", "--format=freeze").stdout.splitlines()
    )
    packages = ", ".join(f"{name} {versions[name]}" for name in SHOWN if name in versions)
    exact = run(python, "--version").stdout.split()[1]
    commit = run("git", "rev-parse", "--short", "HEAD").stdout.strip()
    today = dt.datetime.now(tz=dt.UTC).date()
    print(f"| `{given.combination}` | {exact} | {packages} | {result} | {today}, {commit} |")
    sys.exit(tested.returncode)


if __name__ == "__main__":
    main()
