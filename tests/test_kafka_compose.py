"""deploy/compose.yaml as far as it can be checked without containers: its parts fit each other, the pins, and the command."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from evenflow.pipelines import cli

DEPLOY = Path(__file__).resolve().parents[1] / "deploy"


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))


def version_of(pom: str, artifact: str) -> str:
    """The version of a dependency in a folder's pom.xml."""
    text = (DEPLOY / pom / "pom.xml").read_text(encoding="utf-8")
    [found] = re.findall(rf"<artifactId>{re.escape(artifact)}</artifactId>\s*<version>([^<]+)</version>", text)
    return found


def test_services_and_volumes_that_are_named_are_there(compose: dict[str, Any]) -> None:
    services = compose["services"]
    for service in services.values():
        assert ("image" in service) != ("build" in service)
        assert set(service.get("depends_on", {})) <= set(services)
        for volume in service.get("volumes", ()):
            assert volume.partition(":")[0] in compose["volumes"]
        kind, _, shared = service.get("network_mode", "").partition(":")
        assert kind in ("", "service") and (not shared or shared in services)
    build = services["gate"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).samefile(DEPLOY / "Dockerfile")


def test_images_have_the_versions_that_tests_run_with(compose: dict[str, Any]) -> None:
    services = compose["services"]
    kafka = version_of("kafka", "kafka_2.13")
    assert {services[name]["image"] for name in ("kafka", "topic")} == {f"apache/kafka:{kafka}"}
    assert services["flink"]["image"] == f"apache/beam_flink1.19_job_server:{version_of('flink', 'beam-runners-flink-1.19')}"
    [prism] = re.findall(r"PRISM_VERSION := v([\d.]+)", (DEPLOY / "services.mk").read_text(encoding="utf-8"))
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert re.findall(r"prism@v([\d.]+)", dockerfile) == re.findall(r"apache-beam==([\d.]+)", dockerfile) == [prism]


def test_the_gate_is_started_with_options_that_it_has(compose: dict[str, Any]) -> None:
    gate, kafka = compose["services"]["gate"], compose["services"]["kafka"]
    name, *words = gate["command"]
    group: Any = typer.main.get_command(cli.application())
    command = group.commands[name]
    given = command.make_context(name, words, resilient_parsing=False).params
    assert given["kafka"] == "kafka:9092" and kafka["environment"]["KAFKA_ADVERTISED_LISTENERS"] == "PLAINTEXT://kafka:9092"
    assert f"--topic {given['topic']} " in compose["services"]["topic"]["command"]
    mounted = [volume.partition(":")[2] for volume in gate["volumes"]]
    assert any(given["output"].is_relative_to(place) for place in mounted)  # what is committed outlives the container
