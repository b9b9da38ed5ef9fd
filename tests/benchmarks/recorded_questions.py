"""Draws the questions that the language model's tier asks of documents that nothing learnt from.

    python tests/benchmarks/recorded_questions.py FOLDER --texts CORPUS …

Rows with labels go to tests/data/recorded_answers.jsonl.gz (recorded_answers_README.md), and what a
reader sees to FOLDER. The questions are those that the steps send.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from document_labels import SEED, documents, hashed
from recorded_judge import ask, write
from stereotype_documents import DOCUMENTS, attributes, placed
from stereotype_documents import documents as kept_documents
from stereotype_examples import REAL, SHIPPED, Copies, read
from stereotype_training import labelled as read_singly

from evenflow.pipelines.lab.train.exchange_figures import Finder
from evenflow.schemas.config import load as configured
from evenflow.transforms.lab.training import labelled
from evenflow.transforms.labels.finder import LabelFinder, uncut
from evenflow.transforms.llm.judges import LlmJudge, show_passage
from evenflow.transforms.llm.questions import Answer, Question
from evenflow.transforms.measures.stereotypes import detect, llm_detector, llm_scorer
from evenflow.transforms.measures.stereotypes.judging import StereotypeJudge
from evenflow.transforms.measures.stereotypes.masking import mask
from evenflow.transforms.models.static import FirstStage
from evenflow.transforms.staging.sentence_table import Relevant
from evenflow.transforms.substitution import reading
from evenflow.transforms.substitution.counterfactuals import chooser
from evenflow.transforms.substitution.judges import Asked
from evenflow.transforms.substitution.substituter import Substituter
from evenflow.transforms.text.sentences import bounds, sentences, trimmed
from evenflow.wordlists.loader import load as word_list

Row = dict[str, Any]
LISTS = [word_list(name) for name in SHIPPED]
BY_ITSELF = ("abc", "movie_reviews")  # whose texts may be quoted, no more
LONGEST = 20_000  # characters of a document without labels
SPEECHES = ("inaugural", "state_union")
# Rows of each kind by stratum: who labelled it, the source, and what the shipped model says
DRAWN = {
    "stereotypes": {
        "whole reddit low": 35, "whole reddit unsure": 60, "whole reddit high": 20,
        "whole chat low": 20, "whole chat unsure": 25, "whole other low": 20,
        "whole other unsure": 20, "single low": 30, "single unsure": 40, "single high": 3,
        "none speech low": 4, "none other low": 23,
    },
    "substitution": {
        "gender reddit": 104, "gender chat": 50, "gender other": 56, "age": 14, "religion": 26,
        "none": 50,
    },
    "indicators": {"whole reddit": 69, "whole chat": 20, "whole other": 11},
}  # fmt: skip


class Recorder:
    """Keeps the questions that it is asked, and answers none."""

    def __init__(self) -> None:
        self.asked: dict[str, Question] = {}

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Keep questions by key."""
        self.asked |= {each.key: each for each in questions}
        return [Answer(None, "fallback", "recorded") for _ in questions]


def row(kind: str, doc: str, source: str, stratum: str, question: Question, **more: Any) -> Row:
    """A question as a row."""
    content = json.loads(question.messages[-1]["content"])
    half = "AB"[hashed(SEED, "recorded", doc.split(":")[0]) % 2]
    about = {"doc": doc, "source": source, "half": half, "stratum": stratum}
    return {"kind": kind, **about, "slots": content, **more}


