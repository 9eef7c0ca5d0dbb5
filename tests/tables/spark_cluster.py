"""A cluster on this machine: a master and two workers of different addresses, so that copies of tasks are started.

    python -m tests.tables.spark_cluster FOLDER

One executor is killed, one is slow, the input is reshuffled; everything is encrypted as docs/spark.md says. Prints as
JSON what was released and what happened. Run by test_spark_cluster.py in a process of its own, because a process has
one Spark.
"""

import json
import os
import re
import secrets
import socket
import subprocess
import sys
import warnings
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyspark

import bipartite as bp
from bipartite.tables import Plan, spark
from tests.tables.spark_functions import dawdle, kill_executor
from tests.tables.spark_session import JAVA, ROOT, prepare, start

KEY = bytes(range(32))
PLAN = Plan({"id": "public", "age": bp.BRR(bp.Integers(18, 90), epsilon=1)})
ROWS = 600
SETTINGS = {
    "spark.executor.memory": "512m",
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.minTaskRuntime": "100ms",
    # Whoever is gone stays gone: do not ask the dead for their shuffled rows, nor wait for a place nearer to the data.
    "spark.shuffle.io.maxRetries": "1",
    "spark.shuffle.io.retryWait": "100ms",
    "spark.locality.wait": "0",
    "spark.executor.extraJavaOptions": JAVA,
    # The plan with its key takes the way of large ones: broadcast through local disks.
    "spark.broadcast.UDFCompressionThreshold": "100",
}


def documented():
    """The settings that docs/spark.md tells to encrypt with, and the secret that a cluster of this kind needs too."""
    page = (ROOT / "docs" / "spark.md").read_text(encoding="utf-8")
    found = dict(re.findall(r"--conf (spark\.(?!pyspark)[\w.]+)=(\w+)", page))
    return found | {"spark.authenticate.secret": secrets.token_hex(16)}


@contextmanager
def running(folder, *arguments):
    """A process of Spark, ended at the end."""
    command = [Path(pyspark.__file__).parent / "bin" / "spark-class", *arguments, "--webui-port", "0"]
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_LOCAL_IP"}
    environment["SPARK_DAEMON_JAVA_OPTS"] = JAVA
    log = (folder / f"{arguments[0].rpartition('.')[2]}-{arguments[2]}.log").open("wb")
    process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()
        log.close()


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def release(session, folder, harms, row_id=None):
    """What was released although these things happened while reports were drawn."""
    marks = folder / f"marks-{len(list(folder.iterdir()))}"
    marks.mkdir()
    people = session.read.parquet(str(folder / "people.parquet"))
    # Three tasks by name, because Spark would merge so few rows into one: one is killed, one slow, one well.
    people = people.repartitionByRange(3, "id") if row_id is None else people.repartition(3, "age")
    for harm in harms:
        people = people.mapInArrow(partial(harm, folder=str(marks)), people.schema)
    # The key is known to the test; ids are not checked, so that the harm is not done to the check.
    with (
        mock.patch("bipartite.tables.spark.os.urandom", return_value=KEY),
        mock.patch("bipartite.tables.spark.check_ids"),
    ):
        released = spark.privatize(people, PLAN, marks / "out", row_id=row_id)
    rows = sorted((row["id"], row["age"]) for row in released.collect())
    on_disk = [each for each in (folder / "spark" / "local").rglob("*") if each.is_file()]
    return {
        "reports": rows,
        "marks": sorted(each.name for each in marks.iterdir() if each.is_file()),
        "broadcast": sum(each.parent.name.startswith("pyspark-") for each in on_disk),
        "key_on_disk": sum(KEY in each.read_bytes() for each in on_disk),
    }


def main(folder):
    (folder / "spark").mkdir()
    ids = np.arange(ROWS)
    pq.write_table(pa.table({"id": ids, "age": 18 + ids % 73}), folder / "people.parquet")
    prepare()
    port = str(free_port())
    encrypted = documented()
    properties = folder / "spark.properties"
    properties.write_text("".join(f"{name} {value}\n" for name, value in encrypted.items()), encoding="utf-8")
    common = ("--properties-file", str(properties))
    master, worker = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"
    with ExitStack() as cluster:
        cluster.enter_context(running(folder, master, "--host", "127.0.0.1", "--port", port, *common))
        for host in ("127.0.0.2", "127.0.0.3"):
            options = ("--host", host, "--cores", "2", "--memory", "512m", "--work-dir", str(folder / host), *common)
            cluster.enter_context(running(folder, worker, *options, f"spark://127.0.0.1:{port}"))
        session = start(f"spark://127.0.0.1:{port}", folder / "spark", **SETTINGS, **encrypted)
        cluster.callback(session.stop)
        found = {
            "slow": release(session, folder, [dawdle]),
            "keyed": release(session, folder, [kill_executor, dawdle], "id"),
        }
    [log] = [each for each in (folder / "spark").iterdir() if each.is_file()]
    events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    ended = [event["Task Info"] for event in events if event["Event"] == "SparkListenerTaskEnd"]
    found["speculative"] = sum(bool(task["Speculative"]) for task in ended)
    found["executors_lost"] = sum(event["Event"] == "SparkListenerExecutorRemoved" for event in events)
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore", FutureWarning)
    print(json.dumps(main(Path(sys.argv[1]))))  # noqa: T201
