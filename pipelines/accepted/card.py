"""Describes what a gate has accepted: Croissant 1.1 with its RAI extension, and a README.

Source: the specifications at https://docs.mlcommons.org/croissant/. The RAI fields are text, so the
figures of dataBiases stand once more as PropertyValues (variableMeasured, schema.org). Everything
is read from the ledger.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.types as kinds
import yaml

from evenflow.gates.ledger.files import read_meta
from evenflow.gates.ledger.totals import AttributeTotals, Totals
from evenflow.pipelines.accepted.rows import Accepted
from evenflow.pipelines.pages.report.figures import configuration
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import Score
from evenflow.transforms.measures import registry
from evenflow.transforms.measures.representation.dr import score
from evenflow.transforms.storage.storage import Storage

CROISSANT, README = "croissant.json", "README.md"
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
METHOD = (
    "Demographic Representation: half the sum of the absolute differences between the groups'"
    " shares of label mentions and the target; 0 is even, and the interval is over documents"
)


def described(output: Storage, own: dict[str, str]) -> tuple[dict[str, Any], str]:
    """Describe the accepted documents of an output.

    Args:
        output: The output of a run.
        own: What the ledger does not know: name, and perhaps description, license and url.

    Returns:
        Croissant's JSON-LD, and the README with its YAML head.

    Raises:
        LedgerError: The ledger cannot be read.
        OSError: A shard cannot be read.
    """
    rows = Accepted(output)
    history = rows.history
    totals, config = history.totals, configuration(read_meta(output)) or Config()
    files = [
        (f"{place}/{shard.name}", shard)
        for entry in history.some(range(len(history)))
        for counted, place, shard in history.files(entry)
        if counted == "accepted"
    ]
    text = own.get("description") or (
        f"{len(rows):,} documents that a gate of Evenflow accepted, of {totals.documents:,}."
    )
    scores = {
        name: score(each.accepted, each.last.target, config.gate.confidence)
        for name, each in sorted(totals.attributes.items())
    }
    biases = [_bias(name, totals.attributes[name], each) for name, each in scores.items()]
    steps, limits = list(_steps(totals)), list(_limits(totals, config))
    card: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [
            "http://mlcommons.org/croissant/1.1",
            "http://mlcommons.org/croissant/RAI/1.0",
        ],
        "name": own["name"],
        "description": text,
        **{key: own[key] for key in ("license", "url") if own.get(key)},
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": path,
                "name": path,
                "contentUrl": path,
                "contentSize": f"{shard.bytes} B",
                "encodingFormat": "application/x-parquet",
                "sha256": shard.sha256,
            }
            for path, shard in files
        ]
        + [
            {
                "@type": "cr:FileSet",
                "@id": "shards",
                "name": "shards",
                "encodingFormat": "application/x-parquet",
                "includes": [path for path, _ in files],
            }
        ],
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
    parts = {"Representation": biases, "What was done": steps, "Limitations": limits}
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


def _bias(name: str, totals: AttributeTotals, found: Score) -> str:
    """How evenly an attribute's groups are named in what was accepted, in a sentence."""
    if found.dr is None:
        return f"{name}: no document that was accepted names a group."
    counts = totals.accepted.counts
    shares = ", ".join(
        f"{group} {count / sum(counts):.1%} (target {share:.1%})"
        for group, count, share in zip(totals.last.groups, counts, totals.last.target, strict=True)
    )
    return (
        f"{name}: DR {found.dr:.3f}{_interval(found)}, of {found.mentions:,} mentions in"
        f" {found.documents:,} documents: {shares}."
    )


def _interval(found: Score) -> str:
    return "" if found.low is None else f" [{found.low:.3f}, {found.high:.3f}]"


def _values(name: str, totals: AttributeTotals, found: Score) -> Iterator[dict[str, Any]]:
    """The figures of an attribute as values of schema.org."""
    if found.dr is None:
        return
    bounds = {} if found.low is None else {"minValue": found.low, "maxValue": found.high}
    yield {
        "@type": "PropertyValue",
        "propertyID": f"evenflow:dr/{name}",
        "value": found.dr,
        **bounds,
        "measurementTechnique": METHOD,
    }
    every = sum(totals.accepted.counts)
    for group, count in zip(totals.last.groups, totals.accepted.counts, strict=True):
        yield {
            "@type": "PropertyValue",
            "propertyID": f"evenflow:share/{name}/{group}",
            "value": round(count / every, 6),
        }


def _steps(totals: Totals) -> Iterator[str]:
    """What was removed, changed and weighted, in sentences."""
    yield (
        f"{totals.documents:,} documents were measured in {totals.panes:,} panes, and"
        f" {totals.accepted:,} accepted; {totals.blocked_panes:,} panes were blocked."
    )
    if totals.dead:
        yield f"{totals.dead:,} records were no documents and left out."
    if totals.removed:
        yield f"{totals.removed:,} documents were set aside so that their panes were even."
    if totals.aside:
        yield f"{totals.aside:,} documents were set aside alone."
    if totals.reviewed.accepted or totals.reviewed.rejected:
        yield (
            f"People accepted {totals.reviewed.accepted:,} blocked panes and rejected"
            f" {totals.reviewed.rejected:,} accepted ones."
        )
    for name, each in sorted(totals.attributes.items()):
        if each.repair is not None:
            own = each.repair
            yield (
                f"{name}: words for groups were exchanged (mode {own.mode}): {own.changed:,} of"
                f" {own.sets:,} sets of mentions in {own.documents:,} documents,"
                f" {own.copies:,} copies added; DR before {own.score_before.dr}."
            )
        for of, measure in registry.measures(totals.measures).items():
            if of in totals.measures:
                yield from measure.said(totals.measures[of], name)
    if totals.weights is not None:
        yield (
            f"{totals.weights.documents:,} documents have a weight; the effective sample is"
            f" {totals.weights.effective:,.0f}."
        )


def _limits(totals: Totals, config: Config) -> Iterator[str]:
    """What the figures do not say."""
    what = "mentions that name people" if config.measure.count == "people" else "words"
    yield (
        f"DR counts {what} of word lists ({', '.join(sorted(totals.attributes))}), in English; who"
        " is named in other words, or as both or neither of the groups, is not counted."
    )
    yield "How often a group is named says nothing of what is said about it."
    if totals.extra:
        yield f"{totals.extra:,} documents have fields that fit no column (_extra)."


def _records(schema: pa.Schema) -> dict[str, Any]:
    """The record set: the columns that are single values."""
    return {
        "@type": "cr:RecordSet",
        "@id": "documents",
        "name": "documents",
        "description": "A document a record; columns of objects and lists are left out here.",
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"documents/{column.name}",
                "name": column.name,
                "dataType": kind,
                "source": {"fileSet": {"@id": "shards"}, "extract": {"column": column.name}},
            }
            for column in schema
            if (kind := _kind(column.type)) is not None
        ],
    }


def _kind(of: pa.DataType) -> str | None:
    """Croissant's name of a column's type; None for objects and lists."""
    if kinds.is_boolean(of):
        return "sc:Boolean"
    if kinds.is_integer(of):
        return "cr:Int64"
    if kinds.is_floating(of):
        return "cr:Float64"
    if kinds.is_string(of) or kinds.is_large_string(of):
        return "sc:Text"
    return "sc:DateTime" if kinds.is_timestamp(of) or kinds.is_date(of) else None
