"""The operator for data-juicer, in its own data sets and executor."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from step_pages import code_of

import evenflow

pytest.importorskip(
    "data_juicer", reason="readers: run `.venv/bin/pip install -e '.[data-juicer]'`"
)

from data_juicer.core.data import NestedDataset
from data_juicer.utils.constant import Fields

from evenflow import juicer

TEXTS = ["She met him. " * 20, "He met his father. " * 20, "It rained.", "He left."]


def data(texts: list[str]) -> NestedDataset:
    return NestedDataset.from_list([{"text": text, Fields.stats: {}} for text in texts])


def test_uneven_documents_are_dropped_and_stats_are_kept() -> None:
    operator = juicer.DemographicRepresentationFilter("gender", max_dr=0.3)
    done = operator.run(data(TEXTS))
    assert [row["text"] for row in done] == [TEXTS[0], *TEXTS[2:]]
    stats = [row[Fields.stats] for row in done]
    assert [each["evenflow_gender_male"] for each in stats] == [20, 0, 1]
    assert [each["evenflow_gender_dr"] for each in stats] == [0.0, None, None]


def test_by_default_it_only_counts() -> None:
    done = juicer.DemographicRepresentationFilter().run(data(TEXTS))
    counts = evenflow.measure(TEXTS).attributes["gender"]["counts"]
    for group, count in counts.items():
        assert sum(row[Fields.stats][f"evenflow_gender_{group}"] for row in done) == count


def test_a_recipe_names_the_file(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out" / "kept.jsonl"
    source.write_text("".join(f"{json.dumps({'text': text})}\n" for text in TEXTS))
    recipe = {
        "dataset_path": str(source),
        "export_path": str(out),
        "np": 1,
        "custom_operator_paths": [juicer.__file__],
        "process": yaml.safe_load(code_of("data-juicer", "yaml"))["process"],
    }
    path = tmp_path / "recipe.yaml"
    path.write_text(json.dumps(recipe))
    code = "from data_juicer.tools.process_data import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "--config", path], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr[-3000:]
    kept = [json.loads(line)["text"] for line in out.read_text().splitlines()]
    assert kept == [TEXTS[0], *TEXTS[2:]]


def test_what_is_no_text_is_an_error() -> None:
    operator = juicer.DemographicRepresentationFilter()
    for text in (None, b"She", "x" * (50 << 20)):
        with pytest.raises(evenflow.TextError):
            operator.compute_stats_batched({"text": [text], Fields.stats: [{}]})


def test_a_field_that_is_not_there_is_named() -> None:
    operator = juicer.DemographicRepresentationFilter(text_key="body")
    with pytest.raises(KeyError, match="body"):
        operator.compute_stats_batched({"text": TEXTS, Fields.stats: [{} for _ in TEXTS]})
