"""An S3 server for tests: versitygw over a folder, from what `make versitygw` builds."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from services.kafka_broker import ROOT, free_port
from services.processes import Program, reached

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


class S3Server(Program):
    """versitygw on a free port of the loopback interface; objects are plain files of a folder.

    The folder outlives a kill, and the port stays the same after a restart.
    address: HOST:PORT; endpoint: http://HOST:PORT.
    """

    def __init__(self, folder: Path):
        self.address = f"127.0.0.1:{free_port()}"
        self.endpoint = f"http://{self.address}"
        super().__init__("versitygw", folder / "versitygw.log")
        self._data = folder / "buckets"
        self._data.mkdir(parents=True, exist_ok=True)

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
        self._run(command, env={**os.environ, **keys})
        self._until(lambda: reached(int(self.address.partition(":")[2])), START_SECONDS)

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
