"""Tests that the author of a plug-in runs, by pytest.

    from evenflow.testing import FinderTests

    class TestTitledPeople(FinderTests):
        finder = "titled"
        examples = {"Mr. Darcy left.": [(0, 9, "men")]}

They say whether the plug-in gives what the examples say, and whether the gate may rely on it: the
same for the same text or file, in any order, process and thread.
"""

from evenflow.testing.chances import DetectorTests, JudgeTests
from evenflow.testing.finders import FinderTests
from evenflow.testing.readers import ReaderTests
from evenflow.testing.sinks import SinkTests

__all__ = ["DetectorTests", "FinderTests", "JudgeTests", "ReaderTests", "SinkTests"]
