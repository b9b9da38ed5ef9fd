"""deploy/compose.yaml as far as it can be checked without containers: its parts fit each other, the
pins, and the command.
"""

from __future__ import annotations

import copy
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator
from places import DATA

from evenflow.pipelines.cli import app

VERSION = re.compile(r":\D*\d+\.\d+[\w.-]*$")  # of an image: never what it happens to be today


DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def over() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "compose.flink.yaml").read_text(encoding="utf-8"))


def merged(below: Any, above: Any) -> Any:
    """What Compose makes of two files, as far as these need it: lists are replaced."""
    if not isinstance(below, dict):
        return above
    keys = {key: None for key in (*below, *above) if not key.startswith("x-")}
    return {
        key: merged(below[key], above[key]) if key in below and key in above
        else below.get(key, above.get(key))
        for key in keys
    }  # fmt: skip


@pytest.fixture(params=["compose", "with Flink"])
def either(request: pytest.FixtureRequest, compose: dict[str, Any], over: dict[str, Any]) -> Any:
    return compose if request.param == "compose" else merged(compose, over)


def version_of(pom: str, artifact: str) -> str:
    """The version of a dependency in a folder's pom.xml."""
    text = (DEPLOY / pom / "pom.xml").read_text(encoding="utf-8")
    [found] = re.findall(
        rf"<artifactId>{re.escape(artifact)}</artifactId>\s*<version>([^<]+)</version>", text
    )
    return found


def test_services_and_volumes_that_are_named_are_there(either: dict[str, Any]) -> None:
    services = either["services"]
    for service in services.values():
        assert ("image" in service) != ("build" in service)
        assert set(service.get("depends_on", {})) <= set(services)
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            assert source in either["volumes"] or (DEPLOY / source).exists()
        for port in service.get("ports", ()):  # nobody else reaches it
            assert port.startswith("127.0.0.1:")
        for name, wanted in service.get("depends_on", {}).items():
            healthy = wanted["condition"] == "service_healthy"
            assert not healthy or "healthcheck" in services[name]
        kind, _, shared = service.get("network_mode", "").partition(":")
        assert kind in ("", "service") and (not shared or shared in services)
    builds = [service["build"] for service in services.values() if "build" in service]
    for build in builds:
        assert (DEPLOY / build["context"] / build["dockerfile"]).samefile(DEPLOY / "Dockerfile")
    targets = {build["target"] for build in builds if "target" in build}
    stages = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert all(f" AS {target}\n" in stages for target in targets)


def test_images_have_the_versions_that_tests_run_with(
    compose: dict[str, Any], over: dict[str, Any]
) -> None:
    services = compose["services"]
    kafka = version_of("kafka", "kafka_2.13")
    assert {services[name]["image"] for name in ("kafka", "topic")} == {f"apache/kafka:{kafka}"}
    made = (DEPLOY / "services.mk").read_text(encoding="utf-8")
    [store] = re.findall(r"VERSITYGW_VERSION := (v[\d.]+)", made)
    images = {over["services"][name]["image"] for name in ("store", "bucket")}
    assert images == {f"versity/versitygw:{store}"}


def test_the_gate_is_started_with_options_that_it_has(compose: dict[str, Any]) -> None:
    gate, kafka = compose["services"]["gate"], compose["services"]["kafka"]
    name, *words = gate["command"]
    group: Any = app.application()
    command = group.commands[name]
    given = command.make_context(name, words, resilient_parsing=False).params
    assert (
        given["kafka"] == "kafka:9092"
        and kafka["environment"]["KAFKA_ADVERTISED_LISTENERS"] == "PLAINTEXT://kafka:9092"
    )
    assert f"--topic {given['topic']} " in compose["services"]["topic"]["command"]
    mounted = [volume.partition(":")[2] for volume in gate["volumes"]]
    # What is committed outlives the container
    assert any(given["output"].local.is_relative_to(place) for place in mounted)


def test_the_specifications_own_schema_takes_them(
    compose: dict[str, Any], over: dict[str, Any]
) -> None:
    schema = json.loads((DATA / "compose" / "compose-spec.json").read_text(encoding="utf-8"))
    check = Draft7Validator(schema)
    assert not [*check.iter_errors(compose), *check.iter_errors(over)]
    compose = copy.deepcopy(compose)
    compose["services"]["gate"]["restarts"] = "always"
    assert "restarts" in str(list(check.iter_errors(compose)))


