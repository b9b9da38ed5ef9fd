"""Finds the files of benchmarks: in a folder of the user's, else among those that ship."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenflow.schemas.errors import USAGE, EvenflowError

SHIPPED = Path(__file__).parent / "data"


class BenchmarkDataError(EvenflowError):
    """A file of a benchmark is missing or not what it must be; the message says what to do."""

    status = USAGE


@dataclass(frozen=True)
class Data:
    """Where the files of benchmarks are."""

    folder: Path | None = None

    def find(self, name: str) -> Path | None:
        """A file, as it is or compressed by gzip; None where there is none."""
        for folder in (self.folder, SHIPPED):
            for each in (name, f"{name}.gz"):
                if folder is not None and (folder / each).is_file():
                    return folder / each
        return None

    def text(self, name: str, what: str = "") -> str:
        """Read a file."""
        path = self.find(name)
        if path is None:
            where = f" in {self.folder}" if self.folder is not None else ""
            raise BenchmarkDataError(
                f"{name}: there is no such file{where}; put it into a folder and give that as"
                f" --benchmark-data{f' ({what})' if what else ''}"
            )
        try:
            read = path.read_bytes()
            return (gzip.decompress(read) if path.suffix == ".gz" else read).decode("utf-8-sig")
        except (OSError, EOFError, UnicodeDecodeError) as error:
            raise BenchmarkDataError(f"{path}: it cannot be read ({error})") from error

    def table(
        self, name: str, columns: Sequence[str], delimiter: str = ","
    ) -> list[dict[str, str]]:
        """Read a table with a line of column names."""
        reader = csv.DictReader(io.StringIO(self.text(name)), delimiter=delimiter)
        missing = [each for each in columns if each not in (reader.fieldnames or ())]
        if missing:
            raise BenchmarkDataError(f"{name}: there is no column {missing[0]!r}")
        return list(reader)

    def records(self, name: str, fields: Sequence[str]) -> list[dict[str, Any]]:
        """Read JSON lines."""
        found: list[dict[str, Any]] = []
        for number, line in enumerate(self.text(name).splitlines(), 1):
            try:
                record: Any = json.loads(line)
            except ValueError as error:
                raise BenchmarkDataError(f"{name}, line {number}: it is not JSON") from error
            missing = [
                each for each in fields if not isinstance(record, dict) or each not in record
            ]
            if missing:
                raise BenchmarkDataError(f"{name}, line {number}: there is no {missing[0]!r}")
            found.append(record)
        return found
