"""Tests of readers of files (evenflow.readers)."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import Any, ClassVar

from evenflow.schemas.plugins import PluginTextError, load
from evenflow.testing.common import SEEDS, in_another_process
from evenflow.transforms.io.formats import Format, brought

CUTS = 50  # where a file is cut
READ = """
import base64, io, json, sys
from evenflow.transforms.io.formats import brought
reader = brought(sys.argv[1])
files = [io.BytesIO(base64.b64decode(each)) for each in json.load(sys.stdin)]
print(json.dumps([[json.loads(each) for each in reader.records(one, 0)] for one in files]))
"""


class ReaderTests:
    """Tests of a reader of files (evenflow.readers), for a class whose name begins with Test.

    Attributes:
        reader: The plug-in's name; its files end with .NAME.
    """

    reader: ClassVar[str]
    examples: ClassVar[Mapping[bytes, Sequence[Mapping[str, Any]]]]

    def fresh(self) -> Format:
        """The reader, loaded anew; it checks its records as in the gate."""
        load.cache_clear()
        return brought(self.reader)

    def records(self, content: bytes, reader: Format | None = None) -> list[Any]:
        """The records of a file."""
        return list(map(json.loads, (reader or self.fresh()).records(io.BytesIO(content), 0)))

    def test_examples_are_read(self) -> None:
        """Each example has exactly its records, and one at least has some."""
        assert any(self.examples.values()), "examples: a file with a record was expected"
        for content, expected in self.examples.items():
            records = self.records(content)
            assert records == list(map(dict, expected)), f"{records}, not {expected}"

    def test_files_do_not_disturb_each_other(self) -> None:
        """Files that are read at the same time have the records that each has alone."""
        reader, files = self.fresh(), list(self.examples) * 2
        sources = [reader.records(io.BytesIO(each), 0) for each in files]
        rows = zip_longest(*sources)
        found = [[json.loads(each) for each in one if each] for one in zip(*rows, strict=True)]
        assert found == list(map(self.records, files))

    def test_a_file_that_breaks_off_keeps_its_beginning(self) -> None:
        """Of a file that is cut, records are as in the whole file, but for the last one."""
        for content in self.examples:
            whole = self.records(content)
            for size in range(0, len(content), max(1, len(content) // CUTS)):
                part: list[Any] = []
                with suppress(PluginTextError):
                    part.extend(
                        map(json.loads, self.fresh().records(io.BytesIO(content[:size]), 0))
                    )
                assert part[:-1] == whole[: max(len(part) - 1, 0)], f"cut at byte {size}"

    def test_any_file_is_read_or_refused(self) -> None:
        """What is no file of the format ends with an error that the gate knows."""
        for content in (b"", b"\n", b"\0" * 100, b"\xff\xfe", bytes(range(256)) * 100):
            with suppress(PluginTextError):
                self.records(content)

    def test_every_process_reads_the_same(self) -> None:
        """Neither the process nor the order of its sets (PYTHONHASHSEED) matters."""
        coded = [base64.b64encode(each).decode() for each in self.examples]
        expected = list(map(self.records, self.examples))
        for seed in SEEDS:
            found = in_another_process(READ, self.reader, coded, seed)
            assert found == expected, f"PYTHONHASHSEED={seed}: other records"

    def test_the_gate_reads_the_examples(self, tmp_path: Path) -> None:
        """`evenflow.measure` reads a file for each example."""
        import evenflow

        wanted = 0
        for number, (content, records) in enumerate(self.examples.items()):
            (tmp_path / f"{number}.{self.reader}").write_bytes(content)
            texts = [each.get("text") for each in records]
            wanted += sum(isinstance(each, str) and bool(each.strip()) for each in texts)
        found = evenflow.measure(str(tmp_path / f"*.{self.reader}"))
        assert found.documents == wanted