def test_what_watches_the_gate_finds_it_and_its_files(compose: dict[str, Any]) -> None:
    services = compose["services"]
    config = yaml.safe_load((DEPLOY / "prometheus" / "compose.yaml").read_text(encoding="utf-8"))
    gate = services["gate"]["command"]
    port = gate[gate.index("--metrics-port") + 1]
    [scrape] = config["scrape_configs"]
    assert scrape["static_configs"] == [{"targets": [f"gate:{port}"]}]
    assert "metrics.host=0.0.0.0" in gate
    [tells] = config["alerting"]["alertmanagers"][0]["static_configs"]
    [target] = tells["targets"]
    name, _, at = target.partition(":")
    assert services[name]["ports"] == [f"127.0.0.1:{at}:{at}"]
    for file in config["rule_files"]:
        assert (DEPLOY / "prometheus" / file).exists()
    # Each service reads what is mounted into it
    for name in ("prometheus", "alertmanager"):
        [file] = [
            word.partition("=")[2]
            for word in services[name]["command"]
            if word.startswith("--config.file=")
        ]
        mounts = [volume.split(":") for volume in services[name]["volumes"]]
        sources = [
            DEPLOY / source / Path(file).relative_to(target) if file != target else DEPLOY / source
            for source, target, *_ in mounts
            if file.startswith(target)
        ]
        assert len(sources) == 1 and sources[0].is_file()
    # Prometheus and Alertmanager are those whose tools check rules and configuration
    made = (DEPLOY / "services.mk").read_text(encoding="utf-8")
    assert f"prometheus={services['prometheus']['image'].rpartition(':v')[2]}+" in made
    assert f"alertmanager={services['alertmanager']['image'].rpartition(':v')[2]}-" in made
    provisioning = DEPLOY / "grafana" / "provisioning"
    sources = yaml.safe_load((provisioning / "datasources" / "prometheus.yaml").read_text("utf-8"))
    assert [each["url"] for each in sources["datasources"]] == ["http://prometheus:9090"]
    boards = yaml.safe_load((provisioning / "dashboards" / "evenflow.yaml").read_text("utf-8"))
    [board] = boards["providers"]
    assert f"./grafana:{board['options']['path']}:ro" in services["grafana"]["volumes"]


def test_each_image_has_a_version(either: dict[str, Any]) -> None:
    images = [service["image"] for service in either["services"].values() if "image" in service]
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    images += re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE)
    assert len(images) >= 4 and [image for image in images if not VERSION.search(image)] == []


def addresses(listeners: str) -> dict[str, tuple[str, int]]:
    """NAME://HOST:PORT,… -> name: (host, port)."""
    found = (re.fullmatch(r"(\w+)://([\w.]*):(\d+)", each) for each in listeners.split(","))
    return {match[1]: (match[2], int(match[3])) for match in found if match}


def test_the_listeners_of_kafka_agree_with_each_other_and_with_who_connects(
    compose: dict[str, Any],
) -> None:
    services = compose["services"]
    kafka = services["kafka"]
    named = kafka["environment"]
    listeners, advertised = (
        addresses(named["KAFKA_LISTENERS"]),
        addresses(named["KAFKA_ADVERTISED_LISTENERS"]),
    )
    controller = named["KAFKA_CONTROLLER_LISTENER_NAMES"]
    protocols = dict(
        each.split(":") for each in named["KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"].split(",")
    )
    assert (
        set(listeners) == {*advertised, controller} == set(protocols)
        and controller not in advertised
    )
    assert named["KAFKA_INTER_BROKER_LISTENER_NAME"] in advertised
    assert len({port for _, port in listeners.values()}) == len(listeners)
    for name, (host, port) in advertised.items():
        assert host == kafka["hostname"] == "kafka" and port == listeners[name][1]
    assert (
        named["KAFKA_CONTROLLER_QUORUM_VOTERS"]
        == f"{named['KAFKA_NODE_ID']}@kafka:{listeners[controller][1]}"
    )
    assert named["KAFKA_PROCESS_ROLES"].split(",") == ["broker", "controller"]
    said = yaml.safe_dump(
        [services["topic"]["command"], services["gate"]["command"], kafka["healthcheck"]],
        width=1000,
    )
    # The examples above
    said += (DEPLOY / "compose.yaml").read_text(encoding="utf-8").partition("name:")[0]
    connecting = re.findall(r"\bkafka:(\d+)", said)
    assert len(connecting) >= 4 and {int(port) for port in connecting} == {
        port for _, port in advertised.values()
    }


