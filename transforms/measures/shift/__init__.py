"""Shift: how far a stream is from what its own sources were (the reference), source by source.

`strata.py` counts by source, `reference.py` keeps what a source was, `windows.py` how far back a
verdict looks, `statistics.py` compares, and `measure.py` judges.
"""
