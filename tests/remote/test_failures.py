"""What goes wrong between a store and us is one clear line without a secret in it."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from deltalake import DeltaTable

from buckets import Bucket
from chunkledger.errors import Conflict, ObjectStoreError
from chunkledger.remote.failures import reason, scrubbed
from chunkledger.remote.objects import ObjectStore, object_store
from chunkledger.remote.urls import storage_options

KEY, SECRET, TOKEN = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "FwoGZXIvYXdzEXAMPLE+token=="
SIGNATURE = "fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc963176630326f1024"
ANSWER = (
    "<?xml version='1.0'?>\n<Error><Code>{}</Code><Message>What the server says.</Message>"
    f"<AWSAccessKeyId>{KEY}</AWSAccessKeyId><StringToSign>AWS4-HMAC-SHA256 {SECRET}</StringToSign>"
    f"<SignatureProvided>{SIGNATURE}</SignatureProvided><CanonicalRequest>x-amz-security-token:{TOKEN}"
    "</CanonicalRequest></Error>"
)
Call = Callable[[ObjectStore], object]
CALLS: list[Call] = [
    lambda store: list(store.infos()),
    lambda store: store.info("x"),
    lambda store: store.read("x"),
    lambda store: store.read_at_most("x", 9),
    lambda store: store.open("x"),
    lambda store: store.write("x", b"x"),
    lambda store: store.write("x", b"x", if_absent=True),
    lambda store: store.remove(["x"]),
]


@contextmanager
def _answering(status: int, body: str) -> Iterator[str]:
    """The URL of a server that gives this answer to everything."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body.encode())

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _answer

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def _said(call: Call, store: ObjectStore) -> tuple[OSError, str]:
    with pytest.raises(OSError) as raised:  # noqa: PT011 (which one it is, the tests look at)
        call(store)
    trace = "".join(traceback.format_exception(raised.value))
    for secret in (KEY, SECRET, TOKEN, SIGNATURE, "AWS4-HMAC"):
        assert secret not in trace
    assert len(str(raised.value).splitlines()) == 1
    return raised.value, str(raised.value)


@pytest.mark.parametrize("call", [CALLS[2], CALLS[3], CALLS[4]])
def test_missing_object_is_a_missing_file(bucket: Bucket, call: Call) -> None:
    """It is named by its URL."""
    error, said = _said(call, bucket.store("docs"))
    assert isinstance(error, FileNotFoundError)
    assert said == f"[Errno 2] no such object: 's3://{bucket.name}/docs/x'"


@pytest.mark.parametrize("call", [CALLS[0], CALLS[2], CALLS[5]])
def test_missing_bucket_is_told_from_a_missing_object(call: Call) -> None:
    """A bucket that is not there is not an empty one."""
    error, said = _said(call, object_store("s3://nobody-made-this/docs"))
    assert isinstance(error, FileNotFoundError)
    assert said.startswith("[Errno 2] no such bucket: 's3://nobody-made-this/docs")


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("status", "code"), [(403, "SignatureDoesNotMatch"), (401, "InvalidToken")])
def test_refused_request(monkeypatch: pytest.MonkeyPatch, call: Call, status: int, code: str) -> None:
    """It is a PermissionError, and the request that the server repeats is not in it nor in its trace."""
    with _answering(status, ANSWER.format(code)) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        error, said = _said(call, object_store("s3://bucket/docs"))
    assert isinstance(error, PermissionError)
    assert "s3://bucket/docs" in said


@pytest.mark.parametrize("call", [CALLS[0], CALLS[2], CALLS[5]])
def test_server_is_quoted_by_code_and_message(monkeypatch: pytest.MonkeyPatch, call: Call) -> None:
    """What it says is of use; the rest of its answer is not."""
    with _answering(400, ANSWER.format("Odd")) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        _, said = _said(call, object_store("s3://bucket/docs"))
    assert "Odd, What the server says." in said
    assert "s3://bucket/docs" in said


