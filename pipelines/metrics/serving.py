"""Collects the metrics of gates for Prometheus, and serves them and the gates' health."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

from prometheus_client import (
    CollectorRegistry,
    Metric,
    ProcessCollector,
    generate_latest,
    make_wsgi_app,
    push_to_gateway,
)
from prometheus_client.exposition import ThreadingWSGIServer, basic_auth_handler, default_handler
from prometheus_client.registry import Collector

from evenflow.pipelines.metrics.watching import Watched
from evenflow.schemas.config import ConfigError
from evenflow.transforms.storage.directory import Directory

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

PUSH_AUTH = "EVENFLOW_PUSH_AUTH"  # the environment variable of a Pushgateway's user and password
PUSH_SECONDS = 10.0  # for a Pushgateway's answer


class Gates(Collector):
    """The metrics of gates, each sample with the name of its gate as the label `gate`.

    Args:
        gates: The outputs.
    """

    def __init__(self, gates: Sequence[Watched]):
        self._gates = gates

    def collect(self) -> Iterable[Metric]:
        """Return what a scrape gets."""
        found: dict[str, Metric] = {}
        for gate in self._gates:
            for family in gate.families():
                kept = found.setdefault(
                    family.name, Metric(family.name, family.documentation, family.type)
                )
                kept.samples += [
                    each._replace(labels={**each.labels, "gate": gate.name})
                    for each in family.samples
                ]
        return found.values()


def registry(gates: Sequence[Watched], process: bool = True) -> CollectorRegistry:
    """Make a registry of gates.

    Args:
        gates: The outputs.
        process: Whether the metrics of this process belong to it.

    Returns:
        The registry.
    """
    found = CollectorRegistry(auto_describe=False)
    found.register(Gates(gates))
    if process:
        ProcessCollector(registry=found)
    return found


def write(gates: Sequence[Watched], path: Path) -> None:
    """Write metrics for node_exporter's textfile collector, which sees the old file or the new one.

    Args:
        gates: The outputs.
        path: The file; its name must end in .prom for node_exporter to read it.

    Raises:
        OSError: The file cannot be written.
    """
    Directory(path.parent).write(path.name, generate_latest(registry(gates, process=False)))


def push(gate: Watched, gateway: str) -> None:
    """Push metrics to a Pushgateway, in place of what the same gate pushed before.

    The environment variable EVENFLOW_PUSH_AUTH has the user and the password, USER:PASSWORD.

    Args:
        gate: The output.
        gateway: Address of the Pushgateway.

    Raises:
        OSError: It cannot be reached, or refuses them.
    """
    found = registry([gate], process=False)
    user, _, password = os.environ.get(PUSH_AUTH, "").partition(":")

    def sending(**request: Any) -> Callable[[], None]:
        return basic_auth_handler(**request, username=user, password=password)

    push_to_gateway(
        gateway,
        "evenflow",
        found,
        {"gate": gate.name},
        timeout=PUSH_SECONDS,
        handler=sending if user else default_handler,
    )


def answering(gates: Sequence[Watched]) -> WSGIApplication:
    """Make what answers requests: /healthz, /readyz, and the metrics everywhere else.

    /healthz says that the process answers, whatever is away: to start it anew would mend nothing.
    /readyz says whether each gate can do its work.

    Args:
        gates: The outputs.

    Returns:
        The application.
    """
    metrics = make_wsgi_app(registry(gates))

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path not in ("/healthz", "/readyz"):
            return metrics(environ, start_response)
        states = {gate.name: gate.state() for gate in gates} if path == "/readyz" else {}
        well = all(ready for ready, _ in states.values())
        status = "200 OK" if well else "503 Service Unavailable"
        start_response(
            status, [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
        )
        found = {name: parts for name, (_, parts) in states.items()}
        return [json.dumps({"ok": well, **({"gates": found} if found else {})}).encode() + b"\n"]

    return answer


class _Silent(WSGIRequestHandler):
    """Logs no request."""

    def log_message(self, format: str, *args: object) -> None:
        """Drop a line of the log."""


@contextmanager
def serving(gates: Sequence[Watched], host: str, port: int) -> Iterator[str]:
    """Serve metrics and health during a with-block.

    Args:
        gates: The outputs.
        host: Address to listen on.
        port: Port to listen on; 0: a free one.

    Yields:
        The address of the metrics.

    Raises:
        ConfigError: The address cannot be had.
    """

    class Server(ThreadingWSGIServer):
        """A server for the kind of addresses that the host has."""

    try:
        Server.address_family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        server = make_server(host, port, answering(gates), Server, _Silent)
    except OSError as error:
        reason = error.strerror or error
        raise ConfigError(f"metrics at {host}:{port}: {reason}; give another port") from error
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        shown = f"[{host}]" if ":" in host else host
        yield f"http://{shown}:{server.server_address[1]}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
