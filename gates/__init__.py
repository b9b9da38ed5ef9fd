"""Decisions on panes: verdicts, checks, holds and the lock, and the ledger that records them.

Nothing here reads the input or changes a text.
"""
