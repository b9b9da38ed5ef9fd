"""Plans what changes in a pane so that its DR meets the target, draws it, and rebuilds documents.

`substitution` decides what may replace a word. `staging` defines the staged files.
"""
