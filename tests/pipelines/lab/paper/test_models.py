"""An experiment as a whole, with a model of some kB: arms, cells, table, page, kills."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Call
from parts import needs_training

needs_training("torch", "transformers", "peft")

from tiny_models import tiny_model  # noqa: E402

from evenflow.pipelines.lab.paper.settings import USUAL, load  # noqa: E402
from evenflow.pipelines.lab.paper.texts import Texts  # noqa: E402
from evenflow.schemas.config import ConfigError  # noqa: E402

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
    path = tmp_path / "paper.yaml"
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
    ended = call("lab", "paper", file, "--json")
    assert ended.status == 0, ended.err
    out = file.parent / "out"
    assert ended.json == json.loads((out / "paper.json").read_text())
    found = ended.json["suites"]["crows_pairs:gender"]
    assert list(found["estimates"]) == list(USUAL) and len(found["differences"]) == len(USUAL) - 1
    assert all(len(each["seeds"]) == 2 for each in found["estimates"].values())
    page = (out / "paper.html").read_text()
    for text in ("What may be concluded", "What may not", "GC-CDA", "crows_pairs:gender"):
        assert text in page
    assert "http://" not in page and "<script" not in page
    sizes = {name: arm.get("documents") for name, arm in ended.json["arms"].items()}
    assert sizes["original"] == sizes["gc_cda"] == 40 and sizes["neutral"] == 10
    assert sizes["pretrained"] is None
    [expected] = ended.json["expected"]
    assert expected.startswith("crows_pairs:gender, 6 items: a difference of ")
    times = {path: path.stat().st_mtime_ns for path in (out / "cells").rglob("training.json")}
    again = call("lab", "paper", file)
    assert again.status == 0 and "May be concluded" in again.out
    assert times == {path: path.stat().st_mtime_ns for path in times}
    file.write_text(file.read_text().replace('"steps": 3', '"steps": 4'))
    other = call("lab", "paper", file)
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
    ended = call("lab", "paper", file, "--json")
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
    folders = {path.name for path in (file.parent / "out/data").iterdir()}
    # Another seed draws other sentences; mined ones stay
    own["seeds"] = [0, 1]
    file.write_text(json.dumps(own))
    assert call("lab", "paper", file).status == 0
    new = {path.name for path in (file.parent / "out/data").iterdir()} - folders
    assert len(new) == 4  # drawn, dropout, and two of the grid
    own["arms"]["drawn"]["mined"]["intervention"], own["output"] = "none", "other"
    file.write_text(json.dumps(own))
    wrong = call("lab", "paper", file)
    assert wrong.status == 2 and "'none': one of naive-masking" in wrong.err


def test_what_an_arm_reads(file: Path) -> None:
    own = json.loads(file.read_text())
    own["arms"] = ["original", "neutral", "random", "half", "two_sided", "weighed", "weights_drawn"]
    rows = [{"id": str(n), "text": f"{SENTENCES[n % 4][:-2]} {n} ."} for n in range(40)]
    (file.parent / "in.jsonl").write_text("\n".join(map(json.dumps, rows)))
    file.write_text(json.dumps(own))
    texts = Texts(load(file))

    def read(arm: str, seed: int = 0) -> list[tuple[str, str, float, bool]]:
        rows = texts.read(arm, seed).rows()
        return [(each.id, each.text, each.weight, each.is_copy) for each in rows]

    original = read("original")
    assert len(original) == 40 and {row[2:] for row in original} == {(1.0, False)}
    assert {row[1][:12] for row in read("neutral")} == {SENTENCES[2][:12]}
    assert 8 <= len(read("random")) <= 32 and read("random") != read("random", 1)
    both = read("two_sided")
    assert len(both) == 80 and both[:40] == original and len({row[0] for row in both}) == 80
    assert all(row[3] for row in both[40:]) and "the woman said that she" in both[40][1]
    changed = sum(one[1] != other[1] for one, other in zip(original, read("half"), strict=True))
    assert 0 < changed < 30
    weights = [row[2] for row in read("weighed")]
    drawn = [row[2] for row in read("weights_drawn")]
    assert len(set(weights)) > 1 and weights != drawn and sorted(weights) == sorted(drawn)


def test_files_that_cannot_be_used(file: Path) -> None:
    good = json.loads(file.read_text())
    for change, message in (
        ({"baseline": "none"}, "baseline: no arm of this name"),
        ({"finetune": {}}, "all arms take as many steps"),
        ({"seeds": [1, 1]}, "different whole numbers"),
        ({"model": "vectors"}, "finetune: word vectors have none"),
        ({"arms": {"../x": {}}}, "arms"),
        ({"benchmark": {}}, "benchmark.suites"),
        ({"benchmark": None}, "benchmark: suites were expected"),
        ({"arms": {"original": {"control": "x"}}}, "arms.original.control: no arm of this name"),
        ({"arms": {"original": {"read": {"half": "selected"}}}}, "arms.original.select: it was"),
        ({"arms": {"original": {"read": {"gate": "all"}}}}, "arms.original.gate: it was"),
        ({"arms": {"original": {"read": {"quarter": "all"}}}}, "arms.original.read"),
        ({"arms": ["original", "aug90"]}, "arms.aug90.control: no arm of this name: copied_drawn"),
        ({"model": None}, "model"),
        ({"input": []}, "input"),
        ({"arms": ["original", "sub91"]}, "sub91.*none of the usual arms pretrained, original"),
        ({"arms": {"original": {"finetune": {"rank": -1}}}}, "arms.original.finetune.rank"),
        ({"arms": {"original": {"finetune": {"seed": 1}}}}, "it is that of the cell"),
    ):
        file.write_text(json.dumps({**good, **change}))
        with pytest.raises(ConfigError, match=message):
            load(file)
