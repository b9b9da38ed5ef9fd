"""Measures the judge of exchanges on documents that were labelled by reading them whole.

    # documents kept for the report, of the kinds of text that the reader learnt from
    python tests/benchmarks/exchange.py
    # and of kinds that it did not learn from, whose texts do not ship
    python tests/benchmarks/exchange.py --texts CORPUS.jsonl.gz …
    # by sentence: the rows of exchange_sentences.jsonl in documents kept for the report
    python tests/benchmarks/exchange.py --sentences
    # what the graph for batches, which a GPU runs, says else than that for a CPU, both on a CPU
    python tests/benchmarks/exchange.py --batches

An exchange counts as right if everybody whom it names may change in this document and nobody is
changed by half, where all that are made change (`exchange_figures.JudgedSet`). Recall is of all
mentions that may change.
Labels are those of language models. Intervals are Wilson's, 95 %, of areas by a bootstrap over
documents.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from document_labels import documents as documents_of
from document_labels import passages
from figures import share
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from evenflow.pipelines.lab.train.exchange_figures import (
    SENTENCES,
    JudgedSet,
    SetJudge,
    right_sentences,
)
from evenflow.transforms.lab.training import labelled
from evenflow.transforms.lab.training.labelled import Labelled
from evenflow.transforms.models import cuts, files
from evenflow.transforms.models.reader import Reader
from evenflow.transforms.models.static import FirstStage
from evenflow.transforms.substitution import reading
from evenflow.transforms.substitution.counterfactuals import rewrite
from evenflow.wordlists.loader import load

DATA = Path(__file__).parent.parent / "data"
PRECISION = 0.8  # the default of `repair.target_precision`
DRAWS = 300  # bootstrap samples of documents
CUTS = (0.5, 0.7, 0.8)  # probabilities of the table of precision


def texts(corpora: Sequence[Path]) -> dict[str, str]:
    """Texts by their SHA-256: of whole documents and of their passages."""
    out: dict[str, str] = {}
    for path in corpora:
        for _, identity, text in documents_of(path):
            for start, end in passages(identity, text):
                passage = text[start:end]
                out[hashlib.sha256(passage.encode()).hexdigest()] = passage
    return out


def show(title: str, documents: Sequence[Labelled], judge: SetJudge, reader: Reader) -> None:
    """Print the figures of some documents, together and by source."""
    judged = judge.judge(documents)
    wanted, cut = right_mentions(documents), cut_of(reader)
    print(f"## {title}: {len({each.document for each in documents})} documents\n")
    print("\n".join(areas(judged)), "\n")
    print("\n".join(table(judged, wanted, sorted({*CUTS, cut}))), "\n")
    by_source: dict[str, dict[Any, bool]] = {}
    for each in judged:
        if each.attribute == "gender" and each.probability >= cut:
            for source in (each.source.split("-")[0], "all"):
                by_source.setdefault(source, {})[each.key] = each.until >= cut
    for source, own in sorted(by_source.items()):
        print(f"gender, {source}, from {cut}: {share(sum(own.values()), len(own))}")
    print()


def cut_of(reader: Reader) -> float:
    """The probability from which gender is exchanged by default."""
    found = cuts.cut("gender", PRECISION, about=reader.about)
    return 1.0 if found is None else found.probability


def right_mentions(documents: Iterable[Labelled]) -> Counter[str]:
    """Count by attribute the mentions that may change."""
    out: Counter[str] = Counter()
    for each in documents:
        out[each.attribute] += sum(len(one.mentions) for one in each.meant if one.right)
    return out


def table(judged: Sequence[JudgedSet], wanted: Counter[str], steps: Sequence[float]) -> list[str]:
    """Write precision and recall by attribute and cut."""
    out = [
        "| attribute | from | right and whole, of those made | persons changed whole |"
        " documents without a wrong change | mentions done, of those that may change |",
        "|---|---|---|---|---|---|",
    ]
    for attribute in dict.fromkeys(each.attribute for each in judged):
        for cut in steps:
            made = {
                each.key: each
                for each in judged
                if each.attribute == attribute and each.probability >= cut
            }
            good = [each for each in made.values() if each.until >= cut]
            whole = {
                (each.number, person): until >= cut
                for each in made.values()
                for person, until in each.whole.items()
            }
            changed = {each.document for each in made.values()}
            bad = {each.document for each in made.values() if each not in good}
            done = len({(each.number, at) for each in good for at in each.mentions})
            out.append(
                f"| {attribute} | {cut:.2f} | {share(len(good), len(made))} |"
                f" {share(sum(whole.values()), len(whole))} |"
                f" {share(len(changed - bad), len(changed))} |"
                f" {share(done, wanted[attribute])} |"
            )
    return out


def by_sentence(documents: Iterable[Labelled], judge: SetJudge, reader: Reader) -> None:
    """Print how many labelled exchanges are right by sentence, and by document, by cut."""
    said = right_sentences(DATA / SENTENCES)
    named = {key[:2] for key in said}
    judged = judge.judge(of for of in documents if (of.number, of.attribute) in named)
    found = {each.key: each for each in judged}
    for attribute in dict.fromkeys(key[1] for key in said):
        own = [(found[key], said[key]) for key in found if key in said and key[1] == attribute]
        for cut in cuts.cuts(attribute, "sentence", reader.about):
            made = [row for row in own if row[0].probability >= cut.probability]
            document = sum(row[0].until >= cut.probability for row in made)
            sentence = sum(row[1] for row in made)
            print(
                f"{attribute}, from {cut.probability} (chosen by {cut.share}): by sentence"
                f" {share(sentence, len(made))}, by document {share(document, len(made))}"
            )


def batches(documents: Sequence[Labelled], alone: Reader) -> None:
    """Print how far what is said of mentions in batches is from what is said of them alone."""
    together = Reader(files.SHIPPED, batches=True)
    found = [together.read(each.text, each.places) for each in documents]
    together.read_ahead((each, at) for each in found for at in range(len(each.places)))
    apart = [
        abs(said.right - one.said(at).right)
        for each in found
        for one in [alone.read(each.text, each.places)]
        for at, said in each.known.items()
    ]
    print(f"{len(apart):,} mentions: logits differ by {max(apart):g} at most")


def area_between(
    scores: NDArray[Any], true: NDArray[Any], documents: Sequence[str]
) -> tuple[float, float]:
    """The 95 % interval of the area, by a bootstrap over documents."""
    _, codes = np.unique(np.asarray(documents), return_inverse=True)
    groups = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
    rng = np.random.default_rng(0)
    draws: list[float] = []
    for _ in range(DRAWS):
        at = np.concatenate([groups[code] for code in rng.integers(0, len(groups), len(groups))])
        draws.append(roc_auc_score(true[at], scores[at]))
    low, high = np.nanquantile(draws, [0.025, 0.975])
    return float(low), float(high)


def areas(judged: Sequence[JudgedSet]) -> list[str]:
    """Write the area under the curve by attribute."""
    out: list[str] = []
    for attribute in dict.fromkeys(each.attribute for each in judged):
        own = [each for each in judged if each.attribute == attribute]
        true = np.array([each.until >= each.probability for each in own])
        names = [each.document for each in own]
        scores = np.array([each.probability for each in own])
        low, high = area_between(scores, true, names)
        out.append(
            f"{attribute}: n {len(true)}, right {true.mean():.3f},"
            f" area {roc_auc_score(true, scores):.3f} [{low:.3f}, {high:.3f}]"
        )
    return out


def winogender(path: Path) -> Iterator[tuple[str, str]]:
    """Pairs of sentences that differ in the gender of one unnamed person."""
    rows = dict(line.split("\t") for line in path.read_text("utf-8").splitlines()[1:])
    for name, sentence in rows.items():
        for one, other in ((".male.", ".female."), (".female.", ".male.")):
            if one in name:
                yield sentence, rows[name.replace(one, other)]


def plain_texts(pairs: Sequence[tuple[str, str]], judge: reading.DocumentJudge, cut: float) -> str:
    """How many sentences change, and how many of these into the other form."""
    lists = [load("gender")]
    changed = right = 0
    for sentence, other in pairs:
        found = rewrite(sentence, lists, "gender", min_probability=cut, judge=judge).text
        changed += found != sentence
        right += found == other != sentence
    return f"changed {share(changed, len(pairs))}; of these rightly {share(right, changed)}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=Path, default=files.SHIPPED, help="the reader's folder")
    parser.add_argument("--data", type=Path, default=DATA / labelled.FILE)
    parser.add_argument("--texts", type=Path, nargs="*", default=[], help="corpora of the texts")
    parser.add_argument("--sentences", action="store_true", help="figures by sentence alone")
    parser.add_argument("--batches", action="store_true", help="what batches change alone")
    parser.add_argument("--write", type=Path, help="file of the texts kept for the report")
    args = parser.parse_args()
    reader, first = Reader(args.models), FirstStage.shipped()
    documents = labelled.read(args.data, texts(args.texts))
    kept = labelled.part(documents, labelled.REPORT)
    if args.write:
        texts_of = {each.document: each.text for each in kept}.items()
        rows = [json.dumps({"id": name, "text": text}) for name, text in texts_of]
        args.write.write_text("\n".join(rows), encoding="utf-8")
        return
    judge, cut = SetJudge(reader, first), cut_of(reader)
    if args.batches:
        batches(kept, reader)
        return
    if args.sentences:
        by_sentence(kept, judge, reader)
        return
    show("Documents kept for the report", kept, judge, reader)
    if unseen := labelled.part(documents, labelled.UNSEEN):
        show("Kinds of text that were not learnt from", unseen, judge, reader)
    own = reading.DocumentJudge(reader, lambda _: cut)
    print("Winogender:", plain_texts(list(winogender(DATA / "winogender.tsv")), own, cut))


if __name__ == "__main__":
    main()
