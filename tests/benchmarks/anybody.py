"""How often the reader is right that a person with «he» or «she» is anybody of a kind.

    python tests/benchmarks/anybody.py [--documents 400]

A repair that writes «they» of such persons could be right no more often than this. Documents are
those of the parts report and unseen, drawn at random. A person is what annotators put together,
with a pronoun of the third person singular among the mentions. The least probability of the
mentions counts. Labels are those of language models that read whole documents.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from evenflow.transforms import wilson
from evenflow.transforms.lab.training import labelled
from evenflow.transforms.models.reader import WHO, Reader

DATA = Path(__file__).parent.parent / "data"
ANYBODY = WHO.index("anybody")
PRONOUNS = {"she", "her", "hers", "herself", "he", "him", "his", "himself"}
CUTS = (0.3, 0.5, 0.7, 0.8, 0.9)


def main() -> None:
    """Print precision and recall by cut."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=400)
    most = parser.parse_args().documents
    every = labelled.part(labelled.read(DATA / labelled.FILE), "report", "unseen")
    own = [each for each in every if each.attribute == "gender"]
    reader = Reader.shipped()
    rows: list[tuple[float, bool]] = []
    for each in random.Random(0).sample(own, min(most, len(own))):
        reading = reader.read(each.text, each.places)
        for person in each.meant:
            words = {
                each.text[each.places[at].start : each.places[at].end] for at in person.mentions
            }
            if PRONOUNS.isdisjoint(word.lower() for word in words):
                continue
            least = min(float(reading.said(at).who[ANYBODY]) for at in person.mentions)
            rows.append((least, person.who == ANYBODY))
    true = sum(is_anybody for _, is_anybody in rows)
    print(f"{min(most, len(own))} documents, {len(rows)} persons, {true} of them anybody")
    print("from  persons  anybody  recall")
    for cut in CUTS:
        found = [row for row in rows if row[0] >= cut]
        if found:
            right = sum(is_anybody for _, is_anybody in found)
            low, high = wilson.interval(right / len(found), len(found))
            share = f"{right / len(found):.2f} [{low:.2f}, {high:.2f}]"
            print(cut, len(found), share, f"{right} of {true}", sep="  ")


if __name__ == "__main__":
    main()
