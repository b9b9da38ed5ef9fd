"""How even substitution makes a corpus beside how right it is, by attribute and strictness, BaseCDA and the paper beside it.

    python tests/benchmarks/cda_pareto.py [CORPUS ...] [--gold tests/data/cda_fresh.jsonl] [--plot cda_pareto.svg]

DR: a corpus (JSON lines, by default tests/data/speeches.jsonl.gz) goes through the gate's own steps (read, annotate, stage,
close), pane by pane, for one attribute at a time. Sets are proposed once at strictness 0; each strictness then has its own
plan, draw, rebuilt documents and count. Intervals are of the sums over all panes. BaseCDA stands there twice: «base, half» as in
the paper (each sentence that names the largest group is exchanged with probability 1/2, for groups in equal parts), and
«base, planned», which changes what this gate's plan says.

Share correct: sentences with answers, as in cda_quality.py, of the split `report`, every set of a sentence exchanged that is
eligible at the strictness. Correct: among those that were changed; decided rightly: changed or left, as in the paper's
column. With --whole each sentence stands in its whole document, if the corpus has it (keys id, source, text); else in the few
sentences that the annotator read. Strata are reported apart; the plot takes the stratum `all`. Intervals are by bootstrap over
sentences.

The paper's figures are of its own corpus and of 100 sentences that one person looked at, so they are a mark, no peer in the
same test.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from cda_plot import Curve, Mark, svg
from cda_quality import GOLD, interval
from cda_strictness import answers, correctness, in_documents
from rich.console import Console
from rich.table import Table

from evenflow.pipelines import gate
from evenflow.schemas.config import Config, load
from evenflow.schemas.documents import Figures
from evenflow.schemas.ledger import Score, Sums
from evenflow.transforms import files, planning, representation
from evenflow.transforms.annotate import Annotated, Annotator
from evenflow.transforms.counterfactuals import Method
from evenflow.transforms.sentence_table import Rows
from evenflow.transforms.substitution.sets import Edit, apply

DEMO = GOLD.with_name("speeches.jsonl.gz")
STRICTNESS = (0.0, 0.25, 0.5, 0.75, 1.0)
HALF = 0.5  # of the sentences: BaseCDA's probability (main paper, 4.2.4)
WIDTH = 150  # of the tables, in characters: where no terminal says


class Paper(NamedTuple):
    """A line of the main paper's table 7: % of DR taken off, % decided rightly."""

    reduced: float
    right: float


PAPER: dict[str, dict[Method, Paper]] = {
    "gender": {"gc": Paper(63, 77), "base": Paper(44, 40)},
    "age": {"gc": Paper(6, 78), "base": Paper(85, 23)},
    "religion": {"gc": Paper(7, 46), "base": Paper(47, 6)},
}


@dataclass
class Effect:
    """What a way of substituting made of a corpus. sets, eligible: None where nothing is barred."""

    name: str
    before: Sums
    after: Sums
    relevant: int
    sentences: int
    sets: int | None
    eligible: int | None

    def add(self, other: Effect) -> None:
        """Add another pane's."""
        self.before = representation.add(self.before, other.before)
        self.after = representation.add(self.after, other.after)
        self.relevant += other.relevant
        self.sentences += other.sentences
        if self.sets is not None and self.eligible is not None:
            self.sets += other.sets or 0
            self.eligible += other.eligible or 0

    def reduced(self) -> float:
        """The share of DR that was taken off; nan where there was none."""
        before = representation.score(self.before).dr
        after = representation.score(self.after).dr
        return 1 - after / before if before and after is not None else float("nan")


def configuration(attribute: str, method: Method, strictness: float) -> Config:
    """That of `evenflow run --mode substitute --attribute A --strictness S`."""
    settings = {"repair.mode": "substitute", "repair.method": method, "repair.strictness": strictness}
    return load(None, settings, only=[attribute])


