"""The recipes of the page “Repair” for weights, on documents that a gate weighed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from parts import needs_training
from places import ROOT

import evenflow

PAGE = (ROOT / "docs/pages/repair.md").read_text(encoding="utf-8")
Recipe = Callable[..., dict[str, Any]]


def blocks() -> dict[str, list[str]]:
    """The code of each section of the page."""
    sections = re.split(r"^## ", PAGE, flags=re.M)[1:]
    return {
        each.partition("\n")[0]: re.findall(r"```python\n(.*?)```", each, re.S) for each in sections
    }


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """120 documents, of which a quarter names women; weights bring them to a half."""
    folder = tmp_path_factory.mktemp("weighed")
    texts = ["She met her sister." if n % 4 == 0 else "He met his brother." for n in range(120)]
    rows = [{"id": str(n), "text": text} for n, text in enumerate(texts)]
    config = {"repair.mode": "weight", "gate.block": 1.0, "gate.warn": 0.9}
    result = evenflow.Gate(config, attributes=["gender"]).run(rows, folder / "out")
    assert result["accepted"] == 120
    return folder


@pytest.fixture
def recipe(output: Path, monkeypatch: pytest.MonkeyPatch) -> Recipe:
    """Runs a block of a section, and gives its names."""
    monkeypatch.chdir(output)

    def run(section: str) -> dict[str, Any]:
        names: dict[str, Any] = {}
        exec(blocks()[section][0], names)
        return names

    return run


def women(texts: Iterable[str]) -> float:
    """Share of the texts that name women."""
    counted = Counter(text.startswith("She") for text in texts)
    return counted[True] / counted.total()


def test_a_weighted_loss_in_pytorch(recipe: Recipe) -> None:
    needs_training("torch")
    import torch

    loss = recipe("A weighted loss in PyTorch")["weighted_loss"]
    logits = torch.randn(2, 5, 7, generator=torch.Generator().manual_seed(1))
    labels = torch.tensor([[1, 2, 3, 4, 5], [6, 5, 4, -100, -100]])
    own = [
        torch.nn.functional.cross_entropy(logits[row, :-1], labels[row, 1:], reduction="sum")
        for row in (0, 1)
    ]
    found = loss(logits, labels, torch.tensor([0.5, 3.0]))
    # Document 0 has 4 targets, document 1 has 2
    assert found == pytest.approx(float((0.5 * own[0] + 3 * own[1]) / (0.5 * 4 + 3 * 2)), rel=1e-5)


def test_a_sampler_in_pytorch(recipe: Recipe) -> None:
    needs_training("torch")
    found = recipe("A sampler in PyTorch")
    drawn = [text for _ in range(50) for batch in found["loader"] for text in batch]
    assert len(drawn) == 50 * 120
    assert women(drawn) == pytest.approx(0.5, abs=0.03)  # more than 4 standard errors


def test_hugging_face_datasets(recipe: Recipe) -> None:
    pytest.importorskip(
        "datasets", reason="readers: run `.venv/bin/pip install polars duckdb datasets`"
    )
    found = recipe("Hugging Face datasets")
    assert women(found["data"]["text"]) == 0.25
    first, second = found["first"], found["epoch"](found["data"], seed=1)
    assert len(first) == 120 and women(first["text"]) == pytest.approx(0.5, abs=0.01)
    assert first["id"] != second["id"]
