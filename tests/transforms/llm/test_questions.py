"""The first question to a server: a prompt's own example."""

import pytest
from scripted_llm import MODEL, ScriptedLLM, Turn, error

from evenflow.prompts import loader
from evenflow.transforms.llm.client.client import Client
from evenflow.transforms.llm.client.settings import ServerSettings
from evenflow.transforms.llm.questions import Question


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        (None, ""),
        (Turn(content="{}"), "answer outside its schema"),
        (error(401, "no"), "key refused"),
    ],
)
def test_each_prompt_can_ask_about_its_own_example(turn: Turn | None, reason: str) -> None:
    questions = [Question.example(loader.load(name)) for name in loader.names()]
    assert all(each.messages[-1]["content"] == each.messages[1]["content"] for each in questions)
    answers = ScriptedLLM(lambda _: turn) if turn else ScriptedLLM()
    with answers as server, Client(ServerSettings(server.url, MODEL), say=lambda _: None) as client:
        assert {each.reason for each in client.ask(questions)} == {reason}
