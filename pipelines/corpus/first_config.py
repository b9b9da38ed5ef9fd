"""The configuration that `evenflow init` writes, from a look at the input."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

from evenflow.pipelines.corpus.look import Field, Look, Seen
from evenflow.pipelines.terminal.lines import visible
from evenflow.schemas.commented import scalar
from evenflow.schemas.config import Config
from evenflow.transforms.substitution import reading

WIDTH = 88  # columns of a comment
SHOWN = 12  # fields that are named


def lines(
    look: Look | None,
    config: Config,
    inputs: list[str],
    folder: Path,
    reference: str | None = None,
    alarms: str = "",
) -> Iterator[str]:
    """The lines of the file.

    Args:
        look: What was seen; None: nothing was looked at.
        inputs: The inputs, as they were named.
        folder: Where the file is: it names word lists from there.
        reference: Name of the reference's file beside it; None: there is none.

    Yields:
        Lines of YAML. What comes from the input is only in comments, or quoted.
    """
    yield from _comment(
        "A configuration of Evenflow."
        if look is None
        else f"From a look at {look.looked:,} of about {look.documents:,} documents of"
        f" {' '.join(inputs)}."
    )
    yield from _comment("`evenflow doctor --print config` prints every other key with its meaning.")
    fields = config.fields
    text, own_id = (fields.text, fields.id) if look is None else (look.text, look.id)
    yield ""
    if look is not None and text is None:
        yield from _comment("Each file is a document, and its path is its id.")
    else:
        yield "fields:"
        if look is not None:
            yield from _comment(_fields(look.fields), 2)
            if look.shape is not None:
                yield from _comment(f"The records have the shape of {look.shape}.", 2)
        yield f"  text: {scalar(text)}"
        if own_id is None:
            yield from _comment("No field is an id; each document gets one from its place.", 2)
        else:
            yield f"  id: {scalar(own_id)}"
    if look is not None and look.languages:
        each = ", ".join(f"{name} {share:.0%}" for name, share in look.languages.items())
        yield from _comment(f"Languages: {each}. measure.by_language counts each by its list.")
    yield ""
    yield "pane:"
    if look is not None:
        yield from _comment(
            f"A pane is the unit that is judged. About {look.documents:,} documents of"
            f" {look.size / 1000:,.1f} kB are {-(-look.documents // look.pane):,} panes.",
            2,
        )
    yield f"  docs: {'null' if look is None else look.pane}"
    yield ""
    if reference is not None:
        yield "reference:"
        yield from _comment(
            f"What each source was, by {config.reference.by or 'file'}. A stream that shifts from"
            f" it is blocked, source by source; see gate.shift. {alarms}",
            2,
        )
        yield f"  file: {scalar(reference)}"
        yield ""
    yield "gate:"
    yield from _comment(
        "DR from which the lower bound of its interval warns, and blocks: for who wants groups"
        " named as often as the targets ask. Hardly any text does, so nothing is set.",
        2,
    )
    yield "  # warn: 0.25"
    yield "  # block: 0.45"
    yield from _comment("Mentions below which there is no verdict.", 2)
    yield f"  min_mentions: {config.gate.min_mentions}"
    yield ""
    yield from _comment(
        "The attributes that are measured: these alone. A target is what the shares should be."
        " Where there is no threshold, the gate's counts."
    )
    yield "attributes:"
    seen = {} if look is None else look.attributes
    named = [name for name, each in seen.items() if each.total]
    for words in config.word_lists():
        name, path = words.attribute, config.attributes[words.attribute].wordlist
        shares = config.target(words) or [round(1 / len(words.groups), 4)] * len(words.groups)
        pairs = zip(words.groups, shares, strict=True)
        even = ", ".join(f"{scalar(group)}: {share:g}" for group, share in pairs)
        keys = [] if path is None else [f"wordlist: {scalar(os.path.relpath(path, folder))}"]
        if look is not None and name in named:
            keys += _comment(_named(seen[name]))
        off = "# " if named and name not in named else ""
        if off:
            yield from _comment("Not named in the sample, so not measured:", 2)
        yield f"  {off}{scalar(name)}:"
        yield from (f"  {off}  {each}" for each in [*keys, f"target: {{{even}}}"])
    yield ""
    yield from _comment(
        "What is done to text: [measure] changes none; [substitute, weight] exchanges mentions and"
        " weighs documents."
    )
    for promised in reading.promises(config, every=True):
        yield from _comment(f"Exchanges: {promised}.")
    yield "repair:"
    yield "  mode: [measure]"


def _fields(fields: Mapping[str, Field]) -> str:
    """A sentence on the fields of records."""
    most = max(each.records for each in fields.values())

    def one(name: str, each: Field) -> str:
        about = f"{each.characters / each.texts:,.0f} characters" if each.texts else "no text"
        missing = "" if each.records == most else f", in {each.records / most:.0%}"
        return f"{name} ({about}{missing})"

    named = [one(*each) for each in list(fields.items())[:SHOWN]]
    more = f", and {len(fields) - SHOWN} more" if len(fields) > SHOWN else ""
    return f"Seen: {', '.join(named)}{more}."


def _named(seen: Seen) -> str:
    """A sentence on the mentions of an attribute."""
    each = ", ".join(
        f"{group} {count / seen.total:.1%}"
        for group, count in zip(seen.groups, seen.sums.counts, strict=True)
    )
    found = seen.score
    interval = "" if found.low is None else f" [{found.low:.3f}, {found.high:.3f}]"
    return (
        f"{found.mentions:,} mentions in {found.documents:,} documents: {each}."
        f" DR {found.dr:.3f}{interval}."
    )


def _comment(text: str, depth: int = 0) -> Iterator[str]:
    """Lines of a comment; what comes from the input cannot end one."""
    pad = " " * depth + "# "
    yield from textwrap.wrap(
        visible(text), WIDTH, initial_indent=pad, subsequent_indent=pad, break_on_hyphens=False
    )
