"""An output of others is data: what looks at it runs, opens and contacts nothing that it names."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import foreign_outputs
import pytest

from evenflow.pipelines.cli.app import WORDS, main
from evenflow.schemas.config import Config

HELPER = Path(foreign_outputs.__file__)
MARKUP = "<script>alert(1)</script>\x1b[31m\n# title [x](javascript:1)"
Rows = list[dict[str, Any]]
Change = Callable[[Path], None]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small output, its input, its configuration, and a module that must not run.

    The input has grown since, so that a run goes on.
    """
    work = tmp_path_factory.mktemp("made")
    texts = ["She came.", "He left.", "It rained."] * 10
    lines = [json.dumps({"id": str(at), "text": text}) + "\n" for at, text in enumerate(texts)]
    (work / "input.jsonl").write_text("".join(lines))
    (work / "own.yaml").write_text(
        "attributes: {gender: {}}\npane: {docs: 10}\ngate: {min_mentions: 5}\n"
    )
    given = ["--config", str(work / "own.yaml"), "--output", str(work / "out")]
    with pytest.raises(SystemExit, match="0"):
        main(["run", str(work / "input.jsonl"), *given])
    (work / "input.jsonl").write_text("".join(lines * 2))
    (work / "canary.py").write_text("def main():\n    raise SystemExit(99)\n")
    (work / "canary.yaml").write_text("attribute: gender\n")
    return work


def configured(own: dict[str, Any]) -> Change:
    """A change of an output: its ledger has these settings."""

    def change(output: Path) -> None:
        meta = output / "ledger" / "meta.json"
        found = json.loads(meta.read_text())
        for data in (found, found["settings"]):
            data["configuration"] = {**data["configuration"], **own}
        meta.write_text(json.dumps(found))

    return change


def meta(**own: Any) -> Change:
    """A change of an output: its ledger/meta.json has these keys."""

    def change(output: Path) -> None:
        path = output / "ledger" / "meta.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **own}))

    return change


def entry(change: Callable[[dict[str, Any]], object]) -> Change:
    """A change of an output: of the entry of its first pane."""

    def changed(output: Path) -> None:
        path = output / "ledger" / "00000000.json"
        found = json.loads(path.read_text())
        change(found)
        path.write_text(json.dumps(found))

    return changed


# What no run writes
FORGED: dict[str, Change] = {
    "counts": entry(lambda e: e["attributes"]["gender"]["sums"].update(counts=[10**400, 1])),
    "documents": entry(lambda e: e.update(documents=10**400)),
    "shape": entry(lambda e: e["attributes"]["gender"]["sums"].update(products=[])),
    "kinds": entry(lambda e: e["attributes"]["gender"].update(heavy=None, labels=[])),
    "measure": entry(lambda e: e.update(canary={"verdict": {"state": "open", "reason": MARKUP}})),
    "shift": entry(lambda e: e.update(shift={"verdict": {"state": "open", "reason": MARKUP}})),
    "strata": entry(lambda e: e.update(shift=[MARKUP])),
    "meta": lambda output: (output / "ledger/meta.json").write_text("[" * 100_000),
    "entry": lambda output: (output / "ledger/00000000.json").write_text("[" * 100_000),
    "setting": configured({"gate": {"min_mentions": 10**400}}),
    "measures": configured({"measures": [[[[0]]]]}),
    "section": meta(settings=[], finished="no"),
    "epochs": meta(epochs=[0], stored=[0], root=[]),
    "fields": configured({"fields": ["text"], "repair": None, "attributes": [0]}),
}


def marked(output: Path) -> None:
    """Names and reasons of an output are markup."""
    for path in sorted((output / "ledger").glob("0*.json")):
        found = json.loads(path.read_text())
        of = found["attributes"].pop("gender")
        of["groups"] = [MARKUP, "b"]
        of["verdict"]["reason"] = found["verdict"]["reason"] = MARKUP
        found["attributes"] = {MARKUP: of}
        path.write_text(json.dumps(found))


