"""The chart of Helm: its values, what it renders, and whether Kubernetes would take that."""

from __future__ import annotations

import runpy
import shlex
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from parts import require
from places import ROOT

from evenflow.pipelines.cli import app
from evenflow.schemas.config import Config

FOLDER = ROOT / "deploy" / "helm"
CHART = FOLDER / "evenflow"
TOOLS = ROOT / "build" / "services" / "helm"
ALL = ROOT / "tests" / "data" / "helm" / "all.yaml"  # everything that is off by default
SCHEMAS = f"{FOLDER}/schemas/{{{{ .ResourceKind }}}}{{{{ .KindSuffix }}}}.json"


def test_the_values_schema_has_the_configurations_own() -> None:
    made = runpy.run_path(str(FOLDER / "schema.py"))["text"]()
    committed = (CHART / "values.schema.json").read_text(encoding="utf-8")
    assert made == committed, "run `make chart-schemas`"


def test_the_default_values_hold_a_configuration() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    assert Config.model_validate(values["config"]).metrics.port == 9464


def test_rules_and_dashboards_are_those_beside_the_chart() -> None:
    for path in (CHART / "files").iterdir():
        assert path.is_symlink() and path.resolve().is_relative_to(ROOT / "deploy"), path
    names = {path.name for path in (ROOT / "deploy" / "grafana").glob("*.json")}
    assert {path.name for path in (CHART / "files").glob("*.json")} == names


