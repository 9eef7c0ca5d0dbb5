"""What holds for the package as a whole: cost of import, public names, the path without numba."""

import functools
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import bipartite
from bipartite.names import FORMER_NAMES, Renamed

HEAVY = [
    "numba",
    "llvmlite",
    "scipy",
    "pandas",
    "pyarrow",
    "duckdb",
    "matplotlib",
    "polars",
    "narwhals",
    "sklearn",
    "torch",
    "pooch",
]


def run(code, **settings):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True, **settings
    ).stdout


def test_importing_bipartite_loads_nothing_heavy():
    code = f"import bipartite, sys; print([name for name in {HEAVY} if name in sys.modules])"
    assert run(code).strip() == "[]"


def test_importing_bipartite_itself_loads_neither_numpy_nor_logging():
    code = (
        "import sys; there = {*sys.modules}; import bipartite; print({'numpy', 'logging'} & ({*sys.modules} - there))"
    )
    assert run(code).strip() == "set()"


def test_small_calls_and_specs_load_nothing_heavy_either():
    code = (
        "import bipartite as bp, sys, numpy as np\n"
        "m = bp.BRR(bp.Integers(18, 90), 1)\n"
        "m.privatize(np.full(10_000, 40)); bp.verify(m); bp.from_spec(m.to_spec()); bp.loss(m).mean\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    assert run(code).strip() == "[]"


def test_a_command_loads_what_draws_only_where_it_draws(tmp_path):
    (tmp_path / "r.csv").write_text("20\n30\n", encoding="utf-8")
    code = (
        "import sys; from bipartite.cli import main\n"
        "main(['design', '18..90', '--epsilon', '1', '--output', 'age.json'])\n"
        "asked = ['estimate', 'r.csv', '--spec', 'age.json']\n"
        "main(asked); print('matplotlib' in sys.modules)\n"
        "main([*asked, '--plot', 'r.svg']); print('matplotlib.pyplot' in sys.modules, 'matplotlib' in sys.modules)"
    )
    said = run(code, cwd=tmp_path).splitlines()
    assert [line for line in said if line.split()[0] in {"True", "False"}] == ["False", "False True"]


def test_a_release_of_a_small_table_loads_no_answers(tmp_path):
    (tmp_path / "plan.toml").write_text("[columns.age]\ndomain = { integers = [18, 90] }\nepsilon = 1\n")
    (tmp_path / "in.csv").write_text("age\n40\n41\n")
    code = (
        "import sys; from bipartite.cli import main\n"
        "for out in ('out.csv', 'out.parquet'): assert main(['privatize', 'in.csv', out, '--plan', 'plan.toml']) == 0\n"
        "heavy = ('bipartite.answers.estimation', 'bipartite.answers.advise', 'scipy', 'numba', 'duckdb')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    assert run(code, cwd=tmp_path).strip() == "[]"


def test_the_compiler_is_loaded_once_enough_reports_were_asked_for():
    code = (
        "import bipartite as bp, sys, numpy as np\n"
        "from bipartite.lottery.kernel import LOAD_COMPILER_FROM, announce\n"
        "mech, few = bp.BRR(bp.Integers(18, 90), 1), np.full(2**12, 40)\n"
        "announce(LOAD_COMPILER_FROM - 2 * len(few))\n"
        "for _ in range(2): mech.privatize(few); print('numba' in sys.modules)"
    )
    assert run(code).split() == ["False", "True"]


# As on a read-only file system, whatever folder numba tries: NUMBA_CACHE_DIR, __pycache__ or the user's.
NO_CACHE = "import tempfile; tempfile.TemporaryFile = lambda **_: (_ for _ in ()).throw(OSError(30, 'Read-only'))"
FULL = "import numba; numba.njit = lambda *a, **k: (_ for _ in ()).throw(OSError(28, 'No space left on device'))"
OFF = "import os; os.environ['NUMBA_DISABLE_JIT'] = '1'"
DRAW = """
import bipartite as bp, numpy as np, hashlib
mech = bp.BRR(bp.Integers(18, 90), 1)
kernel = mech.lottery.kernel(10**9).__module__.split(".")[-1]
values = np.arange(2**17) % 73 + 18
digest = hashlib.sha256(mech.privatize(values, rng=bp.insecure_seed(1)).tobytes()).hexdigest()
"""


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param("sys.modules['numba'] = None", id="numba is missing"),
        pytest.param(NO_CACHE, id="numba cannot cache"),
        pytest.param(OFF, id="numba is switched off", marks=pytest.mark.slow),
        pytest.param(FULL, id="the disk is full", marks=pytest.mark.slow),
    ],
)
def test_without_numba_the_same_reports_come_from_numpy(broken):
    healthy = {}
    exec(DRAW, healthy)  # noqa: S102 (the words above)
    assert healthy["kernel"] == "compiled"
    assert run(f"import sys; {broken}{DRAW}print(kernel, digest)").split() == ["window", healthy["digest"]]


