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


def test_a_server_is_checked(call: Call, server: ScriptedLLM) -> None:
    result = call("llm", "check", "--url", server.url, "--model", MODEL)
    assert result.status == 0
    assert "version 0.0.scripted" in result.out
    assert result.out.count("sound") == len(server.requests)
    found = call("llm", "check", "--url", server.url, "--model", MODEL, "--json").json
    assert all(each["sound"] for each in found["prompts"])


def test_answers_that_are_not_sound_are_the_status(call: Call) -> None:
    with ScriptedLLM(lambda _: Turn(content="\x1b[31mno")) as server:
        result = call("llm", "check", "--url", server.url, "--model", MODEL)
    assert result.status == 1
    assert "answer not JSON" in result.out
    assert "\x1b" not in result.out


HERE = "http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ((), 2, "an address was expected"),
        (("--url", HERE), 2, "llm"),
        (("--url", "nonsense", "--model", "m"), 2, "--url: "),
        (("--url", "", "--model", "m"), 2, "an address was expected"),
        (("--url", "127.0.0.1:8000", "--model", "m"), 2, "--url: "),
        (("--url", "http://h:99999", "--model", "m"), 2, "--url: "),
        (("--url", "http://me:secret@h", "--model", "m"), 2, "holds a user, a password"),
        (("--url", HERE, "--model", " "), 2, "model is empty"),
        (("--url", HERE, "--model", "m", "--set", "llm.key.env=NO_SUCH"), 2, "NO_SUCH"),
        (("--url", HERE, "--model", "m"), 1, "127.0.0.1:1"),
    ],
)
def test_a_server_that_cannot_be_asked(
    call: Call, words: tuple[str, ...], status: int, message: str
) -> None:
    result = call("llm", "check", *words)
    assert (result.status, result.out) == (status, "")
    assert message in result.err and "secret" not in result.err


def test_a_wrong_name_is_an_error(call: Call, server: ScriptedLLM) -> None:
    assert call("llm", "check", "--url", server.url, "--model", "else").status == 1


def test_an_estimate_says_questions_tokens_and_hours(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        "".join(
            json.dumps({"text": f"My sister sings in room {n}. It rains."}) + "\n"
            for n in range(10)
        )
    )
    found = call("llm", "estimate", path, "--json", "--tokens-per-second", 1).json
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
    text = call("llm", "estimate", path).out
    assert "10 ± 0" in text
    assert "as configured: nothing" in text


def test_an_estimate_knows_what_is_configured(call: Call, tmp_path: Path) -> None:
    path, config = tmp_path / "a.jsonl", tmp_path / "c.yaml"
    path.write_text(
        "".join(json.dumps({"text": f"My sister sings in room {n}."}) + "\n" for n in range(10))
    )
    config.write_text("repair: {mode: substitute}\nllm: {substitution: llm, detection: llm}\n")
    found = call("llm", "estimate", path, "--json", "--config", config).json
    own = found["configured"]
    assert own["prompts"] == {
        "stereotypes": "embedded",
        "indicators": "embedded",
        "substitution": "llm",
    }
    assert (
        own["all"]["questions"] == found["modes"]["llm"]["prompts"]["substitution"]["questions"] > 0
    )
