"""The gate as an application of Flink, by the command that the chart gives Flink's operator."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from parts import require
from places import ROOT
from services.flink_cluster import FlinkCluster
from services.job_server import installed
from services.kafka_broker import Broker
from services.stream_outputs import (
    EVENFLOW,
    TopicMaker,
    count,
    documents,
    expected,
    placed,
    recounted,
    wait_for,
)

HELM = ROOT / "build" / "services" / "helm" / "helm"
CHART = ROOT / "deploy" / "helm" / "evenflow"
LONG = 400.0  # for what takes some 30 s on two cores without other work
PARTITIONS = 4


def deployment(values: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The specification of the FlinkDeployment that the chart makes of values."""
    (folder / "values.yaml").write_text(yaml.safe_dump(values))
    command = [HELM, "template", "one", CHART, "--values", folder / "values.yaml"]
    command += ["--kube-version", "1.34.0"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    [flink] = [one for one in yaml.safe_load_all(text) if one["kind"] == "FlinkDeployment"]
    return flink["spec"]


@pytest.fixture
def name(topic: TopicMaker) -> str:
    """The topic that is read."""
    return topic(PARTITIONS)


@pytest.fixture
def cluster(broker: Broker, name: str, tmp_path: Path) -> Iterator[FlinkCluster]:
    """The application that reads the topic into `out`; not started yet."""
    require(installed())
    if not HELM.exists():
        require("helm: run `make helm` (Go 1.26)")
    stream = {"kafka": broker.address, "topic": name, "extraArgs": ["--pane-seconds", "1"]}
    values = {"flink": {"enabled": True}, "stream": stream, "output": str(tmp_path / "out")}
    spec = deployment(values, tmp_path)
    (tmp_path / "evenflow.yaml").write_text("")
    words = [
        word.replace("evenflow-on-flink", str(ROOT / "deploy" / "flink" / "evenflow-on-flink"))
        .replace("/etc/evenflow/evenflow.yaml", str(tmp_path / "evenflow.yaml"))
        .replace("127.0.0.1:50000", "POOL")
        for word in (spec["job"]["entryClass"], *spec["job"]["args"])
    ]
    names = ("execution.attached", "high-availability.type")
    settings = {name: spec["flinkConfiguration"][name] for name in names}
    application = FlinkCluster(tmp_path / "flink", settings=settings, application=words)
    path = f"{Path(EVENFLOW).parent}{os.pathsep}{os.environ['PATH']}"
    application.environment |= {"EVENFLOW_LOG": str(tmp_path / "gate.log"), "PATH": path}
    yield application
    application.stop()


def test_an_application_goes_on_after_the_loss_of_any_pod(
    broker: Broker, name: str, tmp_path: Path, cluster: FlinkCluster
) -> None:
    output = tmp_path / "out"

    def fill(first: int, last: int) -> None:
        for partition in range(PARTITIONS):
            broker.produce(name, partition, documents(first, last, partition))

    fill(0, 100)
    cluster.start()
    wait_for(lambda: count(output) == 400, LONG)
    cluster.kill("taskmanager-1")
    cluster.kill("pool-1")
    fill(100, 200)
    wait_for(lambda: count(output) == 800, LONG)
    [gate] = cluster.processes["jobmanager"].children()
    gate.kill()  # and with it the JobManager
    cluster.processes["jobmanager"].wait(LONG)
    fill(200, 300)
    for part in ("pool-1", "taskmanager-1", "jobmanager"):
        cluster.launch(part)
    cluster.wait()
    wait_for(lambda: count(output) == 1200, LONG)
    gates = cluster.processes["jobmanager"].children()
    cluster.processes["jobmanager"].send_signal(signal.SIGTERM)
    cluster.processes["jobmanager"].wait(LONG)
    wait_for(lambda: not any(gate.is_running() for gate in gates), LONG)
    assert placed(output) == expected(dict.fromkeys(range(PARTITIONS), 300)) and recounted(output)
