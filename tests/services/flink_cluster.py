"""A Flink cluster on the loopback interface, from the jars that `make flink` fetches: a JobManager,
TaskManagers with a pool of Python workers each, and Beam's job server.

Each TaskManager is a host of its own: it has a loopback address (127.0.0.2 and so on), at which its
pool listens too, and takes the name `pool` for this address.
"""

from __future__ import annotations

import json
import os
import random
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import psutil
import yaml
from services.job_server import FLINK
from services.kafka_broker import ROOT, free_port

CONFIG = ROOT / "deploy" / "flink" / "cluster.yaml"
POOL = "evenflow.pipelines.engine.runners.worker_pool"
JARS = FLINK / "gradle" / "wrapper"  # from there they are not sent with each job
START_SECONDS = 300.0  # for what takes 15 on two cores without other work
HOST = "127.0.0.1"
# Small, so that a cluster fits beside other things
MEMORY = {
    "jobmanager.memory.process.size": "512m",
    "jobmanager.memory.jvm-metaspace.size": "128m",
    "jobmanager.memory.off-heap.size": "64m",
    "jobmanager.memory.jvm-overhead.min": "64m",
    "taskmanager.memory.process.size": "700m",
    "taskmanager.memory.jvm-metaspace.size": "160m",
    "taskmanager.memory.jvm-overhead.min": "64m",
    "taskmanager.memory.framework.heap.size": "64m",
    "taskmanager.memory.framework.off-heap.size": "96m",
    "taskmanager.memory.framework.off-heap.batch-shuffle.size": "32m",
    "taskmanager.memory.network.min": "64m",
    "taskmanager.memory.network.max": "64m",
    "taskmanager.memory.managed.size": "32m",
}
JOB_SERVER_HEAP = "-Xmx256m"
# A worker is kept for so long without work: otherwise each step of a bounded graph starts its own.
# A dead one is kept too, until Flink waits longer before it starts the work again.
KEPT_MS = 2_000
ENDED = ("FINISHED", "CANCELED", "FAILED")
MAIN = {
    "jobmanager": "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint",
    "taskmanager": "org.apache.flink.runtime.taskexecutor.TaskManagerRunner",
    "application": str(Path(__file__).with_name("ApplicationCluster.java")),
    "job-server": "org.apache.beam.runners.flink.FlinkJobServerDriver",
    # Works the sizes of the heap and other parts out, as Flink's own scripts have it do
    "sizes": "org.apache.flink.runtime.util.bash.BashJavaUtils",
}


