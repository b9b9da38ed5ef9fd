"""Each script of the tests that a page or a make target names is there and starts.

Those in TINY run to their end on little data. The others are asked for their help, which imports
what they need: they have no small size, or need services.
"""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import traceback
from pathlib import Path

import pytest
from parts import require

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"(?:python3?|/python) (tests/(?:benchmarks|fuzz|golden|trial)/\w+\.py)")
PAGES = ["README.md", "CONTRIBUTING.md", "Makefile", "docs", "deploy", "tests/data", "tests/golden"]
# Arguments with which a script is done in some seconds
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


def helped(script: str, log: Path) -> int:
    """Ask a script for its help, in a fork: what most need is imported once."""
    import evenflow.pipelines.engine.topics.driver  # noqa: F401

    log.touch()
    child = os.fork()
    if not child:
        os.dup2(os.open(log, os.O_WRONLY), 1)
        sys.stdout = sys.stderr = os.fdopen(1, "w", closefd=False)
        os.chdir(ROOT)
        own = (str(ROOT / "tests"), str(ROOT / "docs"))
        for name, module in [*sys.modules.items()]:
            if (getattr(module, "__file__", None) or "").startswith(own):
                del sys.modules[name]
        sys.path = [str(Path(script).parent), *(at for at in sys.path if not at.startswith(own))]
        sys.argv, status = [script, "--help"], 1
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            status = int(end.code or 0)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("script", [each for each in named() if each not in LEFT])
def test_a_script_that_a_page_names_starts(script: str, tmp_path: Path) -> None:
    """Without the folders that pytest brings."""
    if script in TINY:
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        words = [sys.executable, script, *TINY[script]]
        done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
        status, said = done.returncode, done.stdout + done.stderr
    else:
        status, said = helped(script, tmp_path / "log"), (tmp_path / "log").read_text()
    for name in PEERS:
        if f"No module named '{name}" in said:
            require(f"readers: {script} needs {name}")
    assert status == 0, said[-2000:]
    assert said


def test_arguments_are_of_scripts_that_are_named_and_there() -> None:
    assert TINY.keys() | LEFT.keys() <= {each for each in named() if (ROOT / each).is_file()}
