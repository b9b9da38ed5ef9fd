"""An S3 server for tests: versitygw over a folder, from what `make versitygw` builds."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from services.kafka_broker import ROOT, free_port

BINARY = ROOT / "build" / "services" / "versitygw" / "versitygw"
KEY, SECRET = "evenflow-tests", "not-a-secret-of-anybody"
REGION = "us-east-1"
START_SECONDS = 30.0


def installed() -> str | None:
    """None if it can be started; else what is missing and the line that brings it."""
    if not BINARY.exists():
        return f"no {BINARY.relative_to(ROOT)}: run `make versitygw` (Go 1.26 or newer)"
    return None


def environment(endpoint: str) -> dict[str, str]:
    """What obstore and other clients read from the environment for an endpoint, http://HOST:PORT."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": REGION,
        "AWS_ALLOW_HTTP": "true",
    }


class S3Server:
    """versitygw on a free port of the loopback interface; objects are plain files of a folder.

    The folder outlives a kill, and the port stays the same after a restart.
    address: HOST:PORT; endpoint: http://HOST:PORT.
    """

    def __init__(self, folder: Path):
        self.address = f"127.0.0.1:{free_port()}"
        self.endpoint = f"http://{self.address}"
        self._data, self._log = folder / "buckets", folder / "versitygw.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._data.mkdir(parents=True, exist_ok=True)

    @property
    def pid(self) -> int | None:
        """The number of its process; None while it does not run."""
        return self._process.pid if self._process else None

    @property
    def is_running(self) -> bool:
        """Whether its process has not ended."""
        return self._process is not None and self._process.poll() is None

    def environment(self) -> dict[str, str]:
        """What a client reads from the environment to reach this server."""
        return environment(self.endpoint)

    def start(self, words: Sequence[str] = (), keys: Mapping[str, str] | None = None) -> None:
        """Start it and wait until it takes connections; words and keys in place of its own.

        Raises RuntimeError with its log's end.
        """
        # Without --keep-alive, each request would open a connection
        flags = ["--quiet", "--keep-alive", "--region", REGION, "--port", self.address]
        command = [str(BINARY), *(words or [*flags, "posix", str(self._data)])]
        keys = keys or {"ROOT_ACCESS_KEY": KEY, "ROOT_SECRET_KEY": SECRET}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command, env={**os.environ, **keys}, stdout=log, stderr=log
            )
        deadline = time.monotonic() + START_SECONDS
        host, _, port = self.address.partition(":")
        while self._process.poll() is None and time.monotonic() < deadline:
            try:
                socket.create_connection((host, int(port)), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        self.kill()
        text = self._log.read_text(encoding="utf-8", errors="replace")
        raise RuntimeError(f"versitygw did not come up on {self.address}:\n{text[-3000:]}")

    def kill(self) -> None:
        """End it with SIGKILL."""
        if self._process:
            self._process.kill()
            self._process.wait(20)
        self._process = None

    def stop(self) -> None:
        """End it in an orderly way; with SIGKILL if it takes longer than 10 s."""
        if self._process:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(10)
        self.kill()

    def restart(self) -> None:
        """End it and start it on the same port."""
        self.stop()
        self.start()

    def bucket(self, name: str) -> str:
        """Make a bucket and give its address, s3://NAME."""
        (self._data / name).mkdir()  # a folder of the top level is a bucket
        return f"s3://{name}"

    def remove_bucket(self, name: str) -> None:
        """Take a bucket away with all that is in it."""
        shutil.rmtree(self._data / name)