def about_sentences(
    found: Sequence[tuple[str, str, str, str, Callable[[int, str], Row | None]]],
) -> Iterator[Row]:
    """Rows of detection and scoring.

    `found`: Of each document its name, source, text, who labelled it, and its labels: a function of
    sentence's number and attribute.
    """
    config = configured(None, {"llm.detection": "llm", "llm.indicators": "llm"})
    recorder, own = Recorder(), detect.shipped()
    tiers = llm_detector.tiered(config, recorder), llm_scorer.tiered(config, recorder)
    texts = [
        Relevant(0, text, [(0, len(text))] if who == "single" else sentences(text), ())
        for _, _, text, who, _ in found
    ]
    judge = StereotypeJudge(config, SHIPPED, *tiers, every=True)
    candidates = [each for each in judge.candidates(texts) if not each.before]
    judge.judge(texts, candidates)
    copies = Copies()
    for each in candidates:
        doc, source, text, who, labels = found[each.document]
        start, end = texts[each.document].sentences[each.sentence]
        sentence, about = text[start:end], labels(each.sentence, each.attribute)
        if about is None or copies.has(mask(sentence, each.spans) + f" {each.attribute}"):
            continue
        chance = own.detect([sentence], [each.spans])[0] or 0.0
        first = texts[each.document].sentences[max(0, each.sentence - 1)][0]
        about |= {"spans": each.spans, "chance": chance, "before": text[first:start].strip()}
        band = "low" if chance < detect.UNSURE[0] else "high" if chance > detect.UNSURE[1] else ""
        kind = source if source in ("reddit", "chat") else "other"
        if who == "none":
            kind = "speech" if source in SPEECHES else "other"
        where = who if who == "single" else f"{who} {kind}"
        for name in ("stereotypes", "indicators"):
            asked = llm_detector.about_sentence(name, sentence, each.spans)
            if asked is not None and asked.key in recorder.asked:
                stratum = where if name == "indicators" else f"{where} {band or 'unsure'}"
                yield row(name, doc, source, stratum, asked, **about)


def by_document(each: Row) -> Callable[[int, str], Row | None]:
    """The labels of a document that was read whole: what each sentence says of an attribute."""
    bound = sentences(each["text"])
    at = placed(each["text"], bound, each["stereotypes"])
    one = {(own["sentence"], own["attribute"]): own for own in read("stereotype_labels")}

    def labels(number: int, attribute: str) -> Row:
        start, end = bound[number]
        if (own := one.get((each["text"][start:end], attribute))) is not None:
            return {"label": own["label"], "strength": own["strength"], "read": "single"}
        pairs = zip(each["stereotypes"], at, strict=True)
        lines = [line for line, where in pairs if number in where]
        own = [line[1] for line in lines if attribute in attributes(line[0])]
        other = any(attribute not in attributes(line[0]) for line in lines)
        about = {"label": bool(own), "strength": max(own, default=0)}
        return about | {"other": other, "read": "whole"}

    return labels


def sets_of(each: Any, finder: Finder) -> tuple[list[Any], list[str | None]]:
    """The sets of a document, and where each goes: where its labels say, or anywhere."""
    if each.meant:
        return finder.find(each)
    names = LabelFinder(LISTS)
    every = names.find_all(each.text)
    shown = trimmed(each.text, uncut(bounds(each.text), every).tolist())
    first = FirstStage.shipped()
    found = Substituter(LISTS, each.attribute, first=first).propose(
        each.text, shown, names.named(every)
    )
    return found, list(map(chooser(each.text), found))


def exchanges(found: Sequence[labelled.Labelled]) -> Iterator[Row]:
    """Rows of exchanges."""
    judge, copies, finder = reading.DocumentJudge.shipped(), Copies(), Finder(FirstStage.shipped())
    for of in found:
        name = of.attribute
        # By document age and religion are off
        own = {"repair.standard": "sentence", "repair.target_precision": 0.4}
        config = configured(None, own if name != "gender" else {})
        least, worth = reading.min_probability(config, name), reading.worth_asking(config, name)
        sets, targets = sets_of(of, finder)
        able = [
            (n, target)
            for n, target in enumerate(targets)
            if target is not None and sets[n].confidence >= reading.least(judge, least)
        ]
        if not able:
            continue
        recorder = Recorder()
        [said] = LlmJudge(judge, recorder, "llm", {name: least}, {name: worth}).exchanges(
            [Asked(of.text, sets, able)]
        )
        questions = {each.sentence: each for each in recorder.asked.values()}
        at = {place.start: index for index, place in enumerate(of.places)}
        for (_, target), answer in zip(able, said, strict=True):
            joined = [sets[n] for n in answer.joined]
            question = questions.pop(show_passage(of.text, joined, target) or "", None)
            if question is None or copies.has(question.sentence):
                continue
            about: Row = {"chance": answer.probability, "least": least, "label": None}
            if of.meant:
                gold = {at[each.start] for one in joined for each in one.mentions}
                meant = [of.meant[who] for who in {of.owners[n] for n in gold}]
                about["label"] = all(who.right and gold.issuperset(who.mentions) for who in meant)
            source = of.source.split("-")[0]
            stratum = name if of.meant else "none"
            if stratum == "gender":
                stratum += f" {source if source in ('reddit', 'chat') else 'other'}"
            yield row("substitution", of.document, of.source, stratum, question, **about)


