"""The gate's image, as far as it runs without a daemon: its entry point in the root file system
that `make image` builds, with its user, its environment and a read-only root, as the first process
of a namespace.
"""

from __future__ import annotations

import gzip
import json
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from parts import require
from places import DATA, ROOT
from services.kafka_broker import Broker, free_port
from services.stream_outputs import count, documents, wait_for
from services.test_compose_commands import here, service
from services.test_health import asked

BUNDLE = ROOT / "build" / "image" / "bundle"
# As compose.yaml and the chart have it: only /tmp and /data may be written. The mounts end with the
# namespace
START = """
mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && mount -t proc proc "$1/proc"
mount --bind /dev "$1/dev" && mount -t tmpfs tmpfs "$1/tmp" && mount --bind "$2" "$1/data"
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """What is mounted at /data; the image's user may write there."""
    if not (BUNDLE / "config.json").exists():
        require("image: run `make image` (root on Debian)")
    folder = tmp_path / "data"
    folder.mkdir()
    shutil.chown(folder, *identity())
    return folder


def process() -> dict:
    """What the image says of its process."""
    return json.loads((BUNDLE / "config.json").read_text())["process"]


def identity() -> tuple[int, int]:
    return process()["user"]["uid"], process()["user"]["gid"]


def container(data: Path, *words: str, entry: list[str] | None = None) -> list[str]:
    """The command that runs the entry point with some words, or something else."""
    image, (user, group) = process(), identity()
    inside = ["env", "-i", *image["env"], "sh", "-c", f'cd {image["cwd"]} && exec "$@"', "-"]
    drop = [f"--reuid={user}", f"--regid={group}", "--clear-groups", "--no-new-privs"]
    drop += ["--bounding-set=-all", "--inh-caps=-all"]
    run = ["chroot", str(BUNDLE / "rootfs"), "setpriv", *drop, *inside, *(entry or image["args"])]
    start = f"set -e\n{START}exec {shlex.join([*run, *words])}"
    space = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
    return [*space, "sh", "-c", start, "-", str(BUNDLE / "rootfs"), str(data)]


def ran(
    data: Path, *words: str, entry: list[str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        container(data, *words, entry=entry), capture_output=True, text=True, timeout=600
    )


def test_it_runs_as_its_user_and_writes_below_two_folders_alone(data: Path) -> None:
    looks = "id -u; grep CapEff /proc/self/status"
    looks += "; for at in / /opt/evenflow /etc /data /tmp; do touch $at/x && echo $at; done"
    ended = ran(data, "-c", looks, entry=["sh"])
    assert ended.stdout.split() == ["10001", "CapEff:", "0" * 16, "/data", "/tmp"], ended.stderr
    assert ended.stderr.count("Read-only file system") == 3


def test_it_judges_a_file_and_another_reads_what_it_wrote(data: Path) -> None:
    speeches = gzip.decompress((DATA / "speeches.jsonl.gz").read_bytes()).splitlines(True)[:12]
    (data / "own.jsonl").write_bytes(b"".join([*speeches, b"no document\n"]))
    ended = ran(
        data, "run", "--input", "own.jsonl", "--output", "out", "--repair-mode", "weight", "-q"
    )
    assert ended.returncode in (0, 3), ended.stderr
    assert count(data / "out") == len(speeches) + 1
    ended = ran(data, "gate", "verify", "out", "--files")
    assert ended.returncode == 0, ended.stderr


@contextmanager
def gate(data: Path, *words: str) -> Iterator[psutil.Process]:
    """A gate on a topic: the process that is the first one inside."""
    with (data.parent / "log").open("wb") as log:
        outer = subprocess.Popen(container(data, *words), stdout=log, stderr=log)
    try:
        wait_for(lambda: bool(psutil.Process(outer.pid).children()))
        yield psutil.Process(outer.pid).children()[0]
    finally:
        outer.kill()
        outer.wait(60)


def test_a_gate_says_that_it_is_ready_and_ends_when_it_is_told(
    data: Path, own_broker: Broker
) -> None:
    """By the command that compose.yaml has."""
    own_broker.start()
    name, port = own_broker.create_topic("documents"), free_port()
    own_broker.produce(name, 0, documents(0, 20))
    places = {"kafka:9092": own_broker.address, "9464": port}
    words = [*here(service("gate")["command"], places), "--pane-seconds", "1"]
    with gate(data, *words) as running:
        wait_for(lambda: asked(port, "/readyz")[0] == 200, 300)
        assert asked(port, "/healthz") == (200, {"ok": True})
        wait_for(lambda: count(data / "out") == 20, 300)
        own_broker.kill()  # a stop does not wait for it
        running.send_signal(signal.SIGTERM)
        running.wait(60)
    assert asked(port, "/healthz")[0] == 0
