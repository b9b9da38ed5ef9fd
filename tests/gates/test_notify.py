"""Messages on blocked panes: signed, in order, repeated until they arrive, never in the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from receiver import Receiver
from report_ledgers import entries

from evenflow.gates import notify
from evenflow.gates.ledger import segments
from evenflow.gates.ledger.history import History
from evenflow.gates.notify import TOLD, Notifier, telling
from evenflow.gates.posting import signature
from evenflow.schemas.config import ConfigError, load
from evenflow.schemas.config.gate import Notify
from evenflow.schemas.ledger import PaneEntry
from evenflow.schemas.secrets import SecretError
from evenflow.transforms.storage.storage import Place, at

ALL = entries(60)
BLOCKED = next(entry for entry in ALL if entry.verdict.state == "block")
OPEN = next(entry for entry in ALL if entry.verdict.state == "open")


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notify, "FIRST_SECONDS", 0.02)
    monkeypatch.setattr(notify, "LAST_SECONDS", 0.1)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    yield found
    found.stop()


def commit(history: History, *panes: PaneEntry) -> PaneEntry:
    """Commit panes; returns the last."""
    for entry in panes:
        history.commit(entry.model_copy(update={"pane": len(history)}))
    return history[-1]


def run(output: Place, settings: Notify, *panes: PaneEntry) -> list[str]:
    """Commit panes beside a notifier, and end; returns what the user is told."""
    notes: list[str] = []
    history = History(output)
    with telling(output, settings, len(history), notes.append) as tell:
        for entry in panes:
            tell(commit(history, entry))
    return notes


def test_a_message_is_signed(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK", "geheim")
    run(tmp_path, Notify(url=receiver.url, secret={"env": "HOOK"}, patience=60), OPEN, BLOCKED)
    [told] = receiver.wait(1)
    assert told["event"] == "block" and told["pane"] == 1
    assert told["reason"] == BLOCKED.verdict.reason
    headers, body = receiver.got[0]
    assert headers["Idempotency-Key"] == "block.00000001"
    given = headers["X-Evenflow-Signature"]
    assert given == signature(b"geheim", headers["X-Evenflow-Timestamp"], body)
    assert given != signature(b"other", headers["X-Evenflow-Timestamp"], body)
    # openssl dgst -sha256 -hmac key, of «1.{}»
    assert signature(b"key", "1", b"{}") == (
        "sha256=1ba6b8171186efc613e8bcc0cbdab2748f24984d7c5a84faa2637afa0e40d224"
    )


@pytest.mark.parametrize("answer", [500, 404, 302])
def test_it_tries_again_until_it_is_taken(receiver: Receiver, tmp_path: Path, answer: int) -> None:
    receiver.answers = [answer]
    [note] = run(tmp_path, Notify(url=receiver.url, patience=60), BLOCKED)
    assert receiver.told == [0] and f"status {answer}; trying on" in note


@pytest.mark.parametrize("place", ["directory", "memory://notify"])
def test_all_arrive_in_order_from_a_server_that_was_down(
    receiver: Receiver, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "EVERY", 16)  # most of the ledger is compacted meanwhile
    output = at(tmp_path if place == "directory" else place)
    receiver.always = 503
    history, notes = History(output), list[str]()
    with telling(output, Notify(url=receiver.url, patience=60), 0, notes.append) as tell:
        for number in range(115):
            if number == 58:
                assert receiver.told == []
                receiver.always = 200
            tell(commit(history, BLOCKED))
            tell(commit(history, OPEN))
    assert receiver.told == list(range(0, 230, 2))
    assert [note.rpartition("; ")[2] for note in notes] == ["trying on"]
    assert run(output, Notify(url=receiver.url, patience=60)) == [] and len(receiver.got) == 115


def test_a_server_that_hangs_holds_up_nothing_and_the_next_run_tells(
    receiver: Receiver, tmp_path: Path
) -> None:
    receiver.hang.set()
    history, notes = History(tmp_path), list[str]()
    before = threading.active_count()  # tests of a pipeline leave some
    notifier = Notifier(tmp_path, Notify(url=receiver.url, patience=0.1), 0, notes.append)
    for _ in range(115):
        notifier.committed(commit(history, BLOCKED))
    notifier.close()
    assert not receiver.got and threading.active_count() < before + 10
    assert notes == ["gate.notify: blocked panes to tell of: 115; the next run does it"]
    receiver.hang.clear()
    run(tmp_path, Notify(url=receiver.url, patience=60))
    assert receiver.told == list(range(115))


def test_what_was_sent_before_a_kill_is_sent_again_and_the_rest_follows(
    receiver: Receiver, tmp_path: Path
) -> None:
    history = History(tmp_path)
    settings = Notify(url=receiver.url, patience=60)
    run(tmp_path, settings)
    commit(history, BLOCKED, BLOCKED, BLOCKED)
    seen: list[int] = []

    def kill(told: dict[str, int]) -> None:
        seen.append(told["pane"])
        if told["pane"] == 1:
            os.kill(process.pid, signal.SIGKILL)  # it was sent, and is not noted

    receiver.on_message = kill
    program = (
        "import sys; from evenflow.gates.notify import *\n"
        "from evenflow.schemas.config.gate import *\n"
        "Notifier(sys.argv[1], Notify(url=sys.argv[2], patience=60), 3, print).close()"
    )
    words = [sys.executable, "-c", program, str(tmp_path), receiver.url]
    with subprocess.Popen(words) as process:
        process.wait(60)
    assert seen == [0, 1]
    receiver.on_message = lambda told: seen.append(told["pane"])
    run(tmp_path, settings)
    assert seen == [0, 1, 1, 2]


def test_panes_from_before_are_not_told(receiver: Receiver, tmp_path: Path) -> None:
    commit(History(tmp_path), BLOCKED, BLOCKED)
    run(tmp_path, Notify(url=receiver.url, patience=60), BLOCKED)
    assert receiver.told == [2]


def test_a_damaged_mark_means_all_again(receiver: Receiver, tmp_path: Path) -> None:
    run(tmp_path, Notify(url=receiver.url, patience=60), BLOCKED, OPEN)
    (tmp_path / TOLD).write_text("{")
    run(tmp_path, Notify(url=receiver.url, patience=60))
    assert receiver.told == [0, 0]


def test_a_ledger_that_cannot_be_read_is_read_again(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = [OSError("no answer"), OSError("no answer")]
    read = notify.read_some

    def faulty(*given: Any, **more: Any) -> Iterator[PaneEntry]:
        if faults:
            raise faults.pop()
        return read(*given, **more)

    monkeypatch.setattr(notify, "read_some", faulty)
    [note] = run(tmp_path, Notify(url=receiver.url, patience=60), BLOCKED)
    assert receiver.told == [0] and note.endswith("no answer; trying on")


def test_wrong_settings_show_no_secret(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gate\.notify\.url") as raised:
        load(None, {"gate.notify.url": "https://user:geheim@example.org"})
    assert "geheim" not in str(raised.value)
    with pytest.raises(ConfigError, match=r"gate\.notify\.secret") as raised:
        load(None, {"gate.notify.secret": "geheim"})
    assert "geheim" not in str(raised.value)
    with pytest.raises(SecretError, match="NO_SUCH"):
        Notifier(
            tmp_path,
            Notify(url="http://127.0.0.1:1", secret={"env": "NO_SUCH"}),
            0,
            print,
        )