def fresh(corpora: Sequence[Path]) -> Iterator[tuple[str, str, str]]:
    """Documents of some corpora that are in no labelled set: source, name and text."""
    known = {each["id"] for each in labelled_rows()} | {
        each["id"] for name in (*REAL, "stereotype_labels") for each in read(name)
    }
    for path in corpora:
        for source, name, text in documents(path):
            if name not in known and source not in BY_ITSELF:
                yield source, name, text


def labelled_rows() -> list[Row]:
    """The rows of the labelled documents."""
    return [json.loads(line) for line in gzip.decompress(DOCUMENTS.read_bytes()).splitlines()]


def singly(labels: Row, _: int, attribute: str) -> Row | None:
    """The label of a sentence that was read by itself."""
    return dict(labels[attribute]) if attribute in labels else None


def all_rows(corpora: Sequence[Path]) -> Iterator[Row]:
    """All questions."""
    kept, _ = kept_documents()
    found: list[tuple[str, str, str, str, Callable[[int, str], Row | None]]] = [
        (each["id"], each["source"], each["text"], "whole", by_document(each)) for each in kept
    ]
    whole = {each["text"][a:b] for each in kept for a, b in sentences(each["text"])}
    for _, each in read_singly("report"):
        if each["source"] not in BY_ITSELF and each["sentence"] not in whole:
            about = {"label": each["label"], "strength": each["strength"], "read": "single"}
            labels = {each["attribute"]: about}
            found.append(
                (each["id"], each["source"], each["sentence"], "single", partial(singly, labels))
            )
    others = [each for each in fresh(corpora) if len(each[2]) < LONGEST]
    for source, name, text in others:
        found.append((name, source, text, "none", lambda *_: {"label": None}))
    yield from about_sentences(found)
    report = labelled.part(labelled.read(DOCUMENTS), labelled.REPORT)
    plain = [
        labelled.Labelled(0, f"{name}:0", source, "none", "gender", text, (), (), ())
        for source, name, text in others
    ]
    yield from exchanges([*report, *plain])


def draw(rows: Sequence[Row]) -> list[Row]:
    """Draw rows of every stratum, with the number of rows that each stands for."""
    out: list[Row] = []
    rows = sorted(rows, key=lambda each: (each["doc"], json.dumps(each["slots"])))
    for kind, strata in DRAWN.items():
        rng = random.Random(SEED + kind)
        chosen: list[Row] = []
        for stratum, count in strata.items():
            own = [each for each in rows if (each["kind"], each["stratum"]) == (kind, stratum)]
            some = rng.sample(own, min(count, len(own)))
            print(kind, stratum, len(some), "of", len(own))
            chosen += [each | {"weight": round(len(own) / len(some), 3)} for each in some]
        wanted = sum(strata.values()) - len(chosen)
        print(kind, len(chosen), "missing", wanted)
        rng.shuffle(chosen)
        out += chosen
    return [{"n": number, **each} for number, each in enumerate(out, 1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--texts", type=Path, nargs="*", default=[])
    args = parser.parse_args()
    rows = draw(list(all_rows(args.texts)))
    write(rows)
    args.folder.mkdir(parents=True, exist_ok=True)
    ask(rows, args.folder)
    print(Counter((each["kind"], each["half"], each["label"]) for each in rows))


if __name__ == "__main__":
    main()
