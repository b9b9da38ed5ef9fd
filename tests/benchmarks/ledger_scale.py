"""What a ledger costs as it grows: python ledger_scale.py [PANES…] (10239 and 1000191). Prints time
and peak memory.

Each step is a process of its own.

The ledger is a stream's, a pane a minute, of three attributes, with as many panes behind the last
checkpoint as fit. Its segments are copies of one, and so are the sums: nothing that is timed reads
more of them than it would of others. «all entries» reads every one, as all of it did before there
were checkpoints.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

MINUTE = 60_000
GROUPS = {
    "gender": ("female", "male"),
    "age": ("young", "middle", "old"),
    "religion": tuple("abcdefg"),
}
STEPS = {
    "nothing but imports": (
        "import evenflow.gates.ledger.history, evenflow.schemas.config,"
        " evenflow.pipelines.pages.report.report"
    ),
    "start": "from evenflow.gates.ledger.history import History; History(root, repair=True)",
    "gate status": (
        "from evenflow.pipelines.cli.app import main; main(['gate', 'status', str(root), '--json'])"
    ),
    "metrics, the first scrape": (
        "from evenflow.pipelines.metrics.watching import Watched; Watched(root).families()"
    ),
    "report": "from evenflow.pipelines.pages.report.report import build; build(root)",
    "all entries": (
        "from evenflow.gates.ledger.history import History, Totals; Totals.of(History(root))"
    ),
}
MOST_ENTRIES = 20_000  # that «all entries» is timed with


def written(root: Path, panes: int) -> None:
    """Write a ledger."""
    import orjson
    import report_ledgers

    from evenflow.gates.ledger import segments, spans
    from evenflow.gates.ledger.files import canonical
    from evenflow.gates.ledger.totals import Totals
    from evenflow.schemas.ledger import Position, StreamPane

    def a_minute(number: int) -> StreamPane:
        positions = {
            str(part): Position(next=number * 100, time=number * MINUTE) for part in range(8)
        }
        return StreamPane(span=number * MINUTE, part=0, positions=positions)

    every = segments.EVERY
    (root / "ledger" / "segments").mkdir(parents=True)
    (root / "gate").mkdir()
    (root / "ledger" / "meta.json").write_bytes(canonical(report_ledgers.settings()))
    stages = {"shards": 0.5, "commit": 0.05}
    with (root / "gate" / "timings.jsonl").open("wb") as timings:
        for pane in range(panes):
            row = {"pane": pane, "seconds": 0.6, "input_bytes": 1, "documents": 1}
            timings.write(orjson.dumps({**row, "stages": stages}) + b"\n")
    template = report_ledgers.entries(every, groups=GROUPS)
    for entry in template:
        entry.stream = a_minute(entry.pane)
    raw = [canonical(entry.model_dump()) for entry in template]
    segments.write_segment(root, 0, raw, template)
    whole = (root / segments.segment_name(0)).read_bytes()
    hour = spans.merged(list(map(spans.from_entry, template[:60])))
    totals = Totals.of(template)
    done = panes // every * every
    for first in range(every, done, every):
        edges = [
            first,
            *(number for number in range(first + 1, first + every) if number % 60 == 0),
            first + every,
        ]
        some = [
            hour.model_copy(
                update={"first": begin, "last": end - 1, "at": begin, "time": begin * MINUTE}
            )
            for begin, end in pairwise(edges)
        ]
        path = root / segments.segment_name(first)
        path.write_bytes(whole)
        path.with_suffix(".spans.json").write_bytes(
            orjson.dumps([each.model_dump() for each in some])
        )
    totals.panes, totals.stream = done, (done * MINUTE, 0)
    (root / "ledger" / "checkpoint.json").write_bytes(canonical(totals.model_dump(mode="json")))
    for number in range(done, panes):
        entry = template[number % every].model_copy(
            update={"pane": number, "stream": a_minute(number)}
        )
        (root / "ledger" / f"{number:08d}.json").write_bytes(canonical(entry.model_dump()))


def timed(root: Path, code: str) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and MiB of a process."""
    program = f"from pathlib import Path; root = Path({str(root)!r}); {code}"
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status not in (0, 3 << 8):
        raise SystemExit(f"{code}: status {status}")
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    """Print the table."""
    for panes in map(int, sys.argv[1:] or ("10239", "1000191")):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            subprocess.run([sys.executable, __file__, "--write", str(root), str(panes)], check=True)
            size = sum(path.stat().st_size for path in (root / "ledger").rglob("*.*"))
            print(f"{panes:,} panes, {size / (1 << 20):,.0f} MiB of ledger")
            for name, code in STEPS.items():
                if name != "all entries" or panes <= MOST_ENTRIES:
                    seconds, cpu, memory = timed(root, code)
                    print(
                        f"  {name:26} {seconds:8.2f} s {cpu:8.2f} s of CPU {memory:8.0f} MiB",
                        flush=True,
                    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        written(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
