"""How commands are declared: options that are keys of the configuration, and help for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evenflow.pipelines.cli.app import WORDS, application
from evenflow.pipelines.cli.options import Values

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]


@pytest.mark.parametrize("words", WORDS)
def test_every_option_and_argument_of_a_command_has_help(words: str) -> None:
    at = application()
    for word in words.split():
        at = at.commands[word]  # type: ignore[assignment]
    assert all(each.help for each in at.params)


@pytest.mark.parametrize(
    ("key", "given", "value"),
    [
        ("finetune.rate", "2e-4", 2e-4),
        ("finetune.weights", "off", "off"),
        ("finetune.merge", True, True),
        ("pane.docs", "7", 7),
        ("fields.id", "7", "7"),
        ("fields.text", "null", "null"),
        ("repair.mode", "substitute,weight", ["substitute", "weight"]),
        ("stereotypes.action", "off", "off"),
        ("coverage.attributes", "gender, age", ["gender", "age"]),
        ("coverage.entities", "a: b", "a: b"),
    ],
)
def test_a_value_is_read_as_its_key_wants_it(key: str, given: object, value: object) -> None:
    config = Values(keys={key: (f"--{key}", given)}).configuration()
    section, name = key.split(".")
    assert getattr(getattr(config, section), name) == value


def test_help_says_what_the_schema_says(call: Call) -> None:
    shown = " ".join(call("run", "--help").out.split())
    assert "[default: that of block]" in shown and "[default: none is]" in shown
    assert "--stereotypes-action WHAT" in shown
    assert "[default: off; or flag, quarantine, remove]" in shown
    shown = " ".join(call("lab", "finetune", "--help").out.split())
    assert "--objective causal|mlm What is learnt. [default: causal]" in shown
    assert "--steps N Number of steps. [default: as many as the epochs have]" in shown


@pytest.mark.parametrize("words", ["", "gate", "words", "coverage", "lab"])
def test_a_summary_of_a_command_is_a_whole_sentence(call: Call, words: str) -> None:
    below = call(*words.split(), "--help").out.partition("Commands:\n")[2]
    assert below and all(line.endswith(".") for line in below.splitlines())
    assert "…" not in below and "..." not in below


def test_help_names_rare_options_and_explains_them_when_asked(call: Call) -> None:
    shown, _, rare = call("run", "--help").out.partition("More, with --help --all")
    assert "--standby" in rare and "--standby" not in shown
    whole = call("run", "--help", "--all").out
    assert "--standby" in whole and "More, with" not in whole
    assert call("run", "-i", "x", "-o", "y", "--all").status == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_of_a_shell(call: Call, shell: str) -> None:
    assert "_EVENFLOW_COMPLETE" in call("--completion", shell).out
