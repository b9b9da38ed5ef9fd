"""The data that the other folders exchange: documents, ledger entries, settings; and validation.

Nothing here measures, judges or writes.
"""
