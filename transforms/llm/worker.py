"""The LLM tier of a run: the client of a worker process, and the cost of each block.

A process has one client with its connections; the threads of a runner share it. The questions of a
block are counted for its pane.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from evenflow.schemas.config import Config
from evenflow.schemas.secrets import SecretError, read_address
from evenflow.transforms.llm.budget import Budgeted, QuestionCollector
from evenflow.transforms.llm.client.cache import Cache
from evenflow.transforms.llm.client.client import Client
from evenflow.transforms.llm.client.settings import Key, ServerSettings, ServerSettingsError
from evenflow.transforms.llm.client.stats import Counted
from evenflow.transforms.llm.judges import LlmJudge
from evenflow.transforms.llm.questions import Answer, Asker, Question
from evenflow.transforms.substitution import reading
from evenflow.transforms.substitution.judges import ExchangeJudge

CACHE = 1 << 30  # bytes of the file of kept answers: about two million
STEPS = {  # the setting that decides about each prompt
    "stereotypes": "detection",
    "indicators": "indicators",
    "substitution": "substitution",
}


def models(config: Config) -> dict[str, str]:
    """The models that are asked.

    Returns:
        The model of each step's prompt; without the steps that the embedded models do alone.
    """
    own = config.llm
    return {
        prompt: getattr(own.models, step) or own.model or ""
        for prompt, step in STEPS.items()
        if getattr(own, step) != "embedded"
    }


def settings(config: Config, model: str | None = None) -> ServerSettings:
    """How the server is reached.

    Args:
        model: The model's name there; None: `llm.model`.

    Raises:
        InferenceError: The settings are wrong.
        ValueError: No server is configured.
    """
    own = config.llm
    if own.url is None or own.model is None:
        raise ValueError("no server is configured")
    key = None
    if own.key is not None:
        [(kind, place)] = own.key.items()
        key = Key("env" if kind == "env" else "file", place)
    try:
        url = read_address(own.url)
    except SecretError as error:
        raise ServerSettingsError(f"llm.url: {error}") from None
    return ServerSettings(
        url, model or own.model, key, deadline=own.deadline, concurrency=own.concurrency
    )


def cache_path(config: Config) -> Path:
    """The file of kept answers: as configured, or in the user's folder for caches."""
    if config.llm.cache is not None:
        return Path(config.llm.cache)
    return (
        Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evenflow" / "llm.sqlite"
    )


class _Models:
    """Asks the model of each question's step."""

    def __init__(self, config: Config, cache: Cache):
        self._models, self._other = models(config), config.llm.model or ""
        self._clients = {
            model: Client(settings(config, model), cache)
            for model in {*self._models.values(), self._other}
        }

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer a question, in the order of the questions."""
        own = [self._models.get(each.prompt, self._other) for each in questions]
        answers = {
            model: iter(
                self._clients[model].ask(
                    [each for each, of in zip(questions, own, strict=True) if of == model]
                )
            )
            for model in dict.fromkeys(own)
        }
        return [replace(next(answers[model]), model=model) for model in own]


class Tier:
    """The LLM of a configuration, in one process.

    Args:
        client: Asks the server without a budget; by default the configured one, with its cache.
    """

    def __init__(self, config: Config, client: Asker | None = None):
        self._config = config
        self._own = config.llm
        if client is None:
            path = cache_path(config)
            path.parent.mkdir(parents=True, exist_ok=True)
            client = _Models(config, Cache(path, CACHE))
        self.client = client
        self._here = threading.local()

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Asks the current block's asker.

        Returns:
            N answers, in order.

        Raises:
            RuntimeError: The thread is not in a block.
        """
        asker: Asker | None = getattr(self._here, "asker", None)
        if asker is None:
            raise RuntimeError("nothing is asked outside of a block")
        return asker.ask(questions)

    def reject(self, question: Question, answer: Answer, reason: str) -> None:
        """Makes an answer of the current block a fallback."""
        self._here.asker.reject(question, answer, reason)

    @contextmanager
    def block(
        self, known: MutableMapping[str, Answer] | None = None
    ) -> Iterator[Mapping[str, Question]]:
        """Starts a block of documents, and collects its questions.

        The pane asks the most valuable of them later.

        Args:
            known: Question key → answer that the pane has got so far.

        Yields:
            The questions so far without an answer, by key.
        """
        before = getattr(self._here, "asker", None)
        self._here.asker = collector = QuestionCollector(known or {})
        try:
            yield collector.deferred
        finally:
            self._here.asker = before

    def judge(
        self, embedded: ExchangeJudge, cost: Mapping[str, Mapping[str, Any]]
    ) -> tuple[LlmJudge, Counted]:
        """The judge of a pane's exchanges, with what is left of the pane's budget.

        Args:
            cost: What the pane's other questions cost, by prompt.

        Returns:
            The judge, and what counts its questions.
        """
        spent = sum(each["granted"] for each in cost.values())
        counted = Counted(Budgeted(self.client, max(0, self._own.tokens - spent)))
        names = [words.attribute for words in self._config.word_lists()]
        min_probability = {name: reading.min_probability(self._config, name) for name in names}
        worth = {name: reading.worth_asking(self._config, name) for name in names}
        return LlmJudge(embedded, counted, self._own.substitution, min_probability, worth), counted
