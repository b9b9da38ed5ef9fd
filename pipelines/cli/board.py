"""`evenflow gate board`: a live page of gates."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Annotated

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import argument, command, flag, option
from evenflow.pipelines.terminal.endings import printing
from evenflow.pipelines.terminal.lines import visible
from evenflow.transforms.storage.storage import Storage

PORT = 8090
TOKEN = "EVENFLOW_BOARD_TOKEN"


@command(
    "evenflow gate board out --open",
    "evenflow gate board out-news out-books s3://bucket/out --port 8090",
    "EVENFLOW_BOARD_TOKEN=… evenflow gate board out --allow-actions",
)
def board(
    directories: Annotated[
        list[Storage], argument("DIR…", "Outputs of runs.", parser=options.storage)
    ],
    port: Annotated[
        int, option("N", "Port; 0 takes a free one.", min=0, max=65535, show_default=True)
    ] = PORT,
    host: Annotated[
        str, option("ADDRESS", "Address to listen on.", show_default=True)
    ] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None, option("NAME", "Another host name in a browser's address; repeatable.")
    ] = None,
    allow_actions: Annotated[
        bool,
        flag(
            f"Let people with the token hold and release. The token is that of {TOKEN}, or a"
            " new one, which is printed."
        ),
    ] = False,
    show: Annotated[bool, flag("Open the page in a browser.", "--open")] = False,
) -> None:
    """Show gates as a live page: verdicts as they are committed, and what stands behind them.

    It runs until it is stopped. Everybody who reaches the address can read: without --host, only
    people on this machine can.
    """
    import webbrowser

    from evenflow.pipelines.engine.panes.output import has_ledger
    from evenflow.pipelines.pages.board.app import application
    from evenflow.pipelines.pages.board.follow import Board, names
    from evenflow.pipelines.pages.board.server import address, listen, serve

    token = _token() if allow_actions else None
    listener = listen(host, port)
    page = address(host, listener)
    gates = Board(names(directories))
    app = application(gates, host, token, allow_host or ())
    with printing():
        print(visible(f"board: {page}"))
        if token is not None and TOKEN not in os.environ:
            print(f"token: {token}")
    for each in directories:
        with suppress(OSError):  # a store that is away is shown on the page
            if not has_ledger(each):  # a gate that has not begun, or a name that is wrong
                print(visible(f"evenflow: {each}: no ledger here yet"), file=sys.stderr)
    if show:
        webbrowser.open(page)

    serve(app, listener, gates.end)


def _token() -> str:
    """The token that was given, or a new one. Raises ConfigError."""
    import secrets

    from evenflow.pipelines.pages.board.security import LEAST_TOKEN
    from evenflow.schemas.config import ConfigError

    given = os.environ.get(TOKEN)
    if given is not None and len(given.strip()) < LEAST_TOKEN:
        raise ConfigError(f"{TOKEN}: a token has {LEAST_TOKEN} characters at least")
    return given.strip() if given is not None else secrets.token_urlsafe(24)
