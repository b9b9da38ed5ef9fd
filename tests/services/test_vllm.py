"""The real vLLM with a tiny model of random weights: protocol, enforcement, concurrency, limits,
kill and restart.

What such a model answers is noise; only that it answers, and in which form, is looked at.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from inference_questions import question
from parts import require
from services import tiny_qwen, vllm_server

from evenflow.prompts import loader
from evenflow.transforms.llm.client import check
from evenflow.transforms.llm.client.cache import Cache
from evenflow.transforms.llm.client.client import Client
from evenflow.transforms.llm.client.server import describe
from evenflow.transforms.llm.client.serving import Served
from evenflow.transforms.llm.client.settings import Key, ServerSettings

# With random weights an object rarely closes by chance alone: a bound on its text does it.
SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"enum": ["VALID", "INVALID"]}, "sure": {"type": "boolean"}},
    "required": ["verdict", "sure"],
    "additionalProperties": False,
}
RESTART_SECONDS = 400.0  # for what takes 45 s on a machine that does nothing else


@pytest.fixture(scope="module")
def said() -> list[str]:
    """What was said of the server."""
    return []


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, said: list[str]) -> Iterator[Served]:
    """A server for all tests."""
    require(vllm_server.installed())
    model = vllm_server.make_model(tmp_path_factory.mktemp("models") / "tiny")
    with vllm_server.started(model, said.append) as served:
        yield served


@pytest.fixture
def settings(served: Served) -> ServerSettings:
    return ServerSettings(
        served.url, served.model, served.key, deadline=RESTART_SECONDS, patience=RESTART_SECONDS
    )


def server_of(served: Served) -> psutil.Process:
    """The server's own process: the guard's child, which has children itself."""
    port = served.url.removesuffix("/v1").rpartition(":")[2]
    guards = [
        each
        for each in psutil.Process().children()
        if "client/guard.py" in " ".join(each.cmdline())
    ]
    (guard,) = [each for each in guards if port in each.cmdline()]
    (server,) = guard.children()
    return server


def test_it_says_its_version_and_its_model(settings: ServerSettings) -> None:
    found = describe(settings)
    assert found.models == ("tiny",)
    assert found.version is not None
    assert found.version.split(".")[0].isdigit()


def test_the_schema_is_enforced_whatever_the_model_would_say(settings: ServerSettings) -> None:
    words: list[str] = []
    with Client(settings, say=words.append) as client:
        answers = client.ask(
            [question(f"Sentence {number}.", schema=SCHEMA) for number in range(100)]
        )
    assert {each.origin for each in answers} == {"model"}
    assert all(each.tokens > 0 for each in answers)
    assert words == []  # nothing had to be asked for in words


def test_it_answers_the_same_at_temperature_zero_and_the_cache_keeps_it(
    settings: ServerSettings, tmp_path: Path
) -> None:
    questions = [question(f"Sentence {number}.", schema=SCHEMA) for number in range(5)]
    values = []
    for _ in range(2):
        with Client(replace(settings, concurrency=1)) as client:
            values.append([each.value for each in client.ask(questions)])
    assert values[0] == values[1]
    with Client(settings, Cache(tmp_path / "answers")) as client:
        first, second = client.ask(questions), client.ask(questions)
    assert [each.value for each in first] == [each.value for each in second]
    assert {each.origin for each in second} == {"cache"}


@pytest.mark.parametrize(
    ("changed", "text", "reason"),
    [
        ({}, "x" * (2 * tiny_qwen.CONTEXT), "too long for the model"),
        ({"model": "other"}, "a", "no such model"),
        ({"key": None}, "a", "key refused"),
        ({"max_tokens": 1}, "a", "answer cut off"),
        ({"deadline": 0.01}, "a", "timeout"),
    ],
)
def test_what_it_refuses_has_its_reason(
    settings: ServerSettings, changed: dict[str, object], text: str, reason: str
) -> None:
    with Client(replace(settings, **changed), say=lambda _: None) as client:
        assert client.ask([question(text, schema=SCHEMA)])[0].reason == reason


def test_a_key_is_not_shown_by_server_or_client(settings: ServerSettings, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("sk-wrong")
    words: list[str] = []
    with Client(
        replace(settings, key=Key("file", str(tmp_path / "key"))), say=words.append
    ) as client:
        client.ask([question("a")])
    assert "sk-wrong" not in "".join(words)


def test_the_check_asks_every_prompt(settings: ServerSettings) -> None:
    with Client(settings, say=lambda _: None) as client:
        checks = check.check(client, loader.names())
    assert [each.prompt for each in checks] == list(loader.names())
    # Noise may run on to max_tokens; a refusal would be another reason.
    assert {each.reason for each in checks} <= {"", "answer cut off"}
    assert all(each.tokens > 0 for each in checks)


def test_killed_it_is_started_again_and_questions_under_way_are_answered(
    settings: ServerSettings, served: Served, said: list[str]
) -> None:
    with Client(settings, say=lambda _: None) as client:
        future = client.start(
            [question(f"Killed {number}.", schema=SCHEMA) for number in range(200)]
        )
        time.sleep(0.2)
        server_of(served).kill()
        answers = future.result(RESTART_SECONDS)
    assert {each.origin for each in answers} == {"model"}
    assert any("started again" in line for line in said)
