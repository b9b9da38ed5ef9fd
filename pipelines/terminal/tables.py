"""Tables for people, from the plain data of the summaries.

They fit in 80 columns, and none of their text is taken for markup.
"""

from __future__ import annotations

import shlex
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evenflow.gates import facts
from evenflow.gates import why as reasons
from evenflow.pipelines.terminal.lines import counted, visible
from evenflow.schemas import words
from evenflow.schemas.ledger import STATES
from evenflow.schemas.words import interval, number, percent, said, score

UNBOUNDED = 10_000  # columns: no table is as wide
MOST = 12  # lines of the end of a run
STRONGEST = 10  # words of a group
WHY, HEAD = 2, 2  # lines of a reason there, and of the head of the table of DR
WIDTH = 78  # columns of it
SHOWN = 20  # sources in a table; --json has all
GROUPS = 2  # whose shares are shown of a source
STYLES = {"open": "green", "warn": "yellow", "block": "bold red", "held": "bold red"}


def console() -> Console:
    """Open standard output for tables.

    Returns:
        A console; where standard output is not a terminal, it is 80 columns wide and has no
        colours.
    """
    return Console(
        markup=False, highlight=False, emoji=False, width=None if sys.stdout.isatty() else 80
    )


def gate(
    status: facts.Facts, output: object, more: Sequence[str] = (), most: int | None = None
) -> None:
    """Print the state of a gate: the verdict, why, the scores, and what to do.

    Args:
        status: What `facts.of` returned.
        more: Further lines.
        most: The number of lines that are printed; None: all.
    """
    out, train = console(), status.train
    state = [] if train.word == "not_judged" else [_state(train.word), "; "]
    head = Text.assemble("gate: ", *state, train.said).wrap(out, out.width)
    out.print(head)
    why = textwrap.wrap(visible(f"why: {train.why}"), WIDTH)
    if most is not None and len(why) > WHY:
        why = [*why[: WHY - 1], f"{why[WHY - 1][: WIDTH - 1]}…"]
    print("\n".join(why))
    last, apart = facts.steps(train.next), status.other_languages
    room = (most or UNBOUNDED) - len(head) - len(why) - 2 - bool(apart) - len(last)
    lines = [
        *facts.measure_lines(status),
        *facts.lines(status),
        *facts.attribute_lines(status),
        *more,
    ]
    is_cut, kept = False, max(min(len(lines), 2), 1)  # the first line, and where the others are
    if status.attributes:
        table, is_cut = _scores(status.attributes, max(room - HEAD - kept, 1))
        out.print(table)
        room -= HEAD + table.row_count
    print(
        f"{counted(status.panes, 'pane')}, {counted(status.documents, 'document')}:"
        f" {status.accepted:,} accepted, {status.quarantined:,} in quarantine"
        + (f";\nnot judged: {facts.not_judged(apart)}" if apart else "")
    )
    if len(lines) > room or is_cut:
        lines = lines[: max(room - 1, 0)]
        last.insert(0, f"more: evenflow gate status {shlex.quote(str(output))}")
    for line in [*lines, *last]:
        print(visible(line))


def _scores(attributes: Mapping[str, facts.AttributeFacts], most: int) -> tuple[Table, bool]:
    """DR of each attribute, and the rolling DR where it is judged; whether rows are left out."""
    judged = {name for name, each in attributes.items() if each.is_judged}
    states = STATES if judged else ()
    table = Table(
        "DR",
        "of the\nwhole run",
        "interval",
        *(["now", *(s.replace("_", "\n") for s in states)] if judged else ["largest shares"]),
        box=None,
        padding=(0, 2, 0, 0),
        pad_edge=False,
    )
    for column in table.columns[1:]:  # a long name is wrapped, a figure never
        column.no_wrap = True
    for column in table.columns[-len(STATES) :] if judged else ():
        column.justify = "right"
    rows: list[tuple[str | Text, ...]] = []
    for name, each in attributes.items():
        shares = _largest({row.group: row.share for row in each.groups})
        verdict = [_state(each.verdict.state), *(str(each.panes[one]) for one in states)]
        more = [shares] if not judged else verdict if name in judged else []
        rows.append((visible(name), *_score(each.cumulative.model_dump()), *more))
        if name in judged and each.rolling != each.cumulative:
            rows.append(("  rolling, judged", *_score(each.rolling.model_dump())))
    for row in rows[:most]:
        table.add_row(*row)
    return table, len(rows) > most


