"""Every command that a runbook names is one that there is, with the options that it has."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest
from places import ROOT

from evenflow.pipelines.cli import app
from evenflow.schemas.config import load

PAGE = (ROOT / "docs" / "pages" / "runbooks.md").read_text(encoding="utf-8")
RUNBOOKS = [(part.partition("\n")[0], part) for part in PAGE.split("\n## ")[1:]]
COMMAND = re.compile(r"`evenflow ([^`]+)`|^    evenflow (.+)$", re.MULTILINE)
# What stands for a value
PLACEHOLDERS = {"N": "1", "DIR": "out", "URL": "http://127.0.0.1:1/v1", "NAME": "name"}
COMMANDS = [
    (name, (match[1] or match[2]).strip())
    for name, text in RUNBOOKS
    for match in COMMAND.finditer(text)
]


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_a_command_of_a_runbook_is_there(page: str, line: str) -> None:
    command: Any = app.application()
    words = [PLACEHOLDERS.get(word, word) for word in shlex.split(line)]
    while words and hasattr(command, "commands"):
        assert words[0] in command.commands, f"{page}: there is no command `evenflow {line}`"
        command = command.commands[words.pop(0)]
    if words:  # a command alone is a reference to it
        assert command.make_context("evenflow", words).params, page


def test_the_commands_are_found() -> None:
    assert len(COMMANDS) > 20 and len({page for page, _ in COMMANDS}) > 8


def test_a_wrong_command_is_seen() -> None:
    with pytest.raises(AssertionError, match="there is no command"):
        test_a_command_of_a_runbook_is_there("none", "gate undone DIR")
    with pytest.raises(Exception, match="No such option"):
        test_a_command_of_a_runbook_is_there("none", "gate status DIR --undone")


KEY = re.compile(r"`((?:alerts|gate|llm|pane|metrics|kafka)\.[a-z_]+)`")


def test_keys_that_runbooks_name_are_keys_of_the_configuration() -> None:
    config = load(None).model_dump()
    named = {(name, key) for name, text in RUNBOOKS for key in KEY.findall(text)}
    assert len(named) > 5
    for page, key in sorted(named):
        section, _, name = key.partition(".")
        assert name in config[section], f"{page}: there is no key {key}"