def effects(corpus: Sequence[str], attribute: str, steps: Sequence[float]) -> list[Effect]:
    """Of GC-CDA at each strictness, then of BaseCDA under a plan and without one; sums over the corpus's panes."""
    gc = {step: Annotator(configuration(attribute, "gc", step)) for step in steps}
    base = Annotator(configuration(attribute, "base", 0.0))
    proposer = Annotator(configuration(attribute, "gc", 0.0))
    total: dict[str, Effect] = {}
    reader = files.Reader()
    for pane in gate.cut(files.match(corpus), base.config):
        blocks = [block for each in pane.segments for block in reader.segment(each.file, each.first, each.last, each.offset)]
        made: Iterator[Effect] = chain(
            closed({f"gc {step:g}": each for step, each in gc.items()}, [proposer.annotate(block) for block in blocks]),
            with_base(base, [base.annotate(block) for block in blocks]),
        )
        for each in made:
            if each.name in total:
                total[each.name].add(each)
            else:
                total[each.name] = each
    return list(total.values())


def with_base(annotator: Annotator, blocks: Sequence[Annotated]) -> Iterator[Effect]:
    """BaseCDA of a pane: under the plan, and half of the sentences."""
    yield from closed({"base, planned": annotator}, blocks)
    yield halved(annotator, blocks)


def closed(annotators: dict[str, Annotator], blocks: Sequence[Annotated]) -> Iterator[Effect]:
    """What each annotator's plan makes of a pane's blocks, by the steps with which the gate stages and closes it."""
    for name, annotator in annotators.items():
        attribute = annotator.attributes[0]
        with tempfile.TemporaryDirectory() as place:
            staged: list[gate.Staged] = []
            for number, block in enumerate(blocks):
                stem = f"{number:06d}"
                details = block.details
                if details is not None:  # nothing here is read from the table of sentences
                    details = replace(details, rows=Rows({attribute.name: attribute.groups}))
                gate.stage(replace(block, details=details), Path(place) / stem, annotator)
                staged.append(gate.Staged((0, number), stem, block.figures))
            gate.close_pane(0, staged, Path(place), annotator)
            ready = gate.read_ready(Path(place))
        repair = ready.repairs[attribute.name]
        relevant = sum(each.figures.attributes[attribute.name].relevant for each in staged)
        before, after = Sums(**repair["before"]), _sums(ready.figures, attribute.name)
        yield Effect(name, before, after, relevant, repair["sentences"], repair["sets"], repair["eligible"])


def halved(annotator: Annotator, blocks: Sequence[Annotated]) -> Effect:
    """BaseCDA as the paper has it: half of the sentences of the pane's largest group go to the others, in equal parts."""
    attribute = annotator.attributes[0]
    before, after = Figures(), Figures()
    for block in blocks:
        before.add(block.figures)
    counts = before.attributes[attribute.name].counts
    largest = attribute.groups[int(np.argmax(counts))]
    others = [group for group in attribute.groups if group != largest]
    rates = {group: HALF / len(others) for group in others}
    sentences = 0
    for block in blocks:
        ids, texts, places = (block.table.column(number).to_pylist() for number in range(3))
        row = {ordinal: number for number, ordinal in enumerate(places)}
        for document in block.details.proposed if block.details is not None else ():
            edits: list[Edit] = []
            for number, each in enumerate(document.sets[attribute.name]):
                target = planning.choose(0, document.id, number, rates, attribute.name) if each.source == largest else None
                if target is not None:
                    edits += each.edits[target]
                    sentences += 1
            texts[row[document.ordinal]] = apply(texts[row[document.ordinal]], edits)
        after.add(annotator.count("", ids, texts, places)[0])
    name = attribute.name
    return Effect("base, half", _sums(before, name), _sums(after, name), before.attributes[name].relevant, sentences, None, None)


def _sums(figures: Figures, attribute: str) -> Sums:
    own = figures.attributes[attribute]
    return Sums(documents=own.documents, counts=own.counts, products=own.products)


def shown(score: Score) -> str:
    """A score with its interval."""
    if score.dr is None:
        return "none"
    return f"{score.dr:.3f}" if score.low is None else f"{score.dr:.3f} ({score.low:.3f} to {score.high:.3f})"


