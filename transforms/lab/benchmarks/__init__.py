"""Benchmarks of language models: a file for each, with its source, formula, range and limits.

A benchmark reads items from a file, asks a model about each, and its figures are functions of means
over items. `suite.py` says what a benchmark is, `estimate.py` computes figures with intervals,
`data.py` finds the files, `suites.py` lists all. The data that ship are in `data/`.
"""
