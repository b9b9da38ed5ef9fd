"""What may happen to a stream on Flink and an S3 server, for the trial of `storm`."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
from kafka_documents import PARTITIONS
from kill_driver import digests
from services.flink_cluster import FlinkCluster
from services.kafka_broker import Broker, free_port
from services.s3_faults import Fault, S3Faults
from services.s3_server import S3Server
from services.stream_outputs import on_cluster, placed, recounted
from trial.alerts import Alerts
from trial.steady import Writer, below, memory

from evenflow.pipelines.engine.topics.driver import Stream, StreamRun
from evenflow.schemas.config import load
from evenflow.transforms.kafka.settings import KafkaSettings
from evenflow.transforms.storage.storage import Place

PANE_SECONDS = 5.0
# Who dates the records. One that comes a second late may go into a later pane than in an
# undisturbed run: with the broker's time none does, with the producer's it may on a busy machine
TIMES = ("LogAppendTime", "CreateTime")
CLOCK_STEP = "+300s"
# libfaketime has the sleep of Python fail ("Invalid argument"); waits do not
SLEEP = "import threading, time\ntime.sleep = lambda seconds: threading.Event().wait(seconds)\n"
JUDGED = ("accepted", "quarantine", "dead-letter")


class Storm:
    """All processes of the trial. Each public method is something that happens: what it does up to
    its `yield` lasts for as many seconds as it yields, and is then undone.
    """

    def __init__(self, folder: Path, drawn: random.Random, times: str = TIMES[0]):
        self._folder, self._drawn, self._times = folder, drawn, times
        self._s3, self._broker = S3Server(folder / "s3"), Broker(folder / "kafka")
        self._proxy = S3Faults(self._s3)
        self._clock, self._gates, self.starts = folder / "clock", list[subprocess.Popen[bytes]](), 0
        self._ports = free_port(), free_port()
        self._clock.write_text("+0")
        (folder / "sitecustomize.py").write_text(SLEEP)  # Python runs it at its start

    @contextmanager
    def running(self) -> Iterator[None]:
        """Start all, and end all."""
        with ExitStack() as stack:
            for server in (self._s3, self._broker):
                stack.callback(server.kill)
                server.start()
            stack.enter_context(self._proxy)
            os.environ |= self._proxy.environment()
            self.output = f"{self._s3.bucket('storm')}/out"
            self.there = self._folder / "s3" / "buckets" / "storm" / "out"  # objects are files
            settings = {"message_timestamp_type": self._times}
            self.topic = self._broker.create_topic("storm", PARTITIONS, **settings)
            self._cluster = FlinkCluster(self._folder / "flink")
            stack.callback(self._cluster.stop)
            self._cluster.start()
            stack.callback(self.end)
            self._gates = [self._gate(port) for port in self._ports]
            self.alerts = Alerts(self._folder / "alerts", self._ports)
            stack.callback(self.alerts.stop)
            yield

    def _gate(self, port: int) -> subprocess.Popen[bytes]:
        """Start a gate that leads, or stands by, with its metrics at a port."""
        more = ("--standby", "--pane-seconds", str(PANE_SECONDS), "--metrics-port", str(port))
        words = on_cluster(self._broker, self.topic, self.output, self._cluster, *more)
        preload = {"LD_PRELOAD": str(faketime()), "FAKETIME_TIMESTAMP_FILE": str(self._clock)}
        preload |= {"PYTHONPATH": str(self._folder)}
        preload |= {"FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        self.starts += 1
        with (self._folder / f"gate-{self.starts}.log").open("wb") as log:
            environment = os.environ | (preload if faketime() else {})
            return subprocess.Popen(words, env=environment, stdout=log, stderr=log)

    def revive(self) -> None:
        """Start gates that have ended."""
        self._gates = [
            gate if gate.poll() is None else self._gate(port)
            for gate, port in zip(self._gates, self._ports, strict=True)
        ]

    def end(self) -> None:
        """End the gates."""
        for gate in self._gates:
            gate.send_signal(signal.SIGCONT)
            gate.terminate()
        for gate in self._gates:
            gate.wait(60)

    def writer(self, rate: float) -> Writer:
        """What writes to the topic."""
        return Writer(self._broker, self.topic, rate)

    def sample(self) -> dict[str, float]:
        """Resident MiB of the processes."""
        processes = self._cluster.processes.items()
        return {
            "gates": sum(memory(psutil.Process(gate.pid)) for gate in self._gates),
            **{
                name: memory(process) + (below(process) if name.startswith("pool") else 0.0)
                for name, process in processes
            },
        }

    def to_end(self, output: Place) -> None:
        """Read the rest of the topic into an output, undisturbed."""
        kafka = KafkaSettings(self._broker.address)
        stream = Stream(kafka, self.topic, PANE_SECONDS, until_end=True)
        StreamRun(stream, output, load(None)).go()

    def judged(self, whole: Path) -> dict[str, bool]:
        """What has to hold of the output, beside that of an undisturbed run."""
        wanted: Counter[str] = Counter()
        for partition in range(PARTITIONS):
            for record in self._broker.committed(self.topic, partition):
                value = record.value.decode()
                wanted[json.loads(value)["id"] if value.startswith("{") else value] += 1
        same = [
            {name: sha for name, sha in digests(output).items() if name.startswith(JUDGED)}
            for output in (self.there, whole)
        ]
        names = sorted(
            name for name in {**same[0], **same[1]} if same[0].get(name) != same[1].get(name)
        )
        print(json.dumps({"not as undisturbed": names[:20]}), flush=True)
        return {
            "each in one place": placed(self.there) == wanted,
            "the ledger agrees": recounted(self.there),
            "as undisturbed": same[0] == same[1],
        }

    def _killed(self, *names: str) -> Iterator[float]:
        for name in names:
            self._cluster.kill(name)
        yield self._drawn.uniform(3, 15)
        for name in reversed(names):
            self._cluster.launch(name)
        self._cluster.wait()

    def _faults(self, fault: Fault, seconds: float) -> Iterator[float]:
        self._proxy.make(fault)
        yield seconds
        self._proxy.faults.clear()

    def _stopped(self, pid: int) -> Iterator[float]:
        os.kill(pid, signal.SIGSTOP)
        yield 30.0
        os.kill(pid, signal.SIGCONT)

    def _worker(self) -> int:
        return self._cluster.worker(self._drawn)

    def worker_killed(self) -> Iterator[float]:
        """A Python worker; Flink has its pool start another."""
        os.kill(self._worker(), signal.SIGKILL)
        yield 0.0

    def worker_stopped(self) -> Iterator[float]:
        """A Python worker for 30 s."""
        return self._stopped(self._worker())

    def taskmanager_killed(self) -> Iterator[float]:
        """A TaskManager with its pool."""
        which = self._drawn.randrange(2)
        return self._killed(f"taskmanager-{which}", f"pool-{which}")

    def jobmanager_killed(self) -> Iterator[float]:
        """Flink's JobManager."""
        return self._killed("jobmanager")

    def job_server_killed(self) -> Iterator[float]:
        """Beam's job server."""
        return self._killed("job-server")

    def gate_killed(self) -> Iterator[float]:
        """One of the two gates: the other leads, or stands by."""
        self._drawn.choice(self._gates).kill()
        yield 0.0

    def gate_stopped(self) -> Iterator[float]:
        """One of the two gates for 30 s: the other takes its lease."""
        return self._stopped(self._drawn.choice(self._gates).pid)

    def broker_killed(self) -> Iterator[float]:
        """Kafka's one broker."""
        self._broker.kill()
        yield self._drawn.uniform(3, 15)
        self._broker.start()

    def store_killed(self) -> Iterator[float]:
        """The S3 server."""
        self._s3.kill()
        yield self._drawn.uniform(3, 15)
        self._s3.start()

    def store_slow(self) -> Iterator[float]:
        """Half a second more for each request to the store."""
        return self._faults(Fault(delay=0.5), 20.0)

    def store_cut(self) -> Iterator[float]:
        """The store closes each connection without an answer."""
        return self._faults(Fault(drop=True), 10.0)

    def store_full(self) -> Iterator[float]:
        """The store has no room for what is written."""
        full = Fault("PUT|CREATE|UPDATE|COPY|POST", status=507, code="InsufficientStorage")
        return self._faults(full, 15.0)

    def records_broken(self) -> Iterator[float]:
        """Records that are no documents, in each partition."""
        for partition in range(PARTITIONS):
            broken = [b"broken %d %d" % (time.time_ns(), each) for each in range(5)]
            self._broker.produce(self.topic, partition, broken)
        yield 0.0

    def clock_moved(self) -> Iterator[float]:
        """The gates' clock jumps 5 minutes ahead, and back."""
        self._clock.write_text(CLOCK_STEP)
        yield 20.0
        self._clock.write_text("+0")


def faketime() -> Path | None:
    """The library that moves a process's clock, where it is installed."""
    return next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)


EVENTS = (
    *(Storm.worker_killed, Storm.worker_stopped, Storm.taskmanager_killed),
    *(Storm.jobmanager_killed, Storm.job_server_killed, Storm.gate_killed, Storm.gate_stopped),
    *(Storm.broker_killed, Storm.store_killed, Storm.store_slow, Storm.store_cut),
    *(Storm.store_full, Storm.records_broken, Storm.clock_moved),
)