def linked(output: Path) -> None:
    """A link that leads out of the output stands for its accepted/."""
    away = output.with_name("canary-elsewhere")
    (output / "accepted").rename(away)
    (output / "accepted").symlink_to(away)


# Configurations that name a canary wherever one can be named
NAMING = foreign_outputs.settings(Path())
CHANGES: dict[str, Change] = {
    "own": lambda output: None,
    **{f"naming-{number}": configured(own) for number, own in enumerate(NAMING)},
    **FORGED,
    "marked": marked,
    "linked": linked,
}


@pytest.fixture(scope="module")
def looked(made: Path) -> dict[str, Rows]:
    """What everything does with a copy of the output after each change, in one process."""
    outputs = {name: made / f"of-{name}" for name in CHANGES}
    for name, change in CHANGES.items():
        shutil.copytree(made / "out", outputs[name])
        change(outputs[name])
    path = os.pathsep.join([str(made), *filter(None, sys.path)])
    ended = subprocess.run(
        [sys.executable, str(HELPER), str(made), *map(str, outputs.values())],
        capture_output=True,
        text=True,
        cwd=made,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200"},
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    return dict(zip(outputs, json.loads(ended.stdout.splitlines()[-1]), strict=True))


def sound(rows: Rows) -> None:
    """No row touched what the ledger names, or ended with an error that nobody foresaw."""
    for row in rows:
        assert row["touched"] == [], (row["name"], row["touched"])
        assert "unexpected error" not in row["err"], (row["name"], row["err"])
        assert row["status"] in (0, 1, 2, 3), row


def test_every_command_that_takes_an_output_is_tried() -> None:
    tried = {words for words, _ in foreign_outputs.given(Path("out"), Path("work"))}
    assert {"gate status", "gate why", "gate report", "gate card", "gate export"} <= tried
    assert {"gate verify", "run", "lab mine", "lab finetune"} <= tried
    assert tried <= WORDS.keys()


def test_every_command_does_its_work_on_an_output_of_ones_own(looked: dict[str, Rows]) -> None:
    """So that what is tried below is tried to its end."""
    for row in looked["own"]:
        done = (1, 2) if row["name"] == "lab finetune" else (0, 3)  # it needs a model
        assert row["status"] in done, row
        if row["name"] == "run":
            assert "30 documents" in row["out"] + row["err"], row


def test_nothing_that_a_ledger_names_is_touched(looked: dict[str, Rows]) -> None:
    named = json.dumps(NAMING)
    for key in ("judge", "detector", "finder", "wordlist", "url", "suite", "vectors", "command"):
        assert f'"{key}"' in named, key
    for number in range(len(NAMING)):
        sound(looked[f"naming-{number}"])


@pytest.mark.parametrize("name", FORGED)
def test_what_no_run_writes_ends_with_a_sentence(name: str, looked: dict[str, Rows]) -> None:
    sound(looked[name])


def test_names_and_reasons_are_shown_as_text(looked: dict[str, Rows], made: Path) -> None:
    sound(looked["marked"])
    for row in looked["marked"]:
        is_page = row["name"] == "board"
        assert "\x1b" not in row["out"] + row["err"], row["name"]
        assert not is_page or "<script>alert" not in row["out"]
    readme = (made / "of-marked/README.md").read_text()
    assert "<script>" not in readme and "\x1b" not in readme and "\n# title" not in readme
    assert " [x](" not in readme
    assert "<script>alert" not in (made / "of-marked/report.html").read_text()


def test_no_link_out_of_an_output_is_followed(looked: dict[str, Rows]) -> None:
    sound(looked["linked"])
    rows = {row["name"]: row for row in reversed(looked["linked"])}  # the first of a name
    for name in ("gate export", "gate card", "gate verify", "accepted", "lab mine", "run"):
        assert rows[name]["status"] == 1, rows[name]
        assert "a link that leads out of" in rows[name]["err"], rows[name]


def test_a_configuration_alone_loads_nothing() -> None:
    assert Config.model_validate({"repair": {"judge": "canary:main"}}).repair.judge == "canary:main"
    assert "canary" not in sys.modules
