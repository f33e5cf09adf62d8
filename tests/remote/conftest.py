"""One server for all tests, and a bucket for each."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator

import pytest

from buckets import Between, Bucket, Watch, between, serving, watching


@pytest.fixture(scope="session")
def port() -> Iterator[int]:
    """Where the server listens."""
    with serving() as found:
        yield found


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    """Credentials that mean nothing, and the server in Amazon's place."""
    for name in os.environ:
        if name.startswith(("AWS_", "AZURE_", "GOOGLE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "FwoGZXIvYXdzEXAMPLE+token==")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")


@pytest.fixture
def bucket(port: int) -> Bucket:
    """An empty bucket."""
    made = Bucket(f"test-{uuid.uuid4().hex}", port)
    made.ask("PUT")
    return made


@pytest.fixture
def proxy(port: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Between]:
    """A server between us and that one, which may refuse what is asked; not for deltalake."""
    with between(port) as made:
        monkeypatch.setenv("AWS_ENDPOINT_URL", made.url)
        yield made


@pytest.fixture
def watch(port: int, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    """A server between us and that one, which writes down what is asked and may refuse it."""
    with watching(port, tmp_path_factory.mktemp("watch")) as made:
        monkeypatch.setenv("AWS_ENDPOINT_URL", made.url)
        yield made
