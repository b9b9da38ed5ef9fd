"""How much of the validated word lists is found again from a few seeds, without a language model.

    python tests/benchmarks/word_lists.py CORPUS...

For each attribute the five labels of each group that the corpus mentions most are the seeds. The
other labels of the published list (Görge et al., Tables 12 to 14) that the corpus mentions are
looked for among the first 300 proposed words of each group, with their singulars and plurals, by
frequency (A) and in the order of generation (B). Precision is the share of these words that have a
form in the published list, seeds included; words that the table lacks count as wrong.
Intervals are Wilson's, 95 %. Nothing was chosen by these figures.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from scipy.stats import binomtest

from evenflow.schemas.config import load as configuration
from evenflow.transforms.bias_score import vectors
from evenflow.transforms.word_lists import corpus, draft, proposals
from evenflow.wordlists import loader, spelling

TABLES = ("gender", "age-table13", "religion-table14")
SEEDS, TOP, NEIGHBOURS = 5, 300, 1000


def share(part: int, whole: int) -> str:
    """A share with its interval."""
    if not whole:
        return "–"
    found = binomtest(part, whole).proportion_ci(method="wilson")
    return f"{part}/{whole} = {part / whole:.2f} [{found.low:.2f}, {found.high:.2f}]"


def main(inputs: Sequence[str]) -> None:
    """Print the table."""
    config = configuration(None, {}, (), ())
    texts = [each for block in corpus.texts(inputs, config) for each in block]
    space = proposals.Space(vectors.shipped())
    lists = [loader.load(name) for name in TABLES]
    print(f"{len(texts):,} documents, {SEEDS} seeds and top {TOP} a group")
    print(f"{'list':<18}{'group':<14}{'':<4}{'other labels found':<32}precision")
    for name, words, found in zip(TABLES, lists, corpus.count([texts], lists), strict=True):
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
            proposals.propose(space, seeds, NEIGHBOURS),
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
    main(sys.argv[1:])