def even_and_right(attribute: str, made: Sequence[Effect], outcomes: dict[tuple[str, str, str], Any]) -> Table:
    """An attribute's table: DR and share correct by way."""
    table = Table("way", "DR before", "DR after", "reduced", "sentences", "eligible", "correct", "of", title=attribute)
    for each in made:
        found = outcomes.get((attribute, "all", each.name))
        table.add_row(
            each.name,
            shown(representation.score(each.before)),
            shown(representation.score(each.after)),
            f"{each.reduced():.1%}",
            f"{each.sentences:,} ({each.sentences / max(each.relevant, 1):.1%})",
            "" if each.sets is None or each.eligible is None else f"{each.eligible / max(each.sets, 1):.0%} of {each.sets:,}",
            "" if found is None else interval(found[:, 2], found[:, 1]),
            "" if found is None else f"{found[:, 1].sum():.0f}",
        )
    for method, figures in PAPER.get(attribute, {}).items():
        table.add_row(
            f"paper, {method}", "", "", f"{figures.reduced:.0f}%", "", "", f"{figures.right:.0f}% (decided rightly)", "100"
        )
    return table


def decisions(outcomes: dict[tuple[str, str, str], Any]) -> Table:
    """Every stratum's figures of the sentences with answers."""
    columns = (
        "attribute",
        "stratum",
        "way",
        "sentences",
        "decided rightly",
        "correct among changed",
        "of",
        "barred wrongly",
        "of",
    )
    table = Table(*columns, title="sentences with answers, split report")
    for (attribute, stratum, name), found in outcomes.items():
        if name == "base, half":
            continue  # the draw aside, it is the same
        own = (interval(found[:, 0]), interval(found[:, 2], found[:, 1]), f"{found[:, 1].sum():.0f}")
        table.add_row(
            attribute,
            stratum,
            name.replace("base, planned", "base"),
            str(len(found)),
            *own,
            interval(found[:, 4], found[:, 3]),
            f"{found[:, 3].sum():.0f}",
        )
    return table


def picture(made: dict[str, list[Effect]], outcomes: dict[tuple[str, str, str], Any]) -> str:
    """The plot: one curve an attribute, BaseCDA's points and the paper's."""
    curves: list[Curve] = []
    for attribute, own in made.items():
        points = [(each, outcomes.get((attribute, "all", each.name))) for each in own]
        places = [
            Mark(100 * each.reduced(), 100 * found[:, 2].sum() / found[:, 1].sum(), each.name)
            for each, found in points
            if found is not None and found[:, 1].sum()
        ]
        curves.append(
            Curve(
                attribute,
                [bare(mark) for mark in places if mark.label.startswith("gc")],
                [mark for mark in places if mark.label == "base, half"],
                [Mark(each.reduced, each.right, f"paper, {method}") for method, each in PAPER.get(attribute, {}).items()],
            )
        )
    return svg("share of DR taken off, %", "correct among changed, % (the paper's crosses: decided rightly)", curves)


def bare(mark: Mark) -> Mark:
    """A point of a curve, labelled with its strictness alone."""
    return mark._replace(label=mark.label.removeprefix("gc "))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="*", default=[str(DEMO)], help="JSON lines with a field text, .gz or plain")
    parser.add_argument("--gold", type=Path, nargs="*", default=[], help="more sentences with answers, JSON lines")
    parser.add_argument("--whole", action="store_true", help="sentences with answers in their whole documents")
    parser.add_argument("--strictness", type=float, nargs="*", default=STRICTNESS)
    parser.add_argument("--attribute", nargs="*", default=list(PAPER))
    parser.add_argument("--plot", type=Path, help="where to write the picture, SVG")
    options = parser.parse_args()
    console = Console(width=WIDTH)
    rows = {key: own for key, own in answers([GOLD, *options.gold], "report").items() if key[0] in options.attribute}
    if options.whole:
        rows = {key: list(in_documents(own, list(map(Path, options.corpus)))) for key, own in rows.items()}
    began = time.perf_counter()
    outcomes = correctness(rows, options.strictness)
    made: dict[str, list[Effect]] = {}
    for attribute in options.attribute:
        made[attribute] = effects(options.corpus, attribute, options.strictness)
        console.print(even_and_right(attribute, made[attribute], outcomes))
    console.print(decisions(outcomes))
    console.print(f"{time.perf_counter() - began:.0f} s")
    if options.plot is not None:
        options.plot.write_text(picture(made, outcomes), encoding="utf-8")


if __name__ == "__main__":
    main()
