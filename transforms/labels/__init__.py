"""Finds label mentions in a text. Lists of labels are read by `wordlists`, text by `text`."""
