"""Kills gates at moments that a seed draws: kills.py [KILLS [SEED]]

A third of the kills each hit a run over files of six formats, a run of them into an object store or
its server, and a publishing gate on a topic or its broker. It prints a line for each kill and a
table at the end; its exit status is 1 where something was lost, changed, or is there twice.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

from trial import outputs, topic

# A fork inherits no threads, and clients of a broker have some: the topic comes last
KINDS = {"files": outputs.files, "store": outputs.store, "topic": topic.trial}


def main(kills: int, seed: int) -> bool:
    """Try all kinds; whether all was there once."""
    rows: list[tuple[str, int, float, str, bool]] = []
    for number, (kind, trial) in enumerate(KINDS.items()):
        share = (kills + number) // len(KINDS)
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as work:
            found, fine = trial(share, random.Random(f"{seed} {kind}"), Path(work))
        rows.append((kind, share, time.monotonic() - began, found, fine))
    print(f"seed {seed}\n{'kind':<6} {'kills':>5} {'minutes':>7}  result")
    for kind, share, seconds, found, fine in rows:
        verdict = "each once" if fine else "NOT each once"
        print(f"{kind:<6} {share:>5} {seconds / 60:>7.1f}  {verdict}: {found}")
    return all(fine for *_, fine in rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", type=int, nargs="?", default=50)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    asked = parser.parse_args()
    sys.exit(not main(asked.kills, asked.seed))
