"""Writes measures/stereotypes/calibration.json: from which probability on what is called is right.

It also says how often.

    python tests/benchmarks/stereotype_calibration.py

On every sentence that names a group of the training documents that are held out (one in eight), and
on the labelled sentences of the split `tune`; both were drawn at random. called, for which a whole
document's labels are too coarse: on the sentences of the splits `tune` and `cut` alone. cleared:
the probability by the sieve below which lie at most LOST of what the encoder calls. scale:
makes the sieve's value the share of stereotypes among cleared sentences. called: for each
attribute and step of probability, how many sentences were called and how many of them rightly, of
near-copies one; creeds: the same, of those about a creed alone. weights: what an indicator's value
adds to the strength that people see, a ridge regression of their scores on the heads' answers;
those in the file are kept, since the scores have no licence (commit 030775a6 has the regression).
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Sequence
from math import floor

import numpy as np
from figures import share
from stereotype_documents import DOCUMENTS
from stereotype_examples import Row
from stereotype_training import labelled, of_documents, once

from evenflow.pipelines.lab.train.reader import platt
from evenflow.schemas.config.stereotypes import StereotypeSettings
from evenflow.transforms.lab.training.labelled import is_calibration
from evenflow.transforms.measures.stereotypes import calibration, probabilities
from evenflow.transforms.measures.stereotypes.calibration import THRESHOLD
from evenflow.transforms.measures.stereotypes.indicators import OF_CREED
from evenflow.transforms.measures.stereotypes.masking import has_creeds
from evenflow.transforms.models import files
from evenflow.transforms.models.stereotype_head import MANIFEST

# From here on, all calls of the documents in the split `cut` were read
STEPS = [round(0.7 + 0.05 * step, 2) for step in range(6)]
LOST = 0.01  # share of the sentences which the encoder would call that the sieve may clear


def of_creed(reader: probabilities.SentenceReader, row: Row) -> bool:
    """Whether a stereotype in a row would be of a creed alone."""
    if not has_creeds(row.attribute):
        return False
    return (reader.read(row.text).creed or 0.0) >= OF_CREED


def called(
    reader: probabilities.SentenceReader, every: Sequence[Row], creeds: bool
) -> dict[str, list[list[float]]]:
    rows = [row for row in every if of_creed(reader, row) == creeds]
    chances = [each or 0.0 for each in reader.probabilities([row.text for row in rows])]
    out: dict[str, list[list[float]]] = {}
    for attribute in sorted({row.attribute for row in rows}):
        own = [
            (p, row.label)
            for p, row in zip(chances, rows, strict=True)
            if row.attribute == attribute and p >= STEPS[0]
        ]
        if own:
            out[attribute] = [
                [step, sum(p >= step for p, _ in own), sum(right for p, right in own if p >= step)]
                for step in STEPS
            ]
    return out


def cleared(reader: probabilities.SentenceReader, rows: Sequence[Row]) -> float:
    found = [
        row.text
        for row in rows
        if probabilities.held_probability(reader.read(row.text)) >= THRESHOLD
    ]
    chances = sorted(reader.sieve.stereotypes(found))
    lost = int(LOST * len(found))
    print(f"of what the encoder calls, the sieve clears {share(lost, len(found))}")
    return floor(chances[lost] * 1e4) / 1e4


def scale_of(reader: probabilities.SentenceReader, rows: Sequence[Row]) -> tuple[float, float]:
    firsts = np.array(reader.sieve.stereotypes([row.text for row in rows]))
    labels = np.array([bool(row.label) for row in rows])
    slope, shift = platt(np.log(firsts / (1 - firsts)), labels)
    return (round(slope, 4), round(shift, 4)) if slope > 0 else (1.0, 0.0)


def held_out() -> list[Row]:
    with gzip.open(DOCUMENTS, "rt", encoding="utf-8") as file:
        documents = [each for each in map(json.loads, file) if each["split"] == "train"]
    held = [each for each in documents if each.get("text") and is_calibration(each["id"])]
    return [row for row, _ in (*of_documents(held), *labelled("tune"))]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args()
    rows = held_out()
    before = json.loads(calibration.PATH.read_text(encoding="utf-8"))
    shipped = probabilities.shipped()
    least = cleared(shipped, rows)
    low = [row for row in rows if shipped.sieve.stereotypes([row.text])[0] < least]
    scale = scale_of(shipped, low)
    reader = probabilities.SentenceReader(
        shipped.sieve, shipped.second, least, shipped.words, scale
    )
    stored = {
        "about": "made by tests/benchmarks/stereotype_calibration.py; see there",
        "encoder": files.digest_of(files.SHIPPED / MANIFEST),
        "sentences": len(rows),
        "stereotypes": sum(row.label for row in rows),
        "cleared": least,
        "scale": scale,
        "weights": before["weights"],
    }
    read_alone = once([row for row, _ in labelled("tune", "cut")])
    stored["called"] = called(reader, read_alone, creeds=False)
    stored["creeds"] = called(reader, read_alone, creeds=True)
    calibration.PATH.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    known = calibration.Calibration.load()
    for attribute in sorted({*stored["called"], *stored["creeds"]}):
        for name, of_creed in (("called", False), ("creeds", True)):
            at = calibration.cut(StereotypeSettings(), attribute, known, of_creed)
            print(attribute, name, stored[name].get(attribute), "cut:", at.probability)
    below = sum(p < least for p in shipped.sieve.stereotypes([row.text for row in rows])) / len(
        rows
    )
    print(f"cleared below {least}: {below:.2f} of all")


if __name__ == "__main__":
    main()
