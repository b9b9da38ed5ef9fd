"""Word lists as data, and their loader. Nothing here knows how a text is searched."""
