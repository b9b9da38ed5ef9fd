"""`evenflow explain`: the sentences of a text with their labels, nothing written."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Literal

import click

from evenflow.pipelines.cli import options
from evenflow.pipelines.terminal.endings import printing
from evenflow.schemas.errors import FAILED

if TYPE_CHECKING:
    from evenflow.pipelines.explain.explainer import Explainer


def explain(
    file: str = "-",
    *,
    id_: str | None = None,
    jsonl: bool = False,
    selection: options.Selection,
    counterfactual: Literal["gc", "base"] | None = None,
    from_: str | None = None,
    to: str | None = None,
    stereotypes: bool | None = None,
    all_sentences: bool = False,
    bias_score: bool = False,
    importance: str | None = None,
    as_json: bool = False,
) -> int:
    """Show every sentence of a text with its labels and counts.

    With --counterfactual it also shows what the text would say of another group. With
    --stereotypes it also shows which sentences are stereotypes, with --bias-score what each word
    adds to a sentence's bias score. On a terminal the labels are
    coloured. Elsewhere, and with --json, the output is JSON.

    Args:
        file (FILE|DIR|-): A text, a .parquet file, a run's output with --id, or - for standard
            input.
        id_ (ID): The document of this id in a run's output, or in a .parquet file.
        jsonl: Read lines of {"id", "text"}, print a line of JSON for each.
        counterfactual: Rewrite every eligible sentence: gc (grammar, context) or base (BaseCDA).
        from_ (GROUP): Rewrite only sentences of this group.
        to (GROUP): Rewrite only to this group.
        stereotypes: Judge relevant sentences: probability of a stereotype, strength, reasons.
            [default: on for JSON]
        all_sentences: Also judge sentences that name no group.
        bias_score: Score what the neutral words of each sentence lean to.
        importance (DIR): Folder of a transformer that says how much each word counts for
            --bias-score.

    Examples:
        evenflow explain speech.txt
        echo 'She lost her keys.' | evenflow explain --json
        evenflow explain out --id inaugural-01364
        evenflow explain --jsonl documents.jsonl > sentences.jsonl
        echo 'My sister said she is late.' | evenflow explain --counterfactual gc
        echo 'Women are bad drivers.' | evenflow explain --stereotypes
        echo 'Dwarfs are greedy.' | evenflow explain --all-sentences
        echo 'She likes the new pink dress.' | evenflow explain --bias-score
    """
    from evenflow.pipelines.explain import document as explaining
    from evenflow.pipelines.explain import sources
    from evenflow.pipelines.explain.explainer import Explainer
    from evenflow.transforms.io.files import match

    config = selection.configuration()
    if counterfactual is None and (from_ is not None or to is not None):
        raise options.wrong("--from", "--from and --to go with --counterfactual")
    if stereotypes is None:
        stereotypes = jsonl or as_json or not sys.stdout.isatty()
    if importance is not None and not bias_score:
        raise options.wrong("--importance", "it goes with --bias-score")
    judged = stereotypes, all_sentences, bias_score
    with ExitStack() as stack:
        # What is not there is said before models load
        lines: Iterable[bytes] | None = None
        text = ""
        if file.endswith(".parquet"):
            lines = sources.rows(match([file]), file, config, id_)
        elif id_ is not None:
            text = _text_of(file, id_)
        else:
            stream = stack.enter_context(sources.opened(file))
            if jsonl:
                lines = explaining.bounded_lines(stream)
            else:
                text = sources.whole(stream, file, config.max_text_mib << 20)
        try:
            explainer = Explainer(config, counterfactual, from_, to, *judged, importance)
        except ValueError as error:
            if from_ is None and to is None:
                raise
            raise click.BadParameter(str(error)) from error
        if lines is not None:
            return _print_lines(file, lines, explainer)
        _show(explainer, file if id_ is None else id_, text, as_json)
    return 0


def _show(explainer: Explainer, file: str, text: str, as_json: bool) -> None:
    """Print a text with its labels: coloured on a terminal, else as JSON."""
    from evenflow.pipelines.explain import document as explaining

    document = explainer.explain(file, text)
    if said := explaining.left_out(document):
        print(f"evenflow: {file}: {said}", file=sys.stderr)
    with printing():
        if as_json or not sys.stdout.isatty():
            print(explaining.dumps(document, indent=1))
            return
        from evenflow.pipelines.terminal import tables

        tables.console().print(explaining.coloured(document, explainer.finder))
        for lines in explainer.drawn(document):
            tables.console().print(lines)


def _text_of(directory: str, identity: str) -> str:
    """The text of a document in a run's output. Raises ConfigError, BadParameter."""
    from evenflow.pipelines.cli.gate import opened
    from evenflow.pipelines.pages.report.why import find_text

    output = options.storage(directory)
    options.check(output)
    history, config, _ = opened(output)
    found = find_text(output, history, config, identity) if config is not None else None
    if found is None:
        raise options.wrong("--id", f"no shard of {directory} has a document {identity!r}")
    return found[1]


def _print_lines(file: str, stream: Iterable[bytes], explainer: Explainer) -> int:
    """Print a line for each document, and errors on both streams; the exit status."""
    from evenflow.pipelines.explain import document as explaining

    status = 0
    with printing():
        for document in explainer.explain_lines(stream):
            print(explaining.dumps(document), flush=sys.stdout.isatty())
            if "error" in document:
                status = FAILED
                print(f"evenflow: {file}:{document['line']}: {document['error']}", file=sys.stderr)
            elif said := explaining.left_out(document):
                print(f"evenflow: {file}: {document['id']}: {said}", file=sys.stderr)
    return status
