"""What the checks of Great Expectations cost: python tests/benchmarks/checks_cost.py [--texts
FILE.jsonl[.gz]] [--panes 300]

Prints seconds, wall and processor, of the import, the setup, panes of 20 and of 20,000 documents
(64 MiB), and the data docs of 1, 50 and more panes; the same with a user's suite that reads the
text. The texts' lines are drawn at random, so that a shard is compressed as real text is. For
scale: a core reads and annotates some tens of MB a second.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pane_shards import KeptChecks

from evenflow.gates.expectations.own_suite import DrLimit
from evenflow.schemas import documents
from evenflow.schemas.config import load
from evenflow.schemas.ledger import AttributeEntry, Sums, Verdict
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io.records import Documents
from evenflow.transforms.measures.representation.dr import score

HERE = Path(__file__).resolve().parents[1]
REPEATS = 3  # of each pane; the least is printed, the machine may be busy
SUITE = """
- {type: expect_column_values_to_match_regex, kwargs: {column: text, regex: '[a-z]'}}
- {type: expect_column_values_to_be_in_set, kwargs: {column: source, value_set: [speech]}}
"""


def timed(title: str, work: Callable[[], Any], repeats: int = 1) -> Any:
    """Run, print the least time of some runs, and return the last result."""
    least, result = (float("inf"), float("inf")), None
    for _ in range(repeats):
        began, used = time.perf_counter(), time.process_time()
        result = work()
        least = min(least, (time.perf_counter() - began, time.process_time() - used))
    print(f"{title:<52}{least[0]:8.3f} s{least[1]:10.3f} s", flush=True)
    return result


def lines_of(path: Path) -> list[str]:
    """The lines of the texts of a JSONL file."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [
        line
        for row in data.decode().splitlines()
        for line in json.loads(row)["text"].split("\n")
        if line.strip()
    ]


def texts(lines: list[str], number: int, size: int) -> list[str]:
    """So many texts of at least so many characters, of lines drawn at random."""
    rng = np.random.default_rng(20250601)
    out: list[str] = []
    for _ in range(number):
        parts: list[str] = []
        length = 0
        while length < size:
            parts.append(lines[rng.integers(len(lines))][:size])
            length += len(parts[-1]) + 1
        out.append("\n".join(parts)[:size])
    return out


def shard(annotator: Annotator, path: Path, held: list[str]) -> dict[str, AttributeEntry]:
    """Write a pane's shard as the gate does; the figures that its ledger has."""
    ids = [f"document-{number}" for number in range(len(held))]
    figures, counts, *_ = annotator.mentions.count(
        Documents("in", ids, held, list(range(len(held)))), with_sentences=False
    )
    columns: dict[str, Any] = {
        "id": ids,
        "text": pa.array(held, pa.large_string()),
        "source": ["speech"] * len(held),
    }
    out: dict[str, AttributeEntry] = {}
    for attribute, each in zip(annotator.attributes, counts, strict=True):
        for number, column in enumerate(documents.own_columns([attribute])):
            columns[column] = pa.array(each[:, number], pa.int32())
        seen = figures.attributes[attribute.name]
        sums = Sums(documents=seen.documents, counts=seen.counts, products=seen.products)
        target = [1 / len(attribute.groups)] * len(attribute.groups)
        scores = score(sums, target)
        out[attribute.name] = AttributeEntry(
            groups=list(attribute.groups),
            target=target,
            sums=sums,
            pane=scores,
            rolling=scores,
            cumulative=scores,
            verdict=Verdict(state="open", reason=""),
            relevant_sentences=0,
            labels={},
            heavy=[],
        )
    pq.write_table(
        pa.table(columns), path, compression="zstd", compression_level=1, row_group_size=5_000
    )
    return out


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, default=HERE / "data" / "speeches.jsonl.gz")
    parser.add_argument("--panes", type=int, default=300)
    options = parser.parse_args()
    annotator = Annotator(load(None))
    limits = {words.attribute: DrLimit(0.45, None, 200) for words in annotator.lists}
    lines = lines_of(options.texts)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        suite = root / "suite.yaml"
        suite.write_text(SUITE, encoding="utf-8")
        panes = {number: texts(lines, number, 3_300) for number in (20, 20_000)}
        print(f"{'':<52}{'wall':>10}{'processor':>12}")
        timed("import of Great Expectations", lambda: __import__("great_expectations"))
        for title, path in (("", None), (", a user's suite", suite)):
            own = root / (path.stem if path else "own")
            checks = timed(
                f"setup{title}",
                lambda own=own, path=path: KeptChecks(
                    own, path, lists=annotator.lists, limits=limits
                ),
            )
            for number, held in panes.items():
                file = root / f"{number}.parquet"
                entries = shard(annotator, file, held)
                mib = sum(len(text.encode()) for text in held) / (1 << 20)
                result = timed(
                    f"pane of {number:,} documents, {mib:.1f} MiB{title}",
                    lambda file=file, entries=entries, number=number, checks=checks: checks.run(
                        0, [file], entries, number
                    ),
                    REPEATS,
                )
                assert result.success, result.failures
        shards = [root / "20.parquet"]
        entries = shard(annotator, shards[0], panes[20])
        checks = KeptChecks(root / "docs", lists=annotator.lists, limits=limits)
        done = 0
        for number in sorted({1, 50, options.panes}):
            for pane in range(done, number):
                checks.run(pane, shards, entries, 20)
            done = number
            timed(f"data docs of {number} panes", checks.pages)
        stored = sum(path.stat().st_size for path in (root / "docs").rglob("*") if path.is_file())
        print(f"stored for {done} panes: {stored / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
