"""A plugin of pytest that runs commands of Evenflow within the test's process."""

import io
import json
import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from evenflow.pipelines.cli.app import main


@dataclass
class Ended:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What was printed, as JSON."""
        return json.loads(self.out)


Call = Callable[..., Ended]


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Call]:
    """Runs a command in this process, as the shell would: call("measure", path, stdin=b"") ->
    Ended.
    """
    monkeypatch.setenv("COLUMNS", "80")
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level

    def run(*words: object, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in words])
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err or "--debug" in words
        return Ended(int(end.value.code or 0), captured.out, captured.err)

    yield run
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(False)
