"""The engine: how panes are cut, made, closed and committed, from files and from topics."""
