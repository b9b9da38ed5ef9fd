"""Settings of a server: addresses, limits, and the place of the key."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenflow.transforms.llm.client.settings import InferenceError, Key, ServerSettings


@pytest.mark.parametrize(
    ("given", "url", "root"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1", "http://127.0.0.1:8000"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/v1", "http://127.0.0.1:8000"),
        ("https://llm.example.org/v1/", "https://llm.example.org/v1", "https://llm.example.org"),
        (
            "https://llm.example.org/api/v1/chat/completions",
            "https://llm.example.org/api/v1",
            "https://llm.example.org/api",
        ),
        ("http://[::1]:8000", "http://[::1]:8000/v1", "http://[::1]:8000"),
    ],
)
def test_addresses_with_and_without_the_version(given: str, url: str, root: str) -> None:
    settings = ServerSettings(given, "m")
    assert (settings.url, settings.root) == (url, root)


@pytest.mark.parametrize(
    ("url", "is_local"),
    [("http://localhost:1", True), ("http://[::1]:1", True), ("http://10.0.0.1", False)],
)
def test_no_proxy_stands_before_this_machine(url: str, is_local: bool) -> None:
    assert ServerSettings(url, "m").is_local is is_local


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"url": "127.0.0.1:8000"}, "url"),
        ({"url": "file:///etc/passwd"}, "url"),
        ({"url": "http://"}, "url"),
        ({"url": "http://host:99999"}, "url"),
        ({"url": "http://host/v1?x=1"}, "url"),
        ({"url": "http://me:sk-secret@host/v1"}, "url"),
    ],
)
def test_what_is_wrong_is_named_and_no_secret_shown(wrong: dict[str, Any], word: str) -> None:
    with pytest.raises(InferenceError, match=word) as error:
        replace(ServerSettings("http://host", "m"), **wrong)
    assert "sk-secret" not in str(error.value)


def test_a_key_is_read_where_it_is_and_is_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").write_text("sk-file\n")
    monkeypatch.setenv("LLM_KEY", " sk-env ")
    of_file = ServerSettings("http://host", "m", Key("file", str(tmp_path / "key")))
    of_env = ServerSettings("http://host", "m", Key("env", "LLM_KEY"))
    assert of_file.headers()["Authorization"] == "Bearer sk-file"
    assert of_env.headers()["Authorization"] == "Bearer sk-env"
    assert "sk-" not in repr((of_file, of_env))
    assert "Authorization" not in ServerSettings("http://host", "m").headers()


@pytest.mark.parametrize(
    ("content", "word"),
    [(None, "No such file"), (b"\xff", "UTF-8"), (b"", "empty"), (b"sk\x01", "characters")],
)
def test_the_message_for_an_unusable_key_does_not_show_it(
    tmp_path: Path, content: bytes | None, word: str
) -> None:
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InferenceError, match=word) as error:
        Key("file", str(path)).read()
    assert str(path) in str(error.value)