def helm(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Call helm, or skip."""
    if not (TOOLS / "helm").exists():
        require("helm: run `make helm` (Go 1.26)")
    command = [TOOLS / "helm", *words, "--kube-version", "1.34.0"]
    return subprocess.run(command, capture_output=True, text=True)


def rendered(*words: str | Path) -> list[dict[str, Any]]:
    ended = helm("template", "one", CHART, *words)
    assert ended.returncode == 0, ended.stderr
    return [each for each in yaml.safe_load_all(ended.stdout) if each]


def test_helm_finds_no_fault() -> None:
    ended = helm("lint", "--strict", CHART, "--values", ALL)
    assert ended.returncode == 0, ended.stdout


@pytest.mark.parametrize(("words", "kinds"), [((), 6), (("--values", ALL), 17)])
def test_kubernetes_would_take_what_is_rendered(words: tuple[str | Path, ...], kinds: int) -> None:
    found = rendered(*words)
    assert len(found) == kinds
    ended = checked(found)
    assert ended.returncode == 0 and f"Valid: {kinds}, Invalid: 0" in ended.stdout, ended.stdout


def checked(found: list[dict[str, Any]]) -> subprocess.CompletedProcess[str]:
    """Let kubeconform look at resources."""
    command = [TOOLS / "kubeconform", "-strict", "-summary", "-schema-location", SCHEMAS]
    return subprocess.run(command, input=yaml.safe_dump_all(found), capture_output=True, text=True)


def test_a_key_that_a_kind_does_not_have_is_seen() -> None:
    found = rendered()
    [gate] = [each for each in found if each["kind"] == "Deployment"]
    gate["spec"]["template"]["spec"]["containers"][0]["imagePullPolice"] = "Always"
    ended = checked(found)
    assert ended.returncode != 0 and "imagePullPolice" in ended.stdout


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("config.gate.warm=0.2", "warm"),
        ("config.gate.warn=high", "warn"),
        ("stream.replicas=0", "replicas"),
        ("steam.enabled=true", "steam"),
    ],
)
def test_wrong_values_are_refused(value: str, said: str) -> None:
    ended = helm("template", "one", CHART, "--set", value)
    assert ended.returncode != 0 and said in ended.stderr


def test_the_pods_commands_are_commands_that_there_are() -> None:
    group: Any = app.application()
    pods = [
        (each["spec"].get("jobTemplate", each)["spec"]["template"]["spec"])
        for each in rendered("--values", ALL, "--set", "flink.enabled=false")
        if each["kind"] in ("Deployment", "CronJob")
    ]
    containers = [
        each for pod in pods for each in (*pod.get("initContainers", ()), *pod["containers"])
    ]
    assert sorted(each["args"][0] for each in containers) == ["doctor", "gate", "run", "stream"]
    for each in containers:
        command, given = group, each["args"]
        while hasattr(command, "commands"):
            command, given = command.commands[given[0]], given[1:]
        assert command.make_context("evenflow", given, resilient_parsing=True)
        assert each["securityContext"]["readOnlyRootFilesystem"]
        assert each["resources"]["requests"].keys() == {"cpu", "memory"}
        assert each["envFrom"] == [{"secretRef": {"name": "kafka"}}]
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"]


def test_flinks_operator_starts_the_gate() -> None:
    found = rendered("--values", ALL, "--set", "stream.topic=it's")
    [flink] = [each["spec"] for each in found if each["kind"] == "FlinkDeployment"]
    assert not [each for each in found if each["metadata"]["name"] == "one-evenflow-gate"
                and each["kind"] == "Deployment"]  # fmt: skip
    given = dict(zip(flink["job"]["args"][::2], flink["job"]["args"][1::2], strict=True))
    program, *words = shlex.split(given["--driver-cmd"])
    assert (ROOT / "deploy/flink" / program).exists()
    group: Any = app.application()
    stream = group.commands[words[0]].make_context("evenflow", words[1:], resilient_parsing=True)
    assert stream.params["topic"] == "it's" and stream.params["standby"]
    manager, tasks = (flink[each]["podTemplate"]["spec"] for each in ("jobManager", "taskManager"))
    [workers], [own] = tasks["containers"], manager["containers"]
    assert import_module(workers["command"][2]).main
    options = [each.removeprefix("--runner=--") for each in words if "--runner=" in each]
    beam = dict(each.split("=", 1) for each in options)
    assert beam["environment_config"] == ":".join(workers["command"][3:])
    slots = int(flink["flinkConfiguration"]["taskmanager.numberOfTaskSlots"])
    assert int(beam["parallelism"]) == slots * flink["taskManager"]["replicas"]
    # Another gate needs another job, which Flink's standby would not give it
    assert flink["flinkConfiguration"]["high-availability.type"] == "NONE"
    assert flink["jobManager"]["replicas"] == 1
    assert [each["tolerationSeconds"] for each in manager["tolerations"]] == [30, 30]
    # All write to one output, and what the doctor looks at is what the gate will use
    assert manager["securityContext"]["runAsUser"] == tasks["securityContext"]["runAsUser"]
    assert own["volumeMounts"] == workers["volumeMounts"] and own["envFrom"] == workers["envFrom"]
    [doctor] = manager["initContainers"]
    assert set(doctor["args"][2:]) <= set(words) and doctor["image"] == workers["image"]
    [service] = [each for each in found if each["metadata"]["name"] == "one-evenflow-metrics"]
    labels = flink["jobManager"]["podTemplate"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()


def test_probes_ask_what_a_gate_and_the_board_answer() -> None:
    found = rendered("--values", ALL)
    pods = [each["spec"]["template"]["spec"] for each in found if each["kind"] == "Deployment"]
    pods += [
        each["spec"]["jobManager"]["podTemplate"]["spec"]
        for each in found
        if each["kind"] == "FlinkDeployment"
    ]
    probes = {
        container["name"]: {
            name: container[name]["httpGet"] for name in container if name.endswith("Probe")
        }
        for pod in pods
        for container in pod["containers"]
    }
    gate, board = probes["flink-main-container"], probes["board"]
    assert {name: each["path"] for name, each in gate.items()} == {
        "startupProbe": "/healthz",
        "livenessProbe": "/healthz",
        "readinessProbe": "/readyz",
    }
    assert {each["port"] for each in gate.values()} == {"metrics"}
    [alone] = [each for each in rendered() if each["kind"] == "Deployment"]
    [container] = alone["spec"]["template"]["spec"]["containers"]
    assert {name: container[name]["httpGet"] for name in gate} == gate
    assert board.keys() == {"livenessProbe", "readinessProbe"}


def test_the_gate_has_a_standby_and_the_configuration_is_one() -> None:
    found = rendered("--set-json", "config.gate.warn=0.2")
    [gate] = [each for each in found if each["kind"] == "Deployment"]
    assert gate["spec"]["replicas"] == 2
    assert "--standby" in gate["spec"]["template"]["spec"]["containers"][0]["args"]
    [config] = [each for each in found if each["kind"] == "ConfigMap"]
    read = Config.model_validate(yaml.safe_load(config["data"]["evenflow.yaml"]))
    assert read.gate.warn == 0.2 and read.metrics.host == "0.0.0.0"
