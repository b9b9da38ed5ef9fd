import errno
import json
import os
import pty
import subprocess
import sys
import threading
import time
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import HELPERS
from progress_panes import MB, done

from evenflow.pipelines.terminal import progress
from evenflow.pipelines.terminal.progress import LINE_SECONDS, Pace, reporter
from evenflow.schemas.documents import Figures
from evenflow.schemas.ledger import Shard, StreamPane


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_share_done_moves_within_a_pane_and_ends_at_the_end() -> None:
    pace = Pace(0.0, total=100 * MB, likely=100 * MB)
    seen = [pace.done()]
    for number in range(4):
        for _ in range(5):
            pace.read(Figures(documents=10, input_bytes=5 * MB))
            seen.append(pace.done())
        pace.committed(done(number, 25 * MB, (number + 1) * 25 * MB, 100 * MB), float(number + 1))
        seen.append(pace.done())
    assert seen[0] == 0.0
    assert seen == sorted(set(seen))
    assert seen[6::6] == [0.25, 0.5, 0.75, 1.0]
    assert pace.left(5.0) == 0.0


def test_a_small_input_that_is_read_at_once_is_done_when_its_panes_are_committed() -> None:
    pace = Pace(0.0, total=MB, likely=3 * MB)  # compressed
    pace.read(Figures(documents=40, input_bytes=3 * MB))
    seen = [pace.done()]
    for number in range(3):
        pace.committed(done(number, MB, MB, MB), 1.0)
        seen.append(pace.done())
    assert seen == pytest.approx([1 / 2, 2 / 3, 5 / 6, 1])


def test_with_several_workers_panes_alone_are_known() -> None:
    pace = Pace(0.0, total=100 * MB, likely=100 * MB)
    pace.committed(done(0, 20 * MB, 20 * MB, 100 * MB), 10.0)
    assert (pace.documents, pace.size, pace.done(), pace.left(10.0), pace.rate(10.0)) == (
        10,
        20 * MB,
        0.2,
        40.0,
        2.0,
    )


def test_after_a_restart_the_time_left_follows_the_pace_since_then() -> None:
    pace = Pace(0.0, total=100 * MB, likely=100 * MB)
    pace.committed(done(7, 10 * MB, 80 * MB, 100 * MB), 2.0)
    assert pace.left(2.0) is None
    pace.committed(done(8, 10 * MB, 90 * MB, 100 * MB), 5.0)
    assert pace.left(5.0) == pytest.approx(3.0)
    assert pace.rate(5.0) == pytest.approx(4.0)


def test_of_an_input_of_unknown_size_nothing_is_predicted() -> None:
    pace = Pace(0.0, total=0, likely=0)
    pace.committed(done(0, MB, 0, 0), 1.0)
    assert pace.done() is None
    assert pace.left(2.0) is None


@given(
    st.lists(st.tuples(st.integers(0, 50 * MB), st.booleans()), max_size=30),
    st.integers(0, 80 * MB),
    st.floats(0.5, 5),
)
def test_the_share_is_one(steps: list[tuple[int, bool]], total: int, expansion: float) -> None:
    pace = Pace(0.0, total, total * expansion)
    committed = stored = 0
    for number, (size, is_pane) in enumerate(steps):
        if is_pane:
            stored = min(total, stored + size)
            pace.committed(done(committed, size, stored, total), float(number))
            committed += 1
        else:
            pace.read(Figures(documents=1, input_bytes=size))
        share, left = pace.done(), pace.left(float(number + 1))
        assert share is None or 0 <= share <= 1
        assert left is None or left >= 0


