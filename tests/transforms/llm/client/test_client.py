"""The client against a scripted server: answers, fallbacks, retries, keys, cache and schemas."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inference_questions import RIGHT, question
from places import HELPERS
from scripted_llm import MODEL, Script, ScriptedLLM, Turn, error, in_turn

from evenflow.transforms.llm.client.cache import Cache
from evenflow.transforms.llm.client.client import Client
from evenflow.transforms.llm.client.settings import InferenceError, Key, ServerSettings
from evenflow.transforms.llm.questions import Answer

Serve = Callable[..., ScriptedLLM]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A function that starts servers with a script and settings."""
    servers: list[ScriptedLLM] = []

    def start(script: Script | None = None, key: str | None = None) -> ScriptedLLM:
        servers.append(ScriptedLLM(script or (lambda _: Turn(content=RIGHT)), key=key))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def asked(
    server: ScriptedLLM, count: int = 1, **settings: object
) -> tuple[list[Answer], list[str]]:
    """The answers to some questions, and the messages."""
    said: list[str] = []
    with Client(
        replace(ServerSettings(server.url, MODEL, deadline=5), **settings), say=said.append
    ) as client:
        return client.ask([question(f"Sentence {number}.") for number in range(count)]), said


def test_every_question_has_its_answer_in_order_and_requests_overlap(serve: Serve) -> None:
    def script(request: dict[str, Any]) -> Turn:
        return Turn(
            content=f'{{"is_stereotype": false, "why": "{request["messages"][-1]["content"]}"}}',
            delay=0.05,
        )

    server = serve(script)
    answers, said = asked(server, 100, concurrency=8)
    assert [each.value["why"] if each.value else None for each in answers] == [
        f"Sentence {n}." for n in range(100)
    ]
    assert {each.origin for each in answers} == {"model"}
    assert server.most == 8
    assert said == []


def test_the_request_asks_for_the_schema_and_for_the_likeliest_answer(serve: Serve) -> None:
    server = serve()
    asked(server)
    (request,) = server.requests
    assert request["response_format"]["json_schema"]["schema"] == question("").schema
    assert (request["temperature"], request["model"], request["max_tokens"]) == (0.0, MODEL, 512)


# What goes wrong with every request, and the reason that is counted.
WRONG = [
    (error(401, "no key"), "key refused"),
    (error(403, "not you"), "key refused"),
    (error(404, "no such model"), "no such model"),
    (error(413, "too large"), "too long for the model"),
    (error(400, "This model's maximum context length is 128 tokens."), "too long for the model"),
    (error(400, "the request exceeds the available context size"), "too long for the model"),
    (error(400, "malformed"), "request rejected"),
    (error(429, "slowly"), "overloaded"),
    (error(500, "broken"), "server error"),
    (error(503, "starting"), "overloaded"),
    (error(504, "upstream"), "timeout"),
    (Turn(content="I would rather not."), "answer not JSON"),
    (Turn(content='{"is_stereotype": true, "why": "s', finish="length"), "answer cut off"),
    (Turn(content=""), "empty answer"),
    (Turn(content="x" * 10_000_000), "answer over the limit"),
    (Turn(content='{"is_stereotype": "perhaps", "why": ""}'), "answer outside its schema"),
    (Turn(content='{"is_stereotype": true}'), "answer outside its schema"),
    (Turn(body=b"<html>proxy</html>"), "no completion"),
    (Turn(body=b'{"choices": []}'), "no completion"),
    (Turn(body=b'{"choices": [{"message": {"content": 5}}]}'), "no completion"),
    (Turn(body=b"[" * 100_000), "no completion"),
    (Turn(content=RIGHT, cut=20), "connection cut"),
    (Turn(content=RIGHT, delay=30), "timeout"),
    (Turn(content=RIGHT, drip=0.2), "timeout"),
]


@pytest.mark.parametrize(
    ("turn", "reason"), WRONG, ids=lambda each: each if isinstance(each, str) else ""
)
def test_trouble_gives_a_fallback_with_its_reason_and_one_message(
    serve: Serve, turn: Turn, reason: str
) -> None:
    deadline = 1 if reason == "timeout" else 30  # a timeout takes all of it
    answers, said = asked(serve(lambda _: turn), 2, deadline=deadline, attempts=2, concurrency=2)
    assert [(each.value, each.origin, each.reason) for each in answers] == [
        (None, "fallback", reason)
    ] * 2
    assert sum(reason in line for line in said) >= 1
    assert len(said) == len(set(said))


def test_a_server_that_is_not_there_is_a_fallback(serve: Serve) -> None:
    server = serve()
    server.close()
    answers, said = asked(server, deadline=1)
    assert answers[0].reason == "unreachable"
    assert server.url in said[0]


