"""What makes a folder an output."""

META = "ledger/meta.json"  # the settings of a run; a folder that has this is an output
