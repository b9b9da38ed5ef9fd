"""The files of a review: a draft that is made or found, and what a finished review writes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from evenflow.schemas.config import Config
from evenflow.schemas.words import counted
from evenflow.transforms.lab.word_lists import corpus, criteria, finish, flagged, proposals
from evenflow.transforms.lab.word_lists import draft as drafts
from evenflow.transforms.lab.word_lists.journal import ENDING, Journal
from evenflow.transforms.lab.word_lists.proposals import WordSpace, counterparts
from evenflow.transforms.llm.worker import settings as server_settings
from evenflow.transforms.measures.bias_score import vectors
from evenflow.transforms.measures.stereotypes.calibration import LEAST_READ
from evenflow.transforms.storage.storage import at
from evenflow.wordlists import loader, writing


def generate(
    output: Path,
    attribute: str,
    seeds: Mapping[str, Sequence[str]],
    inputs: Sequence[str],
    config: Config,
    *,
    option: Literal["A", "B"],
    top: int,
    runs: int,
    words: int,
    licence: str,
) -> tuple[drafts.Draft, proposals.AskedWords]:
    """Make a draft of the words that a language model says, with the seeds as examples.

    Args:
        seeds: Words by group; a group may have none.
        inputs: Texts in which words are counted.
        config: Its section llm names the model.

    Raises:
        DraftError: People have reviewed this draft.
    """
    if output.with_name(output.name + ENDING).exists():
        raise drafts.DraftError(f"{output}: people have reviewed this draft; give another --output")
    space = WordSpace(vectors.load(None))
    answers = output.with_name(output.name + ".answers.sqlite")
    asked = proposals.ask_server(server_settings(config), answers, attribute, seeds, runs, words)
    made = drafts.make(
        attribute,
        asked.proposals,
        corpus.texts(inputs, config),
        option=option,
        top=top,
        source=f"words of the language model {config.llm.model}, {runs} runs",
        licence=licence,
        known=space.places,
        associations=criteria.associations(attribute),
        counterparts=lambda own: counterparts(space, seeds, own) if all(seeds.values()) else {},
    )
    drafts.write(output, made)
    return made, asked


def draft_of(path: Path, inputs: Sequence[str], config: Config) -> tuple[Path, bool]:
    """The draft of a path, and whether it was made now: beside a typed list, or a run's output.

    Args:
        path: A draft, a word list (YAML), or the output of a run, whose flagged sentences it has.
        inputs: Of a list: texts in which its labels are counted.

    Raises:
        DraftError: The draft that is there is of other labels.
    """
    if path.is_dir():
        path = path.resolve()
        made = path.with_name(f"{path.name}.draft.json")
        if is_new := not made.exists():
            drafts.write(made, flagged.draw(path))
        return made, is_new
    if path.suffix not in (".yaml", ".yml"):
        return path, False
    words, made = loader.load(path), path.with_name(f"{path.stem}.draft.json")
    if made.exists():
        stored = [form for each in drafts.read(made).candidates for form in each.forms]
        if set(stored) != set(words.labels):
            raise drafts.DraftError(
                f"{path}: its labels are others than those of {made}, which is reviewed; give the"
                " list another name, or remove the draft and its journal"
            )
        return made, False
    known, own = WordSpace(vectors.load(None)).places, criteria.associations(words.attribute)
    read = corpus.texts(inputs, config) if inputs else ()
    drafts.write(made, drafts.of_list(words, read, known=known, associations=own))
    return made, True


def finished(path: Path, to: Path, leave_undecided: bool, majority: bool) -> Iterator[str]:
    """Write the word list, or the calibration, of a reviewed draft; yields what it holds.

    Raises:
        DraftError: Words are undecided, or reviewers differ.
    """
    made = drafts.read(path)
    found = Journal(made, path).state().opinions
    if made.candidates and made.candidates[0].band is not None:
        yield from _calibrated(finish.sentences(made, found, leave_undecided, majority), to)
        return
    words = finish.finish(made, found, leave_undecided=leave_undecided, majority=majority)
    folder = at(to.parent)
    folder.write(to.name, writing.content(words).encode())
    if roles := finish.roles(made, found, words):
        folder.write(f"roles_{to.stem}.yaml", writing.roles(words, roles).encode())
    for number, group in enumerate(words.groups):
        yield f"{group}: {counted(list(words.labels.values()).count(number), 'label')}"


def _calibrated(figures: Mapping[str, Any], to: Path) -> Iterator[str]:
    """Write a calibration of sentences; yields how often they were right."""
    if not figures["called"]:
        raise drafts.DraftError(
            "nobody has read a whole band of sentences yet, so nothing is written"
        )
    at(to.parent).write(to.name, (json.dumps(figures, indent=1) + "\n").encode())
    for name, bounds in figures["bounds"].items():
        for bound, (_, read, _) in zip(bounds, figures["called"][name], strict=True):
            least, share, low, high = bound
            yield f"{name} from {least}: {share} right [{low}, {high}], {read} read"
        if figures["called"][name][0][1] < LEAST_READ:
            yield f"{name}: fewer than {LEAST_READ} read, too few for a cut"
