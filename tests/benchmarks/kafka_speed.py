"""From a topic to committed Parquet beside peers: python tests/benchmarks/kafka_speed.py [--mb 200]
[--runs 3] [--steady 5] [--workers 1 2]

Starts a broker of its own (`make kafka prism` first) with a topic of 4 partitions, and prints
medians of whole processes, start-up included: MB of values and documents a second. Peers: a plain
loop that polls and writes Parquet, and Quix Streams (--quix), which batches and writes Parquet.
Quix Streams' dependencies exclude Beam's, so it is installed apart. Peers neither measure nor
judge: they show what reading and writing alone cost. Commands take turns, so that what else the
machine does meets all of them. Last comes a steady stream of --steady MB/s for a minute, a run
each: its lag.

With --workers it prints only the speed of the topic by each of these numbers of workers, in
process, beyond the start-up: --mb less a fifth of it, by the difference of the medians, in wall
seconds.
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
from kafka_documents import PARTITIONS, values
from kafka_soak import Steady, soak
from services.kafka_broker import Broker
from speed import SHARE

HERE = Path(__file__).parent
EVENFLOW = str(Path(sys.executable).with_name("evenflow"))
PRISM = HERE.parents[1] / "build" / "services" / "prism" / "prism"
PANE_MB = 20_000_000  # of the peers' files
STEADY_MINUTES = 1.0
PANE_SECONDS = 10.0  # of the steady stream's panes
SHORT_PANES = 1.0  # seconds of the panes that workers share: the topic is written in some


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


def quix(address: str, topic: str, output: Path, documents: int) -> None:
    """The same with Quix Streams: a batching sink that writes Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from quixstreams import Application
    from quixstreams.sinks import BatchingSink, SinkBatch

    class Sink(BatchingSink):
        def write(self, batch: SinkBatch) -> None:
            table = pa.Table.from_pylist([item.value for item in batch])
            pq.write_table(
                table,
                output / f"{batch.partition}-{batch.start_offset}.parquet",
                compression="zstd",
            )

    app = Application(
        broker_address=address, consumer_group=f"quix-{time.time()}", auto_offset_reset="earliest"
    )
    frame = app.dataframe(app.topic(topic, value_deserializer="json"))
    frame.sink(Sink())
    app.run(count=documents, timeout=60)


def timed(command: list[str]) -> float:
    """Seconds of a command that succeeds; raises SystemExit otherwise."""
    began = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 3):  # 3: a pane was blocked
        raise SystemExit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr[-2000:]}")
    return time.perf_counter() - began


