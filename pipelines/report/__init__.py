"""The report page, rebuilt from the ledger alone."""
