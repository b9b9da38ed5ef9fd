"""`evenflow words list`, `show`, `check`, `complete` and `compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import argument, command, option
from evenflow.pipelines.cli.keys import Keys
from evenflow.pipelines.terminal.endings import show
from evenflow.schemas.errors import USAGE

if TYPE_CHECKING:
    from evenflow.wordlists.loader import WordList


CorpusOption = Annotated[
    list[str], option("PATH", "Texts: a path, folder or glob; repeatable.", "--corpus")
]
ListArgument = Annotated[str, argument("NAME|PATH", "The word list.")]


@command(
    "evenflow words complete mine.yaml --corpus corpus/",
    "evenflow words complete mine.yaml --corpus texts/ --output new.yaml",
    "evenflow words complete mine.yaml --corpus texts/ --page page.html",
    options=("fields.text",),
)
def complete(
    name: ListArgument,
    corpus: CorpusOption,
    *,
    output: Annotated[
        Path | None, option("FILE", "Write the list with the added forms.", "--output", "-o")
    ] = None,
    least: Annotated[int, option("N", "Mentions that an added form needs.", min=1)] = 1,
    tolerance: Annotated[
        float, option("E", "DR has settled within ± E of its end.", min=0.0)
    ] = 0.001,
    page: Annotated[
        Path | None, option("FILE.html", "Write a page with the curves of DR.", "--page")
    ] = None,
    fields: Keys,
    as_json: options.JsonOption = False,
) -> None:
    """Find what a word list lacks: counterparts (C1), singulars and plurals (C2), convergence (C3).

    A missing form counts if the corpus has it. With --output, a list with these forms is written;
    read it before you use it, since a rule makes forms that nobody means ("secondary").
    """
    from evenflow.pipelines.terminal import list_tables
    from evenflow.transforms.lab.word_lists import corpus as corpora
    from evenflow.transforms.lab.word_lists import report

    texts = corpora.texts(corpus, fields.configuration())
    result, fuller = report.completed(name, texts, least, tolerance)
    if output is not None:
        write_list(output, fuller)
    if page is not None:
        from evenflow.pipelines.pages.report import completeness
        from evenflow.transforms.storage.storage import at

        at(page.parent).write(page.name, completeness.page(result).encode())
    show(result, as_json, list_tables.complete)


@command(
    "evenflow words compare mine.yaml gender",
    "evenflow words compare mine.yaml gender --corpus texts/ --json",
    options=("fields.text",),
)
def compare(
    name: ListArgument,
    reference: Annotated[str, argument("REFERENCE", "The list that it is compared with.")],
    *,
    corpus: Annotated[
        list[str] | None, option("PATH", "Texts for DR under each list; repeatable.", "--corpus")
    ] = None,
    fields: Keys,
    as_json: options.JsonOption = False,
) -> None:
    """Compare a word list with a reference: overlap, precision, recall, and DR under each.

    Precision is the share of the list's labels that the reference has, recall the share of the
    reference's labels that the list has. The difference of the DRs has an interval of 95 % that
    draws documents, the same ones for both lists.
    """
    from evenflow.pipelines.terminal import list_tables
    from evenflow.transforms.lab.word_lists import corpus as corpora
    from evenflow.transforms.lab.word_lists import report

    texts = corpora.texts(corpus, fields.configuration()) if corpus else None
    result = report.compared(name, reference, texts)
    show(result, as_json, list_tables.compare)


def write_list(path: Path, words: WordList) -> None:
    """Write a word list as a file.

    Args:
        path: The file.
        words: The list.

    Raises:
        OSError: The file cannot be written.
    """
    from evenflow.transforms.storage.storage import at
    from evenflow.wordlists import writing

    at(path.parent).write(path.name, writing.content(words).encode())


NameArgument = Annotated[str, argument("NAME|PATH", "A shipped list's name, or a list's path.")]
NamesArgument = Annotated[
    list[str], argument("NAME|PATH", "Shipped lists' names, or lists' paths.")
]


@command("evenflow words list")
def wordlists_list(as_json: options.JsonOption = False) -> None:
    """List the shipped word lists, with their groups and numbers of labels.

    Those that are measured by default have an asterisk.
    """
    from evenflow.pipelines.terminal import tables
    from evenflow.transforms.lab.word_lists import report
    from evenflow.wordlists import loader

    rows = [
        {"name": name, "default": name in loader.SHIPPED} | report.sizes(loader.load(name))
        for name in loader.NAMED
    ]
    show(rows, as_json, tables.lists)


@command("evenflow words show gender", "evenflow words show mine.yaml --json")
def wordlists_show(name: NameArgument, as_json: options.JsonOption = False) -> None:
    """Show the labels of a word list, by group."""
    from evenflow.pipelines.terminal import list_tables
    from evenflow.transforms.lab.word_lists import report
    from evenflow.wordlists import loader

    show(report.shown(loader.load(name)), as_json, list_tables.labels)


@command(
    "evenflow words check gender mine.yaml",
    "evenflow words check age --corpus 'texts/*.jsonl.gz'",
    options=("fields.text",),
)
def wordlists_check(
    names: NamesArgument,
    corpus: Annotated[
        list[str] | None, option("PATH", "Texts: a path, folder or glob; repeatable.", "--corpus")
    ] = None,
    *,
    fields: Keys,
    passages: Annotated[
        int, option("N", "Most mentions of a label that are read.", min=1, max=1000)
    ] = 12,
    as_json: options.JsonOption = False,
) -> None:
    """Check word lists and their role maps; with --corpus also what their labels name.

    Every defect is named with file, line and label. With --corpus: how often each label names a
    person of its group, with its interval of 95 % and examples, and what that does to DR.

    Exit status: 0 all are sound, 2 there is a defect.
    """
    from evenflow.pipelines.terminal import list_tables
    from evenflow.transforms.annotation import label_people
    from evenflow.transforms.lab.word_lists import report
    from evenflow.wordlists import loader

    checked = report.checked(names)
    for row in checked if corpus else ():
        if row["sound"]:
            config = fields.configuration()
            row["corpus"] = label_people.in_files(row["list"], corpus or [], config, passages)
    show(checked, as_json, list_tables.checked)
    defects = [defect for row in checked for defect in row["defects"]]
    if defects and not as_json:
        raise loader.WordListError("\n".join(defects))
    raise typer.Exit(USAGE if defects else 0)
