"""Kills a publishing gate, or its broker, at moments that a seed draws: kills.py [KILLS [SEED]]

Each round writes some panes to a topic, starts a run up to the topic's end, and kills the gate or
the broker, the coordinator of its transactions, at the n-th call of a method of the producer or at
the n-th file operation. After the last round a run ends undisturbed. Then a consumer of committed
records has to see every document and every dead letter once, and the ledger has to agree with the
files. It prints a line for each round and one for the whole; its exit status is 1 where something
was lost or is there twice.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

from services.kafka_broker import Broker
from services.stream_outputs import fill, placed, recounted

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


def trial(kills: int, seed: int, folder: Path) -> bool:
    """Kill some times, and look at what is there in the end.

    Args:
        kills: How often.
        seed: Draws the moments.
        folder: An empty folder.

    Returns:
        Whether everything is there once.
    """
    drawn, broker = random.Random(seed), Broker(folder / "kafka")
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
            print(f"{number}: {victim} at {event} {which}: exit status {status}", flush=True)
        status = _run(broker, [*names, str(output), "", "", "0"], "gate")
        wanted = Counter(f"0-{i}" for i in range(panes * EACH))
        dead = Counter(f"dead {i}" for i in range(panes))
        accepted = Counter(record.key.decode() for record in broker.committed("accepted"))
        letters = Counter(record.value.decode() for record in broker.committed("dead"))
        fine = (accepted, letters, placed(output)) == (wanted, dead, wanted + dead)
        fine = fine and status == 0 and recounted(output)
        print(
            f"{kills} kills, seed {seed}: {accepted.total()} of {wanted.total()} documents and"
            f" {letters.total()} of {dead.total()} dead letters published,"
            f" {'each once' if fine else 'NOT each once'}",
            flush=True,
        )
        return fine
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


if __name__ == "__main__":
    kills, seed = [*map(int, sys.argv[1:]), *(50, 0)[len(sys.argv) - 1 :]]
    with tempfile.TemporaryDirectory() as work:
        sys.exit(not trial(kills, seed, Path(work)))
