"""Kills runs over files of six formats, with two workers, into a folder or an object store, at
moments that a seed draws.

An output is begun, killed at the n-th file operation below it, or before or after the n-th request
to the store, and gone on with until it is finished; then the next output is begun. Of a store its
server may be killed instead, and is started again. In the end an output has to have the files of an
undisturbed one byte for byte, and to agree with its ledger. Each run is a fork of this process, so
that imports, suites and templates are paid once.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import obstore
import pyarrow as pa
import pyarrow.parquet as pq
from kill_driver import digests, in_child, warm, watch
from services.s3_server import S3Server
from services.stream_outputs import placed

from evenflow.gates.ledger import output_files
from evenflow.gates.ledger.history import History
from evenflow.pipelines.engine.files.driver import Run
from evenflow.schemas.config import load
from evenflow.transforms.storage.storage import at

DOCUMENTS, DEAD, WORKERS = 60, 6, 2
TEXT = "She saw him and his mother."
SETTINGS = {"pane.docs": 10, "gate.most_dead": 1.0, "repair.mode": "weight"}
KILLS_EACH = 3  # of an output, about
REQUESTS = ("get", "put", "head", "list", "list_with_delimiter", "delete", "copy", "open_reader")
Event = Callable[[], None]


def files(kills: int, drawn: random.Random, folder: Path) -> tuple[str, bool]:
    """Kill runs into a folder.

    Args:
        kills: How often.
        drawn: Draws the moments.
        folder: An empty folder.

    Returns:
        What was found, and whether everything is there once.
    """

    def watched(output: str, event: Event) -> None:
        watch(Path(output), lambda number, name, path: event())

    return _trial("files", kills, drawn, folder, folder, str(folder), watched, None)


def store(kills: int, drawn: random.Random, folder: Path) -> tuple[str, bool]:
    """Kill runs into a store, and its server; arguments and result are those of `files`."""
    server = S3Server(folder / "s3")
    os.environ |= server.environment()
    server.start()
    try:
        bucket = server.bucket("trial")

        def watched(output: str, event: Event) -> None:
            for name in REQUESTS:
                setattr(obstore, name, _told(getattr(obstore, name), event))

        there = folder / "s3" / "buckets" / "trial"  # objects are files
        return _trial("store", kills, drawn, folder, there, bucket, watched, server)
    finally:
        server.kill()


def _trial(
    kind: str,
    kills: int,
    drawn: random.Random,
    folder: Path,
    there: Path,
    root: str,
    watched: Callable[[str, Event], None],
    server: S3Server | None,
) -> tuple[str, bool]:
    """Kill; `there` is the local folder of what has the address `root`."""
    corpus = folder / "corpus"
    wanted = _write(corpus)
    warm(folder, SETTINGS)

    def whole() -> None:
        count = 0

        def event() -> None:
            nonlocal count
            count += 1

        watched(f"{root}/whole", event)
        _run(corpus, f"{root}/whole")
        (folder / "events").write_text(str(count))

    def killed(output: str, moment: int, victim: str) -> None:
        pid = server.pid if server is not None and victim == "server" else os.getpid()
        watched(output, _killer(moment, pid))
        _run(corpus, output)

    assert _forked(whole, server) == (0, False), "the undisturbed run failed"
    expected, events = digests(there / "whole"), int((folder / "events").read_text())
    fine, done, outputs = placed(there / "whole") == wanted, 0, 0
    while done < kills:
        name, status = f"out-{outputs}", -signal.SIGKILL
        while status == -signal.SIGKILL:
            moment = drawn.randint(1, 2 * events // KILLS_EACH)
            victim = drawn.choice(["run", "server"]) if server is not None else "run"

            last = done >= kills
            status, restarted = _forked(
                partial(killed, f"{root}/{name}", 0 if last else moment, victim), server
            )
            done += restarted or status < 0
            print(f"{kind} {done}: {victim} at {moment} of {events}: exit status {status}")
        outputs += 1
        sound, _ = _forked(partial(_check, f"{root}/{name}"), server)
        same = status == 0 and digests(there / name) == expected
        fine = fine and same and sound == 0
        print(f"{kind}: {name} is {'' if same else 'NOT '}as an undisturbed one", flush=True)
    return f"{outputs} outputs, each of {DOCUMENTS} documents and {DEAD} dead letters", fine


def _write(corpus: Path) -> Counter[str]:
    """Write documents and records that are none in six formats; what has to be placed."""
    corpus.mkdir()
    ids, dead = [f"id-{i}" for i in range(DOCUMENTS)], [f"dead {i}" for i in range(DEAD)]
    many = DOCUMENTS // 6
    for number, name in enumerate(("a.jsonl", "b.csv", "c.jsonl.gz", "d.jsonl.zst", "e.parquet")):
        own = ids[number * many : (number + 1) * many]
        broken = dead[number * DEAD // 4 : (number + 1) * DEAD // 4]
        _write_file(corpus / name, own, broken)
    texts = [corpus / f"{number}.txt" for number in range(many)]
    for path in texts:
        path.write_text(TEXT, encoding="utf-8")
    return Counter([*ids[: 5 * many], *dead, *(f"{path.name}#0" for path in texts)])


def _write_file(path: Path, ids: Sequence[str], dead: Sequence[str]) -> None:
    """Write a file of documents, and of lines that are no record."""
    rows = [{"id": each, "text": TEXT} for each in ids]
    lines = [f"{line}\n".encode() for line in (*map(json.dumps, rows), *dead)]
    match path.suffix:
        case ".parquet":
            pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=4)
        case ".csv":
            lines = [f"{each},{TEXT}\n".encode() for each in ids]
            path.write_bytes(
                b"".join([b"id,text\n", *lines, *(f"{each}\n".encode() for each in dead)])
            )
        case ".gz":  # a member a line
            path.write_bytes(b"".join(gzip.compress(line, mtime=0) for line in lines))
        case ".zst":  # a frame a line
            path.write_bytes(b"".join(pa.compress(line, "zstd", asbytes=True) for line in lines))
        case _:
            path.write_bytes(b"".join(lines))


def _run(corpus: Path, output: str) -> None:
    """A run to the input's end."""
    Run([str(corpus)], at(output), load(None, SETTINGS), workers=WORKERS).go()


def _check(output: str) -> None:
    """Compare an output with its ledger, as `evenflow gate verify --files` does."""
    assert output_files.compare(at(output), History(at(output))).is_sound


def _killer(moment: int, victim: int | None) -> Event:
    """Kills a process at the n-th event; 0: at none."""
    seen = 0

    def event() -> None:
        nonlocal seen
        seen += 1
        if seen == moment and victim is not None:
            os.kill(victim, signal.SIGKILL)

    return event


def _told(request: Callable[..., Any], event: Event) -> Callable[..., Any]:
    """A request to a store that tells when it begins and when it has ended."""

    def telling(*given: Any, **named: Any) -> Any:
        event()
        found = request(*given, **named)
        event()
        return found

    return telling


def _forked(work: Event, server: S3Server | None) -> tuple[int, bool]:
    """Work in a fork of this process, with a server started again where it was killed.

    Returns:
        The fork's status, and whether the server was started again.
    """
    sys.stdout.flush()
    child, restarted = os.fork(), False
    if not child:
        in_child(work)
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if server is not None and not server.is_running:
            server.start()
            restarted = True
        if pid:
            return os.waitstatus_to_exitcode(status), restarted
        time.sleep(0.05)
