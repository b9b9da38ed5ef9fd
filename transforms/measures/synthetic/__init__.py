"""The share of documents that a program wrote, and the other figures without them."""
