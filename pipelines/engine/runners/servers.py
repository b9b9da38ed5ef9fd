"""The worker pool of a run, on the loopback interface alone.

It runs the code of every caller that reaches it, without authentication, and Beam's own pool
listens on all interfaces.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
from apache_beam.options.pipeline_options import DebugOptions, PipelineOptions
from apache_beam.portability.api import beam_fn_api_pb2_grpc
from apache_beam.runners.worker import sdk_worker_main
from apache_beam.runners.worker.worker_pool_main import BeamFnExternalWorkerPoolServicer
from apache_beam.utils import thread_pool_executor

HOST = "127.0.0.1"


@contextmanager
def worker_pool(options: PipelineOptions) -> Iterator[str]:
    """Start workers in this process for a runner on this machine, within a with-block."""
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
