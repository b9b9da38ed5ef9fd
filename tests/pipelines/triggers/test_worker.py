"""Actions: commands and webhooks that fail in every way, kills, and triggers of a run."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from commands import Call
from places import HELPERS

from evenflow.gates import triggers
from evenflow.gates.lease import Lease
from evenflow.gates.lock import LockedError
from evenflow.gates.triggers import ActionOutcome, Decision
from evenflow.pipelines.triggers.worker import act
from evenflow.schemas.config import Config

pytest_plugins = ["commands"]


def config(**rules: Any) -> Config:
    return Config.model_validate({"triggers": {n: {"backoff": 0.0, **r} for n, r in rules.items()}})


def outcome(output: Path, **rule: Any) -> ActionOutcome:
    """How one action ends."""
    triggers.write_decision(output, Decision(rule="r", pane=3, reason="why"))
    [found] = act(output, config(r=rule))
    assert act(output, config(r=rule)) == []
    return found


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_command_is_told_what_it_is_about(tmp_path: Path) -> None:
    code = "import os; print(*(os.environ['EVENFLOW_' + n] for n in ('RULE', 'PANE', 'OUTPUT')))"
    found = outcome(tmp_path, command=python(code))
    assert (found.outcome, found.output) == ("done", f"r 3 {tmp_path}\n")


def test_words_are_not_read_by_a_shell(tmp_path: Path) -> None:
    found = outcome(tmp_path, command=["echo", "$(id)", ";", "false"])
    assert (found.outcome, found.output) == ("done", "$(id) ; false\n")


def test_commands_that_fail(tmp_path: Path) -> None:
    one = outcome(tmp_path / "1", command=python("raise SystemExit(1)"), tries=3)
    assert (one.outcome, one.message, one.attempts) == ("failed", "exit status 1", 3)
    two = outcome(tmp_path / "2", command=["no-such-command"], tries=3)
    assert (two.outcome, two.attempts) == ("failed", 1) and "no such command" in two.message
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"
    hangs = outcome(tmp_path / "3", command=python(code), timeout=1.0, tries=1)
    assert hangs.message == "it was ended after 1 s"
    dies = outcome(tmp_path / "4", command=python("import os; os.kill(os.getpid(), 9)"), tries=1)
    assert dies.message == "it was ended by signal 9"
    code = f"import pathlib; p = pathlib.Path({str(tmp_path / 'n')!r}); n = p.exists(); p.touch()"
    again = outcome(tmp_path / "5", command=python(f"{code}; raise SystemExit(0 if n else 1)"))
    assert (again.outcome, again.attempts) == ("done", 2)


def test_a_gigabyte_of_output_is_bounded(tmp_path: Path) -> None:
    code = "import sys\nfor _ in range(1024): sys.stdout.write('x' * (1 << 20))\nprint('end')"
    found = outcome(tmp_path, command=python(code))
    assert found.outcome == "done" and found.output.endswith("xxend\n")
    assert len(found.output) == 4096


@pytest.fixture
def server() -> Iterator[tuple[str, list[tuple[dict[str, str], Any]], list[int]]]:
    """An address, what it was sent, and the statuses that it answers with."""
    sent: list[tuple[dict[str, str], Any]] = []
    statuses: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            sent.append((dict(self.headers), json.loads(body)))
            self.send_response(statuses.pop(0) if statuses else 200)
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    http = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{http.server_port}/hook", sent, statuses
    http.shutdown()
    http.server_close()


def test_a_webhook_is_sent_again_until_it_is_taken(
    tmp_path: Path, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, sent, statuses = server
    statuses.append(503)
    monkeypatch.setenv("HOOK", "secret")
    found = outcome(tmp_path, webhook={"url": url, "key": {"env": "HOOK"}})
    assert (found.outcome, found.attempts) == ("done", 2)
    headers, body = sent[-1]
    assert headers["Idempotency-Key"] == "r.00000003"
    assert headers["Authorization"] == "Bearer secret"
    assert body == {"rule": "r", "pane": 3, "reason": "why", "output": str(tmp_path)}
    assert "secret" not in "".join(p.read_text() for p in (tmp_path / "triggers").rglob("*.json"))
    gone = outcome(tmp_path / "2", webhook={"url": "http://127.0.0.1:9/"}, tries=1)
    assert gone.outcome == "failed"
    # A redirect would make a GET of it
    statuses.append(302)
    assert outcome(tmp_path / "3", webhook={"url": url}, tries=1).message == "status 302"
    monkeypatch.setenv("HOOK", "se\ncret")
    told = outcome(tmp_path / "4", webhook={"url": url, "key": {"env": "HOOK"}}, tries=1)
    assert "characters that no header" in told.message and "cret" not in told.message
    nowhere = {"url": url, "key": {"env": "NO_HOOK"}}
    unset = outcome(tmp_path / "5", webhook=nowhere, tries=1)
    assert unset.message == "environment variable NO_HOOK is not set"


def test_two_processes_do_not_act_at_a_time(tmp_path: Path) -> None:
    triggers.write_decision(tmp_path, Decision(rule="r", pane=0, reason="x"))
    with Lease(tmp_path / "triggers"), pytest.raises(LockedError):
        act(tmp_path, config(r={"command": ["true"]}))
    assert len(triggers.pending(tmp_path)) == 1


@pytest.mark.parametrize("what", ["kill_triggers.py", "kill_promotion.py"])
def test_killed_anywhere_actions_are_done_and_one_model_is_promoted(
    tmp_path: Path, what: str
) -> None:
    done = subprocess.run(
        [sys.executable, str(HELPERS / what), str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("wrapper", [(), ("sh", "-c", '"$@" & trap "" TERM; wait', "sh")])
def test_an_action_ends_with_the_process_that_acts(
    tmp_path: Path, wrapper: tuple[str, ...]
) -> None:
    """Also what a wrapper starts, so that the next start cannot do it a second time beside it."""
    pid = tmp_path / "pid"
    code = f"import os, pathlib, time; pathlib.Path({str(pid)!r}).write_text(str(os.getpid()))"
    triggers.write_decision(tmp_path, Decision(rule="r", pane=0, reason="x"))
    rule = {"triggers": {"r": {"command": [*wrapper, *python(f"{code}; time.sleep(600)")]}}}
    program = (
        "import json, sys; from evenflow.pipelines.triggers.worker import act\n"
        "from evenflow.schemas.config import Config\n"
        "act(sys.argv[1], Config.model_validate(json.loads(sys.argv[2])))"
    )
    words = [sys.executable, "-c", program, str(tmp_path), json.dumps(rule)]
    process = subprocess.Popen(words)
    _wait(lambda: pid.exists() and pid.read_text() != "")
    process.kill()
    process.wait()
    _wait(lambda: not _alive(int(pid.read_text())))
    assert len(triggers.pending(tmp_path)) == 1


def _wait(true: Any) -> None:
    until = time.monotonic() + 60
    while not true():
        assert time.monotonic() < until
        time.sleep(0.05)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_triggers_of_a_run(tmp_path: Path, call: Call) -> None:
    corpus, out = tmp_path / "in.jsonl", tmp_path / "out"
    rows = [{"id": str(n), "text": "The man met a man. He said so."} for n in range(60)]
    corpus.write_text("\n".join(map(json.dumps, rows)))
    settings = tmp_path / "c.yaml"
    rules = {
        "second": {"panes": 2, "command": ["echo", "hello"]},
        "then": {"after": "second", "command": ["false"], "tries": 1},
        "by_hand": {"command": ["true"]},
        "blocked": {"verdict": "block", "command": ["true"]},
    }
    settings.write_text(json.dumps({"triggers": rules, "gate": {"min_mentions": 5}}))
    words = ("run", "--input", corpus, "--output", out, "--pane-docs", 20, "--config", settings)
    ended = call(*words, "--block", 1, "--warn", 1)
    assert ended.status == 1, ended.err
    assert "trigger then, pane 1: exit status 1" in ended.err
    report = json.loads((out / "report.json").read_text())
    assert [(each["rule"], each["pane"], each["outcome"]) for each in report["triggers"]] == [
        ("second", 1, "done"),
        ("then", 1, "failed"),
    ]
    assert "Triggers" in (out / "report.html").read_text()
    listed = {row["rule"]: row for row in call("gate", "trigger", out, "--json").json["rules"]}
    assert listed["by_hand"]["when"] == "by hand" and listed["then"]["failed"] == 1
    by_hand = ("gate", "trigger", "--run", out, "by_hand", "--config", settings)
    assert call(*by_hand).status == 0
    assert call(*by_hand, "--json").json == {"actions": []}
    assert call("gate", "trigger", "--run", out, "nothing", "--config", settings).status == 2
    assert [row["rule"] for row in call("gate", "trigger", out, "--json").json["actions"]] == [
        "second",
        "then",
        "by_hand",
    ]
    # Rules may change, and the same run is finished
    del rules["then"]
    settings.write_text(json.dumps({"triggers": rules, "gate": {"min_mentions": 5}}))
    assert call(*words, "--block", 1, "--warn", 1).status == 0
    listed = call("gate", "trigger", out, "--config", settings, "--json").json["rules"]
    assert [row["rule"] for row in listed] == ["second", "by_hand", "blocked"]


def test_a_command_that_stands_in_the_output_alone_is_not_run(tmp_path: Path, call: Call) -> None:
    """Whoever can write there would run code."""
    corpus, out, ran = tmp_path / "in.jsonl", tmp_path / "out", tmp_path / "ran"
    corpus.write_text(json.dumps({"id": "a", "text": "A man."}))
    settings = tmp_path / "c.yaml"
    settings.write_text(json.dumps({"triggers": {"r": {"command": ["true"]}}}))
    assert call("run", "-i", corpus, "-o", out, "--config", settings).status == 0
    meta = out / "ledger" / "meta.json"
    known = json.loads(meta.read_text())
    known["configuration"]["triggers"]["r"]["command"] = ["touch", str(ran)]
    meta.write_text(json.dumps(known))
    for rule in ((), ("r",)):
        ended = call("gate", "trigger", "--run", out, *rule)
        assert ended.status == 2 and "give the YAML file that has the rules" in ended.err
    assert triggers.history(out) == triggers.pending(out) == []
    assert call("gate", "trigger", "--run", out, "r", "--config", settings).status == 0
    assert not ran.exists() and len(triggers.history(out)) == 1


def test_what_a_command_or_a_server_repeats_of_a_secret_is_not_kept(
    tmp_path: Path, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, sent, _ = server
    monkeypatch.setenv("WORD", "canary")
    monkeypatch.setenv("URL", f"{url}?key=canary\n")
    echo = outcome(tmp_path / "1", command=["echo", {"env": "WORD"}, "b"])
    assert echo.output == "*** b\n"
    missing = outcome(tmp_path / "2", command=["echo", {"env": "NO_WORD"}], tries=1)
    assert missing.message == "environment variable NO_WORD is not set"
    told = outcome(tmp_path / "3", webhook={"url": {"env": "URL"}})
    assert told.outcome == "done" and len(sent) == 1


def test_a_trigger_never_holds_up_the_stream(tmp_path: Path, call: Call) -> None:
    """A command that waits for the last pane's file ends: the panes are committed meanwhile."""
    corpus, out = tmp_path / "in.jsonl", tmp_path / "out"
    corpus.write_text("\n".join(json.dumps({"id": str(n), "text": "A man."}) for n in range(40)))
    last = out / "ledger" / "00000003.json"
    code = (
        "import pathlib, sys, time\n"
        f"for _ in range(1200):\n  if pathlib.Path({str(last)!r}).exists(): sys.exit(0)\n"
        "  time.sleep(0.05)\nsys.exit(1)"
    )
    settings = tmp_path / "c.yaml"
    rule = {"panes": 1, "command": python(code), "tries": 1}
    settings.write_text(json.dumps({"triggers": {"waits": rule}}))
    words = ("run", "--input", corpus, "--output", out, "--pane-docs", 10, "--config", settings)
    assert call(*words).status == 0
    assert len(triggers.history(out)) == 4
