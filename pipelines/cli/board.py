"""`evenflow gate board`: a live page of gates."""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from evenflow.pipelines.cli import options
from evenflow.pipelines.terminal.endings import Session, printing, report_event
from evenflow.pipelines.terminal.lines import visible

TOKEN = "EVENFLOW_BOARD_TOKEN"


def gate_board(
    directories: list[options.Output],
    *,
    port: options.Port = 8090,
    host: str = "127.0.0.1",
    allow_host: Sequence[str] = (),
    allow_actions: bool = False,
    open_: bool = False,
    metrics: bool = False,
    session: Session,
) -> None:
    """Show gates as a live page: verdicts as they are committed.

    It runs until it is stopped. Everybody who reaches the address can read: without --host, only
    people on this machine can.

    Args:
        allow_host: Another host name in a browser's address; repeatable.
        allow_actions: Let people with the token hold and release. The token is that of
            EVENFLOW_BOARD_TOKEN, or a new one, which is printed.
        open_: Open the page in a browser.
        metrics: Serve metrics for Prometheus in place of the page, without a running gate. Those of
            an output have the label gate, the name of its directory.

    Examples:
        evenflow gate board out --open
        evenflow gate board out-news out-books s3://bucket/out --port 8090
        EVENFLOW_BOARD_TOKEN=… evenflow gate board out --allow-actions
        evenflow gate board /data/news s3://bucket/books --metrics --port 9464
    """
    if metrics:
        return _metrics(directories, host, port, session)
    import webbrowser

    from evenflow.gates.ledger.files import has_ledger
    from evenflow.pipelines.pages.board.app import application
    from evenflow.pipelines.pages.board.follow import Board, names
    from evenflow.pipelines.pages.board.server import address, listen, serve

    token = _token() if allow_actions else None
    listener = listen(host, port)
    page = address(host, listener)
    gates = Board(names(directories))
    app = application(gates, host, token, allow_host)
    with printing():
        print(visible(f"board: {page}"))
        if token is not None and TOKEN not in os.environ:
            print(f"token: {token}")
    for each in directories:
        with suppress(OSError):  # a store that is away is shown on the page
            if not has_ledger(each):  # a gate that has not begun, or a name that is wrong
                print(visible(f"evenflow: {each}: no ledger here yet"), file=sys.stderr)
    if open_:
        webbrowser.open(page)

    serve(app, listener, gates.end)


def _metrics(directories: Sequence[options.Output], host: str, port: int, session: Session) -> None:
    """Serve metrics of outputs until the process is stopped."""
    from evenflow.pipelines.metrics.serving import serving
    from evenflow.pipelines.metrics.watching import Watched

    for each in directories:
        options.check(each)
    gates = [Watched(each) for each in directories]
    twice = [name for name, count in Counter(gate.name for gate in gates).items() if count > 1]
    if twice:
        text = f"two directories are named {twice[0]!r}, and the label gate is that name; serve"
        raise options.wrong("DIR", f"{text} them by two commands, or rename one")
    with serving(gates, host, port) as address:
        report_event("metrics", f"metrics at {address}; Ctrl-C ends this", 0, session)
        threading.Event().wait()


def _token() -> str:
    """The token that was given, or a new one. Raises ConfigError."""
    import secrets

    from evenflow.pipelines.pages.board.security import LEAST_TOKEN
    from evenflow.schemas.config import ConfigError

    given = os.environ.get(TOKEN)
    if given is not None and len(given.strip()) < LEAST_TOKEN:
        raise ConfigError(f"{TOKEN}: a token has {LEAST_TOKEN} characters at least")
    return given.strip() if given is not None else secrets.token_urlsafe(24)
