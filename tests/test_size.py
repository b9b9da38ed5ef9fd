"""The size of the house: to raise a limit is a line here, which a reader of the change sees."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from config_keys import keys
from places import DATA, ROOT
from pure_lines import pure

from evenflow.pipelines.cli.app import WORDS as COMMANDS
from evenflow.pipelines.cli.app import application
from evenflow.schemas.config import Config

# Pure lines of Python by room: a folder of the second level, or what lies beside such folders
LIMITS = {
    "deploy": 267,
    "docs": 134,
    "gates": 1_770,
    "gates/expectations": 1_212,
    "gates/ledger": 1_561,
    "gates/metrics": 321,
    "gates/sheet": 2,
    "pipelines": 280,
    "pipelines/accepted": 552,
    "pipelines/api": 1_854,
    "pipelines/cli": 2_006,
    "pipelines/corpus": 687,
    "pipelines/engine": 3_364,
    "pipelines/examples": 46,
    "pipelines/explain": 594,
    "pipelines/lab": 3_094,
    "pipelines/metrics": 292,
    "pipelines/pages": 1_911,
    "pipelines/terminal": 1_165,
    "pipelines/triggers": 352,
    "prompts": 117,
    "schemas": 1_306,
    "schemas/config": 1_920,
    "setup.py": 120,
    "tests": 43_651,
    "transforms": 8,
    "transforms/annotation": 998,
    "transforms/io": 2_550,
    "transforms/kafka": 1_760,
    "transforms/lab": 4_883,
    "transforms/labels": 724,
    "transforms/llm": 1_449,
    "transforms/measures": 6_075,
    "transforms/models": 1_092,
    "transforms/repair": 1_948,
    "transforms/staging": 546,
    "transforms/storage": 549,
    "transforms/substitution": 1_572,
    "transforms/text": 1_151,
    "wordlists": 666,
}
PRODUCT = 50_898  # pure lines of all rooms but the tests
WORDS, PAGES, PAGE = 27_230, 32, 2_000  # of README and docs/; pages; words of a page
MODULES = {"measure": 200, "substitute": 250}  # of evenflow, loaded by `evenflow run` in a mode
OPTIONS, KEYS = 249, 207
# Runs a command in this process, and prints how many modules of evenflow are loaded at its end
LOADED = """
import sys
from evenflow.pipelines.cli.app import main
try:
    main()
except SystemExit as done:
    assert not done.code or done.code == 3, done.code
print(sum(name.startswith("evenflow") for name in sys.modules))
"""


def room(path: Path) -> str:
    """The room of a file."""
    top, *rest = path.relative_to(ROOT).parts
    return f"{top}/{rest[0]}" if len(rest) > 1 and top not in ("docs", "deploy", "tests") else top


def sizes() -> Counter[str]:
    """Pure lines by room."""
    out: Counter[str] = Counter()
    for top in {name.partition("/")[0] for name in LIMITS}:
        for path in [ROOT / top] if top.endswith(".py") else (ROOT / top).rglob("*.py"):
            out[room(path)] += pure(path.read_text(encoding="utf-8"))
    return out


def options(command: Any) -> Iterator[str]:
    """The options of a command and of those below it."""
    yield from (name.opts[0] for name in command.params if name.param_type_name == "option")
    for below in getattr(command, "commands", {}).values():
        yield from options(below)


def test_no_room_is_larger_than_its_limit() -> None:
    found = sizes()
    assert found.keys() == LIMITS.keys()
    assert {name: lines for name, lines in found.items() if lines > LIMITS[name]} == {}
    product = found.total() - found["tests"]
    assert 0 < product <= PRODUCT


def test_pages_are_not_more_or_longer_than_their_limits() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    words = {path.name: len(path.read_text(encoding="utf-8").split()) for path in pages}
    assert 0 < len(pages) <= PAGES
    assert 0 < sum(words.values()) <= WORDS
    assert {name: count for name, count in words.items() if count > PAGE} == {}


def test_commands_are_not_more_than_their_limit() -> None:
    assert 0 < len(COMMANDS) <= 30


def test_options_and_keys_are_not_more_than_their_limit() -> None:
    assert 0 < sum(1 for _ in options(application())) <= OPTIONS
    assert 0 < sum(1 for _ in keys(Config)) <= KEYS


@pytest.mark.parametrize("mode", MODULES)
def test_a_run_loads_no_more_modules_than_its_limit(mode: str, tmp_path: Path) -> None:
    words = ["run", "-q", "-i", DATA / "speeches.jsonl.gz", "-o", tmp_path / "out"]
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words, "--repair-mode", mode, "--set", "repair.judge=fast"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert 0 < int(done.stdout.split()[-1]) <= MODULES[mode]
