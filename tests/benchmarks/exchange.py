"""Measures the judge of exchanges on documents that were labelled by reading them whole.

    # documents kept for the report, of the kinds of text that the reader learnt from
    python tests/benchmarks/exchange.py
    # and of kinds that it did not learn from, whose texts do not ship
    python tests/benchmarks/exchange.py --texts CORPUS.jsonl.gz …
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
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from document_labels import documents as documents_of
from document_labels import passages

from evenflow.pipelines.lab.train import exchange_figures
from evenflow.pipelines.lab.train.exchange_figures import JudgedSet, SetJudge
from evenflow.transforms.lab.training import labelled
from evenflow.transforms.lab.training.evaluate import share
from evenflow.transforms.lab.training.labelled import Labelled
from evenflow.transforms.models import files
from evenflow.transforms.models.reader import Reader
from evenflow.transforms.models.static import FirstStage
from evenflow.transforms.substitution import reading
from evenflow.transforms.substitution.counterfactuals import rewrite
from evenflow.wordlists.loader import load

DATA = Path(__file__).parent.parent / "data"
PRECISIONS = (0.6, 0.7, 0.75, 0.8)  # of `repair.precision`
PRECISION = 0.8  # its default
BRACKET = re.compile(r"\[(.*?)\]")


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
    wanted = exchange_figures.right_mentions(documents)
    names = {each.document for each in documents}
    print(f"## {title}: {len(names)} documents\n")
    print(f"{speed:.3f} MB of text a second and core, all sets\n")
    print("\n".join(exchange_figures.areas(judged, chances)), "\n")
    print("\n".join(exchange_figures.table(judged, chances, wanted)), "\n")
    print("\n".join(first_stage(judged, chances, reader)), "\n")
    cut = reader.cut("gender", PRECISION)
    by_source: dict[str, list[tuple[JudgedSet, float]]] = {}
    for each, chance in zip(judged, chances, strict=True):
        if each.attribute == "gender" and chance >= cut:
            by_source.setdefault(each.source.split("-")[0], []).append((each, chance))
    for source, own in sorted(by_source.items()):
        good = sum(each.right and each.whole for each, _ in own)
        print(f"gender, {source}, from {cut}: {share(good, len(own))}")
    print()


def first_stage(
    judged: Sequence[JudgedSet], chances: Sequence[float], reader: Reader
) -> Iterator[str]:
    """What the first stage asks about, by the precision that is wanted of gender."""
    both = [pair for pair in zip(judged, chances, strict=True) if pair[0].attribute == "gender"]
    for wanted in PRECISIONS:
        cut = reader.cut("gender", wanted)
        least = reading.least(reading.DocumentJudge(reader), cut)
        asked = [each.first >= least for each, _ in both]
        made = [at for at, (_, chance) in enumerate(both) if chance >= cut]
        good = [at for at in made if both[at][0].right and both[at][0].whole]
        yield (
            f"gender, precision {wanted}: the first stage asks about"
            f" {share(sum(asked), len(both))} of the sets,"
            f" {share(sum(asked[at] for at in made), len(made))} of those that are made,"
            f" {share(sum(asked[at] for at in good), len(good))} of those made rightly"
        )


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
        found = rewrite(sentence, lists, "gender", strictness=cut, judge=judge).text
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
    args = parser.parse_args()
    reader, first = Reader(args.models), FirstStage.shipped()
    documents = labelled.read(args.data, texts(args.texts))
    kept = labelled.part(documents, labelled.REPORT)
    judge = SetJudge(reader, first)
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
