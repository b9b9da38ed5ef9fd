"""From a topic to committed Parquet beside a peer: python tests/benchmarks/kafka_speed.py
[--mb 200] [--runs 3]

Starts a broker of its own (`make kafka` first) with a topic of 4 partitions, and prints medians of
whole processes, start-up included: MB of values and documents a second. The peer is a plain loop
that polls and writes Parquet. It neither measures nor judges: it shows what reading and writing
alone cost. Commands take turns, so that what else the machine does meets all of them.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))
from kafka_documents import PARTITIONS, values
from services.kafka_broker import Broker

EVENFLOW = str(Path(sys.executable).with_name("evenflow"))
PANE_MB = 20_000_000  # of the peers' files


def fill(broker: Broker, topic: str, size: int) -> tuple[int, int]:
    """Write about `size` bytes of documents; how many documents and bytes."""
    documents = written = 0
    producer = broker.producer(linger_ms=50, batch_size=512 << 10)
    for value in values():
        if written >= size:
            break
        producer.send(topic, value=value, partition=documents % PARTITIONS)
        written += len(value)
        documents += 1
        if documents % 5000 == 0:
            producer.flush()
    producer.flush()
    producer.close()
    return documents, written


def plain(address: str, topic: str, output: Path, documents: int) -> None:
    """Poll, parse, write Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from kafka import KafkaConsumer

    consumer = KafkaConsumer(
        topic, bootstrap_servers=address, auto_offset_reset="earliest", fetch_max_bytes=32 << 20
    )
    rows: list[dict[str, str]] = []
    seen = held = files = 0
    while seen < documents:
        for records in consumer.poll(500, max_records=10_000).values():
            for record in records:
                rows.append(json.loads(record.value))
                held += len(record.value)
                seen += 1
        if held > PANE_MB or seen == documents:
            pq.write_table(
                pa.Table.from_pylist(rows), output / f"{files}.parquet", compression="zstd"
            )
            rows, held, files = [], 0, files + 1
    consumer.close()


def timed(command: list[str]) -> float:
    """Seconds of a command that succeeds; raises SystemExit otherwise."""
    began = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 3):  # 3: a pane was blocked
        raise SystemExit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr[-2000:]}")
    return time.perf_counter() - began


def beside_a_peer(broker: Broker, output: Path, megabytes: int, runs: int) -> None:
    """Print the speed of the gate, and of a loop that polls and writes."""
    topic = broker.create_topic("documents", PARTITIONS)
    documents, size = fill(broker, topic, megabytes * 1_000_000)
    words = ["--kafka", broker.address, "--topic", topic, "--output", str(output)]
    peer = [sys.executable, __file__, "--peer", broker.address, topic, str(output), str(documents)]
    commands = {
        "evenflow": [EVENFLOW, "stream", *words, "--until-end"],
        "poll and write Parquet": peer,
    }
    print(f"{documents} documents, {size / 1e6:.0f} MB in {PARTITIONS} partitions; {runs} runs")
    print(f"{'command':26}  seconds     from       to    MB/s  documents/s")
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            shutil.rmtree(output, ignore_errors=True)
            if command is peer:
                output.mkdir()
            taken[name].append(timed(command))
    for name, each in taken.items():
        seconds = statistics.median(each)
        spread = f"{min(each):8.1f} {max(each):8.1f}"
        speeds = f"{size / 1e6 / seconds:7.1f} {documents / seconds:12.0f}"
        print(f"{name:26} {seconds:8.1f} {spread} {speeds}")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mb", type=int, default=200)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peer", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        address, topic, output, documents = options.peer
        plain(address, topic, Path(output), int(documents))
        return
    with tempfile.TemporaryDirectory() as folder:
        broker = Broker(Path(folder) / "kafka")
        broker.start()
        try:
            beside_a_peer(broker, Path(folder) / "out", options.mb, options.runs)
        finally:
            broker.stop()


if __name__ == "__main__":
    main()
