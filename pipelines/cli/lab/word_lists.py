"""`evenflow words show`, `check`, `complete` and `compare`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
from click.exceptions import Exit

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.terminal.endings import show
from evenflow.schemas.errors import USAGE

if TYPE_CHECKING:
    from evenflow.wordlists.loader import WordList


@command(
    "evenflow words complete mine.yaml --corpus corpus/",
    "evenflow words complete mine.yaml --corpus texts/ --output new.yaml",
)
def words_complete(
    name: str,
    *,
    corpus: list[str],
    output: Path | None = None,
    values: options.Values,
    as_json: bool = False,
) -> None:
    """Find what a word list lacks, by the criteria C1 to C3.

    They are counterparts (C1), singulars and plurals (C2), and convergence (C3). A missing form
    counts if the corpus has it. With --output, a list with these forms is written; read it before
    you use it, since a rule makes forms that nobody means ("secondary").

    Args:
        output: Write the list with the added forms.
    """
    from evenflow.pipelines.terminal import list_tables
    from evenflow.transforms.lab.word_lists import corpus as corpora
    from evenflow.transforms.lab.word_lists import report

    texts = corpora.texts(corpus, values.configuration())
    result, fuller = report.completed(name, texts)
    if output is not None:
        write_list(output, fuller)
    show(result, as_json, list_tables.complete)


@command("evenflow words compare mine.yaml gender", "evenflow words compare a.yaml b.yaml --json")
def words_compare(name: str, reference: str, *, as_json: bool = False) -> None:
    """Compare a word list with a reference.

    Precision is the share of the list's labels that the reference has, recall the share of the
    reference's labels that the list has.

    Args:
        reference (REFERENCE): The list that it is compared with.
    """
    from evenflow.pipelines.terminal import list_tables
    from evenflow.transforms.lab.word_lists import report

    show(report.compared(name, reference), as_json, list_tables.compare)


def write_list(path: Path, words: WordList) -> None:
    """Write a word list as a file."""
    from evenflow.transforms.storage.storage import at
    from evenflow.wordlists import writing

    at(path.parent).write(path.name, writing.content(words).encode())


@command(
    "evenflow words show", "evenflow words show gender", "evenflow words show mine.yaml --json"
)
def words_show(name: str | None = None, *, as_json: bool = False) -> None:
    """Show the shipped word lists, or the labels of one, by group.

    Of the lists, those that are measured by default have an asterisk.
    """
    from evenflow.pipelines.terminal import list_tables, tables
    from evenflow.transforms.lab.word_lists import report
    from evenflow.wordlists import loader

    if name is not None:
        show(report.shown(loader.load(name)), as_json, list_tables.labels)
        return
    rows = [
        {"name": name, "default": name in loader.SHIPPED} | report.sizes(loader.load(name))
        for name in loader.NAMED
    ]
    show(rows, as_json, tables.lists)


@command(
    "evenflow words check gender mine.yaml",
    "evenflow words check age --corpus 'texts/*.jsonl.gz'",
)
def words_check(
    lists: list[str],
    *,
    corpus: Sequence[str] = (),
    values: options.Values,
    passages: Annotated[int, click.IntRange(1, 1000)] = 12,
    as_json: bool = False,
) -> None:
    """Check word lists and role maps; with --corpus what labels name.

    Every defect is named with file, line and label. With --corpus: how often each label names a
    person of its group, with its interval of 95 % and examples, and what that does to DR.

    Exit status: 0 all are sound, 2 there is a defect.

    Args:
        lists (NAME|PATH): Shipped lists' names, or lists' paths.
        passages: Most mentions of a label that are read.
    """
    from evenflow.pipelines.terminal import list_tables
    from evenflow.transforms.annotation import label_people
    from evenflow.transforms.lab.word_lists import report
    from evenflow.wordlists import loader

    checked = report.checked(lists)
    for row in checked if corpus else ():
        if row["sound"]:
            config = values.configuration()
            row["corpus"] = label_people.in_files(row["list"], list(corpus), config, passages)
    show(checked, as_json, list_tables.checked)
    defects = [defect for row in checked for defect in row["defects"]]
    if defects and not as_json:
        raise loader.WordListError("\n".join(defects))
    raise Exit(USAGE if defects else 0)
