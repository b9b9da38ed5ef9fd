"""What the functions take: files by path, or documents in memory."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias

import orjson
import pyarrow as pa

from evenflow.schemas.config import Config
from evenflow.settings import wrong
from evenflow.transforms.io import documents, files
from evenflow.transforms.io.blocks import BLOCK_BYTES, BLOCK_RECORDS, Block
from evenflow.transforms.io.files import InputError
from evenflow.transforms.io.first_records import RECORDS
from evenflow.transforms.io.parts import names_of
from evenflow.transforms.io.shapes import advice

# A path, folder or glob; several Paths; or documents: texts, records, a dataset, a frame
Inputs: TypeAlias = "str | os.PathLike[str] | Iterable[Any]"

MEMORY = "documents"  # stands for the file's name where documents are in memory


def patterns(inputs: Inputs) -> list[str] | None:
    """Tell files from documents.

    Args:
        inputs: What a caller gave. A str or Path is a path, folder or glob, and so is each of a
            list of Paths; a list of str holds texts.

    Returns:
        The patterns; None where the inputs are documents.

    Raises:
        TypeError: They are neither.
    """
    if isinstance(inputs, str | os.PathLike):
        return [os.fspath(inputs)]
    if isinstance(inputs, Sequence) and not isinstance(inputs, bytes) and inputs:
        paths = [os.fspath(each) for each in inputs if isinstance(each, os.PathLike)]
        return paths if len(paths) == len(inputs) else None
    known = isinstance(inputs, Iterable) or hasattr(inputs, "__arrow_c_stream__")
    if isinstance(inputs, bytes) or not known:
        wanted = "a path, a list of texts or mappings, a dataset or a frame"
        raise wrong("inputs", wanted, inputs)
    return None


def lines(inputs: Iterable[Any], config: Config) -> Iterator[bytes]:
    """Write documents in memory as lines of JSON.

    Args:
        inputs: Texts (a list, a column), mappings with a text and an id, a Hugging Face dataset
            (any iterable of mappings), a pandas frame, or a table of Arrow (polars, pyarrow,
            duckdb). A missing value of a frame is null.
        config: Its fields.text and fields.id name the fields or columns.

    Yields:
        A JSON object for each document, without a line end.

    Raises:
        InputError: A table has no column of the text's name.
        TypeError: An element is neither text nor a mapping, or the inputs are a mapping.
    """
    if isinstance(inputs, Mapping):
        raise TypeError(f"documents were expected, not a mapping of {', '.join(map(str, inputs))}")
    columns = getattr(inputs, "column_names", getattr(inputs, "columns", None))
    wanted = {*names_of(config.fields)}
    if isinstance(columns, Iterable) and wanted.isdisjoint(names := list(columns)):
        known = advice([*map(str, names)], [*islice(_rows(inputs), RECORDS)])
        raise InputError(f"no column {config.fields.text!r} (fields.text); {known}")
    for number, each in enumerate(_rows(inputs)):
        if isinstance(each, str):
            yield _line({config.fields.column: each})
        elif isinstance(each, Mapping):
            yield _line(dict(each))
        else:
            raise TypeError(
                f"document {number} is of type {type(each).__name__}; text or a mapping was"
                " expected"
            )


def blocks(inputs: Inputs, config: Config) -> Iterator[Block]:
    """Read inputs in blocks.

    Args:
        config: Its fields name the text and the id.

    Yields:
        Blocks of records, in the order of the input.

    Raises:
        InputError: No file matches, a file cannot be opened, or a table has no such column.
        OSError: A device fails.
        TypeError: An element is neither text nor a mapping.
    """
    found = patterns(inputs)
    if found is not None:
        names = list(files.match(found, config.strict_input))
        yield from documents.blocks(names, config.fields)
        return
    assert not isinstance(inputs, str | os.PathLike)
    records: list[bytes] = []
    first = size = 0
    for line in lines(inputs, config):
        records.append(line)
        size += len(line)
        if size >= BLOCK_BYTES or len(records) == BLOCK_RECORDS:
            yield Block(MEMORY, first, records, 0)
            first, size, records = first + len(records), 0, []
    if records:
        yield Block(MEMORY, first, records, 0)


def _rows(inputs: Any) -> Iterable[Any]:
    """The elements; of a frame or table, its rows as mappings."""
    if isinstance(inputs, pa.Array):
        return inputs.to_pylist()
    if not hasattr(inputs, "itertuples"):
        if not hasattr(inputs, "__arrow_c_stream__"):
            return inputs
        try:
            batches = pa.RecordBatchReader.from_stream(inputs)  # polars, pyarrow, duckdb
        except pa.ArrowInvalid:  # a column alone
            return pa.chunked_array(inputs).to_pylist()
        return (row for batch in batches for row in batch.to_pylist())
    plain = inputs.astype(object).where(inputs.notna(), None)
    names = list(plain.columns)
    rows = plain.itertuples(index=False, name=None)
    return (dict(zip(names, row, strict=True)) for row in rows)


def _line(record: dict[Any, Any]) -> bytes:
    """A record as JSON; what JSON has no form for (dates, say) as text."""
    try:
        return orjson.dumps(
            record, default=str, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
        )
    except orjson.JSONEncodeError:  # a lone surrogate, a whole number beyond 64 bits
        return json.dumps(record, default=str).encode()
