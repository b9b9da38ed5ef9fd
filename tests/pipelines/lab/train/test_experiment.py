"""An experiment as a whole, with a model of some kB: arms, cells, table, page, kills."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Call
from parts import needs_training

needs_training("torch", "transformers", "peft")

from tiny_models import tiny_model  # noqa: E402

from evenflow.pipelines.lab.train import arms  # noqa: E402
from evenflow.pipelines.lab.train.rows import Row  # noqa: E402
from evenflow.schemas.config import ConfigError  # noqa: E402
from evenflow.schemas.experiment import Experiment, load  # noqa: E402
from evenflow.schemas.experiment_arms import ARMS, Arm  # noqa: E402

pytest_plugins = ["commands"]
SENTENCES = (
    "the man said that he is a doctor .",
    "she was a nurse and he was a young doctor .",
    "the nurse is old .",
    "his doctor is a man .",
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    tiny_model(tmp_path / "llama")
    rows = [{"id": str(n), "text": SENTENCES[n % 4]} for n in range(40)]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)))
    path = tmp_path / "experiment.yaml"
    path.write_text(
        json.dumps(
            {
                "model": "llama",
                "input": ["in.jsonl"],
                "output": "out",
                "seeds": [0, 1],
                "finetune": {"steps": 3, "batch": 2, "micro_batch": 2, "context": 16, "threads": 1},
                "benchmark": {"suites": {"crows_pairs:gender": 6}, "batch": 6},
            }
        )
    )
    return path


def test_it_runs_to_a_table_and_a_page_and_never_again(file: Path, call: Call) -> None:
    ended = call("lab", "experiment", file, "--json")
    assert ended.status == 0, ended.err
    out = file.parent / "out"
    assert ended.json == json.loads((out / "experiment.json").read_text())
    found = ended.json["suites"]["crows_pairs:gender"]
    assert list(found["estimates"]) == list(ARMS) and len(found["differences"]) == len(ARMS) - 1
    assert all(len(each["seeds"]) == 2 for each in found["estimates"].values())
    page = (out / "experiment.html").read_text()
    for text in ("What may be concluded", "What may not", "GC-CDA", "crows_pairs:gender"):
        assert text in page
    assert "http://" not in page and "<script" not in page
    sizes = {name: arm.get("documents") for name, arm in ended.json["arms"].items()}
    assert sizes["original"] == sizes["gc_cda"] == 40 and sizes["neutral"] == 10
    assert sizes["pretrained"] is None and 8 <= sizes["random"] <= 32
    times = {path: path.stat().st_mtime_ns for path in (out / "cells").rglob("training.json")}
    again = call("lab", "experiment", file)
    assert again.status == 0 and "May be concluded" in again.out
    assert times == {path: path.stat().st_mtime_ns for path in times}
    file.write_text(file.read_text().replace('"steps": 3', '"steps": 4'))
    other = call("lab", "experiment", file)
    assert other.status == 2 and "finetune.steps: 3 -> 4" in other.err


def test_arms_of_mined_sentences(file: Path, call: Call) -> None:
    tiny_model(file.parent / "bert", "bert")
    own = json.loads(file.read_text())
    own["model"], own["seeds"], own["baseline"] = "bert", [0], "unchanged"
    own["finetune"] |= {"objective": "mlm", "focus": "spans", "masked": 1.0, "rank": 0}
    own["keep_models"] = False
    own["benchmark"] = {"suites": {"crows_pairs:gender": 2}, "batch": 2, "parts": []}
    mined = {"top": 2, "intervention": "naive-masking"}
    own["arms"] = {
        "unchanged": {"trained": False},
        "mined": {"mined": mined},
        "drawn": {"mined": {**mined, "random": True}},
        "dropout": {
            "mined": {"top": 2, "random": True},
            "finetune": {"model_dropout": 0.2, "focus": None, "rank": 4},
        },
    }
    own["grid"] = [{"interventions": ["neutral-masking"], "top": [1, 2], "random": [True]}]
    file.write_text(json.dumps(own))
    ended = call("lab", "experiment", file, "--json")
    assert ended.status == 0, ended.err
    sizes = {name: arm.get("documents") for name, arm in ended.json["arms"].items()}
    grid = {"neutral-masking-1-drawn": 1, "neutral-masking-2-drawn": 2}
    assert sizes == {"unchanged": None, **dict.fromkeys(("mined", "drawn", "dropout"), 2), **grid}
    made = [path.read_text() for path in (file.parent / "out" / "data").glob("*/records/*.jsonl")]
    assert len(made) == 5 and sum("naive-masking" in text for text in made) == 2
    weights = [path.name for path in (file.parent / "out").rglob("*.safetensors")]
    assert weights == []
    cell = file.parent / "out/cells/dropout/0/model/training.json"
    assert json.loads(cell.read_text())["settings"]["model_dropout"] == 0.2
    # Another seed draws other sentences; mined ones stay
    experiment = load(file)
    datasets = arms.Datasets(experiment)
    first, second = (
        [datasets.of(experiment.arms[name], seed).output for name in ("mined", "drawn")]
        for seed in (0, 1)
    )
    assert first[0] == second[0] and first[1] != second[1]
    own["arms"]["drawn"]["mined"]["intervention"], own["output"] = "none", "other"
    file.write_text(json.dumps(own))
    wrong = call("lab", "experiment", file)
    assert wrong.status == 2 and "'none': one of naive-masking" in wrong.err


def test_subsets() -> None:
    experiment = Experiment.model_construct(attribute="gender")
    rows = [Row(str(n), "", 1.0, False, {"gender": n % 2, "age": 1}) for n in range(1000)]

    def taken(**fields: object) -> list[int]:
        keep = arms.keep(experiment, Arm.model_validate(fields))
        return [int(row.id) for row in rows if keep(row)]

    assert len(taken()) == 1000
    assert taken(subset="neutral") == list(range(0, 1000, 2))
    assert taken(subset="relevant") == list(range(1, 1000, 2))
    half, fifth = taken(subset="random"), taken(subset="random", share=0.2)
    assert 440 < len(half) < 560 and 160 < len(fifth) < 240 and set(fifth) < set(half)


def test_files_that_cannot_be_used(file: Path) -> None:
    good = json.loads(file.read_text())
    for change, message in (
        ({"baseline": "none"}, "baseline: no arm of this name"),
        ({"finetune": {}}, "all arms take as many steps"),
        ({"seeds": [1, 1]}, "a seed is named twice"),
        ({"arms": {"../x": {}}}, "arms"),
        ({"benchmark": {}}, "benchmark.suites"),
        ({"model": None}, "model"),
        ({"input": []}, "input"),
        ({"arms": ["original", "sub90"]}, "sub90.*none of the usual arms pretrained, original"),
        ({"arms": {"original": {"finetune": {"rank": -1}}}}, "arms.original.finetune.rank"),
        ({"arms": {"original": {"finetune": {"seed": 1}}}}, "it is that of the cell"),
    ):
        file.write_text(json.dumps({**good, **change}))
        with pytest.raises(ConfigError, match=message):
            load(file)


def test_an_input_without_documents_is_named(file: Path, call: Call) -> None:
    (file.parent / "in.jsonl").write_text("")
    ended = call("lab", "experiment", file)
    assert ended.status == 2 and "in.jsonl: no document to train on" in ended.err
