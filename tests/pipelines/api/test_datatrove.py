"""The steps for datatrove, in datatrove's own pipelines."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from step_pages import code_of

import evenflow

WHY = "readers: run `.venv/bin/pip install datatrove tldextract regex`"
for package in ("datatrove", "tldextract", "regex"):
    pytest.importorskip(package, reason=WHY)

from datatrove.data import Document  # noqa: E402
from datatrove.executor import LocalPipelineExecutor  # noqa: E402
from datatrove.pipeline.readers import JsonlReader  # noqa: E402
from datatrove.pipeline.stats import StatsMerger  # noqa: E402
from datatrove.pipeline.writers import JsonlWriter  # noqa: E402

from evenflow.datatrove import DemographicStats, RepresentationFilter, representation  # noqa: E402

EVEN = ["She met him.", "He met her."]
MEN = ["He met his brother."] * 2


def corpus(folder: Path, texts: list[Any], files: int = 1) -> str:
    folder.mkdir(parents=True)
    for number in range(files):
        lines = [
            json.dumps(
                {
                    "text": text,
                    "id": str(at),
                    "metadata": {"fqdn": f"{at % 2}.org", "suffix": "org"},
                }
            )
            for at, text in enumerate(texts)
            if at % files == number
        ]
        (folder / f"{number}.jsonl").write_text("\n".join(lines))
    return str(folder)


def rows(folder: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for path in sorted(folder.glob("*.gz"))
        for line in gzip.open(path, "rt", encoding="utf-8")
    ]


def run(steps: list[Any], folder: Path, tasks: int = 1) -> None:
    LocalPipelineExecutor(steps, logging_dir=str(folder / f"logs{len(steps)}"), tasks=tasks).run()


def test_merged_statistics_are_what_measure_says(tmp_path: Path) -> None:
    texts = [*EVEN, *MEN, "It rained.", "An old monk left."] * 3
    stats = str(tmp_path / "stats")
    source = corpus(tmp_path / "in", texts, files=3)
    run([JsonlReader(source), DemographicStats(stats)], tmp_path, tasks=3)
    run([StatsMerger(stats, stats)], tmp_path)
    measured = evenflow.measure(texts).attributes
    [(key, found)] = representation(stats).items()
    assert key == "summary"
    fields = ("dr", "corrected", "low", "high", "mentions", "documents")
    for name, each in found.items():
        assert each.model_dump() == {field: measured[name][field] for field in fields}
    domains = representation(stats, "fqdn")
    assert set(domains) == {"0.org", "1.org"}
    own = evenflow.measure(texts[1::2]).attributes["gender"]
    assert domains["1.org"]["gender"].dr == own["dr"]
    assert representation(stats, "suffix")["org"]["gender"] == found["gender"]


def test_a_pane_that_the_gate_blocks_goes_to_the_exclusion_writer(tmp_path: Path) -> None:
    config = {"gate.min_mentions": 20, "gate.block": 0.2, "gate.warn": 0.1, "pane.rolling": 1}
    texts = EVEN * 10 + MEN * 10 + EVEN * 10 + [None, b"She"]
    kept, removed = tmp_path / "kept", tmp_path / "removed"
    representing = RepresentationFilter(config, 20, JsonlWriter(str(removed)))
    documents = [Document(text, str(number)) for number, text in enumerate(texts)]  # type: ignore[arg-type]
    run([documents, representing, JsonlWriter(str(kept))], tmp_path)
    assert [int(row["id"]) for row in rows(kept)] == [*range(20), *range(40, 60)]
    reasons = {int(row["id"]): row["metadata"]["filter_reason"] for row in rows(removed)}
    assert reasons == dict.fromkeys(range(20, 40), "gender_block") | dict.fromkeys(
        (60, 61), "no_text"
    )
    assert rows(removed)[-1]["metadata"]["evenflow_text"] == "b'She'"
    assert rows(kept)[0]["metadata"]["evenflow"]["gender"] == "open"


def test_statistics_name_a_document_without_a_text(tmp_path: Path) -> None:
    step = DemographicStats(str(tmp_path / "stats"), groups_to_compute=["summary"])
    for text in (None, b"She", "x" * (50 << 20)):
        with pytest.raises(evenflow.TextError):
            list(step.run(iter([Document(text, "1")])))  # type: ignore[arg-type]
    assert not list((tmp_path / "stats").rglob("*.json"))


def test_documents_of_another_field_are_passed_over_by_the_reader(tmp_path: Path) -> None:
    source = corpus(tmp_path / "in", EVEN)
    kept = tmp_path / "kept"
    steps = [JsonlReader(source, text_key="body"), RepresentationFilter(), JsonlWriter(str(kept))]
    run(steps, tmp_path)
    assert not rows(kept)


def test_the_lines_of_the_page_run_as_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    corpus(tmp_path / "corpus", EVEN * 5)
    page: dict[str, Any] = {}
    exec(code_of("datatrove"), page)
    run(page["steps"], tmp_path)
    run(page["merge"], tmp_path)
    assert len(rows(tmp_path / "kept")) == 10
    found = page["representation"]("stats", "fqdn")
    assert {key: each["gender"].mentions for key, each in found.items()} == {
        "0.org": 10, "1.org": 10
    }  # fmt: skip
