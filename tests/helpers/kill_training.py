"""Kills training, benchmarks and mining at ten moments each: python kill_training.py FOLDER

Each run is a fork of this process, so that imports are paid once, and also what libraries keep when
a model is first made. Prints one JSON object: for each command the moments that went wrong.
"""

from __future__ import annotations

import hashlib
import json
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import peft  # noqa: F401 (paid once, here)
import torch
from kill_anywhere import killed_runs, wrong
from tiny_models import gate_output, tiny_model

from evenflow.pipelines.lab.paper.run import run
from evenflow.pipelines.lab.paper.settings import Paper
from evenflow.pipelines.lab.train.benchmark import benchmark
from evenflow.pipelines.lab.train.finetune import finetune
from evenflow.pipelines.lab.train.rows import select
from evenflow.schemas.config.finetune import FinetuneSettings

torch.set_num_threads(1)  # forks have no other thread
TEXTS = ["she was a nurse .", "he was a doctor , and the old man said that she is a nurse ."]
SMALL = {"batch": 2, "micro_batch": 2, "context": 16, "threads": 1, "checkpoint_steps": 1}
SUITE = "crows_pairs:gender"
Found = list[dict[str, Any]]


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of all files of an output but those that a kill cut off."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(".part")
    }


def killed_finetune(folder: Path, llama: str) -> Found:
    """Kill `finetune`."""
    data = gate_output(folder / "data", [TEXTS] * 2)
    more = {"steps": 4, "dropout": 0.1}
    settings = FinetuneSettings.model_validate({**SMALL, **more})

    def work(output: Path) -> None:
        finetune(select(data), llama, output, settings)

    return killed_runs(work, folder / "work", digests)


def killed_benchmark(folder: Path, llama: str) -> Found:
    """Kill a benchmark that scores and one that writes."""

    def work(output: Path) -> None:
        benchmark(llama, output, ("crows_pairs", "soct"), items=12, batch=4)

    return killed_runs(work, folder / "work", digests)


def killed_paper(folder: Path, llama: str) -> Found:
    """Kill an experiment of three arms and two seeds."""
    lines = [json.dumps({"id": str(n), "text": text}) for n, text in enumerate(TEXTS * 4)]
    (folder / "in.jsonl").write_text("\n".join(lines))

    def work(output: Path) -> None:
        run(
            Paper.model_validate(
                {
                    "model": llama,
                    "input": [str(folder / "in.jsonl")],
                    "output": str(output),
                    "seeds": [0, 1],
                    "arms": ["pretrained", "original", "half"],
                    "finetune": {**SMALL, "steps": 2},
                    "benchmark": {"suites": {SUITE: 2}, "batch": 2},
                }
            )
        )

    return killed_runs(work, folder / "work", lambda out: (out / "paper.json").read_bytes())


KINDS: dict[str, Callable[[Path, str], Found]] = {
    "finetune": killed_finetune,
    "benchmark": killed_benchmark,
    "paper": killed_paper,
}


def main() -> None:
    """Kill, and print what differs."""
    folder = Path(sys.argv[1])
    llama = str(tiny_model(folder / "llama"))
    # Nothing here computes a gradient: forks of a process that has done so may not
    benchmark(llama, folder / "warm", (SUITE,), items=2)
    found: dict[str, Any] = {}
    for name, killed in KINDS.items():
        (folder / name).mkdir()
        try:
            found[name] = wrong(killed(folder / name, llama))
        except Exception:
            found[name] = traceback.format_exc()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
