"""`evenflow words complete` and `compare`: lists against a corpus and against each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import argument, command, option
from evenflow.pipelines.cli.keys import Keys
from evenflow.pipelines.terminal.endings import show

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
