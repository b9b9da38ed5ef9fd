import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from scripted_llm import MODEL, ScriptedLLM, Turn
from typer.testing import CliRunner, Result

from evenflow.pipelines import cli_llm
from evenflow.transforms.inference_settings import InferenceError

Call = Callable[..., Result]


@pytest.fixture
def call() -> Call:
    """Runs one of the commands: call("check", …)."""
    app = typer.Typer()
    app.command("check")(cli_llm.llm_check)
    app.command("estimate")(cli_llm.estimate)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200"})


@pytest.fixture
def server() -> Iterator[ScriptedLLM]:
    with ScriptedLLM() as server:
        yield server


def test_a_server_is_checked(call: Call, server: ScriptedLLM) -> None:
    result = call("check", "--llm", server.url, "--llm-model", MODEL)
    assert result.exit_code == 0
    assert "version 0.0.scripted" in result.output
    assert result.output.count("sound") == len(server.requests)
    found = json.loads(call("check", "--llm", server.url, "--llm-model", MODEL, "--json").output)
    assert all(each["sound"] for each in found["prompts"])


def test_answers_that_are_not_sound_are_the_status(call: Call) -> None:
    with ScriptedLLM(lambda _: Turn(content="\x1b[31mno")) as server:
        result = call("check", "--llm", server.url, "--llm-model", MODEL)
    assert result.exit_code == 1
    assert "answer not JSON" in result.output
    assert "\x1b" not in result.output


def test_a_wrong_name_is_an_error(call: Call, server: ScriptedLLM) -> None:
    result = call("check", "--llm", server.url, "--llm-model", "else")
    assert isinstance(result.exception, InferenceError)


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--llm", "http://127.0.0.1:1"),
        ("--llm", "http://127.0.0.1:1", "--llm-serve", "m"),
        ("--llm-serve", "m", "--llm-model", "m"),
        ("--llm-serve", "m", "--llm-key-env", "K"),
        ("--llm", "http://127.0.0.1:1", "--llm-model", "m", "--llm-argument=--x"),
        ("--llm", "http://127.0.0.1:1", "--llm-model", "m", "--llm-key-env", "K", "--llm-key-file", "f"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(call: Call, words: tuple[str, ...]) -> None:
    result = call("check", *words)
    assert result.exit_code == 2
    assert "--llm" in result.output


def test_an_estimate_says_questions_tokens_and_hours(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"text": "My sister sings. It rains."}) + "\n" for _ in range(10)))
    found: dict[str, Any] = json.loads(call("estimate", path, "--json", "--tokens-per-second", 1).output)
    assert found["sampled_documents"] == 10
    assert found["llm"]["questions"] == 10
    assert found["llm"]["hours"] == round(found["llm"]["tokens"] / 3600, 2)
    assert found["cascade"]["questions"] <= found["llm"]["questions"]
    text = call("estimate", path).output
    assert "10 ± 0 questions" in text