def by_workers(broker: Broker, folder: Path, megabytes: int, runs: int, counts: list[int]) -> None:
    """Print the speed by number of workers, beyond the start-up."""
    sizes: dict[str, int] = {}
    for size in (megabytes // SHARE, megabytes):
        topic = broker.create_topic(f"documents-{size}", PARTITIONS)
        sizes[topic] = fill(broker, topic, size * 1_000_000)[1]
    output = folder / "out"
    taken: dict[tuple[int, str], list[float]] = {}
    for _ in range(runs):
        for count in counts:
            for topic in sizes:
                shutil.rmtree(output, ignore_errors=True)
                words = ["--kafka", broker.address, "--topic", topic, "--output", str(output)]
                options = ["--until-end", "--workers", str(count)]
                panes = ["--pane-seconds", f"{SHORT_PANES:g}"]
                seconds = timed([EVENFLOW, "stream", *words, *options, *panes])
                taken.setdefault((count, topic), []).append(seconds)
    small, large = sizes
    beyond = (sizes[large] - sizes[small]) / 1e6
    number = len(list((output / "ledger").glob("*.json")))
    print(f"{beyond:.0f} MB beyond {sizes[small] / 1e6:.0f}, {number} panes, {runs} runs in turn")
    print("workers  start-up s     MB/s    from      to  of the first")
    first = 0.0
    for count in counts:
        pairs = list(zip(taken[count, small], taken[count, large], strict=True))
        less, more = (statistics.median(each) for each in zip(*pairs, strict=True))
        speed = beyond / (more - less)
        speeds = [beyond / (much - few) for few, much in pairs]
        first = first or speed
        start = less - sizes[small] / 1e6 / speed
        spread = f"{min(speeds):7.1f} {max(speeds):7.1f}"
        print(f"{count:>7} {start:>11.1f} {speed:>8.1f} {spread} {speed / first:>13.2f}")


def steady(broker: Broker, folder: Path, rate: float, runs: int) -> None:
    """Print the lag of a steady stream: medians over runs of each run's median and of its worst."""
    found = []
    for number in range(runs):
        place = folder / f"steady-{number}"
        place.mkdir()
        options = Steady(STEADY_MINUTES, rate, PANE_SECONDS, "prism", place)
        found.append(soak(broker, None, place, options))
    panes = f"panes of {PANE_SECONDS:g} s"
    print(
        f"steady {rate:g} MB/s for {STEADY_MINUTES:g} minutes on Prism, {panes}; seconds, medians"
        f" of {runs} runs"
    )
    for name, label in (
        ("behind_seconds", "written, not in the ledger"),
        ("close_to_ledger_seconds", "close of a pane to entry"),
    ):
        middle, most = (
            statistics.median(each[name][key] for each in found) for key in ("median", "most")
        )
        print(f"{label:26} median {middle:6.2f}, at most {most:6.2f}")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mb", type=int, default=200)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--steady", type=float, default=5.0, metavar="MB/S", help="0 leaves it out")
    parser.add_argument(
        "--quix",
        type=Path,
        metavar="DIR",
        help="where `pip install --target DIR quixstreams` put it",
    )
    parser.add_argument("--workers", type=int, nargs="*", default=[], metavar="N")
    parser.add_argument("--peer", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        if options.quix is not None:
            sys.path.insert(0, str(options.quix))
        name, address, topic, output, documents = options.peer
        {"plain": plain, "quix": quix}[name](address, topic, Path(output), int(documents))
        return
    with tempfile.TemporaryDirectory() as folder:
        broker = Broker(Path(folder) / "kafka")
        broker.start()
        try:
            if options.workers:
                by_workers(broker, Path(folder), options.mb, options.runs, options.workers)
                return
            topic = broker.create_topic("documents", PARTITIONS)
            documents, size = fill(broker, topic, options.mb * 1_000_000)
            output = Path(folder) / "out"
            run = [
                EVENFLOW,
                "stream",
                "--kafka",
                broker.address,
                "--topic",
                topic,
                "--until-end",
                "--output",
                str(output),
            ]
            prism = [
                "--runner=--runner=PrismRunner",
                f"--runner=--prism_location={PRISM}",
                "--runner=--prism_log_level=warn",
            ]
            peer = [sys.executable, __file__, "--peer"]
            rest = [broker.address, topic, str(output), str(documents)]
            commands = {
                "evenflow, Prism": [*run, *prism],
                "evenflow, in-process": run,
                "poll and write Parquet": [*peer, "plain", *rest],
            }
            if options.quix is not None:
                commands["Quix Streams to Parquet"] = [
                    *peer,
                    "quix",
                    *rest,
                    "--quix",
                    str(options.quix),
                ]
            print(
                f"{documents} documents, {size / 1e6:.0f} MB in {PARTITIONS} partitions; medians of"
                f" {options.runs} runs"
            )
            print(
                f"{'command':26} {'seconds':>8} {'from':>8} {'to':>8} {'MB/s':>7}"
                f" {'documents/s':>12}"
            )
            taken: dict[str, list[float]] = {name: [] for name in commands}
            for _ in range(options.runs):
                for name, command in commands.items():
                    shutil.rmtree(output, ignore_errors=True)
                    if "evenflow" not in name:
                        output.mkdir()
                    taken[name].append(timed(command))
            for name, each in taken.items():
                seconds = statistics.median(each)
                spread = f"{min(each):8.1f} {max(each):8.1f}"
                print(
                    f"{name:26} {seconds:8.1f} {spread} {size / 1e6 / seconds:7.1f}"
                    f" {documents / seconds:12.0f}"
                )
            if options.steady:
                steady(broker, Path(folder), options.steady, options.runs)
        finally:
            broker.stop()


if __name__ == "__main__":
    main()
