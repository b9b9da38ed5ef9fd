"""`evenflow lab mine`: the sentences of which a model leans most, perhaps after an intervention."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evenflow.pipelines.cli import options
from evenflow.pipelines.terminal import pace
from evenflow.pipelines.terminal.endings import Session, printing
from evenflow.transforms.storage.storage import at

if TYPE_CHECKING:
    from evenflow.pipelines.lab.train.mining import Counts

SHOWN_WORDS = 5


def lab_mine(
    inputs: list[str],
    *,
    selection: options.Selection,
    model: str | None = None,
    random: bool = False,
    top: options.Count = 100,
    intervene: str | None = None,
    without: Sequence[str] = (),
    output: Path | None = None,
    seed: int = 0,
    quiet: bool = False,
    session: Session,
) -> None:
    """Find the sentences in which a model most expects one group.

    The words that name a group are masked. A sentence's score is the mean difference of the
    logarithms of what the model gives the words of both groups. Prints JSON lines, or writes them
    to --output with the sentences after an intervention. If it was killed, run it again: it goes
    on. It needs the extra `lab`, except with --random.

    Args:
        inputs (INPUT): Output of a gate; or paths, folders or globs.
        model (DIR|NAME): Folder of a model, or a name in build/models.
        random: Draw sentences at random, without a model.
        top (K): Sentences for each pair of groups.
        intervene: Replace the words: naive-masking, neutral-masking, random-phrase-masking,
            female-first-random-phrase-masking, fixed-phrase-masking-1 to -4, counterfactual.
        without (WORD): Leave this word of the list as it is, such as god; repeatable.
        output (DIR): Where results go; DIR/records is input of `run`.  [default: standard output]

    Examples:
        evenflow lab mine out --model bert-base-uncased --top 10
        evenflow lab mine corpus/ --model bert-base-uncased -a gender --top 500
        evenflow lab mine out --random --top 50 --intervene neutral-masking -o drawn
        evenflow lab mine out --model m --intervene random-phrase-masking -o mined
    """
    from evenflow.pipelines.lab.paper.settings import Mined
    from evenflow.pipelines.lab.train.mining import mine as run
    from evenflow.pipelines.lab.train.mining_inputs import scorer_of

    if (model is None) != random:
        raise options.wrong("--model", "give --model, or --random without one")
    if intervene is not None and output is None:
        raise options.wrong("--intervene", "--intervene goes with --output")
    config = selection.configuration()
    if output is not None:
        session.output, session.resumable = at(output), True
    how = Mined(top=top, intervention=intervene, random=random, without=list(without), seed=seed)
    name, progress = model or "", pace.lines(session, quiet, _line())
    load = partial(scorer_of, name)
    lines, counts = run(inputs, config, how, load, name, output, progress)
    _notes(len(lines), counts, top, session)
    with printing():
        if output is None:
            for line in lines:
                print(json.dumps(line, ensure_ascii=False))
        else:
            print(
                f"{len(lines):,} of {counts.scored:,} sentences of {counts.documents:,} documents"
                f" are in {output}"
            )


def _notes(lines: int, counts: Counts, top: int, session: Session) -> None:
    """Say what was not scored, and that there were fewer sentences than asked for."""
    for reason, number in sorted(counts.left.items()):
        session.note(f"not scored: {number:,} sentences ({reason})")
    if counts.words:
        first = sorted(counts.words, key=lambda word: (-counts.words[word], word))
        text = ", ".join(first[:SHOWN_WORDS])
        more = "" if len(first) <= SHOWN_WORDS else f" and {len(first) - SHOWN_WORDS} more"
        session.note(f"the model has no one token for {text}{more}")
    if lines < top:
        session.note(f"only {lines:,} sentences were found")


def _line() -> Callable[[Counts], str]:
    """What says the progress."""
    began = time.monotonic()

    def text(counts: Counts) -> str:
        rate = counts.scored / max(time.monotonic() - began, 1e-9)
        return f"{counts.documents:,} documents, {counts.scored:,} sentences, {rate:,.0f} a second"

    return text
