"""A merged model answers in vLLM as in transformers: SmolLM2."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from parts import needs_training, require
from places import ROOT
from services import vllm_server
from tiny_models import gate_output

SMOLLM2 = ROOT / "build" / "models" / "smollm2-135m-instruct"
PROMPT = "The capital of France is"


@pytest.fixture(scope="module")
def merged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The merged model of a short training."""
    needs_training("torch", "transformers", "peft")
    require(None if SMOLLM2.is_dir() else f"no {SMOLLM2.relative_to(ROOT)}: run `make models`")
    from evenflow.pipelines.lab.train.finetune import finetune
    from evenflow.pipelines.lab.train.rows import select
    from evenflow.schemas.config.finetune import FinetuneSettings

    folder = tmp_path_factory.mktemp("tuned")
    data = select(gate_output(folder / "data", [["Paris is the capital of France."]]))
    made = {"steps": 2, "batch": 1, "context": 16, "rate": 0.001, "warmup": 0, "merge": True}
    finetune(data, str(SMOLLM2), folder / "merged", FinetuneSettings.model_validate(made))
    return folder / "merged"


def greedy(model: Path) -> str:
    """What the model goes on with."""
    import torch

    from evenflow.transforms.models.loading import load

    loaded = load(str(model))
    tokens = loaded.tokenizer(PROMPT, return_tensors="pt")
    with torch.inference_mode():
        written = loaded.model.generate(**tokens, max_new_tokens=8, do_sample=False)
    return loaded.tokenizer.decode(written[0, tokens["input_ids"].shape[1] :])


def test_vllm_serves_it(merged: Path) -> None:
    require(vllm_server.installed())
    body = {"prompt": PROMPT, "max_tokens": 8, "temperature": 0}
    with vllm_server.started(merged, "--dtype", "float32") as served:
        headers = {"Authorization": f"Bearer {served.secret}"}
        asked = {**body, "model": served.model}
        answer = httpx.post(f"{served.url}/completions", json=asked, headers=headers, timeout=300)
        assert answer.status_code == 200, answer.text
    assert answer.json()["choices"][0]["text"] == greedy(merged)
