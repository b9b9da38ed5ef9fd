"""A server's version and models, and the message for everything that is wrong with it."""

import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, repeat

import pytest
from scripted_llm import MODEL, ScriptedLLM

from evenflow.transforms.llm.client.server import ServerInfo, describe
from evenflow.transforms.llm.client.settings import InferenceError, Key, ServerSettings


@pytest.fixture
def server() -> Iterator[ScriptedLLM]:
    """A scripted server with a key."""
    with ScriptedLLM(key="sk-right") as server:
        yield server


def test_a_server_gives_its_models_and_version(
    server: ScriptedLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_KEY", "sk-right")
    assert describe(ServerSettings(server.url, MODEL, Key("env", "LLM_KEY"))) == ServerInfo(
        (MODEL,), "0.0.scripted"
    )


@pytest.mark.parametrize(
    ("path", "model", "key", "words"),
    [
        ("", "scriptd", "sk-right", "no model 'scriptd'; did you mean 'scripted'"),
        ("", "else", "sk-right", "no model 'else'; it has 'scripted'"),
        ("", MODEL, "sk-wrong", "refuses the key in LLM_KEY"),
        ("", MODEL, None, "refuses requests without a key"),
    ],
)
def test_a_message_names_what_is_wrong(
    server: ScriptedLLM,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    model: str,
    key: str | None,
    words: str,
) -> None:
    monkeypatch.setenv("LLM_KEY", key or "-")
    with pytest.raises(InferenceError, match=words) as error:
        describe(ServerSettings(server.url + path, model, Key("env", "LLM_KEY") if key else None))
    assert server.url in str(error.value)
    assert "sk-" not in str(error.value)


def test_a_server_that_lists_no_models_may_have_ours(
    server: ScriptedLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_KEY", "sk-right")
    found = describe(ServerSettings(server.url + "/elsewhere", "any", Key("env", "LLM_KEY")))
    assert found.models == ()


@pytest.mark.parametrize(
    "listing", [b"<html>", b"[]", b'{"data": 5}', b'{"data": [{}]}', b"[" * 100_000]
)
def test_a_web_page_is_refused(listing: bytes) -> None:
    with (
        ScriptedLLM(listing=listing) as server,
        pytest.raises(InferenceError, match="no OpenAI-compatible server"),
    ):
        describe(ServerSettings(server.url, MODEL))


def test_a_message_names_an_address_without_a_server() -> None:
    server = ScriptedLLM()
    server.close()
    with pytest.raises(InferenceError, match="no server answers"):
        describe(ServerSettings(server.url, MODEL))


@contextmanager
def sending(parts: Iterable[bytes], pause: float = 0) -> Iterator[str]:
    """An address whose server sends parts, with a pause before each, until the client leaves."""

    def serve() -> None:
        with suppress(OSError):
            while True:
                client = listener.accept()[0]
                with client, suppress(OSError):
                    client.recv(65536)
                    for part in parts:
                        time.sleep(pause)
                        client.sendall(part)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize("head", [HEAD + b"\r\n", HEAD + b"X: "])
def test_a_list_that_comes_byte_by_byte_ends_by_the_deadline(head: bytes) -> None:
    began = time.monotonic()
    with (
        sending(chain([head], repeat(b" ")), 0.1) as url,
        pytest.raises(InferenceError, match="no whole answer within 1 s"),
    ):
        describe(ServerSettings(url, MODEL, deadline=1))
    assert time.monotonic() - began < 3


@pytest.mark.parametrize("more", [b"", b"Content-Encoding: gzip\r\n"])
def test_a_list_without_an_end_is_read_up_to_the_limit(more: bytes) -> None:
    with (
        sending(chain([HEAD + more + b"\r\n"], repeat(b" " * 65536))) as url,
        pytest.raises(InferenceError, match="more than 1048576 bytes"),
    ):
        describe(ServerSettings(url, MODEL))
