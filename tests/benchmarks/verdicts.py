"""False alarms and misses of the verdict against a reference, by the gate's own code.

    python tests/benchmarks/verdicts.py [--corpus FILE ...] [--panes 500] [--seeds 10] [--workers 2]
        [--first-seed 0] [--size 100] [--reference half|few|none] [--json RESULTS]
    python tests/benchmarks/verdicts.py --corpus --streams 60    # the interval alone

A corpus is JSON lines (.gz) with `text` and a field of the source, `source` or `kind`. One half of
its documents, drawn by seed, is the reference. Panes are made of the other half, which comes again
when it ends:

- without a defect: shuffled, in bursts of 50 and of 200 of one source, in the file's order,
  reversed;
- a mix of sources that changes from 70:30 to 30:70;
- a filter that loses 50, 75 or 100 % of the documents with more women than men, after ten good
  panes: documents until something is blocked (those that are never blocked count as all that came);
- one source damaged: text of others, three quarters of gendered words lost, another language
  (nearly all labels lost): panes until it is blocked, and whether others are.

Beside it, with the same panes and the least threshold that blocks at most one of a thousand
shuffled ones, so each at its best:

- the largest difference of a share, as TensorFlow Data Validation compares spans (L-infinity);
- the Jensen-Shannon distance, as Evidently and TensorFlow Data Validation have it;
- the chi-square statistic, as whylogs has it;
- the risk-adjusted CUSUM of R's vlad (Steiner et al. 2000), with odds halved and doubled: whether
  women have most of a document's gendered words, with the risk of its source.

With --streams N, it also draws N references and windows of documents for each of 100 settings: 1 to
50 strata, documents of a few mentions or of very unequal length (Pareto, 1.5), 2 or 5 groups, a
shift of 0 to 0.2, and windows of 100 or 400 documents. How often does the interval of 95 % hold the
true shift, and how often is the bound that is judged above it?

With --reference few, a reference has few documents of each source: as many as make 15 to 60
effective ones, (sum n)^2 / sum n^2, for n mentions of gender (40 documents in the settings of
--streams). The panes of every second seed are of as few, which come again and again.

With --reference none, the gate learns each source from the stream, of LEARNT good
panes before a defect.

tests/benchmarks/results/ says how far the packages' own figures were from these formulas.

The gate's constants were chosen with --first-seed 1000 and more, and on other corpora; BY_CHANCE of
the reference with seeds 0 to 5 of the reported corpora, so what is reported has --first-seed 100.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenflow.pipelines.api.annotator import Annotator
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import Score, Verdict
from evenflow.transforms.measures.measure import MeasureTotals
from evenflow.transforms.measures.shift.measure import ALL, BLOCK, Shift, ShiftMeasure, judge_panels
from evenflow.transforms.measures.shift.reference import Reference, judged_by, of_counts
from evenflow.transforms.measures.shift.statistics import Panel, Windows, is_off
from evenflow.transforms.measures.shift.strata import UNITS, Unit, by_stratum, numbers_of
from evenflow.transforms.measures.shift.windows import Bucket, with_pane

DATA = Path(__file__).parents[1] / "data" / "documents.jsonl.gz"
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Damage = dict[tuple[str, str], tuple[int, int]]  # panes and others blocked, by source and kind
ORDERS = ("shuffled", "bursts of 50", "bursts of 200", "file", "reversed")
LOSSES = (0.5, 0.75, 1.0)
STREAMS = 5  # of each loss and half
BEFORE, LEARNT = 10, 100  # good panes before a defect, with a reference and without
LONGEST = 100  # panes of a stream with a loss
ONE_OF = 0.999  # the quantile of shuffled panes that is a peer's threshold
PEERS = ("L-infinity", "Jensen-Shannon", "chi-square", "CUSUM")
ODDS = (0.5, 2.0)


class Corpus:
    """Documents as sources and mentions.

    Args:
        path: A file of JSON lines.
        most: Documents that are read.
    """

    def __init__(self, path: Path, most: int):
        annotator = Annotator()
        opened = gzip.open if path.suffix == ".gz" else open
        self.name, self.sources = path.name.split(".")[0], list[str]()
        counts: dict[str, list[list[int]]] = {}
        with opened(path, "rt", encoding="utf-8") as lines:
            for line, _ in zip(lines, range(most), strict=False):
                row = json.loads(line)
                if "text" not in row:
                    continue
                self.sources.append(str(row.get("source") or row.get("kind") or "none"))
                for name, own in annotator.annotate(row["text"]).counts.items():
                    counts.setdefault(name, []).append(list(own.values()))
        every, number = np.unique(np.array(self.sources), return_inverse=True)
        self.names: list[str] = every.tolist()
        self.number = number.reshape(-1)
        self.counts = {name: np.array(own) for name, own in counts.items()}
        self.groups = {words.attribute: list(words.groups) for words in Config().word_lists()}


class Gate:
    """The gate's measure with a reference, fed with counts.

    Args:
        corpus: The corpus.
        rows: Its documents of the reference.
        config: The configuration.
    """

    def __init__(self, corpus: Corpus, rows: Ints, config: Config):
        self._measure, self.corpus = ShiftMeasure(), corpus
        sources, own = self.take(rows)
        strata = of_counts(sources, own) if sources else {}
        self.reference = Reference(groups=corpus.groups, strata=strata)
        self._config, self._lists = config, config.word_lists()
        self._totals: MeasureTotals | None = None

    def restart(self) -> None:
        """Forget the panes."""
        self._totals = None

    def pane(self, sources: Sequence[str], counts: dict[str, Ints]) -> Shift:
        """Judge a pane of D documents, their sources (D,) and mentions (D, M)."""
        counted = by_stratum(sources, counts)
        found = self._measure.judge(
            self._config, self._lists, counted, self._totals, self.reference
        )
        self._totals = self._measure.added(self._totals, found, True, 0)
        return found

    def alarms(self, every: Sequence[Ints]) -> list[bool]:
        """Which panes of a stream, as documents, are blocked.

        With a reference all panes are compared at once, with cumulative sums and the windows that a
        gate has. Those that might be off are judged as a gate judges them. Sources of which the
        reference knows too little are left out here; a gate would learn them from the stream.
        """
        if not self.reference.strata:
            self.restart()
            return [bool(self.pane(*self.take(rows)).blocked()) for rows in every]
        out = [False] * len(every)
        reach, buckets = list[list[int]](), list[Bucket]()
        for _ in every:
            buckets = with_pane(buckets, {})
            reach.append(np.cumsum([each.panes for each in reversed(buckets)]).tolist())
        longest = max(len(each) for each in reach)
        lengths = np.array([each + each[-1:] * (longest - len(each)) for each in reach])
        ends = np.arange(1, len(every) + 1)[:, None]
        rows = np.concatenate(every)
        panes_of = np.repeat(np.arange(len(every)), [len(each) for each in every])
        names = self.corpus.names
        cells = panes_of * len(names) + self.corpus.number[rows]
        places = len(every), len(names)
        documents = np.bincount(cells, minlength=places[0] * places[1]).reshape(places)
        seen = [
            {name: (0, {}) for name, own in zip(names, each, strict=True) if own}
            for each in documents
        ]

        def windows(sums: Floats) -> Floats:
            total = np.concatenate([np.zeros((1, *sums.shape[1:])), sums.cumsum(axis=0)])
            return total[ends] - total[ends - lengths]

        mentions = self._config.gate.shift.mentions
        for words in self._lists:
            numbers = numbers_of(self.corpus.counts[words.attribute])[rows]
            sums = np.zeros((places[0] * places[1], numbers.shape[1]))
            np.add.at(sums, cells, numbers)
            panels: dict[Unit, Panel] = {}
            for unit in UNITS:
                known = judged_by(self.reference.strata, {}, words.attribute, unit)
                if known is None or not known.strata:
                    continue
                chosen = [names.index(name) for name in known.strata]
                panels[unit] = Panel.of_sums(
                    lengths.astype(float),
                    windows(documents.astype(float)[:, chosen]),
                    windows(sums.reshape(*places, -1)[:, chosen]),
                    unit,
                    known,
                )
            off = np.zeros(len(every), bool)
            for panel in panels.values():
                off |= is_off(panel.each, BLOCK, mentions).any(axis=(1, 2))
                if panel.known.judged:
                    off |= is_off(panel.together(), BLOCK, mentions).any(axis=1)
            for at in np.flatnonzero(off).tolist():
                found = Shift(strata=seen[at], verdict=Verdict(state="open", reason=""))
                most = len(reach[at])
                own = {
                    unit: Panel(panel.known, panel.each.at(at, slice(most)))
                    for unit, panel in panels.items()
                    if not seen[at].keys().isdisjoint(panel.known.strata)
                }
                judge_panels(found, self._config, words, own)
                out[at] |= bool(found.blocked())
        return out

    def take(self, rows: Ints) -> tuple[list[str], dict[str, Ints]]:
        """The sources and mentions of documents."""
        return (
            [self.corpus.sources[row] for row in rows],
            {name: own[rows] for name, own in self.corpus.counts.items()},
        )


def ordered(corpus: Corpus, rows: Ints, order: str, rng: np.random.Generator) -> Ints:
    """Documents in an order."""
    if order == "file":
        return rows
    if order == "reversed":
        return rows[::-1]
    if order == "shuffled":
        return rng.permutation(rows)
    length, parts = int(order.rsplit(" ", 1)[1]), list[Ints]()
    for number in np.unique(corpus.number[rows]):
        own = rng.permutation(rows[corpus.number[rows] == number])
        parts += np.split(own, range(length, len(own), length))
    return np.concatenate([parts[at] for at in rng.permutation(len(parts))])


def panes(
    corpus: Corpus, rows: Ints, order: str, size: int, number: int, rng: np.random.Generator
) -> Iterator[Ints]:
    """Panes of `size` documents; an order begins anew when it ends."""
    held = np.zeros(0, np.int64)
    for _ in range(number):
        while len(held) < size:
            held = np.concatenate([held, ordered(corpus, rows, order, rng)])
        yield held[:size]
        held = held[size:]


class Peers:
    """What peers say of the panes of a stream, by a reference.

    Args:
        corpus: The corpus.
        half: Its documents of the reference.
    """

    def __init__(self, corpus: Corpus, half: Ints):
        self._counts, self.half = corpus.counts["gender"], half
        women = corpus.groups["gender"].index("female")
        mentions = self._counts.sum(axis=1)
        self._leads = 2 * self._counts[:, women] > mentions
        self._names = mentions > 0
        named, codes = half[self._names[half]], corpus.number
        each = [self._leads[named[codes[named] == at]] for at in range(len(corpus.names))]
        self._risks = np.array([(own.sum() + 0.5) / (len(own) + 1) for own in each])[codes]
        self.restart()

    def restart(self) -> None:
        """Forget the panes."""
        self._sums, self._highest = np.zeros(len(ODDS)), np.zeros(len(ODDS))

    def pane(self, rows: Ints) -> Floats:
        """The figures (4,) of the next pane, in the order of PEERS."""
        named = rows[self._names[rows]]
        for at, odds in enumerate(ODDS):
            own = np.where(self._leads[named], odds, 1.0)
            steps = np.log(own / (1 + (odds - 1) * self._risks[named]))
            # A sum that starts again at 0 is the path less its least value, and that is 0 at most
            path = self._sums[at] + np.concatenate([[0.0], steps.cumsum()])
            path -= np.minimum(np.minimum.accumulate(path), 0.0)
            self._sums[at], self._highest[at] = path[-1], path.max()
        counts = self._counts
        distances = compared(counts[rows].sum(axis=0), counts[self.half].sum(axis=0))
        return np.array([*distances, self._highest.max()])


def compared(p: Ints, q: Ints) -> tuple[float, float, float]:
    """L-infinity and Jensen-Shannon distance, and chi-square, of two sets of counts (M,)."""
    a, b = p / max(p.sum(), 1), q / max(q.sum(), 1)
    middle = (a + b) / 2
    both = np.array([a, b])
    parts = both * np.log(np.divide(both, middle, out=np.ones_like(both), where=both > 0))
    return (
        float(np.abs(a - b).max()),
        float(np.sqrt(max(parts.sum() / 2, 0.0))),
        float((p.sum() * (a - b) ** 2 / np.maximum(b, 1e-9)).sum()),
    )


@dataclass
class Half:
    """What was found with one half of a corpus as reference."""

    alarms: dict[str, int] = field(default_factory=dict[str, int])
    peers: dict[str, Floats] = field(default_factory=dict[str, Floats])
    lost: dict[float, list[int]] = field(default_factory=dict[float, list[int]])
    lost_peers: dict[float, list[Floats]] = field(default_factory=dict[float, list[Floats]])
    mixed: str = ""
    damage: Damage = field(default_factory=dict[tuple[str, str], tuple[int, int]])


def few_of(corpus: Corpus, rows: Ints, rng: np.random.Generator) -> Ints:
    """Documents of each source, drawn until 15 to 60 effective ones name women or men."""
    chosen = list[Ints]()
    for number in np.unique(corpus.number[rows]):
        own = rng.permutation(rows[corpus.number[rows] == number])
        mentions = corpus.counts["gender"][own].sum(axis=1).astype(float)
        effective = mentions.cumsum() ** 2 / np.maximum((mentions**2).cumsum(), 1)
        enough = effective >= rng.uniform(15, 60)
        chosen.append(own[: int(np.argmax(enough)) + 1 if enough.any() else len(own)])
    return np.sort(np.concatenate(chosen))


@lru_cache(maxsize=1)
def corpus_of(path: Path, most: int) -> Corpus:
    """A corpus; its documents are counted once in a process."""
    return Corpus(path, most)


def half_of(path: Path, most: int, seed: int, number: int, size: int, of: str) -> Half:
    """Judge panes of one half of a corpus by the other.

    Args:
        path: The corpus.
        most: Documents that are read.
        seed: The seed, which draws the half too.
        number: Panes of each order.
        size: Documents of a pane.
        of: What the reference has: half, few of each source (of odd seeds the panes too), none.
    """
    # The interval is shown to people, and no verdict asks for it, but it takes most time
    Windows.interval = lambda *_: Score.model_construct(low=None, high=None)
    corpus, out = corpus_of(path, most), Half()
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(len(corpus.sources))
    half, rest = np.sort(drawn[: len(drawn) // 2]), np.sort(drawn[len(drawn) // 2 :])
    half = few_of(corpus, half, rng) if of == "few" else half
    rest = few_of(corpus, rest, rng) if of == "few" and seed % 2 else rest
    config = Config.model_validate({"gate": {"shift": {"block": BLOCK}}})
    gate, peers = Gate(corpus, half[: 0 if of == "none" else None], config), Peers(corpus, half)
    before = LEARNT if of == "none" else BEFORE
    for order in ORDERS:
        peers.restart()
        every = list(panes(corpus, rest, order, size, number, rng))
        out.alarms[order] = sum(gate.alarms(every))
        out.peers[order] = np.array([peers.pane(rows) for rows in every])
    women = corpus.counts["gender"]
    more = women[:, corpus.groups["gender"].index("female")] * 2 > women.sum(axis=1)
    for loss in LOSSES:
        out.lost[loss], out.lost_peers[loss] = [], []
        for _ in range(STREAMS):
            peers.restart()
            every = list(panes(corpus, rest, "shuffled", size, before, rng))
            left = rest[~(more[rest] & (rng.random(len(rest)) < loss))]
            every += panes(corpus, left, "shuffled", size, LONGEST, rng)
            judged = [*gate.alarms(every)[before:-1], True]
            out.lost[loss].append((judged.index(True) + 1) * size)
            out.lost_peers[loss].append(np.array([peers.pane(rows) for rows in every][before:]))
    out.mixed = mix(gate, rest, size, rng)
    out.damage = damaged(gate, rest, size, before, rng)
    return out


def tables(name: str, documents: int, halves: Sequence[Half], size: int) -> list[dict[str, Any]]:
    """The tables of a corpus: false alarms, losses, damages."""
    shuffled = np.concatenate([each.peers["shuffled"] for each in halves])
    limits = np.quantile(shuffled, ONE_OF, axis=0, method="higher")
    false = {
        "columns": [f"{name}, {documents:,} documents: blocked of 1,000 panes", "gate", *PEERS],
        "rows": [
            [
                f"{order} ({len(shuffled):,} panes)",
                f"{1000 * sum(each.alarms[order] for each in halves) / len(shuffled):.1f}",
                *(
                    f"{1000 * each:.1f}"
                    for each in np.concatenate([own.peers[order] > limits for own in halves]).mean(
                        axis=0
                    )
                ),
            ]
            for order in ORDERS
        ],
    }

    def until(found: Floats) -> Floats:
        over = found > limits
        return np.where(over.any(axis=0), over.argmax(axis=0) + 1, LONGEST) * size

    lost = {
        "columns": [f"{name}: documents until a loss is blocked, mean", "gate (largest)", *PEERS],
        "rows": [
            [
                f"{loss:.0%} of documents with more women than men",
                f"{np.mean(seen):,.0f} ({max(seen):,})",
                *(f"{each:,.0f}" for each in np.mean([until(own) for own in theirs], axis=0)),
            ]
            for loss in LOSSES
            for seen in [[each for half in halves for each in half.lost[loss]]]
            for theirs in [[each for half in halves for each in half.lost_peers[loss]]]
        ],
    }
    damage = {
        "columns": [f"{name}: a damaged source", "panes until it is blocked", "others blocked"],
        "rows": [
            [
                f"{source}: {kind}",
                ", ".join(str(each[0]) for each in found),
                str(sum(each[1] for each in found)),
            ]
            for source, kind in sorted({key for half in halves for key in half.damage})
            for found in [[h.damage[source, kind] for h in halves if (source, kind) in h.damage]]
        ],
    }
    return [false, lost, damage]


def text_of(table: dict[str, Any]) -> str:
    """A table as lines of cells, the first row of which are its columns."""
    rows = [table["columns"], *table["rows"]]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def report(given: argparse.Namespace) -> None:
    """Print the tables of the corpora, and write them."""
    kept: list[dict[str, Any]] = []
    notes: list[str] = []
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    for path in given.corpus:
        others = path, given.documents
        with ProcessPoolExecutor(given.workers) as pool:
            own = given.panes, given.size, given.reference
            tasks = [pool.submit(half_of, *others, seed, *own) for seed in seeds]
            halves = [task.result() for task in tasks]
        corpus = corpus_of(*others)
        for table in tables(corpus.name, len(corpus.sources), halves, given.size):
            print(f"\n{text_of(table)}", flush=True)
            kept.append(table)
        mixed = [each.mixed for each in halves if each.mixed]
        said = f"{corpus.name}: a mix that changes was blocked with {len(mixed)} of {len(seeds)}"
        notes.append("; ".join([said, *mixed]))
        print(notes[-1])
    if given.streams:
        table, note = coverage(
            given.streams, given.workers, 40 if given.reference == "few" else 300
        )
        print(f"\n{text_of(table)}\n{note}")
        kept.append(table)
        notes.append(note)
    if given.json is not None:
        commit = subprocess.run(
            ["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=True
        )
        names = " ".join(path.name for path in given.corpus)
        command = f"--corpus {names} --reference {given.reference} --first-seed {seeds[0]}"
        command += f" --panes {given.panes} --seeds {len(seeds)} --streams {given.streams}"
        written = {
            "title": "False alarms and misses of the verdict",
            "date": datetime.now(UTC).date().isoformat(),
            "commit": commit.stdout.strip(),
            "commands": [f"python tests/benchmarks/verdicts.py {command}"],
            "tables": kept,
            "notes": notes,
        }
        given.json.write_text(json.dumps(written, indent=1) + "\n")


@dataclass(frozen=True)
class Setting:
    """What streams are drawn from.

    `documents` are those of a window, of all strata; `known` those of a stratum's reference.
    """

    strata: int
    groups: int
    heavy: bool
    shift: float
    documents: int
    known: int = 300

    def drawn(self, documents: int, shares: Floats, rng: np.random.Generator) -> Ints:
        """Mentions (D, M) of documents of which each has shares of its own."""
        sizes = 1 + rng.poisson(4, documents)
        if self.heavy:
            sizes = np.minimum(1 + rng.pareto(1.5, documents), 500).astype(np.int64)
        own = rng.dirichlet(3 * shares, documents)
        return rng.multinomial(sizes, own)

    def panel(self, rng: np.random.Generator) -> Panel | None:
        """A window beside a reference; the first group loses the shift to the second."""
        base = np.array([0.35, *[0.65 / (self.groups - 1)] * (self.groups - 1)])
        kept, names = list[Floats](), [f"s{at}" for at in range(self.strata)]
        for _ in names:
            kept.append(0.7 * base + 0.3 * rng.dirichlet(np.full(self.groups, 2.0)))
        before = np.concatenate([self.drawn(self.known, own, rng) for own in kept])
        known = of_counts(np.repeat(names, self.known).tolist(), {"": before})
        expected = judged_by(known, {}, "", "mentions")
        if expected is None or not expected.judged:
            return None
        sizes = rng.multinomial(self.documents, rng.dirichlet(np.full(self.strata, 2.0)))
        moved = np.zeros(self.groups)
        moved[:2] = -self.shift, self.shift
        numbers = [
            numbers_of(self.drawn(sizes[names.index(name)], kept[names.index(name)] + moved, rng))
            for name in expected.strata
        ]
        return Panel.of_sums(
            np.ones(1),
            np.array([[len(each) for each in numbers]], float),
            np.array([[each.sum(axis=0) for each in numbers]], float),
            "mentions",
            expected,
        )


def settings(known: int) -> list[Setting]:
    """The settings of the interval's table."""
    return [
        Setting(strata, groups, heavy, shift, 100 if (at + strata + groups) % 2 else 400, known)
        for strata in (1, 2, 5, 20, 50)
        for groups in (2, 5)
        for heavy in (False, True)
        for at, shift in enumerate((0.0, 0.02, 0.05, 0.1, 0.2))
    ]


