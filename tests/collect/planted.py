"""What says who asked, planted in requests to be searched for in memory and files."""

import http.client
import ipaddress
import os
import re
from contextlib import suppress
from pathlib import Path

from tests.collect.reports import envelope, written

ADDRESS = "127.83.91.107"
"""An address of this machine from which nothing else comes, and its bytes."""
FORWARDED = "2001:db8:5eed:f00d::beef", "203.0.113.77"


class Planted:
    """Marks that were sent, each with where."""

    def __init__(self, running, study):
        self.running, self.study = running, study
        self.marks = {}

    def mark(self, where, length=0):
        """Text that stands nowhere else, to the end of which the mark is repeated."""
        name = f"pl4nted{os.urandom(8).hex()}"
        self.marks[name.encode()] = where
        return " ".join([name] * max(1, length // len(name)))

    def headers(self, where, length=0):
        """All that says who somebody is."""
        return {
            "User-Agent": self.mark(f"agent: {where}", length),
            "Cookie": f"operator={self.mark(f'cookie: {where}', length)}; other={self.mark(f'2nd cookie: {where}')}",
            "Referer": f"https://{self.mark(f'referrer: {where}', length)}.example/",
            "X-Forwarded-For": f"{self.mark(f'forwarded name: {where}')}, {FORWARDED[0]}, {FORWARDED[1]}",
            "X-Real-Ip": self.mark(f"real address: {where}"),
            "Authorization": f"Basic {self.mark(f'authorization: {where}', length)}",
            "Accept": "text/html",
        }

    def send(self):
        """Requests of every kind."""
        ask, source = self.running.ask, (ADDRESS, 0)
        age = self.study.questions[0]
        for length in (0, 2_000, 12_000):
            for path in ("/", "/answers", "/operator?link=none", "/specs.json", "/healthz", "/metrics", "/nothing"):
                ask("GET", path, None, self.headers(f"GET {path} {length}", length), source=source)
            ask("POST", "/operator?link=none", b"", self.headers(f"POST /operator {length}", length), source=source)
            ask("OPTIONS", "/reports", b"", self.headers(f"OPTIONS {length}", length), source=source)
            for wrong in (False, True):
                body = written(envelope(self.study, age, "none" if wrong else 40))
                held = {"Content-Type": "text/plain", **self.headers(f"POST, {wrong=} {length}", length)}
                status, _, _ = ask("POST", "/reports", body, held, source=source)
                assert status == (422 if wrong else 200)
        # A request that breaks off, and one that is none.
        broken = http.client.HTTPConnection("127.0.0.1", self.running.port, source_address=source)
        broken.putrequest("POST", "/reports", skip_accept_encoding=True)
        for name, value in self.headers("broken off").items():
            broken.putheader(name, value)
        broken.putheader("Content-Length", "1000")
        broken.endheaders(b"[")
        broken.close()
        none = http.client.HTTPConnection("127.0.0.1", self.running.port, source_address=source)
        none.connect()
        none.sock.sendall(f"GET / HTTP/1.1\r\nUser-Agent: {self.mark('no request')}\r\n\x00: \r\n\r\n".encode())
        none.sock.recv(1000)
        none.close()

    def found(self, held):
        """Where the marks that stand in these bytes were planted."""
        found = {self.marks[each] for each in set(re.findall(rb"pl4nted[0-9a-f]{16}", held)) if each in self.marks}
        if b"pl4nted" in held and not found:
            found.add("a part of a mark")
        for each in (ADDRESS, *FORWARDED):
            found |= {each for text in (each.encode(), ipaddress.ip_address(each).packed) if text in held}
        return found


def memory(pid):
    """The bytes of each part of a process's memory that it can write."""
    with Path(f"/proc/{pid}/mem").open("rb", 0) as held:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            start, end = (int(each, 16) for each in line.split()[0].split("-"))
            if not line.split()[1].startswith("rw"):
                continue  # nothing that came was written there
            with suppress(OSError):
                held.seek(start)
                yield line, without_zeros(held, end - start)


def without_zeros(held, size):
    """The bytes of a file, without megabytes of zeros: most of a process's memory was never touched."""
    parts = []
    while part := held.read(min(size, 2**20)):
        size -= len(part)
        if part != bytes(len(part)):
            parts.append(part)
    return b"".join(parts)