@pytest.mark.slow
def test_kernels_that_numpy_cannot_replace_are_compiled_without_a_cache():
    code = (
        f"{NO_CACHE}\nimport numpy as np\nfrom bipartite.learn.boosting.compiled import _OPTIONS, step_down\n"
        "nodes = np.zeros(2, dtype=np.int64)\n"
        "step_down(np.array([[3], [9]], dtype=np.uint8), np.array([0]), np.array([5]), nodes)\n"
        "print(*nodes, _OPTIONS['cache'])"
    )
    assert run(code).split() == ["0", "1", "False"]


def test_every_public_name_exists_and_is_documented():
    for name in bipartite.__all__:
        value = getattr(bipartite, name)
        if name != "__version__":
            assert value.__doc__, name
    assert set(dir(bipartite)) == set(bipartite.__all__)
    with pytest.raises(AttributeError, match="module 'bipartite' has no attribute 'Nothing'"):
        _ = bipartite.Nothing


JOINT = ("bipartite.estimate_joint", FORMER_NAMES["bipartite.estimate_joint"])
ANSWERS = "bipartite.answers.estimation."
OF_ANSWERS = {old: now for old, now in FORMER_NAMES.items() if old.startswith(ANSWERS)}


@pytest.mark.parametrize(
    ("old", "now"), [each for each in FORMER_NAMES.items() if each[0] not in OF_ANSWERS and each != JOINT]
)
def test_a_former_name_raises_with_what_to_use_now(old, now):
    owner, _, name = old.rpartition(".")
    place = pkgutil.resolve_name(owner)
    assert pkgutil.resolve_name(now.split(",")[0]) is not None
    assert name not in dir(place)
    with pytest.raises(AttributeError, match=re.escape(f"{old} is now {now}")):
        _ = getattr(place, name) if isinstance(place, ModuleType) else place.__getattr__(None, name)


@functools.cache
def results():
    """An estimate, one of two attributes, counts and an answer, and whatever else a successor names."""
    mech = bipartite.GRR(bipartite.Integers(0, 3), 4)
    record = bipartite.Record({"a": mech, "b": mech})
    reports = mech.privatize([0, 1, 2, 3] * 50, rng=bipartite.insecure_seed(1))
    est, w = bipartite.estimate(mech, reports), np.ones(200)
    return {
        "Estimate": est,
        "JointEstimate": bipartite.estimate(record, _pairs(record)).joint("a", "b"),
        "Counts": bipartite.Counts(mech).add(reports),
        "Answer": est.ask(),
    }, {
        "mech": mech,
        "reports": reports,
        "record": record,
        "w": w,
        "bins": 2,
        "population": 10,
        "numpy": np,
        "k": 1,
        "confidence": 0.9,
        "of": "mean",
        "weights": [0, 1, 1, 0],
        "bipartite": bipartite,
        "first": "a",
        "second": "b",
        "name": "a",
        "other": "b",
        "where": ("range", 0, 1),
        "value": 1,
    }


