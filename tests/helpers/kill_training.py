"""Kills training at ten moments: python kill_training.py FOLDER finetune|experiment|mine"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import peft  # noqa: F401 (paid once, here)
import torch
import transformers
from kill_anywhere import killed_runs, wrong
from tiny_models import gate_output

import evenflow.transforms.benchmarks.asking  # noqa: F401
from evenflow.pipelines.train import mining
from evenflow.pipelines.train.experiment import run
from evenflow.pipelines.train.finetune import finetune
from evenflow.pipelines.train.mining_inputs import Document, Source
from evenflow.pipelines.train.rows import select
from evenflow.schemas.experiment import Experiment
from evenflow.schemas.finetune_section import FinetuneSettings
from evenflow.transforms.masking.sentences import SentenceFinder
from evenflow.wordlists import loader

for lazy in (
    transformers.AutoModelForCausalLM,
    transformers.LlamaForCausalLM,
    transformers.PreTrainedTokenizerFast,
):
    assert lazy
torch.set_num_threads(1)
TEXTS = ["she was a nurse .", "he was a doctor , and the old man said that she is a nurse ."]
MAKE = "import sys, pathlib, tiny_models; tiny_models.tiny_model(pathlib.Path(sys.argv[1]))"


def model(folder: Path) -> Path:
    """A tiny model, made in another process: this one must not compute."""
    subprocess.run([sys.executable, "-c", MAKE, str(folder)], check=True, cwd=Path(__file__).parent)
    return folder


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of the files of a trained model."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
        if path.is_file()
    }


def killed_finetune(folder: Path) -> list[dict[str, object]]:
    """Kill `finetune`."""
    llama, data = model(folder / "llama"), gate_output(folder / "data", [TEXTS] * 4)
    settings = FinetuneSettings(
        batch=4, micro_batch=2, context=16, threads=1, steps=7, checkpoint_steps=2, dropout=0.1
    )

    def work(output: Path) -> None:
        finetune(select(data), str(llama), output, settings)

    return killed_runs(work, folder / "work", digests)


def killed_experiment(folder: Path) -> list[dict[str, object]]:
    """Kill an experiment of two arms and two seeds."""
    llama, data = model(folder / "llama"), gate_output(folder / "data", [TEXTS] * 4)
    settings = {"batch": 2, "micro_batch": 2, "context": 16, "threads": 1, "steps": 2}
    arms = {"original": {"data": str(data)}, "random": {"data": str(data), "subset": "random"}}

    def work(output: Path) -> None:
        run(
            Experiment.model_validate(
                {
                    "model": str(llama),
                    "input": ["none"],
                    "output": str(output),
                    "seeds": [0, 1],
                    "arms": arms,
                    "finetune": {**settings, "checkpoint_steps": 1},
                    "benchmark": {"suites": {"crows_pairs:gender": 4}, "batch": 2},
                }
            )
        )

    return killed_runs(work, folder / "work", lambda out: (out / "experiment.json").read_bytes())


def killed_mine(folder: Path) -> list[dict[str, object]]:
    """Kill a random draw of sentences, in chunks of a few."""
    mining.CHUNK = 5
    finder = SentenceFinder(loader.load("gender"))
    texts = [f"She met {n} men. He left her." for n in range(40)]

    def work(output: Path) -> None:
        given = Source({}, [Document(str(n), text) for n, text in enumerate(texts)])
        settings = mining.Settings(7, None, intervention="neutral-masking")
        mining.mine(given, finder, None, settings, output)

    return killed_runs(work, folder / "work", digests)


def main() -> None:
    """Kill, and end with status 1 where a result differs."""
    folder, what = Path(sys.argv[1]), sys.argv[2]
    kinds = {"finetune": killed_finetune, "experiment": killed_experiment, "mine": killed_mine}
    found = kinds[what](folder)
    if found := wrong(found):
        sys.exit("\n".join(map(str, found)))


if __name__ == "__main__":
    main()
