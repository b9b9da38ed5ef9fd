"""How much of the validated word lists is found again from a few seeds.

    python tests/benchmarks/word_lists.py CORPUS...
    python tests/benchmarks/word_lists.py CORPUS --llm URL --model M --runs 3 --words 40

For each attribute the five labels of each group that the corpus mentions most are the seeds. The
other labels of the published list (Görge et al., Tables 12 to 14) that the corpus mentions are
looked for among the first 300 proposed words of each group, with their singulars and plurals, by
frequency (A) and in the order of generation (B). Precision is the share of these words that have a
form in the published list, seeds included; words that the table lacks count as wrong.
Intervals are Wilson's, 95 %. Nothing was chosen by these figures. With --llm, words come from a
language model alone, and the seeds are its examples; its answers are kept in --cache.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from scipy.stats import binomtest

from evenflow.schemas.config import load as configuration
from evenflow.transforms.lab.word_lists import asking, corpus, draft, proposals
from evenflow.transforms.lab.word_lists.proposals import SEED, Proposal
from evenflow.transforms.llm.client.cache import Cache
from evenflow.transforms.llm.client.client import Client
from evenflow.transforms.llm.client.settings import ServerSettings
from evenflow.transforms.measures.bias_score import vectors
from evenflow.wordlists import loader, spelling

TABLES = ("gender-table12", "age-table13", "religion-table14")
SEEDS, TOP, NEIGHBOURS = 5, 300, 1000


def share(part: int, whole: int) -> str:
    """A share with its interval."""
    if not whole:
        return "–"
    found = binomtest(part, whole).proportion_ci(method="wilson")
    return f"{part}/{whole} = {part / whole:.2f} [{found.low:.2f}, {found.high:.2f}]"


def proposed(
    given: argparse.Namespace, attribute: str, seeds: Mapping[str, Sequence[str]]
) -> dict[str, list[Proposal]]:
    """The words of vectors, or those of a language model after the seeds."""
    if given.llm is None:
        return proposals.propose(proposals.WordSpace(vectors.shipped()), seeds, NEIGHBOURS)
    settings = ServerSettings(
        given.llm,
        given.model,
        deadline=3600,  # seconds: a small machine answers slowly
        patience=3600,
        concurrency=1,
        max_tokens=12 * given.words + 100,
        temperature=0.7,
    )
    with Client(settings, Cache(given.cache)) as client:
        asked = asking.ask(client, attribute, seeds, given.runs, given.words)
    print(
        f"{attribute}: {asked.answers} answers, failed: {asked.failed or 'none'},"
        f" {asked.unusable} unusable words"
    )
    return {
        group: [*(Proposal(word, group, SEED) for word in seeds[group]), *own]
        for group, own in asked.proposals.items()
    }


def main(given: argparse.Namespace) -> None:
    """Print the table."""
    config = configuration(None, {}, (), ())
    texts = [each for block in corpus.texts(given.corpus, config) for each in block]
    lists = [loader.load(name) for name in given.lists]
    print(f"{len(texts):,} documents, {SEEDS} seeds and top {TOP} a group")
    print(f"{'list':<18}{'group':<14}{'':<4}{'other labels found':<32}precision")
    for name, words, found in zip(given.lists, lists, corpus.count([texts], lists), strict=True):
        counts = found.frequencies
        own = {
            group: sorted(
                (label for label, at in words.labels.items() if at == number and counts[label]),
                key=lambda label: (-counts[label], label),
            )
            for number, group in enumerate(words.groups)
        }
        seeds = {group: labels[:SEEDS] for group, labels in own.items()}
        made = draft.make(
            words.attribute,
            proposed(given, words.attribute, seeds),
            [texts],
            option="A",
            top=draft.MOST,
            source="benchmark",
            licence="",
        )
        for group, labels in own.items():
            candidates = [each for each in made.candidates if each.group == group]
            rest = {spelling.fold(each) for each in labels[SEEDS:]}
            listed = {spelling.fold(each) for each, at in words.labels.items()
                      if words.groups[at] == group}  # fmt: skip
            for option in ("A", "B"):
                kept = draft.ranked(candidates, option)[:TOP]
                forms = [{spelling.fold(form) for form in each.forms} for each in kept]
                recall = share(len(rest & set().union(*forms)), len(rest))
                precision = share(sum(bool(each & listed) for each in forms), len(forms))
                print(f"{name:<18}{group:<14}{option:<4}{recall:<32}{precision}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", nargs="+")
    parser.add_argument("--lists", nargs="+", default=TABLES)
    parser.add_argument("--llm")
    parser.add_argument("--model", default="")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--words", type=int, default=40)
    parser.add_argument("--cache", type=Path, default=Path("build/word_lists.sqlite"))
    main(parser.parse_args())