@pytest.mark.parametrize(
    "turns",
    [
        [error(500, "broken"), error(502, "gateway")],
        [error(429, "slowly"), error(503, "slowly")],
        [Turn(content=RIGHT, cut=30)],
        [Turn(body=b"not yet")],
    ],
)
def test_passing_trouble_is_retried(serve: Serve, turns: list[Turn]) -> None:
    server = serve(in_turn(turns, then=Turn(content=RIGHT)))
    (answer,), said = asked(server, deadline=30)
    assert (answer.origin, answer.value) == ("model", {"is_stereotype": True, "why": "so"})
    assert len(server.requests) == len(turns) + 1
    assert said == []


def test_the_client_waits_as_long_as_the_server_asks(serve: Serve) -> None:
    server = serve(in_turn([error(429, "slowly", Retry_After="2")], then=Turn(content=RIGHT)))
    (answer,), _ = asked(server, deadline=30)
    assert answer.origin == "model"
    assert answer.seconds >= 2


def test_a_wait_beyond_the_deadline_is_a_fallback_at_once(serve: Serve) -> None:
    server = serve(lambda _: error(429, "tomorrow", Retry_After="86400"))
    answers, _ = asked(server, 40, deadline=20, concurrency=4)
    assert {each.origin for each in answers} == {"fallback"}
    assert len(server.requests) <= 4
    assert max(each.seconds for each in answers) < 15


def test_a_server_that_only_fails_is_left_alone_after_one_deadline(serve: Serve) -> None:
    server = serve(lambda _: error(500, "broken"))
    answers, _ = asked(server, 200, deadline=1, concurrency=4)
    assert "server left alone" in {each.reason for each in answers}
    assert {each.origin for each in answers} == {"fallback"} and len(server.requests) < 200


def test_a_server_that_keeps_failing_gets_trial_questions_until_it_recovers(serve: Serve) -> None:
    is_well = threading.Event()
    server = serve(lambda _: Turn(content=RIGHT) if is_well.is_set() else error(500, "broken"))
    said: list[str] = []
    settings = ServerSettings(
        server.url, MODEL, deadline=30, concurrency=4, patience=0.5, cooldown=0.5
    )
    with Client(settings, say=said.append) as client:
        first = client.ask([question(f"First {number}.") for number in range(200)])
        assert {each.reason for each in first} == {"server error", "server left alone"}
        assert len(server.requests) < 100
        is_well.set()
        threading.Event().wait(0.6)
        # One question tries it; those that come while it is under way still have their fallback.
        second = client.ask([question(f"Second {number}.") for number in range(50)])
        third = client.ask([question(f"Third {number}.") for number in range(50)])
    assert "model" in {each.origin for each in second}
    assert {each.origin for each in third} == {"model"}
    assert any("left alone" in line for line in said)


def test_a_server_that_refuses_schemas_is_asked_in_words_with_one_message(serve: Serve) -> None:
    def script(request: dict[str, Any]) -> Turn:
        if "response_format" in request:
            return error(400, "response_format is not supported")
        assert '"is_stereotype"' in request["messages"][0]["content"]
        return Turn(content=f"Here you are:\n```json\n{RIGHT}\n```")

    server = serve(script)
    answers, said = asked(server, 20, concurrency=1)
    assert {each.origin for each in answers} == {"model"}
    assert len(said) == 1
    assert "schema" in said[0]
    assert sum("response_format" in each for each in server.requests) == 1