def test_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    with reporter("text", {"a.jsonl": 100 * MB}, clock=clock) as report:
        for _ in range(20):  # 10 s of blocks: two lines
            clock.now += 0.5
            report.on_block(Figures(documents=5, input_bytes=5 * MB // 2))
        report.on_pane(done(0, 50 * MB, 50 * MB, 100 * MB, documents=1234))
        report.on_pane(done(1, 10 * MB, 60 * MB, 100 * MB, state="block", dr=None))
    captured = capsys.readouterr()
    assert captured.out == ""
    first, second, *panes = captured.err.splitlines()
    assert first == "reading: 50 documents, 5.0 MB/s, 12 %, 35 s left"
    assert second == "reading: 100 documents, 5.0 MB/s, 25 %, 30 s left"
    assert panes == [
        "pane 0: open; 1,234 documents, 5.0 MB/s, 50 %, 10 s left, 2 dead letters; rolling DR"
        " gender 0.250",
        "pane 1: block (gender: \\u001b[31mwhy); 1,244 documents, 6.0 MB/s, 60 %, 7 s left,"
        " 2 dead letters; rolling DR gender –",
    ]


def test_a_pane_of_which_a_part_is_set_aside(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    part = done(0, MB // 100, 1, 1, documents=21)
    part.entry.set_aside = Shard(name="a", rows=29, bytes=1, sha256="0" * 64)
    with reporter("text", {"a.jsonl": MB}, clock=clock) as report:
        clock.now += 1
        report.on_pane(part)
    assert "; 50 documents, 10.0 kB/s, 100 %" in capsys.readouterr().err


def test_what_is_only_measured_is_done_when_it_was_read(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    with reporter("text", {"a.jsonl": 100 * MB}, clock=clock) as report:
        clock.now += LINE_SECONDS
        report.on_measured(Figures(documents=7, input_bytes=25 * MB))
    assert capsys.readouterr().err == "reading: 7 documents, 5.0 MB/s, 25 %, 15 s left\n"


def test_json_lines(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    with reporter("json", {"a.jsonl": 100 * MB}, clock=clock) as report:
        clock.now += LINE_SECONDS
        report.on_block(Figures(documents=7, input_bytes=10 * MB))
        clock.now += 1
        report.on_block(Figures(documents=7, input_bytes=10 * MB))  # too soon for another line
        late = done(0, 20 * MB, 20 * MB, 100 * MB, state="warn")
        late.entry.stream = StreamPane(span=round(time.time() * 1000) - 7_000, part=0, positions={})
        report.on_pane(late)
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = [json.loads(line) for line in captured.err.splitlines()]
    assert [line["event"] for line in lines] == ["progress", "pane"]
    common = {"event", "time", "documents", "committed", "bytes", "mb_per_second", "done"}
    common.add("seconds_left")
    assert set(lines[0]) == common
    assert set(lines[1]) == common | {
        *("pane", "verdict", "reason", "folder", "pane_documents", "dead_letters", "dr", "state"),
        "seconds_since_its_start",
    }
    assert 7 <= lines[1].pop("seconds_since_its_start") < 60
    assert progress.__doc__
    assert all(name in progress.__doc__ for name in lines[1])
    assert datetime.fromisoformat(lines[1].pop("time")).tzinfo is not None
    wanted = {"event": "pane", "documents": 14, "committed": 10, "bytes": 20 * MB, "pane": 0}
    wanted |= {"mb_per_second": 3.33, "done": 0.2, "seconds_left": 24.0, "folder": "accepted"}
    wanted |= {"pane_documents": 10, "dead_letters": 2, "dr": {"gender": 0.25}}
    wanted |= {"verdict": "warn", "reason": "gender: \x1b[31mwhy", "state": {"gender": "warn"}}
    assert lines[1] == wanted


def test_a_log_that_nobody_reads_does_not_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone:
        writes = 0

        def isatty(self) -> bool:
            return False

        def write(self, text: str) -> int:
            self.writes += 1
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

        def flush(self) -> None: ...

    gone = Gone()
    monkeypatch.setattr(sys, "stderr", gone)
    with reporter("text", {"a.jsonl": 2 * MB}) as report:
        report.on_pane(done(0, MB, MB, 2 * MB))
        report.on_pane(done(1, MB, 2 * MB, 2 * MB))
    assert gone.writes == 1


def test_blocks_of_several_threads_are_all_counted() -> None:
    with reporter("text", {"a.jsonl": MB}, quiet=True) as report:

        def work() -> None:
            for _ in range(500):
                report.on_block(Figures(documents=1, input_bytes=2))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert (report.pace.documents, report.pace.size) == (2000, 4000)


ON_A_TERMINAL = """
import sys, time
sys.path.insert(0, {tests!r})
from progress_panes import done, MB
from evenflow.pipelines.terminal.progress import reporter
from evenflow.schemas.documents import Figures
from evenflow.schemas.ledger import StreamPane
with reporter("text", {{"a.jsonl": 4 * MB}}) as report:
    report.on_block(Figures(documents=1000, input_bytes=2 * MB))
    time.sleep(0.6)
    report.on_pane(done(0, 2 * MB, 2 * MB, 4 * MB, documents=1000))
    time.sleep(0.6)
    print("printed meanwhile", file=sys.stderr)
    report.on_pane(done(1, 2 * MB, 4 * MB, 4 * MB, documents=500, state="block", dr=0.5))
print("the result")
"""


def on_a_terminal(script: str, term: str) -> tuple[str, str]:
    """What a script writes to standard output, and to a terminal on standard error."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": term, "COLUMNS": "80", "LINES": "24", "NO_COLOR": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=follower,
        stdin=follower,
        env=environment,
    )
    os.close(follower)
    shown = b""
    try:
        while chunk := os.read(leader, 65536):
            shown += chunk
    except OSError as error:  # Linux: the end of a terminal is EIO
        assert error.errno == errno.EIO
    finally:
        os.close(leader)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, shown.decode()
    return out.decode(), shown.decode()


def test_a_terminal_gets_a_bar() -> None:
    out, shown = on_a_terminal(ON_A_TERMINAL.format(tests=str(HELPERS)), "xterm")
    assert out == "the result\n"
    assert "━" in shown
    assert "25 %" in shown  # within the first pane
    assert "50 %" in shown
    assert "100 %" in shown
    assert "MB/s" in shown
    assert "1,000 documents" in shown
    assert "s left" in shown
    assert "pane 0: open; rolling DR gender 0.250" in shown
    assert "pane 1: block; rolling DR gender 0.500" in shown
    assert "printed meanwhile" in shown
    # The cursor is hidden, and shown again
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1
    drawn = [line for line in shown.replace("\r", "\n").splitlines() if "━" in line or "DR" in line]
    assert (
        max(
            len(line.replace("\x1b[2K", "").replace("\x1b[2m", "").replace("\x1b[0m", ""))
            for line in drawn
        )
        <= 80
    )


def test_a_terminal_that_cannot_draw_gets_lines() -> None:
    _, shown = on_a_terminal(ON_A_TERMINAL.format(tests=str(HELPERS)), "dumb")
    assert "\x1b" not in shown.replace("\\u001b", "")
    assert (
        next(line.split(";")[0] for line in shown.splitlines() if line.startswith("pane"))
        == "pane 0: open"
    )
