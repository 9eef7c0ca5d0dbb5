"""A Spark session of this machine alone: the loopback address, this interpreter, no pages, events in a file."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# For programs that run for seconds: little is compiled, and nothing is collected in threads of its own.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def prepare():
    """Tell Spark's processes which Python and which packages to use; they inherit it."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    # Workers import the package, and the functions of the tests.
    known = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT), *([known] if known else [])])


def start(master, folder, **settings):
    """A session with these settings; events are written to ``folder``."""
    prepare()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("bipartite tests")
    fixed = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.python.daemon.module": "tests.tables.spark_daemon",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100",
        # As Spark 4 does by default: years before 1582 are written as they are.
        "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
        "spark.sql.parquet.int96RebaseModeInWrite": "CORRECTED",
        "spark.sql.warehouse.dir": str(Path(folder) / "warehouse"),
        "spark.local.dir": str(Path(folder) / "local"),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": Path(folder).as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.driver.extraJavaOptions": f"-Xss4m {JAVA}",
    }
    for name, value in (fixed | settings).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session
