"""A server that is started for a run: its start, restart, failures and end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from inference_questions import question
from places import HELPERS

from evenflow.transforms.llm.client import serving
from evenflow.transforms.llm.client.client import Client
from evenflow.transforms.llm.client.serving import Served, serve
from evenflow.transforms.llm.client.settings import InferenceError, ServerSettings

PROGRAM = (sys.executable, str(HELPERS / "scripted_vllm.py"))
WAIT_SECONDS = 30.0

Start = Callable[..., AbstractContextManager[Served]]


@pytest.fixture
def pids(tmp_path: Path) -> Path:
    """A file with the ids of the server and its child, one line for each start."""
    return tmp_path / "pids"


@pytest.fixture
def start(pids: Path) -> Iterator[Start]:
    """A function that starts the scripted server."""

    def started(
        model: str, say: Callable[[str], None], load_seconds: float = WAIT_SECONDS
    ) -> AbstractContextManager[Served]:
        return serve(
            model,
            say,
            environment={"SCRIPTED_PIDS": str(pids)},
            load_seconds=load_seconds,
            command=PROGRAM,
        )

    yield started
    for pid in running(pids):
        os.kill(pid, signal.SIGKILL)


def running(pids: Path) -> list[int]:
    """Those of the processes that still run; zombies do not count."""
    numbers = [int(word) for word in pids.read_text().split()] if pids.exists() else []
    states = [(number, Path(f"/proc/{number}/stat")) for number in numbers]
    return [
        number
        for number, path in states
        if path.exists() and path.read_text().rpartition(")")[2].split()[0] != "Z"
    ]


def eventually(holds: Callable[[], object]) -> None:
    """Waits until a condition holds."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def settings(served: Served) -> ServerSettings:
    """How a started server is reached."""
    return ServerSettings(served.url, served.model, served.key, deadline=WAIT_SECONDS)


def test_a_server_is_waited_for_and_nothing_of_it_is_left(start: Start, pids: Path) -> None:
    said: list[str] = []
    with start("a/model", said.append) as served:
        assert len(running(pids)) == 2
        key = Path(served.key.place)
        assert key.stat().st_mode & 0o077 == 0
        with Client(settings(served)) as client:
            assert client.ask([question("a")])[0].origin == "model"
        # Without its key it answers nobody.
        with Client(ServerSettings(served.url, served.model), say=lambda _: None) as client:
            assert client.ask([question("a")])[0].reason == "key refused"
    assert running(pids) == []
    assert not key.exists()
    assert said[0] == "loading a/model"
    assert said[-1].startswith("loaded in ")
    assert key.name not in " ".join(said)


def test_the_wait_is_reported(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "REPORT_SECONDS", 0.0)
    said: list[str] = []
    with start("model", said.append):
        pass
    assert any(line.startswith("loading, ") for line in said)


def test_a_server_that_ends_is_started_again_once(start: Start, pids: Path) -> None:
    said: list[str] = []
    with start("model", said.append) as served:
        for round in range(2):
            os.kill(running(pids)[0], signal.SIGKILL)
            if round == 0:
                eventually(lambda: sum("loaded" in line for line in said) == 2)
                with Client(settings(served)) as client:
                    assert client.ask([question("a")])[0].origin == "model"
        eventually(lambda: "not started a third time" in said[-1])
        assert running(pids) == []
    assert sum("started again" in line for line in said) == 1


def test_questions_under_way_when_it_ends_are_answered_by_the_next_one(
    start: Start, pids: Path
) -> None:
    with start("model", lambda _: None) as served, Client(settings(served)) as client:
        assert client.ask([question("first")])[0].origin == "model"
        os.kill(running(pids)[0], signal.SIGKILL)
        answers = client.ask([question(f"S {number}") for number in range(20)])
    assert {each.origin for each in answers} == {"model"}


@pytest.mark.parametrize(
    ("model", "load_seconds", "words"),
    [("broken", WAIT_SECONDS, "no such model"), ("silent", 2.0, "did not come up within 2 s")],
)
def test_a_server_that_does_not_come_up_is_reported(
    start: Start, pids: Path, model: str, load_seconds: float, words: str
) -> None:
    with pytest.raises(InferenceError, match=words), start(model, lambda _: None, load_seconds):
        pass
    assert running(pids) == []


def test_it_ends_with_a_parent_that_is_killed(pids: Path, tmp_path: Path) -> None:
    code = (
        "import sys, time\nfrom evenflow.transforms.llm.client.serving import serve\nwith"
        " serve('model', print, command=sys.argv[1:]):\n    print('up', flush=True)\n   "
        " time.sleep(600)\n"
    )
    environment = os.environ | {"SCRIPTED_PIDS": str(pids), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", code, *PROGRAM]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        assert any(line == b"up\n" for line in parent.stdout)
        assert len(running(pids)) == 2
        parent.kill()
    eventually(lambda: running(pids) == [])


def test_a_folder_is_served_under_its_name(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "tiny-model"
    folder.mkdir()
    with start(str(folder), lambda _: None) as served:
        assert served.model == "tiny-model"


def test_the_message_without_vllm_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(serving.PYTHON, raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InferenceError, match="install vllm"), serve("model", lambda _: None):
        pass