def covered(setting: Setting, number: int, streams: int) -> Floats:
    """Of the streams of a setting: judged, holding the shift, above, below, judged bound above."""
    rng, out = np.random.default_rng(number), np.zeros(5)
    for _ in range(streams):
        panel = setting.panel(rng)
        window = None if panel is None else panel.together().at(0)
        if window is None or not window.is_judged:
            continue
        found = window.interval(0.95)
        low, high = found.low or 0.0, 1.0 if found.high is None else found.high
        over, under = low > setting.shift + 1e-9, high < setting.shift - 1e-9
        bound = window.at_least > setting.shift
        out += [1, not (over or under), over, under, bound]
    return out


def coverage(streams: int, workers: int, known: int) -> tuple[dict[str, Any], str]:
    """The table of the interval by kinds of setting, and a sentence on all of them."""
    every = settings(known)
    with ProcessPoolExecutor(workers) as pool:
        tasks = [pool.submit(covered, each, at, streams) for at, each in enumerate(every)]
        found = np.array([task.result() for task in tasks])
    kinds: dict[str, list[bool]] = {"all": [True] * len(every)}
    for name in ("strata", "groups", "heavy", "shift", "documents"):
        for value in sorted({getattr(each, name) for each in every}):
            kinds[f"{name} {value}"] = [getattr(each, name) == value for each in every]
    rows = list[list[str]]()
    for kind, chosen in kinds.items():
        judged, *others = found[chosen].sum(axis=0)
        share = others[0] / judged
        error = 196 * float(np.sqrt(share * (1 - share) / judged))
        rows.append(
            [
                kind,
                f"{judged:,.0f} of {streams * sum(chosen):,}",
                f"{share:.1%} ± {error:.1f}",
                *(f"{each / judged:.2%}" for each in others[1:]),
            ]
        )
    judged, holds = found[:, 0], found[:, 1]
    known = judged >= streams / 2
    shares = holds[known] / judged[known]
    noise = 1.96 * np.sqrt(0.95 * 0.05 / judged[known])
    inside = (shares >= 0.93 - noise) & (shares <= 0.97 + noise)
    columns = ["settings", "judged", "95 % holds", "above", "below", "judged bound above"]
    note = (
        f"interval of the shift: {inside.sum()} of {known.sum()} settings with enough judged"
        f" windows agree with 93 to 97 % (95 % of the noise); from {shares.min():.0%} to"
        f" {shares.max():.0%}"
    )
    return {"columns": columns, "rows": rows}, note


