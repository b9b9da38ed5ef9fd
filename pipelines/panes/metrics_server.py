"""Serves a run's metrics to Prometheus, from the process that commits its panes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from prometheus_client import CollectorRegistry, Metric, start_http_server
from prometheus_client.registry import Collector

from evenflow.gates import hold
from evenflow.gates.ledger.files import entry_name
from evenflow.gates.ledger.history import History
from evenflow.gates.ledger.segments import checkpoint_panes
from evenflow.gates.metrics import Now, families
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import PaneEntry
from evenflow.transforms.storage.storage import Place, at


class LiveMetrics(Collector):
    """The metrics of an output. The ledger is read at the start, and while another run writes it.

    Args:
        output: The output.
        config: The configuration.

    Raises:
        LedgerError: The ledger is damaged.
    """

    def __init__(self, output: Place, config: Config):
        self._output, self._config = at(output), config
        self._lock = threading.Lock()  # scraped in other threads
        self._totals = History(self._output, config).totals
        self._held = False
        self._committed: float | None = None
        self._read: tuple[int, int] | None = None

    def committed(self, entry: PaneEntry, read: tuple[int, int] | None = None) -> None:
        """Add a committed pane.

        Args:
            entry: The pane's entry.
            read: Stored bytes of the input up to there, and in all; None: of a topic.
        """
        with self._lock:
            if entry.pane == self._totals.panes:
                self._totals.add(entry)
            else:  # this run stood by while another one committed
                self._totals = History(self._output, self._config).totals
            self._committed, self._read = time.time(), read

    def collect(self) -> Iterable[Metric]:
        """Return what a scrape gets."""
        # Without the lock: a commit does not wait for a store that is away, nor does a scrape fail
        with suppress(OSError):
            self._look()
        with self._lock:
            read, size = self._read or (None, None)
            now = Now(time.time(), self._held, self._committed, read, size)
            return list(families(self._totals, now))

    def _look(self) -> None:
        """Look what others have done: held the gate, or committed panes."""
        panes = self._totals.panes
        if self._committed is None and (
            self._output.exists(entry_name(panes)) or checkpoint_panes(self._output) > panes
        ):
            totals = History(self._output, self._config).totals
            with self._lock:
                self._totals = totals if self._committed is None else self._totals
        policy = self._config.gate.policy
        self._held = hold.held_reason(self._output, self._totals, policy) is not None


@contextmanager
def serving(output: Place, config: Config) -> Iterator[tuple[LiveMetrics, str]]:
    """Serve metrics during a with-block.

    Args:
        output: The output.
        config: Says the host and port; without a port a free one is taken.

    Yields:
        The metrics, and their address.

    Raises:
        OSError: The address cannot be used; the error names it.
        LedgerError: The ledger is damaged.
    """
    host, port = config.metrics.host, config.metrics.port
    metrics = LiveMetrics(output, config)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(metrics)
    try:
        server, thread = start_http_server(port or 0, host, registry)
    except OSError as error:
        raise OSError(
            error.errno, error.strerror or str(error), f"metrics at {host}:{port}"
        ) from error
    try:
        shown = f"[{host}]" if ":" in host else host
        yield metrics, f"http://{shown}:{server.server_address[1]}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
