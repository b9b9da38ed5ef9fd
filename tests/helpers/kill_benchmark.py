"""Kills a benchmark at ten moments: python kill_benchmark.py FOLDER"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
import transformers
from kill_anywhere import killed_runs, wrong
from kill_training import model

from evenflow.pipelines.train.benchmark import benchmark

for lazy in (
    transformers.AutoModelForCausalLM,
    transformers.LlamaForCausalLM,
    transformers.PreTrainedTokenizerFast,
):
    assert lazy
torch.set_num_threads(1)
SUITES = ("crows_pairs", "soct")


def main() -> None:
    """Kill, and end with status 1 where a result differs."""
    folder = Path(sys.argv[1])
    llama = model(folder / "llama")

    def work(output: Path) -> None:
        benchmark(str(llama), output, SUITES, items=48, batch=8)

    def files(output: Path) -> dict[str, bytes]:
        return {
            str(path.relative_to(output)): path.read_bytes()
            for path in sorted(output.rglob("*"))
            if path.is_file() and not path.name.endswith(".part")
        }

    if found := wrong(killed_runs(work, folder / "work", files)):
        sys.exit("\n".join(map(str, found)))


if __name__ == "__main__":
    main()
