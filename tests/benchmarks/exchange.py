"""Measures the judge of exchanges on documents that were labelled by reading them whole.

    # documents kept for the report, of the kinds of text that the reader learnt from
    python tests/benchmarks/exchange.py
    # and of kinds that it did not learn from, whose texts do not ship
    python tests/benchmarks/exchange.py --texts CORPUS.jsonl.gz …
    # by sentence: the rows of exchange_sentences.jsonl in documents kept for the report
    python tests/benchmarks/exchange.py --sentences
    # ablations: sets are not joined; mentions may stay; sets of the windows of before
    python tests/benchmarks/exchange.py --ablations

An exchange counts as right if everybody whom it names may change in this document and nobody is
changed by half: all mentions of each person change. Recall is of all mentions that may change.
Labels are those of language models. Intervals are Wilson's, 95 %, of areas by a bootstrap over
documents.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import time
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

from evenflow.pipelines.lab.train.exchange_figures import JudgedSet, SetJudge
from evenflow.transforms.lab.training import labelled
from evenflow.transforms.lab.training.labelled import Labelled
from evenflow.transforms.models import files
from evenflow.transforms.models.reader import Reader
from evenflow.transforms.models.static import FirstStage
from evenflow.transforms.substitution import reading
from evenflow.transforms.substitution.counterfactuals import rewrite
from evenflow.wordlists.loader import load

DATA = Path(__file__).parent.parent / "data"
PRECISION = 0.8  # the default of `repair.target_precision`
SENTENCES = "exchange_sentences.jsonl"
DRAWS = 300  # bootstrap samples of documents
BRACKET = re.compile(r"\[(.*?)\]")
CUTS = (0.5, 0.6, 0.7, 0.8, 0.9)  # probabilities of the table of precision


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
    begin = time.process_time()
    judged = judge.judge(documents)
    speed = sum(len(each.text) for each in documents) / (time.process_time() - begin) / 1e6
    chances = [reader.calibrated(each.attribute, each.logit, each.stay) for each in judged]
    wanted = right_mentions(documents)
    names = {each.document for each in documents}
    print(f"## {title}: {len(names)} documents\n")
    print(f"{speed:.3f} MB of text a second and core, all sets\n")
    print("\n".join(areas(judged, chances)), "\n")
    print("\n".join(table(judged, chances, wanted)), "\n")
    cut = reader.cut("gender", PRECISION)
    by_source: dict[str, list[tuple[JudgedSet, float]]] = {}
    for each, chance in zip(judged, chances, strict=True):
        if each.attribute == "gender" and chance >= cut:
            by_source.setdefault(each.source.split("-")[0], []).append((each, chance))
    for source, own in sorted(by_source.items()):
        good = sum(each.right and each.whole for each, _ in own)
        print(f"gender, {source}, from {cut}: {share(good, len(own))}")
    print()


def right_mentions(documents: Iterable[Labelled]) -> Counter[str]:
    """Count by attribute the mentions that may change."""
    out: Counter[str] = Counter()
    for each in documents:
        out[each.attribute] += sum(len(one.mentions) for one in each.meant if one.right)
    return out


def table(
    judged: Sequence[JudgedSet],
    chances: Sequence[float],
    wanted: Counter[str],
    cuts: Sequence[float] = CUTS,
) -> list[str]:
    """Write precision and recall by attribute and cut."""
    out = [
        "| attribute | from | right and whole, of those made | documents without a wrong change |"
        " mentions done, of those that may change |",
        "|---|---|---|---|---|",
    ]
    for attribute in dict.fromkeys(each.attribute for each in judged):
        own = [
            (each, chance)
            for each, chance in zip(judged, chances, strict=True)
            if each.attribute == attribute
        ]
        for cut in cuts:
            made = {(each.document, each.mentions): each for each, chance in own if chance >= cut}
            good = [each for each in made.values() if each.right and each.whole]
            changed = {document for document, _ in made}
            bad = {each.document for each in made.values() if each not in good}
            done = len({(each.document, at) for each in good for at in each.mentions})
            out.append(
                f"| {attribute} | {cut:.2f} | {share(len(good), len(made))} |"
                f" {share(len(changed - bad), len(changed))} |"
                f" {share(done, wanted[attribute])} |"
            )
    return out


def by_sentence(documents: Iterable[Labelled], judge: SetJudge, reader: Reader) -> None:
    """Print how many labelled exchanges are right by sentence, and by document, by cut."""
    said: dict[tuple[int, str, tuple[int, ...]], bool] = {}
    for line in (DATA / SENTENCES).read_text("utf-8").splitlines():
        row = json.loads(line)
        said[row["number"], row["attribute"], tuple(row["mentions"])] = row["sentence"]
    numbers = {(number, attribute) for number, attribute, _ in said}
    rows: dict[str, dict[tuple[int, tuple[int, ...]], tuple[float, bool, bool]]] = {}
    for of in documents:
        for each in judge.judge([of] if (of.number, of.attribute) in numbers else []):
            key = of.number, of.attribute, each.mentions
            if key in said:
                chance = reader.calibrated(each.attribute, each.logit, each.stay)
                found = chance, said[key], each.right and each.whole
                rows.setdefault(of.attribute, {})[of.number, each.mentions] = found
    for attribute, own in rows.items():
        for cut in (0.01, 0.05, 0.15, 0.3, 0.5):
            made = [each for each in own.values() if each[0] >= cut]
            sentence, document = sum(each[1] for each in made), sum(each[2] for each in made)
            print(
                f"{attribute}, from {cut}: by sentence {share(sentence, len(made))},"
                f" by document {share(document, len(made))}"
            )


def area_between(
    chances: NDArray[Any], true: NDArray[Any], documents: Sequence[str]
) -> tuple[float, float]:
    """The 95 % interval of the area, by a bootstrap over documents."""
    _, codes = np.unique(np.asarray(documents), return_inverse=True)
    groups = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
    rng = np.random.default_rng(0)
    draws: list[float] = []
    for _ in range(DRAWS):
        at = np.concatenate([groups[code] for code in rng.integers(0, len(groups), len(groups))])
        draws.append(roc_auc_score(true[at], chances[at]))
    low, high = np.nanquantile(draws, [0.025, 0.975])
    return float(low), float(high)


def areas(judged: Sequence[JudgedSet], chances: Sequence[float]) -> list[str]:
    """Write the area under the curve by attribute: reader, first stage."""
    out: list[str] = []
    for attribute in dict.fromkeys(each.attribute for each in judged):
        at = [n for n, each in enumerate(judged) if each.attribute == attribute]
        true = np.array([judged[n].right and judged[n].whole for n in at])
        names = [judged[n].document for n in at]
        for title, values in (
            ("reader", [chances[n] for n in at]),
            ("first stage", [judged[n].first for n in at]),
        ):
            scores = np.array(values)
            low, high = area_between(scores, true, names)
            out.append(
                f"{attribute} {title}: n {len(true)}, right {true.mean():.3f},"
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


def winobias(path: Path) -> Iterator[tuple[str, str | None]]:
    """Sentences of WinoBias; the other form is not known for her and his."""
    other = {"he": "she", "she": "he", "him": "her", "his": "her"}
    for line in path.read_text("utf-8").splitlines():
        words = BRACKET.findall(line)
        plain = BRACKET.sub(r"\1", line)
        new = other.get(words[-1].lower())
        changed = None if new is None else f"[{new}]".join(line.rsplit(f"[{words[-1]}]", 1))
        yield plain, changed and BRACKET.sub(r"\1", changed)


def plain_texts(
    pairs: Sequence[tuple[str, str | None]], judge: reading.DocumentJudge, cut: float
) -> str:
    """How many sentences change, and how many of these into the other form."""
    lists = [load("gender")]
    changed = right = known = 0
    for sentence, other in pairs:
        found = rewrite(sentence, lists, "gender", min_probability=cut, judge=judge).text
        changed += found != sentence
        if other is not None and found != sentence:
            known += 1
            right += found == other
    return f"changed {share(changed, len(pairs))}; of these rightly {share(right, known)}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=Path, default=files.SHIPPED, help="the reader's folder")
    parser.add_argument("--data", type=Path, default=DATA / labelled.FILE)
    parser.add_argument("--texts", type=Path, nargs="*", default=[], help="corpora of the texts")
    parser.add_argument("--winobias", type=Path, help="its sentences, a line each")
    parser.add_argument("--ablations", action="store_true")
    parser.add_argument("--sentences", action="store_true", help="figures by sentence alone")
    args = parser.parse_args()
    reader, first = Reader(args.models), FirstStage.shipped()
    documents = labelled.read(args.data, texts(args.texts))
    kept = labelled.part(documents, labelled.REPORT)
    judge = SetJudge(reader, first)
    if args.sentences:
        by_sentence(kept, judge, reader)
        return
    show("Documents kept for the report", kept, judge, reader)
    if unseen := labelled.part(documents, labelled.UNSEEN):
        show("Kinds of text that were not learnt from", unseen, judge, reader)
    if args.ablations:
        show("Sets are not joined", kept, SetJudge(reader, first, joins=False), reader)
    own, cut = reading.DocumentJudge(reader), reader.cut("gender", PRECISION)
    print("Winogender:", plain_texts(list(winogender(DATA / "winogender.tsv")), own, cut))
    if args.winobias:
        print("WinoBias:", plain_texts(list(winobias(args.winobias)), own, cut))


if __name__ == "__main__":
    main()