@pytest.mark.parametrize("call", [CALLS[0], CALLS[6]])
def test_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch, call: Call) -> None:
    """A port at which nobody listens is given up soon."""
    with _answering(500, "") as url:
        pass
    monkeypatch.setenv("AWS_ENDPOINT_URL", url.replace("://", f"://user:{SECRET.replace('/', '')}@"))
    _, said = _said(call, object_store("s3://bucket/docs"))
    assert "error sending request" in said
    assert SECRET.replace("/", "") not in said


@pytest.mark.parametrize(
    ("url", "name", "value", "said"),
    [
        ("az://c/x", "AZURE_STORAGE_ACCOUNT_KEY", "hunter22", "Account must be specified"),
        ("gs://c/x", "GOOGLE_SERVICE_ACCOUNT_KEY", "hunter22", "Unable to decode service account file"),
        ("s3://c/x", "AWS_CHECKSUM_ALGORITHM", "hunter22", "not a valid checksum algorithm"),
    ],
)
def test_environment_that_does_not_fit(
    monkeypatch: pytest.MonkeyPatch, url: str, name: str, value: str, said: str
) -> None:
    """What the library can't take is told when the store is opened, in one line."""
    monkeypatch.setenv(name, value)
    with pytest.raises(ObjectStoreError) as raised:
        object_store(url)
    assert str(raised.value).startswith(f"{url} can't be opened with what the environment says: ")
    assert said in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


def test_conditions_hold_whatever_the_environment_says(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that switches conditional writes off for other programs does not do so for ours."""
    monkeypatch.setenv("AWS_CONDITIONAL_PUT", "disabled")
    store = bucket.store()
    store.write("x", b"1", if_absent=True)
    with pytest.raises(Conflict):
        store.write("x", b"2", if_absent=True)


def test_no_credentials_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where neither the environment nor the machine gives any, the message says so."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name)
    with _answering(404, "") as url:
        monkeypatch.setenv("AWS_METADATA_ENDPOINT", url)
        _, said = _said(CALLS[2], object_store("s3://bucket/docs"))
    assert "no credentials in the environment, and no role of this machine gives any" in said


def test_reason_of_deltalake_is_clean_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its errors hold the whole answer in colour; the same line is made of them."""
    with _answering(403, ANSWER.format("SignatureDoesNotMatch")) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        with pytest.raises(OSError, match=KEY) as raised:
            DeltaTable("s3://bucket/x", storage_options=storage_options("s3://bucket/x"))
    said = reason(raised.value)
    assert "SignatureDoesNotMatch, What the server says." in said
    assert not [secret for secret in (KEY, SECRET, TOKEN, SIGNATURE, "\x1b") if secret in said]


@pytest.mark.parametrize(
    "text",
    [
        f"GET /b?X-Amz-Credential={KEY}%2F20260101&X-Amz-Signature={SIGNATURE}&X-Amz-Security-Token=abc",
        f"Authorization: AWS4-HMAC-SHA256 Credential={KEY}/20260101, Signature={SIGNATURE}",
        f'headers: {{"authorization": "Bearer {TOKEN}", "x-amz-security-token": "{TOKEN}"}}',
        f"token {TOKEN} of ASIAIOSFODNN7EXAMPLE",
        "token FwoGZXIvYXdzEXAMPLE%2Btoken%3D%3D",
        f"https://me:{SIGNATURE}@host/x",
        f"https://account.blob.example/c?sv=1&sig={SIGNATURE}",
    ],
)
def test_secrets_are_scrubbed(text: str) -> None:
    """Whatever its form: of a signed URL, of a header, or a value that the environment holds."""
    found = scrubbed(text)
    assert "***" in found
    for secret in (KEY, SECRET, TOKEN, SIGNATURE, "FwoG", "ASIA", "abc"):
        assert secret not in found


def test_plain_words_stay() -> None:
    """A message about keys and signatures in general is left as it is."""
    text = "The request signature we calculated does not match; check key and region of s3://bucket/a key/x.md"
    assert scrubbed(text) == text
    assert len(reason("x" * 5000)) < 600
