"""Kills a publishing gate, or its broker, at moments that a seed draws.

Each round writes some panes to a topic, starts a run up to the topic's end, and kills the gate or
the broker, the coordinator of its transactions, at the n-th call of a method of the producer or at
the n-th file operation. After the last round a run ends undisturbed. Then a consumer of committed
records has to see every document and every dead letter once, and the ledger has to agree with the
files.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from services.kafka_broker import Broker
from services.stream_outputs import fill, placed, published, recounted

DRIVER = str(Path(__file__).parents[1] / "services" / "publish_kill.py")
EACH = 5  # documents of a pane; a record that is none follows them
# What is counted up to the kill: calls of the producer, or file operations; and the highest count
EVENTS = {
    "begin_transaction": 3,
    "send": 25,
    "flush": 8,
    "send_offsets_to_transaction": 3,
    "commit_transaction": 3,
    "os.rename": 12,
    "open": 120,
}
TIMEOUT = 300.0  # seconds of a run; a broker that was killed is back within some


def trial(kills: int, drawn: random.Random, folder: Path) -> tuple[str, bool]:
    """Kill some times, and look at what is there in the end.

    Args:
        kills: How often.
        drawn: Draws the moments.
        folder: An empty folder.

    Returns:
        What was found, and whether everything is there once.
    """
    broker = Broker(folder / "kafka")
    broker.start()
    try:
        names = [broker.create_topic(name) for name in ("read", "accepted", "dead")]
        output, panes = folder / "out", 0
        begin = (int(time.time()) - 3600) * 1000
        for number in range(kills):
            more = drawn.randint(1, 3)
            fill(broker, names[0], range(panes, panes + more), EACH, begin)
            panes += more
            event = drawn.choice(list(EVENTS))
            which, victim = drawn.randint(1, EVENTS[event]), drawn.choice(["gate", "broker"])
            status = _run(broker, [*names, str(output), event, "", str(which)], victim)
            print(f"topic {number}: {victim} at {event} {which}: exit status {status}", flush=True)
        status = _run(broker, [*names, str(output), "", "", "0"], "gate")
        wanted = Counter(f"0-{i}" for i in range(panes * EACH))
        dead = Counter(f"dead {i}" for i in range(panes))
        accepted = published(broker, "accepted")
        letters = Counter(record.value.decode() for record in broker.committed("dead"))
        fine = (accepted, letters, placed(output)) == (wanted, dead, wanted + dead)
        fine = fine and status == 0 and recounted(output)
        return (
            f"{accepted.total()} of {wanted.total()} documents and {letters.total()} of"
            f" {dead.total()} dead letters published"
        ), fine
    finally:
        broker.kill()


def _run(broker: Broker, words: list[str], victim: str) -> int:
    """A run, with the broker started again where it was killed; its exit status."""
    pid = {"VICTIM": str(broker.pid)} if victim == "broker" else {}
    command = [sys.executable, DRIVER, broker.address, *words]
    with subprocess.Popen(
        command, env={**os.environ, **pid}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as gate:
        until = time.monotonic() + TIMEOUT
        while gate.poll() is None and time.monotonic() < until:
            if not broker.is_running:
                broker.kill()  # it is gone: this only forgets it
                broker.start()
            time.sleep(0.1)
        if gate.poll() is None:
            gate.kill()
        said = gate.stderr.read().decode(errors="replace") if gate.stderr else ""
        if gate.wait() > 0:
            print(said[-1500:], flush=True)
    if not broker.is_running:
        broker.kill()
        broker.start()
    return gate.returncode
