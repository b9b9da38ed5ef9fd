"""`evenflow measure` and `evenflow explain`: figures of files, and the sentences of a text; nothing
is written.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.terminal.endings import FAILED, printing

if TYPE_CHECKING:
    from evenflow.pipelines.explain.counterfactual import Rewriter
    from evenflow.schemas.config import Config
    from evenflow.transforms.labels.finder import LabelFinder
    from evenflow.wordlists.loader import WordList

MEASURE_EXAMPLES = options.examples(
    "evenflow measure corpus/",
    "evenflow measure 'corpus/*.jsonl.gz' --attribute gender --json",
    "evenflow measure reviews.parquet --text-field body --wordlist mine.yaml",
)
EXPLAIN_EXAMPLES = options.examples(
    "evenflow explain speech.txt",
    "echo 'She lost her keys.' | evenflow explain --json",
    "evenflow explain --jsonl documents.jsonl > sentences.jsonl",
    "echo 'She lost her keys.' | evenflow explain --counterfactual gc -a gender",
    "echo 'Women cannot park.' | evenflow explain --stereotypes",
    "echo 'Dwarfs are greedy.' | evenflow explain --all-sentences",
)


def measure(
    inputs: Annotated[list[str], typer.Argument(metavar="INPUT", help="Paths, folders or globs.")],
    config: options.ConfigOption = None,
    text_field: options.TextFieldOption = None,
    attribute: options.AttributeOption = None,
    wordlist: options.WordlistOption = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            metavar="E", help="DR has converged once its interval is within ± E.  [default: 0.02]"
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: options.JsonOption = False,
) -> None:
    """Count labels and score DR with its interval, per attribute.

    Nothing is written. Reads .jsonl, .jsonl.gz, .jsonl.zst, .parquet and .txt.
    """
    from evenflow.pipelines.files.measure import measure as figures_of
    from evenflow.pipelines.terminal import summaries, tables
    from evenflow.pipelines.terminal.progress import reporter
    from evenflow.schemas.config import load
    from evenflow.schemas.documents import Figures
    from evenflow.transforms.io import files

    overrides = options.given(fields__text=text_field, measure__epsilon=epsilon)
    settings = load(config, overrides, attribute or (), wordlist or ())
    total, course = Figures(), summaries.Course()
    # Elsewhere than on a terminal the figures themselves are the report.
    with reporter("text", files.match(inputs), quiet or not sys.stderr.isatty()) as progress:
        for figures in figures_of(inputs, settings):
            total.add(figures)
            course.note(total)
            progress.on_measured(figures)
    result = summaries.measured(total, settings, course)
    with printing():
        if as_json:
            print(json.dumps(result, indent=1))
        else:
            tables.measured(result)
    for reason, count in total.dead_reasons.items():
        print(f"evenflow: not measured: {count:,} ({reason})", file=sys.stderr)


def explain(
    file: Annotated[
        str, typer.Argument(metavar="FILE|-", help="A text, or - for standard input.")
    ] = "-",
    jsonl: Annotated[
        bool,
        typer.Option("--jsonl", help='Lines of {"id", "text"} in, a line of JSON for each out.'),
    ] = False,
    config: options.ConfigOption = None,
    attribute: options.AttributeOption = None,
    wordlist: options.WordlistOption = None,
    counterfactual: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD",
            help="Rewrite every eligible sentence: gc (grammar, context) or base (BaseCDA).",
        ),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--from", metavar="GROUP", help="Rewrite this group's only.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--to", metavar="GROUP", help="Rewrite to this group only.")
    ] = None,
    stereotypes: Annotated[
        bool | None,
        typer.Option(
            "--stereotypes/--no-stereotypes",
            help=(
                "Judge relevant sentences: potential stereotype, strength, and why.  [default: in"
                " JSON]"
            ),
        ),
    ] = None,
    all_sentences: Annotated[
        bool, typer.Option("--all-sentences", help="Judge sentences that name no group too.")
    ] = False,
    encoder: options.EncoderOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Show every sentence of a text with its labels and counts; and, asked for, what it would say
    of another group and which sentences are stereotypes.

    On a terminal the labels are coloured; elsewhere, and with --json, it is JSON.
    """
    from evenflow.pipelines.explain import document as explaining
    from evenflow.pipelines.terminal import tables
    from evenflow.schemas.config import load
    from evenflow.transforms.io.files import InputError
    from evenflow.transforms.labels.finder import LabelFinder
    from evenflow.wordlists import loader

    settings = load(config, {}, attribute or (), wordlist or ())
    lists = [loader.load(each.wordlist or name) for name, each in settings.attributes.items()]
    finder = LabelFinder(lists)
    rewriter = _rewriter(settings, lists, counterfactual, source, target)
    judge = None
    if stereotypes is None:
        stereotypes = jsonl or as_json or not sys.stdout.isatty()
    if stereotypes or all_sentences:
        from evenflow.pipelines.explain import stereotypes as stereotyping

        judging = stereotyping.judge_every if all_sentences else stereotyping.judge
        thresholds = {
            words.attribute: settings.stereotype_threshold(words.attribute) for words in lists
        }
        judge = judging(lists, thresholds, settings.stereotypes.precision)
    steps = [each.add_to for each in (rewriter, judge) if each is not None]
    with _opened(file) as stream:
        if jsonl:
            raise typer.Exit(_explain_lines(file, stream, finder, steps))
        raw = stream.read()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: invalid UTF-8 at byte {error.start}") from error
    document = explaining.explain(file, text, finder)
    for add_to in steps:
        add_to(document)
    with printing():
        if as_json or not sys.stdout.isatty():
            print(explaining.dumps(document, indent=1))
        else:
            tables.console().print(explaining.coloured(document, finder))
            if rewriter is not None:
                from evenflow.pipelines.explain.counterfactual import difference

                tables.console().print(difference(document))
            if judge is not None:
                from evenflow.pipelines.explain.stereotypes import summary

                tables.console().print(summary(document))


