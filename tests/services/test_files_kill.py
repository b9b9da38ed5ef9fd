"""A run killed by SIGKILL at many moments goes on and ends with the outputs of a whole one."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kill_driver import digests
from places import HELPERS
from services.processes import left_behind
from speeches import beginnings

SETTINGS = {
    "pane.docs": 15,
    "gate.warn": 0.1,
    "gate.block": 0.15,
    "gate.min_mentions": 20,
    "repair.mode": "augment",
}
# One judge for all runs: loading the encoder a hundred times would take minutes.
SETTINGS |= {"repair.judge": "fast", "repair.min_probability": 0.3}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    rows = beginnings(40)
    bad = ["not json", "[1]", '{"id":"x"}', '{"id":"z","text":"  "}']
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join([*rows[:10], *bad, *rows[10:], rows[12]]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("count", ["words", "people"])
def test_killed_at_file_operations(corpus: Path, tmp_path: Path, count: str) -> None:
    driver = [sys.executable, str(HELPERS / "kill_files.py")]
    settings = SETTINGS | {"measure.count": count, "measure.passages": 1}
    if count == "people":  # a repair would read twice as much
        settings |= {"repair.mode": "measure"}
    done = subprocess.run(
        [*driver, str(corpus), str(tmp_path / "work"), json.dumps(settings)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    moments = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(moments) >= 20
    assert [
        each
        for each in moments
        if each["killed"] != -signal.SIGKILL or each["again"] or not each["same"]
    ] == []
    assert {"os.rename", "open"} <= {each["event"] for each in moments}


def test_killed_by_the_clock_with_two_workers(corpus: Path, tmp_path: Path) -> None:
    evenflow = str(Path(sys.executable).with_name("evenflow"))
    settings = tmp_path / "settings.yaml"
    settings.write_text("gate: {most_dead: 1.0}\n", encoding="utf-8")
    command = [evenflow, "run", "--input", str(corpus), "--pane-docs", "15"]
    command += ["--repair-mode", "substitute", "--config", str(settings)]
    began = time.monotonic()
    subprocess.run([*command, "--output", str(tmp_path / "whole")], check=True, capture_output=True)
    whole = time.monotonic() - began
    expected = digests(tmp_path / "whole")
    for part in (0.5, 0.8):
        output = tmp_path / f"killed-{part}"
        killed = [*command, "--output", str(output), "--workers", "2"]
        process = subprocess.Popen(
            killed, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(part * whole)
        process.kill()  # the parent alone: its workers must end by themselves
        process.wait()
        again = subprocess.run(
            [*command, "--output", str(output), "--workers", "2"], capture_output=True, text=True
        )
        assert again.returncode == 0, again.stderr
        assert digests(output) == expected
        assert left_behind(process.pid, 5) == []
