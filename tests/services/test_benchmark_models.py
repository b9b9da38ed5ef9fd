"""Benchmarks with real weights, a few items each: SmolLM2 of `make models`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from parts import needs_training, require
from places import ROOT

MODELS = ROOT / "build" / "models"


def made(name: str) -> Path:
    """The folder of a model; the test skips without it."""
    needs_training("torch", "transformers", "peft")
    folder = MODELS / name
    require(None if folder.is_dir() else f"no {folder.relative_to(ROOT)}: run `make models`")
    return folder


@pytest.fixture(scope="module")
def smollm2() -> Any:
    folder = made("smollm2-135m-instruct")
    from evenflow.transforms.lab.language_models.causal import CausalModel
    from evenflow.transforms.models import loading

    return CausalModel(loading.load(str(folder)))


def test_smollm2_writes(smollm2: Any) -> None:
    from evenflow.transforms.lab.language_models.generation import Prompt

    (answer,) = smollm2.generate([Prompt("Q: What is the capital of France?\nA:")], 12, ("\n",))
    assert "Paris" in answer


def test_smollm2_tells_sentences_from_shuffled_ones() -> None:
    from evenflow.transforms.lab.generation import limits

    scorer, _ = limits.by_model(str(made("smollm2-135m-instruct")))
    texts = [
        f"{who} {what} {where}."
        for who in ("My sister", "Two old men", "The nurse", "A boy from the farm")
        for what in ("found the key", "waited for the bus", "read a letter to us")
        for where in ("before the rain", "at the end of the road", "in the kitchen")
    ]
    band = limits.perplexity(scorer, texts[::2], "m")
    assert sum(band.check(text)[0] for text in texts[1::2]) > 12
    broken = [" ".join(reversed(each.split())) for each in texts[1::2]]
    assert sum(band.check(text)[0] for text in broken) < 6
    assert not band.check("")[0] and not band.check("bus")[0]