def _state(state: str) -> Text:
    """A state in its colour."""
    return Text(said(state), STYLES.get(state, "bright_black"))


def draw(table: words.Table) -> None:
    """Print a table; without its frame where the terminal is too narrow, so that no name is cut.

    A row without cells is a line.
    """
    out = console()
    drawn = Table(*map(visible, table.columns), title=visible(table.title) or None)
    for at, (column, of_figures) in enumerate(zip(drawn.columns, table.figures, strict=True)):
        column.justify, column.overflow = "right" if of_figures else "left", "fold"
        if of_figures:  # a name is wrapped, a figure never
            column.min_width = max((len(row[at]) for row in table.rows if row), default=0)
    for row in table.rows:
        drawn.add_row(*map(visible, row)) if row else drawn.add_section()
    if out.measure(drawn, options=out.options.update(width=UNBOUNDED)).maximum > out.width:
        drawn.box, drawn.padding = box.SIMPLE_HEAD, (0, 0)
    out.print(drawn)


def why(found: reasons.Why) -> None:
    """Print why a pane was judged as it was."""
    out, verdict = console(), found.verdict
    for line in found.output:
        print(visible(line))
    reason = f" ({visible(verdict.reason)})"
    out.print(Text.assemble(f"pane {found.pane}: ", _state(verdict.state), reason))
    print("\n".join(map(visible, reasons.lines(found))))
    if found.sources:
        draw(reasons.source_table(found))
    for name, each in found.attributes.items():
        print("\n" + "\n".join(map(visible, reasons.attribute_lines(name, each))))
        for table in reasons.attribute_tables(name, each):
            draw(table)
        if each.documents:
            print("documents that weigh most, with their share of the excess:")
        for row in each.documents:
            out.print(Text.assemble(f"  {percent(row.share)} ", (visible(row.id), "bold"), ": "))
            out.print(marked(row), soft_wrap=True)


def marked(row: reasons.WeighedDocument) -> Text:
    """A passage in one line, its labels in bold."""
    text, at = Text("    "), 0
    for label in row.labels:
        text.append(visible(row.passage[at : label.start]))
        text.append(visible(row.passage[label.start : label.end]), "bold underline")
        at = label.end
    return text.append(visible(row.passage[at:]))


def measured(result: Mapping[str, Any]) -> None:
    """Print counts, shares and DR of each attribute.

    Args:
        result: What `summaries.measured` returned.
    """
    title = (
        f"{counted(result['documents'], 'document')}, {result['text_bytes'] / 1e6:,.1f} MB of text"
    )
    of_people = any("words" in each for each in result["attributes"].values())
    columns = ("attribute", "group", "people" if of_people else "mentions", "share", "target")
    rows: list[Sequence[str]] = []
    for name, each in result["attributes"].items():
        rows += [()] * bool(rows)
        targets = each["target"] or dict.fromkeys(each["counts"], 1 / len(each["counts"]))
        first = (name, *_score(each))
        for group, count in each["counts"].items():
            share, target = percent(each["shares"][group]), percent(targets[group])
            rows.append((first[0], group, number(count), share, target, *first[1:]))
            first = ("", "", "")
    draw(words.Table(title, (*columns, "DR", "interval"), rows))
    for line in facts.measured_lines(result):
        print(visible(line))
    for name, each in result["attributes"].items():
        if sources := each.get("sources"):
            draw(_by_source(name, sources))
        if "associations" in each:
            _associations(name, each["associations"])


