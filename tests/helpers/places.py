"""Where the tests' files lie."""

from pathlib import Path

HELPERS = Path(__file__).parent
TESTS = HELPERS.parent
DATA = TESTS / "data"
ROOT = TESTS.parent
