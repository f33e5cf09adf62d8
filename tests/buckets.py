"""A real S3 server on this machine, a process of its own; what it holds is put there without object_store."""

from __future__ import annotations

import http.client
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote

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
            connection.request(method, f"/{self.name}{path}", body=content)
            answer = connection.getresponse()
            assert answer.status < 300, answer.read()
            return answer.read()
        finally:
            connection.close()

    def url(self, path: str = "") -> str:
        """URL of the bucket, or of a folder in it."""
        return f"s3://{self.name}/{path}".rstrip("/")

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
