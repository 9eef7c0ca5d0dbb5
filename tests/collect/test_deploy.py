"""The shipped settings of nginx and Caddy, in front of a collector: everything works, and no file says who asked."""

import http.client
import os
import shutil
import socket
import ssl
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from bipartite.collect.store import begin
from bipartite.collect.study import read_study
from tests.collect.conftest import STUDY
from tests.collect.planted import ADDRESS, Planted
from tests.collect.reports import envelope, written
from tests.collect.running import ROOT, Running

NAME = "survey.example"
RATE = 100
NGINX = """daemon off; pid {folder}/pid; error_log {folder}/error.log info;
events {{ }}
http {{
  access_log {folder}/access.log; error_log {folder}/error-http.log info;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxied;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  include {folder}/shipped;
}}
"""
TLS = ssl.create_default_context()
TLS.check_hostname, TLS.verify_mode = False, ssl.CERT_NONE
BROKEN = BrokenPipeError, ConnectionResetError, ssl.SSLError
"""How a connection ends whose long body is refused before all of it was read."""


def shipped(name, **changed):
    """A file of deploy/ with these texts in place of those, each of which must stand there."""
    text = (ROOT / "deploy" / name).read_text()
    for old, new in changed.items():
        assert old in text
        text = text.replace(old, new)
    return text


def of_nginx(folder, outside, inside):
    """The command that runs nginx with its shipped settings."""
    (folder / "shipped").write_text(shipped("nginx.conf", **{
        "listen 80;": "", "listen [::]:80;": f"listen unix:{folder}/plain;",
        "listen 443 ssl http2;": f"listen 127.0.0.1:{outside} ssl http2;", "listen [::]:443 ssl http2;": "",
        "/etc/ssl/survey.example.pem": f"{folder}/certificate", "/etc/ssl/survey.example.key": f"{folder}/key",
        "127.0.0.1:8000": f"127.0.0.1:{inside}",
    }))  # fmt: skip
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder))
    return ["nginx", "-p", folder, "-c", folder / "nginx.conf", "-e", folder / "early.log"]


def of_caddy(folder, outside, inside):
    """The command that runs Caddy with its shipped settings."""
    (folder / "Caddyfile").write_text(shipped("Caddyfile", **{
        "\n{\n": "\n{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n",
        "\nsurvey.example {": f"\nhttps://{NAME}:{outside} {{\n\tbind 127.0.0.1\n\ttls certificate key",
        "127.0.0.1:8000": f"127.0.0.1:{inside}",
    }))  # fmt: skip
    return ["caddy", "run", "--adapter", "caddyfile", "--config", folder / "Caddyfile"]


