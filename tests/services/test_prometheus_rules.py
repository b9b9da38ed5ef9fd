"""What Prometheus' own tools say of the metrics, the rules and the examples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from parts import require
from prometheus_client import generate_latest
from report_ledgers import entries, settings, write, write_timings
from services.kafka_broker import ROOT
from services.prometheus_server import Prometheus, called, installed, scraping
from services.stream_outputs import wait_for

from evenflow.pipelines.metrics.serving import registry, serving
from evenflow.pipelines.metrics.watching import Watched

SHIPPED = ROOT / "deploy" / "prometheus"


@pytest.fixture(autouse=True)
def _parts() -> None:
    require(installed())


@pytest.fixture
def output(tmp_path: Path) -> Iterator[Path]:
    panes = entries(20)
    write(tmp_path / "news", panes, settings())
    write_timings(tmp_path / "news", panes)
    yield tmp_path / "news"


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("promtool", ("check", "rules", "evenflow.rules.yaml")),
        ("promtool", ("test", "rules", "evenflow.test.yaml", "evenflow.long.test.yaml")),
        ("promtool", ("check", "config", "prometheus.yaml")),
        ("promtool", ("check", "config", "compose.yaml")),
        ("amtool", ("check-config", "alertmanager.yaml")),
    ],
)
def test_what_is_shipped_is_sound(
    tool: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(SHIPPED)
    found = called(tool, *words)
    assert found.returncode == 0, found.stdout.decode() + found.stderr.decode()


def test_metrics_follow_the_conventions(output: Path) -> None:
    found = called(
        "promtool", "check", "metrics", given=generate_latest(registry([Watched(output)]))
    )
    assert (found.returncode, found.stdout, found.stderr) == (0, b"", b"")


def test_prometheus_reads_figures_and_exemplars(output: Path, tmp_path: Path) -> None:
    with serving([Watched(output)], "127.0.0.1", 0) as address:
        server = Prometheus(tmp_path / "prometheus", scraping(address))
        try:
            wait_for(lambda: bool(server.query("evenflow_panes_total")))
            [whole] = server.query("sum by (gate) (evenflow_panes_total)")
            assert (whole["metric"], whole["value"][1]) == ({"gate": "news"}, "20")
            found = server.ask(
                "query_exemplars", query="evenflow_panes_total", start=0, end=4_000_000_000
            )
            assert [one["labels"] for each in found for one in each["exemplars"]] == [
                {"pane": "19"}
            ]
        finally:
            server.stop()
