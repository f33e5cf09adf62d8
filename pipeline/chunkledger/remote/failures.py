"""What a library of object stores raises -> an OSError of one line, without anything secret in it."""

from __future__ import annotations

import errno
import os
import re
from urllib.parse import quote

_MOST = 500
_HIDDEN = "***"
_SECRET_NAME = re.compile(r"(?:AWS|AZURE|GOOGLE)_.*(?:KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL|SAS)", re.IGNORECASE)
_NO_SECRETS = ("true", "false")
_SHORTEST = 4
"""A value below it would be found in every other word, and guards nothing."""
_SECRETS = (
    (re.compile(r"(?i)\bauthorization\b.*|\bAWS4-HMAC-SHA256\b.*|\bbearer\s+\S+"), _HIDDEN),
    (re.compile(r"\b(?:A3T[A-Z0-9]|AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{12,}"), _HIDDEN),
    (re.compile(r"://[^/\s@]*@"), f"://{_HIDDEN}@"),
    (
        # Of signed requests: Amazon's, Google's and Azure's names of what makes them valid.
        re.compile(
            r"(?i)\b(x-(?:amz|goog|ms)-[a-z0-9-]+|signature|credential|accesskeyid|awsaccesskeyid|security-?token|sig)"
            r"(\s*[=:]\s*)[^\s&\"'<>,;)]+"
        ),
        rf"\1\2{_HIDDEN}",
    ),
)
_TAG = re.compile(r"<(Code|Message)>([^<]*)</\1>")
_REFUSED = re.compile(r"status code:? 40[13]\b")
_OF_A_MACHINE = ("//169.254.169.254/", "/latest/api/token", "//metadata.google")
"""Where obstore asks for the role of a machine when the environment gives no credentials."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m|↳")


def reason(error: BaseException | str) -> str:
    """What an error of obstore or deltalake says, in one line without credentials.

    Of an answer of the server only its code and message are kept: to a bad signature it repeats the signed request.

    >>> reason("Denied: <Error><Code>AccessDenied</Code><AWSAccessKeyId>AKIAIOSFODNN7EXAMPLE</AWSAccessKeyId></Error>")
    'Denied: AccessDenied'
    """
    text = _COLOUR.sub(" ", str(error)).partition("\n\nDebug source")[0]
    head, mark, body = text.partition("<?xml")
    if not mark:
        head, mark, body = text.partition("<Error>")
    said = [found[2] for found in _TAG.finditer(body)]
    line = " ".join(scrubbed(f"{head} {', '.join(said)}").split())
    line = "".join(char if char.isprintable() else "?" for char in line)
    return line if len(line) <= _MOST else f"{line[:_MOST]}…"


def scrubbed(text: str) -> str:
    """The text without what looks like a credential, and without any that the environment holds."""
    values = {
        value
        for name, value in os.environ.items()
        if _SECRET_NAME.match(name) and len(value.strip()) >= _SHORTEST and value.lower() not in _NO_SECRETS
    }
    # The longest first, so that none leaves a rest of another behind.
    for value in sorted(values, key=len, reverse=True):
        for form in (value, quote(value, safe=""), quote(value)):
            text = text.replace(form, _HIDDEN)
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text


def as_os_error(where: str, error: Exception) -> OSError:
    """The error that says the same about the place: FileNotFoundError, PermissionError, or an OSError.

    Args:
        where: URL of what was asked for.
        error: of obstore.
    """
    said, kind = reason(error), type(error).__name__
    if "<Code>NoSuchBucket</Code>" in str(error):
        return FileNotFoundError(errno.ENOENT, "no such bucket", where)
    if isinstance(error, FileNotFoundError):
        return FileNotFoundError(errno.ENOENT, "no such object", where)
    if kind in ("PreconditionError", "NotModifiedError"):
        return OSError(errno.ESTALE, "the object has changed since it was opened", where)
    if any(mark in said for mark in _OF_A_MACHINE):
        said = f"no credentials in the environment, and no role of this machine gives any ({said})"
    # A listing has no error of its own for it.
    if kind in ("PermissionDeniedError", "UnauthenticatedError") or _REFUSED.search(said):
        return PermissionError(errno.EACCES, f"no permission ({said})", where)
    return OSError(errno.EIO, said, where)
