"""What a ledger costs as it grows: python ledger_scale.py [PANES…] (10000 and 1000000). Prints seconds and peak memory.

Each step is a process of its own.

The ledger is a stream's, a pane a minute, of three attributes. The entries of its segments are the same EVERY ones again and
again but for their numbers and times, since none of what is timed reads them (`evenflow ledger verify` does); spans, checkpoint
and the last panes are made as a run makes them. «all entries» reads every one, as all of it did before there were checkpoints.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

MINUTE = 60_000
GROUPS = {"gender": ("female", "male"), "age": ("young", "middle", "old"), "religion": tuple("abcdefg")}
STEPS = {
    "nothing but imports": "import evenflow.gates.history, evenflow.schemas.config, evenflow.pipelines.board.report",
    "start": "from evenflow.gates.history import History; History(root, mend=True)",
    "gate status": "from evenflow.pipelines.cli import main; main(['gate', 'status', str(root), '--json'])",
    "report": "from evenflow.pipelines.board.report import build; build(root)",
    "all entries": "from evenflow.gates.history import History, Totals; Totals.of(History(root))",
}
MOST_ENTRIES = 20_000  # that «all entries» is timed with


def written(root: Path, panes: int) -> None:
    """Write a ledger."""
    import report_ledgers

    from evenflow.gates import history
    from evenflow.gates.ledger import atomic_write, canonical
    from evenflow.gates.totals import Totals
    from evenflow.schemas.ledger import Position, StreamPane

    (root / "ledger").mkdir()
    (root / "gate").mkdir()
    meta = report_ledgers.settings()
    (root / "ledger" / "meta.json").write_bytes(canonical(meta))
    template = report_ledgers.entries(history.EVERY, groups=GROUPS)
    history.atomic_write = lambda path, data: path.write_bytes(data)  # the disk is not what is measured
    totals = Totals()
    for first in range(0, panes, history.EVERY):
        some = []
        for number, entry in zip(range(first, min(first + history.EVERY, panes)), template, strict=False):
            positions = {str(part): Position(next=number * 100, time=number * MINUTE) for part in range(8)}
            stream = StreamPane(span=number * MINUTE, part=0, positions=positions)
            some.append(entry.model_copy(update={"pane": number, "stream": stream}))
        whole = len(some) == history.EVERY
        for entry in some:
            totals.add(entry)
            if not whole:
                (root / "ledger" / f"{entry.pane:08d}.json").write_bytes(canonical(entry.model_dump()))
        if whole:
            raw = [canonical(entry.model_dump()) for entry in some[:1]] * len(some)
            history.write_segment(root, first, raw, some)
            last = totals.model_dump(mode="json")
    if panes >= history.EVERY:
        atomic_write(root / "ledger" / "checkpoint.json", canonical(last))


def timed(root: Path, code: str) -> tuple[float, float]:
    """Wall seconds and MiB of a process."""
    program = f"from pathlib import Path; root = Path({str(root)!r}); {code}"
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status not in (0, 3 << 8):
        raise SystemExit(f"{code}: status {status}")
    return time.perf_counter() - began, usage.ru_maxrss / 1024


def main() -> None:
    """Print the table."""
    for panes in map(int, sys.argv[1:] or ("10000", "1000000")):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            subprocess.run([sys.executable, __file__, "--write", str(root), str(panes)], check=True)
            size = sum(path.stat().st_size for path in (root / "ledger").rglob("*.*"))
            print(f"{panes:,} panes, {size / (1 << 20):,.0f} MiB of ledger")
            for name, code in STEPS.items():
                if name != "all entries" or panes <= MOST_ENTRIES:
                    seconds, memory = timed(root, code)
                    print(f"  {name:20} {seconds:8.2f} s {memory:8.0f} MiB", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        written(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
