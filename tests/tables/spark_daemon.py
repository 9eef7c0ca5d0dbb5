"""The process from which Spark forks its Python workers, which has loaded what they need: else each does it anew."""

import pandas as pd  # noqa: F401 (Arrow imports it when it is first needed)
import pyarrow as pa
from pyspark.daemon import manager

import bipartite as bp
import tests.tables.spark_functions  # noqa: F401
from bipartite.tables.keyed import KEY_BYTES, KeyedRelease

if __name__ == "__main__":
    # What is compiled is loaded when something is drawn first.
    some = pa.RecordBatch.from_pydict({"age": [40] * 100})
    plan = bp.Plan({"age": bp.BRR(bp.Integers(18, 90), epsilon=1)})
    plan.privatize_batch(some)
    KeyedRelease(plan, bytes(KEY_BYTES)).privatize_rows(some, pa.array(range(100)))
    manager()
