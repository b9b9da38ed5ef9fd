"""Pools of Beam's workers, at one address alone.

A pool runs the code of every caller that reaches it, without authentication. Beam's own command and
its own pool of a run listen on all interfaces.

Usage, for a pool with a process for each worker:
    python -m evenflow.pipelines.engine.runners.worker_pool HOST PORT
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
from apache_beam.options.pipeline_options import DebugOptions, PipelineOptions
from apache_beam.portability.api import beam_fn_api_pb2_grpc
from apache_beam.runners.worker import sdk_worker_main
from apache_beam.runners.worker.worker_pool_main import BeamFnExternalWorkerPoolServicer
from apache_beam.utils import thread_pool_executor

from evenflow.pipelines.engine.one_thread import one_thread

HOST = "127.0.0.1"


@contextmanager
def worker_pool(options: PipelineOptions) -> Iterator[str]:
    """Start workers in this process for a runner on this machine, within a with-block."""
    pool = BeamFnExternalWorkerPoolServicer(
        state_cache_size=sdk_worker_main._get_state_cache_size_bytes(options=options),
        data_buffer_time_limit_ms=sdk_worker_main._get_data_buffer_time_limit_ms(
            options.view_as(DebugOptions).experiments or []
        ),
    )
    server, port = _serve(pool, f"{HOST}:0")
    try:
        yield f"{HOST}:{port}"
    finally:
        server.stop(1)


def _serve(pool: BeamFnExternalWorkerPoolServicer, address: str) -> tuple[grpc.Server, int]:
    """Start a pool's server; returns it and its port."""
    limits = [("grpc.http2.max_pings_without_data", 0), ("grpc.http2.max_ping_strikes", 0)]
    threads: Any = thread_pool_executor.shared_unbounded_instance()  # no subclass, but used as one
    server = grpc.server(threads, options=limits)
    beam_fn_api_pb2_grpc.add_BeamFnExternalWorkerPoolServicer_to_server(pool, server)
    port = server.add_insecure_port(address)
    server.start()
    return server, port


def main() -> None:
    """Start workers until a signal comes."""
    one_thread()  # for their processes
    host, port = sys.argv[1:]
    _kept = _serve(BeamFnExternalWorkerPoolServicer(use_process=True), f"{host}:{port}")
    signal.sigwait({signal.SIGTERM, signal.SIGINT})  # a server without a name would end


if __name__ == "__main__":
    main()
