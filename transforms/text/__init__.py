"""How a text is read: characters, words, sentences, links, names and pronouns.

Knows no label list and changes nothing: `labels` finds labels, `substitution` replaces them.
"""
