"""Holds the speed of commands to floors: python tests/benchmarks/bench.py [--runs 3] [--only NAME]

`floors.yaml` beside this file has the floors: shares of the speed of a peer, which runs in turn
with the command, so that another machine or other work moves both. All are printed; the status is
1 if one fell below its floor. The text is mixed: the documents of tests/data/documents.jsonl.gz,
which are of 22 kinds (posts, reviews, mails, chats, news, fiction and others); one in four has a
character outside of ASCII. The peers come with the extra `bench`, here or in the Python of --peers.
--costs prints instead what a start, a pane and a small file cost, in CPU seconds without peers.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from rich.console import Console
from rich.table import Table

from evenflow.schemas.config import load

HERE = Path(__file__).parent
EVENFLOW = str(Path(sys.executable).with_name("evenflow"))
# A corpus by the size of the smaller one whose time stands for the start-up. A tiny one would not
# do: a table that is made for the first character outside of ASCII, and memory that is taken for
# the first time, would count as time that grows with the input
SHARE = 5
PANES, FILES = 300, 3000  # of which `costs` makes runs
PEERS = {  # command, MB of input
    "datatrove": ([str(HERE / "peers.py"), "copy", "INPUT", "OUT"], 100),
    "datatrove to Parquet": ([str(HERE / "peers.py"), "parquet", "INPUT", "OUT"], 100),
    "ahocorasick_rs": ([str(HERE / "peers.py"), "search", "INPUT", "OUT"], 100),
    "spaCy": ([str(HERE / "peers.py"), "sentences", "INPUT", "OUT"], 10),
}


def corpus(size: int, path: Path) -> None:
    """A JSONL file of about `size` bytes with ids that differ."""
    raw = gzip.decompress((HERE.parent / "data" / "documents.jsonl.gz").read_bytes())
    rows = [json.loads(line) for line in raw.splitlines()]
    texts = [row["text"] for row in rows if "text" in row]
    labels = {label.lower() for words in load(None).word_lists() for label in words.labels}
    path.with_name("labels.txt").write_text("\n".join(sorted(labels)), "utf-8")
    texts.sort(key=lambda text: hashlib.sha256(text.encode()).digest())  # kinds are mixed
    written = number = 0
    with path.open("w", encoding="utf-8") as out:
        while written < size:
            row = {"id": f"d{number}", "text": texts[number % len(texts)]}
            line = json.dumps(row, ensure_ascii=False) + "\n"
            written += len(line.encode())
            number += 1
            out.write(line)


def cpu_seconds(command: list[str]) -> float:
    """Run a command to its end; raises if it fails."""
    before = os.times()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    after = os.times()
    if done.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr}")
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system


def speed(program: str, words: list[str], megabytes: float, work: Path) -> float:
    """MB of input a CPU second beyond the start-up, for which a part of the input stands."""
    seconds: list[float] = []
    for size in (megabytes / SHARE, megabytes):
        path = work / f"{size}.jsonl"
        if not path.exists():
            corpus(int(size * 1_000_000), path)
        places = {"INPUT": str(path), "OUT": str(work / "out")}
        seconds.append(cpu_seconds([program, *(places.get(each, each) for each in words)]))
        shutil.rmtree(work / "out", ignore_errors=True)
    return megabytes * (1 - 1 / SHARE) / (seconds[1] - seconds[0])


def costs(runs: int, work: Path) -> Table:
    """What is paid beside the text: a start, a pane of one document, a file of one document."""
    row = '{"id": "d%d", "text": "She met the old man, and he greeted her sister."}\n'
    one, many, small, out = (work / name for name in ("one.jsonl", "many.jsonl", "small", "out"))
    one.write_text(row % 0, "utf-8")
    many.write_text("".join(row % number for number in range(PANES)), "utf-8")
    small.mkdir()
    for number in range(FILES):
        (small / f"{number}.jsonl").write_text(row % number, "utf-8")

    def seconds(*words: str) -> float:
        found: list[float] = []
        for _ in range(runs + 1):  # the first also writes bytecode
            found.append(cpu_seconds([EVENFLOW, *words]))
            shutil.rmtree(out, ignore_errors=True)
        return statistics.median(found[1:])

    run = ("run", "--output", str(out), "--input")
    start = seconds(*run, str(one))
    pane = (seconds(*run, str(many), "--pane-docs", "1") - start) / PANES
    table = Table("cost", "figure")
    table.add_row("run of one document, s", f"{start:.2f}")
    table.add_row(
        "explain --json of one document, s", f"{seconds('explain', '--json', str(one)):.2f}"
    )
    table.add_row("a pane beyond its start, ms", f"{1000 * pane:.1f}")
    table.add_row("10,000 panes, minutes", f"{10_000 * pane / 60:.1f}")
    table.add_row("small files a second", f"{FILES / (seconds(*run, str(small)) - start):,.0f}")
    return table


def main() -> int:
    """Command line; returns the status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="commands whose name holds this")
    parser.add_argument("--peers", default=sys.executable, help="the Python that has the peers")
    parser.add_argument("--costs", action="store_true")
    given = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # each start would compile all modules
    table = Table("command", "MB/s core", "peer", "its MB/s core", "share", "floor", "")
    fallen = False
    floors = yaml.safe_load((HERE / "floors.yaml").read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        if given.costs:
            Console(width=110).print(costs(given.runs, Path(folder)))
            return 0
        for each in floors:
            if given.only not in each["name"]:
                continue
            peer, size = PEERS[each["peer"]]
            both = [
                (
                    speed(EVENFLOW, each["words"], each["mb"], Path(folder)),
                    speed(given.peers, peer, size, Path(folder)),
                )
                for _ in range(given.runs)
            ]
            own, other = (statistics.median(column) for column in zip(*both, strict=True))
            share = statistics.median(one / peer for one, peer in both)
            fell = share < each["floor"]
            fallen = fallen or fell
            figures = (f"{own:.2f}", each["peer"], f"{other:.2f}", f"{share:.2f}")
            table.add_row(each["name"], *figures, f"{each['floor']:.2f}", "fell" if fell else "")
    Console(width=110).print(table)
    return int(fallen)


if __name__ == "__main__":
    sys.exit(main())
