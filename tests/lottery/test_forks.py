"""Forks give no two processes one word: `forks_alone.py`, run in a process that has loaded no other library.

A fork that tells nobody copies the locks of every library of the process as they are. Beside Arrow, Polars and torch, a
child once waited for one of theirs for ever, before it came to our code.
"""

import subprocess
import sys
from pathlib import Path


def test_no_fork_gives_two_processes_one_word():
    alone = Path(__file__).with_name("forks_alone.py")
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "--noconftest", alone]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=alone.parents[2])
    assert ran.returncode == 0 and " passed" in ran.stdout, ran.stdout
