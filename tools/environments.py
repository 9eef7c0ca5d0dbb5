"""Run the tests under one combination of versions and print its row of bench/results/versions.md.

`python tools/environments.py 3.12-newest` wants a `python3.12`. A combination is a Python and a rule: `oldest` is the
lowest version of every dependency and extra that pyproject.toml allows, `pinned` is constraints.txt, `newest` what the
registry has today, `numpy-1.26` is the newest of everything else that goes with NumPy 1.26. torch is always the one in
constraints.txt.

`python tools/environments.py extras` installs each extra alone in a fresh environment, does what docs/install.md
promises of it, and prints a row for each; `extras tables spark` takes these two.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import re
import subprocess
import sys
import tempfile
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
    "tests/learn/gradients", "tests/learn/test_labels.py", "reproduction/tests/learning",
    "tests/test_package.py::test_public_names_stay_themselves_whatever_is_imported_first",  # imports every module
]  # fmt: skip
# Spark brings a Java of its own choosing: docs/spark.md says what it was tested with.
EXTRAS = ["fast", "completion", "plots", "boosting", "learn", "tables"]
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
    "polars", "pooch", "shtab",
]  # fmt: skip

# What docs/install.md promises of each extra, run where nothing but it is installed.
BEGIN = """
import runpy, subprocess, sys, numpy as np, bipartite as bp
from pathlib import Path
ages = np.random.default_rng(1).integers(18, 91, 20_000)
mechanism = bp.BRR(bp.Integers(18, 90), 1, edges="padded")
def command(*words):
    return subprocess.check_output([sys.executable, "-m", "bipartite", *words], text=True)
"""
PROMISES = {
    "": 'bp.estimate(mechanism, mechanism.privatize(ages)).plot(file="answer.svg"); bp.Optimal(bp.Integers(1, 9), 1)',
    "fast": "from bipartite.lottery.compiled import line_kernel; mechanism.privatize(ages)",
    "completion": 'assert "bipartite" in command("completion", "bash")',
    "plots": 'bp.estimate(mechanism, mechanism.privatize(ages)).plot().figure.savefig("answer.png")',
    "boosting": """
from bipartite.learn import PrivateBoostingRegressor, PrivateColumns, PrivateLabels
from sklearn.linear_model import LinearRegression
rows = np.column_stack([ages, ages % 7]).astype(float)
PrivateColumns({0: bp.Integers(18, 90), 1: (0, 7)}, epsilon=2).fit_transform(rows)
PrivateLabels(LinearRegression(), bp.Integers(18, 90), epsilon=1).fit(rows, ages)
PrivateBoostingRegressor(epsilon=1, feature_range=[(18, 90), (0, 7)], target_range=(18, 90)).fit(rows, ages)
""",
    "learn": """
import torch
from bipartite.learn import GaussianSGD, PrivateSGDClassifier
plan = GaussianSGD(epsilon=3, delta=1e-5, clip=1.0, steps=2, sampling_rate=0.25)
model = PrivateSGDClassifier(lambda: torch.nn.Linear(2, 2), plan, classes=range(2), people=100)
model.fit(np.ones((100, 2)), np.arange(100) % 2)
assert model.guarantee_.add_remove < 3
""",
    "tables": """
Path("people.csv").write_text("age\\n" + "\\n".join(map(str, ages)) + "\\n")
Path("plan.toml").write_text("[columns.age]\\ndomain = { integers = [18, 90] }\\nepsilon = 1\\nedges = 'padded'\\n")
command("privatize", "people.csv", "reports.parquet", "--plan", "plan.toml")
assert "mean" in command("estimate", "reports.parquet")
""",
    "postgres": """
from bipartite.errors import BipartiteError
try:
    bp.Ledger("postgresql://nobody@127.0.0.1:1/none", budget=1)
except BipartiteError as error:
    assert "cannot be reached" in str(error)
""",
    "collect": """
