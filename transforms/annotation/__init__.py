"""Annotates the documents of a block, finds duplicates, and spends a pane's budget of questions.

`labels` finds labels and `stereotypes` finds stereotypes. This folder combines them for a block.
"""
