"""What `evenflow doctor` prints of a language model with --estimate and --labelled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenflow.pipelines.terminal import tables
from evenflow.schemas.words import Table, counted
from evenflow.transforms.wilson import interval


def draw(result: Any) -> None:
    """Print an estimate (transforms.repair.estimate.result)."""
    size = f"{result['sampled_share']:.2%} of {result['input_bytes'] / 1e6:,.1f} MB"
    print(f"{counted(result['sampled_documents'], 'document')} looked at, {size}")
    rows: list[Sequence[str]] = []
    for mode, meant in (("cascade", "what the small models are unsure of"), ("llm", "everything")):
        found = result["modes"][mode]
        rows.append((f"{mode}: {meant}", "", "", ""))
        for prompt, each in found["prompts"].items():
            step = result["steps"][prompt]
            rows.append(_row(prompt if prompt == step else f"{step}: {prompt}", each))
        rows.append(_row("in all", found["all"]))
    own = result["configured"]
    asked = ", ".join(
        f"{prompt} {mode}" for prompt, mode in own["prompts"].items() if mode != "embedded"
    )
    nothing = "nothing, neither stereotypes nor repair are on"
    rows += [("embedded: nothing", "", "", ""), (f"as configured: {asked or nothing}", "", "", "")]
    rows.append(_row("in all", own["all"]))
    hours = f"hours at {result['tokens_a_second']:,.0f} tokens a second"
    tables.draw(Table("", ("", "questions", "tokens", hours), rows))


def _row(name: str, each: Any) -> tuple[str, ...]:
    """A row: questions with their margin, tokens and hours."""
    within = "" if each["within"] is None else f" ± {each['within']:,}"
    count = f"{each['questions']:,}{within}"
    return f"  {name}", count, f"{each['tokens']:,}", f"{each['hours']:,.2f}"


def draw_measured(result: Any) -> None:
    """Print how often a language model was right on labelled rows."""
    rows: list[Sequence[str]] = []
    for name, (asked, true, yes, right) in sorted(result.items()):
        of_yes, of_true = (
            f"{right / size:.2f} [{bounds[0]:.2f}, {bounds[1]:.2f}]"
            if size and (bounds := interval(right / size, size))
            else "–"
            for size in (yes, true)
        )
        rows.append((name, f"{asked}", f"{yes}", of_yes, of_true))
    tables.draw(Table("", ("", "asked about", "yes", "precision", "recall"), rows))