def test_what_kafka_keeps_is_in_its_volume(compose: dict[str, Any]) -> None:
    """Of its own default, in /tmp, nothing would be left when the container is made anew."""
    kafka = compose["services"]["kafka"]
    assert [volume.partition(":")[2] for volume in kafka["volumes"]] == [
        kafka["environment"]["KAFKA_LOG_DIRS"]
    ]


def test_flink_has_the_settings_of_its_file(over: dict[str, Any]) -> None:
    """Apart from where processes listen, which Flink's image sets itself."""
    wanted = yaml.safe_load((DEPLOY / "flink" / "cluster.yaml").read_text(encoding="utf-8"))
    gate = over["services"]["gate"]
    given = [word[2:].split("=", 1) for word in gate["command"] if word.startswith("-D")]
    more = gate["environment"]
    found = {
        **dict(given),
        "env.java.opts.all": more["JDK_JAVA_OPTIONS"],
        "taskmanager.numberOfTaskSlots": more["TASK_MANAGER_NUMBER_OF_TASK_SLOTS"],
    }
    assert found.pop("execution.attached") == "true"
    wanted = {name: value for name, value in wanted.items() if "bind" not in name}

    def plain(settings: dict[str, Any]) -> dict[str, str]:
        return {key: str(value).replace(" ", "").lower() for key, value in settings.items()}

    assert plain(found) == plain(wanted)


def test_the_gate_on_flink_finds_its_workers_and_its_store(over: dict[str, Any]) -> None:
    services = over["services"]
    command = services["gate"]["command"]
    program, *words = shlex.split(command[command.index("--driver-cmd") + 1])
    assert (DEPLOY / "flink" / program).exists()
    group: Any = app.application()
    stream = group.commands[words[0]].make_context("evenflow", words[1:], resilient_parsing=True)
    beam = dict(word.removeprefix("--").split("=", 1) for word in stream.params["runner"])
    tasks = [name for name in services if name.startswith("taskmanager")]
    pools = [services[name] for name in services if name.startswith("workers")]
    assert len(tasks) == 2 and [each["network_mode"] for each in pools] == [
        f"service:{name}" for name in tasks
    ]
    for pool in pools:
        assert beam["environment_config"] == ":".join(pool["entrypoint"][3:])
    slots = services[tasks[0]]["environment"]["TASK_MANAGER_NUMBER_OF_TASK_SLOTS"]
    assert int(beam["parallelism"]) == slots * len(tasks)
    bucket = services["bucket"]["entrypoint"][-1].removeprefix("/data/")
    assert str(stream.params["output"]).startswith(f"s3://{bucket}/")
    store = services["store"]
    for client in (services["gate"], *(services[name] for name in tasks), *pools):
        given = client["environment"]
        assert given["AWS_ACCESS_KEY_ID"] == store["environment"]["ROOT_ACCESS_KEY"]
        assert given["AWS_SECRET_ACCESS_KEY"] == store["environment"]["ROOT_SECRET_KEY"]
        port = store["command"][store["command"].index("--port") + 1]
        assert given["AWS_ENDPOINT_URL"] == f"http://store{port}"


def test_the_examples_are_commands_that_there_are(compose: dict[str, Any]) -> None:
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8").partition("name:")[0]
    text = re.sub(r"\\\n# *", "", text)
    [words] = re.findall(r"exec gate evenflow (.*)", text)
    group: Any = app.application()
    first, second, *rest = words.split()
    context = group.commands[first].commands[second].make_context(second, rest)
    command = compose["services"]["gate"]["command"]
    output = command[command.index("--output") + 1]
    assert str(next(iter(context.params.values()))) == output
    assert re.search(r"exec (\w+) /opt/kafka/bin/kafka-console-producer.sh", text)
    topics = re.findall(r"--topic (\S+)", f"{text} {compose['services']['topic']['command']}")
    assert set(topics) == {
        compose["services"]["gate"]["command"][
            compose["services"]["gate"]["command"].index("--topic") + 1
        ]
    }
