"""Plans what changes in a pane so that its DR meets the target, draws it, and rebuilds documents.

What may replace a word is decided in substitution; what stands in staged files, in staging.
"""
