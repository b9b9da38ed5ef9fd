"""`evenflow words list`, `show` and `check`: what is measured."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.cli.keys import Keys
from evenflow.pipelines.terminal.endings import printing, show
from evenflow.pipelines.terminal.lines import visible
from evenflow.schemas.errors import USAGE

if TYPE_CHECKING:
    from evenflow.schemas.config import Config
    from evenflow.wordlists.loader import WordList


NameArgument = Annotated[
    str, typer.Argument(metavar="NAME|PATH", help="A shipped list's name, or a list's path.")
]
NamesArgument = Annotated[
    list[str], typer.Argument(metavar="NAME|PATH", help="Shipped lists' names, or lists' paths.")
]


@command("evenflow words list")
def wordlists_list(as_json: options.JsonOption = False) -> None:
    """List the shipped word lists, with their groups and numbers of labels.

    Those that are measured by default have an asterisk.
    """
    from evenflow.pipelines.terminal import tables
    from evenflow.wordlists import loader

    rows = [
        {"name": name, "default": name in loader.SHIPPED} | _sizes(loader.load(name))
        for name in loader.NAMED
    ]
    show(rows, as_json, tables.lists)


@command("evenflow words show gender", "evenflow words show mine.yaml --json")
def wordlists_show(name: NameArgument, as_json: options.JsonOption = False) -> None:
    """Show the labels of a word list, by group."""
    from evenflow.wordlists import loader

    words = loader.load(name)
    groups = {
        group: [label for label, i in words.labels.items() if i == n]
        for n, group in enumerate(words.groups)
    }
    with printing():
        if as_json:
            about = {"attribute": words.attribute, "source": words.source, "licence": words.licence}
            about |= {"review": words.review, "provenance": words.provenance}
            exact = sorted(words.exact)
            print(
                json.dumps(
                    about | {"groups": groups, "exact": exact, "counterparts": words.counterparts},
                    indent=1,
                )
            )
            return
        for group, labels in groups.items():
            print(visible(f"{group}: {', '.join(labels)}"))


@command(
    "evenflow words check gender mine.yaml",
    "evenflow words check age --corpus 'texts/*.jsonl.gz'",
    options=("fields.text",),
)
def wordlists_check(
    names: NamesArgument,
    corpus: Annotated[
        list[str] | None,
        typer.Option("--corpus", metavar="PATH", help="Texts: a path, folder or glob; repeatable."),
    ] = None,
    *,
    fields: Keys,
    passages: Annotated[
        int,
        typer.Option(min=1, max=1000, metavar="N", help="Most mentions of a label that are read."),
    ] = 12,
    as_json: options.JsonOption = False,
) -> None:
    """Check word lists and their role maps; with --corpus also what their labels name.

    Every defect is named with file, line and label. With --corpus: how often each label names a
    person of its group, with its interval of 95 % and examples, and what that does to DR.

    Exit status: 0 all are sound, 2 there is a defect.
    """
    from evenflow.transforms.lab.word_lists import criteria
    from evenflow.transforms.substitution import roles
    from evenflow.wordlists import loader

    checked: list[dict[str, Any]] = []
    for name in names:
        try:
            words = loader.load(name)
            # The role map, if the list's folder has one
            roles.of(words)
            also = criteria.common_words(words)
            checked.append(
                {"list": name, "sound": True, **_sizes(words), "defects": [], "common_words": also}
            )
        except (loader.WordListError, roles.RoleMapError) as error:
            checked.append({"list": name, "sound": False, "defects": str(error).splitlines()})
    for each in checked if corpus else ():
        if each["sound"]:
            each["corpus"] = _in_corpus(
                each["list"], corpus or [], fields.configuration(), passages
            )
    with printing():
        if as_json:
            print(json.dumps(checked, indent=1))
        else:
            for each in checked:
                if each["sound"]:
                    labels = sum(each["groups"].values())
                    print(
                        visible(
                            f"{each['list']}: sound; {len(each['groups'])} groups, {labels} labels"
                        )
                    )
                for label, other in each.get("common_words", {}).items():
                    print(
                        visible(
                            f"{each['list']}: {label} counts each “{other}” too, a frequent word;"
                            f" write {{label: {label}, case: exact}}"
                        )
                    )
                if "corpus" in each:
                    from evenflow.pipelines.terminal import tables

                    tables.labels_in_corpus(each["corpus"])
    defects = [defect for each in checked for defect in each["defects"]]
    if defects and not as_json:
        raise loader.WordListError("\n".join(defects))
    raise typer.Exit(USAGE if defects else 0)


def _in_corpus(name: str, corpus: list[str], settings: Config, passages: int) -> dict[str, Any]:
    """How often the labels of a list name people in a corpus."""
    from evenflow.transforms.annotation import label_people
    from evenflow.transforms.io import files
    from evenflow.transforms.io.blocks import join_texts, read_blocks
    from evenflow.transforms.io.records import validate
    from evenflow.wordlists import loader

    blocks = join_texts(block for each in files.match(corpus) for block in read_blocks(each))
    found = (validate(block, settings, frozenset(), keep_fields=False) for block in blocks)
    source = ((each.ids, each.texts) for each in found)
    return label_people.check(loader.load(name), source, passages)


def _sizes(words: WordList) -> dict[str, Any]:
    """A list's groups with their numbers of labels, as JSON-able data."""
    groups = list(words.labels.values())
    return {
        "attribute": words.attribute,
        "groups": {group: groups.count(index) for index, group in enumerate(words.groups)},
        "source": words.source,
        "review": words.review,
    }
