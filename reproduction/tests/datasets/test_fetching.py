"""Fetching, from a server of the test's own on this machine."""

import gzip
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bipartite.errors import DataFileError, MissingDataError
from reproduction.datasets import File, find
from reproduction.tests.datasets.conftest import toy

GOOD = bytes(range(256)) * 1_000
PAGE = b"<html>Please log in to this network</html>"


@pytest.fixture
def publisher(monkeypatch):
    """Answers each path with the bytes of a list, one after the other, the last one for ever; else with 404."""
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr("pooch.core.time.sleep", lambda _: None)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            server.asked.append(self.path)
            answers = server.answers.get(self.path)
            if not answers:
                self.send_error(404)
                return
            content, length = answers.pop(0) if len(answers) > 1 else answers[0], len(answers[-1])
            self.send_response(200)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments):
            """Nothing to the terminal."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.answers, server.asked = {}, []
        server.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def source_at(publisher, name="toy.bin", content=None, hosts=("",)):
    sha256 = content and hashlib.sha256(content).hexdigest()
    return toy(File(name, tuple(f"{publisher.address}{host}/{name}" for host in hosts), sha256))


def test_a_file_is_fetched_once_checked_and_kept_in_the_cache_alone(publisher, cache, folder):
    publisher.answers["/toy.bin"] = [GOOD]
    for _ in range(2):
        found = find(source_at(publisher, content=GOOD))
        assert (found.path, found.standing, found.content) == (cache / "toy.bin", "official", GOOD)
    assert publisher.asked == ["/toy.bin"]
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("cache")
def test_without_a_known_checksum_it_is_accepted_as_unchecked_and_what_breaks_off_is_tried_again(publisher):
    packed = gzip.compress(GOOD)
    publisher.answers["/toy.txt.gz"] = [packed[:100], packed]  # the length of the whole, and less
    found = find(source_at(publisher, "toy.txt.gz"))
    assert (found.standing, found.content, len(publisher.asked)) == ("unchecked", GOOD, 2)


@pytest.mark.parametrize(
    ("name", "known", "wrong"),
    [("toy.bin", GOOD, b"other bytes"), ("toy.bin", GOOD, PAGE), ("toy.gz", GOOD, gzip.compress(b"other"))]
    + [(name, None, PAGE) for name in ("toy.txt.gz", "toy.csv")],
    ids=["other bytes", "page", "other archive", "page for an archive", "page for a table"],
)
def test_other_bytes_or_the_page_of_a_network_are_refused_and_not_kept(publisher, cache, name, known, wrong):
    publisher.answers[f"/{name}"] = [wrong]
    url = f"{publisher.address}/{name}"
    reason = f"Expected what {url} holds to have sha256 " if known else f"{url} .*perhaps a web page.* open the address"
    with pytest.raises(DataFileError, match=f"What came from {url} was not kept: {reason}"):
        find(source_at(publisher, name, known))
    assert publisher.asked == [f"/{name}"] * 3
    assert list(cache.iterdir()) == []


@pytest.mark.usefixtures("cache")
def test_a_mirror_is_asked_when_the_publisher_fails_or_answers_with_something_else(publisher):
    for answers in ([], [PAGE]):
        publisher.answers.update({"/old/toy.bin": answers, "/new/toy.bin": [GOOD]})
        find(source_at(publisher, content=GOOD, hosts=("/old", "/new"))).path.unlink()


def test_what_cannot_be_had_or_kept_says_why_and_where_to_put_it(publisher, cache):
    with pytest.raises(MissingDataError) as caught:
        find(source_at(publisher))
    assert f"({publisher.address}/toy.bin: the server answers 404 Not Found" in str(caught.value)
    assert f"put it, named toy.bin, into {cache}" in str(caught.value)
    cache.rmdir()
    cache.write_bytes(b"a file where a folder is expected")
    publisher.answers["/toy.bin"] = [GOOD]
    with pytest.raises(MissingDataError, match=f"it cannot be kept in {cache} "):
        find(source_at(publisher))
    cache.unlink()
    with pytest.raises(MissingDataError, match="toy.bin: no connection"):
        find(toy(urls=("http://127.0.0.1:1/toy.bin",)))
    assert list(cache.iterdir()) == []
