"""Collects the metrics of gates for Prometheus, and serves them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Metric,
    ProcessCollector,
    generate_latest,
    push_to_gateway,
    start_http_server,
)
from prometheus_client.exposition import basic_auth_handler, default_handler
from prometheus_client.registry import Collector

from evenflow.pipelines.metrics.watching import Watched
from evenflow.schemas.config import ConfigError
from evenflow.transforms.storage.directory import Directory

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


@contextmanager
def serving(gates: Sequence[Watched], host: str, port: int) -> Iterator[str]:
    """Serve metrics during a with-block.

    Args:
        gates: The outputs.
        host: Address to listen on.
        port: Port to listen on; 0: a free one.

    Yields:
        The address of the metrics.

    Raises:
        ConfigError: The address cannot be had.
    """
    try:
        server, thread = start_http_server(port, host, registry(gates))
    except OSError as error:
        reason = error.strerror or error
        raise ConfigError(f"metrics at {host}:{port}: {reason}; give another port") from error
    try:
        shown = f"[{host}]" if ":" in host else host
        yield f"http://{shown}:{server.server_address[1]}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