@pytest.mark.parametrize(("old", "now"), OF_ANSWERS.items())
def test_a_former_attribute_of_an_answer_raises_with_what_to_use_now(old, now):
    kind, name = old.removeprefix(ANSWERS).split(".")
    made, given = results()
    with pytest.raises(AttributeError, match=re.escape(f"{old} is now {now}")):
        getattr(made[kind], name)
    if name not in {"of_sample", "circular_mean", "resultant_length", "circular_spread"}:  # nothing, or of circles
        code = re.split(r", (?:of|or|to|which|with|for) ", now)[0]
        of = [[1.0, 0, 0, 0]] * 4 if code.startswith("joint.ask(weights") else given["weights"]
        of_joint = {"of": "covariance"} if kind == "JointEstimate" else {}
        names = dict(zip(("est", "joint", "counts", "answer"), made.values(), strict=True))
        assert eval(code, given | names | {"weights": of} | of_joint) is not None  # noqa: S307 (our own words)


def test_an_error_within_an_attribute_is_not_taken_for_a_missing_one():
    class Broken(Renamed):
        @property
        def one(self):
            return self.gone

        @functools.cached_property
        def kept(self):
            return self.gone

    for name in ("one", "kept"):
        with pytest.raises(AttributeError, match="no attribute 'gone'"):
            getattr(Broken(), name)


def test_the_former_function_of_two_attributes_names_the_method():
    with pytest.raises(AttributeError, match=re.escape(JOINT[1])):
        _ = bipartite.estimate_joint
    given = results()[1]
    assert eval(JOINT[1].replace("reports", "pairs"), given | {"pairs": _pairs(given["record"])})  # noqa: S307


def _pairs(record):
    return record.privatize({"a": [0, 1, 2, 3] * 50, "b": [0, 1, 1, 3] * 50}, rng=bipartite.insecure_seed(1))


def test_importing_a_former_name_says_so_and_hasattr_does_not():
    with pytest.raises(ImportError, match=r"bipartite\.expected_loss is now bipartite\.loss, whose"):
        __import__("bipartite", fromlist=["BRR", "expected_loss"])  # what ``from bipartite import …`` does
    assert not hasattr(bipartite, "expected_loss")


# A submodule of the same name would take the place of a public name once it is imported.
MODULES = ["design", "errors", "learn", "locations", "quality", "surveys", "tables"]


def test_no_public_name_is_that_of_a_module():
    names = {path.stem for path in Path(bipartite.__file__).parent.iterdir()}
    assert sorted(names & set(bipartite.__all__)) == MODULES


@pytest.mark.slow
def test_public_names_stay_themselves_whatever_is_imported_first():
    code = (
        "import pkgutil, importlib, bipartite as bp\n"
        "names = [m.name for m in pkgutil.walk_packages(bp.__path__, 'bipartite.') if '__main__' not in m.name]\n"
        "for name in names: importlib.import_module(name)\n"
        "import types\n"
        "print([n for n in bp.__all__ if isinstance(getattr(bp, n), types.ModuleType)])"
    )
    assert run(code).strip() == str(MODULES)


def test_errors_name_an_extra_that_brings_what_is_missing():
    source = Path(bipartite.__file__).parent
    extras = tomllib.loads((source.parents[1] / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    texts = [path.read_text(encoding="utf-8") for path in source.rglob("*.py")]
    named = re.findall(r'library="([\w-]+)",\s+extra="(\w+)"', "".join(texts))
    assert len(named) > 5
    for library, extra in named:
        brought = " ".join(extras[extra] + (extras["boosting"] if extra == "learn" else []))
        assert re.search(rf"\b{library}\b", brought), (library, extra)


def test_the_package_is_typed_and_ships_its_schemas():
    package = Path(bipartite.__file__).parent
    assert (package / "py.typed").exists()
    assert {path.stem for path in (package / "cli" / "schemas").glob("*.json")} == {
        "audit", "collect-across", "collect-check", "collect-show", "design", "design-compare", "design-people",
        "error", "estimate", "explain", "ledger-check", "ledger-export", "ledger-show", "plan", "privatize", "release",
        "spec", "verify",
    }  # fmt: skip


def test_a_scalar_report_is_a_plain_number():
    mechanism = bipartite.BRR(bipartite.Integers(18, 90), 1)
    assert type(mechanism.privatize(40)) is int
    assert type(mechanism.privatize(np.int32(40))) is np.int64  # whatever type the value had