class FlinkCluster:
    """A cluster whose processes can be killed and started again, each at its address of before.

    taskmanagers, slots: how many TaskManagers, and slots of each. settings: beside those of
    deploy/flink/cluster.yaml, or in their place. java: options of Java; by default it compiles in
    half the time, to code that is slower: give none where speed is measured. application: a class
    and its words, which the JobManager runs in application mode, with the address of the pools for
    POOL; then there is no job server.

    endpoint: HOST:PORT for --job_endpoint. rest: Flink's REST address. environment: what processes
    that are started get beside this process's own. processes: by name, which is jobmanager,
    job-server, taskmanager-0, pool-0, taskmanager-1, pool-1 and so on.
    """

    def __init__(
        self,
        folder: Path,
        taskmanagers: int = 2,
        slots: int = 2,
        settings: Mapping[str, Any] | None = None,
        java: Sequence[str] = ("-XX:TieredStopAtLevel=1",),
        application: Sequence[str] = (),
    ):
        job_port, artifact_port, rpc_port, rest_port, pool_port = (free_port() for _ in range(5))
        self.endpoint, self.rest = f"{HOST}:{job_port}", f"http://{HOST}:{rest_port}"
        self.environment: dict[str, str] = {}
        self.processes: dict[str, psutil.Popen] = {}
        self._folder, self._parallelism = folder, taskmanagers * slots
        self._options = ["-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError", *java]
        self._starts, self._registered = count(), dict[str, str]()
        folder.mkdir(parents=True, exist_ok=True)
        self._settings: dict[str, Any] = {
            **yaml.safe_load(CONFIG.read_text(encoding="utf-8")),
            **MEMORY,
            "jobmanager.rpc.address": HOST,
            "jobmanager.rpc.port": rpc_port,
            "rest.address": HOST,
            "rest.port": rest_port,
            "taskmanager.numberOfTaskSlots": slots,
            **(settings or {}),
        }
        job_server = {
            "flink-master": f"{HOST}:{rest_port}",
            "job-host": HOST,
            "job-port": job_port,
            "artifact-port": artifact_port,
            "expansion-port": -1,
            "artifacts-dir": folder / "artifacts",
        }
        words = [f"--{name}={value}" for name, value in job_server.items()]
        self._pool = f"pool:{pool_port}"
        self._commands, self._places = dict[str, list[str]](), dict[str, tuple[str, int]]()
        if application:
            own = [word.replace("POOL", self._pool) for word in application]
            self._commands["jobmanager"] = [*self._flink("application", HOST), *own]
        else:
            self._commands["jobmanager"] = self._flink("jobmanager", HOST)
            self._commands["job-server"] = self._java("job-server", [JOB_SERVER_HEAP], *words)
            self._places["job-server"] = (HOST, job_port)
        for i in range(taskmanagers):
            host = f"127.0.0.{i + 2}"
            self._commands[f"taskmanager-{i}"] = self._flink(f"taskmanager-{i}", host)
            self._commands[f"pool-{i}"] = [sys.executable, "-m", POOL, host, str(pool_port)]
            self._places[f"pool-{i}"] = (host, pool_port)

    def _flink(self, name: str, host: str) -> list[str]:
        """The command of a JobManager or TaskManager, as Flink's own scripts put it together."""
        folder, main = self._folder / name, name.partition("-")[0]
        kind = "jobmanager" if main == "application" else main
        folder.mkdir()
        settings = {
            **self._settings,
            f"{kind}.bind-host": host,
            "taskmanager.host": host,
            "io.tmp.dirs": str(folder),
        }
        (folder / "config.yaml").write_text(yaml.safe_dump(settings, width=100_000))
        hosts = {"pool": host, "localhost": HOST, socket.gethostname(): HOST}
        (folder / "hosts").write_text("".join(f"{at} {name}\n" for name, at in hosts.items()))
        where = ["--configDir", str(folder)]
        which = {"jobmanager": "GET_JM_RESOURCE_PARAMS", "taskmanager": "GET_TM_RESOURCE_PARAMS"}
        sizes = subprocess.run(
            self._java("sizes", [], which[kind], *where),
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
        )
        found = re.findall(r"^BASH_JAVA_UTILS_EXEC_RESULT:(.*)$", sizes.stdout, re.MULTILINE)
        if len(found) != 2:
            raise RuntimeError(f"Flink does not take these settings:\n{sizes.stderr[-3000:]}")
        java, options = (each.split() for each in found)
        java += [f"-Djdk.net.hosts.file={folder / 'hosts'}"]
        return self._java(main, java, *where, *options)

    def _java(self, kind: str, java: list[str], *words: str) -> list[str]:
        java = [*self._options, *java, *str(self._settings["env.java.opts.all"]).split()]
        return ["java", *java, "-cp", f"{JARS}/loopback:{JARS}/lib/*", MAIN[kind], *words]

    def start(self) -> None:
        """Start all and wait until all are there. Raises RuntimeError with a log's end."""
        for name in self._commands:
            self.launch(name)
        self.wait()

    def launch(self, name: str) -> None:
        """Start a process and come back at once."""
        command = self._commands[name]
        if name.startswith("taskmanager"):  # a name of its own, to tell it from the one before
            self._registered[name] = f"{name}.{next(self._starts)}"
            command = [*command, "-D", f"taskmanager.resource-id={self._registered[name]}"]
        # Workers import what tests import, and a pool starts them as `python`
        own = {
            "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), *filter(None, sys.path)]),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        with (self._folder / f"{name}.log").open("ab") as log:
            self.processes[name] = psutil.Popen(
                command, env={**os.environ, **own, **self.environment}, stdout=log, stderr=log
            )

    def wait(self) -> None:
        """Wait until every process that was started takes work. Raises RuntimeError."""
        deadline = time.monotonic() + START_SECONDS
        while missing := self._missing():
            if self.processes[missing].poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{missing} did not come up:\n{self.log(missing)[-3000:]}")
            time.sleep(0.1)

    def _missing(self) -> str | None:
        """A process that was started and takes no work yet."""
        try:
            there = {each["id"] for each in self._rest("/taskmanagers")["taskmanagers"]}
        except OSError:
            return "jobmanager"
        for name, (host, port) in self._places.items():
            try:
                socket.create_connection((host, port), 1).close()
            except OSError:
                return name
        return next((name for name, id_ in self._registered.items() if id_ not in there), None)

    def log(self, name: str) -> str:
        """What a process has written so far."""
        path = self._folder / f"{name}.log"
        return path.read_text(encoding="utf-8", errors="replace")

    def kill(self, name: str) -> None:
        """End a process with SIGKILL, and a pool's workers with it, as the end of a host would."""
        process = self.processes[name]
        if process.poll() is None:
            for each in [process, *process.children(recursive=True)]:
                each.kill()
            process.wait(20)
        self._registered.pop(name, None)

    def restart(self, name: str) -> None:
        """Start a process again and wait for it; kill it before if it lives."""
        self.kill(name)
        self.launch(name)
        self.wait()

    def mend(self) -> None:
        """Start what was killed, and cancel all jobs."""
        for name, process in self.processes.items():
            if process.poll() is not None:
                self.launch(name)
        self.wait()
        deadline = time.monotonic() + START_SECONDS
        while running := [each["jid"] for each in self.jobs() if each["state"] not in ENDED]:
            if time.monotonic() > deadline:
                raise RuntimeError(f"a job does not end:\n{self.log('jobmanager')[-3000:]}")
            for job in running:
                self.cancel(job)
            time.sleep(0.2)

    def stop(self) -> None:
        """End all."""
        for name in self.processes:
            self.kill(name)

    def worker(self, drawn: random.Random) -> int:
        """The process number of a Python worker; waits for one. Raises RuntimeError."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            pools = [self.processes[name] for name in self.processes if name.startswith("pool-")]
            children = [each for pool in pools if pool.is_running() for each in pool.children()]
            if here := [each.pid for each in children if each.status() != psutil.STATUS_ZOMBIE]:
                return drawn.choice(here)
            time.sleep(0.05)
        raise RuntimeError("no Python worker is there")

    def options(self, parallelism: int | None = None, unbounded: bool = False) -> list[str]:
        """Beam's options for a pipeline.

        parallelism: by default that of all slots. unbounded: for one that reads for ever; with its
        options a bounded one would never end.
        """
        parallelism = parallelism or self._parallelism
        options = [
            "--runner=PortableRunner",
            f"--job_endpoint={self.endpoint}",
            "--environment_type=EXTERNAL",
            f"--environment_config={self._pool}",
            f"--parallelism={parallelism}",
            # Flink keeps the state of a source once for each of them
            f"--max_parallelism={max(parallelism, self._parallelism)}",
        ]
        if unbounded:
            return [*options, "--streaming"]
        # What Flink takes in place of the adaptive scheduler asks for BATCH_FORCED
        batch = ["--execution_mode_for_batch=BATCH_FORCED", f"--environment_cache_millis={KEPT_MS}"]
        return [*options, *batch]

    def jobs(self) -> list[dict[str, Any]]:
        """Flink's jobs: jid, name, state and more of each."""
        return self._rest("/jobs/overview")["jobs"]

    def cancel(self, job: str) -> None:
        """Cancel a job by its jid, if it has not ended. Beam's own cancel() leaves it running."""
        with suppress(urllib.error.HTTPError):  # it has ended
            self._rest(f"/jobs/{job}?mode=cancel", "PATCH")

    def _rest(self, path: str, method: str = "GET") -> Any:
        request = urllib.request.Request(f"{self.rest}{path}", method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)
