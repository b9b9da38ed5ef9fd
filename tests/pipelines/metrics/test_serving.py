"""Metrics over a real scrape: from a run, and from outputs that others write."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from commands import Call
from metric_samples import Samples, of, scraped
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families
from report_ledgers import entries, settings, write, write_timings

from evenflow.gates import hold
from evenflow.gates.lease import Lease
from evenflow.gates.ledger import files
from evenflow.gates.ledger.history import History
from evenflow.pipelines.metrics.serving import serving
from evenflow.pipelines.metrics.watching import Watched
from evenflow.pipelines.terminal.outcome import PaneProgress
from evenflow.schemas.config import Config, load
from evenflow.schemas.ledger import PaneEntry
from evenflow.transforms.storage.storage import Place, at

pytest_plugins = ["commands"]
# What is no figure of the ledger
PRESENT = ("evenflow_held", "evenflow_ledger", "evenflow_finished", "evenflow_pane_commit")


def with_port(**more: object) -> Config:
    """A configuration with a free port for metrics."""
    return load(None, {"metrics.port": 0, **more})


def same(found: Samples, expected: Samples) -> bool:
    """Whether a scrape has the figures of a ledger."""
    wanted = {key: value for key, value in expected.items() if not key[0].startswith(PRESENT)}
    return {key: found.get(key) for key in wanted} == wanted


@contextmanager
def live(output: Place, config: Config) -> Iterator[tuple[Watched, str]]:
    """Serve the metrics of a run in this process."""
    watched = Watched(output, config)
    with serving([watched], config.metrics.host, config.metrics.port or 0) as address:
        yield watched, address


def test_a_scrape_goes_on_from_the_ledger_and_sees_a_hold(tmp_path: Path) -> None:
    (tmp_path / "ledger").mkdir()
    panes = entries(4)
    for entry in panes[:3]:
        files.write_entry(tmp_path, entry)
    with live(tmp_path, with_port()) as (metrics, address):
        assert address.startswith("http://127.0.0.1:")
        before = scraped(address)
        assert same(before, of(panes[:3])) and before["evenflow_held", ()] == 0
        metrics.committed(PaneProgress(panes[3], 0.0, 300, 400))
        hold.add_event(tmp_path, "hold", "look at it", 4)
        after = scraped(address)
    assert after["evenflow_held", ()] == 1
    assert after["evenflow_input_read_bytes", ()] == 300
    assert after["evenflow_input_bytes", ()] == 400
    assert after["evenflow_last_commit_timestamp_seconds", ()] > 1.7e9
    assert same(after, of(panes))


def test_a_run_that_stood_by_goes_on_from_what_the_other_run_committed() -> None:
    output = at(f"memory://{uuid4().hex}/out")
    panes = entries(4)
    files.write_entry(output, panes[0])
    with live(output, with_port()) as (metrics, address):
        for entry in panes[1:3]:
            files.write_entry(output, entry)
        assert same(scraped(address), of(panes[:3]))
        files.write_entry(output, panes[3])
        metrics.committed(PaneProgress(panes[3], 0.0))
        after = scraped(address)
    assert same(after, of(panes))


def test_a_release_is_seen_under_halt(tmp_path: Path) -> None:
    (tmp_path / "ledger").mkdir()
    [entry] = entries(1)
    files.write_entry(tmp_path, entry.model_copy(update={"folder": "quarantine"}))
    with live(tmp_path, with_port(**{"gate.on_block": "halt"})) as (_, address):
        assert scraped(address)["evenflow_held", ()] == 1
        hold.add_event(tmp_path, "release", "seen", 1)
        assert scraped(address)["evenflow_held", ()] == 0


def test_nobody_else_reaches_it_unless_told(tmp_path: Path) -> None:
    assert load(None).metrics.port is None
    assert load(None).metrics.host == "127.0.0.1"
    with live(tmp_path, with_port()) as (_, address):
        port = int(address.rsplit(":", 1)[1].removesuffix("/metrics"))
        with socket.socket() as other, pytest.raises(OSError):
            other.settimeout(2)
            other.connect(("127.0.0.2", port))
    with pytest.raises(OSError):  # nobody listens when it is over
        scraped(address)


def status(address: str, path: str) -> tuple[int, Any]:
    """Status and body of an answer."""
    try:
        with urllib.request.urlopen(address.replace("/metrics", path), timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_a_run_says_when_it_is_ready_beside_its_metrics(tmp_path: Path) -> None:
    with live(tmp_path, with_port()) as (metrics, address):
        assert status(address, "/healthz") == (200, {"ok": True})
        assert status(address, "/readyz")[0] == 503
        assert metrics.health is not None
        metrics.health.lease, metrics.health.silence = Lease(tmp_path), lambda: 0.0
        with metrics.health.lease:
            said = {"lease": "ok", "source": "ok", "output": "ok"}
            found = {"ok": True, "gates": {tmp_path.name: said}}
            assert status(address, "/readyz") == (200, found)
        assert "evenflow_held" in raw(address)


def test_outputs_of_others_are_ready_while_their_ledgers_are_read(tmp_path: Path) -> None:
    output = write_some(tmp_path / "out", entries(2))
    other = write_some(tmp_path / "other", entries(2))
    with watching(output, other) as address:
        assert status(address, "/readyz")[0] == 200
        shutil.move(output, tmp_path / "away")
        code, said = status(address, "/readyz")
        assert code == 503
        assert said["gates"] == {"out": {"ledger": "it cannot be read"}, "other": {"ledger": "ok"}}
        assert status(address, "/healthz")[0] == 200


def test_a_run_serves_while_it_runs(tmp_path: Path) -> None:
    """The last scrape of a run agrees with the ledger, and a second run continues from there."""
    texts = ["He left his pen. She sang." * 20, "not at all", "A man met a woman."] * 4000
    corpus = tmp_path / "in.jsonl"
    corpus.write_text(
        "\n".join(
            json.dumps({"id": f"d{number}", "text": text}) for number, text in enumerate(texts)
        )
    )
    words = [
        *("run", "--input", str(corpus), "--output", str(tmp_path / "out"), "--pane-docs", "1000"),
        *("--metrics-port", "0"),
    ]
    command = [
        *(sys.executable, "-c", "from evenflow.pipelines.cli.app import main; main()", *words),
        *("--log-format", "json"),
    ]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    seen: list[Samples] = []
    address = ""
    for line in process.stderr:
        said = json.loads(line)
        address = (
            said["message"].removeprefix("metrics at ") if said["event"] == "metrics" else address
        )
        if said["event"] == "pane" and address:
            seen.append(scraped(address))
    assert process.wait() == 0
    panes = [
        sum(value for (name, _), value in each.items() if name == "evenflow_panes_total")
        for each in seen
    ]
    assert panes == sorted(panes) and 1 <= panes[0] < panes[-1] <= 12
    committed = files.read_entries(tmp_path / "out")
    expected = of(committed[: int(panes[-1])])
    key = ("evenflow_documents_total", (("fate", "accepted"),))
    assert seen[-1][key] == expected[key]


def write_some(root: Path, panes: list[PaneEntry]) -> Path:
    """An output with a ledger and timings."""
    write(root, panes, settings())
    write_timings(root, panes)
    return root


@contextmanager
def watching(*outputs: Path) -> Iterator[str]:
    """Serve outputs as `evenflow gate board --metrics` does."""
    with serving([Watched(each) for each in outputs], "127.0.0.1", 0) as address:
        yield address


def raw(address: str, accept: str = "") -> str:
    """What a scrape gets."""
    request = urllib.request.Request(address, headers={"Accept": accept} if accept else {})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


def test_outputs_of_others_are_followed(tmp_path: Path) -> None:
    panes = entries(300)
    output = write_some(tmp_path / "out", panes[:255])
    with watching(output) as address:
        first = scraped(address)
        assert same(first, of(panes[:255]))
        assert first["evenflow_pane_commit_seconds_count", ()] == 255
        assert first["evenflow_finished", ()] == first["evenflow_ledger_readable", ()] == 1
        history = History(output, repair=True)
        for entry in panes[255:258]:  # the first of them completes a segment
            history.commit(entry)
            assert same(scraped(address), of(panes[: entry.pane + 1]))
        hold.add_event(output, "hold", "look at it", 258)
        assert scraped(address)["evenflow_held", ()] == 1
    with watching(output) as address:  # a restart
        assert same(scraped(address), of(panes[:258]))


def test_each_gate_has_its_label(tmp_path: Path) -> None:
    for name, count in (("a", 3), ("b", 5)):
        write_some(tmp_path / name, entries(count))
    with watching(tmp_path / "a", tmp_path / "b") as address:
        text = raw(address)
    families = list(text_string_to_metric_families(text))
    assert len({each.name for each in families}) == len(families)
    mine = [each for each in families if each.name.startswith("evenflow_")]
    assert all("gate" in sample.labels for each in mine for sample in each.samples)
    panes = next(each for each in families if each.name == "evenflow_panes")
    counts = {
        gate: sum(each.value for each in panes.samples if each.labels["gate"] == gate)
        for gate in ("a", "b")
    }
    assert counts == {"a": 3, "b": 5}


def test_openmetrics_has_pane_numbers_as_exemplars(tmp_path: Path) -> None:
    with watching(write_some(tmp_path / "out", entries(8))) as address:
        text = raw(address, "application/openmetrics-text; version=1.0.0")
    assert text.endswith("# EOF\n")
    [panes] = [
        sample
        for family in openmetrics(text)
        for sample in family.samples
        if sample.name == "evenflow_panes_total" and sample.exemplar is not None
    ]
    assert panes.exemplar is not None and panes.exemplar.labels == {"pane": "7"}
    assert '# {pane="7"} 0.' in text  # of the histogram


@pytest.mark.parametrize("damage", [b'{"version": 1', b'{"version": 2, "more": 1}', b""])
def test_an_entry_that_cannot_be_read_is_said_and_the_rest_stays(
    tmp_path: Path, damage: bytes
) -> None:
    panes = entries(4)
    output = write_some(tmp_path / "out", panes[:3])
    with watching(output) as address:
        scraped(address)
        (output / files.entry_name(3)).write_bytes(damage)
        found = scraped(address)
        assert found["evenflow_ledger_readable", ()] == 0
        assert same(found, of(panes[:3]))


def test_a_directory_that_vanishes_and_comes_back(tmp_path: Path) -> None:
    panes = entries(4)
    output = write_some(tmp_path / "out", panes)
    with watching(output) as address:
        shutil.move(output, tmp_path / "away")
        found = scraped(address)
        assert found["evenflow_ledger_readable", ()] == 0
        assert ("evenflow_held", ()) not in found
        write_some(output, panes[:2])  # begun anew
        assert same(scraped(address), of(panes[:2]))


def test_since_when_a_state_lasts(tmp_path: Path) -> None:
    panes = entries(60)
    states = [each.attributes["gender"].verdict.state for each in panes]
    last = next(number for number in range(60, 0, -1) if states[number - 1] != "open")
    begun = next(n for n in range(last - 1, 0, -1) if states[n - 1] != states[last - 1])
    output = write_some(tmp_path / "out", panes[:last])
    os.utime(output / files.entry_name(begun), (1000, 1000))
    with watching(output) as address:
        found = scraped(address)
    key = (("attribute", "gender"), ("state", states[last - 1]))
    assert found["evenflow_verdict_since_timestamp_seconds", key] == 1000


def test_wrong_usage_is_a_sentence(call: Call, tmp_path: Path) -> None:
    for name in ("a/out", "b/out"):
        write_some(tmp_path / name, entries(1))
    words = ("gate", "board", "--metrics", tmp_path / "a" / "out")
    twice = call(*words, tmp_path / "b" / "out")
    assert twice.status == 2 and "two directories are named 'out'" in twice.err
    nothing = call(*words[:3], tmp_path / "a")
    assert nothing.status == 2 and "no ledger here" in nothing.err
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        busy = call(*words, "--port", port)
    said = f"evenflow: metrics at 127.0.0.1:{port}: Address already in use; give another port\n"
    assert (busy.status, busy.err) == (2, said)
