"""vLLM's build for CPUs, from the environment that `make llm` makes, with a tiny model of random
weights.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from services.kafka_broker import ROOT

from evenflow.transforms.llm.client.serving import Served, serve

FOLDER = ROOT / "build" / "llm"
PYTHON = FOLDER / "bin" / "python"
ARGUMENTS = ("--dtype", "bfloat16", "--enforce-eager", "--max-num-seqs", "32")
# GiB for the cache of keys and values; the model needs less, and the default takes half of the
# machine.
ENVIRONMENT = {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
LOAD_SECONDS = 400.0  # 45 s on a machine that does nothing else


def installed() -> str | None:
    """None if it can be started; else what is missing and the line that brings it."""
    return (
        None
        if any(FOLDER.glob(".installed-*"))
        else f"vLLM: not in {FOLDER.relative_to(ROOT)}; run `make llm`"
    )


def make_model(folder: Path) -> Path:
    """A model of random weights in a folder."""
    subprocess.run([PYTHON, Path(__file__).with_name("tiny_qwen.py"), folder], check=True)
    return folder


@contextmanager
def started(model: Path, say: Callable[[str], None], *more: str) -> Iterator[Served]:
    """The server, within the block; more of its arguments."""
    command = [str(PYTHON), "-m", "vllm.entrypoints.openai.api_server"]
    with serve(str(model), say, (*ARGUMENTS, *more), ENVIRONMENT, LOAD_SECONDS, command) as served:
        yield served
