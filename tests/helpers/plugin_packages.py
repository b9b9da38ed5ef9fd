"""Installs the example packages of plug-ins, and runs commands that see them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parents[1] / "plugins"


def install(name: str, folder: Path) -> Path:
    source = shutil.copytree(HERE / name, folder / "source")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--no-index", "--target", folder / "installed", source], check=True)
    return folder / "installed"


def evenflow(installed: Path, *words: object, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from evenflow.pipelines.cli.app import main; main()"]
    return subprocess.run(
        [*command, *map(str, words)],
        input=text,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(installed), "COLUMNS": "80"},
    )


def corpus(path: Path, texts: list[str]) -> Path:
    lines = [json.dumps({"id": str(n), "text": text}) for n, text in enumerate(texts)]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def conforms(tests: str, installed: Path, folder: Path) -> str:
    """What pytest prints of tests that pass."""
    path = folder / "test_plugin.py"
    path.write_text(tests)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", path],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(installed)},
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def changed(installed: Path, folder: Path, name: str, before: str, after: str) -> Path:
    """A copy of an installed package whose code differs in some words."""
    copy = shutil.copytree(installed, folder / "changed")
    code = copy / f"evenflow_{name}.py"
    text = code.read_text()
    assert before in text
    code.write_text(text.replace(before, after))
    return copy


def names_both(output: Path, name: str, key: str) -> bool:
    """Whether the first epoch of an output has a plug-in's version, and a second one its change."""
    first, second = json.loads((output / "ledger" / "meta.json").read_text())["epochs"]
    return first["program"][key].startswith(f"evenflow-{name} 0.1.0 ") and any(
        key in line for line in second["changes"]
    )


def append(path: Path, text: str) -> None:
    """One more document."""
    with path.open("a") as file:
        file.write(json.dumps({"id": "new", "text": text}) + "\n")
