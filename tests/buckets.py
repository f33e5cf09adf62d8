"""A real S3 server on this machine, a process of its own; what it holds is put there without object_store."""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

from chunkledger.remote.listing import ObjectInfo
from chunkledger.remote.objects import ObjectStore, object_store

# A process, because deltalake keeps Python's lock while it asks a server, which could then not answer from a thread.
_SERVER = """
import logging, sys
from moto.moto_server.threaded_moto_server import ThreadedMotoServer
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
server.stop()
"""
_SOMEBODY = {"Authorization": "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/s3/aws4_request"}
"""Without it the server lets nobody replace an object; it checks no signature."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket of one test, and the port of the server that it is on."""

    name: str
    port: int

    def put(self, key: str, content: bytes = b"x") -> None:
        """Put an object under a key that may be anything; the server looks at no signature."""
        self.ask("PUT", "/" + quote(key, safe="/"), content)

    def ask(self, method: str, path: str = "", content: bytes | None = None) -> bytes:
        """The server's answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, f"/{self.name}{path}", body=content, headers=_SOMEBODY)
            answer = connection.getresponse()
            assert answer.status < 300, answer.read()
            return answer.read()
        finally:
            connection.close()

    def url(self, path: str = "") -> str:
        """URL of the bucket, or of a folder in it."""
        return f"s3://{self.name}/{path}".rstrip("/")

    def fill(self, folder: Path, path: str) -> str:
        """Put the files of a folder on disk below a path; its URL."""
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                self.put(f"{path}/{file.relative_to(folder).as_posix()}", file.read_bytes())
        return self.url(path)

    def names(self, path: str) -> list[str]:
        """Names of all objects below a path."""
        return sorted(info.name for info in self.store(path).infos() if isinstance(info, ObjectInfo))

    def remove(self, key: str) -> None:
        """Remove an object."""
        self.ask("DELETE", "/" + quote(key, safe="/"))

    def store(self, path: str = "") -> ObjectStore:
        """The store below such a URL."""
        return object_store(self.url(path))


@contextmanager
def serving() -> Iterator[int]:
    """The server, and the port that it listens on."""
    command = (sys.executable, "-c", _SERVER)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.stdin.close()
            process.wait(30)


@dataclass(slots=True)
class Between:
    """A server that passes everything on to another one, unless it is to refuse it.

    Attributes:
        url: its own.
        refuses: whether a request of this method and path is refused, as a server does that repeats what was signed.
    """

    url: str
    refuses: Callable[[str, str], bool] = lambda method, path: False


@dataclass(frozen=True, slots=True)
class Watch:
    """A server in a process of its own that passes everything on, writes down what, and may refuse it.

    Attributes:
        url: its own.
        folder: where its files are.
    """

    url: str
    folder: Path

    def requests(self) -> list[str]:
        """Method and path of each request since the last `forget`."""
        return (self.folder / "requests").read_text().splitlines()

    def read(self, part: str) -> list[str]:
        """Those of objects that were read whose path has this part."""
        return [
            each for each in self.requests() if each.startswith("GET /") and part in each and "list-type" not in each
        ]

    def forget(self) -> None:
        """Forget the requests."""
        (self.folder / "requests").write_text("")

    def refuse(self, pattern: str) -> None:
        """Refuse requests whose method and path have this pattern; "" refuses none."""
        (self.folder / "refused").write_text(pattern)


def refusal(headers: str) -> bytes:
    """What a server answers to a bad signature: it repeats the request."""
    return (
        "<?xml version='1.0'?>\n<Error><Code>SignatureDoesNotMatch</Code><Message>What was signed is another request."
        f"</Message><StringToSign>{headers}</StringToSign></Error>"
    ).encode()


@contextmanager
def between(port: int) -> Iterator[Between]:
    """A server before the one that listens on a port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if made.refuses(self.command, self.path):
                self._answer(403, {}, refusal(str(self.headers)))
                return
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            try:
                connection.request(self.command, self.path, body=body or None, headers=dict(self.headers))
                answer = connection.getresponse()
                self._answer(answer.status, dict(answer.getheaders()), answer.read())
            finally:
                connection.close()

        def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response_only(status)
            # The length of what HEAD would bring is in its answer too.
            length = headers.get("Content-Length", str(len(body))) if self.command == "HEAD" else str(len(body))
            for name, value in headers.items():
                if name.lower() not in ("content-length", "connection", "transfer-encoding"):
                    self.send_header(name, value)
            self.send_header("Content-Length", length)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _pass

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        made = Between(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield made
        finally:
            server.shutdown()
            thread.join()


_WATCH = """
import pathlib, re, sys
from buckets import between
folder = pathlib.Path(sys.argv[2])
def refuses(method, path):
    with (folder / "requests").open("a") as file:
        file.write(f"{method} {path}\\n")
    pattern = (folder / "refused").read_text()
    return bool(pattern) and re.search(pattern, f"{method} {path}") is not None
with between(int(sys.argv[1])) as made:
    made.refuses = refuses
    print(made.url, flush=True)
    sys.stdin.read()
"""


@contextmanager
def watching(port: int, folder: Path) -> Iterator[Watch]:
    """A server before the one that listens on a port; a process, for the same reason."""
    for name in ("requests", "refused"):
        (folder / name).write_text("")
    command = (sys.executable, "-c", _WATCH, str(port), str(folder))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Watch(process.stdout.readline().strip(), folder)
        finally:
            process.stdin.close()
            process.wait(30)
