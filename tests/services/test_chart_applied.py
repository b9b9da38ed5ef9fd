"""The chart is installed, upgraded and rolled back on a control plane without nodes, which checks
every resource, the custom ones by the definitions of their operators.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from parts import require
from places import ROOT
from services.control_plane import ControlPlane, installed

HELM = ROOT / "build" / "services" / "helm" / "helm"
CHART = ROOT / "deploy" / "helm" / "evenflow"
ALL = ROOT / "tests" / "data" / "helm" / "all.yaml"


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    require(installed())
    if not HELM.exists():
        require("helm: run `make helm` (Go 1.26)")
    found = ControlPlane(tmp_path_factory.mktemp("plane"))
    try:
        found.start()
        yield found
    finally:
        found.stop()


def helm(plane: ControlPlane, *words: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "KUBECONFIG": str(plane.kubeconfig)}
    command = [str(HELM), *map(str, words)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


def gate(plane: ControlPlane) -> dict[str, Any]:
    return plane.ask("/apis/apps/v1/namespaces/default/deployments/one-evenflow-gate")


def warn(plane: ControlPlane) -> float:
    config = plane.ask("/api/v1/namespaces/default/configmaps/one-evenflow")["data"]
    return yaml.safe_load(config["evenflow.yaml"])["gate"]["warn"]


def test_the_chart_is_installed_upgraded_and_rolled_back(plane: ControlPlane) -> None:
    values = ("--values", ALL, "--set", "flink.enabled=false")
    done = helm(plane, "install", "one", CHART, *values, "--set-json", "config.gate.warn=0.1")
    assert done.returncode == 0, done.stderr
    first = gate(plane)
    assert warn(plane) == 0.1 and first["spec"]["replicas"] == 2
    done = helm(
        plane, "upgrade", "one", CHART, *values,
        *("--set-json", "config.gate.warn=0.2"), *("--set", "stream.replicas=3"),
        *("--set", "board.enabled=false"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    second = gate(plane)
    assert warn(plane) == 0.2 and second["spec"]["replicas"] == 3
    # Pods are replaced where the configuration has changed
    checksum = "checksum/config"
    stamps = [each["spec"]["template"]["metadata"]["annotations"] for each in (first, second)]
    assert stamps[0][checksum] != stamps[1][checksum]
    board = "/apis/apps/v1/namespaces/default/deployments/one-evenflow-board"
    with pytest.raises(RuntimeError, match="not found"):
        plane.ask(board)
    done = helm(plane, "rollback", "one", "1")
    assert done.returncode == 0, done.stderr
    assert warn(plane) == 0.1 and gate(plane)["spec"] == first["spec"]
    assert plane.ask(board)["kind"] == "Deployment"
    done = helm(plane, "uninstall", "one")
    assert done.returncode == 0, done.stderr
    with pytest.raises(RuntimeError, match="not found"):
        gate(plane)


def test_flinks_operator_would_take_the_application(plane: ControlPlane) -> None:
    done = helm(plane, "install", "three", CHART, "--values", ALL)
    assert done.returncode == 0, done.stderr
    kinds = "/apis/flink.apache.org/v1beta1/namespaces/default/flinkdeployments"
    [made] = plane.ask(kinds)["items"]
    assert made["spec"]["taskManager"]["replicas"] == 2 and made["spec"]["job"]["entryClass"]
    words = ("--set", "flink.enabled=true", "--set", "flink.version=v1_7")
    done = helm(plane, "upgrade", "three", CHART, *words)
    assert done.returncode != 0 and "spec.flinkVersion: Unsupported value" in done.stderr


def test_what_kubernetes_would_refuse_is_refused(plane: ControlPlane) -> None:
    """Else the test before would pass with anything."""
    done = helm(plane, "install", "two", CHART, "--set", "stream.resources.requests.cpu=much")
    assert done.returncode != 0 and "quantities must match" in done.stderr
