"""Annotates the documents of a block, and what follows from that before a pane is repaired.

Labels are found in labels, stereotypes in stereotypes; here they are put together for a block.
"""
