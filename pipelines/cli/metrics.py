"""`evenflow gate metrics` and `alerts`: outputs for Prometheus, and the ends of runs on files."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import argument, command, option
from evenflow.pipelines.cli.options import Settings
from evenflow.pipelines.terminal.endings import Session, printing, report_event
from evenflow.schemas import server_url

if TYPE_CHECKING:
    from evenflow.transforms.storage.storage import Storage


@command(
    "evenflow gate metrics out --port 9464",
    "evenflow gate metrics /data/news /data/web s3://bucket/books --port 9464",
    "evenflow gate metrics out --file /var/lib/node_exporter/out.prom",
)
def metrics(
    context: typer.Context,
    directories: Annotated[list[str], argument("DIR…", "Outputs of runs, as --output named them.")],
    port: Annotated[
        int, option("N", "Port for Prometheus; 0: a free one.", min=0, max=65535)
    ] = 9464,
    host: Annotated[str, option("ADDRESS", "Address to listen on.")] = "127.0.0.1",
    file: Annotated[
        Path | None, option("FILE", "Write the metrics there once, and serve nothing.")
    ] = None,
) -> None:
    """Serve the metrics of outputs without a running gate, until Ctrl-C.

    Each output's metrics have the label gate, the name of its directory. The ledgers are followed
    while others write them.
    """
    from evenflow.pipelines.cli.gate import check
    from evenflow.pipelines.metrics.serving import serving, write
    from evenflow.pipelines.metrics.watching import Watched

    gates: list[Watched] = []
    for address in directories:
        output = options.storage(address)
        check(output)
        gates.append(Watched(output))
    twice = [name for name, count in Counter(gate.name for gate in gates).items() if count > 1]
    if twice:
        raise typer.BadParameter(
            f"two directories are named {twice[0]!r}, and the label gate is that name; serve them"
            " by two commands, or rename one",
            param_hint="'DIR…'",
        )
    if file is not None:
        write(gates, file)
        return
    session: Session = context.obj
    with serving(gates, host, port) as address:
        report_event("metrics", f"metrics at {address}; Ctrl-C ends this", 0, session)
        threading.Event().wait()


def gateway_address(address: str) -> str:
    """Check the address of a Pushgateway.

    Args:
        address: HOST:PORT, or an address with a scheme.

    Returns:
        The address.

    Raises:
        typer.BadParameter: It is none, or holds a user and a password.
    """
    try:
        server_url.split(address if "://" in address else f"http://{address}")
    except ValueError as error:
        own = "; EVENFLOW_PUSH_AUTH has USER:PASSWORD" if "@" in address else ""
        raise typer.BadParameter(f"{error}{own}") from error
    return address


def deliver(output: Storage, file: Path | None, gateway: str | None, session: Session) -> None:
    """Deliver the metrics of a run on files that has ended; a failure is only reported.

    Args:
        output: The run's output.
        file: Where they are written; None: nowhere.
        gateway: Address of a Pushgateway; None: none.
        session: Says how a failure is reported.
    """
    if file is None and gateway is None:
        return
    from evenflow.pipelines.metrics.serving import push, write
    from evenflow.pipelines.metrics.watching import Watched

    gate = Watched(output)
    try:
        if file is not None:
            write([gate], file)
    except OSError as error:
        report_event("note", f"{file}: the metrics were not written: {error.strerror}", 0, session)
    try:
        if gateway is not None:
            push(gate, gateway)
    except (OSError, ValueError) as error:  # ValueError: it is no address
        report_event("note", f"{gateway}: the metrics were not pushed: {error}", 0, session)


@command(
    "evenflow gate alerts > evenflow.rules.yaml",
    "evenflow gate alerts --config gate.yaml > evenflow.rules.yaml",
)
def rules(
    *,
    settings: Settings,
    most_wait: Annotated[
        int | None,
        option(
            "S", "No alert waits for more seconds before it fires, as for a trial.", "--for", min=0
        ),
    ] = None,
) -> None:
    """Print alert and recording rules for Prometheus.

    Thresholds are metrics: a change of them needs no new rules.
    """
    from evenflow.gates import alerts

    with printing():
        print(alerts.rules(settings.configuration(), most_wait), end="")
