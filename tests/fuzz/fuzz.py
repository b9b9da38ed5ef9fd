"""Fuzzes for some minutes: python tests/fuzz/fuzz.py MINUTES [TARGET…]; `make fuzz MINUTES=20`.

The minutes are divided among the targets (see targets.py). Inputs are mutations of the seeds in
tests/data/fuzz/TARGET, drawn by Hypothesis. An input that fails is written there, where `pytest
tests/fuzz` tries it again ever after; so mend what it shows, or delete it.
Exit status: 1 if an input failed.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

SEEDS = Path(__file__).resolve().parents[1] / "data" / "fuzz"
BATCH = 200  # examples of Hypothesis between two looks at the clock
MOST_BYTES = 1 << 15  # a ledger entry has 14 KB


def seeds(target: str) -> list[bytes]:
    """The seeds of a target."""
    return [path.read_bytes() for path in sorted((SEEDS / target).iterdir())]


def keep(target: str, data: bytes) -> Path:
    """Write an input that failed beside the seeds."""
    path = SEEDS / target / f"failed-{hashlib.sha256(data).hexdigest()[:12]}"
    path.write_bytes(data)
    return path


def with_hypothesis(name: str, seconds: float) -> int:
    """Fuzz a target; returns the number of inputs that were tried, negative after a failure."""
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from hypothesis import strategies as st
    from targets import TARGETS

    check, known = TARGETS[name], seeds(name)
    tried, last = 0, b""

    @st.composite
    def mutated(draw: st.DrawFn) -> bytes:
        data = bytearray(draw(st.sampled_from(known)))
        for _ in range(draw(st.integers(1, 5))):
            at = draw(st.integers(0, len(data)))
            piece = draw(st.binary(max_size=8) | st.sampled_from(known).map(lambda d: d[:40]))
            data[at : at + draw(st.integers(0, 12))] = piece
        return bytes(data[:MOST_BYTES])

    # A number that no run before had, for inputs that none of them tried
    until, number = time.monotonic() + seconds, time.time_ns()
    while time.monotonic() < until:

        @seed(number)
        @settings(
            max_examples=BATCH,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        @given(mutated() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
        def tries(data: bytes) -> None:
            nonlocal tried, last
            tried, last = tried + 1, data
            check(data)

        try:
            tries()
        except Exception:
            traceback.print_exc()
            print(f"{name}: {keep(name, last)}", flush=True)
            return -tried
        number += 1
    return tried


def main(words: Sequence[str]) -> int:
    """Fuzz targets one after the other, each in a process of its own."""
    if words[0] == "--one":
        name, seconds = words[1], float(words[2])
        tried = with_hypothesis(name, seconds)
        print(f"{name}: {abs(tried)} inputs tried", flush=True)
        return int(tried < 0)
    chosen = list(words[1:]) or sorted(path.name for path in SEEDS.iterdir() if path.is_dir())
    seconds = float(words[0]) * 60 / len(chosen)
    print(f"{seconds:.0f} s for each of {', '.join(chosen)}", flush=True)
    failed: list[str] = []
    for name in chosen:
        one = [sys.executable, __file__, "--one", name, str(seconds)]
        if subprocess.run(one).returncode:
            failed.append(name)
    print(f"failed: {', '.join(failed) or 'none'}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
