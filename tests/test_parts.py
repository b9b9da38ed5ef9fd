"""A test whose part is missing skips; with CI set it fails, unless CI may do without the part."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HELPERS = Path(__file__).parent / "helpers"
SKIPS = {
    "called": "def test_it(): require('no broker: run `make kafka`')",
    "fixture": (
        "@pytest.fixture\ndef broker(): require('no broker: run `make kafka`')\ndef"
        " test_it(broker): pass"
    ),
    "skipif": (
        "@pytest.mark.skipif(True, reason='no broker: run `make kafka`')\ndef test_it(): pass"
    ),
    "module": (
        "pytest.importorskip('no_such_package', reason='no broker: run `make kafka`')\ndef"
        " test_it(): pass"
    ),
}
LISTED = {
    name: source.replace("no broker: run `make kafka`", "vLLM: run `make llm`")
    for name, source in SKIPS.items()
}


def ran(folder: Path, source: str, ci: str, *options: str) -> tuple[int, str]:
    """Status and output of pytest on a file with this source."""
    (folder / "test_one.py").write_text(f"import pytest\nfrom parts import require\n{source}\n")
    environment = {
        **os.environ,
        "CI": ci,
        "PYTHONPATH": str(HELPERS),
        "PYTEST_ADDOPTS": "",
        "COLUMNS": "400",
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "parts",
        "-p",
        "no:cacheprovider",
        "-rs",
        *options,
        "test_one.py",
    ]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout


@pytest.mark.parametrize("how", SKIPS)
def test_without_ci_it_skips_and_says_what_brings_the_part(tmp_path: Path, how: str) -> None:
    status, out = ran(tmp_path, SKIPS[how], "")
    assert status in (0, 5) and "1 skipped" in out  # 5: no test was collected
    assert "run `make kafka`" in out


@pytest.mark.parametrize("how", SKIPS)
def test_with_ci_it_fails(tmp_path: Path, how: str) -> None:
    status, out = ran(tmp_path, SKIPS[how], "true")
    assert status not in (0, 5) and "skipped" not in out
    assert "run `make kafka`" in out


@pytest.mark.parametrize("how", LISTED)
def test_what_ci_may_miss_is_named_at_the_end(tmp_path: Path, how: str) -> None:
    status, out = ran(tmp_path, LISTED[how], "true")
    assert status in (0, 5) and "1 skipped" in out
    assert (
        "vLLM: run `make llm` (CI may do without: package indexes"
        in out.partition("short test summary")[2]
    )


@pytest.mark.parametrize("how", ["fixture", "module"])
def test_it_fails_in_parallel_too(tmp_path: Path, how: str) -> None:
    assert ran(tmp_path, SKIPS[how], "true", "-n", "1")[0] not in (0, 5)


def test_an_expected_failure_is_no_skip(tmp_path: Path) -> None:
    source = "@pytest.mark.xfail(reason='known', strict=True)\ndef test_it(): assert False"
    assert ran(tmp_path, source, "true")[0] == 0
