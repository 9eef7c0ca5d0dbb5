"""Numbers for Prometheus. Reports are told in steps of 50: who scrapes every few seconds learns no time of a report."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, disable_created_metrics, generate_latest, multiprocess

from bipartite.collect.store import STEP

if TYPE_CHECKING:
    from collections.abc import Mapping

MEDIA_TYPE: Final = "text/plain; version=0.0.4"
disable_created_metrics()  # they are times
_registry = CollectorRegistry()
_refused = Counter("bipartite_refused", "Requests that counted no report, by status", ["status"], registry=_registry)
_OK: Final = 200


def answered(status: int) -> None:
    """Count an answer; of those that counted reports nothing is told."""
    if status != _OK:
        _refused.labels(status).inc()


def text(counted: Mapping[str, int]) -> bytes:
    """What all workers have counted, and the reports in the database."""
    told = CollectorRegistry()
    reports = Gauge("bipartite_reports", f"Reports counted, in steps of {STEP}", ["question"], registry=told)
    for question, n in counted.items():
        reports.labels(question).set(n // STEP * STEP)
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        multiprocess.MultiProcessCollector(told)  # type: ignore[no-untyped-call]
        return generate_latest(told)
    return generate_latest(told) + generate_latest(_registry)
