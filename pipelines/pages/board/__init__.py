"""The board: a live page of gates, drawn from their ledgers with the report's templates.

It reads what the outputs hold and computes no figure of its own. Holds and releases, if they are
allowed, are the only thing that it writes.
"""
