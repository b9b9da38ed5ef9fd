"""Triggers of an output in an object store: each fires once, also where a run was killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from services.s3_server import S3Server

from evenflow.gates import triggers
from evenflow.pipelines.triggers import worker
from evenflow.transforms.storage import objects

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]
PANES = 4


@pytest.fixture(autouse=True)
def _client(s3_here: S3Server) -> Iterator[None]:
    """The environment leads to the server, and clients of another test are forgotten."""
    objects._client.cache_clear()
    yield
    objects._client.cache_clear()


def test_rules_fire_once_for_an_output_in_a_store(
    call: Call, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, settings, told = tmp_path / "in.jsonl", tmp_path / "c.yaml", tmp_path / "told.txt"
    rows = [json.dumps({"id": str(n), "text": "A man met a woman."}) for n in range(PANES * 5)]
    corpus.write_text("\n".join(rows))
    say = 'echo "$EVENFLOW_RULE $EVENFLOW_PANE $EVENFLOW_OUTPUT" >> "$0"'
    act = {"command": ["sh", "-c", say, str(told)], "tries": 1}
    rules = {"each": {"panes": 1, **act}, "second": {"panes": 2, **act}}
    rules["then"] = {"after": "second", **act}
    rules["trains"] = {"panes": PANES, "finetune": {"model": "any"}, "tries": 1}
    settings.write_text(json.dumps({"triggers": rules}))
    out = f"{bucket}/some where/out"
    words = ("run", "-q", "--input", corpus, "--output", out, "--pane-docs", 5, "-c", settings)

    # The first run dies after its first action, before the outcome is written
    real = triggers.finish
    monkeypatch.setattr(triggers, "finish", lambda *given: (_ for _ in ()).throw(OSError("gone")))
    monkeypatch.setattr(worker, "LOOK_SECONDS_STORE", 0.2)
    call(*words)
    assert triggers.history(out) == [] and triggers.pending(out)
    before = told.read_text().splitlines()
    assert before and {line.split()[0] for line in before} == {"each"}

    monkeypatch.setattr(triggers, "finish", real)
    told.unlink()
    call(*words)
    call(*words)
    # What had no outcome is repeated, and nothing else is done twice
    said = [line.split(" ", 2) for line in told.read_text().splitlines()]
    expected = [("each", pane) for pane in range(PANES)]
    expected += [("second", 1), ("second", 3), ("then", 1), ("then", 3)]
    done = [(rule, int(pane)) for rule, pane, _ in said]
    assert len(done) == len(set(done)) and set(done) <= set(expected)
    assert set(expected) - set(done) <= {("then", 1)}  # follows the last one alone
    assert {place for *_, place in said} == {out}
    found = {each.rule: each for each in triggers.history(out)}
    assert found["trains"].outcome == "failed" and "local output" in found["trains"].message
    shown = call("gate", "trigger", out, "--json")
    assert shown.status == 0 and len(shown.json["actions"]) == len(done) + 1
    assert triggers.pending(out) == []
