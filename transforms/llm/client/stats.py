"""The cost of asking an LLM: figures that add up over questions, panes, processes and runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenflow.transforms.llm import SPENT
from evenflow.transforms.llm.questions import Answer, Asker, Question

# Latencies are counted in steps of 2**(1/8), 9 %: a quantile is known to ± 4.4 %, and an hour is
# step 173.
STEPS_A_DOUBLING = 8
COUNTS = ("questions", "requests", "tokens", "granted", "cache_hits")
SHORTEST = 0.001  # seconds; a shorter latency counts as this


@dataclass(frozen=True)
class Reply(Answer):
    """An answer with its cost."""

    requests: int = 0


@dataclass
class Stats:
    """Figures of questions.

    Attributes:
        tokens: Tokens of prompts and answers, as the server counts them.
        granted: Tokens by the questions' lengths, from the cache too, which a budget is spent by.
        fallbacks: Reason → questions without an answer.
        models: Model → its answers, the cached ones among them.
        latencies: Step → answers of the model that took SHORTEST * 2**(step / STEPS_A_DOUBLING)
            seconds.
    """

    questions: int = 0
    requests: int = 0
    tokens: int = 0
    granted: int = 0
    cache_hits: int = 0
    fallbacks: Counter[str] = field(default_factory=Counter)
    latencies: Counter[int] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)

    def note(self, answer: Answer, size: int = 0) -> None:
        """Counts the answer to a question of so many tokens; 0: the budget left it out."""
        self.questions += 1
        self.granted += size
        self.tokens += answer.tokens
        self.requests += answer.requests if isinstance(answer, Reply) else answer.origin == "model"
        self.cache_hits += answer.origin == "cache"
        if answer.origin == "fallback":
            self.fallbacks[answer.reason] += 1
        elif answer.model:
            self.models[answer.model] += 1
        if answer.origin == "model":
            step = round(STEPS_A_DOUBLING * math.log2(max(answer.seconds, SHORTEST) / SHORTEST))
            self.latencies[step] += 1

    def reject(self, answer: Answer, reason: str) -> None:
        """Counts an answer that was counted before as a fallback: its check rejected it."""
        self.fallbacks[reason] += 1
        self.cache_hits -= answer.origin == "cache"
        if answer.model:
            self.models[answer.model] -= 1

    def add(self, other: Stats) -> None:
        """Adds the figures of other questions."""
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("fallbacks", "latencies", "models"):
            getattr(self, name).update(getattr(other, name))

    def latency(self, quantile: float) -> float | None:
        """The latency below which a share of the model's answers stayed.

        `quantile`: The share (0 to 1).

        Returns seconds, ± 4.4 %; None without answers of the model.
        """
        total, seen = sum(self.latencies.values()), 0
        for step in sorted(self.latencies):
            seen += self.latencies[step]
            if seen >= quantile * total:
                return SHORTEST * 2 ** (step / STEPS_A_DOUBLING)
        return None

    def additive(self) -> dict[str, Any]:
        """The figures that add up, as JSON data."""
        return {key: value for key, value in self.as_json().items() if key != "seconds"}

    def as_json(self) -> dict[str, Any]:
        """All figures as JSON data, with quantiles of the latency; `from_json` reads it."""
        quantiles = {f"p{round(100 * q)}": self.latency(q) for q in (0.5, 0.95, 0.99)}
        return {
            **{name: getattr(self, name) for name in COUNTS},
            "fallbacks": dict(sorted(self.fallbacks.items())),
            "models": dict(sorted(self.models.items())),
            "seconds": {
                name: None if value is None else round(value, 4)
                for name, value in quantiles.items()
            },
            "latencies": {str(step): self.latencies[step] for step in sorted(self.latencies)},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Stats:
        """The figures that `as_json` gave."""
        latencies = Counter({int(step): count for step, count in data["latencies"].items()})
        # An entry of an earlier version does not say which model answered, nor what was granted
        models, fallbacks = Counter(data.get("models", {})), Counter(data["fallbacks"])
        counts: dict[str, Any] = {name: int(data.get(name, 0)) for name in COUNTS}
        return cls(**counts, fallbacks=fallbacks, latencies=latencies, models=models)


class Counted:
    """Asks another asker and counts the answers; for one thread.

    Make one for a block or a pane, and add its stats to the figures of that.
    """

    def __init__(self, asker: Asker):
        self.stats: dict[str, Stats] = {}
        self._asker = asker

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer a question, in the order of the questions."""
        answers = self._asker.ask(questions)
        for question, answer in zip(questions, answers, strict=True):
            size = question.tokens if answer.reason != SPENT else 0
            self.stats.setdefault(question.prompt, Stats()).note(answer, size)
        return answers

    def reject(self, question: Question, answer: Answer, reason: str) -> None:
        """Counts an answer of `ask` as a fallback."""
        self.stats[question.prompt].reject(answer, reason)
