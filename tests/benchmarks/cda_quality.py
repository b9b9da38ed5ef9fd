"""How good substitution is: pronouns, minimal pairs, sentences answered by hand, and speed.

    python tests/benchmarks/cda_quality.py --ewt en_ewt_dev.conllu.gz --crows crows_pairs_anonymized.csv \\
        --speed documents.jsonl.gz --more tests/data/cda_fresh.jsonl

- her, his and him on tagged text (UD English EWT dev): accuracy.
- CrowS-Pairs: pairs of bias type gender that differ by the swap alone: every word of one group, or of both, is exchanged
  for one of the other group, and nothing else; exact: the rewritten sentence is the other one. Pairs with even numbers are
  for development, with odd ones only reported.
- tests/data/cda_gold.jsonl: sentences sampled at random over labels and attributes, with the right answers written by hand
  before the code was run on them. A changed sentence is correct if it is among the answers; barred wrongly is one that
  was left where leaving it is no answer. Split dev for development, report only reported. BaseCDA stands beside it.
  `--more` takes further such files. Intervals are by bootstrap over sentences.
- tests/data/cda_exam.jsonl, cda_exam2.jsonl, cda_exam4.jsonl: texts made up by other hands, rewritten from one group to
  another, or where there are two groups both ways: right if either result is an answer. Split as the gold file.
- Speed: MB a second of the documents' relevant sentences, one process.

The gold file's excerpts are of presidential speeches (public domain), ABC news and film reviews (NLTK's data) and comments on
Reddit (RedditBias, MIT); the last are offensive, as that corpus was made to measure.

--errors prints the errors of the development halves, never those of the others.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from cda_train_pronouns import tagged, texts

from evenflow.transforms.counterfactuals import Method, Substituter, rewrite
from evenflow.transforms.labels import LabelFinder, uncut
from evenflow.transforms.sentences import bounds
from evenflow.transforms.substitution import pronouns, roles
from evenflow.wordlists import loader, spelling
from evenflow.wordlists.loader import WordList

GOLD = Path(__file__).parents[1] / "data" / "cda_gold.jsonl"
EXAMS = tuple(GOLD.with_name(f"cda_exam{number}.jsonl") for number in ("", 2, 4))
WORD = re.compile(r"[\w’'-]+|[^\w\s]")


def pronoun_accuracy(path: Path) -> None:
    right: Counter[str] = Counter()
    every: Counter[str] = Counter()
    for text, start, end, answer in tagged(path):
        word = text[start:end].lower()
        every[word] += 1
        right[word] += pronouns.counterpart(text, start, end)[0] == answer
    each = ", ".join(f"{word} {right[word]}/{every[word]}" for word in sorted(every))
    print(f"pronouns: {sum(right.values()) / sum(every.values()):.2%} of {sum(every.values())} ({each})")


def minimal_pairs(path: Path) -> Iterator[tuple[int, str, str, str | None]]:
    """Number and sentences of the gender pairs that differ by the swap alone, and the group exchanged in the first one.

    None: both are. A pair in which a group's words are exchanged here and left there is none.
    """
    words = loader.load("gender")
    gendered = {spelling.fold(label): words.groups[group] for label, group in words.labels.items()} | dict(roles.of(words).groups)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            first, second = row["sent_more"].strip(), row["sent_less"].strip()
            if row["bias_type"] != "gender" or first == second:
                continue
            a, b = WORD.findall(first), WORD.findall(second)
            if len(a) != len(b):
                continue
            both = [(_stem(x.lower()), _stem(y.lower())) for x, y in zip(a, b, strict=True)]
            differ = [(gendered.get(x), gendered.get(y)) for x, y in both if x != y]
            if not differ or any(x is None or y is None or x == y for x, y in differ):
                continue
            stay = {gendered[x] for x, y in both if x == y and x in gendered}
            went = {x for x, _ in differ}
            if not stay & went:
                yield int(row[""]), first, second, went.pop() if len(went) == 1 else None


def _has(said: str, wanted: str, source: str) -> bool:
    """Whether a word of the source group stays the same in both sentences."""
    words = loader.load("gender")
    group = words.groups.index(source)
    same = [_stem(x.lower()) for x, y in zip(WORD.findall(said), WORD.findall(wanted), strict=True) if x.lower() == y.lower()]
    return any(words.labels.get(word) == group for word in same)


def _stem(word: str) -> str:
    return re.sub(r"['’](?:s|d|ll|ve|re)?$", "", word)


def crows(path: Path, errors: bool) -> None:
    lists = [loader.load("gender")]
    for split, parity in (("dev", 0), ("report", 1)):
        counts: Counter[str] = Counter()
        for number, first, second, group in minimal_pairs(path):
            if number % 2 != parity:
                continue
            other = None if group is None else next(each for each in lists[0].groups if each != group)
            for said, wanted, source in ((first, second, group), (second, first, other)):
                if source is not None and _has(said, wanted, source):
                    continue  # the way back is no swap of one group alone
                result = rewrite(said, lists, "gender", source=source)
                kind = "exact" if result.text == wanted else "left" if result.text == said else "other"
                counts[kind] += 1
                if errors and split == "dev" and kind != "exact":
                    reasons = {bar.reason for each in result.sets for bar in each.barred}
                    print(f"  {kind} {reasons or ''}\n    {said}\n    {result.text}\n    {wanted}")
        total = sum(counts.values())
        changed = total - counts["left"]
        print(
            f"CrowS-Pairs {split}: {total} sentences, exact {counts['exact'] / total:.1%}, exact among changed "
            f"{counts['exact'] / max(changed, 1):.1%}, left {counts['left'] / total:.1%}"
        )


def answered(path: Path, method: Method, errors: bool) -> None:
    """Figures of a file of sentences with answers, by split, stratum and attribute.

    Where the file says so itself (key «leave»), or the attribute has more than two groups, one group is exchanged for the
    target; else both ways.
    """
    with path.open(encoding="utf-8") as file:
        rows: list[dict[str, Any]] = [json.loads(line) for line in file]
    lists = {name: loader.load(name) for name in {row["attribute"] for row in rows}}
    outcomes: dict[tuple[str, str, str], list[Outcome]] = {}
    for row in rows:
        outcome = judged(row, lists[row["attribute"]], method, errors and row["split"] == "dev")
        outcomes.setdefault((row["split"], row.get("stratum", "all"), row["attribute"]), []).append(outcome)
    for (split, stratum, name), own in sorted(outcomes.items()):
        columns = np.array(own, float)
        right, changed, correct, due, left = columns.sum(axis=0)
        print(
            f"{path.stem} {split} {stratum} {name} {method}: {len(own)} sentences, right {interval(columns[:, 0])}; changed "
            f"{changed:.0f}, correct among them {correct:.0f} ({interval(columns[:, 2], columns[:, 1])}); barred wrongly "
            f"{left:.0f} of {due:.0f} ({interval(columns[:, 4], columns[:, 3])}); right in all {right:.0f}"
        )


def examined(path: Path) -> None:
    """Figures of the examination, by split and attribute."""
    with path.open(encoding="utf-8") as file:
        rows: list[dict[str, Any]] = [json.loads(line) for line in file]
    lists = {name: loader.load(name) for name in sorted({row["attribute"] for row in rows})}
    outcomes: dict[tuple[str, str], list[Outcome]] = {}
    for row in rows:
        words, text = lists[row["attribute"]], row["text"]
        results = [rewrite(text, [words], row["attribute"], source=row["from"], target=row["to"]).text]
        if len(words.groups) == 2:
            results.append(rewrite(text, [words], row["attribute"]).text)
        right = any(result in row["answers"] for result in results)
        changed = results[0] != text
        outcome = Outcome(right, changed, changed and right, not row["leave"], not row["leave"] and not changed and not right)
        outcomes.setdefault((row["split"], row["attribute"]), []).append(outcome)
    for (split, name), own in sorted(outcomes.items()):
        columns = np.array(own, float)
        _, changed, correct, due, left = columns.sum(axis=0)
        print(
            f"{path.stem} {split} {name}: {len(own)} texts, right {interval(columns[:, 0])}; changed {changed:.0f}, correct "
            f"among them {correct:.0f} ({interval(columns[:, 2], columns[:, 1])}); barred wrongly {left:.0f} of {due:.0f}"
        )


class Outcome(NamedTuple):
    """What became of a sentence: each 0 or 1."""

    right: bool
    changed: bool
    changed_correctly: bool
    to_change: bool
    barred_wrongly: bool


def judged(row: dict[str, Any], words: WordList, method: Method, errors: bool) -> Outcome:
    """Rewrite a sentence in its context and compare it with the answers."""
    said = row["before"] + row["sentence"] + row["after"]
    one_way = "leave" in row or len(words.groups) > 2
    ways = {"source": row["group"], "target": row["target"]} if one_way else {}
    result = rewrite(said, [words], row["attribute"], method, **ways)
    first, last = len(row["before"]), len(row["before"]) + len(row["sentence"])
    shift = sum(len(e.replacement) - (e.end - e.start) for e in result.edits if e.end <= first)
    growth = sum(len(e.replacement) - (e.end - e.start) for e in result.edits if e.start >= last)
    got = result.text[first + shift : len(result.text) - len(row["after"]) - growth]
    changed = got != row["sentence"]
    right = got in row["answers"] if changed else None in row["answers"]
    if errors and not right:
        reasons = [bar.reason for each in result.sets for bar in each.barred]
        print(f"  {row['attribute']} {reasons}", f"[{row['before'][-200:]}]", row["sentence"], got, row["answers"], sep="\n    ")
    return Outcome(right, changed, changed and right, None not in row["answers"], not changed and not right)


def interval(hits: npt.NDArray[np.float64], of: npt.NDArray[np.float64] | None = None) -> str:
    """A share with its 95 % interval by bootstrap over sentences (2,000 samples, fixed seed)."""
    of = np.ones_like(hits) if of is None else of
    if not of.sum():
        return "none"
    drawn = np.random.default_rng(1).integers(0, len(hits), (2000, len(hits)))
    below = of[drawn].sum(axis=1)
    shares = hits[drawn].sum(axis=1)[below > 0] / below[below > 0]
    low, high = np.percentile(shares, (2.5, 97.5))
    return f"{hits.sum() / of.sum():.1%}, {low:.0%} to {high:.0%}"


def speed(path: Path) -> None:
    documents = []
    size = 0
    for text in texts(path):
        documents.append(text)
        size += len(text.encode())
        if size > 3 << 20:
            break
    for name in loader.SHIPPED:
        words = loader.load(name)
        finder = LabelFinder([words])
        substituter = Substituter([words], name)
        spent = 0.0
        kinds: Counter[str] = Counter()
        for text in documents:
            found = finder.find_all(text)
            starts = uncut(bounds(text), found).tolist()
            sentences = list(pairwise([*starts, len(text)]))
            mentions = finder.named(found)
            began = time.perf_counter()
            proposed = substituter.propose(text, sentences, mentions)
            spent += time.perf_counter() - began
            for each in proposed:
                kinds["sets"] += 1
                kinds["eligible"] += substituter.eligible(each)
        print(
            f"speed {name}: {size / spent / 1e6:.1f} MB/s of documents ({size / 1e6:.1f} MB in {spent:.2f} s), "
            f"{kinds['sets']} sets, {kinds['eligible'] / max(kinds['sets'], 1):.0%} eligible"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ewt", type=Path, help="UD English EWT dev, CoNLL-U, gzip")
    parser.add_argument("--crows", type=Path, help="CrowS-Pairs, CSV")
    parser.add_argument("--speed", type=Path, help="documents, JSON lines, gzip")
    parser.add_argument("--more", type=Path, nargs="*", default=[], help="more sentences with answers, JSON lines")
    parser.add_argument("--errors", action="store_true", help="print the errors of the development halves")
    args = parser.parse_args()
    if args.ewt:
        pronoun_accuracy(args.ewt)
    if args.crows:
        crows(args.crows, args.errors)
    for path in EXAMS:
        examined(path)
    for path in (GOLD, *args.more):
        answered(path, "gc", args.errors)
        answered(path, "base", False)
    if args.speed:
        speed(args.speed)


if __name__ == "__main__":
    main()
