"""What passes between rooms: records, ledger, configuration. No behaviour beyond validation."""
