"""Options that are keys of the configuration: what they give, and what their help says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evenflow.pipelines.cli import keys
from evenflow.pipelines.cli.app import WORDS, application
from evenflow.schemas.config import described, load

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]


@pytest.mark.parametrize("key", keys.KEYS)
def test_an_option_is_a_key_with_a_meaning(key: str) -> None:
    kind, _, text = described(key)
    assert kind is not None and text.endswith(".")
    load(None, {}, sets=[f"{key}=null"] if described(key)[1] is None else [])


@pytest.mark.parametrize("words", WORDS)
def test_every_option_of_a_command_has_help(words: str) -> None:
    at = application()
    for word in words.split():
        at = at.commands[word]  # type: ignore[assignment]
    assert all(keys.explain(option).help for option in at.params)


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ({"finetune.rate": "2e-4"}, 2e-4),
        ({"finetune.weights": "off"}, "off"),
        ({"finetune.merge": True}, True),
        ({"pane.docs": "7"}, 7),
        ({"fields.id": "7"}, "7"),
        ({"fields.text": "null"}, "null"),
        ({"repair.mode": "substitute,weight"}, ["substitute", "weight"]),
        ({"stereotypes.policy": "off"}, "off"),
        ({"coverage.attributes": "gender, age"}, ["gender", "age"]),
        ({"coverage.entities": "a: b"}, "a: b"),
    ],
)
def test_a_value_is_read_as_its_key_wants_it(given: dict[str, object], value: object) -> None:
    config = keys.Keys(keys=given).configuration()
    (key,) = given
    section, name = key.split(".")
    assert getattr(getattr(config, section), name) == value


def test_help_says_choices_and_defaults(call: Call) -> None:
    shown = " ".join(call("coverage", "gaps", "--help").out.split())
    assert "--tau T Least coverage of a pattern" in shown
    assert "[default: sentence; or document, referent]" in shown
    shown = " ".join(call("lab", "finetune", "--help").out.split())
    assert "--objective causal|mlm What is learnt. [default: causal]" in shown
    assert "--steps N Number of steps. [default: as many as the epochs have]" in shown
