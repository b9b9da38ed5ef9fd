"""How many of the reasons that are given for a potential stereotype are true.

    python tests/benchmarks/stereotype_reasons.py [--new SEED]

tests/data/stereotype_reasons.jsonl has the reasons of 60 potential stereotypes of the report
documents, drawn at random, and whether a reader found each true. Printed: the share of those that
are still given, by kind. With SEED: 60 others, with their reasons, to be read.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from typing import Any

import orjson
from figures import share
from stereotype_documents import documents
from stereotype_examples import read

from evenflow.schemas.config import load
from evenflow.transforms.measures.stereotypes import indicators
from evenflow.transforms.measures.stereotypes.filter import StereotypeFilter
from evenflow.transforms.staging.sentence_table import Relevant
from evenflow.transforms.text.sentences import sentences

DRAWN = 60


def given() -> list[dict[str, Any]]:
    """The potential stereotypes that have reasons, by document and sentence."""
    kept, _ = documents()
    whole = [
        Relevant(number, each["text"], sentences(each["text"]), ())
        for number, each in enumerate(kept)
    ]
    screen = StereotypeFilter(load(None, {"stereotypes.action": "flag"}))
    out: list[dict[str, Any]] = []
    for each, one, done in zip(kept, whole, screen.screen(whole), strict=True):
        for (number, attribute), found in done.findings.items():
            if not found.indicators:
                continue
            start, end = one.sentences[number]
            known = orjson.loads(found.indicators)
            told = indicators.shipped().weighed(each["text"][start:end], known)
            if told["reasons"]:
                out.append(
                    {
                        "id": each["id"],
                        "start": start,
                        "attribute": attribute,
                        "reasons": told["reasons"],
                        "sentence": each["text"][start:end],
                        "before": each["text"][max(0, start - 160) : start],
                    }
                )
    return out


def main() -> None:
    """Print the share, or sentences to be read."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--new", type=int, metavar="SEED")
    args = parser.parse_args()
    rows = given()
    if args.new is not None:
        for each in random.Random(args.new).sample(rows, DRAWN):
            print(json.dumps(each, ensure_ascii=False))
        return
    now = {
        (each["id"], each["start"], each["attribute"], reason)
        for each in rows
        for reason in each["reasons"]
    }
    kinds: defaultdict[str, list[bool]] = defaultdict(list)
    gone = 0
    for each in read("stereotype_reasons"):
        if (each["id"], each["start"], each["attribute"], each["reason"]) not in now:
            gone += 1
            continue
        for kind in ("all", each["reason"].split(":")[0]):
            kinds[kind].append(each["true"])
    for kind, found in kinds.items():
        print(f"{kind}: {share(sum(found), len(found))} true")
    print(f"{gone} that were read are not given any more")


if __name__ == "__main__":
    main()
