"""Errors of the client of object stores as sentences: where, what is wrong, and what to do."""

from __future__ import annotations

import os
import re

from evenflow.transforms.storage.storage import StorageError

METADATA = "169.254.169.254"  # where a cloud's machines get their keys
KEYS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
}
# What a store's error means, by its status and code, or else by the client's words
REASONS = (
    (
        "NoSuchBucket|ContainerNotFound",
        "there is no such bucket; make it, or give another address",
    ),
    (
        "InvalidAccessKeyId|SignatureDoesNotMatch|UserNotFound|ExpiredToken|InvalidToken"
        "|AuthenticationFailed|401 Unauthorized",
        "the store does not accept these keys; check {keys}, and that they have not expired",
    ),
    (
        "RequestTimeTooSkewed",
        "this machine's clock differs too much from the store's; set it (a time service keeps it)",
    ),
    (
        "PermanentRedirect|AuthorizationHeaderMalformed|IllegalLocation|configured region",
        "the bucket is in another region{region}; set AWS_REGION",
    ),
    (
        METADATA.replace(".", r"\.") + "|metadata.google",
        "no keys were found; set {keys} in the environment (files in ~/.aws are not read)",
    ),
    (
        "AccessDenied|403 Forbidden",
        "the store does not allow these keys to {what}; give them that right for this bucket"
        " (read, write, list and delete are needed)",
    ),
    (
        "NotImplemented|501 Not",
        "this store lacks what a run needs (it answers {code}): conditional writes, copies, lists,"
        " deletes; give another address",
    ),
    (
        "SlowDown|TooManyRequests|429 Too|50[0234] ",
        "the store failed to {what} again and again ({code}); run the same command when it is well",
    ),
    (
        "error sending request|body error|timed out",
        "the store does not answer{endpoint}; check the address and the network",
    ),
)
OF_MISSING = 2  # of REASONS: what a store may answer as if a file were missing


def explained(error: Exception, scheme: str, address: str, what: str) -> OSError:
    """Turn an error of the client into one for people."""
    text = str(error)
    host = re.search(r"performing [A-Z]+ https?://([^/\s:]+)", text)
    answer = re.search(
        r"status code: (\d{3} [A-Z][A-Za-z ]+)(?:.*?<Code>(\w+)</Code>)?", text, re.DOTALL
    )
    parts = [host and host[1], *(answer.groups() if answer else (text.rpartition(" - ")[2],))]
    said = " ".join(filter(None, parts))  # no names of files: these could say anything
    region = re.search(r"<Region>([\w-]+)</Region>", text)
    own = os.environ.get("AWS_ENDPOINT_URL") if scheme == "s3" else None
    words = {
        "what": what,
        "keys": KEYS.get(scheme, "the keys"),
        "region": f" ({region[1]})" if region else "",
        "code": (answer[2] or answer[1]) if answer else "",
        "endpoint": f" at {own}" if own else "",
    }
    missing = isinstance(error, FileNotFoundError)
    reasons = REASONS if not missing else REASONS[:OF_MISSING] if answer else ()
    for pattern, reason in reasons:
        if re.search(pattern, said):
            return StorageError(f"{address}: {reason.format_map(words)}")
    if missing:
        return FileNotFoundError(2, "no such object", address)
    return StorageError(f"{address}: cannot {what}: {text.strip().splitlines()[0]}")