def test_a_key_is_sent_and_never_shown(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_KEY", "sk-secret")
    server = serve(key="sk-secret")
    answers, said = asked(server, key=Key("env", "LLM_KEY"))
    assert answers[0].origin == "model"
    monkeypatch.setenv("LLM_KEY", "sk-other")
    # The scripted server says the key back
    answers, said = asked(server, key=Key("env", "LLM_KEY"))
    assert answers[0].reason == "key refused"
    assert said and "sk-other" not in "".join(said)


def test_a_key_that_is_not_there_is_an_error(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LLM_KEY", raising=False)
    with pytest.raises(InferenceError, match="LLM_KEY"):
        asked(serve(), key=Key("env", "LLM_KEY"))


def test_cached_answers_are_not_asked_for_again(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    settings = ServerSettings(server.url, MODEL)
    questions = [question(f"Sentence {number}.") for number in (0, 1, 1, 2)]
    with Client(settings, Cache(tmp_path / "answers")) as client:
        first = client.ask(questions)
    assert [each.origin for each in first] == ["model", "model", "cache", "model"]
    with Client(settings, Cache(tmp_path / "answers")) as client:
        second = client.ask(
            [
                *questions,
                question("Sentence 1.", digest="e" * 64),
                question("Sentence 1.", system="Other."),
            ]
        )
    assert [each.origin for each in second] == ["cache"] * 4 + ["model"] * 2
    assert [each.value for each in second[:4]] == [each.value for each in first]
    assert len(server.requests) == 5
    with Client(
        replace(settings, model="other"), Cache(tmp_path / "answers"), say=lambda _: None
    ) as client:
        assert client.ask(questions[:1])[0].reason == "no such model"


KILLED = """
import sys
from pathlib import Path
from evenflow.transforms.llm.client.cache import Cache
from evenflow.transforms.llm.client.client import Client
from evenflow.transforms.llm.client.settings import ServerSettings
from inference_questions import question
settings = ServerSettings(sys.argv[1], "scripted", concurrency=4)
with Client(settings, Cache(Path(sys.argv[2]))) as client:
    client.ask([question(f"Sentence {number}.") for number in range(200)])
"""


def test_a_replay_after_a_kill_asks_only_what_was_under_way(serve: Serve, tmp_path: Path) -> None:
    was_killed = threading.Event()

    def script(_: dict[str, Any]) -> Turn:
        if len(server.requests) > 80:
            was_killed.wait(60)
        return Turn(content=RIGHT)

    server = serve(script)
    environment = os.environ | {"PYTHONPATH": str(HELPERS)}
    command = [sys.executable, "-c", KILLED, server.url, str(tmp_path / "answers")]
    with subprocess.Popen(command, env=environment) as process:
        deadline = time.monotonic() + 60
        while len(server.requests) < 84 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.kill()
    assert len(server.requests) == 84  # four that got no answer
    was_killed.set()
    with Client(
        ServerSettings(server.url, MODEL, concurrency=4), Cache(tmp_path / "answers")
    ) as client:
        answers = client.ask([question(f"Sentence {number}.") for number in range(200)])
    assert all(each.value is not None for each in answers)
    # Asked twice are those without an answer at the kill, and those whose answers waited for one
    # transaction.
    assert len(server.requests) <= 200 + 2 * 4


@pytest.mark.parametrize("bad", ["", "yes", "{}"])
def test_only_an_accepted_answer_is_kept(serve: Serve, tmp_path: Path, bad: str) -> None:
    place, said = tmp_path / "answers", list[str]()
    broken = serve(lambda _: Turn(content=bad))
    with Client(ServerSettings(broken.url, MODEL), Cache(place), say=said.append) as client:
        assert client.ask([question("a")])[0].origin == "fallback"
    assert str(place) in "".join(said)
    mended = serve()  # at another port
    with Client(ServerSettings(mended.url, MODEL), Cache(place)) as client:
        assert client.ask([question("a")])[0].origin == "model"
    assert len(mended.requests) == 1
    with Client(ServerSettings(mended.url, MODEL), Cache(place)) as client:
        assert client.ask([question("a")])[0].origin == "cache"


def test_a_kept_answer_that_fails_its_check_is_asked_for_again(
    serve: Serve, tmp_path: Path
) -> None:
    server = serve()
    loose = {"type": "object"}
    with Client(ServerSettings(server.url, MODEL), Cache(tmp_path / "answers")) as client:
        # The same digest, as if the file had been written by another
        client.ask([question("a", schema=loose)])
        assert client.ask([question("a")])[0].origin == "cache"
    strict = {"type": "object", "required": ["more"]}
    with Client(
        ServerSettings(server.url, MODEL), Cache(tmp_path / "answers"), say=lambda _: None
    ) as client:
        assert client.ask([question("a", schema=strict)])[0].origin == "fallback"


def test_a_cache_that_cannot_be_used_costs_no_answer(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "answers").write_bytes(b"no database" * 1000)
    said: list[str] = []
    with Client(
        ServerSettings(serve().url, MODEL), Cache(tmp_path / "answers"), say=said.append
    ) as client:
        assert [each.origin for each in client.ask([question("a"), question("b")])] == [
            "model",
            "model",
        ]
    assert len(said) == 1
    assert "delete it" in said[0]


def test_many_threads_share_a_client_and_ask_the_same_question_once(serve: Serve) -> None:
    server = serve(lambda _: Turn(content=RIGHT, delay=0.1))
    answers: list[Answer] = []
    with Client(ServerSettings(server.url, MODEL)) as client:
        threads = [
            threading.Thread(
                target=lambda: answers.extend(client.ask([question("a"), question("b")]))
            )
            for _ in range(20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [each.value is not None for each in answers] == [True] * 40
    assert len(server.requests) == 2


def test_other_work_goes_on_while_the_server_answers(serve: Serve) -> None:
    may_answer = threading.Event()

    def script(_: dict[str, Any]) -> Turn:
        may_answer.wait(20)
        return Turn(content=RIGHT)

    with Client(ServerSettings(serve(script).url, MODEL)) as client:
        future = client.start([question("a")])
        assert not future.done()  # here the embedded model would work
        may_answer.set()
        assert future.result(20)[0].origin == "model"
        assert client.ask([]) == []


def test_closing_the_client_cancels_waiting_questions(serve: Serve) -> None:
    client = Client(ServerSettings(serve(lambda _: Turn(content=RIGHT, delay=5)).url, MODEL))
    future = client.start([question("a")])
    threading.Event().wait(0.2)
    client.close()
    with pytest.raises(CancelledError):
        future.result(20)


def test_a_client_does_not_outlive_a_fork(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(ServerSettings(serve().url, MODEL))
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(InferenceError, match="fork"):
        client.ask([question("a")])
