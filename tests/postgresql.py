"""A PostgreSQL server of the tests' own: one a session, a fresh database for every test that asks for one.

It is started from the system's binaries, as another user where the tests run as root, which PostgreSQL refuses, and
skipped with the reason where there are none. It flushes to disk, and asks for a password.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import traceback
from contextlib import closing, suppress
from itertools import count
from pathlib import Path

import pytest

PASSWORD = "k7#swordfish/√"  # noqa: S105 (of a server that lives as long as the tests)
ESCAPED = "k7%23swordfish%2F%E2%88%9A"
NO_POSTGRESQL = "PostgreSQL is not installed here: no initdb in /usr/lib/postgresql/*/bin or PATH"
ROOT = 0
ROOM = 2**30


def binaries():
    """The folder of initdb and pg_ctl; None if there is none."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda each: int(each.parent.name), reverse=True)
    found = shutil.which("initdb", path=os.pathsep.join([*map(str, folders), os.environ.get("PATH", "")]))
    return None if found is None else Path(found).resolve().parent


class Server:
    """A server that can be stopped, killed and started again."""

    def __init__(self, folder, programs):
        self.folder, self.programs = folder, programs
        self.names = count(1)
        self.user = {}
        if os.geteuid() == ROOT:
            import pwd  # not on Windows

            names = [each.pw_name for each in pwd.getpwall()]
            user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
            self.user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
            os.chown(folder, user.pw_uid, user.pw_gid)
        with closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        self._run("initdb", "--auth=scram-sha-256", f"--pwfile={secret}", "-U", "owner", "--encoding=UTF8", "--no-sync")
        self.start()

    def _run(self, program, *arguments):
        # Into a file: pg_ctl's server would keep a pipe open.
        said = self.folder / "said"
        with said.open("w") as out:
            command = [self.programs / program, "-D", self.folder / "data", *arguments]
            done = subprocess.run(command, stdout=out, stderr=out, cwd="/", check=False, **self.user)
        assert done.returncode == 0, said.read_text()

    def start(self, *settings):
        given = [f"-p {self.port}", "-h 127.0.0.1", "-k ''", *(f"-c {each}" for each in settings)]
        self._run("pg_ctl", "start", "-w", "-l", self.folder / "log", "-o", " ".join(given))

    def stop(self, mode="fast"):
        """``fast`` ends sessions in order; ``immediate`` leaves them, as a power cut does, but for the disk."""
        self._run("pg_ctl", "stop", "-w", "-m", mode)

    @property
    def is_running(self):
        return (self.folder / "data/postmaster.pid").exists()

    def kill(self):
        """SIGKILL to the server and all its processes at once."""
        head = int((self.folder / "data/postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{head}/task/{head}/children").read_text().split()
        os.kill(head, signal.SIGSTOP)  # it is not to see its children die
        for each in (*map(int, children), head):
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        for each in (*map(int, children), head):
            while Path(f"/proc/{each}").exists() and "\nState:\tZ" not in Path(f"/proc/{each}/status").read_text():
                os.sched_yield()
        (self.folder / "data/postmaster.pid").unlink()

    def url(self, database, *, password=ESCAPED, user="owner"):
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def connect(self, database="postgres"):
        """A session of the tests' own with the driver, beside what is tested."""
        import psycopg

        return psycopg.connect(self.url(database), autocommit=True)

    def make_database(self):
        """The URL of a fresh database."""
        name = f"fresh{next(self.names)}"
        with closing(self.connect()) as session:
            session.execute(f"CREATE DATABASE {name}")
        return self.url(name)


def everything(error):
    """All that a program could write down of an error: its text, its traceback, and those of what led to it."""
    chain, parts = [error], []
    for each in chain:
        parts += [str(each), repr(each), str(each.args), str(vars(each))]
        chain += [more for more in (each.__cause__, each.__context__) if more is not None and more not in chain]
        for frame, _ in traceback.walk_tb(each.__traceback__):
            # The tests' own variables may show what they please, and so may the arguments of those who make an address.
            if "/src/bipartite/" in frame.f_code.co_filename and frame.f_code.co_name != "__init__":
                parts += map(repr, frame.f_locals.values())
    return "\n".join(parts + traceback.format_exception(error))


def shows_a_secret(text):
    return any(secret in text for secret in (PASSWORD, ESCAPED, "swordfish"))


def in_a_child(work):
    """Fork a child that does this and must succeed."""
    child = os.fork()
    if not child:
        code = 1
        try:
            work()
            code = 0
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.fixture(scope="session")
def postgresql_server():
    """The server of this session of tests."""
    programs = binaries()
    if programs is None:
        pytest.skip(NO_POSTGRESQL)
    pytest.importorskip("psycopg", reason="psycopg, the driver of PostgreSQL, is not installed here")
    # In memory where there is room: what is killed here is the server, never the power, and disks are slow.
    memory = Path("/dev/shm")  # noqa: S108
    roomy = memory.is_dir() and shutil.disk_usage(memory).free > ROOM
    folder = Path(tempfile.mkdtemp(prefix="bipartite-postgresql-", dir=memory if roomy else None))
    folder.chmod(0o755)
    server = None
    try:
        server = Server(folder, programs)
        yield server
    finally:
        if server is not None and server.is_running:
            server.stop("immediate")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgresql(postgresql_server):
    """A server that runs; a test that stopped it finds it started again by the next."""
    if not postgresql_server.is_running:
        postgresql_server.start()
    return postgresql_server


@pytest.fixture
def postgresql_url(postgresql):
    """The URL, with its password, of a fresh database."""
    return postgresql.make_database()
