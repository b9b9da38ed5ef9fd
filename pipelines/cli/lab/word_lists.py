"""`evenflow words complete` and `compare`: lists against a corpus and against each other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.cli.keys import Keys
from evenflow.pipelines.terminal.endings import printing
from evenflow.pipelines.terminal.lines import visible

if TYPE_CHECKING:
    from evenflow.transforms.lab.word_lists.complete import Missing, Point
    from evenflow.transforms.lab.word_lists.corpus import Mentions
    from evenflow.wordlists.loader import WordList

SHOWN = 20  # lines of a long table; --json prints all

CorpusOption = Annotated[
    list[str],
    typer.Option("--corpus", metavar="PATH", help="Texts: a path, folder or glob; repeatable."),
]
ListArgument = Annotated[str, typer.Argument(metavar="NAME|PATH", help="The word list.")]


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
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the list with the added forms."),
    ] = None,
    least: Annotated[
        int, typer.Option(min=1, metavar="N", help="Mentions that an added form needs.")
    ] = 1,
    tolerance: Annotated[
        float, typer.Option(min=0.0, metavar="E", help="DR has settled within ± E of its end.")
    ] = 0.001,
    page: Annotated[
        Path | None,
        typer.Option("--page", metavar="FILE.html", help="Write a page with the curves of DR."),
    ] = None,
    fields: Keys,
    as_json: options.JsonOption = False,
) -> None:
    """Find what a word list lacks: counterparts (C1), singulars and plurals (C2), convergence (C3).

    A missing form counts if the corpus has it. With --output, a list with these forms is written;
    read it before you use it, since a rule makes forms that nobody means ("secondary").
    """
    from evenflow.transforms.lab.word_lists import compare, complete
    from evenflow.transforms.lab.word_lists import corpus as corpora
    from evenflow.transforms.substitution import roles
    from evenflow.wordlists import loader

    words = loader.load(name)
    missing = complete.missing_numbers(words)
    before, after = corpora.count(
        corpora.texts(corpus, fields.configuration()), [words, complete.with_words(words, missing)]
    )
    counts = after.frequencies
    present = sorted(
        (each for each in missing if counts[each.word] >= least),
        key=lambda each: (-counts[each.word], each.word),
    )
    fuller = _with_forms(words, complete.with_partners(words, present, missing))
    kept = [label in fuller.labels for label in after.labels]
    after = replace(
        after,
        words=fuller,
        labels=[label for label in after.labels if label in fuller.labels],
        groups=after.groups[kept],
        counts=after.counts[:, kept],
    )
    if output is not None:
        write_list(output, fuller)
    curves = {"list": complete.curve(before), "completed": complete.curve(after)}
    result = {
        "list": name,
        "documents": before.documents,
        "tolerance": tolerance,
        "missing_counterparts": complete.missing_counterparts(words, roles.of(words)),
        "missing_forms": [
            {"word": each.word, "group": words.groups[each.group], "of": each.of}
            | {"mentions": counts[each.word]}
            for each in present
        ],
        "forms_not_in_corpus": sorted(each.word for each in missing if not counts[each.word]),
        "curves": {
            which: [{"words": each.words, **each.score.model_dump()} for each in points]
            for which, points in curves.items()
        },
        "settled_at": {
            which: complete.settled(points, tolerance) for which, points in curves.items()
        },
        "labels": [
            {"label": label, "group": group, "mentions": mentions, "share": round(share, 6)}
            for label, group, mentions, share in compare.shares(after)
        ],
    }
    if page is not None:
        from evenflow.pipelines.pages.report import completeness
        from evenflow.transforms.storage.storage import at

        at(page.parent).write(page.name, completeness.page(result).encode())
    with printing():
        if as_json:
            print(json.dumps(result, indent=1))
        else:
            _print_complete(result, curves, tolerance)


@command(
    "evenflow words compare mine.yaml gender",
    "evenflow words compare mine.yaml gender --corpus texts/ --json",
    options=("fields.text",),
)
def compare(
    name: ListArgument,
    reference: Annotated[
        str, typer.Argument(metavar="REFERENCE", help="The list that it is compared with.")
    ],
    *,
    corpus: Annotated[
        list[str] | None,
        typer.Option("--corpus", metavar="PATH", help="Texts for DR under each list; repeatable."),
    ] = None,
    fields: Keys,
    as_json: options.JsonOption = False,
) -> None:
    """Compare a word list with a reference: overlap, precision, recall, and DR under each.

    Precision is the share of the list's labels that the reference has, recall the share of the
    reference's labels that the list has. The difference of the DRs has an interval of 95 % that
    draws documents, the same ones for both lists.
    """
    from evenflow.transforms.lab.word_lists import compare as comparing
    from evenflow.transforms.lab.word_lists import corpus as corpora
    from evenflow.transforms.measures.representation import dr
    from evenflow.wordlists import loader

    lists = [loader.load(name), loader.load(reference)]
    groups: list[dict[str, Any]] = [
        {"group": each.group, "both": len(each.both)}
        | {"precision": each.precision, "recall": each.recall}
        | {"only_list": each.only_list, "only_reference": each.only_reference}
        for each in comparing.overlaps(*lists)
    ]
    result: dict[str, Any] = {"list": name, "reference": reference, "groups": groups}
    if corpus:
        found = corpora.count(corpora.texts(corpus, fields.configuration()), lists)
        result["dr"] = [dr.score(dr.sums(each.by_group())).model_dump() for each in found]
        result["difference"] = comparing.difference(*_same_groups(found))
    with printing():
        if as_json:
            print(json.dumps(result, indent=1))
        else:
            _print_compare(result)


def _same_groups(found: Sequence[Mentions]) -> Sequence[Mentions]:
    """Mentions whose second list has its groups in the order of the first."""
    first, second = found
    order = [second.words.groups.index(group) for group in first.words.groups]
    words = replace(second.words, groups=first.words.groups)
    place = {old: new for new, old in enumerate(order)}
    groups = second.groups.copy()
    for old, new in place.items():
        groups[second.groups == old] = new
    return [first, replace(second, words=words, groups=groups)]


def _with_forms(words: WordList, present: Sequence[Missing]) -> WordList:
    """The list with forms, their pairs, and where they come from."""
    from evenflow.transforms.lab.word_lists import complete

    pairs = [*words.pairs, *complete.missing_pairs(words, present)]
    made = {each.word: f"{each.why}, other number of {each.of}" for each in present}
    return replace(
        complete.with_words(words, present),
        pairs=tuple(dict.fromkeys(pairs)),
        provenance=words.provenance | made,
    )


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


def _print_complete(
    result: dict[str, Any], curves: dict[str, list[Point]], tolerance: float
) -> None:
    """Print what a list lacks, as lines of text."""
    lacking = result["missing_counterparts"]
    print(f"{result['documents']:,} documents")
    print(f"C1: {len(lacking)} labels without a counterpart in some group")
    for label, groups in list(lacking.items())[:SHOWN]:
        print(visible(f"  {label}: none in {', '.join(groups)}"))
    forms = result["missing_forms"]
    print(
        f"C2: {len(forms)} singulars or plurals are in the corpus and not in the list;"
        f" {len(result['forms_not_in_corpus'])} more are in neither"
    )
    for each in forms[:SHOWN]:
        print(
            visible(f"  {each['word']} ({each['group']}, {each['of']}): {each['mentions']:,} times")
        )
    if max(len(lacking), len(forms)) > SHOWN:
        print("  …; --json prints all")
    for which, points in curves.items():
        if not points:
            print(f"C3: {which}: no label is in the corpus")
            continue
        settled = result["settled_at"][which]
        print(f"C3: {which}: DR stays within {tolerance:g} of its end from {settled} words a group")
        for point in _some(points):
            score = point.score
            interval = "" if score.low is None else f" [{score.low:.4f}, {score.high:.4f}]"
            print(f"  {point.words:>4} words: DR {score.dr:.4f}{interval}")
    print("share of all mentions, with the added forms:")
    for each in [each for each in result["labels"] if each["mentions"]][:SHOWN]:
        print(visible(f"  {each['share']:>6.1%} {each['label']} ({each['group']})"))


def _some(points: Sequence[Point]) -> list[Point]:
    """Points for a short table: the numbers 1, 2, 5, 10, 20, … and the last one."""
    wanted = {digit * 10**power for digit in (1, 2, 5) for power in range(5)}
    return [each for each in points[:-1] if each.words in wanted] + list(points[-1:])


def _print_compare(result: dict[str, Any]) -> None:
    """Print a comparison as lines of text."""
    print(visible(f"{'group':<16}{'both':>6}{'only list':>11}{'only ref.':>11}  precision  recall"))
    for each in result["groups"]:
        figures = "".join(
            f"{'–' if each[key] is None else format(each[key], '.1%'):>9}"
            for key in ("precision", "recall")
        )
        only = f"{len(each['only_list']):>11}{len(each['only_reference']):>11}"
        print(visible(f"{each['group']:<16}{each['both']:>6}{only}  {figures}"))
    if "dr" not in result:
        return
    for which, score in zip((result["list"], result["reference"]), result["dr"], strict=True):
        if score["dr"] is None:
            print(visible(f"{which}: no mention"))
            continue
        interval = "" if score["low"] is None else f" [{score['low']:.4f}, {score['high']:.4f}]"
        print(visible(f"{which}: DR {score['dr']:.4f}{interval}, {score['mentions']:,} mentions"))
    if result["difference"] is not None:
        value, low, high = result["difference"]
        print(f"difference: {value:+.4f} [{low:+.4f}, {high:+.4f}]")
