"""A folder that grows, and runs that follow it and are killed by SIGKILL: each record once.

EVENFLOW_KILLS says how often each is killed, and EVENFLOW_SEED when and what is added.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq

from evenflow.gates.ledger.history import History
from evenflow.transforms.storage.storage import Storage, at

COMMAND = str(Path(sys.executable).with_name("evenflow"))
KILLS = int(os.environ.get("EVENFLOW_KILLS", "3"))
SEED = int(os.environ.get("EVENFLOW_SEED", "31"))


def grow(folder: Path, chance: random.Random, written: list[str]) -> None:
    """Append lines to a file, or begin one; a half line may stand between two writes."""
    with (folder / f"{chance.randrange(5)}.jsonl").open("ab") as file:
        for _ in range(chance.randint(1, 8)):
            written.append(str(len(written)))
            line = json.dumps({"id": written[-1], "text": "She met him."}).encode() + b"\n"
            file.write(line[:9])
            file.flush()
            time.sleep(chance.random() / 100)
            file.write(line[9:])


def ids(output: Storage) -> list[str]:
    """The ids of all documents that the ledger names."""
    found: list[str] = []
    for entry in History(output):
        for shard in entry.shards:
            with output.open(f"{entry.folder}/{shard.name}") as file:
                found += pq.read_table(file, columns=["id"]).column(0).to_pylist()
    return found


def test_a_growing_folder_is_followed_through_kills(tmp_path: Path) -> None:
    folder, chance, written = tmp_path / "in", random.Random(SEED), list[str]()
    output = at(tmp_path / "out")
    folder.mkdir()
    words = [COMMAND, "run", "-i", str(folder), "-o", str(output), "-q", "--pane-docs", "4"]
    for kill in range(KILLS):
        before = len(History(output))
        log = tmp_path / f"{kill}.log"
        with log.open("wb") as told:
            process = subprocess.Popen(
                [*words, "--follow", "--pane-seconds", "0.3", "--workers", str(1 + kill % 2)],
                stderr=told,
                start_new_session=True,
            )
        try:
            until = time.monotonic() + 120
            while process.poll() is None and time.monotonic() < until:
                if len(written) < 12 * (kill + 1):
                    grow(folder, chance, written)
                if len(History(output)) > before:  # at work: a moment later it is killed
                    break
                time.sleep(0.2)
            time.sleep(chance.random() / 2)
            assert process.poll() is None, log.read_text()
        finally:
            process.kill()
            process.wait()
    done = subprocess.run([*words, "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(ids(output)) == sorted(written)
    verified = subprocess.run(
        [COMMAND, "gate", "verify", str(output), "--files", "--json"],
        capture_output=True,
        text=True,
    )
    assert verified.returncode == 0, verified.stdout
