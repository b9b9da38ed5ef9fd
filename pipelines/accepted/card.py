"""Describes what a gate has accepted: Croissant 1.1 with its RAI extension, and a README.

Source: the specifications at https://docs.mlcommons.org/croissant/. The RAI fields are text, so the
figures of dataBiases stand once more as PropertyValues (variableMeasured, schema.org). Everything
is read from the ledger.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.types as kinds
import yaml

from evenflow.gates import facts, weights
from evenflow.gates.ledger.files import read_meta
from evenflow.gates.ledger.totals import AttributeTotals, Totals
from evenflow.pipelines.accepted.rows import Accepted
from evenflow.pipelines.terminal.lines import visible
from evenflow.schemas.config import Config, recorded
from evenflow.schemas.ledger import Score
from evenflow.schemas.words import counted, estimate, number, percent
from evenflow.transforms.measures import registry
from evenflow.transforms.measures.representation.dr import score
from evenflow.transforms.storage.storage import Storage

CROISSANT, README = "croissant.json", "README.md"
CONTEXT = Path(__file__).with_name("croissant_context.json")  # as the specification gives it
Say: TypeAlias = Callable[[str], str]  # makes text from a ledger fit for where it is shown
MARKS = re.compile(r"[\\`*{}\[\]#|!~>&$]")  # what Markdown reads as more than text
PARQUET = {"encodingFormat": "application/x-parquet"}
KINDS = (  # Croissant's name of a column's type; objects and lists have none
    (kinds.is_boolean, "sc:Boolean"),
    (kinds.is_integer, "cr:Int64"),
    (kinds.is_floating, "cr:Float64"),
    (kinds.is_string, "sc:Text"),
    (kinds.is_large_string, "sc:Text"),
    (kinds.is_timestamp, "sc:DateTime"),
    (kinds.is_date, "sc:DateTime"),
)
METHOD = (
    "Demographic Representation: half the sum of the absolute differences between the groups'"
    " shares of label mentions and the target; 0 is even, and the interval is over documents"
)


def described(output: Storage, own: dict[str, str]) -> tuple[dict[str, Any], str]:
    """Describe the accepted documents of an output.

    Args:
        own: What the ledger does not know: name, and perhaps description, license and url.

    Returns:
        Croissant's JSON-LD, and the README with its YAML head.

    Raises:
        LedgerError: The ledger cannot be read.
        OSError: A shard cannot be read.
    """
    rows = Accepted(output)
    history = rows.history
    totals, config = history.totals, recorded(read_meta(output)) or Config()
    files = [
        (f"{place}/{shard.name}", shard)
        for entry in history.some(range(len(history)))
        for folder, place, shard in history.files(entry)
        if folder == "accepted"
    ]
    text = own.get("description") or (
        f"{counted(len(rows), 'document')} that a gate of Evenflow accepted, of"
        f" {totals.documents:,}."
    )
    scores = {
        name: score(each.accepted, each.last.target, config.gate.confidence)
        for name, each in sorted(totals.attributes.items())
    }

    def said(say: Say) -> tuple[list[str], list[str], list[str]]:
        """Biases, steps and limits, in sentences."""
        biases = [_bias(name, totals.attributes[name], each, say) for name, each in scores.items()]
        return biases, list(_steps(totals, say)), list(_limits(totals, config, say))

    biases, steps, limits = said(visible)
    card: dict[str, Any] = {
        "@context": json.loads(CONTEXT.read_bytes()),
        "@type": "sc:Dataset",
        "conformsTo": [
            "http://mlcommons.org/croissant/1.1",
            "http://mlcommons.org/croissant/RAI/1.0",
        ],
        "name": own["name"],
        "description": text,
        **{key: own[key] for key in ("license", "url") if own.get(key)},
        "distribution": [
            _node("cr:FileObject", path, contentUrl=path, contentSize=f"{shard.bytes} B", **PARQUET)
            | {"sha256": shard.sha256}
            for path, shard in files
        ]
        + [_node("cr:FileSet", "shards", **PARQUET, includes=[path for path, _ in files])],
        "recordSet": [_records(rows.schema)],
        "variableMeasured": [
            value
            for name, each in scores.items()
            for value in _values(name, totals.attributes[name], each)
        ],
        "rai:dataBiases": biases,
        "rai:dataPreprocessingProtocol": steps,
        "rai:dataLimitations": limits,
    }
    head: dict[str, Any] = {"pretty_name": own["name"]}
    head |= {"license": own["license"]} if own.get("license") else {}
    head |= {"tags": ["croissant", "evenflow"]}
    head["configs"] = [{"config_name": "default", "data_files": [path for path, _ in files]}]
    titles = ("Representation", "What was done", "Limitations")
    parts = dict(zip(titles, said(_markdown), strict=True))
    body = "\n".join(
        f"\n## {title}\n\n" + "\n".join(f"- {line}" for line in lines)
        for title, lines in parts.items()
    )
    front = yaml.safe_dump(head, sort_keys=False, allow_unicode=True)
    title = own["name"].replace("\n", " ")
    return card, f"---\n{front}---\n\n# {title}\n\n{text}\n{body}\n"


def dumps(card: dict[str, Any]) -> str:
    """Croissant's JSON-LD as text."""
    return json.dumps(card, indent=1, ensure_ascii=False) + "\n"


