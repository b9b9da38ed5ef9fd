"""The sheet that all pages are drawn on: one style, and what every page has around its sections."""

from pathlib import Path

FOLDER = Path(__file__).parent
