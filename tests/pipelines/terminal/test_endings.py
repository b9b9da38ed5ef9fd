import errno
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import evenflow
from evenflow.gates.ledger.files import LedgerError
from evenflow.gates.lock import LockedError
from evenflow.pipelines.terminal.endings import (
    Session,
    Stopped,
    explained,
    report_event,
    stoppable,
    undisturbed,
)
from evenflow.pipelines.terminal.lines import visible
from evenflow.schemas.config import ConfigError
from evenflow.transforms.io.files import InputError, UnreadableError
from evenflow.transforms.io.parts import SEPARATOR
from evenflow.transforms.storage.directory import Directory
from evenflow.wordlists.loader import WordListError

OUT = Path("/data/out")


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (ConfigError("c.yaml:1: x"), 2, "c.yaml:1: x"),
        (WordListError("l.yaml:1: x"), 2, "l.yaml:1: x"),
        (InputError("x: no file matches"), 2, "x: no file matches"),
        (UnreadableError("x: cannot be opened"), 1, "x: cannot be opened"),
        (LockedError("in use"), 1, "in use"),
        (LedgerError("torn"), 1, "torn"),
        (
            OSError(errno.ENOSPC, "No space left on device"),
            1,
            (
                "/data/out: No space left on device; make room, then run the same command again to"
                " go on"
            ),
        ),
        (
            OSError(
                errno.ENOSPC,
                "Error writing bytes to file. Detail: [errno 28] No space left on device",
            ),
            1,
            (
                "/data/out: No space left on device; make room, then run the same command again to"
                " go on"
            ),
        ),
        (
            OSError(errno.EROFS, "Read-only file system", "/data"),
            1,
            "/data: Read-only file system; give an --output that you may write to",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", "/data/out/gate/lock"),
            1,
            "/data/out/gate/lock: Permission denied; give an --output that you may write to",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", "/corpus/a.jsonl"),
            1,
            "/corpus/a.jsonl: Permission denied",
        ),
        (
            OSError(errno.EIO, "Input/output error", b"/corpus/\xff"),
            1,
            "/corpus/\udcff: Input/output error",
        ),
        (OSError(errno.EMFILE, "Too many open files"), 1, "Too many open files"),
        (OSError("without a number"), 1, "/data/out: without a number"),
        (
            MemoryError(),
            1,
            "out of memory; give fewer --workers, or smaller panes with --set pane.mib=N",
        ),
        (
            ModuleNotFoundError("No module named 'orjson'", name="orjson"),
            1,
            "the Python package 'orjson' is missing; install it, or reinstall evenflow",
        ),
        (KeyError("x"), 1, "unexpected error: KeyError: 'x'; --debug shows the traceback"),
    ],
)
def test_every_error_has_a_message_and_a_status(
    error: Exception, status: int, message: str
) -> None:
    assert explained(error, Session(output=Directory(OUT), resumable=True)) == (message, status)


@pytest.mark.parametrize("name", [each for each in evenflow.__all__ if each.endswith("Error")])
def test_one_base_catches_the_public_errors(name: str) -> None:
    assert issubclass(getattr(evenflow, name), evenflow.EvenflowError)


def test_without_an_output_there_is_no_advice_on_it() -> None:
    assert (
        explained(OSError(errno.ENOSPC, "No space left on device"), Session())[0]
        == "No space left on device; make room"
    )
    denied = PermissionError(errno.EACCES, "Permission denied", "/a")
    assert explained(denied, Session())[0] == "/a: Permission denied"


def test_the_parts_of_a_chat_have_a_stroke_between() -> None:
    assert visible(SEPARATOR.join(["She came.", "He left."])) == "She came. / He left."
    assert visible("She came. \u2063 He left.") == "She came. / He left."
    assert visible("a\u2063b") == "a\\u2063b"


def test_a_message_in_lines_of_text_and_as_one_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    report_event("error", "one\ntwo \x1b[31m", 2, Session())
    assert capsys.readouterr() == ("", "evenflow: one\nevenflow: two \\u001b[31m\n")
    report_event("error", "one\ntwo \x1b[31m", 2, Session(json_lines=True))
    event = json.loads(capsys.readouterr().err)
    assert event.pop("time")
    assert event == {"event": "error", "message": "one\ntwo \x1b[31m", "status": 2}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_block_and_its_processes(number: signal.Signals) -> None:
    session = Session()
    before = signal.getsignal(number)
    child = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(60,))
    with pytest.raises(Stopped), stoppable(session):
        child.start()
        os.kill(os.getpid(), number)
        time.sleep(60)
    child.join(20)
    assert child.exitcode == -signal.SIGTERM
    assert session.signal == number
    assert signal.getsignal(number) == before


def test_a_stop_that_does_not_end_is_ended() -> None:
    """A lease's last beat, say, may wait for a store that is away."""
    program = (
        "import os, signal, time\n"
        "from evenflow.pipelines.terminal import endings\n"
        "endings.STOP_SECONDS = 0.1\n"
        "session = endings.Session(resumable=True)\n"
        "with endings.stoppable(session):\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "    finally:\n"
        "        time.sleep(600)\n"
    )
    words = [sys.executable, "-c", program]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 128 + signal.SIGTERM
    assert ended.stderr == "evenflow: stopped; run the same command again to go on\n"


def test_stopped_is_no_exception_that_others_catch() -> None:
    assert not issubclass(Stopped, Exception)


def test_a_signal_waits_for_steps_that_belong_together() -> None:
    session, done = Session(), []
    with pytest.raises(Stopped), stoppable(session):
        with undisturbed():
            signal.raise_signal(signal.SIGTERM)
            done.append("both steps")
        done.append("never")
    assert done == ["both steps"] and session.signal == signal.SIGTERM
