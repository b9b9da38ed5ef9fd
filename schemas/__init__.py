"""What passes between rooms: documents, ledger entries and settings, with their validation.

Nothing here measures, judges or writes.
"""