def mix(gate: Gate, rest: Ints, size: int, rng: np.random.Generator) -> str:
    """Why a mix that changes from 70:30 to 30:70 after 30 panes is blocked; empty: it is not."""
    gate.restart()
    sources = np.array([gate.corpus.sources[row] for row in rest])
    names, sizes = np.unique(sources, return_counts=True)
    first, second = (rest[sources == names[at]] for at in np.argsort(-sizes)[:2])
    for at, share in enumerate([0.7] * 30 + [0.3] * 30):
        many = round(size * share)
        rows = np.concatenate([rng.choice(first, many), rng.choice(second, size - many)])
        if (found := gate.pane(*gate.take(rows))).blocked():
            return f"pane {at}: {found.verdict.reason}"
    return ""


def damaged(gate: Gate, rest: Ints, size: int, before: int, rng: np.random.Generator) -> Damage:
    """Panes until each source is blocked after a damage (99: not in 30), and others blocked."""
    out: Damage = {}
    every = np.array([gate.corpus.sources[row] for row in rest])
    names, sizes = np.unique(every, return_counts=True)
    for name in names[sizes >= size * 2]:
        for kind, kept in (("text of others", 1.0), ("words lost", 0.25), ("language", 0.05)):
            gate.restart()
            for rows in panes(gate.corpus, rest, "shuffled", size, before, rng):
                gate.pane(*gate.take(rows))
            first, others = 99, 0
            for at, rows in enumerate(panes(gate.corpus, rest, "shuffled", size, 30, rng)):
                sources, counts = gate.take(rows)
                hit = np.array(sources) == name
                for attribute, own in counts.items():
                    if kind == "text of others":
                        strange = rng.choice(rest[every != name], hit.sum())
                        own[hit] = gate.corpus.counts[attribute][strange]
                    elif attribute == "gender" or kind == "language":
                        own[hit] = rng.binomial(own[hit], kept)
                found = set(gate.pane(sources, counts).blocked())
                others += len(found - {name, ALL})
                if name in found:
                    first = at + 1
                    break
            out[str(name), kind] = first, others
    return out


def main() -> None:
    """Print the tables of the corpora."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", type=Path, nargs="*", default=[DATA])
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--panes", type=int, default=500, help="of each order and half")
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=10, help="halves that are drawn")
    parser.add_argument("--reference", choices=("half", "few", "none"), default="half")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--streams", type=int, default=0, help="of each setting of the interval")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=Path, help="write the tables here too")
    report(parser.parse_args())


if __name__ == "__main__":
    main()
