"""What goes wrong on executors, on purpose: functions that Spark's Python workers import by name."""

import os
import signal
import time
from pathlib import Path

from pyspark import TaskContext

PATIENCE = 60.0


def first_time(folder, name):
    """True once for each name, however many processes ask."""
    try:
        os.close(os.open(Path(folder) / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return False
    return True


def fail_once(batches, folder):
    """The first attempt of every task fails after its first batch went on."""
    fails = first_time(folder, f"failed-{TaskContext.get().partitionId()}")
    for batch in batches:
        yield batch
        if fails:
            raise OSError("a disk of this executor is gone, says the test")


def kill_executor(batches, folder):
    """The first attempt of task 0 kills its executor after its first batch went on."""
    kills = TaskContext.get().partitionId() == 0 and first_time(folder, "killed")
    for batch in batches:
        yield batch
        if kills:
            os.kill(executor_of(os.getpid()), signal.SIGKILL)


def dawdle(batches, folder):
    """The first attempt of task 1 waits, after its first batch went on, until a speculative copy has passed it."""
    late = TaskContext.get().partitionId() == 1
    waits = late and first_time(folder, "slow")
    deadline = time.monotonic() + PATIENCE
    for batch in batches:
        yield batch
        while waits and not (Path(folder) / "overtaken").exists():
            if time.monotonic() > deadline:
                raise TimeoutError("no speculative copy came")
            time.sleep(0.05)
    if late and not waits:
        first_time(folder, "overtaken")


def executor_of(process):
    """The Java process above a Python worker."""
    while True:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
        process = int(next(line.split()[1] for line in status.splitlines() if line.startswith("PPid:")))
        if Path(f"/proc/{process}/comm").read_text(encoding="utf-8").strip() == "java":
            return process
