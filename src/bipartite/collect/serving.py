"""Running the collector: worker processes of uvicorn, which forget what they served."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import socket
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bipartite.collect.proxies import Proxies
from bipartite.collect.store import Store, resume
from bipartite.errors import InputError
from bipartite.texts import escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import FrameType

    from starlette.types import ASGIApp

_SETTINGS: Final = "BIPARTITE_COLLECT"
_STOP: Final = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
# Freed memory is overwritten, so that a dump of it holds no address or header of requests that are over: Python asks
# the C library for each block, and glibc fills it when it is given back, unless its threads put it aside for later.
_FORGETFUL: Final = {
    "PYTHONMALLOC": "malloc",
    "MALLOC_PERTURB_": "165",
    "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0",
}
# Answers solve thousands of small systems, and threads that share one take ten times as long where others work, too.
ONE_THREAD: Final = dict.fromkeys(["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"], "1")
"""What the processes of workers are told of linear algebra."""
_PR_SET_DUMPABLE: Final = 4  # <linux/prctl.h>
_PATIENCE: Final = 60  # seconds until a silent worker is killed; uvicorn's five are too few on a busy machine
_GARBAGE: Final = 50_000  # objects between two searches for cycles


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
    import pyarrow.compute  # noqa: F401, PLC0415 (half a second, for which the first report would wait)

    settings = Settings(**json.loads(os.environ[_SETTINGS]))
    application = Collector(settings.open, rate=settings.rate).app
    if settings.proxies is not None:
        application = Proxies(application, settings.proxies)
    gc.collect()
    gc.freeze()  # what is loaded now stays: it need not be looked through again
    gc.set_threshold(_GARBAGE)  # posts leave no cycles
    return application


def serve(
    settings: Settings, host: str, port: int, *, workers: int, listening: Callable[[int], None] = lambda _: None
) -> int | None:
    """Serve until a signal says stop, and return it; None if the workers cannot start.

    ``listening`` is told the port: 0 takes a free one.
    """
    told = {_SETTINGS: json.dumps(asdict(settings))}
    with tempfile.TemporaryDirectory() as counts, _environment(told | {"PROMETHEUS_MULTIPROC_DIR": counts}):
        return run_workers(f"{__name__}:app", host, port, workers=workers, listening=listening)


def run_workers(
    factory: str, host: str, port: int, *, workers: int, listening: Callable[[int], None] = lambda _: None
) -> int | None:
    """Run the application that a function makes, named as ``module:function``, in so many processes."""
    import uvicorn  # noqa: PLC0415 (see app)
    from uvicorn.supervisors import Multiprocess  # noqa: PLC0415

    from bipartite.collect.protocol import Protocol  # noqa: PLC0415

    config = uvicorn.Config(
        factory, factory=True, workers=workers, access_log=False, log_config=None, log_level="error",
        server_header=False, date_header=False, proxy_headers=False, ws="none", timeout_keep_alive=30,
        timeout_worker_healthcheck=_PATIENCE, http=Protocol,  # type: ignore[arg-type]  # any protocol of asyncio's
    )  # fmt: skip

    class Workers(Multiprocess):
        """uvicorn's, but a worker that is killed during a health check is replaced at once, not at its time limit."""

        def keep_subprocess_alive(self) -> None:
            # Without our copy of the worker's end of the pipe, the pipe closes when the worker dies.
            for each in self.processes:
                each.child_conn.close()
            super().keep_subprocess_alive()

    ignored = {number for number in _STOP if signal.getsignal(number) is signal.SIG_IGN}  # as under nohup
    stopped: list[int] = []
    with _environment(_FORGETFUL | ONE_THREAD), _listen(host, port) as bound:
        # Workers are new processes even if there is one: memory is forgetful from the start of a process, or never.
        supervisor = Workers(config, [bound])

        def stop(number: int, _: FrameType | None) -> None:
            stopped.append(number)
            supervisor.should_exit.set()

        for number in _STOP:
            signal.signal(number, signal.SIG_IGN if number in ignored else stop)
        listening(bound.getsockname()[1])
        supervisor.run()
    return stopped[0] if stopped else None


@contextmanager
def _environment(settings: Mapping[str, str]) -> Iterator[None]:
    """What processes that are started meanwhile find in their environment."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ |= settings
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _listen(host: str, port: int) -> socket.socket:
    """A socket at this address."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            bound.listen()  # who comes before the workers do waits
        except BaseException:
            bound.close()
            raise
    except (OSError, OverflowError) as error:
        why = error.strerror if isinstance(error, OSError) else "there is no such port"
        problem = InputError(f"Cannot listen at {escaped(host)}, port {port}: {why}; choose another host or port.")
    else:
        bound.set_inheritable(True)
        return bound
    raise problem


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
