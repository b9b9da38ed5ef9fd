"""Asks a language model for words: the first step of Algorithm 1 of the main paper, r runs of l."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evenflow.prompts import loader
from evenflow.transforms.lab.word_lists.proposals import SEED, Proposal, ProposalError
from evenflow.transforms.llm.client.cache import Cache
from evenflow.transforms.llm.client.client import Client
from evenflow.transforms.llm.client.settings import ServerSettings
from evenflow.transforms.llm.questions import Asker, Question
from evenflow.wordlists import spelling
from evenflow.wordlists.parsing import label_problem

PROMPT = "wordlist"
TEMPERATURE = 0.7  # above 0, so that the runs differ
TOKENS = 12  # of an answer for each word that is asked for, with room for rare words
DEADLINE = 600.0  # seconds for an answer of hundreds of words


@dataclass(frozen=True)
class AskedWords:
    """What came back."""

    proposals: dict[str, list[Proposal]]
    answers: int
    failed: dict[str, int]
    unusable: int


def questions(
    attribute: str, seeds: Mapping[str, Sequence[str]], runs: int, words: int
) -> list[tuple[str, int, Question]]:
    """Make the questions, run by run."""
    prompt = loader.load(PROMPT)
    return [
        (group, run, Question.of(prompt, f"words for the group {group} of {attribute}", slots))
        for run in range(1, runs + 1)
        for group, examples in seeds.items()
        for slots in [
            {
                "attribute": attribute,
                "group": group,
                "others": [each for each in seeds if each != group],
                "examples": list(examples),
                "number": str(words),
                "run": str(run),
            }
        ]
    ]


def ask(
    asker: Asker, attribute: str, seeds: Mapping[str, Sequence[str]], runs: int, words: int
) -> AskedWords:
    """Ask for words, and fold duplicates."""
    every = questions(attribute, seeds, runs, words)
    found: dict[str, dict[str, Proposal]] = {group: {} for group in seeds}
    failed: dict[str, int] = {}
    answers = unusable = 0
    for (group, run, _), answer in zip(every, asker.ask([each for *_, each in every]), strict=True):
        if answer.value is None:
            failed[answer.reason] = failed.get(answer.reason, 0) + 1
            continue
        answers += 1
        for given in answer.value["words"]:
            word = " ".join(str(given).split()).lower()
            if label_problem(word):
                unusable += 1
            else:
                found[group].setdefault(
                    spelling.fold(word), Proposal(word, group, f"language model, run {run}")
                )
    if not answers:
        reasons = ", ".join(f"{count} of {reason}" for reason, count in failed.items())
        raise ProposalError(f"the language model answered no question: {reasons}")
    return AskedWords(
        {group: list(own.values()) for group, own in found.items()}, answers, failed, unusable
    )


def ask_server(
    settings: ServerSettings,
    cache: Path,
    attribute: str,
    seeds: Mapping[str, Sequence[str]],
    runs: int,
    words: int,
) -> AskedWords:
    """Ask a server for words, whose answers are kept; the seeds are the first proposals."""
    own = replace(
        settings,
        temperature=TEMPERATURE,
        max_tokens=TOKENS * words + 100,
        deadline=max(DEADLINE, settings.deadline),
    )
    with Client(own, Cache(cache)) as client:
        found = ask(client, attribute, seeds, runs, words)
    proposals = {
        group: [*(Proposal(word, group, SEED) for word in seeds[group]), *words]
        for group, words in found.proposals.items()
    }
    return replace(found, proposals=proposals)
