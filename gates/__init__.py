"""What is decided: verdict, checks, ledger, lock."""
