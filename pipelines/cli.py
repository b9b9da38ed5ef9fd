"""The command line. Exit status: 0 done, 3 a pane is blocked, 2 wrong usage or configuration, 1 failure."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
from rich.console import Console
from rich.table import Table

from evenflow.schemas.config import ConfigError, commented, load
from evenflow.schemas.ledger import PaneEntry, Score, Sums
from evenflow.wordlists import loader

app = typer.Typer(
    help="A data-quality gate for training data: measures representation, judges it pane by pane, commits or sets aside.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
gate_app = typer.Typer(help="The state of a gate.", no_args_is_help=True)
lists_app = typer.Typer(help="Word lists: what is shipped, what they hold, whether one of yours is sound.", no_args_is_help=True)
config_app = typer.Typer(help="The configuration.", no_args_is_help=True)
app.add_typer(gate_app, name="gate")
app.add_typer(lists_app, name="wordlists")
app.add_typer(config_app, name="config")

BLOCKED, USAGE, FAILED = 3, 2, 1
ConfigOption = Annotated[Path | None, typer.Option("--config", "-c", help="YAML file; see `evenflow config show`.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
DirArgument = Annotated[Path, typer.Argument(help="Output directory of a run.")]


def main() -> None:
    """Run a command; a known error becomes one message and its exit status."""
    from evenflow.transforms.files import InputError

    try:
        app()
    except (ConfigError, loader.WordListError, InputError) as error:
        _stop(str(error), USAGE)
    except (OSError, RuntimeError, ValueError) as error:
        logging.getLogger("evenflow").debug("failed", exc_info=True)
        _stop(f"{type(error).__name__}: {error}", FAILED)


def _stop(message: str, status: int) -> None:
    for line in message.splitlines():
        print(f"evenflow: {line}", file=sys.stderr)
    sys.exit(status)


@app.command()
def run(
    input: Annotated[list[str], typer.Option("--input", "-i", help="Path, folder or glob; may be repeated.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Directory for shards, ledger, checks and report.")],
    config: ConfigOption = None,
    text_field: Annotated[str | None, typer.Option(help="Field of the text.")] = None,
    id_field: Annotated[str | None, typer.Option(help="Field of the id.")] = None,
    pane_docs: Annotated[int | None, typer.Option(help="Documents a pane.")] = None,
    pane_mib: Annotated[int | None, typer.Option(help="MiB of input a pane at most.")] = None,
    policy: Annotated[str | None, typer.Option(help="A blocked pane: quarantine or halt.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes that read and annotate.")] = 1,
    log_format: Annotated[str, typer.Option(help="text or json.")] = "text",
    as_json: JsonOption = False,
) -> None:
    """Measure, judge and commit a corpus pane by pane; begun again on the same output it goes on where it was.

    Example: evenflow run --input 'corpus/*.jsonl.gz' --output out --pane-docs 10000
    """
    from evenflow.pipelines.board.report import build
    from evenflow.pipelines.progress import reporter
    from evenflow.pipelines.run import Run

    options = {
        "fields.text": text_field,
        "fields.id": id_field,
        "pane.docs": pane_docs,
        "pane.mib": pane_mib,
        "gate.policy": policy,
    }
    if log_format not in ("text", "json"):
        raise ConfigError(f"--log-format: text or json was expected, not {log_format!r}")
    effective = load(config, {key: value for key, value in options.items() if value is not None})
    with reporter(log_format) as on_pane:
        outcome = Run(list(input), output, effective, workers, on_pane).go()
    page = build(output)
    blocked = any(entry.folder == "quarantine" for entry in outcome.entries)
    if as_json:
        print(json.dumps(_status(outcome.entries) | {"report": str(page), "new_panes": outcome.new}, indent=1))
    else:
        if not outcome.new and not outcome.halted:
            print(f"{output} is finished: {len(outcome.entries)} panes, nothing new to read.")
        _print_status(outcome.entries)
        print(f"report: {page}")
        if outcome.halted:
            print("halted at a blocked pane; to go on, begin again with policy quarantine in another output directory")
    raise typer.Exit(BLOCKED if blocked else 0)


@app.command()
def measure(
    inputs: Annotated[list[str], typer.Argument(help="Paths, folders or globs.")],
    config: ConfigOption = None,
    text_field: Annotated[str | None, typer.Option(help="Field of the text.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Counts, shares and DR with its interval per attribute; nothing is written.

    Example: evenflow measure 'corpus/*.jsonl' --json
    """
    from evenflow.pipelines.measure import measure as figures_of
    from evenflow.schemas.documents import Figures
    from evenflow.transforms.representation import score

    effective = load(config, {} if text_field is None else {"fields.text": text_field})
    total = Figures()
    for figures in figures_of(list(inputs), effective):
        total.add(figures)
    result: dict[str, Any] = {
        "documents": total.documents,
        "dead_letters": sum(total.dead_reasons.values()),
        "dead_reasons": total.dead_reasons,
        "text_bytes": total.text_bytes,
        "attributes": {},
    }
    for name, settings in effective.attributes.items():
        words = loader.load(settings.wordlist or name)
        seen = total.attributes.get(words.attribute)
        if seen is None:
            continue
        target = [settings.target[group] for group in words.groups] if settings.target else None
        scored = score(
            Sums(documents=seen.documents, counts=seen.counts, products=seen.products),
            target,
            effective.gate.confidence,
        )
        mentions = sum(seen.counts)
        result["attributes"][words.attribute] = scored.model_dump() | {
            "counts": dict(zip(words.groups, seen.counts, strict=True)),
            "shares": {
                group: round(count / mentions, 6) if mentions else None
                for group, count in zip(words.groups, seen.counts, strict=True)
            },
        }
    if as_json:
        print(json.dumps(result, indent=1))
        return
    table = Table("attribute", "group", "mentions", "share", "DR", "interval", title=f"{total.documents:,} documents")
    for name, each in result["attributes"].items():
        for number, (group, count) in enumerate(each["counts"].items()):
            share = each["shares"][group]
            first = number == 0
            shown = _shown(Score.model_validate({key: each[key] for key in Score.model_fields})) if first else ("", "")
            table.add_row(name if first else "", group, f"{count:,}", "" if share is None else f"{share:.1%}", *shown)
    Console().print(table)
    for reason, count in total.dead_reasons.items():
        print(f"not measured: {count} ({reason})", file=sys.stderr)


