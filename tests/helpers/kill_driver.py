"""Kills runs of the gate at chosen moments and lets them go on: python kill_driver.py INPUT WORK
CONFIG_JSON

A moment is a file operation of the process below the output directory, counted by an audit hook:
nothing in the product knows of it. Prints one JSON object a line: the moment's number and event,
whether the process was killed there, and whether all outputs in the end are those of an undisturbed
run. Each run is a fork of this process, so that imports, suites and templates are paid once.
"""

import hashlib
import json
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from evenflow.pipelines.engine.files.driver import Run
from evenflow.pipelines.pages.report.report import build
from evenflow.schemas.config import load

EVENLY = 14  # moments spread over the whole run, beside those of the commits
FOLDERS = ("accepted", "quarantine", "dead-letter", "sentences", "ledger")


def watch(output: Path, on_event: Callable[[int, str, str], None]) -> None:
    """Call on_event with the number, the name and the path of each file operation below output, in
    this process.
    """
    root, count = str(output), 0

    def hook(event: str, arguments: tuple) -> None:
        nonlocal count
        if event not in (
            "open",
            "os.rename",
            "os.link",
            "os.remove",
            "os.mkdir",
            "os.rmdir",
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


def main() -> None:
    """Undisturbed run, then one run for each moment."""
    source, work, settings = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])

    def run(output: Path) -> None:
        Run([source], output, load(None, settings)).go()
        build(output)

    def killed_run(output: Path, moment: int) -> None:
        def kill(number: int, event: str, path: str) -> None:
            if number == moment:
                os.kill(os.getpid(), signal.SIGKILL)

        watch(output, kill)
        run(output)

    work.mkdir(exist_ok=True)
    warm(work, settings)
    whole, log = work / "whole", work / "events.txt"

    def logged() -> None:
        with log.open("w") as file:
            watch(
                whole, lambda number, event, path: print(number, event, path, file=file, flush=True)
            )
            run(whole)

    if in_fork(logged):
        raise SystemExit("the undisturbed run failed")
    expected = digests(whole)
    events = {
        int(number): (event, path)
        for number, event, path in (line.split() for line in log.read_text().splitlines())
    }
    commits = [
        number
        for number, (event, path) in events.items()
        if event == "os.rename" and "00000001" in path
    ]
    entries = [
        number
        for number, (event, path) in events.items()
        if path.startswith("/ledger/.") and event == "open"
    ]
    spread = [1 + i * (len(events) - 1) // EVENLY for i in range(EVENLY + 1)]
    for moment in sorted({*spread, *commits, *(number + 1 for number in commits), *entries}):
        output = work / f"killed-{moment}"

        status = in_fork(partial(killed_run, output, moment))
        again = in_fork(partial(run, output))
        same = digests(output) == expected
        event, path = events[moment]
        print(
            json.dumps(
                {
                    "moment": moment,
                    "event": event,
                    "path": path,
                    "killed": status,
                    "again": again,
                    "same": same,
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