def _markdown(text: str) -> str:
    """Text from a ledger as Markdown shows it: no HTML, no link, no line of its own."""
    return MARKS.sub(r"\\\g<0>", visible(text)).replace("<", "&lt;")


def _bias(name: str, totals: AttributeTotals, found: Score, say: Say) -> str:
    """How evenly an attribute's groups are named in what was accepted, in a sentence."""
    name = say(name)
    if found.dr is None:
        return f"{name}: no document that was accepted names a group."
    shares = ", ".join(
        f"{say(row.group)} {percent(row.share)} (target {percent(row.target)})"
        for row in facts.GroupFacts.of(totals.last, totals.accepted)
    )
    return (
        f"{name}: DR {estimate(found.dr, found.low, found.high)}, of"
        f" {counted(found.mentions, 'mention')} in {counted(found.documents, 'document')}:"
        f" {shares}."
    )


def _values(name: str, totals: AttributeTotals, found: Score) -> Iterator[dict[str, Any]]:
    """The figures of an attribute as values of schema.org."""
    if found.dr is None:
        return
    bounds = {} if found.low is None else {"minValue": found.low, "maxValue": found.high}
    dr = {"propertyID": f"evenflow:dr/{name}", "value": found.dr, **bounds}
    yield {"@type": "PropertyValue", **dr, "measurementTechnique": METHOD}
    for row in facts.GroupFacts.of(totals.last, totals.accepted):
        share = {"propertyID": f"evenflow:share/{name}/{row.group}", "value": row.share}
        yield {"@type": "PropertyValue", **share}


def _steps(totals: Totals, say: Say) -> Iterator[str]:
    """What was removed, changed and weighted, in sentences."""
    yield (
        f"{counted(totals.documents, 'document')} in {counted(totals.panes, 'pane')} measured;"
        f" {totals.accepted:,} accepted."
    )
    if blocked := totals.blocked_panes:
        yield f"In quarantine: {counted(blocked, 'pane')}."
    if totals.aside:
        yield f"Set aside alone: {counted(totals.aside, 'document')}."
    yield from (f"{say(line)}." for line in facts.lines(facts.of(totals, True, None)))
    for name, each in sorted(totals.attributes.items()):
        if each.repair is not None:
            own = each.repair
            yield (
                f"{say(name)}: words for groups were exchanged (mode {own.mode}): {own.changed:,}"
                f" of {own.sets:,} sets of mentions in {counted(own.documents, 'document')},"
                f" {own.copies:,} copies added; DR before {own.score_before.dr}."
            )
        for _, measure, found in registry.known(totals.measures):
            yield from map(say, measure.said(found, name))
    if totals.weights is not None:
        yield (
            f"Weighted: {counted(totals.weights.documents, 'document')}; the effective sample is"
            f" {number(totals.weights.effective)}."
        )
    for name, each in sorted(totals.attributes.items()):
        if less := weights.forgotten(name, each.unweighted, each.weighed):
            yield f"{say(less)}."


def _limits(totals: Totals, config: Config, say: Say) -> Iterator[str]:
    """What the figures do not say."""
    what = "mentions that name people" if config.measure.count == "people" else "words"
    names = ", ".join(map(say, sorted(totals.attributes)))
    yield (
        f"DR counts {what} of word lists ({names}), in English; who is"
        " named in other words, or as both or neither of the groups, is not counted."
    )
    yield "How often a group is named says nothing of what is said about it."


def _records(schema: pa.Schema) -> dict[str, Any]:
    """The record set: the columns that are single values."""
    fields = [
        _node("cr:Field", f"documents/{column.name}", name=column.name, dataType=kind)
        | {"source": {"fileSet": {"@id": "shards"}, "extract": {"column": column.name}}}
        for column in schema
        if (kind := next((name for holds, name in KINDS if holds(column.type)), None))
    ]
    about = "A document a record; columns of objects and lists are left out here."
    return _node("cr:RecordSet", "documents", description=about, field=fields)


def _node(kind: str, identity: str, **more: Any) -> dict[str, Any]:
    """A node of the graph, which is named as it is identified unless `more` has a name."""
    return {"@type": kind, "@id": identity, "name": identity, **more}
