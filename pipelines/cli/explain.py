"""`evenflow explain`: the sentences of a text with their labels, nothing written."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import argument, command, flag, one_of, option
from evenflow.pipelines.terminal.endings import printing
from evenflow.schemas.errors import FAILED

if TYPE_CHECKING:
    from evenflow.pipelines.explain.explainer import Explainer


@command(
    "evenflow explain speech.txt",
    "echo 'She lost her keys.' | evenflow explain --json",
    "evenflow explain out --id inaugural-01364",
    "evenflow explain --jsonl documents.jsonl > sentences.jsonl",
    "echo 'She lost her keys.' | evenflow explain --counterfactual gc -a gender",
    "echo 'Women cannot park.' | evenflow explain --stereotypes",
    "echo 'Dwarfs are greedy.' | evenflow explain --all-sentences",
    "echo 'She likes the new pink dress.' | evenflow explain --bias-score",
)
def explain(
    file: Annotated[
        str,
        argument(
            "FILE|DIR|-",
            "A text, a .parquet file, a run's output with --id, or - for standard input.",
        ),
    ] = "-",
    identity: Annotated[
        str | None,
        option("ID", "The document of this id in a run's output, or in a .parquet file.", "--id"),
    ] = None,
    jsonl: Annotated[
        bool, flag('Read lines of {"id", "text"}, print a line of JSON for each.')
    ] = False,
    *,
    selection: options.Selection,
    counterfactual: Annotated[
        str | None,
        option(
            "METHOD", "Rewrite every eligible sentence: gc (grammar, context) or base (BaseCDA)."
        ),
    ] = None,
    source: Annotated[
        str | None, option("GROUP", "Rewrite only sentences of this group.", "--from")
    ] = None,
    target: Annotated[str | None, option("GROUP", "Rewrite only to this group.", "--to")] = None,
    stereotypes: Annotated[
        bool | None,
        flag(
            "Judge relevant sentences: probability of a stereotype, strength, reasons. "
            " [default: on for JSON]",
            "--stereotypes/--no-stereotypes",
        ),
    ] = None,
    all_sentences: Annotated[bool, flag("Also judge sentences that name no group.")] = False,
    bias_score: Annotated[
        bool, flag("Score what the neutral words of each sentence lean to.")
    ] = False,
    importance: Annotated[
        str | None,
        option(
            "DIR", "Folder of a transformer that says how much each word counts for --bias-score."
        ),
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Show every sentence of a text with its labels and counts.

    With --counterfactual it also shows what the text would say of another group. With
    --stereotypes it also shows which sentences are stereotypes, with --bias-score what each word
    adds to a sentence's bias score. On a terminal the labels are
    coloured. Elsewhere, and with --json, the output is JSON.
    """
    from evenflow.pipelines.explain import document as explaining
    from evenflow.pipelines.explain import sources
    from evenflow.pipelines.explain.explainer import Explainer

    config = selection.configuration()
    if counterfactual is not None:
        one_of(counterfactual, ("gc", "base"), "--counterfactual")
    elif source is not None or target is not None:
        raise typer.BadParameter("--from and --to go with --counterfactual", param_hint="'--from'")
    if stereotypes is None:
        stereotypes = jsonl or as_json or not sys.stdout.isatty()
    if importance is not None and not bias_score:
        raise typer.BadParameter("it goes with --bias-score", param_hint="'--importance'")
    method = None if counterfactual is None else "gc" if counterfactual == "gc" else "base"
    try:
        explainer = Explainer(
            config, method, source, target, stereotypes, all_sentences, bias_score, importance
        )
    except ValueError as error:
        if source is None and target is None:
            raise
        raise typer.BadParameter(str(error)) from error
    if file.endswith(".parquet"):
        lines = sources.rows(file, config, identity)
        raise typer.Exit(_print_lines(file, lines, explainer))
    if identity is not None:
        _show(explainer, identity, _text_of(file, identity), as_json)
        return
    with sources.opened(file) as stream:
        if jsonl:
            lines = explaining.bounded_lines(stream)
            raise typer.Exit(_print_lines(file, lines, explainer))
        text = sources.whole(stream, file, explainer.most)
    _show(explainer, file, text, as_json)


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
    """The text of a document in a run's output. Raises ConfigError, typer.BadParameter."""
    from evenflow.pipelines.cli.gate import check, opened
    from evenflow.pipelines.pages.report.why import find_text

    output = options.storage(directory)
    check(output)
    history, config = opened(output)
    found = find_text(output, history, config, identity) if config is not None else None
    if found is None:
        raise typer.BadParameter(
            f"no shard of {directory} has a document {identity!r}", param_hint="'--id'"
        )
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
