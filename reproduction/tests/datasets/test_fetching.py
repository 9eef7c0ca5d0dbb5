"""Fetching, from a server of the test's own on this machine."""

import gzip
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bipartite.errors import DataFileError, MissingDataError
from reproduction.datasets.finding import find
from reproduction.datasets.sources import File, Source

GOOD = bytes(range(256)) * 1_000
PAGE = b"<html>Please log in to this network</html>"


class Publisher:
    """Answers each path with the bytes of a list, one after the other, the last one for ever; None is an error."""

    def __init__(self):
        self.answers = {}
        self.asked = []
        publisher = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                publisher.asked.append(self.path)
                answers = publisher.answers.get(self.path, [None])
                answer = answers.pop(0) if len(answers) > 1 else answers[0]
                if answer is None:
                    self.send_error(404)
                    return
                content, length = answer if isinstance(answer, tuple) else (answer, len(answer))
                self.send_response(200)
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *arguments):
                """Nothing to the terminal."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def publisher(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr("pooch.core.time.sleep", lambda _: None)
    publisher = Publisher()
    yield publisher
    publisher.close()


def source(*files):
    return Source("toy", "toy()", 1, "CC0", "Somebody, 2026", {"data": files})


def toy(publisher, sha256=None, name="toy.bin", hosts=("",)):
    return source(File(name, tuple(f"{publisher.address}{host}/{name}" for host in hosts), sha256))


def checksum(content):
    return hashlib.sha256(content).hexdigest()


def test_a_file_is_fetched_once_checked_and_kept(publisher, cache):
    publisher.answers["/toy.bin"] = [GOOD]
    seen = []
    for _ in range(2):
        found = find(toy(publisher, checksum(GOOD)), "data", lambda by, total: seen.append((by, total)))
        assert (found.path, found.standing) == (cache / "toy.bin", "official")
    assert (cache / "toy.bin").read_bytes() == GOOD
    assert publisher.asked == ["/toy.bin"]
    assert sum(by for by, _ in seen) == len(GOOD)
    assert {total for _, total in seen} == {len(GOOD)}


def test_the_folder_of_the_user_is_never_written_to(publisher, cache, folder):
    publisher.answers["/toy.bin"] = [GOOD]
    assert find(toy(publisher, checksum(GOOD)), "data").path.parent == cache
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("cache")
def test_without_a_known_checksum_it_is_accepted_as_unchecked(publisher):
    publisher.answers["/toy.txt.gz"] = [gzip.compress(GOOD)]
    assert find(toy(publisher, name="toy.txt.gz"), "data").standing == "unchecked"


@pytest.mark.parametrize("wrong", [b"other bytes", PAGE], ids=["other bytes", "a web page"])
def test_a_wrong_checksum_is_an_error_and_nothing_is_kept(publisher, cache, wrong):
    publisher.answers["/toy.bin"] = [wrong]
    with pytest.raises(
        DataFileError, match=f"What came from {publisher.address}/toy.bin is another file than expected"
    ):
        find(toy(publisher, checksum(GOOD)), "data")
    assert publisher.asked == ["/toy.bin"] * 3
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("name", ["toy.txt.gz", "toy.zip", "toy.csv"])
def test_the_page_of_a_network_is_not_taken_for_a_file_whose_checksum_is_not_known(publisher, cache, name):
    publisher.answers[f"/{name}"] = [PAGE]
    with pytest.raises(DataFileError, match=f"it is no .{name.rsplit('.', 1)[1]} file, perhaps a web page"):
        find(toy(publisher, name=name), "data")
    assert list(cache.iterdir()) == []


@pytest.mark.usefixtures("cache")
def test_a_download_that_breaks_off_is_tried_again(publisher):
    publisher.answers["/toy.bin"] = [(GOOD[:1_000], len(GOOD)), GOOD]
    assert find(toy(publisher), "data").sha256 == checksum(GOOD)
    assert len(publisher.asked) == 2


@pytest.mark.usefixtures("cache")
def test_a_mirror_is_asked_when_the_publisher_fails_or_answers_with_something_else(publisher):
    for answers in ([None], [PAGE]):
        publisher.answers.update({"/old/toy.bin": answers, "/new/toy.bin": [GOOD]})
        find(toy(publisher, checksum(GOOD), hosts=("/old", "/new")), "data").path.unlink()


def test_a_cache_that_cannot_be_written_is_named(publisher, cache):
    publisher.answers["/toy.bin"] = [GOOD]
    cache.write_bytes(b"a file where a folder is expected")
    with pytest.raises(MissingDataError, match=f"it cannot be kept in {cache} "):
        find(toy(publisher), "data")


def test_what_cannot_be_had_says_why_and_where_to_put_it(publisher, cache):
    with pytest.raises(MissingDataError) as caught:
        find(toy(publisher), "data")
    assert f"  {publisher.address}/toy.bin: the server answers 404 Not Found" in str(caught.value)
    assert f"put it, named toy.bin, into {cache}" in str(caught.value)
    gone = toy(publisher)
    publisher.close()
    with pytest.raises(MissingDataError, match="toy.bin: no connection"):
        find(gone, "data")
    assert not cache.exists() or list(cache.iterdir()) == []