def _rewriter(
    settings: Config,
    lists: list[WordList],
    method: str | None,
    source: str | None,
    target: str | None,
) -> Rewriter | None:
    if method is None:
        if source is not None or target is not None:
            raise typer.BadParameter(
                "--from and --to go with --counterfactual", param_hint="'--from'"
            )
        return None
    from evenflow.pipelines.explain.counterfactual import Rewriter

    if method not in ("gc", "base"):
        raise typer.BadParameter(
            f"{method!r} is neither gc nor base", param_hint="'--counterfactual'"
        )
    judge = None
    if method == "gc":
        from evenflow.transforms.models import encoder

        judge = encoder.Encoder.shipped()
    strictness = {words.attribute: settings.strictness(words.attribute) for words in lists}
    try:
        return Rewriter(
            lists, "gc" if method == "gc" else "base", source, target, strictness, judge
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def _explain_lines(
    file: str,
    stream: Iterable[bytes],
    finder: LabelFinder,
    steps: Sequence[Callable[[dict[str, Any]], None]],
) -> int:
    """A line for each document; one that is none is said on both streams. The exit status."""
    from evenflow.pipelines.explain import document as explaining

    status = 0
    with printing():
        for document in explaining.explain_lines(stream, finder):
            if "error" not in document:
                for add_to in steps:
                    add_to(document)
            print(explaining.dumps(document), flush=sys.stdout.isatty())
            if "error" in document:
                status = FAILED
                print(f"evenflow: {file}:{document['line']}: {document['error']}", file=sys.stderr)
    return status


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    """A file, or standard input for -. Raises InputError."""
    from evenflow.transforms.io.files import InputError

    if file == "-":
        if sys.stdin.isatty():
            print("evenflow: reading from the terminal; end with Ctrl-D", file=sys.stderr)
        yield sys.stdin.buffer
        return
    try:
        stream = Path(file).open("rb")  # noqa: SIM115 (closed below; a failure to read is another error)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{file}: cannot be opened: {reason}") from error
    with stream:
        yield stream