def _by_source(name: str, sources: Mapping[str, Any]) -> words.Table:
    """The worst sources of an attribute."""
    rows = [
        (
            source,
            number(each["all_documents"]),
            number(each["mentions"]),
            _largest(each["shares"]),
            *_score(each),
        )
        for source, each in list(sources.items())[:SHOWN]
    ]
    more = f", the {SHOWN} worst of {len(sources)}; --json has all" * (len(sources) > SHOWN)
    columns = ("source", "documents", "mentions", "largest shares", "DR", "interval")
    return words.Table(f"{name} by source, worst first{more}", columns, rows)


def _largest(shares: Mapping[str, float | None]) -> str:
    """The largest shares, with their groups."""
    named = [(group, share) for group, share in shares.items() if share]
    largest = sorted(named, key=lambda each: -each[1])[:GROUPS]
    return visible(", ".join(f"{group} {percent(share)}" for group, share in largest))


def _associations(attribute: str, found: Mapping[str, Any]) -> None:
    """Print the words that lean most surely to each group (see `leanings.described`)."""
    least = found["least"]["sentences"]
    leaning = {g: [row for row in own if row["leans"]] for g, own in found["words"].items()}
    lean = sum(map(len, leaning.values()))
    print()
    print(
        visible(
            f"{attribute}: {lean:,} leanings of {found['looked_at']:,} words that stand in"
            f" {found['least']['documents']} documents"
        )
    )
    for group in found["few"]:
        count = counted(found["sentences"][group], "sentence")
        print(visible(f"nothing is said of {group}: {count} of it alone, {least} are needed"))
    if found["missed"]:
        print(f"too many words: up to {found['missed']:,} documents of a rare one are not counted")
    rows = [
        (
            group,
            row["word"],
            number(row["documents"]),
            number(row["sentences"]),
            number(row["others"]),
            f"{row['odds']:.1f}",
            f"{row['low']:.1f}–{row['high']:.1f}",
        )
        for group, own in leaning.items()
        for row in own[:STRONGEST]
    ]
    columns = ("leans to", "word", "documents", "sentences", "of others", "odds", "interval")
    if rows:
        draw(words.Table("", columns, rows))


def lists(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print word lists with their groups and numbers of labels.

    Args:
        rows: Of each list its name, groups with their sizes, and whether it is measured by default.
    """
    cells = [
        (
            f"{row['name']} *" if row["default"] else row["name"],
            ", ".join(f"{group} ({size})" for group, size in row["groups"].items()),
        )
        for row in rows
    ]
    draw(words.Table("", ("name", "groups (labels)"), cells))


def labels_in_corpus(result: Mapping[str, Any]) -> None:
    """Print how often labels name people, the weakest label first, with examples of weak ones."""
    rows = [
        (
            each["label"],
            each["group"],
            number(each["mentions"]),
            percent(each["precision"]),
            f"{each['low']:.0%}–{each['high']:.0%}" if result["learnt"] else "",
            score(each["dr_without"]),
        )
        for each in result["labels"]
    ]
    columns = ("label", "group", "mentions", "people", "interval", "DR without")
    draw(words.Table(counted(result["documents"], "document"), columns, rows))
    for each in result["labels"]:
        for one in each["examples"]:
            if not result["learnt"]:
                print(visible(f"{each['label']}: {one['text']}"))
            elif each["precision"] < 0.5:
                print(visible(f"{each['label']}, people {percent(one['people'])}: {one['text']}"))
    if not result["learnt"]:
        print("No document was labelled for this attribute: how many name people is not estimated")
    dr = {name: score(each) for name, each in result["dr"].items()}
    print(
        f"DR of all mentions {dr['words']}; of those that name people {dr['people']}; of all"
        f" mentions of labels that mostly name people {dr['without_weak']}"
    )


def _score(found: Mapping[str, Any]) -> tuple[str, str]:
    """DR and its interval as text."""
    if found["dr"] is None:
        return "no mention", ""
    low, high = found["low"], found["high"]
    return score(found["dr"]), "" if low is None else interval(low, high)
