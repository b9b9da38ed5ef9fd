"""An HTTP proxy on the loopback interface between clients and the S3 server, which makes the
faults that it is told to make.

Requests go on as they came, with their Host header: it is signed, and the server asks for no name
of its own. So clients sign for the proxy's address.
"""

from __future__ import annotations

import html
import http.client
import re
import threading
import time
from contextlib import closing
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import obstore
from obstore.store import S3Store
from services.s3_server import KEY, REGION, SECRET, S3Server, environment

Answer = tuple[int, dict[str, str], bytes]  # status, headers, body
HOP = ("connection", "content-length", "transfer-encoding")  # of one connection or body alone
PUTS = {"if-none-match": "CREATE", "if-match": "UPDATE", "x-amz-copy-source": "COPY"}


@dataclass
class Fault:
    """What happens to some requests; the first fault of a proxy that fits a request counts.

    operation: a regular expression that must match a whole word: GET, HEAD, LIST, PUT (an object
    or a part), CREATE (if there is none), UPDATE (if it has an etag), COPY, DELETE (one or many) or
    POST (the begin and end of a multipart upload). path: one that is found in /BUCKET/KEY?QUERY or,
    where many are deleted, in their keys. after: so many pass first; times: so many then meet it.

    status, code: the answer in the place of the server's own. applied: whether the server gets the
    request nevertheless. drop: close the connection without an answer. half: close it after half of
    the body. delay: seconds before the server gets it. unconditional: the server ignores
    If-None-Match and If-Match. met: how many have met it.
    """

    operation: str = r"\w+"
    path: str = ""
    after: int = 0
    times: int | None = None
    status: int = 0
    code: str = ""
    applied: bool = False
    drop: bool = False
    half: bool = False
    delay: float = 0.0
    unconditional: bool = False
    met: int = field(default=0, init=False)

    def meets(self, operation: str, target: str) -> bool:
        """Whether this request meets it; counts it if so."""
        if not re.fullmatch(self.operation, operation) or not re.search(self.path, target):
            return False
        if self.after:
            self.after -= 1
            return False
        if self.times is not None and self.met >= self.times:
            return False
        self.met += 1
        return True


def denied(operation: str, path: str = "") -> Fault:
    """A missing permission."""
    return Fault(operation, path, status=403, code="AccessDenied")


class _Server(ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients are killed in tests."""


class S3Faults:
    """The proxy, within a with-block. endpoint: what clients take for the server's.

    faults: those that are made now. hidden_seconds: so long is a written key missing in listings.
    """

    def __init__(self, server: S3Server):
        self.server, self.faults, self.hidden_seconds = server, list[Fault](), 0.0
        self._lock, self.written = threading.Lock(), dict[str, float]()
        kind = type("Handler", (_Handler,), {"proxy": self})
        self._http = _Server(("127.0.0.1", 0), kind)
        self.endpoint = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> S3Faults:
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def environment(self) -> dict[str, str]:
        """What a client reads from the environment to reach the server through this proxy."""
        return environment(self.endpoint)

    def make(self, fault: Fault) -> Fault:
        """Make a fault from now on, after those that are made already."""
        self.faults.append(fault)
        return fault

    def find(self, operation: str, target: str, body: bytes) -> Fault | None:
        """The fault that this request meets."""
        if operation == "DELETE":
            target += body.decode()  # where many are deleted, it has their keys
        with self._lock:
            return next((each for each in self.faults if each.meets(operation, target)), None)


class _Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    proxy: S3Faults
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # headers and body leave together
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        operation, target = self._operation(), unquote(self.path)
        fault = self.proxy.find(operation, target, body) or Fault()
        time.sleep(fault.delay)
        text = f"<Error><Code>{fault.code}</Code><Message>made for a test</Message></Error>"
        answer: Answer = (fault.status, {"Content-Type": "application/xml"}, text.encode())
        try:
            if fault.applied or not (fault.status or fault.drop):
                own = self._overwrite(body) if fault.unconditional else self._forward(body)
                answer = answer if fault.status else own
        except (OSError, http.client.HTTPException):  # the server is away
            fault = Fault(drop=True)
        self.close_connection |= fault.drop or fault.half
        if not fault.drop:
            self._answer(*answer, fault.half)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_any  # noqa: N815

    def _operation(self) -> str:
        query = self.path.partition("?")[2]
        if self.command == "GET" and "list-type=" in query:
            return "LIST"
        if self.command == "POST" and query.startswith("delete"):
            return "DELETE"
        if self.command == "PUT":
            return next((PUTS[header] for header in PUTS if header in self.headers), "PUT")
        return self.command

    def _forward(self, body: bytes) -> Answer:
        """The server's answer."""
        with closing(http.client.HTTPConnection(self.proxy.server.address)) as server:
            server.request(self.command, self.path, body, dict(self.headers))
            reply = server.getresponse()
            content = reply.read()
        path = unquote(self.path.partition("?")[0]).rstrip("/")
        if reply.status == 200 and self.command in ("PUT", "POST"):
            self.proxy.written[path] = time.monotonic()

        def listed(entry: re.Match[bytes]) -> bytes:
            [name] = re.findall(r"<Key>(.*?)</Key>", entry[0].decode())
            when = self.proxy.written.get(f"{path}/{html.unescape(name)}", float("-inf"))
            return b"" if time.monotonic() - when < self.proxy.hidden_seconds else entry[0]

        if self._operation() == "LIST":
            content = re.sub(rb"<Contents>.*?</Contents>", listed, content, flags=re.DOTALL)
        headers = {name: value for name, value in reply.getheaders() if name.lower() not in HOP}
        if self.command == "HEAD":  # the length of what it does not bring
            headers["Content-Length"] = reply.getheader("Content-Length", "0")
        return reply.status, headers, content

    def _overwrite(self, body: bytes) -> Answer:
        """Write without the condition. It was signed, so this is a request of the proxy's own."""
        bucket, _, key = unquote(self.path).lstrip("/").partition("/")
        store = S3Store(
            bucket,
            endpoint=self.proxy.server.endpoint,
            access_key_id=KEY,
            secret_access_key=SECRET,
            region=REGION,
            client_options={"allow_http": True},
        )
        return 200, {"ETag": obstore.put(store, key, body)["e_tag"] or ""}, b""

    def _answer(self, status: int, headers: dict[str, str], content: bytes, half: bool) -> None:
        self.send_response_only(status)
        for name, value in ({"Content-Length": str(len(content))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[: len(content) // 2] if half else content)
