"""Running the collector: worker processes of uvicorn, which forget what they served."""

from __future__ import annotations

import ctypes
import json
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bipartite.collect.proxies import Proxies
from bipartite.collect.store import Store, resume

if TYPE_CHECKING:
    from starlette.types import ASGIApp

_SETTINGS: Final = "BIPARTITE_COLLECT"
# Freed memory is overwritten, so that a dump of it holds no address or header of requests that are over: Python asks the
# C library for each block, and glibc fills it when it is given back, unless its threads put it aside for themselves.
_FORGETFUL: Final = {
    "PYTHONMALLOC": "malloc",
    "MALLOC_PERTURB_": "165",
    "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0",
}
_PR_SET_DUMPABLE: Final = 4  # <linux/prctl.h>


@dataclass(frozen=True)
class Settings:
    """What workers are told: the database, the study, and how often an address may send."""

    database: str
    """A path, or a URL of PostgreSQL."""
    is_file: bool
    study: str
    rate: int
    proxies: str | None = None
    """The addresses whose forwarding headers are believed, with commas between them; * for all."""

    def open(self) -> Store:
        """Open the database, in the thread that will use it."""
        return resume(Path(self.database) if self.is_file else self.database, self.study)


def app() -> ASGIApp:
    """The application of one worker, which uvicorn starts in a process of its own."""
    from bipartite.collect.server import Collector  # noqa: PLC0415 (the process that starts workers needs no server)

    _leave_no_core()
    settings = Settings(**json.loads(os.environ[_SETTINGS]))
    collector = Collector(settings.open, rate=settings.rate).app
    return collector if settings.proxies is None else Proxies(collector, settings.proxies)


def serve(settings: Settings, host: str, port: int, *, workers: int, proxies: str | None) -> None:
    """Serve until a signal says stop. ``proxies`` are the addresses whose forwarding headers are believed."""
    settings = replace(settings, proxies=proxies)
    import uvicorn  # noqa: PLC0415 (see app)

    from bipartite.collect.protocol import Protocol  # noqa: PLC0415
    from uvicorn.supervisors import Multiprocess  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as counts:
        os.environ |= _FORGETFUL | {_SETTINGS: json.dumps(asdict(settings)), "PROMETHEUS_MULTIPROC_DIR": counts}
        config = uvicorn.Config(
            "bipartite.collect.serving:app", factory=True, host=host, port=port, workers=workers, access_log=False,
            log_level="warning", server_header=False, date_header=False, proxy_headers=False, ws="none",
            timeout_keep_alive=30, http=Protocol,
        )  # fmt: skip
        # Workers are new processes even if there is one: memory is forgetful from the start of a process, or not at all.
        Multiprocess(config, [config.bind_socket()]).run()


def _leave_no_core() -> None:
    """A crash must not write what was in memory to the disk."""
    try:
        import resource  # noqa: PLC0415 (not on Windows)
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Linux ignores the limit where a program takes the dumps; a process that is not dumpable gives it none.
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
