"""Faults of tools/mutants.toml fit the code of today, and the tool says which test notices each, or that none does."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import mutants

ROOT = Path(__file__).parents[1]
FAULTS = mutants.read_faults(ROOT / "tools" / "mutants.toml")[1]
ROOMS = {
    "lottery",
    "epsilon",
    "mechanisms",
    "spec readers",
    "answers",
    "collect",
    "verification",
    "tables",
    "ledger",
    "learn",
    "client",
}

TINY = {
    "half.py": "def half(n):\n    return n // 2\n",
    "tests/test_half.py": "from half import half\ndef test_half_of_four(): assert half(4) == 2\n",
    "tools/mutants.toml": """
[[fault]]
name = "noticed"
room = "tiny"
file = "half.py"
old = "n // 2"
new = "n // 3"
killers = ["tests/test_half.py"]
near = ["tests"]

[[fault]]
name = "rounded-up"
room = "tiny"
file = "half.py"
old = "n // 2"
new = "-(-n // 2)"
killers = ["tests/test_half.py"]
near = ["tests"]

[[fault]]
name = "of-older-code"
room = "tiny"
file = "half.py"
old = "n >> 1"
new = "n >> 2"
killers = ["tests/test_half.py"]
near = ["tests"]
""",
}


def test_every_fault_fits_exactly_one_place_and_changes_it():
    places = {fault.name: fault.times(ROOT) for fault in FAULTS}
    assert {name: times for name, times in places.items() if times != 1} == {}
    assert all(fault.old != fault.new for fault in FAULTS)


def test_faults_have_names_of_their_own_and_every_room_has_eight_or_more():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 80
    rooms = Counter(fault.room for fault in FAULTS)
    assert set(rooms) == ROOMS
    assert min(rooms.values()) >= 8


def test_the_tests_that_notice_a_fault_exist():
    gone = []
    for killer in {killer for fault in FAULTS for killer in fault.killers}:
        file, _, function = killer.partition("::")
        path = ROOT / file
        if not path.is_file() or (function and f"def {function}(" not in path.read_text(encoding="utf-8")):
            gone.append(killer)
    assert gone == [], "look for others with tools/mutants.py --find"
    assert all(fault.killers for fault in FAULTS)


def run(tree, *arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    command = [sys.executable, ROOT / "tools" / "mutants.py", "--root", tree, *arguments]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    return result.returncode, result.stdout + result.stderr


def test_a_killed_fault_is_named_with_its_test_and_a_survivor_fails_the_run(tmp_path):
    for name, text in TINY.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    code, said = run(tmp_path)
    assert code == 1
    assert "killed    tiny         noticed " in said and " tests/test_half.py::test_half_of_four\n" in said
    told = " ".join(said.split())
    assert "SURVIVED tiny rounded-up no noted test failed. Run tools/mutants.py --find rounded-up;" in told
    assert "GONE tiny of-older-code its `old` text occurs 0 times in half.py. The code was redesigned: port" in told
    assert "1 of 3 faults killed" in said
    assert (tmp_path / "half.py").read_text(encoding="utf-8") == TINY["half.py"]
    assert run(tmp_path, "noticed")[0] == 0

    # A test of an odd number notices the other, and is found.
    odd = "from half import half\ndef test_half_of_five(): assert half(5) == 2\n"
    (tmp_path / "tests" / "test_odd.py").write_text(odd, encoding="utf-8")
    assert run(tmp_path, "--find", "rounded-up")[0] == 0
    notes = (tmp_path / "tools" / "mutants.toml").read_text(encoding="utf-8")
    assert notes.count('killers = ["tests/test_odd.py::test_half_of_five"]') == 1
    assert run(tmp_path, "rounded-up")[0] == 0
