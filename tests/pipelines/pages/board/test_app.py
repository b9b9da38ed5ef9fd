"""The board's answers: hosts, origins, tokens and forms; caching; what the command says."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import board_ledgers
import pytest
from starlette.testclient import TestClient

from evenflow.gates import hold, triggers
from evenflow.gates.ledger import reviews
from evenflow.pipelines.pages.board import security
from evenflow.pipelines.pages.board.app import application
from evenflow.pipelines.pages.board.follow import Board, names
from evenflow.pipelines.pages.board.security import SESSIONS, Guard, Sessions
from evenflow.transforms.storage.storage import at

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]

TOKEN = "correct horse battery"
HERE = "http://127.0.0.1:8090"


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """An output of three panes."""
    return board_ledgers.long(tmp_path / "out", 3)


def client_of(output: Path, token: str | None = TOKEN) -> TestClient:
    """A browser's requests, without its rules. The board follows nothing meanwhile."""
    app = application(Board(names([at(output)])), token=token)
    return TestClient(app, base_url=HERE, follow_redirects=False)


@pytest.fixture
def client(output: Path) -> Iterator[TestClient]:
    """A browser that has given the token."""
    client = client_of(output)
    answer = client.post("/unlock?gate=out", data={"token": TOKEN}, headers={"origin": HERE})
    assert (answer.status_code, answer.headers["location"]) == (303, "/act/out")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    yield client


def form_of(client: TestClient, **changes: str) -> dict[str, str]:
    """The form of the gate's action, filled in."""
    page = client.get("/act/out").text
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', page))
    return fields | {"who": "Ada", "reason": "looked at"} | changes


def send(client: TestClient, form: dict[str, str], origin: str = HERE) -> int:
    """Send the form; the status of the answer."""
    return client.post("/act/out", data=form, headers={"origin": origin}).status_code


