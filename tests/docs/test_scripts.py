"""Each script of the tests that a page or a make target names is there and starts.

Those in TINY run to their end on little data. The others are asked for their help, which imports
what they need: they have no small size, or need services.
"""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from parts import require

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"(?:python3?|/python) (tests/(?:benchmarks|fuzz|golden|trial)/\w+\.py)")
PAGES = ["README.md", "CONTRIBUTING.md", "Makefile", "docs", "deploy", "tests/data", "tests/golden"]
# Arguments with which a script is done in some seconds; INPUT has 8 speeches
TINY = {
    "tests/benchmarks/interval_coverage.py": [
        *("--streams", "4", "--groups", "2", "--documents", "1000")
    ],
    "tests/benchmarks/verdicts.py": ["--panes", "20", "--seeds", "1", "--documents", "300"],
    "tests/fuzz/fuzz.py": ["0.02", "configuration"],
}
# Scripts without help, and why they are not started here
LEFT = {
    "tests/benchmarks/filter_audit.py": "compares toolkits that no extra of ours brings",
    "tests/golden/kernels.py": "takes minutes; `make kernels` starts it",
}
# Packages of others that a script compares with, and no extra of ours brings
PEERS = ("datatrove", "spacy", "torch")


def named() -> list[str]:
    """The scripts, as pages and make targets name them."""
    files = [
        file
        for page in PAGES
        for file in ([ROOT / page] if (ROOT / page).is_file() else sorted((ROOT / page).rglob("*")))
        if file.name == "Makefile" or file.suffix in (".md", ".mk")
    ]
    return sorted({script for file in files for script in NAMED.findall(file.read_text("utf-8"))})


def test_what_is_not_started_is_there() -> None:
    assert [script for script in LEFT if not (ROOT / script).is_file()] == []


@pytest.mark.parametrize("script", [each for each in named() if each not in LEFT])
def test_a_script_that_a_page_names_starts(script: str, tmp_path: Path) -> None:
    """Without the folders that pytest brings."""
    assert (ROOT / script).is_file()
    given = TINY.get(script, ["--help"])
    if "INPUT" in given:
        with gzip.open(ROOT / "tests/data/speeches.jsonl.gz", "rb") as file:
            lines = [file.readline() for _ in range(8)]
        with gzip.open(tmp_path / "input.jsonl.gz", "wb") as file:
            file.writelines(lines)
    given = [str(tmp_path / "input.jsonl.gz") if each == "INPUT" else each for each in given]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, script, *given],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    for name in PEERS:
        if f"No module named '{name}" in done.stderr:
            require(f"readers: {script} needs {name}")
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout


def test_arguments_are_of_scripts_that_are_named() -> None:
    assert TINY.keys() | LEFT.keys() <= set(named())
