"""Hooks of MkDocs: pages that are made from the code, or from files that lie elsewhere.

A line `::: KIND ARGUMENT` in a page is replaced by Markdown that is made from the code, so that the
two cannot disagree. The kinds are the keys of `MAKERS`. mkdocstrings replaces a line
`::: evenflow.NAME` by the signature and the docstring of a function or class.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
# Pages that are files of the repository: they are read there too, and have one source.
PAGES = {
    "contributing.md": "CONTRIBUTING.md",
    "model_card.md": "transforms/models/shipped/README.md",
    "report.png": "docs/report.png",
    "experiment.html": "docs/experiment/speeches.html",
}
DIRECTIVE = re.compile(r"^::: (\w+)(?: (.*))?$", re.MULTILINE)
TOPS = ("pipelines", "gates", "transforms", "schemas", "wordlists", "prompts")


def on_startup(**_: Any) -> None:
    """Link the package with its folders named as its modules are: mkdocstrings reads it so."""
    folder = ROOT / "build" / "docs_package" / "evenflow"
    folder.mkdir(parents=True, exist_ok=True)
    for link in folder.iterdir():
        if not link.exists():  # the module is gone, or has become a folder
            link.unlink(missing_ok=True)
    for path in [*(ROOT / "pipelines" / "api").iterdir(), *(ROOT / top for top in TOPS)]:
        with suppress(FileExistsError):
            (folder / path.name).symlink_to(path)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie elsewhere in the repository."""
    for name, path in PAGES.items():
        files.append(File.generated(config, name, content=(ROOT / path).read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Replace the directives of a page."""
    return DIRECTIVE.sub(lambda found: MAKERS[found[1]]((found[2] or "").strip()), markdown)


def on_post_page(output: str, **_: Any) -> str:
    """Name the theme's dialog of the search, for screen readers."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)


def configuration(_: str) -> str:
    """Return every key of the configuration with its meaning and default, as `doctor` prints it."""
    from evenflow.schemas.commented import commented
    from evenflow.schemas.config import load

    return _fenced("yaml", commented(load(None, {})))


def commands(_: str) -> str:
    """Return the help of every command, a section each."""
    from evenflow.pipelines.cli.app import application

    return "\n\n".join(_helps(application(), "evenflow"))


def _helps(command: Any, name: str, above: Any = None) -> Iterator[str]:
    """Yield the help of a command and of those below it."""
    from evenflow.pipelines.cli.commands import EVERY

    context = command.make_context(name, ["--"], parent=above, resilient_parsing=True)
    context.meta[EVERY] = True  # pages explain rare options too
    context.terminal_width = context.max_content_width = 92
    yield f"### {context.command_path}\n\n" + _fenced("text", command.get_help(context))
    for each in getattr(command, "commands", {}).values():
        yield from _helps(each, each.name, context)


def metrics(_: str) -> str:
    """Return a table of the metrics that a run serves to Prometheus."""
    from evenflow.gates.ledger.totals import Totals
    from evenflow.gates.metrics.families import families
    from evenflow.gates.metrics.now import Now
    from evenflow.schemas.config import load

    rows = ["| metric | labels | meaning |", "| --- | --- | --- |"]
    for family in families(Totals(), Now(time=0, held=False), load(None)):
        name = family.name + {"counter": "_total", "info": "_info"}.get(family.type, "")
        labels = ", ".join(f"`{label}`" for label in getattr(family, "_labelnames", ()))
        rows.append(f"| `{name}` | {labels} | {family.documentation} |")
    return "\n".join(rows)


def experiment(name: str) -> str:
    """Return the tables of an experiment and what follows from it."""
    from evenflow.pipelines.lab.paper.comparison import described

    found = json.loads((ROOT / name).read_text(encoding="utf-8"))
    parts: list[str] = []
    for title, columns, rows in described(found):
        if rows:
            lines = (columns, ["---"] * len(columns), *rows)
            parts += [f"**{title}**", "\n".join(f"| {' | '.join(line)} |" for line in lines)]
    for title, key in (
        ("Power, said before the run:", "expected"),
        ("What may be concluded:", "may_be_concluded"),
        ("What may not be concluded:", "may_not_be_concluded"),
    ):
        if found[key]:
            parts += [title, "\n".join(f"- {sentence}" for sentence in found[key])]
    return "\n\n".join(parts)


def rooms(_: str) -> str:
    """Return a table of the rooms with the first paragraph of their docstrings."""
    rows = ["| room | what belongs there |", "| --- | --- |"]
    for top in TOPS:
        for path in sorted((ROOT / top).rglob("__init__.py")):
            said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            if said:
                about = " ".join(said.split("\n\n")[0].split())
                rows.append(f"| `{path.parent.relative_to(ROOT)}/` | {about} |")
    return "\n".join(rows)


def benchmarks(_: str) -> str:
    """Return a table of the benchmarks of language models, from their records."""
    from evenflow.transforms.lab.benchmarks.suites import SUITES

    rows = ["| suite | figure | models | items | limits |", "| --- | --- | --- | --- | --- |"]
    for name, suite in SUITES.items():
        best = suite.measures([])[:1]
        wanted = {"higher": "higher is better", "lower": "lower is better"}
        goal = f"; {wanted.get(best[0].better, f'best at {best[0].better}')}" if best else ""
        cells = (
            f"`{name}`<br>{suite.ABOUT.source}",
            suite.ABOUT.formula.replace("|", "\\|") + goal,
            ", ".join(suite.ABOUT.models),
            suite.ABOUT.data,
            suite.ABOUT.limits,
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def results(_: str) -> str:
    """Return the tables that benchmarks left, with date and commit; else their notes."""
    parts: list[str] = []
    for path in sorted((ROOT / "tests" / "benchmarks" / "results").glob("*.json")):
        kept = json.loads(path.read_text(encoding="utf-8"))
        commands = ", ".join(f"`{command}`" for command in kept["commands"])
        parts += [f"## {kept['title']}", f"{kept['date']}, {kept['commit']}. {commands}"]
        for table in kept["tables"]:
            head = (table["columns"], ["---"] * len(table["columns"]))
            parts.append("\n".join(f"| {' | '.join(row)} |" for row in (*head, *table["rows"])))
        parts += [note for note in kept["notes"] if not kept["tables"] or note.startswith("![")]
    return "\n\n".join(parts)


def docstring(name: str) -> str:
    """Return the docstring of a module."""
    return inspect.getdoc(import_module(name)) or ""


def picture(name: str) -> str:
    """Return a drawing, which has the colours of the page where it stands in it."""
    return (ROOT / "docs" / "pages" / "assets" / name).read_text(encoding="utf-8")


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"


MAKERS: dict[str, Callable[[str], str]] = {
    "configuration": configuration,
    "commands": commands,
    "metrics": metrics,
    "rooms": rooms,
    "experiment": experiment,
    "benchmarks": benchmarks,
    "docstring": docstring,
    "results": results,
    "picture": picture,
}
