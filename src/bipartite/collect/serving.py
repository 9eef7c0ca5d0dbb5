"""Running the collector: worker processes of uvicorn, which forget what they served."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bipartite.collect.store import Store, resume

if TYPE_CHECKING:
    from starlette.types import ASGIApp

_SETTINGS: Final = "BIPARTITE_COLLECT"
# Freed memory is overwritten, so that a dump of it holds no address or header of requests that are over: Python asks
# the C library for each block, and glibc fills it when it is given back.
_FORGETFUL: Final = {"PYTHONMALLOC": "malloc", "MALLOC_PERTURB_": "165"}


@dataclass(frozen=True)
class Settings:
    """What workers are told: the database, the study, and how often an address may send."""

    database: str
    """A path, or a URL of PostgreSQL."""
    is_file: bool
    study: str
    rate: int

    def open(self) -> Store:
        """Open the database, in the thread that will use it."""
        return resume(Path(self.database) if self.is_file else self.database, self.study)


def app() -> ASGIApp:
    """The application of one worker, which uvicorn starts in a process of its own."""
    from bipartite.collect.server import Collector  # noqa: PLC0415 (the process that starts workers needs no server)

    _leave_no_core()
    settings = Settings(**json.loads(os.environ[_SETTINGS]))
    return Collector(settings.open, rate=settings.rate).app


def serve(settings: Settings, host: str, port: int, *, workers: int, proxies: str | None) -> None:
    """Serve until a signal says stop. ``proxies`` are the addresses whose forwarding headers are believed."""
    with tempfile.TemporaryDirectory() as counts:
        os.environ |= {_SETTINGS: json.dumps(asdict(settings)), "PROMETHEUS_MULTIPROC_DIR": counts}
        run_workers(f"{__name__}:app", host, port, workers=workers, proxies=proxies)


def run_workers(factory: str, host: str, port: int, *, workers: int, proxies: str | None) -> None:
    """Run the application that a function makes, named as ``module:function``, in so many processes."""
    import uvicorn  # noqa: PLC0415 (see app)
    from uvicorn.supervisors import Multiprocess  # noqa: PLC0415

    os.environ |= _FORGETFUL
    config = uvicorn.Config(
        factory, factory=True, host=host, port=port, workers=workers, access_log=False, log_level="warning",
        server_header=False, date_header=False, proxy_headers=proxies is not None, forwarded_allow_ips=proxies,
        ws="none", timeout_keep_alive=30,
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
