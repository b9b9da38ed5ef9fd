"""Collects the metrics of gates for Prometheus, and serves them and the gates' health."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, make_server

from prometheus_client import CollectorRegistry, Metric, ProcessCollector, make_wsgi_app
from prometheus_client.exposition import ThreadingWSGIServer
from prometheus_client.registry import Collector

from evenflow.pipelines.metrics.watching import Watched
from evenflow.schemas.config import ConfigError

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment


class Gates(Collector):
    """The metrics of gates, each sample with the name of its gate as the label `gate`."""

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


def registry(gates: Sequence[Watched]) -> CollectorRegistry:
    """Make a registry of gates."""
    found = CollectorRegistry(auto_describe=False)
    found.register(Gates(gates))
    ProcessCollector(registry=found)
    return found


def answering(gates: Sequence[Watched]) -> WSGIApplication:
    """Make what answers requests: /healthz, /readyz, and the metrics everywhere else.

    /healthz says that the process answers, whatever is away: to start it anew would mend nothing.
    /readyz says whether each gate can do its work.
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
        port: Port to listen on; 0: a free one.

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
