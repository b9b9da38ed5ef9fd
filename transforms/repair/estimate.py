"""Estimates from a sample of the input how much an LLM would be asked, and what that costs.

The sample is annotated, and its exchanges are drawn as those of one pane, with a language model
that counts every question and answers none. So the count is what a run would ask, as long as the
model finds as much as the embedded models do. A total is the ratio estimate of survey sampling
(Cochran, “Sampling Techniques”, 1977, 6.4): questions a byte in the sample, times the input's
bytes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from evenflow.schemas import documents
from evenflow.schemas.config import Config
from evenflow.schemas.config.llm import Tiering
from evenflow.transforms.annotation.annotate import Annotated, Annotator
from evenflow.transforms.annotation.sample import sample_blocks
from evenflow.transforms.io.blocks import Block
from evenflow.transforms.io.records import validate
from evenflow.transforms.llm import SPENT
from evenflow.transforms.llm.questions import Answer, Question
from evenflow.transforms.llm.worker import STEPS, Tier
from evenflow.transforms.repair import rebuild
from evenflow.transforms.staging.block import Part, StagedBlock

NORMAL_95 = 1.96  # standard errors on either side of an interval of 95 %
SAMPLED = 2000  # documents of a sample
PAUSE = 5.0  # seconds between two words on how far it is
# Documents that are counted together: few enough for some hundred units, enough to be quick
UNIT = 8
ENOUGH = 1 << 60  # tokens: more than any input asks
MODES: tuple[Tiering, ...] = ("cascade", "llm")  # in the third one, embedded, nothing is asked


@dataclass(frozen=True)
class Total:
    """What prompts come to for an input.

    `within`: Half-width of its interval of 95 %; None: the sample is one unit.
    """

    questions: int
    within: int | None
    tokens: int

    def as_json(self, tokens_a_second: float) -> dict[str, Any]:
        """The total as plain data, with the hours at so many tokens a second."""
        return asdict(self) | {"hours": round(self.tokens / tokens_a_second / 3600, 2)}


@dataclass
class Sample:
    """Sampled documents, in units of a few.

    Attributes:
        weights: Stored bytes of the input that each unit stands for.
        asked: By mode, for each unit: by prompt, the number of questions and their tokens.
        drawn: By mode and prompt, the same of what is asked once exchanges are drawn.
    """

    documents: int = 0
    weights: list[float] = field(default_factory=list)
    asked: dict[str, list[dict[str, tuple[int, int]]]] = field(
        default_factory=lambda: {mode: [] for mode in MODES}
    )
    drawn: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict)

    def total(self, modes: Mapping[str, str], input_bytes: int) -> Total:
        """Estimate what prompts come to.

        `input_bytes`: Stored bytes of the whole input.
        """
        weights = np.asarray(self.weights, float)
        # Over all units; as if they came independently of each other
        drawn, more = 0, 0
        asked = np.zeros((len(weights), 2))
        for prompt, mode in modes.items():
            count, size = self.drawn.get(mode, {}).get(prompt, (0, 0))
            drawn, more = drawn + count, more + size
            for at, unit in enumerate(self.asked.get(mode, ())):
                asked[at] += unit.get(prompt, (0, 0))
        counts, tokens = asked.T
        whole = weights.sum()
        if not whole:
            return Total(0, None, 0)
        share = min(1.0, whole / input_bytes)
        ratio = (counts.sum() + drawn) / whole
        within = None
        if len(weights) > 1:
            own = counts - counts.sum() / whole * weights
            spread = math.sqrt(own.var(ddof=1) * len(weights) + drawn) / whole
            # A sample of the whole input (share 1) has no error
            within = round(NORMAL_95 * spread * math.sqrt(1 - share) * input_bytes)
        return Total(
            round(ratio * input_bytes), within, round((tokens.sum() + more) / whole * input_bytes)
        )


class _QuestionCounter:
    """Answers nothing, and counts questions and their tokens, by prompt."""

    def __init__(self) -> None:
        self.counts: dict[str, tuple[int, int]] = {}

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Count questions, and answer that the budget is spent."""
        for question in questions:
            count, size = self.counts.get(question.prompt, (0, 0))
            self.counts[question.prompt] = count + 1, size + question.tokens
        return [Answer(None, "fallback", SPENT) for _ in questions]


