"""The laboratory: fine-tuning, benchmarks, experiments, mining, the page of a word list's review.

Nothing of the gate imports it.
"""
