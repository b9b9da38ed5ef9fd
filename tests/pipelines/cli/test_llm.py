from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from scripted_llm import MODEL, ScriptedLLM, Turn

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]


@pytest.fixture
def server() -> Iterator[ScriptedLLM]:
    with ScriptedLLM() as server:
        yield server


def server_at(url: str, model: str, *more: str) -> tuple[str, ...]:
    return ("--set", f"llm.url={url}", "--set", f"llm.model={model}", *more)


def test_a_server_is_asked_a_question_of_each_prompt(call: Call, server: ScriptedLLM) -> None:
    result = call("doctor", *server_at(server.url, MODEL))
    assert result.status == 0, result.out
    assert "version 0.0.scripted" in result.out
    assert result.out.count("ok      prompt ") == len(server.requests) > 1


def test_answers_that_are_not_sound_are_missing(call: Call) -> None:
    with ScriptedLLM(lambda _: Turn(content="\x1b[31mno")) as server:
        result = call("doctor", *server_at(server.url, MODEL))
    assert result.status == 2
    assert "answer not JSON" in result.out
    assert "\x1b" not in result.out


HERE = "http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--set", f"llm.url={HERE}"), "llm"),
        (server_at("nonsense", "m"), "llm.url: "),
        (server_at("127.0.0.1:8000", "m"), "llm.url: "),
        (server_at("http://h:99999", "m"), "llm.url: "),
        (server_at("http://me:secret@h", "m"), "holds a user, a password"),
        (server_at(HERE, " "), "text that is not empty"),
        (server_at(HERE, "m", "--set", "llm.key.env=NO_SUCH"), "NO_SUCH"),
        (server_at(HERE, "m"), "127.0.0.1:1"),
    ],
)
def test_a_server_that_cannot_be_asked(call: Call, words: tuple[str, ...], message: str) -> None:
    result = call("doctor", *words)
    assert result.status == 2
    said = result.out + result.err
    assert message in said and "secret" not in said


def test_a_wrong_name_is_missing(call: Call, server: ScriptedLLM) -> None:
    assert call("doctor", *server_at(server.url, "else")).status == 2


def test_an_estimate_says_questions_tokens_and_hours(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        "".join(
            json.dumps({"text": f"My sister sings in room {n}. It rains."}) + "\n"
            for n in range(10)
        )
    )
    found = call("doctor", "--input", path, "--json", "--estimate", 1).json
    assert found["sampled_documents"] == 10
    every = found["modes"]["llm"]
    asked = {prompt: each["questions"] for prompt, each in every["prompts"].items()}
    # Half of the sisters make the sample even
    assert (asked["stereotypes"], asked["substitution"]) == (10, 5)
    assert every["all"]["questions"] == sum(each["questions"] for each in every["prompts"].values())
    assert every["all"]["hours"] == round(every["all"]["tokens"] / 3600, 2) > 0
    assert found["modes"]["cascade"]["all"]["questions"] <= every["all"]["questions"]
    assert (
        found["modes"]["embedded"]["all"]["questions"]
        == found["configured"]["all"]["questions"]
        == 0
    )
    text = call("doctor", "--input", path, "--estimate", 2000).out
    assert "10 ± 0" in text
    assert "as configured: nothing" in text


def test_an_estimate_knows_what_is_configured(call: Call, tmp_path: Path) -> None:
    path, config = tmp_path / "a.jsonl", tmp_path / "c.yaml"
    path.write_text(
        "".join(json.dumps({"text": f"My sister sings in room {n}."}) + "\n" for n in range(10))
    )
    config.write_text("repair: {mode: substitute}\nllm: {substitution: llm, detection: llm}\n")
    found = call("doctor", "-i", path, "--estimate", 1, "--json", "--config", config).json
    own = found["configured"]
    assert own["prompts"] == {
        "stereotypes": "embedded",
        "indicators": "embedded",
        "substitution": "llm",
    }
    assert (
        own["all"]["questions"] == found["modes"]["llm"]["prompts"]["substitution"]["questions"] > 0
    )
