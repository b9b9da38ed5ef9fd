"""vLLM's build for CPUs, from the environment that `make llm` makes, with a tiny model of random
weights.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from services.kafka_broker import ROOT

from evenflow.transforms.llm.client.http import RequestError, get
from evenflow.transforms.llm.client.settings import Key, ServerSettings

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
def started(model: Path, *more: str) -> Iterator[ServerSettings]:
    """The server, within the block; more of its arguments."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    key, log = model.with_name("key"), model.with_name("log")
    key.write_text(secrets.token_urlsafe(32))
    command = [PYTHON, "-m", "vllm.entrypoints.openai.api_server", "--model", model]
    command += ["--served-model-name", model.name, "--host", "127.0.0.1", "--port", str(port)]
    compact = {"backend": "xgrammar", "disable_any_whitespace": True}
    command += ["--structured-outputs-config", json.dumps(compact), *ARGUMENTS, *more]
    own = os.environ | ENVIRONMENT | {"VLLM_API_KEY": key.read_text()}
    server = ServerSettings(
        f"http://127.0.0.1:{port}/v1", model.name, Key("file", str(key)), deadline=LOAD_SECONDS
    )
    with (
        log.open("wb") as file,
        subprocess.Popen(command, stdout=file, stderr=file, env=own) as run,
    ):
        try:
            end = time.monotonic() + LOAD_SECONDS
            while not _answers(server):
                assert run.poll() is None and time.monotonic() < end, log.read_text()[-2000:]
                time.sleep(0.5)
            yield server
        finally:
            run.terminate()


def _answers(server: ServerSettings) -> bool:
    """Whether the server accepts questions."""
    try:
        return get(server, f"{server.root}/health", 5.0)[0] == 200
    except RequestError:
        return False
