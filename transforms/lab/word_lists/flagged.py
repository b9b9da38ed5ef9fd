"""A review of sentences: what a run flagged or exchanged is drawn, read by people, and counted.

The sentences stand in a draft of their own, so that page and journal are those of a word list. A
group of that draft is an attribute: the sentences that may state a stereotype of its groups; or
`EXCHANGE` and an attribute: sentences before and after an exchange; or `UNSURE`. A rejected
sentence is no stereotype, or a wrong exchange.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from evenflow.transforms import wilson
from evenflow.transforms.lab.word_lists.draft import Candidate, Draft, DraftError
from evenflow.transforms.measures.stereotypes.calibration import STRONG_FROM
from evenflow.transforms.measures.stereotypes.findings import deciding
from evenflow.transforms.measures.stereotypes.indicators import OF_CREED
from evenflow.transforms.measures.stereotypes.masking import is_pronoun, mask
from evenflow.transforms.models.cuts import EXCHANGE, REVIEWED

BANDS = (0.3, 0.5, 0.7, 0.8, 0.9)  # each from here to the next
EACH = 40  # sentences of an attribute, so many of each band as there are, in turn
LONGEST = 1000  # characters of a sentence that is shown
UNSURE = "unsure"
COLUMNS = ["attribute", "sent_text", "potential_stereotype", "strength", "score_scsc"]
CHANGED = ["text_cda", "sets"]
TOLD = "linguistic_indicators"


def draw(output: Path) -> Draft:
    """Draw what a run flagged and exchanged, of each attribute over the bands of probability.

    Sentences that differ in case, blanks and the group's name alone count once. Stereotypes of a
    creed alone, and those about "they", which no run removes, are left out.

    Raises:
        DraftError: The output has none.
    """
    found: dict[str, list[dict[bytes, tuple[str, ...]]]] = defaultdict(lambda: [{} for _ in BANDS])
    for group, chance, compared, texts in _rows(output):
        shown = tuple(" ".join(text.split())[:LONGEST] for text in texts)
        digest = sha256(compared.casefold().encode("utf-8", "replace")).digest()
        if (band := bisect_right(BANDS, round(chance, 4)) - 1) >= 0:
            found[group][band].setdefault(digest, shown)
    if not found:
        wanted = "run with --stereotypes-action or --repair-mode substitute"
        raise DraftError(f"{output}: it has no flagged stereotypes and no exchanges; {wanted}")
    made: list[Candidate] = []
    for group in sorted(found, key=lambda name: (-sum(map(len, found[name])), name)):
        # In the order of a hash, which is a draw
        own = [[each[digest] for digest in sorted(each)] for each in found[group]]
        turns = [(n, band) for n in range(EACH) for band in range(len(BANDS)) if n < len(own[band])]
        made += [
            Candidate(
                word=f"{group}: {own[band][n][-1]}",
                group=group,
                forms={},
                sources=(),
                order=number,
                examples=own[band][n],
                band=band,
                of=len(own[band]),
            )
            for number, (n, band) in enumerate(turns[:EACH], 1)
        ]
    return Draft(
        attribute="sentences",
        groups=(*found, UNSURE),
        source=str(output.name),
        licence="",
        documents=0,
        option="B",
        candidates=tuple(made),
    )


def _rows(output: Path) -> Iterator[tuple[str, float, str, tuple[str, ...]]]:
    """The strong stereotypes and the exchanges of an output's table of sentences.

    Yields:
        Group, probability, the text by which it counts once, and the texts that are shown.
    """
    for path in sorted((output / "sentences").rglob("*.parquet")):
        for batch in pq.ParquetFile(path).iter_batches(columns=[*COLUMNS, TOLD, *CHANGED]):
            table = pa.Table.from_batches([batch])
            for row, decides in zip(table.to_pylist(), deciding(table).to_pylist(), strict=True):
                name, text, after = row["attribute"], row["sent_text"], row["text_cda"]
                made = [each["confidence"] for each in row["sets"] if each["target"] is not None]
                if made and after is not None:
                    yield EXCHANGE + name, min(made), f"{text} {after}", (text, after)
                if (row["potential_stereotype"] or 0.0) < BANDS[0] or (decides or 0) < STRONG_FROM:
                    continue
                told = orjson.loads(row[TOLD] or "{}")
                own = told.get("indicators", {}).get("label", {}).get("words", [])
                words = [(each["start"], each["end"], name) for each in own]
                about_them = any(is_pronoun(each["text"]) for each in own)
                if not about_them and (told.get("creed") or 0.0) < OF_CREED:
                    yield name, row["potential_stereotype"], mask(text, words), (text,)


def calibration(draft: Draft, chosen: Mapping[str, str]) -> dict[str, Any]:
    """Count what people said of drawn sentences: a calibration of this corpus.

    A band counts as often as the corpus has sentences of it. A sentence of which a reader was
    unsure counts as wrong.

    Args:
        chosen: Sentence → the group that it was accepted for, UNSURE, or empty: rejected.
            Sentences that are not in it were not read.

    Returns:
        `called`, steps as `Calibration` has them; `bounds`, of each step its probability, the share
        of right sentences, and the ends of its interval (95 %, Wilson, of the effective number).
    """
    out: dict[str, Any] = {**REVIEWED, "called": {}, "bounds": {}}
    for group in draft.groups[:-1]:
        own = [each for each in draft.candidates if each.group == group]
        bands = [[each for each in own if each.band == band] for band in range(len(BANDS))]
        for first, least in enumerate(BANDS):
            there = [band for band in bands[first:] if band]
            read = [[each for each in band if each.word in chosen] for band in there]
            if not there or not all(read):
                continue
            whole = sum(band[0].of for band in there)
            parts = [(band[0].of / whole, len(band)) for band in read]
            share = sum(
                weight * sum(chosen[each.word] == group for each in band) / count
                for (weight, count), band in zip(parts, read, strict=True)
            )
            low, high = wilson.interval(
                min(share, 1.0), 1 / sum(weight**2 / count for weight, count in parts)
            )
            count = sum(map(len, read))
            step = least, count, int(share * count + 1e-9)
            out["called"].setdefault(group, []).append(step)
            bound = least, round(share, 3), round(low, 3), round(high, 3)
            out["bounds"].setdefault(group, []).append(bound)
    return out
