"""The files of a pane: its staged blocks, and the shards and tables that they become.

What is computed from documents belongs to annotation and repair.
"""