Path("readers.toml").write_text(
    'ends = 9999-12-31\\n[questions.age]\\nask = "Your age?"\\ndomain = {integers = [18, 90]}\\nepsilon = 1\\n'
)
from bipartite.collect.store import begin
from bipartite.collect.study import read_study
begin(Path("readers.db"), read_study(Path("readers.toml"))).close()
assert "Your age?" in command("collect", "show", "readers.toml")
from bipartite.collect.server import Collector
""",
    "spark": """
from pyspark.sql import SparkSession
example = runpy.run_path(sys.argv[1])
with SparkSession.builder.master("local[2]").config("spark.driver.host", "127.0.0.1").getOrCreate() as session:
    people = session.range(20_000).selectExpr("id", "int(18 + id % 73) AS age", "double(id) AS income")
    people.write.parquet("people")
    example["release"](session, "people", "reports")
""",
}


def run(
    *command: str | Path, check: bool = True, cwd: Path = ROOT, **settings: str
) -> subprocess.CompletedProcess[str]:
    """A command of our own making, with one thread for linear algebra."""
    threads = dict.fromkeys(["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"], "1")
    environment = os.environ | threads | settings
    return subprocess.run(command, cwd=cwd, env=environment, stdout=subprocess.PIPE, text=True, check=check)  # noqa: S603


def pin(name: str) -> list[str]:
    """The version of a package that is tested."""
    return re.findall(rf"^{name}==[0-9.]+", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)


def keeps_its_promise(extra: str) -> bool:
    """Install one extra alone, use it, and print its row."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        python = folder / "venv" / "bin" / "python"
        run(sys.executable, "-m", "venv", folder / "venv")
        install = (python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install")
        if extra == "learn":  # the newest torch brings gigabytes for GPUs
            run(*install, *pin("torch"))
        run(*install, f".[{extra}]" if extra else ".")
        code = BEGIN + PROMISES[extra]
        away = {"PYTHONPATH": "", "PYSPARK_PYTHON": str(python), "SPARK_LOCAL_IP": "127.0.0.1"}
        done = run(python, "-c", code, ROOT / "docs" / "spark_release.py", check=False, cwd=folder, **away)
        listed = run(python, "-m", "pip", "list", "--format=freeze").stdout.split()
        brought = ", ".join(each.replace("==", " ") for each in listed if not each.startswith(("pip=", "setuptools=")))
        print(f"| `{extra or 'none'}` | {brought} | {'works' if done.returncode == 0 else '**FAILS**'} |", flush=True)
        return done.returncode == 0


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
    parser.add_argument("combination", choices=[*COMBINATIONS, "extras"])
    parser.add_argument("tests", nargs="*", help="tests or extras, instead of those that matter here")
    given = parser.parse_args()
    if given.combination == "extras":
        sys.exit(not all([keeps_its_promise(extra) for extra in given.tests or PROMISES]))  # noqa: C419 (each of them)
    version, _, rule = given.combination.partition("-")
    venv = ROOT / f".venv-{given.combination}"
    python = venv / "bin" / "python"
    if not venv.exists():
        run(f"python{version}", "-m", "venv", venv)
    install = (python, "-m", "pip", "--quiet", "install", "--upgrade", "--only-binary", ":all:")
    pins = ["--no-require-hashes", "--constraint", "constraints.txt"]
    run(*install, *pin("pip"))
    run(*install, *TOOLS, *pins)
    run(*install, *requirements(rule), *(pins if rule == "pinned" else []))
    if version in WITH_TORCH:
        run(*install, "torch", *pins)
    run(*install, "--no-deps", "--editable", ".")
    left_out = [SPARK] if version in WITH_TORCH else [SPARK, *NEED_TORCH]
    options = [f"{option}={test}" for option in ("--ignore-glob", "--deselect") for test in left_out]
    tested = run(python, "-m", "pytest", "-q", "--all", "-n", "0", *(given.tests or TESTS), *options, check=False)
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
