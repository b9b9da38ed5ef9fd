"""A server that speaks the OpenAI protocol over real HTTP and answers as a script says, well or
badly.

Run as a program it answers after a fixed time: `python scripted_llm.py SECONDS` prints its address,
and it ends with its standard input.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "scripted"


@dataclass(frozen=True)
class Turn:
    """What happens to one request.

    content: the model's words; None: the least that its schema allows. body: instead of a
    completion around them. delay: seconds before the answer. cut: bytes of the body after which the
    connection is cut. drip: seconds between two bytes.
    """

    status: int = 200
    content: str | None = None
    body: bytes | None = None
    headers: tuple[tuple[str, str], ...] = ()
    delay: float = 0.0
    cut: int | None = None
    drip: float = 0.0
    finish: str = "stop"
    tokens: int = 7


Script = Callable[[dict[str, Any]], Turn]


def error(status: int, message: str, **headers: str) -> Turn:
    """A refusal in vLLM's form; headers with _ for -."""
    body = json.dumps(
        {"error": {"message": message, "type": "BadRequestError", "code": status}}
    ).encode()
    return Turn(
        status,
        body=body,
        headers=tuple((name.replace("_", "-"), value) for name, value in headers.items()),
    )


def in_turn(turns: Iterable[Turn], then: Turn | None = None) -> Script:
    """These turns one after another, then always the last one (or `then`)."""
    rest, lock = list(turns), threading.Lock()
    last = then or rest[-1]

    def script(_: dict[str, Any]) -> Turn:
        with lock:
            return rest.pop(0) if rest else last

    return script


def least(schema: Any) -> Any:
    """A value that a plain schema allows."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for name in ("anyOf", "oneOf"):
        if name in schema:
            return least(schema[name][0])
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object" or "properties" in schema:
        wanted = schema.get("required", schema.get("properties", {}))
        return {name: least(schema["properties"][name]) for name in wanted}
    if kind == "array":
        return [least(schema["items"]) for _ in range(schema.get("minItems", 0))]
    if kind in ("integer", "number"):
        return max(schema.get("minimum", 0), 0)
    if kind == "boolean":
        return False
    return None if kind == "null" else "x" * schema.get("minLength", 0)


@dataclass
class ScriptedLLM:
    """Starts at once, on a free port of the loopback interface. requests: the bodies of the chats
    that came, in order.

    script: what happens to a chat. key: what has to be given, None for nothing. listing: instead of
    its list of models. others: further models. most: requests under way at once.
    """

    script: Script = field(default=lambda request: Turn())
    model: str = MODEL
    key: str | None = None
    listing: bytes | None = None
    port: int = 0
    requests: list[dict[str, Any]] = field(default_factory=list)
    most: int = 0
    others: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        outer, lock = self, threading.Lock()
        self._under_way = 0

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # One packet an answer: headers and body apart would wait for each other (Nagle)
            wbufsize = -1

            def log_message(self, format: str, *args: Any) -> None:
                pass

            def do_GET(self) -> None:
                data: dict[str, Any] = {"/version": {"version": "0.0.scripted"}, "/health": {}}.get(
                    self.path, {}
                )
                if self.path == "/v1/models":
                    data = {"object": "list", "data": [{"id": outer.model, "object": "model"}]}
                known = self.path in ("/version", "/health", "/v1/models")
                self.answer(self.admitted() or Turn(200 if known else 404, body=self.listed(data)))

            def listed(self, data: dict[str, Any]) -> bytes:
                return (
                    json.dumps(data).encode()
                    if outer.listing is None or "data" not in data
                    else outer.listing
                )

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    outer.requests.append(request)
                    outer._under_way += 1
                    outer.most = max(outer.most, outer._under_way)
                try:
                    turn = self.admitted()
                    if turn is None and request["model"] not in (outer.model, *outer.others):
                        turn = error(404, f"The model `{request['model']}` does not exist.")
                    self.answer(turn or outer.script(request), request)
                finally:
                    with lock:
                        outer._under_way -= 1

            def admitted(self) -> Turn | None:
                given = self.headers.get("Authorization")
                is_open = outer.key is None or not self.path.startswith("/v1")  # as with vLLM
                return (
                    None
                    if is_open or given == f"Bearer {outer.key}"
                    else error(401, f"no: {given}")
                )

            def answer(self, turn: Turn, request: dict[str, Any] | None = None) -> None:
                time.sleep(turn.delay)
                body = (
                    completed(turn, request or {}, outer.model) if turn.body is None else turn.body
                )
                try:
                    self.send_response(turn.status)
                    for name, value in turn.headers:
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    if turn.drip:
                        for at in range(len(body)):
                            self.wfile.write(body[at : at + 1])
                            self.wfile.flush()
                            time.sleep(turn.drip)
                    else:
                        self.wfile.write(body[: turn.cut])
                        self.wfile.flush()
                except OSError:  # the client has gone
                    self.close_connection = True
                if turn.cut is not None:
                    self.connection.shutdown(socket.SHUT_RDWR)
                    self.close_connection = True

        class Server(ThreadingHTTPServer):
            request_queue_size = 256
            daemon_threads = True

        self._server = Server(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        ).start()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        """Take no more connections; those there are end with their clients."""
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> ScriptedLLM:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def completed(turn: Turn, request: dict[str, Any], model: str) -> bytes:
    """A chat completion."""
    schema = request.get("response_format", {}).get("json_schema", {}).get("schema")
    content = (
        (json.dumps(least(schema)) if schema else "yes") if turn.content is None else turn.content
    )
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": turn.finish}
    usage = {"prompt_tokens": 0, "completion_tokens": turn.tokens, "total_tokens": turn.tokens}
    return json.dumps(
        {
            "id": "1",
            "object": "chat.completion",
            "model": model,
            "choices": [choice],
            "usage": usage,
        }
    ).encode()


if __name__ == "__main__":
    seconds = float(sys.argv[1])
    print(ScriptedLLM(lambda request: Turn(delay=seconds)).url, flush=True)
    sys.stdin.read()
