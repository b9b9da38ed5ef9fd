"""The ledger's files, its sums over all panes, its summaries for charts, and the index of ids.

The models of its entries are in schemas.
"""
