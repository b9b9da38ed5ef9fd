"""/healthz and /readyz of real gates: with a standby, and while broker or store are away."""

from __future__ import annotations

import json
import signal
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from services.kafka_broker import Broker, free_port
from services.s3_server import S3Server
from services.stream_outputs import TopicMaker, command, count, documents, gate, wait_for


def asked(port: int, path: str) -> tuple[int, Any]:
    """The status and the body of an answer; 0 where nobody answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
    except OSError:
        return 0, None


def test_a_gate_a_standby_and_a_broker_that_goes_and_comes(
    own_broker: Broker, tmp_path: Path
) -> None:
    own_broker.start()
    name, output = own_broker.create_topic("docs"), tmp_path / "out"
    own_broker.produce(name, 0, documents(0, 20))
    first, second = free_port(), free_port()

    def words(port: int) -> list[str]:
        return command(own_broker, name, output, "--standby", "--metrics-port", str(port))

    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
    with gate(words(first), folders[0]) as running:
        wait_for(lambda: asked(first, "/readyz")[0] == 200)
        with gate(words(second), folders[1]):
            wait_for(lambda: asked(second, "/readyz")[0] == 200)
            fine = {"lease": "ok", "source": "ok", "output": "ok"}
            assert asked(first, "/readyz")[1] == {"ok": True, "gates": {"out": fine}}
            assert asked(second, "/readyz")[1]["gates"]["out"]["lease"] == "standing by"
            own_broker.kill()
            wait_for(lambda: asked(first, "/readyz")[0] == 503)
            said = asked(first, "/readyz")[1]["gates"]["out"]
            assert said["source"].startswith("no answer for") and said["lease"] == "ok"
            assert asked(first, "/healthz") == (200, {"ok": True})
            own_broker.start()
            wait_for(lambda: asked(first, "/readyz")[0] == 200)
            running.process.send_signal(signal.SIGTERM)
            assert running.ended(60) == 128 + signal.SIGTERM
            wait_for(lambda: asked(second, "/readyz")[1]["gates"]["out"] == fine)
            own_broker.produce(name, 0, documents(20, 40))
            wait_for(lambda: count(output) == 40)


def test_a_store_that_is_away_and_a_stop_meanwhile(
    broker: Broker, topic: TopicMaker, s3_here: S3Server, bucket: str, tmp_path: Path
) -> None:
    """The last beat cannot be written: a stop does not wait for the store's return."""
    name, port = topic(), free_port()
    broker.produce(name, 0, documents(0, 20))
    words = command(broker, name, f"{bucket}/out", "--metrics-port", str(port))
    with gate(words, tmp_path) as running:
        wait_for(lambda: asked(port, "/readyz")[0] == 200)
        s3_here.kill()
        try:
            wait_for(lambda: asked(port, "/readyz")[0] in (0, 503))  # it waits for the store
            assert asked(port, "/healthz") == (200, {"ok": True})
            running.process.send_signal(signal.SIGTERM)
            # A store that is away is asked again for 90 s, in which no handler of Python runs
            assert running.ended(60) == 128 + signal.SIGTERM
        finally:
            s3_here.start()
