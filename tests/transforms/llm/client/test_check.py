"""The check of a server before a run."""

from scripted_llm import MODEL, ScriptedLLM, Turn, error

from evenflow.prompts import loader
from evenflow.transforms.llm.client import check
from evenflow.transforms.llm.client.client import Client
from evenflow.transforms.llm.client.settings import ServerSettings


def test_each_prompt_is_asked_once_and_its_answer_checked() -> None:
    with ScriptedLLM() as server, Client(ServerSettings(server.url, MODEL)) as client:
        checks = check.check(client, loader.names())
    assert [each.prompt for each in checks] == list(loader.names())
    assert all(each.is_sound for each in checks)
    assert len(server.requests) == len(checks)


def test_a_failed_check_has_a_reason() -> None:
    with (
        ScriptedLLM(lambda _: Turn(content="{}")) as server,
        Client(ServerSettings(server.url, MODEL), say=lambda _: None) as client,
    ):
        checks = check.check(client, loader.names())
    assert {each.reason for each in checks} == {"answer outside its schema"}
    assert not any(each.is_sound for each in checks)


def test_a_refused_key_ends_the_check() -> None:
    with (
        ScriptedLLM(lambda _: error(401, "no")) as server,
        Client(ServerSettings(server.url, MODEL), say=lambda _: None) as client,
    ):
        checks = check.check(client, loader.names())
    assert [each.reason for each in checks] == ["key refused"]


def test_the_question_is_about_the_prompts_own_example() -> None:
    for name in loader.names():
        prompt = loader.load(name)
        asked = check.example(prompt)
        assert asked.sentence == prompt.examples[0][0][loader.SENTENCE]
        assert asked.messages[-1]["content"] == asked.messages[1]["content"]
