"""The trial on the page of topics runs as it is shown, but for ports: broker to release."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

from parts import require
from places import ROOT
from printed import STEP, pattern
from services import kafka_broker, prometheus_server
from services.stream_outputs import placed, wait_for

PAGE = (ROOT / "docs/pages/kafka.md").read_text(encoding="utf-8")
LASTING = ("make ", "evenflow stream ", "prometheus ")  # commands that run until they are stopped
ASKING = ("evenflow gate why ", "evenflow gate status ", "curl ")  # those that may be asked again


def test_from_a_broker_to_a_release(tmp_path: Path) -> None:
    require(kafka_broker.installed() or prometheus_server.installed())
    page = PAGE.partition("\n## Try it\n")[2].partition("\n## ")[0]
    port = str(kafka_broker.free_port())
    page = page.replace("make broker", f"make -C {ROOT} broker PORT={port}").replace("9092", port)
    for each in ("9464", "9090"):
        page = page.replace(each, str(kafka_broker.free_port()))
    path = f"{Path(sys.executable).parent}:{prometheus_server.FOLDER}:{os.environ['PATH']}"
    environment, log = {**os.environ, "PATH": path, "COLUMNS": "80"}, tmp_path / "log"
    running, last, shown = list[subprocess.Popen[str]](), "true", 0

    def said() -> str:
        again = last if last.startswith(ASKING) else ":"
        done = subprocess.run(again, shell=True, cwd=tmp_path, env=environment, capture_output=True)
        return log.read_text() + done.stdout.decode()

    try:
        for step in STEP.finditer(page):
            if step["name"]:
                (tmp_path / step["name"]).write_text(step["file"])
            for line in (step["commands"] or "").splitlines():
                last = line.strip()
                with log.open("ab") as file:
                    more = {"shell": True, "cwd": tmp_path, "env": environment, "stderr": file}
                    if last.startswith(LASTING):
                        one = subprocess.Popen(last, stdout=file, start_new_session=True, **more)
                        running.append(one)
                    else:
                        assert subprocess.run(last, stdout=file, **more).returncode in (0, 3), last
            if text := step["text"]:
                wait_for(lambda text=text: bool(re.search(pattern(text), said())), 90)
                shown += 1
        assert shown == 6 and all(each.poll() is None for each in running)
        assert len(placed(tmp_path / "out")) == 900
        assert said().count("the gate is held: ") == 1
    finally:
        for each in reversed(running):
            os.killpg(each.pid, signal.SIGTERM)
            each.wait(60)


def test_a_broker_whose_port_is_taken_says_so() -> None:
    require(kafka_broker.installed())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = ["make", "-C", str(ROOT), "broker", f"PORT={port}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and "Kafka at" not in done.stdout
    assert f"port {port} is taken" in done.stderr
