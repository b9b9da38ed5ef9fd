"""A merged model answers as model and adapter: SmolLM2 in transformers and in vLLM."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from parts import needs_training, require
from places import ROOT
from services import vllm_server
from tiny_models import gate_output

SMOLLM2 = ROOT / "build" / "models" / "smollm2-135m-instruct"
PROMPT = "The capital of France is"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The adapter of a short training, and the merged model of the same."""
    needs_training("torch", "transformers", "peft")
    require(None if SMOLLM2.is_dir() else f"no {SMOLLM2.relative_to(ROOT)}: run `make models`")
    from evenflow.pipelines.lab.train.finetune import finetune
    from evenflow.pipelines.lab.train.rows import select
    from evenflow.schemas.config.finetune import FinetuneSettings

    folder = tmp_path_factory.mktemp("tuned")
    data = select(gate_output(folder / "data", [["Paris is the capital of France."]]))
    made = {"steps": 2, "batch": 1, "context": 16, "rate": 0.001, "warmup": 0}
    for name, merge in (("adapter", False), ("merged", True)):
        settings = FinetuneSettings.model_validate({**made, "merge": merge})
        finetune(data, str(SMOLLM2), folder / name, settings)
    return folder / "adapter", folder / "merged"


def greedy(model: Path, adapter: Path | None = None) -> tuple[Any, str]:
    """Logits after the prompt, and what the model goes on with."""
    import torch

    from evenflow.transforms.models.loading import load

    loaded = load(str(model), adapter and str(adapter))
    tokens = loaded.tokenizer(PROMPT, return_tensors="pt")
    with torch.inference_mode():
        logits = loaded.model(**tokens).logits
        written = loaded.model.generate(**tokens, max_new_tokens=8, do_sample=False)
    return logits, loaded.tokenizer.decode(written[0, tokens["input_ids"].shape[1] :])


def test_merged_it_answers_as_model_and_adapter(folders: tuple[Path, Path]) -> None:
    import torch

    adapter, merged = folders
    before, _ = greedy(SMOLLM2)
    apart, written = greedy(SMOLLM2, adapter)
    whole, same = greedy(merged)
    assert torch.allclose(apart, whole, atol=1e-3) and written == same
    assert not torch.allclose(before, whole, atol=1e-1)


def test_vllm_serves_it(folders: tuple[Path, Path]) -> None:
    require(vllm_server.installed())
    merged = folders[1]
    body = {"prompt": PROMPT, "max_tokens": 8, "temperature": 0}
    with vllm_server.started(merged, lambda _: None, "--dtype", "float32") as served:
        headers = {"Authorization": f"Bearer {served.key.read()}"}
        asked = {**body, "model": served.model}
        answer = httpx.post(f"{served.url}/completions", json=asked, headers=headers, timeout=300)
        assert answer.status_code == 200, answer.text
    assert answer.json()["choices"][0]["text"] == greedy(merged)[1]
