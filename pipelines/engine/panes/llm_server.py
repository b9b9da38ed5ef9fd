"""What a run says of a language model's server: before anything is read, and at its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from evenflow.pipelines.terminal.outcome import Outcome
from evenflow.prompts import loader
from evenflow.schemas.config import Config
from evenflow.transforms.llm.client.client import Client
from evenflow.transforms.llm.client.http import REFUSED
from evenflow.transforms.llm.client.server import describe, refused_key
from evenflow.transforms.llm.client.settings import InferenceError
from evenflow.transforms.llm.questions import Question
from evenflow.transforms.llm.worker import models, settings

PROBE_SECONDS = 10.0  # that the server has for the question before a run


def probe(config: Config) -> Iterator[str]:
    """Ask the language model a question before anything is read.

    Raises:
        InferenceError: No server is there, or the key is refused.
    """
    describe(settings(config))
    asked = {model: prompt for prompt, model in models(config).items()}
    for model, prompt in asked.items():
        server = settings(config, model)
        with Client(replace(server, deadline=min(server.deadline, PROBE_SECONDS))) as client:
            [found] = client.ask([Question.example(loader.load(prompt))])
        if found.reason == REFUSED:
            raise InferenceError(f"{refused_key(server)}, which the first question had")
        if found.reason:
            yield (
                f"{server.shown}: the language model {model} left the first question unanswered"
                f" ({found.reason}); where it does so again, the embedded model answers in its"
                " place"
            )


def budget(config: Config) -> str:
    """Say what a pane's budget of tokens is enough for."""
    sizes = [Question.example(loader.load(prompt)).tokens for prompt in models(config)]
    count = config.llm.tokens // max(sizes, default=1)
    return f"llm.tokens: {config.llm.tokens:,} a pane, about {count:,} questions"


def refused(outcome: Outcome, config: Config) -> str:
    """Say in which panes of this run the language model's server came to refuse the key.

    Such panes have their verdict, but the reason does not pass by itself.

    Returns:
        A sentence; an empty text where there are no such panes.
    """

    def refuses(llm: dict[str, dict[str, Any]]) -> bool:
        return any(REFUSED in each["fallbacks"] for each in llm.values())

    if config.llm.url is None or not refuses(outcome.entries.totals.llm):
        return ""
    new = outcome.entries[len(outcome.entries) - outcome.new :]
    panes = [
        str(entry.pane)
        for entry in new
        if entry.asking is not None and entry.asking.state != "open" and refuses(entry.llm or {})
    ]
    if not panes:
        return ""
    return (
        f"{refused_key(settings(config))}: in pane {', '.join(panes)} the embedded model answered"
        " in its place; to have the language model's answers, give a key that it takes and a new"
        " --output"
    )
