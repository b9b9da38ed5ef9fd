"""Ledgers for the tests of the report: made up, of any length, with names that look like markup."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

from evenflow.gates.ledger.files import canonical
from evenflow.schemas.config import load
from evenflow.schemas.ledger import (
    AttributeEntry,
    CheckFailure,
    Checks,
    Heavy,
    PaneEntry,
    Score,
    Shard,
    SourceRange,
    Sums,
    Verdict,
)

GROUPS = {"gender": ("female", "male"), "age": ("young", "middle", "old")}
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "' onmouseover='alert(3)",
    "{{ 7 * 7 }}{% raw %}",
    "nul \0 bell \a escape \x1b[31m",
    "bidi \u202egnp.exe\u2069 \u2067x",
    "&lt;b&gt; &amp; ]]> <!-- -->",
    "javascript:alert(4)//http://evil.example/",
    "مرحبا " + "שלום" + " 你好",
    "long " * 400,
    "line\nbreak\r\ttab\u2028separator",
)


def score(counts: list[int], documents: int) -> Score:
    """A score of the right shape: its interval is about that of independent mentions."""
    total = sum(counts)
    if not total:
        return Score(dr=None, corrected=None, low=None, high=None, mentions=0, documents=0)
    dr = round(sum(abs(count / total - 1 / len(counts)) for count in counts) / 2, 6)
    half = 1.5 / math.sqrt(total)
    low, high = max(0.0, round(dr - half, 6)), min(1.0, round(dr + half, 6))
    return Score(dr=dr, corrected=dr, low=low, high=high, mentions=total, documents=documents)


def entries(
    panes: int, seed: int = 1, groups: dict[str, tuple[str, ...]] | None = None, level: float = 0.75
) -> list[PaneEntry]:
    """A stream whose first group's share wanders about `level`; some records are dead, some checks
    fail.
    """
    rng = random.Random(seed)
    names = groups or GROUPS
    window: list[PaneEntry] = []
    total = {name: [0] * len(each) for name, each in names.items()}
    seen = 0
    out: list[PaneEntry] = []
    for number in range(panes):
        documents = rng.randint(80, 120)
        seen += documents
        attributes = {}
        for name, each in names.items():
            share = min(
                0.99, max(0.2, level + 0.22 * math.sin(number / 9 + len(each)) + rng.gauss(0, 0.04))
            )
            first = round(300 * share)
            rest = [(300 - first) // (len(each) - 1) + rng.randint(0, 9) for _ in each[1:]]
            counts = [first, *rest]
            total[name] = [a + b for a, b in zip(total[name], counts, strict=True)]
            recent = [before.attributes[name].sums.counts for before in window[-3:]] + [counts]
            rolling = score([sum(column) for column in zip(*recent, strict=True)], 4 * documents)
            low = rolling.low or 0
            state = "block" if low >= 0.45 else "warn" if low >= 0.25 else "open"
            attributes[name] = AttributeEntry(
                groups=list(each),
                target=[round(1 / len(each), 9)] * len(each),
                sums=Sums(
                    documents=documents,
                    counts=counts,
                    products=[
                        [a * (i == j) for j in range(len(each))] for i, a in enumerate(counts)
                    ],
                ),
                pane=score(counts, documents),
                rolling=rolling,
                cumulative=score(total[name], seen),
                verdict=Verdict(
                    state=state,
                    reason=f"rolling DR is at least {low:.3f}, {state} is what that makes",
                ),
                relevant_sentences=sum(counts) // 2,
                labels=(
                    {"she": counts[0], "he": counts[1]}
                    if name == "gender"
                    else {"child": counts[0]}
                ),
                heavy=[
                    Heavy(
                        id=f"doc-{number}-{i}", counts=[9 - i] * len(each), snippet="It began so."
                    )
                    for i in range(3)
                ],
            )
        failed = number % 40 == 17
        states = [each.verdict.state for each in attributes.values()]
        state = "block" if failed or "block" in states else "warn" if "warn" in states else "open"
        reasons = [
            f"{name}: {each.verdict.reason}"
            for name, each in attributes.items()
            if each.verdict.state == state
        ]
        dead = rng.randint(0, 3) if number % 5 == 0 else 0
        entry = PaneEntry(
            pane=number,
            source=[SourceRange(file="speeches.jsonl", first=100 * number, last=100 * number + 99)],
            input_bytes=rng.randint(900_000, 1_100_000),
            text_bytes=880_000,
            documents=documents,
            dead=dead,
            dead_reasons={"not JSON": dead} if dead else {},
            sentences=documents * 20,
            attributes=attributes,
            shards=[
                Shard(
                    name=f"part-{number:08d}-0000.parquet",
                    rows=documents,
                    bytes=400_000,
                    sha256=f"{number:064x}",
                )
            ],
            dead_letters=(
                Shard(name=f"part-{number:08d}.jsonl", rows=dead, bytes=300, sha256="0" * 64)
                if dead
                else None
            ),
            checks=Checks(
                success=not failed,
                evaluated=12,
                failures=(
                    [
                        CheckFailure(
                            expectation="expect_column_values_to_be_unique",
                            subject="id",
                            observed="3",
                        )
                    ]
                    if failed
                    else []
                ),
            ),
            verdict=Verdict(
                state=state,
                reason="; ".join(reasons) or "checks failed: expect_column_values_to_be_unique",
            ),
            folder="quarantine" if state == "block" else "accepted",
        )
        window.append(entry)
        out.append(entry)
    return out


def hostile(panes: int = 3) -> list[PaneEntry]:
    """A ledger in which every text from outside is one of HOSTILE."""
    out = entries(
        panes,
        groups={
            HOSTILE[0]: (HOSTILE[1], HOSTILE[5]),
            HOSTILE[3]: (HOSTILE[4], HOSTILE[8], HOSTILE[9]),
        },
    )
    for number, entry in enumerate(out):
        text = HOSTILE[number % len(HOSTILE)]
        entry.dead_reasons = {one: i + 1 for i, one in enumerate(HOSTILE)}
        entry.dead = sum(entry.dead_reasons.values())
        entry.dead_letters = Shard(name=HOSTILE[7], rows=entry.dead, bytes=1, sha256=text)
        entry.shards = [Shard(name=one, rows=1, bytes=1, sha256=one) for one in HOSTILE]
        entry.checks.failures = [
            CheckFailure(expectation=one, subject=one, observed=one) for one in HOSTILE
        ]
        entry.checks.success = number != 1
        entry.verdict = Verdict(state=entry.verdict.state, reason=text)
        entry.source = [SourceRange(file=text, first=0, last=9)]
        for each in entry.attributes.values():
            each.labels = {one: 100 - i for i, one in enumerate(HOSTILE)}
            each.heavy = [
                Heavy(id=one, counts=[1] * len(each.groups), snippet=one) for one in HOSTILE
            ]
            each.verdict = Verdict(state=each.verdict.state, reason=text)
    return out


def settings(finished: bool = True, **changes: Any) -> dict[str, Any]:
    """ledger/meta.json of a run over one file. changes: keys of the configuration, with dots."""
    configuration = load(None, changes, only=["gender", "age"]).model_dump()
    record = {"configuration": configuration, "input": {"/data/speeches.jsonl": 123_456}}
    return {"version": 1, "settings": record, "configuration": configuration, "finished": finished}


def write(root: Path, panes: list[PaneEntry], meta: dict[str, Any] | None) -> Path:
    """Write a ledger without waiting for the disk; the output directory."""
    (root / "ledger").mkdir(parents=True)
    (root / "gate").mkdir()
    for entry in panes:
        (root / "ledger" / f"{entry.pane:08d}.json").write_bytes(canonical(entry.model_dump()))
    if meta is not None:
        (root / "ledger" / "meta.json").write_bytes(canonical(meta))
    return root


def write_timings(root: Path, panes: list[PaneEntry], seed: int = 2) -> None:
    """gate/timings.jsonl for some panes."""
    rng = random.Random(seed)
    lines = []
    for entry in panes:
        stages = {
            "read": 0.004,
            "annotate": 0.02,
            "shards": 0.012,
            "beam": 0.003,
            "checks": round(rng.uniform(0.003, 0.007), 4),
        }
        row = {
            "pane": entry.pane,
            "seconds": 0.05,
            "input_bytes": entry.input_bytes,
            "documents": entry.documents,
        }
        lines.append(
            json.dumps(row | {"seconds": round(sum(stages.values()) + 0.002, 4), "stages": stages})
        )
    (root / "gate" / "timings.jsonl").write_text("\n".join(lines) + "\n")
