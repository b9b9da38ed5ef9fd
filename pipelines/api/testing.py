"""Tests that the author of a plug-in runs, by pytest.

    from evenflow.testing import FinderTests

    class TestTitledPeople(FinderTests):
        finder = "titled"
        examples = {"Mr. Darcy left.": [(0, 9, "men")]}

They say whether the plug-in gives what the examples say, and whether the gate may rely on it: the
same for the same text or file, in any order, process and thread.
"""

from __future__ import annotations

import base64
import io
import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import Any, ClassVar

from evenflow.annotator import Annotator
from evenflow.schemas.plugins import PluginFinder, PluginTextError, load
from evenflow.transforms.io.formats import Format, brought

Mention = tuple[int, int, str]  # start, end and group
# Texts that go wrong where characters are taken for bytes, words for ASCII, or a text for a line
AWKWARD = (
    " ",
    "\n\n",
    "\x00",
    "\ud800 half a pair",
    "e\u0301te\u0301 \u200d \u202e",
    "\U0001f469\u200d\U0001f4bb \U0001f1e9\U0001f1ea",
    "\u5979\u662f\u8001\u5e2b\u3002",
    "word " * 20_000,
    "x" * 100_000,
    "(" * 1000 + "\\" * 1000,
)
CUTS = 50  # where a file is cut
SPEED_BYTES = 1 << 20  # how much text the speed is measured on
FIND = """
import json, sys
from evenflow.schemas.plugins import PluginFinder
finder = PluginFinder(sys.argv[1])
print(json.dumps([finder.find(text) for text in json.load(sys.stdin)]))
"""
READ = """
import base64, io, json, sys
from evenflow.transforms.io.formats import brought
reader = brought(sys.argv[1])
files = [io.BytesIO(base64.b64decode(each)) for each in json.load(sys.stdin)]
print(json.dumps([[json.loads(each) for each in reader.records(one, 0)] for one in files]))
"""
SEEDS = ("1", "2")  # of the order of sets


def in_another_process(code: str, name: str, data: Any, seed: str) -> Any:
    """What a program prints in a process of its own, as JSON."""
    child = subprocess.run(
        [sys.executable, "-c", code, name],
        input=json.dumps(data),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout)


class FinderTests:
    """Tests of a finder of mentions (evenflow.attributes), for a class whose name begins with Test.

    Attributes:
        finder: The plug-in's name, or its place (MODULE:NAME).
        examples: Texts with the mentions in each: start, end and group, in order.
    """

    finder: ClassVar[str]
    examples: ClassVar[Mapping[str, Sequence[Mention]]]

    @property
    def texts(self) -> list[str]:
        """All texts that are tried."""
        return [*self.examples, "\n\n".join(self.examples), *AWKWARD]

    def fresh(self) -> PluginFinder:
        """The finder, loaded anew; it checks its results as in the gate."""
        load.cache_clear()
        return PluginFinder(self.finder)

    def found(self, texts: Sequence[str]) -> list[list[tuple[int, int, int]]]:
        """What a fresh finder finds."""
        return list(map(self.fresh().find, texts))

    def test_examples_are_found(self) -> None:
        """Each example has exactly its mentions, and one at least has some."""
        assert any(self.examples.values()), "examples: a text with a mention was expected"
        finder = self.fresh()
        for text, expected in self.examples.items():
            mentions = [(a, b, finder.groups[group]) for a, b, group in finder.find(text)]
            assert mentions == list(expected), f"{text!r}: {mentions}, not {list(expected)}"

    def test_any_text_is_searched(self) -> None:
        """No text is an error, and offsets are in order and within the text."""
        self.found(self.texts)

    def test_each_text_is_searched_alone(self) -> None:
        """What a text has does not depend on the texts before it, or on other threads."""
        first = self.found(self.texts)
        assert self.found(self.texts[::-1])[::-1] == first, "the order of texts matters"
        finder = self.fresh()
        assert list(map(finder.find, self.texts * 2)) == first * 2, "a text is not found again"
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(finder.find, self.texts * 4))
        assert together == first * 4, "threads disturb each other"

    def test_every_process_finds_the_same(self) -> None:
        """Neither the process nor the order of its sets (PYTHONHASHSEED) matters."""
        texts = [text for text in self.texts if "\ud800" not in text]
        expected = [[list(each) for each in every] for every in self.found(texts)]
        for seed in SEEDS:
            found = in_another_process(FIND, self.finder, texts, seed)
            assert found == expected, f"PYTHONHASHSEED={seed}: other mentions"

    def test_the_gate_counts_the_examples(self) -> None:
        """`evenflow.Annotator` counts the mentions, also after it was pickled."""
        annotator = Annotator({"attributes.plugin.finder": self.finder})
        copy: Annotator = pickle.loads(pickle.dumps(annotator))
        texts = list(self.examples)
        for each in (annotator, copy):
            for text, annotation in zip(texts, each.annotate_many(texts), strict=True):
                groups = [group for _, _, group in self.examples[text]]
                counts = annotation.counts["plugin"]
                assert counts == {name: groups.count(name) for name in counts}, text

    def test_speed_is_printed(self, capsys: Any) -> None:
        """The speed on the examples is printed; none is demanded."""
        text = "\n".join(self.examples) + "\n"
        texts = [text] * -(-SPEED_BYTES // len(text.encode()))
        began = time.process_time()
        self.found(texts)
        speed = sum(len(each.encode()) for each in texts) / 1e6 / (time.process_time() - began)
        with capsys.disabled():
            print(f"\n{self.finder}: {speed:.1f} MB/s of CPU, on its examples repeated")


class ReaderTests:
    """Tests of a reader of files (evenflow.readers), for a class whose name begins with Test.

    Attributes:
        reader: The plug-in's name; its files end with .NAME.
        examples: Contents of files with the records in each.
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

    def test_speed_is_printed(self, capsys: Any) -> None:
        """The speed on the examples is printed; none is demanded."""
        size = sum(map(len, self.examples))
        times, reader, began = -(-SPEED_BYTES // size), self.fresh(), time.process_time()
        for content in list(self.examples) * times:
            for _ in reader.records(io.BytesIO(content), 0):
                pass
        speed = size * times / 1e6 / (time.process_time() - began)
        with capsys.disabled():
            print(f"\n{self.reader}: {speed:.1f} MB/s of CPU, on its examples repeated")