@pytest.mark.parametrize(
    ("bound", "names", "host", "known"),
    [
        ("127.0.0.1", (), "127.0.0.1:8090", True),
        ("127.0.0.1", (), "localhost:8090", True),
        ("127.0.0.1", (), "LOCALHOST", True),
        ("127.0.0.1", (), "[::1]:8090", True),
        ("127.0.0.1", (), "evil.example", False),
        ("127.0.0.1", (), "evil.example:8090", False),
        ("127.0.0.1", (), "localhost.evil.example", False),
        ("127.0.0.1", (), "192.0.2.7:8090", False),
        ("127.0.0.1", (), "", False),
        ("127.0.0.1", (), "127.0.0.1:8090@evil.example", False),
        ("0.0.0.0", (), "192.0.2.7:8090", True),
        ("0.0.0.0", (), "evil.example", False),
        ("0.0.0.0", ("Board.example",), "board.example:443", True),
    ],
)
def test_only_known_hosts_are_answered(
    bound: str, names: tuple[str, ...], host: str, known: bool
) -> None:
    async def app(scope, receive, send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"yes"})

    answer = TestClient(Guard(app, bound, names)).get("/", headers={"host": host})
    assert answer.status_code == (200 if known else 403)
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_pages_allow_nothing_inline_and_are_not_sent_twice(client: TestClient) -> None:
    for path in ("/", "/gate/out", "/gate/out/pane/1", "/gate/out/document?id=x", "/act/out"):
        answer = client.get(path)
        assert answer.status_code == 200, path
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert not re.search(
            r"<style|\sstyle=|\son\w+=|<script(?! src=\"/board\.js\")", answer.text
        )
        assert not re.search(r"(src|href)=\"(https?:)?//", answer.text)
    first = client.get("/gate/out")
    again = client.get("/gate/out", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/style.css").headers["content-type"].startswith("text/css")
    assert client.get("/board.js").status_code == client.get("/icon.svg").status_code == 200


def test_hold_and_release_are_written_with_name_and_reason(
    client: TestClient, output: Path
) -> None:
    assert send(client, form_of(client, who=" Ada\nLovelace ")) == 303
    assert "Release…" in client.get("/gate/out").text
    assert 'value="Ada Lovelace"' in client.get("/act/out").text
    assert send(client, form_of(client, who="Ben", reason="<i>seen</i>")) == 303
    events = hold.read_events(output)
    assert [(each.action, each.reason, each.panes) for each in events] == [
        ("hold", "looked at", 3),
        ("release", "<i>seen</i>", 3),
    ]
    assert [each.who.partition(" on ")[0] for each in events] == [
        "Ada Lovelace, by the board",
        "Ben, by the board",
    ]
    assert "&lt;i&gt;seen&lt;/i&gt;" in client.get("/act/out").text


def test_a_pane_is_decided_on_with_name_and_reason(client: TestClient, output: Path) -> None:
    assert "Reject…" in client.get("/gate/out/pane/1").text
    form = form_of(client, action="reject", seen="0", reason="<i>read</i>")

    def decide(**changes: str) -> int:
        answer = client.post("/act/out?pane=1", data=form | changes, headers={"origin": HERE})
        return answer.status_code

    assert decide(form="another") == decide(action="accept") == decide(who="") == 409
    assert decide(seen="7") == 409
    assert reviews.read(output) == []
    assert decide() == 303
    [found] = reviews.read(output)
    assert (found.action, found.first, found.last) == ("reject", 1, 1)
    assert found.who.startswith("Ada, by the board on ")
    page = client.get("/gate/out/pane/1").text
    assert "Decide anew…" in page and "rejected by Ada" in page and "<i>read" not in page
    assert "&lt;i&gt;read&lt;/i&gt;" in client.get("/gate/out").text
    assert decide() == 409  # it is there already
    assert decide(action="undo", seen="1") == 303
    assert client.get("/act/out?pane=99").status_code == 404
    stranger = client_of(output)
    assert stranger.get("/act/out?pane=1").headers["location"] == "/unlock?gate=out&pane=1"


@pytest.mark.parametrize(
    ("changes", "origin", "status"),
    [
        ({}, "http://evil.example", 403),
        ({}, "null", 403),
        ({}, "", 403),
        ({}, "http://127.0.0.1:8091", 403),
        ({"form": "x"}, HERE, 409),
        ({"form": ""}, HERE, 409),
        ({"who": " "}, HERE, 409),
        ({"reason": "\n"}, HERE, 409),
        ({"reason": "x" * 1001}, HERE, 409),
        ({"seen": "7"}, HERE, 409),
        ({"action": "release"}, HERE, 409),
        ({"reason": "x" * 20_000}, HERE, 400),
    ],
)
def test_a_form_that_is_not_right_does_nothing(
    client: TestClient, output: Path, changes: dict[str, str], origin: str, status: int
) -> None:
    assert send(client, form_of(client, **changes), origin) == status
    assert not hold.read_events(output)


def test_a_rule_that_waits_for_its_action_stands_near_the_top(tmp_path: Path) -> None:
    rules = {"nightly": {"panes": 100, "command": ["true"]}}
    output = board_ledgers.long(tmp_path / "out", 3, triggers=rules)
    fired = triggers.Decision(rule="nightly", pane=2, reason="by hand")
    assert triggers.write_decision(at(output), fired)
    page = client_of(output).get("/gate/out").text
    assert "by hand</bdi></td><td>pending</td>" in page
    told = "<bdi>nightly</bdi> fires for pane 2 and waits for its action: <bdi>by hand"
    assert 0 < page.find(told) < page.find("Panes that are shown")


def test_of_two_people_at_once_the_second_is_told(client: TestClient, output: Path) -> None:
    form = form_of(client, reason="mine")
    hold.add_event(output, "hold", "somebody's", 3, "Ben")
    assert send(client, form) == 409
    answer = client.post("/act/out", data=form, headers={"origin": HERE})
    assert "meanwhile" in answer.text and "somebody&#39;s" in answer.text
    assert len(hold.read_events(output)) == 1


def test_without_the_token_nobody_acts(output: Path) -> None:
    client = client_of(output)
    for token in ("", "wrong", TOKEN + "x", "ü"):
        answer = client.post("/unlock", data={"token": token}, headers={"origin": HERE})
        assert answer.status_code == 403 and "set-cookie" not in answer.headers
    assert client.get("/act/out").headers["location"] == "/unlock?gate=out"
    client.cookies.set("evenflow_board_8090", "guessed")
    assert send(client, {"who": "Eve", "reason": "no", "action": "hold", "seen": "0"}) == 303
    target = client.post(
        "/unlock?gate=//evil.example/out", data={"token": TOKEN}, headers={"origin": HERE}
    )
    assert target.headers["location"] == "/"
    # A browser sends cookies to every port of a host, also to another board's
    assert target.headers["set-cookie"].startswith("evenflow_board_8090=")
    reader = client_of(output, None)
    assert "Hold…" not in reader.get("/gate/out").text
    assert reader.get("/act/out").status_code == reader.get("/unlock").status_code == 404
    assert not hold.read_events(output)


def test_sessions_are_bounded() -> None:
    sessions = Sessions(TOKEN)
    cookies = [sessions.start(TOKEN) for _ in range(SESSIONS + 1)]
    assert sessions.get(cookies[0]) is None and sessions.get(cookies[-1]) is not None
    assert sessions.get(None) is None


def test_what_is_not_there(client: TestClient) -> None:
    for path in ("/gate/none", "/gate/out/pane/3", "/gate/out/dead/1", "/../etc/passwd", "/x"):
        assert client.get(path).status_code == 404, path
    assert client.get("/gate/out/pane/99999999999999999999999").status_code == 404
    assert client.post("/", headers={"origin": HERE}).status_code == 405
    assert client.get("/events?gate=none").status_code == 404


def test_what_is_awaited_is_said(tmp_path: Path) -> None:
    client = client_of(tmp_path / "later")
    assert "there is no such directory yet" in client.get("/gate/later").text
    (tmp_path / "later").mkdir()
    assert "there is no ledger here yet" in client_of(tmp_path / "later").get("/gate/later").text


def test_the_command_says_what_is_wrong(
    call: Call, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = call("gate", "board", output, "--port", taken.getsockname()[1])
    assert ended.status == 2 and "give another --port" in ended.err
    monkeypatch.setenv("EVENFLOW_BOARD_TOKEN", "short")
    ended = call("gate", "board", output, "--allow-actions")
    assert ended.status == 2 and "16 characters" in ended.err and "short" not in ended.err


def test_after_many_wrong_tokens_none_is_looked_at_for_a_while(
    output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(security.time, "monotonic", lambda: now[0])
    client = client_of(output)

    def unlock(token: str) -> int:
        return client.post(
            "/unlock?gate=out", data={"token": token}, headers={"origin": HERE}
        ).status_code

    assert {unlock("wrong") for _ in range(security.TRIES)} == {403}
    assert unlock(TOKEN) == unlock("wrong") == 429
    now[0] += security.TRIES_SECONDS
    assert unlock(TOKEN) == 303


def test_wrong_tokens_keep_out_the_address_that_sent_them_alone() -> None:
    sessions = Sessions(TOKEN)
    cookie = sessions.start(TOKEN, "192.0.2.1")
    for last in range(security.TRIES):
        assert sessions.start("wrong", f"2001:db8::{last}") is None
    with pytest.raises(security.TooManyTriesError):
        sessions.start("wrong", "2001:db8::ff")
    assert sessions.start(TOKEN, "192.0.2.1") and sessions.start(TOKEN, "2001:db9::1")
    assert sessions.get(cookie) is not None
