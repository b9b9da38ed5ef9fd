"""Progress of long commands: a line in some seconds, and the last one."""

import time

import pytest

from evenflow.pipelines.terminal import pace
from evenflow.pipelines.terminal.endings import Session, Stopped

STEP = pace.LINE_SECONDS / 2


@pytest.mark.parametrize(
    ("quiet", "at_once", "lines"),
    [(False, False, ["3", "5", "6"]), (False, True, ["1", "3", "5", "6"]), (True, True, [])],
)
def test_a_line_in_some_seconds_and_the_last_one(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    quiet: bool,
    at_once: bool,
    lines: list[str],
) -> None:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    show = pace.lines(Session(), quiet, str, lambda done: done == 6, at_once)
    for done in range(1, 7):
        show(done)
        now[0] += STEP
    assert capsys.readouterr().err.replace("evenflow: ", "").splitlines() == lines


def test_a_stop_ends_the_command() -> None:
    with pytest.raises(Stopped):
        pace.lines(Session(signal=2), True, str)(1)
