"""A run and its checks send nothing anywhere.

Great Expectations reported its use up to 1.6, when a data context was opened; from 1.7 on it has no
code that reports. The gate opens no data context, and its project says that nothing is reported.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import offline
import pytest

from evenflow.gates.ledger.history import History

COMMAND = "from evenflow.pipelines.cli.app import main; main()"
SUITE = """\
- type: expect_column_values_to_be_in_set
  kwargs: {column: id, value_set: [a]}
  severity: warning
"""


def test_a_run_with_checks_reaches_nothing_outside(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "c.yaml").write_text("checks: {suite: suite.yaml}\n")
    texts = [f"She met him in the year {n}." for n in range(4)]
    rows = [json.dumps({"id": str(n), "text": text}) for n, text in enumerate(texts)]
    (tmp_path / "in.jsonl").write_text("\n".join(rows))
    out, folder = tmp_path / "out", tmp_path / "offline"
    done = subprocess.run(
        [
            *(sys.executable, "-c", COMMAND, "run", "--quiet"),
            *("--input", tmp_path / "in.jsonl", "--output", out),
            *("--config", tmp_path / "c.yaml", "--workers", "2", "--pane-docs", "2"),
        ],
        env=offline.environment(folder),
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 3), done.stderr
    checked = [entry.checks for entry in History(out)]
    assert checked and all(each.evaluated > 5 and each.failures for each in checked)
    assert offline.tried(folder) == []


@pytest.mark.parametrize(
    "call",
    [
        "socket.create_connection(('192.0.2.1', 443), 1)",
        "socket.getaddrinfo('example.org', 443)",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 9))",
        "urllib.request.urlopen('http://192.0.2.1/', timeout=1)",
    ],
)
def test_what_reaches_outside_is_seen(tmp_path: Path, call: str) -> None:
    source = f"import socket, urllib.request\ntry: {call}\nexcept OSError as error: print('no')"
    inner = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {json.dumps(source)}])"
    environment = offline.environment(tmp_path / "offline")
    done = subprocess.run(
        [sys.executable, "-c", inner], env=environment, capture_output=True, text=True
    )
    assert done.stdout == "no\n", done.stderr
    assert len(offline.tried(tmp_path / "offline")) == 1
