"""`evenflow words show` and `check`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import click

from evenflow.pipelines.cli import options
from evenflow.schemas.errors import USAGE


def words_show(name: str | None = None) -> options.Shown:
    """Show the shipped word lists, or the labels of one, by group.

    Of the lists, those that are measured by default have an asterisk.

    Examples:
        evenflow words show
        evenflow words show gender
        evenflow words show mine.yaml --json
    """
    from evenflow.pipelines.terminal import list_tables, tables
    from evenflow.transforms.lab.word_lists import report
    from evenflow.wordlists import loader

    if name is not None:
        return options.Shown(report.shown(loader.load(name)), list_tables.labels)
    rows = [
        {"name": name, "default": name in loader.SHIPPED} | report.sizes(loader.load(name))
        for name in loader.NAMED
    ]
    return options.Shown(rows, tables.lists)


def words_check(
    lists: list[str],
    *,
    corpus: Sequence[str] = (),
    complete: Path | None = None,
    against: str | None = None,
    values: options.Values,
    passages: Annotated[int, click.IntRange(1, 1000)] = 12,
) -> options.Shown:
    """Check word lists and role maps; with --corpus what labels name.

    Every defect is named with file, line and label. With --corpus: how often each label names a
    person of its group, with its interval of 95 % and examples, and what that does to DR.

    Exit status: 0 all are sound, 2 there is a defect.

    Args:
        lists (NAME|PATH): Shipped lists' names, or lists' paths.
        complete (FILE): Find what one list lacks by the criteria C1 (counterparts), C2 (singulars
            and plurals that --corpus has) and C3 (convergence), and write it with these forms. Read
            it: a rule makes forms that nobody means ("secondary").
        against (NAME|PATH): Compare one list with another: precision is the share of its labels
            that the other has, recall the share of the other's labels that it has.
        passages: Most mentions of a label that are read.

    Examples:
        evenflow words check gender mine.yaml
        evenflow words check age --corpus 'texts/*.jsonl.gz'
        evenflow words check mine.yaml --corpus corpus/ --complete new.yaml
        evenflow words check mine.yaml --against gender --json
    """
    from evenflow.pipelines.terminal import list_tables
    from evenflow.transforms.lab.word_lists import report
    from evenflow.wordlists import loader

    if (complete or against) and len(lists) > 1:
        raise options.wrong("LIST", "give one list with --complete and --against")
    if against is not None:
        return options.Shown(report.compared(lists[0], against), list_tables.compare)
    if complete is not None:
        from evenflow.transforms.lab.word_lists import corpus as corpora
        from evenflow.wordlists import writing

        texts = corpora.texts(list(corpus), values.configuration())
        result, fuller = report.completed(lists[0], texts)
        options.write(complete, writing.content(fuller).encode())
        return options.Shown(result, list_tables.complete)
    checked = report.checked(lists)
    for row in checked if corpus else ():
        if not row["defects"]:
            from evenflow.transforms.annotation import label_people
            from evenflow.transforms.io import documents

            read = documents.read(corpus, values.configuration())
            texts = ((block.ids, block.texts) for block in read)
            row["corpus"] = label_people.check(loader.load(row["list"]), texts, passages)
    defects = [defect for row in checked for defect in row["defects"]]

    def draw(rows: Sequence[dict[str, Any]]) -> None:
        list_tables.checked(rows)
        if defects:
            raise loader.WordListError("\n".join(defects))

    return options.Shown(checked, draw, USAGE if defects else 0)
