"""Beam's worker pool, a process for each worker, at one address alone.

Beam's own command listens on all interfaces, and whoever reaches it runs code here.

Usage: python -m evenflow.pipelines.engine.runners.worker_pool HOST PORT
"""

from __future__ import annotations

import signal
import sys
from typing import Any

import grpc
from apache_beam.portability.api import beam_fn_api_pb2_grpc
from apache_beam.runners.worker.worker_pool_main import BeamFnExternalWorkerPoolServicer
from apache_beam.utils import thread_pool_executor

from evenflow.pipelines.engine.one_thread import one_thread


def main() -> None:
    """Start workers until a signal comes."""
    one_thread()  # for their processes
    host, port = sys.argv[1:]
    limits = [("grpc.http2.max_pings_without_data", 0), ("grpc.http2.max_ping_strikes", 0)]
    threads: Any = thread_pool_executor.shared_unbounded_instance()  # no subclass, but used as one
    server = grpc.server(threads, options=limits)
    pool = BeamFnExternalWorkerPoolServicer(use_process=True)
    beam_fn_api_pb2_grpc.add_BeamFnExternalWorkerPoolServicer_to_server(pool, server)
    server.add_insecure_port(f"{host}:{port}")
    server.start()
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


if __name__ == "__main__":
    main()
