"""File operations of a run below its output, seen by an audit hook, and what tests of kills share:
nothing in the product knows of it.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from evenflow.pipelines.engine.files.driver import Run
from evenflow.pipelines.pages.report.report import build
from evenflow.schemas.config import load

FOLDERS = ("accepted", "quarantine", "dead-letter", "sentences", "ledger")


def watch(output: Path, on_event: Callable[[int, str, str], None]) -> None:
    """Call on_event with the number, the name and the path of each file operation below output, in
    this process.
    """
    root, count = str(output), 0

    def hook(event: str, arguments: tuple) -> None:
        nonlocal count
        if event not in (
            *("open", "os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir"),
            "shutil.rmtree",
        ):
            return
        path = next(
            (
                str(each)
                for each in arguments
                if isinstance(each, str | Path) and str(each).startswith(root)
            ),
            None,
        )
        if path is not None:
            count += 1
            on_event(count, event, path.removeprefix(root) or "/")

    sys.addaudithook(hook)


def in_fork(work: Callable[[], None]) -> int:
    """Status of a fork of this process after the work."""
    child = os.fork()
    if not child:
        in_child(work)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def in_child(work: Callable[[], None]) -> NoReturn:
    """Work in a fork, and end it."""
    try:
        work()
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)


def warm(folder: Path, settings: dict[str, Any]) -> None:
    """Run the gate over one document in this process: its forks find suites, patterns and templates
    made.
    """
    source = folder / "warm.jsonl"
    source.write_text(json.dumps({"id": "0", "text": "She met him."}), encoding="utf-8")
    Run([str(source)], folder / "warm", load(None, settings)).go()
    build(folder / "warm")


def digests(output: Path) -> dict[str, str]:
    """SHA-256 of every output that a reader would use."""
    files = [
        path
        for folder in FOLDERS
        for path in sorted((output / folder).rglob("*"))
        if path.is_file()
    ]
    staged = list((output / "staged").rglob("*"))  # nothing: what is there makes the outputs differ
    return {
        str(path.relative_to(output)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in [*files, *staged]
    }
