"""What a gate lacks is said before its first document, and nothing is left behind."""

from __future__ import annotations

import errno
import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa
import pytest
from services.s3_server import environment

from evenflow.gates.lock import OutputLock
from evenflow.pipelines import doctor
from evenflow.pipelines.doctor import Diagnosis, Planned, Topic
from evenflow.schemas.config import load
from evenflow.transforms.kafka.cluster import Cluster
from evenflow.transforms.kafka.lookups import Lookups
from evenflow.transforms.models import files as model_files
from evenflow.transforms.models.static import FirstStage
from evenflow.transforms.storage import objects
from evenflow.transforms.storage.directory import Directory
from evenflow.transforms.storage.storage import at

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]


def found(settings: dict[str, object] | None = None, **planned: object) -> dict[str, Diagnosis]:
    """What is found, by part."""
    config = load(None, settings or {})
    return {each.part: each for each in doctor.examine(Planned(config, **planned))}  # type: ignore[arg-type]


@pytest.mark.parametrize("place", ["folder", "new", "memory"])
def test_an_output_is_tried_and_nothing_is_left(tmp_path: Path, place: str) -> None:
    output = at(f"memory://{uuid4().hex}/x" if place == "memory" else tmp_path / place)
    if place == "folder":
        output.write("accepted/x", b"1")
    before = [each.name for each in output.tree()]
    parts = found(output=output)
    assert parts["output"].state == parts["clock"].state == "fine"
    assert ("disk" in parts) == (place != "memory")
    assert [each.name for each in output.tree()] == before
    assert place != "new" or not (tmp_path / "new").exists()


def test_files_are_looked_at_without_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("She came.")
    monkeypatch.setitem(sys.modules, "obstore", None)
    monkeypatch.delitem(sys.modules, objects.__name__)
    assert found(inputs=[str(tmp_path)])["input"].state == "fine"


def test_a_store_that_overwrites_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects.ObjectStorage, "create", lambda *given: True)
    text = found(output=at(f"memory://{uuid4().hex}/x"))["output"]
    assert text.state == "missing" and "conditional" in text.text


def test_a_store_that_is_away_is_named_at_once(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment(f"http://127.0.0.1:{port}").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(doctor, "STORE_SECONDS", 0.1)
    output = at("s3://doctor-away/out")
    text = found(output=output)["output"].text
    assert text.startswith(
        f"s3://doctor-away/out: the store does not answer at http://127.0.0.1:{port};"
    )
    assert objects.RETRY_SECONDS > 60


def test_a_disk_without_room_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: object, **more: object) -> bool:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(Directory, "create", full)
    disk = found(output=at(tmp_path))["output"]
    assert (disk.state, disk.text) == ("missing", f"{tmp_path}: No space left on device; make room")


def test_an_output_in_use_is_named(tmp_path: Path) -> None:
    with OutputLock(tmp_path):
        assert "in use by another run" in found(output=at(tmp_path))["output"].text


def test_a_clock_that_differs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "SKEW_SECONDS", -1.0)
    assert found(output=at(tmp_path))["clock"].state == "missing"


def test_files_that_nothing_reads_are_a_note(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.pdf"):
        (tmp_path / name).touch()
    found = [
        each
        for each in doctor.examine(Planned(load(None), [str(tmp_path)]))
        if each.part == "input"
    ]
    assert [each.state for each in found] == ["fine", "note"]
    assert found[1].text == "1 file is left out, as no format: 1 .pdf"


def test_a_full_disk_is_a_note(tmp_path: Path) -> None:
    disk = found({"alerts.disk_free": 1.0}, output=at(tmp_path))["disk"]
    assert disk.state == "note" and "below 100%" in disk.text


@pytest.fixture
def port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def rule(action: dict[str, object]) -> dict[str, object]:
    """Settings of a rule with an action."""
    return {"triggers": {"r": {"panes": 1, **action}}}


CASES: list[tuple[Callable[[int], dict[str, object]], str, str]] = [
    (lambda port: rule({"webhook": {"url": {"env": "NOT_THERE"}}}), "triggers", "NOT_THERE"),
    (
        lambda port: rule({"webhook": {"url": f"http://127.0.0.1:{port}/secret"}}),
        "trigger r",
        "no server answers",
    ),
    (lambda port: rule({"command": ["no-such-program"]}), "trigger r", "no program no-such"),
    (
        lambda port: {"llm.url": f"http://127.0.0.1:{port}", "llm.model": "m"},
        "language model",
        "no server answers",
    ),
]


@pytest.mark.parametrize(("settings", "part", "text"), CASES)
def test_what_does_not_answer_is_named(
    port: int, settings: Callable[[int], dict[str, object]], part: str, text: str
) -> None:
    finding = found(settings(port))[part]
    assert finding.state == "missing" and text in finding.text
    assert "secret" not in finding.text


def test_a_server_that_answers_is_fine(port: int) -> None:
    settings = {**rule({"webhook": {"url": f"http://127.0.0.1:{port}/"}}), "metrics.port": port}
    with socket.create_server(("127.0.0.1", port)):
        parts = found(settings, runner=[f"--job_endpoint=127.0.0.1:{port}"])
    assert parts["trigger r"].state == parts["runner"].state == "fine"
    assert parts["metrics"].state == "missing"  # the port is taken
    assert found(settings)["metrics"].state == "fine"


def test_a_damaged_model_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged() -> FirstStage:
        raise model_files.ModelError("x: damaged")

    settings = {"repair.mode": "substitute"}
    assert found(settings)["models"].state == "fine"
    monkeypatch.setattr(FirstStage, "shipped", damaged)
    assert found(settings)["models"].text == "x: damaged"


def test_a_missing_package_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    finding = found(runner=["--runner=FlinkRunner"])["packages"]
    assert finding.state == "missing" and "[beam]'" in finding.text


def test_the_command_says_it_in_words_and_in_json(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("She left.")
    fine = call("doctor", "--input", tmp_path / "a.txt", "--output", tmp_path / "out")
    assert (fine.status, fine.err) == (0, "")
    assert fine.out.splitlines()[0] == "ok      input: 1 file, 0.0 MB as stored"
    lacking = call("doctor", "--input", tmp_path / "no.txt", "--json")
    assert lacking.status == 2
    assert [(each["part"], each["state"]) for each in lacking.json] == [("input", "missing")]
    config = tmp_path / "c.yaml"
    config.write_text("gate: {wran: 1}\n")
    assert "c.yaml:1" in call("doctor", "-c", config).err
    assert "the configuration is valid; give" in call("doctor").out
    assert "go together" in call("doctor", "--topic", "x").err
    json.dumps(lacking.json)


def test_a_codec_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    built = SimpleNamespace(is_available=lambda name: name != "snappy")
    monkeypatch.setattr(pa, "Codec", built)
    monkeypatch.setattr(Cluster, "partitions", lambda *_: 1)
    monkeypatch.setattr(Lookups, "_ask", lambda *_: {0: 1})
    parts = found(topic=Topic("broker:1", "docs"))
    assert parts["codecs"].state == "missing" and "without snappy;" in parts["codecs"].text