class Sampler:
    """Counts the questions that documents would bring up; built once.

    The steps that the configuration does are counted; all where it does none.

    Args:
        unit: Number of documents that are counted together.

    Raises:
        WordListError: A word list cannot be read.
    """

    def __init__(self, config: Config, unit: int = UNIT):
        self._config = config
        self._unit = unit
        self._counters = {mode: _QuestionCounter() for mode in MODES}
        self._annotators = {
            mode: Annotator(own := _everything(config, mode), Tier(own, self._counters[mode]))
            for mode in MODES
        }
        self._folder = TemporaryDirectory()
        self._staged: dict[StagedBlock, documents.Figures] = {}

    def add(self, sample: Sample, block: Block, stored: float) -> None:
        """Add a block's documents to a sample.

        Args:
            stored: Stored bytes of the input that the block stands for. Its units share them by
                the length of their texts.
        """
        found = validate(block, self._config, frozenset(), keep_fields=False)
        whole = sum(map(len, found.texts)) + len(found.texts)
        for first in range(0, len(found.texts), self._unit):
            part = slice(first, first + self._unit)
            texts = found.texts[part]
            sample.documents += len(texts)
            sample.weights.append(stored * (sum(map(len, texts)) + len(texts)) / whole)
            for mode, annotator in self._annotators.items():
                own = type(found)(found.file, found.ids[part], texts, found.places[part])
                done = annotator.annotate_documents(own, 0)
                counter = _QuestionCounter()
                counter.ask(done.deferred.questions if done.deferred else ())
                sample.asked[mode].append(counter.counts)
                if mode == MODES[-1]:  # nothing was answered: all modes propose the same
                    self._stage(done)

    def draw(self, sample: Sample) -> None:
        """Count what is asked once the exchanges of all added documents are drawn.

        Args:
            sample: The sample that the documents were added to.
        """
        for mode, annotator in self._annotators.items():
            self._counters[mode].counts = {}
            rebuild.chosen(self._staged, annotator)
            sample.drawn[mode] = self._counters[mode].counts

    def _stage(self, done: Annotated) -> None:
        """Keep an annotated unit for the draw."""
        block = StagedBlock(Path(self._folder.name), f"{len(self._staged):06d}-000000")
        block.write(Part.DOCUMENTS, done.table)
        proposed = done.details.proposed if done.details is not None else []
        block.write_lines(Part.PROPOSALS, (each.line() for each in proposed))
        self._staged[block] = done.figures


def _everything(config: Config, mode: Tiering) -> Config:
    """The configuration with its steps done in a mode, without a budget; all where it has none."""
    data = config.model_dump()
    data["llm"] |= {"detection": mode, "indicators": mode, "substitution": mode, "tokens": ENOUGH}
    if not (config.looks_for_stereotypes or config.changes_sentences):
        data["stereotypes"]["action"], data["repair"]["mode"] = "flag", ["substitute"]
        for each in data["attributes"].values():
            each["stereotypes"]["action"] = each["mode"] = None
    return Config.model_validate(data)


def configured_modes(config: Config) -> dict[str, str]:
    """The mode in which a run would ask each prompt.

    Returns:
        The mode by the prompt's name; embedded if the run does not do the prompt's step.
    """
    looks = config.looks_for_stereotypes
    done = {"detection": looks, "indicators": looks, "substitution": config.changes_sentences}
    return {
        prompt: getattr(config.llm, step) if done[step] else "embedded"
        for prompt, step in STEPS.items()
    }


def of_files(
    found: Mapping[str, int], config: Config, speed: float, say: Callable[[str], None]
) -> dict[str, Any]:
    """Estimate what a run on files would ask, from a sample of them.

    Args:
        found: Stored sizes in bytes by the files' names.
        speed: Tokens a second of the server under load.
        say: Hears how far it is, every few seconds.
    """
    sampler, seen = Sampler(config), Sample()
    last = time.monotonic()
    for block, stored in sample_blocks(found, SAMPLED):
        sampler.add(seen, block, stored)
        if time.monotonic() - last > PAUSE:
            last = time.monotonic()
            say(f"{seen.documents:,} documents looked at, of about {SAMPLED:,} at most")
    sampler.draw(seen)
    return result(seen, configured_modes(config), sum(found.values()), speed)


def result(
    seen: Sample, own: dict[str, str], size: int, tokens_per_second: float
) -> dict[str, Any]:
    """The estimate as JSON-able data, by mode and prompt.

    Returns:
        Questions, tokens and hours.
    """

    def total(modes: dict[str, str]) -> dict[str, Any]:
        return seen.total(modes, size).as_json(tokens_per_second)

    modes = {
        mode: {
            "prompts": {prompt: total({prompt: mode}) for prompt in STEPS},
            "all": total(dict.fromkeys(STEPS, mode)),
        }
        for mode in ("embedded", *MODES)
    }
    return {
        "input_bytes": size,
        "sampled_documents": seen.documents,
        "sampled_share": round(min(1.0, sum(seen.weights) / size), 6) if size else 0.0,
        "tokens_a_second": tokens_per_second,
        "steps": STEPS,
        "modes": modes,
        "configured": {"prompts": own, "all": total(own)},
    }
