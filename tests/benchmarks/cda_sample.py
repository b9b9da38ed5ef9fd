"""Draws sentences that annotators label for the fresh counterfactual set: python
tests/benchmarks/cda_sample.py CORPUS --without GOLD

A unit is a sentence with one attribute of which it names a label, and one group of those named.
Strata are attribute by source. A document gives an attribute one sentence at most, and documents of
the older set are left out, so that nothing in this set was seen before. A second, smaller draw is
from sentences with a noun for a person («teenagers», not «minor»; «girl», not «he»), since most
sentences of the first draw must stay as they are and say little about changes. The draws are marked
(«all», «persons») and must be reported separately.

Prints JSON lines without answers: annotators give them, see tests/data/cda_README.md.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from pathlib import Path

from evenflow.transforms.labels.finder import LabelFinder, Mention
from evenflow.transforms.text.sentences import bounds, trimmed
from evenflow.wordlists.loader import SHIPPED, load

SEED = 20261121
# Corpus part -> source as stratified: both collections of presidential speeches are one.
SOURCES = {
    "inaugural": "speeches",
    "state_union": "speeches",
    "abc": "news",
    "movie_reviews": "movie_reviews",
    "reddit": "reddit",
}
# Sentences drawn for each attribute and source, 80 an attribute: even where the corpus allows it,
# and no stratum above what it holds (speeches and news name a religion in few documents).
DRAWN = {
    "gender": {"movie_reviews": 26, "reddit": 26, "news": 16, "speeches": 12},
    "age": {"movie_reviews": 22, "reddit": 26, "news": 20, "speeches": 12},
    "religion": {"movie_reviews": 20, "reddit": 44, "news": 10, "speeches": 6},
}
# Labels of the second draw: common nouns and adjectives for people of an age or gender, without
# kinship, titles, words for infants and words that mostly have another sense.
PERSONS = {
    "gender": (
        "boy boys girl girls guy guys man men woman women lady ladies waitress waiter heroine"
        " businessman businesswoman policeman policewoman gunman priest priests nun nuns widow"
        " widower schoolgirl schoolboy male female males females"
    ),
    "age": (
        "teenager teenagers youth youths elderly adolescent adolescents elder elders boomer boomers"
        " millennial millennials freshman freshmen sophomore sophomores preteen preteens"
        " middle-aged pensioner pensioners retiree retirees septuagenarian octogenarian old-timer"
        " old-timers geezer curmudgeon youthful thirtysomething underage"
    ),
}
# Two batches: the first was found to hold few sentences to change.
DRAWN_PERSONS = ({"gender": 30, "age": 40}, {"gender": 40, "age": 80})
# Longer «sentences» are lists and tables without stops, which nobody can rewrite by hand with care
# (characters).
LONGEST = 500
# Sentences of context before and after, and their most characters on either side.
BEFORE, AFTER, CONTEXT = 2, 1, 600


@dataclass(frozen=True)
class Unit:
    """A sentence to rewrite from one group to another.

    source: corpus part and document id. stratum: the draw, all or persons. start: offset of the
    sentence in the document, in characters. label: the first mention of the group in the sentence.
    before, after: the text around it; before + sentence + after is contiguous.
    """

    attribute: str
    source: str
    split: str
    stratum: str
    start: int
    label: str
    group: str
    target: str
    before: str
    sentence: str
    after: str


def units(
    document: Mapping[str, str],
    mentions: Sequence[Mention],
    draw_from: str,
    groups: Mapping[str, tuple[str, ...]],
    generator: random.Random,
) -> Iterator[Unit]:
    """All units of a document with these mentions; of several groups in a sentence one is drawn,
    and so is the target.
    """
    text = document["text"]
    spans = trimmed(text, bounds(text).tolist()) if mentions else []
    for index, (start, end) in enumerate(spans):
        if end - start > LONGEST:
            continue
        named: dict[str, dict[str, Mention]] = {}
        for mention in mentions:
            if start <= mention.start < end:
                named.setdefault(mention.attribute, {}).setdefault(mention.group, mention)
        for attribute, first in named.items():
            group = generator.choice(sorted(first))
            target = generator.choice([other for other in groups[attribute] if other != group])
            begin = spans[max(0, index - BEFORE)][0]
            stop = spans[min(len(spans) - 1, index + AFTER)][1]
            yield Unit(
                attribute=attribute,
                source=f"{document['source']}:{document['id']}",
                split="report",
                stratum=draw_from,
                start=start,
                label=first[group].label,
                group=group,
                target=target,
                before=text[max(begin, start - CONTEXT) : start],
                sentence=text[start:end],
                after=text[end : min(stop, end + CONTEXT)],
            )


def frame(
    documents: Iterable[Mapping[str, str]],
    without: Set[str],
    wanted: Mapping[str, Set[str]] | None,
    generator: random.Random,
) -> list[Unit]:
    """One unit a document and attribute, each distinct sentence once, in the corpus's order.

    without: documents that are left out, as «source:id». wanted: the labels that count, by
    attribute; None: all.
    """
    lists = [load(name) for name in SHIPPED]
    finder = LabelFinder(lists)
    groups = {words.attribute: tuple(words.groups) for words in lists}
    seen: set[str] = set()
    drawn: list[Unit] = []
    for document in documents:
        if f"{document['source']}:{document['id']}" in without:
            continue
        mentions = finder.find(document["text"])
        if wanted is not None:
            mentions = [
                mention
                for mention in mentions
                if mention.label in wanted.get(mention.attribute, ())
            ]
        by_attribute: dict[str, list[Unit]] = {}
        for unit in units(
            document, mentions, "all" if wanted is None else "persons", groups, generator
        ):
            by_attribute.setdefault(unit.attribute, []).append(unit)
        for own in by_attribute.values():
            unit = generator.choice(own)
            key = " ".join(unit.sentence.casefold().split())
            if key not in seen:
                seen.add(key)
                drawn.append(unit)
    return drawn


def draw(
    units_: list[Unit], drawn: Mapping[str, Mapping[str, int]], generator: random.Random
) -> list[Unit]:
    """The sample, attribute by attribute, shuffled within. A stratum with too few units gives all,
    reddit the rest.
    """
    sample: list[Unit] = []
    for attribute, quotas in drawn.items():
        own = [unit for unit in units_ if unit.attribute == attribute]
        generator.shuffle(own)
        chosen: list[Unit] = []
        for source, count in quotas.items():
            chosen += [unit for unit in own if SOURCES[unit.source.split(":")[0]] == source][:count]
        missing = sum(quotas.values()) - len(chosen)
        taken = {unit.source for unit in chosen}
        chosen += [
            unit for unit in own if unit.source.startswith("reddit:") and unit.source not in taken
        ][:missing]
        generator.shuffle(chosen)
        sample += chosen
    return sample


def read(path: Path) -> Iterator[dict[str, str]]:
    """Documents of a JSON lines file, plain or gzip: id, source, text."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def persons(
    documents: Iterable[Mapping[str, str]],
    without: Set[str],
    drawn: Mapping[str, int],
    generator: random.Random,
) -> list[Unit]:
    """A batch of the second sample: sentences with a noun for a person, from the whole corpus
    alike.
    """
    wanted = {attribute: frozenset(labels.split()) for attribute, labels in PERSONS.items()}
    found = frame(documents, without, wanted, generator)
    sample: list[Unit] = []
    for attribute, count in drawn.items():
        own = [unit for unit in found if unit.attribute == attribute]
        sample += generator.sample(own, min(count, len(own)))
    return sample


def main() -> None:
    """Prints the samples as JSON lines, the larger one first."""
    parser = argparse.ArgumentParser(
        description="Draw the sentences of the fresh counterfactual set."
    )
    parser.add_argument("documents", type=Path, help="JSON lines, plain or gzip: id, source, text")
    parser.add_argument(
        "--without", type=Path, help="JSON lines whose «source» names documents to leave out"
    )
    arguments = parser.parse_args()
    without = (
        {line["source"] for line in read(arguments.without)} if arguments.without else set[str]()
    )
    documents = list(read(arguments.documents))
    generator = random.Random(SEED)
    sample = draw(frame(documents, without, None, generator), DRAWN, generator)
    for number, batch in enumerate(DRAWN_PERSONS, 1):
        taken = without | {unit.source for unit in sample}
        sample += persons(documents, taken, batch, random.Random(SEED + number))
    for unit in sample:
        sys.stdout.write(json.dumps(asdict(unit), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
