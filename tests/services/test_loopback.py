"""No server of a run on a topic can be reached at another address of this machine, because a server
that is reached runs the caller's code.
"""

from __future__ import annotations

import socket
from pathlib import Path

import grpc
import psutil
import pytest
from apache_beam.portability.api import beam_fn_api_pb2, beam_fn_api_pb2_grpc
from services.job_server import JobServer
from services.kafka_broker import Broker
from services.processes import listening, outside
from services.stream_outputs import TopicMaker, count, documents, gate, on_flink, wait_for


def other_addresses() -> list[str]:
    """This machine's addresses beside the loopback interface's and those of one link alone."""
    found = [
        each.address
        for all_ in psutil.net_if_addrs().values()
        for each in all_
        if each.family in (socket.AF_INET, socket.AF_INET6)
    ]
    return [each for each in found if outside([(each, 0)]) and not each.startswith("fe80")]


def test_a_run_on_flink_listens_on_the_loopback_interface_alone(
    broker: Broker, topic: TopicMaker, tmp_path: Path, flink: JobServer
) -> None:
    servers = listening(flink.pid)
    assert len(servers) >= 3 and outside(servers) == []  # jobs, their files, transforms of Java
    name, output = topic(1), tmp_path / "out"
    broker.produce(name, 0, documents(0, 50))
    with gate(on_flink(broker, name, output, flink.endpoint), tmp_path) as running:
        wait_for(lambda: count(output) == 50, 300)
        places = listening(running.process.pid)
        assert places  # the workers' pool
        assert outside(places) == []
        for address in other_addresses():
            for _, port in places:
                with pytest.raises(OSError), socket.create_connection((address, port), 5):
                    pass
                assert _worker_is_refused(address, port)


def _worker_is_refused(address: str, port: int) -> bool:
    """Ask for a worker that would take its work from here, as the audit's client did."""
    host = f"[{address}]" if ":" in address else address
    request = beam_fn_api_pb2.StartWorkerRequest(worker_id="stranger")
    request.control_endpoint.url = f"{host}:9"
    with grpc.insecure_channel(f"{host}:{port}") as channel:
        stub = beam_fn_api_pb2_grpc.BeamFnExternalWorkerPoolStub(channel)
        try:
            stub.StartWorker(request, timeout=5)
        except grpc.RpcError as error:
            return error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
    return False
