"""Kills the gate on a topic at chosen moments: python stream_kill.py BROKER TOPIC WORK EVERY
SETTINGS OPTION…

A moment is a file operation of the gate below its output directory, seen by an audit hook: nothing
in the product knows of it. The process that reads, stages and commits is killed. Each moment, or
each EVERY-th, has a run of its own on one output directory, after more messages were written; a
last run goes to the end, undisturbed. SETTINGS is a JSON object of configuration keys. Prints a
JSON object a line: the moment, whether something was killed there, and how the run ended. Runs are
forks of this process, so that imports, suites and templates are paid once.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections import Counter
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

from kafka import KafkaProducer
from kill_driver import in_fork, warm, watch
from services.stream_outputs import documents, expected

from evenflow.pipelines.engine.topics.driver import Stream, StreamRun
from evenflow.schemas.config import load
from evenflow.transforms.kafka.settings import KafkaSettings

# The first message's time: long ago, so that panes depend on the messages alone
BEGIN_MS = 1_600_000_000_000
SPANS, EACH = 3, 20  # panes of a batch of messages, and messages a partition and pane
PARTITIONS = 2
DEAD = b"not JSON"  # one a batch and partition

# Name, event, path below the output directory, and which of such events since the start of the run
# it is.
RUN = r"/staged/[0-9a-f]+"
CLOSING = RUN + r"/\d{12}\.[0-9a-f]+"  # where a pane is made
MOMENTS: tuple[tuple[str, str, str, int], ...] = (
    ("a cut is written", "open", r"/ledger/cuts/\.", 2),
    ("a cut gets its name", "os.link", r"/ledger/cuts/\.", 2),
    ("a cut is deleted", "os.remove", r"/ledger/cuts/\d", 2),
    ("a pane's folder is made", "os.mkdir", CLOSING + "$", 2),
    ("dead letters of a block are written", "open", CLOSING + r"/\d{6}-.*jsonl", 2),
    ("a pane is ready", "open", CLOSING + r"/ready", 2),
    ("a pane's marker gets its name", "os.link", RUN + r"/\.", 2),
    ("settings are noted", "os.rename", r"/ledger/\.?meta", 1),
    ("a pane's dead letters are put together", "open", CLOSING + r"/\.?part-", 2),
    ("a check's result is written", "open", r"/checks/.*/pane-\d+", 2),
    ("a shard is moved", "os.rename", CLOSING + r"/part-\d+-\d+\.parquet$", 2),
    ("a directory of shards is synced", "open", r"/(accepted|quarantine|dead-letter)$", 2),
    ("dead letters are moved", "os.rename", CLOSING + r"/part-\d+[^/]*\.jsonl$", 1),
    ("an entry is written", "open", r"/ledger/\.", 2),
    ("an entry gets its name", "os.link", r"/ledger/\.", 2),
    ("a pane's folder is removed", "shutil.rmtree", CLOSING + "$", 2),
    ("a pane's time is noted", "open", r"/gate/timings\.jsonl$", 2),
)


def fill(address: str, topic: str, batch: int) -> None:
    """Write a batch's messages, as old as their number says."""
    producer = KafkaProducer(bootstrap_servers=address, linger_ms=20)
    for span in range(SPANS):
        when = BEGIN_MS + (batch * SPANS + span) * 1000
        first = (batch * SPANS + span) * EACH
        for partition in range(PARTITIONS):
            for value in [
                *documents(first, first + EACH, partition),
                *([DEAD] if span == 1 else []),
            ]:
                producer.send(topic, value, partition=partition, timestamp_ms=when + 7)
    producer.flush()
    producer.close()


def messages(batches: int) -> Counter[str]:
    """How often each document's id, and each dead letter's value, must be in the outputs after some
    batches.
    """
    return expected(
        dict.fromkeys(range(PARTITIONS), batches * SPANS * EACH),
        (DEAD.decode(),) * PARTITIONS * batches,
    )


def main() -> None:
    """A run for each moment, and a last one."""
    address, topic, work, every, settings, *options = sys.argv[1:]
    config = load(None, json.loads(settings))
    output, seen = Path(work) / "out", Path(work) / "seen"
    panes = 0
    warm(Path(work), json.loads(settings))

    def run() -> None:
        missing = panes - len(list((output / "ledger").glob("0*")))
        stream = Stream(KafkaSettings(address), topic, pane_seconds=1.0, max_panes=missing)
        StreamRun(stream, output, config, options).go()

    def disturbed(event: str, pattern: str, which: int) -> None:
        wanted = re.compile(pattern)
        count = 0

        def kill(number: int, happened: str, path: str) -> None:
            nonlocal count
            if happened != event or not wanted.search(path):
                return
            count += 1
            if count == which:
                seen.touch()
                os.kill(os.getpid(), signal.SIGKILL)

        watch(output, kill)
        run()

    for batch, (name, event, pattern, which) in enumerate(
        (*MOMENTS[:: int(every)], ("", "", "", 0))
    ):
        if in_fork(partial(fill, address, topic, batch)):
            raise SystemExit("the messages could not be written")
        panes = (batch + 1) * SPANS
        seen.unlink(missing_ok=True)
        ended = in_fork(partial(disturbed, event, pattern, which) if name else run)
        print(json.dumps({"moment": name, "killed": seen.exists(), "ended": ended}), flush=True)


if __name__ == "__main__":
    main()