class Proxy:
    """A proxy on a port of this machine, which is asked as ``planted`` asks a collector."""

    def __init__(self, command_of, folder, inside):
        self.folder = folder
        folder.mkdir()
        folder.parent.chmod(0o755)  # the workers of nginx are nobody
        folder.chmod(0o777)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={NAME}", "-addext",
             f"subjectAltName=DNS:{NAME}", "-keyout", folder / "key", "-out", folder / "certificate"],
            check=True, capture_output=True,
        )  # fmt: skip
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        homes = {name: str(folder / "home") for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
        with (folder / "said").open("wb") as said:
            command = command_of(folder, self.port, inside)
            self.process = subprocess.Popen(command, stdout=said, stderr=said, env={**os.environ, **homes}, cwd=folder)

    def __enter__(self):
        until = time.monotonic() + 30
        while True:
            with suppress(OSError):
                return self.connection().close() or self
            assert self.process.poll() is None and time.monotonic() < until, (self.folder / "said").read_text()
            time.sleep(0.05)

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:  # Caddy waits for bodies that have no end
            self.process.kill()
            self.process.wait()

    def connection(self, source=("127.0.0.1", 0)):
        """A connection with TLS, from this address."""
        plain = socket.create_connection(("127.0.0.1", self.port), 60, source_address=source)
        asked = http.client.HTTPConnection(NAME, timeout=60)
        asked.sock = TLS.wrap_socket(plain, server_hostname=NAME)
        return asked

    def ask(self, method, path, body=None, headers=None, *, source=("127.0.0.1", 0)):
        """One request on a connection of its own: status, words, headers."""
        asked = self.connection(source)
        try:
            asked.request(method, path, body, headers or {})
            answer = asked.getresponse()
            return answer.status, answer.read(), answer.headers
        finally:
            asked.close()

    def unfinished(self, planted):
        """A connection over which half of a long body has come, and no more comes."""
        asked = self.connection((ADDRESS, 0))
        asked.putrequest("POST", "/reports")
        for name, value in {**planted.headers("half a body"), "Content-Length": str(2**22)}.items():
            asked.putheader(name, value)
        asked.endheaders(planted.mark("body").encode() * 2**16)
        return asked

    def strange(self, planted):
        """What is no request of TLS, no TLS, and no request of this name."""
        said = f"GET / HTTP/1.1\r\nUser-Agent: {planted.mark('strange')}\r\n"
        for first in (f"{said}\r\n", "\x16\x03\x01\x02\x00\x01junk", f"{said}\x00: \r\n\r\n"):
            with socket.create_connection(("127.0.0.1", self.port), 5, source_address=(ADDRESS, 0)) as plain:
                plain.sendall(first.encode())
                with suppress(OSError):
                    plain.recv(1000)
        for last in (
            "\r\n",
            "\x00: \r\n\r\n",
            f"Host: {NAME}\r\nX: {'x' * 100_000}\r\n\r\n",
            "Host: other.example\r\n\r\n",
        ):
            with suppress(OSError):
                asked = self.connection((ADDRESS, 0))
                asked.sock.sendall(f"{said}{last}".encode())
                asked.sock.recv(1000)
                asked.close()

    def found(self, planted):
        """Which files below the proxy's folder say who asked, and what."""
        held = {path.name: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        return {name: planted.found(each) for name, each in held.items() if planted.found(each)}


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix" or not Path("/proc").exists(), reason="loopback addresses of Linux")
@pytest.mark.parametrize(("program", "command_of"), [("nginx", of_nginx), ("caddy", of_caddy)])
def test_it_serves_and_no_file_says_who_asked(tmp_path, program, command_of):
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    (tmp_path / "readers.toml").write_text(STUDY.replace("2026", "2999"))
    study = read_study(tmp_path / "readers.toml")
    begin(tmp_path / "readers.db", study).close()
    age, json = study.questions[0], {"Content-Type": "application/json"}
    with Running(tmp_path / "readers.db", study, tmp_path, rate=RATE, proxies="127.0.0.1") as running:
        with Proxy(command_of, tmp_path / "proxy", running.port) as proxy:
            planted = Planted(proxy, study)

            # Everything works: pages as the collector sends them, small bodies and the longest.
            for path in ("/", "/answers", "/specs.json"):
                direct, found = (
                    running.ask("GET", path),
                    proxy.ask("GET", path, None, planted.headers(path), source=(ADDRESS, 0)),
                )
                assert found[0] == direct[0] and len(found[1]) == len(direct[1]), path
                for name in ("Content-Security-Policy", "Referrer-Policy", "Cache-Control", "X-Content-Type-Options"):
                    assert found[2][name] == direct[2][name], (path, name)
            small = written(envelope(study, age, 40))
            for counted in (b'{"counted":1,"known":0}', b'{"counted":0,"known":1}'):
                told = proxy.ask("POST", "/reports", small, {**json, **planted.headers("small")}, source=(ADDRESS, 0))
                assert told[:2] == (200, counted)
            many = b"[" + b",".join(written(envelope(study, age, 40)) for _ in range(10_000)) + b"]"
            many += b" " * (2**22 - len(many))
            assert len(many) == 2**22
            told = proxy.ask("POST", "/reports", many, {**json, **planted.headers("long")}, source=(ADDRESS, 0))
            assert told[:2] == (200, b'{"counted":10000,"known":0}')
            for longer in (2**22 + 1, 2**23):  # refused by the collector, and by the proxy
                with suppress(*BROKEN):
                    status = proxy.ask("POST", "/reports", b"[" + b" " * longer, json, source=(ADDRESS, 0))[0]
                    assert status in {413, 502}  # seldom 502: a collector that refuses and hangs up may look gone

            # What is for the inside stays there, however it is written.
            for path in (
                "/metrics",
                "/healthz",
                "//metrics",
                "/%6detrics",
                "/metrics/",
                "/./healthz",
                "/x/../metrics",
                "/healthz?x",
            ):
                status, words, _ = proxy.ask("GET", path)
                assert status in {301, 307, 308, 400, 404} and b"bipartite" not in words, path
            assert running.ask("GET", "/metrics")[0] == running.ask("GET", "/healthz")[0] == 200

            # The limit is that of the people's own address, whatever they say it is.
            def limited(source):
                said = {**json, "X-Forwarded-For": f"203.0.113.{os.urandom(1)[0]}"}
                return [proxy.ask("POST", "/reports", small, said, source=(source, 0))[0] for _ in range(2 * RATE + 1)]

            assert 429 in limited("127.83.91.108")  # each of two workers counts for itself
            assert proxy.ask("POST", "/reports", small, json, source=("127.83.91.109", 0))[0] == 200

            # What goes wrong: requests that are none, bodies that stop, break off, and a collector that is gone.
            proxy.strange(planted)
            half = [proxy.unfinished(planted) for _ in range(3)]
            time.sleep(1)
            assert proxy.found(planted) == {}
            half.pop().close()
            running.__exit__()
            half.pop().close()
            for path in ("/", "/reports"):
                assert proxy.ask("GET", path, None, planted.headers("down"), source=(ADDRESS, 0))[0] == 502
            with suppress(*BROKEN):
                told = proxy.ask("POST", "/reports", many, {**json, **planted.headers("down")}, source=(ADDRESS, 0))
                assert told[0] == 502
            assert proxy.found(planted) == {}
            half.pop().close()
        assert proxy.found(planted) == {}