@app.command()
def explain(
    file: Annotated[str, typer.Argument(help="A text file, or - for standard input.")] = "-",
    jsonl: Annotated[bool, typer.Option("--jsonl", help='Lines of {"id", "text"} in, lines of JSON out.')] = False,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Every sentence of a text with its labels and counts.

    Example: echo "She lost her keys." | evenflow explain --json
    """
    from evenflow.pipelines.explain import coloured
    from evenflow.pipelines.explain import explain as explained
    from evenflow.transforms.labels import LabelFinder

    effective = load(config)
    finder = LabelFinder([loader.load(each.wordlist or name) for name, each in effective.attributes.items()])
    raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    if jsonl:
        for number, line in enumerate(raw.split(b"\n"), 1):
            if not line.strip():
                continue
            try:
                record = orjson.loads(line)
                identity, text = str(record["id"]), record["text"]
                if not isinstance(text, str):
                    raise TypeError("text must be a string")
            except (orjson.JSONDecodeError, KeyError, TypeError) as error:
                raise ValueError(f'{file}:{number}: not an object with "id" and "text": {error}') from error
            print(json.dumps(explained(identity, text, finder), ensure_ascii=True))
        return
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file}: invalid UTF-8 at byte {error.start}") from error
    document = explained(file, text, finder)
    if as_json or not sys.stdout.isatty():
        print(json.dumps(document, ensure_ascii=True, indent=1))
        return
    Console().print(coloured(document, finder))


@app.command()
def report(directory: DirArgument) -> None:
    """Rebuild report.html and report.json from the ledger."""
    from evenflow.pipelines.board.report import build

    _entries(directory)
    print(build(directory))


@gate_app.command("status")
def gate_status(directory: DirArgument, as_json: JsonOption = False) -> None:
    """State of the gate: exit status 0 if the last pane is open or warned of, 3 if any pane is blocked."""
    entries = _entries(directory)
    if as_json:
        print(json.dumps(_status(entries), indent=1))
    else:
        _print_status(entries)
    raise typer.Exit(BLOCKED if any(entry.folder == "quarantine" for entry in entries) else 0)


@lists_app.command("list")
def wordlists_list(as_json: JsonOption = False) -> None:
    """The shipped lists with their groups and numbers of labels."""
    rows = []
    for name in loader.SHIPPED:
        words = loader.load(name)
        sizes = [sum(1 for group in words.labels.values() if group == i) for i in range(len(words.groups))]
        rows.append({"attribute": name, "groups": dict(zip(words.groups, sizes, strict=True)), "source": words.source})
    if as_json:
        print(json.dumps(rows, indent=1))
        return
    table = Table("attribute", "groups (labels)", "source")
    for row in rows:
        table.add_row(row["attribute"], ", ".join(f"{g} ({n})" for g, n in row["groups"].items()), row["source"])
    Console().print(table)


@lists_app.command("show")
def wordlists_show(
    name: Annotated[str, typer.Argument(help="A shipped list's name, or a path.")], as_json: JsonOption = False
) -> None:
    """The labels of a list by group."""
    words = loader.load(name)
    groups = {group: [label for label, i in words.labels.items() if i == n] for n, group in enumerate(words.groups)}
    if as_json:
        print(json.dumps({"attribute": words.attribute, "groups": groups, "counterparts": words.counterparts}, indent=1))
        return
    for group, labels in groups.items():
        print(f"{group}: {', '.join(labels)}")


@lists_app.command("check")
def wordlists_check(names: Annotated[list[str], typer.Argument(help="Shipped lists' names, or paths.")]) -> None:
    """Check lists; exit status 2 and every defect with file, line and label if there is one."""
    defects: list[str] = []
    for name in names:
        try:
            words = loader.load(name)
        except loader.WordListError as error:
            defects.append(str(error))
        else:
            print(f"{name}: sound; {len(words.groups)} groups, {len(words.labels)} labels")
    if defects:
        raise loader.WordListError("\n".join(defects))


@config_app.command("show")
def config_show(config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """The effective configuration, each key with its meaning."""
    effective = load(config)
    print(
        json.dumps(effective.model_dump(), indent=1) if as_json else commented(effective),
        end="" if not as_json else "\n",
    )


def _entries(directory: Path) -> list[PaneEntry]:
    from evenflow.gates.ledger import read_entries

    if not (directory / "ledger").is_dir():
        raise ConfigError(f"{directory}: no ledger here; give the --output directory of a run")
    return read_entries(directory)


def _status(entries: list[PaneEntry]) -> dict[str, Any]:
    blocked = [entry.pane for entry in entries if entry.folder == "quarantine"]
    last = entries[-1] if entries else None
    return {
        "state": "block" if blocked else last.verdict.state if last else "open",
        "panes": len(entries),
        "blocked": blocked,
        "documents": sum(entry.documents for entry in entries),
        "quarantined": sum(entry.documents for entry in entries if entry.folder == "quarantine"),
        "dead_letters": sum(entry.dead for entry in entries),
        "reason": last.verdict.reason if last else "no pane yet",
        "attributes": {
            name: {
                "verdict": each.verdict.model_dump(),
                "rolling": each.rolling.model_dump(),
                "cumulative": each.cumulative.model_dump(),
            }
            for name, each in (last.attributes.items() if last else ())
        },
    }


def _shown(score: Score) -> tuple[str, str]:
    if score.dr is None:
        return "no mention", ""
    return f"{score.dr:.4f}", "" if score.low is None or score.high is None else f"{score.low:.4f} – {score.high:.4f}"


def _print_status(entries: list[PaneEntry]) -> None:
    accepted = [entry for entry in entries if entry.folder == "accepted"]
    table = Table("attribute", "verdict", "mentions", "DR", "interval", "panes open/warn/block", title="Evenflow gate")
    for name in entries[-1].attributes if entries else ():
        states = [entry.attributes[name].verdict.state for entry in entries]
        last = entries[-1].attributes[name]
        counts = "/".join(str(states.count(state)) for state in ("open", "warn", "block"))
        table.add_row(name, last.verdict.state, f"{last.cumulative.mentions:,}", *_shown(last.cumulative), counts)
    console = Console()
    console.print(table)
    documents = sum(entry.documents for entry in entries)
    kept = sum(entry.documents for entry in accepted)
    dead = sum(entry.dead for entry in entries)
    print(
        f"{len(entries)} panes, {documents:,} documents: {kept:,} accepted, {documents - kept:,} in quarantine; "
        f"{dead:,} dead letters"
    )
