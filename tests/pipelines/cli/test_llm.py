import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from scripted_llm import MODEL, ScriptedLLM, Turn
from typer.testing import CliRunner, Result

from evenflow.pipelines.cli import llm
from evenflow.pipelines.terminal.endings import Session, explained
from evenflow.schemas.errors import FAILED, USAGE
from evenflow.transforms.llm.client.settings import InferenceError, ServerSettingsError

Call = Callable[..., Result]


@pytest.fixture
def call() -> Call:
    """A function that runs one of the commands by its name."""
    app = typer.Typer()
    app.command("check")(llm.llm_check)
    app.command("estimate")(llm.estimate)
    return lambda *words: CliRunner().invoke(
        app, [str(word) for word in words], env={"COLUMNS": "200"}
    )


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
        (
            "--llm",
            "http://127.0.0.1:1",
            "--llm-model",
            "m",
            "--llm-key-env",
            "K",
            "--llm-key-file",
            "f",
        ),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(
    call: Call, words: tuple[str, ...]
) -> None:
    result = call("check", *words)
    assert result.exit_code == 2
    assert "--llm" in result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--llm", "nonsense", "--llm-model", "m"), "is no address"),
        (("--llm", "", "--llm-model", "m"), "is no address"),
        (("--llm", "127.0.0.1:8000", "--llm-model", "m"), "is no address"),
        (("--llm", "http://h:99999", "--llm-model", "m"), "is no address"),
        (("--llm", "http://me:secret@h", "--llm-model", "m"), "holds a user, a password"),
        (("--llm", "http://127.0.0.1:1", "--llm-model", " "), "model is empty"),
        (("--llm", "http://127.0.0.1:1", "--llm-serve", "m"), "exclude each other"),
        (("--llm-serve", " "), "a folder or a model's name"),
    ],
)
def test_what_cannot_be_a_server_is_wrong_usage(
    call: Call, words: tuple[str, ...], message: str
) -> None:
    result = call("check", *words)
    assert result.exit_code == 2
    assert message in " ".join(result.output.replace("│", " ").split())
    assert "secret" not in result.output


def test_a_key_that_is_not_there_is_wrong_usage_and_named(call: Call) -> None:
    result = call(
        "check", "--llm", "http://127.0.0.1:1", "--llm-model", "m", "--llm-key-env", "NO_SUCH_KEY"
    )
    assert isinstance(result.exception, ServerSettingsError)
    assert explained(result.exception, Session()) == (str(result.exception), USAGE)
    assert "NO_SUCH_KEY" in str(result.exception)


def test_a_server_that_is_not_there_is_a_failure(call: Call) -> None:
    result = call("check", "--llm", "http://127.0.0.1:1", "--llm-model", "m")
    assert isinstance(result.exception, InferenceError)
    assert explained(result.exception, Session())[1] == FAILED


def test_an_estimate_says_questions_tokens_and_hours(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        "".join(
            json.dumps({"text": f"My sister sings in room {n}. It rains."}) + "\n"
            for n in range(10)
        )
    )
    found: dict[str, Any] = json.loads(
        call("estimate", path, "--json", "--tokens-per-second", 1).output
    )
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
    text = call("estimate", path).output
    assert "10 ± 0" in text
    assert "as configured: nothing" in text


def test_an_estimate_knows_what_is_configured(call: Call, tmp_path: Path) -> None:
    path, config = tmp_path / "a.jsonl", tmp_path / "c.yaml"
    path.write_text(
        "".join(json.dumps({"text": f"My sister sings in room {n}."}) + "\n" for n in range(10))
    )
    config.write_text("repair: {mode: substitute}\nllm: {substitution: llm, detection: llm}\n")
    found = json.loads(call("estimate", path, "--json", "--config", config).output)
    own = found["configured"]
    assert own["prompts"] == {
        "stereotypes": "embedded",
        "indicators": "embedded",
        "substitution": "llm",
    }
    assert (
        own["all"]["questions"] == found["modes"]["llm"]["prompts"]["substitution"]["questions"] > 0
    )
