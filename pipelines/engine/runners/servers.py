"""The servers of a run, on the loopback interface alone: the worker pool and Prism.

Both run the code of every caller that reaches them, without authentication. Beam's own pool and the
released Prism listen on all interfaces. So the pool is started here on loopback. A Prism that can
be reached at another address of this machine is ended before it gets a job. `make prism` builds one
that listens on 127.0.0.1.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
from apache_beam.options.pipeline_options import DebugOptions, PipelineOptions
from apache_beam.portability.api import beam_fn_api_pb2_grpc
from apache_beam.runners.portability.job_server import StopOnExitJobServer
from apache_beam.runners.portability.prism_runner import PrismJobServer, PrismRunner
from apache_beam.runners.worker import sdk_worker_main
from apache_beam.runners.worker.worker_pool_main import BeamFnExternalWorkerPoolServicer
from apache_beam.utils import thread_pool_executor

from evenflow.pipelines.engine.runners import child
from evenflow.pipelines.engine.runners.errors import RunnerError

HOST = "127.0.0.1"
# Addresses reserved for documentation. Nothing is sent to them: connecting a UDP socket only tells
# the address of this machine that would be used.
ELSEWHERE = ((socket.AF_INET, "198.51.100.1"), (socket.AF_INET6, "2001:db8::1"))
PROBE_SECONDS = 1.0


@contextmanager
def worker_pool(options: PipelineOptions) -> Iterator[str]:
    """Start workers in this process for a runner on this machine, within a with-block.

    Args:
        options: Beam's options.

    Yields:
        The pool's address, HOST:PORT.
    """
    limits: list[tuple[str, Any]] = [
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.http2.max_ping_strikes", 0),
    ]
    threads: Any = thread_pool_executor.shared_unbounded_instance()
    server = grpc.server(threads, options=limits)
    pool = BeamFnExternalWorkerPoolServicer(
        state_cache_size=sdk_worker_main._get_state_cache_size_bytes(options=options),
        data_buffer_time_limit_ms=sdk_worker_main._get_data_buffer_time_limit_ms(
            options.view_as(DebugOptions).experiments or []
        ),
    )
    beam_fn_api_pb2_grpc.add_BeamFnExternalWorkerPoolServicer_to_server(pool, server)
    port = server.add_insecure_port(f"{HOST}:0")
    server.start()
    try:
        yield f"{HOST}:{port}"
    finally:
        server.stop(1)


def reached_from(port: int) -> str | None:
    """Find an address of this machine, other than loopback, at which a port answers.

    Args:
        port: The port.

    Returns:
        The address; None where no address answers.
    """
    for family, elsewhere in ELSEWHERE:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as asking:
                asking.connect((elsewhere, 9))
                own = asking.getsockname()[0]
            with socket.create_connection((own, port), PROBE_SECONDS):
                return own
        except OSError:  # no network of this family, or nothing listens there
            continue
    return None


class Prism(PrismRunner):
    """Beam's Prism runner, whose server can be ended before this process ends.

    Attributes:
        server: The server; None before the runner has asked for it.
    """

    server: Any = None

    def default_job_server(self, options: Any) -> Any:
        """Return the server, not started yet, for Beam's options."""
        self.server = StopOnExitJobServer(_PrismServer(options))
        return self.server


class _PrismServer(PrismJobServer):
    """Prism, which ends with this process even when the process is killed.

    Linux watches the thread that starts it, so that thread must live as long as Prism.
    """

    def subprocess_cmd_and_endpoint(self) -> tuple[list[Any], str]:
        """Return the command line, which runs Prism through `child`, and its address."""
        command, endpoint = super().subprocess_cmd_and_endpoint()
        self._endpoint = endpoint
        return [sys.executable, "-I", "-S", child.__file__, os.getpid(), *command], endpoint

    def start(self) -> Any:
        """Start Prism. Raises RunnerError where others can reach it."""
        stub = super().start()
        if own := reached_from(int(self._endpoint.rpartition(":")[2])):
            self.stop()
            raise RunnerError(
                f"{self._path or 'this Prism'} takes jobs at {own} from everybody who reaches it,"
                " and so runs their code: build one that listens on 127.0.0.1 alone with `make"
                " prism`, and give that"
            )
        return stub
